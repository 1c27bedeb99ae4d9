"""A fabric's design: its intent, topology, device models, and the findings of every check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from railfab.device import DeviceModel, SwitchBuffers, TrafficClass, plan, switch_buffers, unsupported
from railfab.errors import NotRenderedYet, RailfabError, each, one_per_problem, raise_all
from railfab.fabric.checks import design_findings
from railfab.fabric.refusals import admitted, refusals
from railfab.fabric.trial import Trial
from railfab.findings import DesignCode, Finding, Severity, by_severity
from railfab.intent import FabricIntent
from railfab.intent.document import Document
from railfab.intent.load import load_fabric
from railfab.platforms.registry import has_platform, platform, platform_names
from railfab.text.counted import counted
from railfab.topology import Net, Role, Topology, wire

Say = Callable[[str], object]
"""Called with the name of each stage as it begins."""


class NotAccepted(RailfabError):
    """A design has error findings that are not accepted. findings: those."""

    def __init__(self, path: Path, findings: tuple[Finding, ...]) -> None:
        self.findings = findings
        codes = tuple(dict.fromkeys(finding.code for finding in findings))
        accept = " ".join(f"--accept {code}" for code in codes)
        super().__init__(
            str(path),
            f"the design has {counted(len(findings), 'error')} ({', '.join(codes)}), and nothing was changed",
            f"Correct the intent, or continue with {accept}",
        )


@dataclass(frozen=True, kw_only=True)
class Design:
    """One fabric, designed. The parts that need time, or a platform, are computed when they are first asked for."""

    document: Document = field(repr=False, compare=False)
    """The intent's file with the line of each key, for errors; it is not read again."""
    intent: FabricIntent
    topology: Topology

    @property
    def path(self) -> Path:
        """The intent's file."""
        return self.document.path

    @cached_property
    def planned_models(self) -> dict[str, DeviceModel]:
        """Device model of every switch by name, with what its platform leaves to the operating system.

        Raises UnsupportedFeature for an intent that no device model can express.
        """
        with naming(self.document):
            return plan(self.topology, self.intent)

    @property
    def expressible_models(self) -> dict[str, DeviceModel]:
        """`planned_models`, and none of an intent that no device model can express."""
        return {} if any(unsupported(self.intent)) else self.planned_models

    @cached_property
    def models(self) -> dict[str, DeviceModel]:
        """Device model of every switch by name, as its platform configures it.

        Raises NotRenderedYet for a platform that railfab does not have, UnsupportedFeature, or Problems with several of
        them.
        """
        with naming(self.document):
            _require_platforms(self.topology)
        planned = self.planned_models
        with naming(self.document):
            try:
                return admitted(planned, self.topology)
            except RailfabError as error:
                raise_all(one_per_problem(each(error)))
                raise

    @cached_property
    def traffic_classes(self) -> dict[str, tuple[TrafficClass, ...]]:
        """The traffic classes that the intent gives every switch; none on one without QoS."""
        return {name: model.qos.classes if model.qos else () for name, model in self.expressible_models.items()}

    @cached_property
    def texts(self) -> dict[str, str]:
        """Configuration text of every switch by name, to compare with what it runs. Raises as `models` does.

        It begins with what its platform leaves to the operating system, as comments.
        """
        planned = self.planned_models
        return {name: external_text(planned[name]) + render_text(model) for name, model in self.models.items()}

    @cached_property
    def buffers(self) -> tuple[SwitchBuffers, ...]:
        """Buffer plans, one for all switches that have the same model and ports."""
        with naming(self.document):
            return switch_buffers(self.topology, self.intent)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of every check; errors first, notes last."""
        buffers = self.buffers
        with naming(self.document):
            findings = tuple(design_findings(self.topology, self.intent, buffers))
        trial = Trial(self.intent)
        return by_severity(trial.finding(finding) for finding in findings)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that stop a change."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    def check(self, accept: Collection[DesignCode] = (), *, rendered: bool = True) -> None:
        """Return if the design may be rendered, deployed or started. accept: codes of errors that are accepted.

        rendered: whether its configurations are wanted; otherwise one switch of each kind is tried, as for a plan.
        Raises NotAccepted for the other errors, and as `models` does.
        """
        if rendered:
            _ = self.models
        else:
            raise_all(self.refusals())
        if left := tuple(finding for finding in self.errors if finding.code not in accept):
            raise NotAccepted(self.path, left)

    def configurations(self, accept: Collection[DesignCode] = ()) -> dict[str, str]:
        """Configuration text of every switch by name, to be written, changed or deployed. Raises as `check` does.

        A copy: `audit` compares with `texts`, which a change of it does not affect.
        """
        self.check(accept)
        return dict(self.texts)

    def refusals(self) -> tuple[RailfabError, ...]:
        """Errors for what the platforms cannot do, asked of one switch of each network, role, platform and model,
        and of each that is drained.

        None for a platform that is not known, and none for what is not rendered yet.
        """
        try:
            with naming(self.document):
                raise_all(refusals(self.topology, self.intent))
        except RailfabError as error:
            return tuple(each(error))
        return ()


def design(path: Path | str, say: Say = lambda _: None, settings: Sequence[str] = ()) -> Design:
    """Read and wire the fabric of an intent file.

    settings: other values of its keys, KEY=VALUE each. Raises IntentError, TopologyError, or Problems with several of
    them; each names the file.
    """
    say("reading")
    intent, document = load_fabric(Path(path), settings)
    say("wiring")
    with naming(document):
        return Design(document=document, intent=intent, topology=_wired(intent))


def _wired(intent: FabricIntent) -> Topology:
    """The topology of an intent; an error proposes only what has been tried."""
    try:
        return wire(intent)
    except RailfabError as error:
        trial = Trial(intent)
        raise_all([trial.error(failure) for failure in each(error)])
        raise


def external_text(planned: DeviceModel) -> str:
    """Settings of a planned model that its platform leaves to the operating system, as comments; empty without any."""
    external = platform(planned.platform).external
    return "" if external is None else external(planned)


def render_text(model: DeviceModel) -> str:
    """The configuration text of one model."""
    rendering = platform(model.platform)
    return rendering.text(rendering.render(model))


@contextmanager
def naming(document: Document) -> Iterator[None]:
    """Put the intent's file, and the line of the key that an error names, in front of its place."""
    try:
        yield
    except RailfabError as raised:
        raise_all([document.located(error) for error in each(raised)])


TIER_KEYS = {Role.LEAF: ("segments", "leaves"), Role.SPINE: ("spines", "spines"), Role.SUPER: ("super_spines", "")}
"""Key of a tier in the backend, and in the other networks."""


def _require_platforms(topology: Topology) -> None:
    """Raise one NotRenderedYet for all switch models whose platform railfab does not have."""
    lacking = {(node.model, node.platform): node for node in reversed(topology.switches())}
    lacking = {kind: node for kind, node in reversed(lacking.items()) if not has_platform(kind[1])}
    if not lacking:
        return
    first = next(iter(lacking.values()))
    backend, others = TIER_KEYS[first.role]
    place = f"backend.{backend}.model" if first.net is Net.BACKEND else f"{first.net}.{others}.model"
    run = " and ".join(f"{model} runs {name}" for model, name in lacking)
    problem = f"{run}, which railfab cannot render yet ({', '.join(platform_names())})"
    raise NotRenderedYet(place, problem, "`plan`, `draw` and `explain` work")

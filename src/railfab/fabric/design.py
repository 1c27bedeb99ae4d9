"""A fabric from its file to its configurations: the way that every command begins with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from railfab.device import DeviceModel, plan, unsupported
from railfab.errors import RailfabError, each, raise_all
from railfab.intent import FabricIntent, load_intent
from railfab.platforms.admission import admit
from railfab.platforms.registry import platform, platform_names
from railfab.topology import Topology, wire


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """One fabric, designed. models: of every switch by name, as its platform configures it."""

    path: Path
    intent: FabricIntent
    topology: Topology
    models: dict[str, DeviceModel]

    def configurations(self) -> dict[str, str]:
        """The text of every switch, by name."""
        return {name: render_text(model) for name, model in self.models.items()}


def render_text(model: DeviceModel) -> str:
    """The configuration text of one model."""
    rendering = platform(model.platform)
    return rendering.text(rendering.render(model))


def design(path: Path | str) -> Design:
    """Read, wire and plan the fabric of an intent file.

    Raises IntentError, TopologyError, UnknownPlatform, UnsupportedFeature, or Problems with several of them; each
    names the file.
    """
    path = Path(path)
    intent = load_intent(path)
    try:
        topology = wire(intent)
        models = _admitted(plan(topology, intent))
    except RailfabError as error:
        raise_all([_in_file(path, one) for one in each(error)])
        raise
    return Design(path=path, intent=intent, topology=topology, models=models)


def refusals(intent: FabricIntent, topology: Topology) -> tuple[RailfabError, ...]:
    """What the platforms of a fabric cannot do of it, asked of one switch of each role, platform and model.

    Nothing for a platform that is not known, and for a design that cannot be rendered on any.
    """
    if any(unsupported(intent)):
        return ()
    alike = {(node.role, node.platform, node.model): node for node in reversed(topology.switches())}
    known = {node.name for node in alike.values() if node.platform in platform_names()}
    try:
        _admitted(plan(topology, intent, only=known))
    except RailfabError as error:
        return each(error)
    return ()


def _admitted(models: dict[str, DeviceModel]) -> dict[str, DeviceModel]:
    """Every model as its platform configures it; what several switches cannot do is said once for each."""
    errors: list[RailfabError] = []
    admitted: dict[str, DeviceModel] = {}
    for name, model in models.items():
        try:
            admitted[name] = admit(model, platform(model.platform))
        except RailfabError as error:
            errors.extend(each(error))
    raise_all(list({str(error): error for error in errors}.values()))
    return admitted


def _in_file(path: Path, error: RailfabError) -> RailfabError:
    return type(error)(f"{path}: {error.where}", error.problem, error.remedy)

"""The plan of a change of a fabric: its waves, and what each switch gets; as a document that can be applied later."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any, Self

from railfab.deploy.run import Preview
from railfab.deploy.waves import Wave, waves_of
from railfab.device import DeviceModel
from railfab.errors import RailfabError, raise_all
from railfab.fabric import Design
from railfab.fabric.impact import Impact, impact_of
from railfab.platforms import Platform, platform
from railfab.text.counted import listed
from railfab.text.folding import folded_all
from railfab.topology.outages import Outage, Outages, outages

VERSION = 1
REMEDY = "Review it with railfab deploy --plan, and save the plan again"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChange:
    """The change of one switch.

    diff: unified; empty where only its digest is kept. diff_sha256, candidate_sha256: of the difference and of the new
    configuration. interrupts: whether it interrupts forwarding, for these reasons; a switch without sessions forwards
    nothing. drains: whether the switch is drained for it; not so where its configuration drains it already, or will, or
    where a drain moves nothing. cut_off: hosts that lose the only way to one of their addresses meanwhile.
    """

    diff: str
    diff_sha256: str
    candidate_sha256: str
    interrupts: bool
    reasons: tuple[str, ...]
    drains: bool
    cut_off: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePlan:
    """A change of a fabric. unchanged: the switches that are as they should be.

    from_files: whether the configurations are those of files, which may break what the intent says.
    """

    fabric: str
    verb: str
    waves: tuple[Wave, ...]
    changes: Mapping[str, PlannedChange]
    unchanged: tuple[str, ...]
    from_files: bool = False

    def wave_of(self, name: str) -> int:
        """The number of the wave of a switch, 0 for one that is not changed."""
        return next((wave.number for wave in self.waves if name in wave.switches), 0)

    def document(self) -> str:
        """The plan as JSON."""
        return json.dumps({"version": VERSION, **asdict(self)}, indent=2) + "\n"

    def without_diffs(self) -> Self:
        """The plan with the digests of its differences alone."""
        return replace(self, changes={name: replace(change, diff="") for name, change in self.changes.items()})

    def refuse_others(self, fabric: str, previews: Sequence[Preview]) -> None:
        """Raise RailfabError, or Problems, where a switch, or what it would get, is not as when the plan was made."""
        if fabric != self.fabric:
            raise RailfabError("plan", f"is one of fabric {self.fabric}, not of {fabric}", "Use the intent of the plan")
        names = {preview.name for preview in previews}
        for name in sorted(self.changes.keys() - names):
            raise RailfabError(name, "is in the plan, and not among the switches of this run", "Use the same --limit")
        raise_all([error for preview in previews for error in self._changed_since(preview)])

    def _changed_since(self, preview: Preview) -> Iterator[RailfabError]:
        planned = self.changes.get(preview.name)
        if digest(preview.diff) != (planned.diff_sha256 if planned else digest("")):
            lines = [
                line for line in preview.diff.splitlines() if line not in (planned.diff if planned else "").splitlines()
            ]
            example = f": {lines[0]}" if lines else ""
            problem = f"has another change than the plan, because it or the intent has changed since{example}"
            yield RailfabError(preview.name, problem, REMEDY)

    def refuse_cuts(self) -> None:
        """Raise Problems for each switch whose change cuts hosts off."""
        raise_all(
            [
                RailfabError(
                    name,
                    f"its change interrupts forwarding ({listed(list(change.reasons))}), and cuts off "
                    f"{folded_all(change.cut_off)}",
                    "End their jobs and add --accept cut, or name the scheduler in change.scheduler of the intent",
                )
                for name, change in self.changes.items()
                if change.cut_off
            ]
        )

    @classmethod
    def parse(cls, text: str, where: str) -> Self:
        """The plan of a document. Raises RailfabError for a text that is none."""
        try:
            document = json.loads(text)
            if document.pop("version") != VERSION:
                raise ValueError("of another version")
            changes = {name: _change(fields) for name, fields in document.pop("changes").items()}
            waves = tuple(_wave(fields) for fields in document.pop("waves"))
            return cls(changes=changes, waves=waves, unchanged=tuple(document.pop("unchanged")), **document)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            problem = f"is not a saved plan ({error})"
            raise RailfabError(where, problem, "Make it again with railfab deploy --plan -o FILE") from None


def _change(fields: Mapping[str, Any]) -> PlannedChange:
    lists = {key: tuple(fields[key]) for key in ("reasons", "cut_off")}
    return PlannedChange(**{**fields, **lists})


def _wave(fields: Mapping[str, Any]) -> Wave:
    outage: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields["outage"].items()
    }
    return Wave(**{**fields, "switches": tuple(fields["switches"]), "outage": Outage(**outage)})


def plan_of(
    fabric: Design, previews: Sequence[Preview], verb: str, *, waves: bool = True, drain: bool = True
) -> ChangePlan:
    """The plan of the changes of these previews. waves: False for all switches at once, without drains."""
    changing = [preview for preview in previews if preview.changed]
    drained = {preview.name for preview in previews if preview.drained}
    names = [preview.name for preview in changing]
    ordered = waves_of(fabric, names, drained=drained) if waves else _at_once(names)
    lost = _CutOff(outages(fabric.topology), frozenset(drained)) if waves else None
    changes = {preview.name: _planned(fabric, preview, lost, drain=drain) for preview in changing}
    unchanged = tuple(preview.name for preview in previews if not preview.changed)
    return ChangePlan(fabric=fabric.intent.fabric, verb=verb, waves=ordered, changes=changes, unchanged=unchanged)


def _at_once(names: Sequence[str]) -> tuple[Wave, ...]:
    """All switches in a wave, whose effect is not looked at."""
    nothing = Outage(lost={}, cut_off=(), less_redundant=())
    return (Wave(number=1, switches=tuple(names), canary=False, outage=nothing),) if names else ()


@dataclass(frozen=True, slots=True)
class _CutOff:
    """The hosts that a switch cuts off, beside those that are cut off by switches that are drained already."""

    outages: Outages
    drained: frozenset[str]

    def by(self, name: str) -> tuple[str, ...]:
        before, after = map(self.outages.stopped, (self.drained, self.drained | {name}))
        return tuple(sorted({host for host, *_ in after} - {host for host, *_ in before}))


def _planned(fabric: Design, preview: Preview, lost: _CutOff | None, *, drain: bool) -> PlannedChange:
    """lost: None without waves, where a change drains nothing and its effect is not looked at."""
    impact, drains = Impact(interrupts=False, reasons=()), False
    cut_off: tuple[str, ...] = ()
    if lost is not None:
        switch = platform(fabric.models[preview.name].platform)
        before = _model(switch, preview.text)
        if before is not None and before.neighbors:
            impact = impact_of(switch, preview.text, preview.candidate)
        if impact.interrupts and before is not None:
            after = _model(switch, preview.candidate)
            drains_itself = before.drain or (after is not None and after.drain)
            cut_off = () if before.drain else lost.by(preview.name)
            drains = drain and lost.outages.moves(preview.name) and not (preview.drained or drains_itself)
    return PlannedChange(
        diff=preview.diff,
        diff_sha256=digest(preview.diff),
        candidate_sha256=digest(preview.candidate),
        interrupts=impact.interrupts,
        reasons=impact.reasons,
        drains=drains,
        cut_off=cut_off,
    )


def _model(switch: Platform, text: str) -> DeviceModel | None:
    """The model of a configuration; None for one that has none, as that of a switch that leaves the factory."""
    try:
        return switch.parse(text)
    except RailfabError:
        return None


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal digits."""
    return sha256(text.encode()).hexdigest()


def refuse_later_changes(plan: ChangePlan, previews: Sequence[Preview], former: Mapping[str, str]) -> None:
    """Raise Problems where a switch runs neither what it ran when the deploy began, nor what the deploy gives it.

    former: what switches ran when the deploy began, where that is known: a drain since then moves lines.
    """
    raise_all(
        [
            RailfabError(
                preview.name,
                "has been changed by somebody else since the deploy began",
                "Return to what ran before with railfab deploy --abort, or begin a new deploy",
            )
            for preview in previews
            if preview.diff
            and digest(preview.diff) != plan.changes[preview.name].diff_sha256
            and preview.text != former.get(preview.name)
        ]
    )

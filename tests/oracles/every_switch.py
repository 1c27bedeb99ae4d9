"""Every switch of every design, judged by the oracle of its platform: `make oracles`.

The oracle of a platform is `tests/platforms/NAME/oracle.py`. It has the words `ORACLE` for a table, and a function
`judge(oracles, scratch)`, which takes the folder of the vendors' models and one to write into, and returns a `Judge`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fabric.sampled import at_equal_distances, uncollected

from railfab.device import DeviceModel, plan
from railfab.errors import RailfabError, each
from railfab.fabric.design import render_text
from railfab.intent import FabricIntent, load_intent
from railfab.platforms import admit
from railfab.platforms import platform as platform_of
from railfab.topology import Topology, wire

Judge = Callable[[Sequence[DeviceModel]], Sequence[str]]
"""What an oracle has to say against several switches; nothing when it takes them all."""

BATCH = 64
"""Switches that are judged at once, since some oracles take seconds to load their models."""
PLANNED = 8 * BATCH
"""Switches of which there are models at once."""


@dataclass(slots=True)
class Verdict:
    """What became of the switches of one platform. names: of their designs. refused: the switches, each with what was
    said of it."""

    oracle: str
    names: set[str] = field(default_factory=set)
    switches: int = 0
    lines: int = 0
    seconds: float = 0.0
    refused: list[str] = field(default_factory=list)

    @property
    def designs(self) -> int:
        return len(self.names)


def oracle_of(platform: str) -> tuple[str, Callable[[Path, Path], Judge]] | None:
    """The oracle of a platform, in words, and what makes its judge; None without one."""
    module = f"tests.platforms.{platform}.oracle"
    if find_spec(f"tests.platforms.{platform}") is None or find_spec(module) is None:
        return None
    found = import_module(module)
    return found.ORACLE, found.judge


def own_refusals(name: str) -> Judge:
    """The judge of a platform that only has railfab's table of what its switches take."""
    refusals = platform_of(name).refusals
    assert refusals is not None

    def said(switches: Sequence[DeviceModel]) -> Sequence[str]:
        return [f"{found.where}: {found.problem}" for one in switches for found in refusals(render_text(one))]

    return said


@dataclass(frozen=True, slots=True)
class Part:
    """Switches of a design that are judged together."""

    design: str
    intent: FabricIntent
    topology: Topology
    names: frozenset[str]


_FORKED: list[Part] = []
"""The parts that forked processes judge, which have them without their being sent."""


def _judge_forked(oracles: Path, most: int | None, place: int) -> OracleRun:
    with TemporaryDirectory() as scratch:
        run = OracleRun(oracles, Path(scratch), most)
        run.judge_part(_FORKED[place])
    return run.without_judges()


class OracleRun:
    """Verdicts by platform, of the designs that are judged one after the other.

    missing: the designs that cannot be rendered, each with the reason. most: switches of a design that are judged, of
    a larger one as many at equal distances.
    """

    def __init__(self, oracles: Path, scratch: Path, most: int | None = None) -> None:
        self.folders = oracles, scratch
        self.most = most
        self._judges: dict[str, Judge] = {}
        self.verdicts: dict[str, Verdict] = {}
        self.missing: list[str] = []

    def add(self, other: OracleRun) -> None:
        """Add the verdicts of another run."""
        for platform, verdict in other.verdicts.items():
            ours = self.verdicts.setdefault(platform, Verdict(verdict.oracle))
            ours.names |= verdict.names
            ours.switches += verdict.switches
            ours.lines += verdict.lines
            ours.seconds += verdict.seconds
            ours.refused += verdict.refused
        self.missing += other.missing

    def without_judges(self) -> OracleRun:
        """The verdicts alone, which another process can take."""
        verdicts = OracleRun(*self.folders, self.most)
        verdicts.add(self)
        return verdicts

    def judge_design(self, path: Path) -> None:
        """Judge every switch of a design, or as many as are wanted."""
        try:
            for part in self._parts(path):
                self.judge_part(part)
        except RailfabError as error:
            self.missing.append(f"{_name(path)}: {each(error)[0]}")

    def judge_design_apart(self, path: Path) -> None:
        """Likewise, each part in a process of its own, one on each core: oracles keep megabytes of a switch."""
        try:
            _FORKED[:] = self._parts(path)
            with get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
                judged = partial(_judge_forked, self.folders[0], self.most)
                for run in pool.imap_unordered(judged, range(len(_FORKED))):
                    self.add(run)
        except RailfabError as error:
            self.missing.append(f"{_name(path)}: {each(error)[0]}")
        finally:
            _FORKED.clear()

    def judge_part(self, part: Part) -> None:
        """Judge the switches of a part."""
        planned = plan(part.topology, part.intent, only=set(part.names))
        self.judge(part.design, [admit(model, platform_of(model.platform)) for model in planned.values()])

    def _parts(self, path: Path) -> Iterator[Part]:
        """The parts of a design. Raises RailfabError."""
        intent = load_intent(path)
        with uncollected():
            topology = wire(intent)
        chosen = topology.switches() if self.most is None else at_equal_distances(self.most)(topology)
        names = [node.name for node in chosen]
        for start in range(0, len(names), PLANNED):
            yield Part(_name(path), intent, topology, frozenset(names[start : start + PLANNED]))

    def judge(self, name: str, models: Iterable[DeviceModel]) -> None:
        """Judge switches. name: of their design."""
        by_platform: dict[str, list[DeviceModel]] = {}
        for model in models:
            by_platform.setdefault(model.platform, []).append(model)
        for platform, switches in by_platform.items():
            verdict = self._verdict(platform)
            verdict.names.add(name)
            verdict.switches += len(switches)
            verdict.lines += sum(render_text(switch).count("\n") for switch in switches)
            began_s = time.monotonic()
            verdict.refused += (f"{name}: {text}" for text in self._refused(platform, switches))
            verdict.seconds += time.monotonic() - began_s

    def _verdict(self, platform: str) -> Verdict:
        if platform not in self.verdicts:
            name, judge = oracle_of(platform) or ("none", lambda _oracles, _scratch: lambda _models: ())
            self.verdicts[platform] = Verdict(name)
            self._judges[platform] = judge(*self.folders)
        return self.verdicts[platform]

    def _refused(self, platform: str, models: Sequence[DeviceModel]) -> Iterator[str]:
        judge = self._judges[platform]
        for start in range(0, len(models), BATCH):
            batch = models[start : start + BATCH]
            for model in batch if judge(batch) else ():
                if said := judge([model]):
                    yield f"{model.name}: {said[0]}"


def _name(path: Path) -> str:
    """The name of a design; the intent of a lab is named by its folder."""
    return path.parent.name if path.stem == "intent" else path.stem


def page(verdicts: Mapping[str, Verdict], missing: Sequence[str], machine: str) -> str:
    """The figures of a run as a page. missing: designs that cannot be rendered, each with the reason. machine: and how
    much was judged."""
    rows = "".join(
        f"| {platform} | {one.oracle} | {one.designs} | {one.switches:,} | {one.lines:,} | {len(one.refused)} |"
        f" {one.seconds:,.0f} |\n"
        for platform, one in sorted(verdicts.items())
    )
    refused = _items(text for one in verdicts.values() for text in one.refused)
    return PAGE.format(machine=machine, rows=rows, refused=refused, missing=_items(missing))


def _items(texts: Iterable[str]) -> str:
    return "".join(f"- {text}\n" for text in texts) or "None.\n"


PAGE = """\
# Every switch before its oracle

`make oracles` wrote this page. It renders every switch of `inventory/fabrics/` and `labs/` on the platform that its
design names, and shows the configuration to the oracle of that platform: the vendor's models or grammar, or another
renderer. `make test` does so with one switch of each role of every design, and with broken configurations, which the
oracles refuse.

Two oracles are railfab's own, since Cisco and NVIDIA publish no model: NX-OS and Cumulus Linux are judged by the tables
with which `audit` reports what a switch would not take, written from the vendors' documents. They find a misspelt line
and a value out of range, and not what the documents leave out: no system of the vendor has seen these texts. Of Cumulus
Linux, `make test` also translates policies and BGP sessions into the lines that NVUE gives to FRR, by railfab's own
translation, and FRR's vtysh takes them; QoS and interfaces have the table alone.

{machine}

| platform | oracle | designs | switches | lines | refused | seconds |
|---|---|---|---|---|---|---|
{rows}
## Refused

{refused}
## Not rendered

{missing}"""

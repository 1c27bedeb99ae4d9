"""A roll-out that is killed before or after any step of its journal, on each platform: `--resume` makes each switch
wholly new, `--abort` wholly old, and nothing stays pending, drained or unfinished."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import cycle, product
from pathlib import Path

import pytest
from tests import commands
from tests.integration.switches.racks import SYSTEMS, left_behind, opened
from tests.sampled import sampled

from railfab.deploy import Journal
from railfab.platforms import platform
from railfab.twin import Twin

KILLER = Path(__file__).with_name("killed_at_step.py")
TIMEOUT_S = 150
CHANGES = {
    "thresholds": "profile: {lossless: {ecn: {400: {kmin_bytes: 400000, kmax_bytes: 1600000}}}}\n",
    "mtu": "profile: {mtu: 9000}\n",
}
"""Changes of the intent: of thresholds, which interrupts nothing, and of the MTU, before which switches are drained."""
MOMENTS = ("before", "after")
ENDINGS = ("--resume", "--abort")
Texts = Mapping[str, tuple[str, str]]
"""What each switch runs, and what it boots."""

on_each = pytest.mark.parametrize("system", SYSTEMS, indirect=True)


@dataclass
class Site:
    """A rack whose switches are deployed to with its intent, and with a changed one."""

    twin: Twin
    state: Path
    intents: Mapping[str, Path]

    def run(self, *arguments: str, intent: str, kill: str = "0:before") -> subprocess.CompletedProcess[str]:
        words = ("deploy", self.intents[intent], "--on", self.state / "rack.twin.json", "--state", self.state)
        environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "RAILFAB_TEST_KILL": kill}
        every = (*words, "--yes", *arguments)
        return commands.run(*every, environment=environment, timeout_s=TIMEOUT_S, program=KILLER)

    def deploy(self, intent: str) -> Texts:
        """Deploy undisturbed."""
        done = self.run("--accept", "cut", intent=intent)
        assert done.returncode == 0, done.stderr
        return self.present()

    def present(self) -> Texts:
        return {name: (switch.running(), switch.startup()) for name, switch in self.twin._switches.items()}

    def is_clean(self, ending: str) -> None:
        """Nothing is pending or drained on any switch, now or after its next boot, and nothing is left behind.

        A killed comparison, which changes nothing, stays on a switch that `--abort` has not to change.
        """
        records = Journal(self.state, "rack").deploys()
        assert not any(record.is_unfinished for record in records)
        for endpoint in self.twin.endpoints.nodes:
            with opened(endpoint) as session:
                running = session.running()
            assert (running.pending, running.drained) == (None, False), endpoint.name
            startup = self.twin._switches[endpoint.name].startup()
            assert not platform(endpoint.platform).parse(startup).drain, f"{endpoint.name} boots drained"
            if ending == "--resume" or endpoint.name in records[-1].switches:
                assert left_behind(endpoint) == "", endpoint.name


@pytest.fixture(scope="module")
def site(twin: Twin, rack: Path, state: Path, tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("intents")
    intents = {"intent": rack}
    for name, change in CHANGES.items():
        intents[name] = folder / f"{name}.yml"
        intents[name].write_text(f"{rack.read_text()}{change}")
    return Site(twin, state, intents)


def differences(site: Site, name: str, text: str, wanted: str) -> list[object]:
    """Lines in which a configuration differs from what it should be; an empty container is none."""
    system = platform(site.twin.endpoints.by_name()[name].platform)
    return [*system.differences(text, wanted), *system.differences(wanted, text)]


def killed(site: Site, change: str, number: int, moment: str, ending: str, texts: tuple[Texts, Texts]) -> bool:
    """Kill a deploy and end it in one way; whether it had that many steps. texts: before it and after it."""
    old, new = texts
    done = site.run("--accept", "cut", intent=change, kill=f"{number}:{moment}")
    if done.returncode != -signal.SIGKILL:
        assert done.returncode == 0, done.stderr
        site.deploy("intent")
        return False
    case = f"{change} {number} {moment} {ending}"
    ended = site.run(ending, intent=change)
    if ended.returncode == 2:  # it was killed before it had begun to change a switch
        assert "has nothing to continue or to abort" in ended.stderr, (case, ended.stderr)
        wanted = old
    else:
        assert ended.returncode == 0, (case, ended.stderr)
        wanted = new if ending == "--resume" else old
    for name, present in site.present().items():
        for text, former in zip(present, wanted[name], strict=True):
            assert not differences(site, name, text, former), (case, name)
    site.is_clean(ending)
    if wanted == new:
        site.deploy("intent")
    return True


@pytest.fixture(scope="module")
def texts(site: Site) -> Callable[[str], tuple[Texts, Texts]]:
    """The texts before and after a change."""

    @cache
    def of(change: str) -> tuple[Texts, Texts]:
        old = site.deploy("intent")
        new = site.deploy(change)
        site.deploy("intent")
        return old, new

    return of


CASES = {"mtu": (6, "after", "--resume"), "thresholds": (4, "before", "--abort")}
"""For each change a step, when it is killed there, and how it ends."""


@pytest.mark.parametrize(
    ("system", "change"),
    sampled(product(SYSTEMS, CASES), few=[*zip(SYSTEMS, cycle(CASES), strict=False)]),
    indirect=["system"],
)
def test_a_roll_out_that_is_killed_is_finished_or_undone(
    site: Site, texts: Callable[[str], tuple[Texts, Texts]], change: str
) -> None:
    """With one change on each platform in `make test`, in turn."""
    assert killed(site, change, *CASES[change], texts(change))


@on_each
@pytest.mark.matrix
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_roll_out_that_is_killed_at_any_step_is_finished_or_undone(
    site: Site, texts: Callable[[str], tuple[Texts, Texts]], change: str, moment: str, ending: str
) -> None:
    number = 1
    while killed(site, change, number, moment, ending, texts(change)):
        number += 1
    assert number > len(site.twin.endpoints.nodes) * 2

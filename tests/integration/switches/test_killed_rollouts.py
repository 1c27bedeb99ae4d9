"""A roll-out that something happens to at a step of its journal, on each platform: it is killed, its connections are
cut, switches refuse, hang or reboot, disks are full. Then `--resume` makes each switch wholly new, `--abort` wholly
old, no timer runs, nothing is pending, drained or unfinished, and the journal says so. `make kills` tries every step.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.switches.racks import SYSTEMS
from tests.integration.switches.twin_rollouts import RackEvents, RackSite
from tests.kills.disks import small_disk
from tests.kills.rollouts import BASE, Trial, sweep

from railfab.endpoints import read_credentials
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import SetChanges
from railfab.twin import Twin, clock

CHANGES = {
    "thresholds": "profile: {lossless: {ecn: {400: {kmin_bytes: 400000, kmax_bytes: 1600000}}}}\n",
    "mtu": "profile: {mtu: 9000}\n",
}
"""Changes of the intent: of thresholds, and of the MTU, before which the spine is drained on every platform."""
OTHERS = (
    *("connection cut", "connection lost", "commit refused", "switch hangs", "reboot"),
    *("disk of the client full", "disk of a switch full"),
)
SAMPLE = (
    ("srlinux", "mtu", "kill", 6, "after", "--resume"),
    ("srlinux", "mtu", "disk of a switch full", 8, "after", "--resume"),
    ("srlinux", "mtu", "reboot", 1, "timer", "--resume"),
    ("eos", "thresholds", "kill", 4, "before", "--abort"),
    ("eos", "thresholds", "connection lost", 1, "timer", "--resume"),
    ("eos", "mtu", "disk of a switch full", 4, "after", "--resume"),
    ("nxos", "thresholds", "connection cut", 4, "after", "--abort"),
    ("junos", "thresholds", "commit refused", 3, "after", "--resume"),
    ("junos", "thresholds", "disk of the client full", 6, "after", "--abort"),
    ("cumulus", "thresholds", "switch hangs", 2, "timer", "--resume"),
    ("sonic", "thresholds", "reboot", 2, "timer", "--abort"),
    ("sonic", "mtu", "commit refused", 2, "after", "--resume"),
)
"""Each platform and each event with a change, the number and the moment of a step, and the ending."""
MATRIX = [(system, change, event) for system in SYSTEMS for change in CHANGES for event in ("kill", *OTHERS)]


COMMIT_SAVE = "/system/grpc-server[name=mgmt]/gnmi/commit-save"
"""A leaf of SR Linux without which its changes are gone after a reboot: gNMI cannot save."""


@pytest.fixture(scope="module")
def coarse_clock() -> Iterator[None]:
    """A twin whose idle time costs little."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(clock, "TICK_NS", 4 * clock.TICK_NS)
        patched.setattr(clock, "STEP_NS", clock.LONGEST_STEP_NS)
        yield


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with small_disk(tmp_path_factory.mktemp("disk")) as folder:
        yield folder


@pytest.fixture(scope="module")
def site(
    coarse_clock: None,
    twin: Twin,
    rack: Path,
    state: Path,
    system: str,
    disk: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> RackSite:
    folder = tmp_path_factory.mktemp("intents")
    intents = {BASE: rack}
    for name, change in CHANGES.items():
        intents[name] = folder / f"{name}.yml"
        intents[name].write_text(f"{rack.read_text()}{change}")
    if system == "srlinux":
        for node in twin.endpoints.nodes:
            with BlockingGnmiClient(node, read_credentials(node)) as client:
                client.set(SetChanges(update=((COMMIT_SAVE, True),)))
    return RackSite(system, "rack", state / "rack.twin.json", disk, intents, twin=twin)


@pytest.mark.parametrize(
    ("system", "change", "event", "step", "moment", "ending"), SAMPLE, indirect=["system"], scope="module"
)
def test_a_roll_out_that_something_happens_to_is_finished_or_undone(
    site: RackSite, change: str, event: str, step: int, moment: str, ending: str
) -> None:
    if event == "disk of the client full" and not site.state.is_mount():
        pytest.skip("needs root, which mounts a small file system")
    site.learn(change)
    case = Trial(site, change, RackEvents(site).every()[event], step, moment, ending).run()
    assert case is not None
    assert case.problem == ""


@pytest.mark.kills
@pytest.mark.timeout(0)
@pytest.mark.parametrize(("system", "change", "event"), MATRIX, indirect=["system"], scope="module")
def test_whatever_happens_at_any_step_a_roll_out_is_finished_or_undone(site: RackSite, change: str, event: str) -> None:
    sweep(site, change, RackEvents(site).every()[event])

"""The metrics of the agent: what Prometheus reads, from the files and statistics of each driver."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.hostagent.trees import MODELS, STATISTICS, HostTree, host_tree

from railfab.hostagent.agent import Agent
from railfab.hostagent.counters import counters_of
from railfab.hostagent.host_files import KeptFile
from railfab.hostagent.host_tree import host_system
from railfab.hostagent.optics import OpticLane, optic_lanes
from railfab.hostagent.server import AgentServer
from railfab.hosts import nic_models
from railfab.metrics import CATALOGUE

Values = dict[tuple[str, str, str], float]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], HostTree]:
    """The tree of a host by its NIC, which tests restore."""
    return cache(lambda model: host_tree(tmp_path_factory.mktemp("host"), model))


def agent_of(host: HostTree, *, with_counters: bool = True) -> Agent:
    agent = Agent(json.loads(host.data.read_text()), "host1", host_system(host.root), with_counters=with_counters)
    agent.check()
    return agent


def values(text: bytes) -> Values:
    """Values by metric, NIC and further label: priority, or setting."""
    return {
        (
            sample.name,
            sample.labels.get("nic", ""),
            sample.labels.get("priority") or sample.labels.get("setting", ""),
        ): (sample.value)
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def open_files() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def test_the_files_of_an_agent_that_is_gone_are_closed(tree: Callable[[str], HostTree]) -> None:
    agent = agent_of(tree("connectx-7"))
    agent.exposed()
    held = open_files()
    del agent
    gc.collect()
    assert open_files() < held - 8


@pytest.mark.parametrize("model", MODELS)
def test_counters_of_each_driver_have_the_names_of_the_catalogue(tree, model: str) -> None:
    found = values(agent_of(tree(model)).exposed())
    family = nic_models()[model].family
    wanted = {counter.metric for counter in counters_of(family)}
    exposed = {name for name, nic, _ in found if nic == "rail2-p0"}
    assert wanted <= exposed
    assert found["roce_nic_wanted", "", ""] == 2
    pause_us = 2000 + STATISTICS[family].index(
        {"mlx5": "rx_prio3_pause_duration", "bnxt": "pfc_pri3_rx_duration_us", "ionic": "rx_pripause_3_1us_count"}[
            family
        ]
    )
    assert found["roce_nic_receive_pause_seconds_total", "rail2-p0", "3"] == pytest.approx(pause_us / 1e6)
    assert ("roce_nic_receive_pause_seconds_total", "rail2-p0", "4") not in found, "absent is not 0"
    if family == "mlx5":
        assert found["roce_nic_receive_bytes_total", "rail1-p0", ""] == 4000


def test_series_have_the_labels_and_the_help_of_the_catalogue(tree) -> None:
    families = [*text_string_to_metric_families(agent_of(tree("connectx-7")).exposed().decode())]
    for family in families:
        for sample in family.samples:
            entry = CATALOGUE[sample.name]
            assert family.documentation == entry.help
            assert sample.labels.keys() <= set(entry.labels)
            assert {"fabric", "host"} <= sample.labels.keys()
            assert (sample.labels["fabric"], sample.labels["host"]) == ("two", "host1")


def test_every_metric_of_nics_is_exposed_for_some_driver(tree) -> None:
    """Lost settings with a state: see below."""
    exposed = {name for model in MODELS for name, _, _ in values(agent_of(tree(model)).exposed())}
    assert exposed | {"roce_nic_settings_lost"} == {name for name in CATALOGUE if name.startswith("roce_nic_")}


def test_counters_are_read_for_each_exposition_and_left_to_another_exporter_by_default(tree) -> None:
    host = tree("connectx-7")
    agent, plain = agent_of(host), agent_of(host, with_counters=False)
    file = host.rdma("enp1s0") / "hw_counters" / "np_cnp_sent"
    before = file.read_text()
    file.write_text("77\n")
    try:
        assert values(agent.exposed())["roce_nic_cnp_sent_packets_total", "rail1-p0", ""] == 77
    finally:
        file.write_text(before)
    metrics = {name for name, _, _ in values(plain.exposed())}
    assert "roce_nic_cnp_sent_packets_total" not in metrics
    assert {"roce_nic_link_up", "roce_nic_pcie_bytes_per_second", "roce_nic_setting_agrees"} <= metrics


def test_a_setting_that_differs_is_0_and_one_that_cannot_be_read_is_absent(tree) -> None:
    host = tree("connectx-7")
    captured = host.captured("mlnx_qos", "-i", "enp2s0")
    before = captured.read_text()
    key = ("roce_nic_setting_agrees", "rail2-p0", "pfc")
    try:
        captured.write_text(before.replace("enabled     0   0   0   1", "enabled     0   0   0   0"))
        assert values(agent_of(host).exposed())[key] == 0
        captured.unlink()
        unknown = values(agent_of(host).exposed())
        assert key not in unknown
        assert unknown["roce_nic_settings_unknown", "rail2-p0", ""] > 5
        assert unknown["roce_nic_settings_unknown", "rail1-p0", ""] == 0
    finally:
        captured.write_text(before)
    assert values(agent_of(host).exposed())[key] == 1


def test_faults_are_logged_when_they_begin_and_when_they_are_over(tree, caplog: pytest.LogCaptureFixture) -> None:
    host = tree("pollara-400")
    captured = host.captured("ethtool", "-S", "enp1s0")
    before = captured.read_text()
    agent = agent_of(host)
    caplog.set_level("INFO")
    try:
        captured.unlink()
        for _ in range(3):
            agent.exposed()
    finally:
        captured.write_text(before)
    agent.exposed()
    line = "statistics of rail1-p0 cannot be read: ethtool was not captured"
    assert [record.message for record in caplog.records] == [line, f"over: {line}"]


def test_a_file_that_is_gone_is_one_problem_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "counter"
    path.write_text("5\n")
    file = KeptFile(path)
    assert (file.number(), file.problem) == (b"5", "")
    path.write_text("broken\n")
    assert (file.number(), file.problem) == (None, f"{path} has no number")
    file.close()
    path.unlink()
    assert (file.number(), file.problem) == (None, f"{path} cannot be read (no such file or directory)")
    path.write_text("6\n")
    assert (file.number(), file.problem) == (b"6", "")


@contextmanager
def served(agent: Agent) -> Iterator[str]:
    with AgentServer("127.0.0.1", 0, agent.exposed) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host, port = server.server_address[:2]
        yield f"http://{host!s}:{port}"
        server.shutdown()


def test_metrics_are_served_and_nothing_else(tree) -> None:
    with served(agent_of(tree("connectx-7"))) as url:
        with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            assert values(answer.read())["roce_nic_link_up", "rail1-p0", ""] == 1
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{url}/", timeout=10)
        with pytest.raises(urllib.error.HTTPError, match="405"):
            urllib.request.urlopen(f"{url}/metrics", data=b"x", timeout=10)


@pytest.mark.prometheus
def test_promtool_has_nothing_to_say(tree) -> None:
    text = agent_of(tree("connectx-7")).exposed()
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_the_page_names_every_option() -> None:
    """Those of `railfab agent` are made of the same table."""
    from railfab.hostagent.options import HELP

    page = (Path(__file__).parents[2] / "docs" / "agent.md").read_text()
    assert {f"`--{name}" for name in HELP} <= set(re.findall(r"`--[a-z]+", page))


BOOT_ID = "/proc/sys/kernel/random/boot_id"
PFC_ON, PFC_OFF = "enabled     0   0   0   1", "enabled     0   0   0   0"


class Rebooted:
    """A host whose agent is started anew each time, and keeps its state."""

    def __init__(self, host: HostTree, state: Path) -> None:
        self.host, self.state = host, state
        self.qos = host.captured("mlnx_qos", "-i", "enp2s0")

    def boot(self, number: int) -> None:
        self.host.write(BOOT_ID, f"00000000-0000-4000-8000-{number:012}")

    def lost(self) -> tuple[float | None, list[str]]:
        """Lost settings of the second rail, and the faults."""
        agent = Agent(json.loads(self.host.data.read_text()), "host1", host_system(self.host.root), state=self.state)
        faults = list(agent.check().faults)
        return values(agent.exposed()).get(("roce_nic_settings_lost", "rail2-p0", "")), faults


@pytest.fixture
def rebooted(tree, tmp_path: Path) -> Iterator[Rebooted]:
    made = Rebooted(tree("connectx-7"), tmp_path / "state")
    before = made.qos.read_text()
    yield made
    made.qos.write_text(before)


def test_a_setting_that_a_reboot_lost_is_told_from_one_that_was_changed(rebooted: Rebooted) -> None:
    good = rebooted.qos.read_text()
    rebooted.boot(1)
    assert rebooted.lost() == (0, [])
    rebooted.qos.write_text(good.replace(PFC_ON, PFC_OFF))
    assert rebooted.lost() == (0, []), "changed while the host runs"
    rebooted.boot(2)
    assert rebooted.lost() == (1, ["pfc of rail2-p0 lost at the last boot"])
    rebooted.boot(3)
    assert rebooted.lost() == (1, ["pfc of rail2-p0 lost at the last boot"]), "until it is as wanted again"
    rebooted.qos.write_text(good)
    assert rebooted.lost() == (0, [])


def test_a_setting_that_cannot_be_read_after_a_reboot_is_not_lost_yet(rebooted: Rebooted) -> None:
    good = rebooted.qos.read_text()
    rebooted.boot(1)
    rebooted.lost()
    rebooted.boot(2)
    rebooted.qos.unlink()
    number, (fault,) = rebooted.lost()
    assert (number, fault.endswith("cannot be compared: mlnx_qos was not captured")) == (0, True)
    rebooted.qos.write_text(good.replace(PFC_ON, PFC_OFF))
    assert rebooted.lost()[0] == 1


@pytest.mark.parametrize("text", ["{", '{"version": 2, "good": {}}', '{"version": 1, "good": {"a": 3}}', "[]"])
def test_a_damaged_state_is_one_line_and_begun_again(rebooted: Rebooted, text: str) -> None:
    rebooted.boot(1)
    rebooted.state.mkdir()
    (rebooted.state / "agent-settings.json").write_text(text)
    assert rebooted.lost() == (0, []), "it was written again"
    rebooted.boot(2)
    assert rebooted.lost() == (0, [])


def test_a_state_that_cannot_be_written_is_one_line(rebooted: Rebooted) -> None:
    rebooted.boot(1)
    rebooted.state.write_text("a file")
    number, faults = rebooted.lost()
    assert number == 0
    assert [fault.rpartition("(")[0] for fault in faults] == [
        f"{rebooted.state / 'agent-settings.json'} cannot be written "
    ]


def test_the_need_of_pcie_is_that_of_all_ports_of_a_card(tree) -> None:
    """400 Gb/s each, with the headers of packets; the second port moved to the card of the first needs both."""
    host = tree("connectx-7")
    key = "roce_nic_pcie_needed_bytes_per_second"
    alone = values(agent_of(host).exposed())
    assert alone[key, "rail1-p0", ""] == pytest.approx(400e9 / 8 * 282 / 256)
    assert alone[key, "rail1-p0", ""] < alone["roce_nic_pcie_bytes_per_second", "rail1-p0", ""]
    uevent = host.device("enp2s0") / "uevent"
    before = uevent.read_text()
    try:
        uevent.write_text(before.replace("PCI_SLOT_NAME=0000:02:02.0", "PCI_SLOT_NAME=0000:01:02.1"))
        both = values(agent_of(host).exposed())
    finally:
        uevent.write_text(before)
    assert both[key, "rail1-p0", ""] == both[key, "rail2-p0", ""] == 2 * alone[key, "rail1-p0", ""]


def test_a_nic_that_is_gone_is_missing(tree) -> None:
    host = tree("connectx-7")
    link = host.path("/sys/class/net/enp2s0/device")
    target = link.readlink()
    link.unlink()
    try:
        gone = values(agent_of(host).exposed())
    finally:
        link.symlink_to(target)
    assert (gone["roce_nic_wanted", "", ""], gone["roce_nic_missing", "", ""]) == (2, 1)
    assert ("roce_nic_link_up", "rail2-p0", "") not in gone


def test_a_setting_that_was_never_as_wanted_is_not_lost(rebooted: Rebooted) -> None:
    rebooted.qos.write_text(rebooted.qos.read_text().replace(PFC_ON, PFC_OFF))
    rebooted.boot(1)
    assert rebooted.lost() == (0, [])
    rebooted.boot(2)
    assert rebooted.lost() == (0, [])


def test_a_statistic_is_found_by_its_whole_name(tree) -> None:
    host = tree("connectx-7")
    captured = host.captured("ethtool", "-S", "enp1s0")
    before = captured.read_text()
    key = ("roce_nic_receive_pause_frames_total", "rail1-p0", "3")
    wanted = values(agent_of(host).exposed())[key]
    try:
        captured.write_text(before.replace("NIC statistics:\n", "NIC statistics:\n     vport_rx_prio3_pause: 99\n"))
        assert values(agent_of(host).exposed())[key] == wanted != 99
    finally:
        captured.write_text(before)


def test_light_of_lanes_is_exposed_and_lanes_without_use_are_not(tree) -> None:
    lines = agent_of(tree("connectx-7")).exposed().decode().splitlines()
    light = {
        (match[1], match[2]): float(match[3])
        for line in lines
        if (match := re.match(r'roce_nic_optic_(\w+)_power_dbm\{.*nic="rail1-p0",lane="(\d)"\} (\S+)', line))
    }
    assert light == {
        **{("transmit", "1"): -1.17, ("transmit", "2"): -1.16, ("transmit", "3"): -1.14},
        **{("receive", "1"): -0.34, ("receive", "2"): -10.4, ("receive", "3"): -40.0},
    }


SFP = """\
\tIdentifier                                : 0x03 (SFP)
\tLaser output power                        : 0.5230 mW / -2.81 dBm
\tReceiver signal average optical power     : 0.7285 mW / -1.38 dBm
\tLaser output power high alarm threshold   : 1.5849 mW / 2.00 dBm
"""


@pytest.mark.parametrize(
    ("text", "lanes"),
    [
        (SFP, [OpticLane(1, -1.38, -2.81)]),
        ("", []),
        ("\tIdentifier : 0x11 (QSFP28)\n\tTransmitter technology : copper\n", []),
    ],
)
def test_an_optic_of_a_single_lane_has_no_number_and_a_copper_cable_no_light(text: str, lanes: list[OpticLane]) -> None:
    assert list(optic_lanes(text)) == lanes

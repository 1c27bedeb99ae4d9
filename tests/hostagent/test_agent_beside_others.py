"""The agent beside real programs: Debian's lldpd, the kernel's ethtool, node_exporter and Prometheus."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.docs.schemas import conforming
from tests.hostagent.trees import HostTree, host_tree
from tests.imports.lldp_hosts import neighbors_of_real_lldpd
from tests.integration.prometheus_server import Prometheus
from tests.ports import free_port

from railfab.dashboards import Scrape, prometheus_files, write
from railfab.hostagent.agent import Agent
from railfab.hostagent.host_tree import host_system
from railfab.hostagent.server import AgentServer

HOST = "pod1-seg1-host1"
CABLES = {(HOST, f"enp{rail}s0"): (f"pod1-seg1-leaf{rail}", "e1-1") for rail in (1, 2)}
AGENT = """
ln -s /run/{host}.sock /run/lldpd.socket
nsenter -t "$(cat /run/{host}.pid)" --net sh -c '
    for rail in 1 2; do ip link property add dev enp${{rail}}s0 altname rail$rail-p0; done'
for form in json metrics; do
    nsenter -t "$(cat /run/{host}.pid)" --net {agent} --output $form >"$1/agent.$form" || [ $? = 1 ]
done
"""
BOOT_ID = "/proc/sys/kernel/random/boot_id"


@pytest.mark.lldp
def test_neighbours_come_from_a_real_lldpd_and_interfaces_from_the_kernel(tmp_path: Path) -> None:
    """Interfaces are veth pairs; their PCI devices and drivers are those of a tree."""
    (tmp_path / "host").mkdir()
    tree = host_tree(tmp_path / "host", "connectx-7")
    shutil.rmtree(tree.captured("x").parent)
    words = [sys.executable, "-m", "railfab.hostagent", "--root", str(tree.root), "--data", str(tree.data)]
    folder = tmp_path / "seen"
    folder.mkdir()
    agent = shlex.join([*words, "--host", HOST, "--once", "--standalone"])
    neighbors_of_real_lldpd(folder, CABLES, AGENT.format(host=HOST, agent=agent))
    nics = conforming("agent", (folder / "agent.json").read_text())["nics"]
    assert [nic["neighbor"] for nic in nics] == [{"switch": leaf, "port": port} for leaf, port in CABLES.values()]
    assert [(nic["nic"], nic["interface"]) for nic in nics] == [("rail1-p0", "enp1s0"), ("rail2-p0", "enp2s0")]
    mtu = [setting for setting in nics[0]["settings"] if setting["setting"] == "mtu"]
    assert [(setting["read"], setting["ok"]) for setting in mtu] == [("1500", False)]
    metrics = (folder / "agent.metrics").read_text()
    assert f'nic="rail2-p0",peer_device="{CABLES[HOST, "enp2s0"][0]}",peer_interface="e1-1"}} 1' in metrics


@contextmanager
def node_exporter(tree: HostTree) -> Iterator[str]:
    """The address of a node_exporter that reads NICs from a tree."""
    address = f"127.0.0.1:{free_port()}"
    collectors = ["--collector.disable-defaults", "--collector.infiniband", "--collector.netclass"]
    command = ["prometheus-node-exporter", f"--path.sysfs={tree.path('/sys')}", *collectors]
    process = subprocess.Popen([*command, f"--web.listen-address={address}"], stderr=subprocess.DEVNULL)
    try:
        yield address
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def served(agent: Agent) -> Iterator[str]:
    """The address of an agent."""
    with AgentServer("127.0.0.1", 0, agent.exposed) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.prometheus
@pytest.mark.node_exporter
def test_series_of_the_agent_and_of_node_exporter_join_in_one_prometheus(tmp_path: Path) -> None:
    (tmp_path / "host").mkdir()
    tree = host_tree(tmp_path / "host", "connectx-7")
    agent = Agent(json.loads(tree.data.read_text()), HOST, host_system(tree.root))
    agent.check()
    with node_exporter(tree) as theirs, served(agent) as ours:
        jobs = [
            {"job_name": "node", "static_configs": [{"targets": [theirs], "labels": {"host": HOST}}]},
            {"job_name": "agent", "honor_labels": True, "static_configs": [{"targets": [ours]}]},
        ]
        config = {"global": {"scrape_interval": "1s"}, "scrape_configs": jobs}
        with Prometheus(tmp_path, config) as prometheus:
            (agrees,) = prometheus.eventually('roce_nic_setting_agrees{nic="rail2-p0", setting="pfc"}')
            assert (agrees["metric"]["fabric"], agrees["metric"]["host"], agrees["value"][1]) == ("two", HOST, "1")
            joined = prometheus.eventually(
                'label_replace(node_infiniband_port_data_received_bytes_total, "rdma", "$1", "device", "(.*)")'
                " * on (host, rdma) group_left (fabric, nic, rail) roce_nic_info"
            )
            assert {(each["metric"]["nic"], each["value"][1]) for each in joined} == {
                ("rail1-p0", "4000"),
                ("rail2-p0", "8000"),
            }
            assert len(prometheus.query("up == 1")) == 2


MISTAKES: dict[str, tuple[Callable[[HostTree], object], set[str]]] = {
    "none": (lambda tree: None, set()),
    "PFC off": (
        lambda tree: _edit(tree.captured("mlnx_qos", "-i", "enp2s0"), "0   0   0   1   0", "0   0   0   0   0"),
        {"FabricNicSettingWrong"},
    ),
    "half of the lanes": (
        lambda tree: _edit(tree.device("enp2s0") / "current_link_width", "16", "8"),
        {"FabricNicPcieSlow"},
    ),
    "half of the lanes, enough for the link": (
        lambda tree: (
            _edit(tree.device("enp2s0") / "current_link_width", "16", "8"),
            _edit(tree.path("/sys/class/net/enp2s0/speed"), "400000", "100000"),
        ),
        set(),
    ),
    "no driver": (
        lambda tree: _edit(tree.device("enp2s0") / "uevent", "DRIVER=mlx5_core", "DRIVER=vfio-pci"),
        {"FabricNicMissing"},
    ),
    "a tool is missing": (lambda tree: tree.captured("mlnx_qos", "-i", "enp2s0").unlink(), set()),
    "settings lost": (
        lambda tree: (
            _edit(tree.captured("mlnx_qos", "-i", "enp2s0"), "state: dscp", "state: pcp"),
            tree.write(BOOT_ID, "boot 2"),
        ),
        {"FabricNicSettingWrong", "FabricNicSettingsLost"},
    ),
}
"""What is done to a host, and the alerts that it raises: no other."""


def _edit(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))


@pytest.mark.prometheus
def test_each_mistake_of_a_host_raises_its_alerts_and_no_other(tmp_path: Path) -> None:
    """A host for each, in one Prometheus with the rules that are delivered."""
    write(prometheus_files(Scrape()), tmp_path)
    (tmp_path / "host").mkdir()
    good = host_tree(tmp_path / "host", "connectx-7")
    good.write(BOOT_ID, "boot 1")
    with ExitStack() as stack:
        agents = [
            stack.enter_context(mistaken(tmp_path / f"tree{place}", good, name)) for place, name in enumerate(MISTAKES)
        ]
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(tmp_path / "rules" / "*.yml")],
            "scrape_configs": [{"job_name": "railfab-agent", "static_configs": [{"targets": agents}]}],
        }
        prometheus = stack.enter_context(Prometheus(tmp_path, config))
        prometheus.eventually(f"count(roce_nic_wanted) == {len(MISTAKES)}")
        raised = 'ALERTS{alertname=~"FabricNic.+", alertstate="firing"}'
        wanted = {(name, alert) for name, (_, alerts) in MISTAKES.items() for alert in alerts}
        prometheus.eventually(f"count(count by (host, alertname) ({raised})) >= {len(wanted)}")
        prometheus.eventually("count_over_time(roce_nic_wanted[10s]) >= 5")
        assert {(each["metric"]["host"], each["metric"]["alertname"]) for each in prometheus.query("ALERTS")} == wanted


@contextmanager
def mistaken(folder: Path, good: HostTree, name: str) -> Iterator[str]:
    """The address of the agent of a host on which this was done, after it was as wanted."""
    shutil.copytree(good.root, folder / "root", symlinks=True)
    tree = HostTree(root=folder / "root", data=good.data)
    settings, system, state = json.loads(tree.data.read_text()), host_system(tree.root), folder / "state"
    Agent(settings, name, system, state=state).check()
    MISTAKES[name][0](tree)
    agent = Agent(settings, name, system, state=state)
    agent.check()
    with served(agent) as address:
        yield address

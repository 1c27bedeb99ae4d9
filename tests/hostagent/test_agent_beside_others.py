"""The agent beside real programs: Debian's lldpd, the kernel's ethtool, node_exporter and Prometheus."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.docs.schemas import conforming
from tests.hostagent.trees import HostTree, host_tree
from tests.imports.lldp_hosts import neighbors_of_real_lldpd
from tests.integration.prometheus_server import Prometheus
from tests.ports import free_port

from railfab.hostagent.agent import Agent
from railfab.hostagent.host_tree import host_system
from railfab.hostagent.server import AgentServer

HOST = "pod1-seg1-host1"
CABLES = {(HOST, f"enp{rail}s0"): (f"pod1-seg1-leaf{rail}", "e1-1") for rail in (1, 2)}
AGENT = """
ln -s /run/{host}.sock /run/lldpd.socket
nsenter -t "$(cat /run/{host}.pid)" --net sh -c '
    for rail in 1 2; do ip link property add dev enp${{rail}}s0 altname rail$rail-p0; done
    {agent}' >"$1/agent.txt" || [ $? = 1 ]
"""
STANDALONE = ("--once", "--standalone", "--output")


@pytest.mark.lldp
@pytest.mark.parametrize("form", ["json", "metrics"])
def test_neighbours_come_from_a_real_lldpd_and_names_and_statistics_from_the_kernel(tmp_path: Path, form: str) -> None:
    """Interfaces are veth pairs; their PCI devices and drivers are those of a tree."""
    (tmp_path / "host").mkdir()
    tree = host_tree(tmp_path / "host", "connectx-7")
    for path in (*tree.captured("x").parent.iterdir(), tree.captured("x").parent):
        path.unlink() if path.is_file() else path.rmdir()
    words = [sys.executable, "-m", "railfab.hostagent", "--root", str(tree.root), "--data", str(tree.data)]
    agent = shlex.join([*words, "--host", HOST, *STANDALONE, form])
    folder = tmp_path / "seen"
    folder.mkdir()
    neighbors_of_real_lldpd(folder, CABLES, AGENT.format(host=HOST, agent=agent))
    printed = (folder / "agent.txt").read_text()
    if form == "json":
        nics = conforming("agent", printed)["nics"]
        assert [nic["neighbor"] for nic in nics] == [{"switch": leaf, "port": port} for leaf, port in CABLES.values()]
        assert [(nic["nic"], nic["interface"]) for nic in nics] == [("rail1-p0", "enp1s0"), ("rail2-p0", "enp2s0")]
        mtu = [setting for setting in nics[0]["settings"] if setting["setting"] == "mtu"]
        assert [(setting["read"], setting["ok"]) for setting in mtu] == [("1500", False)]
    else:
        assert f'nic="rail2-p0",peer_device="{CABLES[HOST, "enp2s0"][0]}",peer_interface="e1-1"}} 1' in printed
        assert "roce_nic_faults" in printed


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
def agent_address(tree: HostTree) -> Iterator[str]:
    agent = Agent(json.loads(tree.data.read_text()), HOST, host_system(tree.root))
    agent.check()
    with AgentServer("127.0.0.1", 0, agent.exposed) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.prometheus
@pytest.mark.node_exporter
def test_series_of_the_agent_and_of_node_exporter_join_in_one_prometheus(tmp_path: Path) -> None:
    (tmp_path / "host").mkdir()
    tree = host_tree(tmp_path / "host", "connectx-7")
    with node_exporter(tree) as theirs, agent_address(tree) as ours:
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

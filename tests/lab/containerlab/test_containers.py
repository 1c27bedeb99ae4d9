"""FRR switches as containers, deployed and verified: on a stand-in that boots the topology, and on containerlab.

The stand-in gives every node namespaces of its own, wired, configured and addressed by the topology alone, with FRR and
nothing else in it: what the backend adds on the host is the same as with Docker.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests import commands
from tests.integration.conftest import wait_for
from tests.lab.containerlab.conftest import StandIn, new_standin
from tests.lab.fabrics import FRR_POD, TWO_SEGMENTS, lab_plan, written

from railfab.endpoints import load_endpoints, read_credentials
from railfab.fabric import design
from railfab.lab import LabPlan
from railfab.lab.containerlab import ContainerlabBackend, Settings, lab_files
from railfab.lab.containerlab.state import LabPaths


@dataclass(frozen=True, slots=True)
class Running:
    backend: ContainerlabBackend
    plan: LabPlan
    intent: Path

    def run(self, verb: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the lab, as a user would."""
        options = ["--on", "lab", "--state", str(self.plan.place.state), *arguments]
        environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
        return commands.run(verb, self.intent, *options, environment=environment, timeout_s=150)

    def sh(self, node: str, script: str) -> subprocess.CompletedProcess[str]:
        """Run a shell script in a container, as root."""
        found = next(found for found in self.backend.binary.inspect(self.plan.place.fabric) if found.node == node)
        enter = ["nsenter", f"--target={found.pid}", "--net", "--mount", "--pid", "--uts"]
        return subprocess.run([*enter, "sh", "-c", script], capture_output=True, text=True)

    def ping(self, host: str, address: str) -> int:
        topology = LabPaths(self.plan.place).topology
        done = self.backend.binary.exec(topology, host, f"ping -c 3 -i 0.2 -W 2 {address}")
        return done[0].return_code


def quiet(_: str) -> None:
    pass


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, pid: int) -> Iterator[Running]:
    standin: StandIn = new_standin(tmp_path_factory.mktemp("standin"), pid)
    folder = tmp_path_factory.mktemp("containers")
    intent = written(folder, TWO_SEGMENTS)
    running = Running(standin.backend(STANDIN_NODES="namespaces"), lab_plan(intent, folder / "state"), intent)
    running.backend.up(running.plan, quiet)
    deployed = running.run("deploy", "--yes")
    yield running
    running.backend.down(running.plan.place, quiet)
    assert deployed.returncode == 0, deployed.stdout + deployed.stderr


@pytest.fixture(scope="module")
def verified(lab: Running) -> subprocess.CompletedProcess[str]:
    """The first verification, which waits for the sessions."""
    return lab.run("verify")


@pytest.mark.lab
class TestOnTheStandIn:
    def test_a_deployed_fabric_verifies(self, verified: subprocess.CompletedProcess[str]) -> None:
        assert verified.returncode == 0, verified.stdout + verified.stderr
        assert verified.stdout.startswith("3 of 3 switches checked: all 4 BGP session ends are as the intent says\n")

    def test_a_second_deploy_changes_nothing(self, lab: Running) -> None:
        again = json.loads(lab.run("deploy", "--yes", "--output", "json").stdout)
        assert {outcome["name"]: (outcome["changed"], outcome["diff"]) for outcome in again} == dict.fromkeys(
            lab.plan.models, (False, "")
        )

    @pytest.mark.usefixtures("verified")
    def test_hosts_reach_each_other_over_the_spine(self, lab: Running) -> None:
        """Addresses and routes are those of the topology's `exec`; the default route is not the management's."""
        (target,) = (port.address for port, _, _ in design(lab.intent).topology.ports_of("pod1-seg2-host1"))
        assert lab.ping("pod1-seg1-host1", str(target.ip)) == 0

    def test_a_container_keeps_its_configuration_to_itself(self, lab: Running) -> None:
        """The deploy saved it there; the file that was bound, and its owner, are those that were written."""
        folder = LabPaths(lab.plan.place).folder
        source = folder / "configs/pod1-spine1/frr.conf"
        assert "router bgp" in lab.sh("pod1-spine1", "cat /etc/frr/frr.conf").stdout
        assert "router bgp" not in source.read_text()
        for command in ("echo written > /etc/frr/startup.conf", "chown frr:frr /etc/frr/startup.conf"):
            assert "Read-only file system" in lab.sh("pod1-spine1", command).stderr
        wanted = lab_files(lab.plan, Settings()).all()
        assert {name: (folder / name).read_text() for name in wanted} == wanted
        assert {(folder / name).stat().st_uid for name in wanted} == {os.getuid()}

    @pytest.mark.usefixtures("verified")
    def test_a_dead_daemon_of_a_container_is_restarted(self, lab: Running) -> None:
        lab.sh("pod1-seg2-leaf1", "kill -9 $(cat /var/run/frr/bgpd.pid)")
        node = next(node for node in lab.backend.status(lab.plan.place).nodes if node.name == "pod1-seg2-leaf1")
        assert (node.state, node.detail) == ("degraded", "no answer from bgpd")
        lab.backend.restart(lab.plan, "pod1-seg2-leaf1", "bgpd", quiet)
        wait_for(lambda: lab.backend.status(lab.plan.place).state == "running", "every daemon answers")
        again = lab.run("verify", "--wait", "60")
        assert again.returncode == 0, again.stdout

    @pytest.mark.matrix
    def test_a_restarted_container_has_its_links_its_servers_and_its_saved_configuration(self, lab: Running) -> None:
        lab.sh("pod1-seg2-leaf1", "ip addr add 192.0.2.9/32 dev lo")
        progress: list[str] = []
        lab.backend.restart(lab.plan, "pod1-seg2-leaf1", None, progress.append)
        assert progress == ["restarting pod1-seg2-leaf1", "starting SSH and gNMI"]
        assert "192.0.2.9" not in lab.sh("pod1-seg2-leaf1", "ip addr").stdout
        wait_for(lambda: lab.backend.status(lab.plan.place).state == "running", "every daemon and server answers")
        again = lab.run("verify", "--wait", "60")
        assert again.returncode == 0, again.stdout

    def test_the_state_of_ports_is_read_over_gnmi(self, lab: Running) -> None:
        import grpc
        from pygnmi.create_gnmi_path import gnmi_path_generator
        from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

        node = load_endpoints(lab.plan.place.endpoints_file).nodes[0]
        login = read_credentials(node)
        trust = grpc.ssl_channel_credentials(Path(str(node.ca)).read_bytes())
        with grpc.secure_channel(f"{node.host}:{node.gnmi_port}", trust) as channel:
            asked = gnmi_pb2.GetRequest(
                path=[gnmi_path_generator("/interfaces/interface[name=swp16]/state/oper-status")],
                encoding=gnmi_pb2.JSON_IETF,
            )
            metadata = [("username", login.username), ("password", login.password)]
            answer = gnmi_pb2_grpc.gNMIStub(channel).Get(asked, metadata=metadata, timeout=10)
        assert json.loads(answer.notification[0].update[0].val.json_ietf_val) == "UP"


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Running]:
    """The FRR pod on the containerlab of this machine."""
    if shutil.which("containerlab") is None:
        pytest.skip("needs containerlab on PATH; install it as containerlab.dev says")
    running = Running(ContainerlabBackend(), lab_plan(FRR_POD, tmp_path), FRR_POD)
    missing = [str(finding) for finding in running.backend.doctor(running.plan) if finding.fatal and not finding.ok]
    if missing:
        pytest.skip(missing[0])
    running.backend.up(running.plan, quiet)
    yield running
    running.backend.down(running.plan.place, quiet)


def test_the_same_on_containerlab_itself(real: Running) -> None:
    assert real.run("deploy", "--yes").returncode == 0
    assert real.run("verify").returncode == 0
    assert real.ping("pod1-seg1-host1", "10.18.2.1") == 0

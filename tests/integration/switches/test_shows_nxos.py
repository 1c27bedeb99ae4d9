"""QoS of virtual NX-OS switches: they show of queues and pauses what the fabric counts, and verify reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.switches.racks import LEAF, opened
from tests.twin.twins import made_job, ran

from railfab.deploy.live_qos import qos_findings
from railfab.device import DeviceModel, operations
from railfab.endpoints import Endpoint, read_credentials
from railfab.fabric.design import Design
from railfab.platforms.nxos.cli import cli
from railfab.platforms.nxos.state import observed_state
from railfab.ssh import Cli, CliUser
from railfab.twin import Twin

NAME = "nxos"
RECEIVER, GROUP, PRIORITY, PORTS = "Ethernet1/1/1", "3", 3, 9
NOTHING: dict[str, Any] = {verb: {} for verb in ("lldp", "sessions", "bfd", "arp", "nd")}
RECORDED = """\
============================================================
Port               Mode Oper(VL bmap)  RxPPP      TxPPP
============================================================

Ethernet1/1        Auto Off           7316       762946
Ethernet1/2        Auto On   (9)       4088353    1890
Ethernet1/1/1      Auto On   (8)       0          0
"""
"""Nexus 5000 and 9000, and a fabric interconnect with the same words; the ports are of three switches."""


@pytest.fixture(scope="module")
def rack(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight hosts, of which seven fill the queue of the eighth."""
    intent = (repository / "tests" / "deploy" / "rack_nxos.yml").read_text()
    path = tmp_path_factory.mktemp("intent") / "rack.yml"
    path.write_text(intent.replace("hosts: 2,", "hosts: 8,"))
    return path


@pytest.fixture(scope="module")
def twin(fabric: Design, state: Path) -> Iterator[Twin]:
    """Three configured switches, after an incast into a port of the leaf that filled its queue."""
    with Twin(fabric, state=state, base_port=0, configured=True) as running:
        incast = {"pattern": "incast", "senders": 7, "receivers": 1, "bytes": "4MB"}
        ran(running, made_job(phases=[{"traffic": incast}], repeat=1))
        yield running


@pytest.fixture
def session(twin: Twin) -> Cli:
    return cli(twin._switches[LEAF])(CliUser(name="viewer", writes=False))


def shown(session: Cli, command: str) -> str:
    return session.answer(command).output


def rows(answer: Any, *tables: str) -> Any:
    for name in tables:
        answer = answer[f"TABLE_{name}"][f"ROW_{name}"]
    return answer


def reading(twin: Twin, metric: str, **labels: str) -> int:
    readings = twin._switches[LEAF].readings()
    return sum(int(value) for name, has, value in readings if name == metric and labels.items() <= has.items())


def test_counters_of_a_queue_are_those_that_the_fabric_counts(twin: Twin, session: Cli) -> None:
    answer = json.loads(shown(session, f"show queuing interface {RECEIVER} | json"))
    egress, _ = rows(answer, "module", "queuing_interface")
    groups = {group["eq-qosgrp"]: group for group in rows(egress, "qosgrp_egress_stats")}
    counted = {
        (entry["eq-stat-type"], entry["eq-stat-units"]): int(entry["eq-uc-stat-value"])
        for entry in rows(groups[GROUP], "qosgrp_egress_stats_entry")
    }
    of_queue = {"interface": RECEIVER, "queue": GROUP}
    assert counted["Tx", "Pkts"] == reading(twin, "fabric_queue_transmit_packets_total", **of_queue) > 0
    assert counted["ECN", "Pkts"] == reading(twin, "fabric_queue_ecn_marked_packets_total", **of_queue) > 0
    text = shown(session, f"show queuing interface {RECEIVER}").partition(f"QOS GROUP {GROUP} ")[2]
    match = re.search(r"ECN Pkts \| +(\d+)\|", text)
    assert match is not None
    assert int(match[1]) == counted["ECN", "Pkts"]


def test_counters_of_a_port_are_those_that_the_fabric_counts(twin: Twin, leaf: Endpoint, session: Cli) -> None:
    from napalm import get_network_driver  # takes longer to import than all that is tested here

    sent = reading(twin, "fabric_interface_transmit_bytes_total", interface=RECEIVER)
    packets = reading(twin, "fabric_interface_transmit_packets_total", interface=RECEIVER, cast="unicast")
    answer = json.loads(shown(session, f"show interface {RECEIVER} counters | json"))
    assert rows(answer, "tx_counters")[0] == {
        "interface_tx": RECEIVER,
        "eth_outbytes": str(sent),
        "eth_outucast": str(packets),
    }
    assert f" {sent} bytes\n" in shown(session, f"show interface {RECEIVER}")
    assert re.search(rf"^Eth1/1/1 +{sent} ", shown(session, "show interface counters"), re.MULTILINE)
    login, driver = read_credentials(leaf), get_network_driver("nxos_ssh")
    with driver(leaf.host, login.username, login.password, optional_args={"port": leaf.ssh_port}) as napalm:
        assert napalm.get_interfaces_counters()[RECEIVER]["tx_octets"] == sent > 0


def test_a_queuing_policy_is_shown_with_the_counters_of_its_classes(twin: Twin, session: Cli) -> None:
    answer = shown(session, "show policy-map interface e1/1/1 type queuing")
    assert f"{RECEIVER}\n\n  Service-policy (queuing) output:   100g-5m_100g \n" in answer
    marked = answer.partition(f"c-out-8q-q{GROUP} (match-any)\n")[2].partition("\n\n")[0].splitlines()
    dropped = reading(twin, "fabric_queue_dropped_packets_total", interface=RECEIVER, queue=str(GROUP))
    assert marked[1].startswith("      random-detect minimum-threshold 150000 bytes")
    assert marked[2] == f"      queue dropped pkts : {dropped} "
    assert re.fullmatch(r"      queue depth in bytes : \d+ ", marked[3])
    assert len(re.findall("Service-policy", shown(session, "show policy-map interface type queuing"))) == PORTS


def test_pauses_are_counted_by_port_and_by_priority(twin: Twin, session: Cli) -> None:
    answer = json.loads(shown(session, "show interface priority-flow-control | json"))
    ports = {row["if_name_str"]: row for row in rows(answer, "module", "pfc_interface")}
    text = shown(session, "show interface priority-flow-control")
    _, ingress = rows(json.loads(shown(session, "show queuing interface e1/64 | json")), "module", "queuing_interface")
    pauses = {row["cos"]: row for row in rows(ingress, "pfc_stats")}
    for port, row in ports.items():
        sent = reading(twin, "fabric_pfc_transmit_frames_total", interface=port)
        assert int(row["tx-stats"]) == sent
        assert re.search(rf"^{port} +On   On   \(8\) +{row['rx-stats']} +{sent} *$", text, re.MULTILINE)
    sent = reading(twin, "fabric_pfc_transmit_frames_total", interface="Ethernet1/64", priority=str(PRIORITY))
    assert int(pauses[str(PRIORITY)]["tx-pause-count"]) == sent
    assert pauses[str(PRIORITY)]["pfc-qosgrp"] == GROUP


def test_the_watchdog_has_a_block_for_each_queue_with_pfc(session: Cli) -> None:
    answer = shown(session, f"show queuing pfc-queue interface {RECEIVER} detail")
    assert f"{RECEIVER} Interface PFC watchdog: [Enabled]" in answer
    assert f"| QOS GROUP {GROUP} [Active] PFC [YES] PFC-COS [{PRIORITY}]" in answer
    assert len(re.findall("PFC-COS", shown(session, "show queuing pfc-queue detail"))) == PORTS


def test_a_port_without_a_mode_runs_no_pfc(twin: Twin) -> None:
    operator = cli(twin._switches[LEAF])(CliUser(name="admin"))
    for line in ("configure terminal", "interface Ethernet1/1/2", "no priority-flow-control mode on", "end"):
        operator.answer(line)
    assert re.search(
        r"Ethernet1/1/2 +Auto Off +\d+ +\d+ *$",
        shown(operator, "show interface e1/1/2 priority-flow-control"),
        re.MULTILINE,
    )
    for line in ("configure terminal", "interface Ethernet1/1/2", "priority-flow-control mode on", "end"):
        operator.answer(line)


def test_a_session_observes_the_priorities_with_which_ports_run_pfc(leaf: Endpoint, model: DeviceModel) -> None:
    with opened(leaf) as session:
        observed = session.observe()
    pfc = {interface.name: interface.pfc for interface in observed.interfaces}
    assert pfc[RECEIVER] == {PRIORITY}
    assert pfc["loopback0"] is None
    assert list(qos_findings(LEAF, model, observed, lambda: model)) == []


def test_pfc_is_read_from_recorded_answers() -> None:
    interfaces = {
        "TABLE_interface": {"ROW_interface": [{"interface": f"Ethernet1/{port}"} for port in ("1", "2", "1/1")]}
    }
    observed = observed_state({"interfaces": interfaces, **NOTHING}, RECORDED)
    assert [interface.pfc for interface in observed.interfaces] == [frozenset(), {0, 3}, {3}]
    unread = observed_state({"interfaces": interfaces, **NOTHING}, "% Invalid command at '^' marker.\n")
    assert {interface.pfc for interface in unread.interfaces} == {None}


def test_a_port_that_does_not_run_the_pfc_of_its_configuration_is_a_finding(model: DeviceModel) -> None:
    stated = operations(model)
    text = "".join(f"{port:<18} On   {'Off':<13} 0          0\n" for port in stated)
    interfaces = {"TABLE_interface": {"ROW_interface": [{"interface": port, "state": "up"} for port in stated]}}
    findings = qos_findings(LEAF, model, observed_state({"interfaces": interfaces, **NOTHING}, text), lambda: model)
    assert [str(finding.code) for finding in findings] == ["pfc-inactive"] * len(stated)

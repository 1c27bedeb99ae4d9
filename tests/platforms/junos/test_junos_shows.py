"""Show commands of a virtual Junos switch, as independent readers take them."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from ntc_templates.parse import parse_output
from tests.twin.twins import made_job, ran, until

from railfab.deploy.live_qos import qos_findings
from railfab.device import operations
from railfab.endpoints import read_credentials
from railfab.fabric import Design, design
from railfab.platforms import Session, VirtualDevice, platform
from railfab.platforms.junos.answers import DAY_S, age, elapsed
from railfab.platforms.junos.cli import cli
from railfab.platforms.junos.cos_in_effect import qos_in_effect
from railfab.platforms.junos.port_state import port_states
from railfab.platforms.junos.show_interfaces import port_text
from railfab.platforms.junos.shows import JunosShows
from railfab.ssh import Cli, CliUser
from railfab.twin import Twin

INTENT = """\
version: 1
fabric: shows
profile: {control_plane: ebgp, underlay: numbered, bfd: {interval_ms: 300, multiplier: 3}}
hosts: {gpus: 2, rate_gbps: 100}
backend:
  segments: {count: 2, hosts: 4, rail_switches: 1, model: qfx5130-32cd, platform: junos, cable_m: 5}
  spines: {count: 2, rate_gbps: 400, model: qfx5130-32cd, platform: junos, cable_m: 40}
"""
LEAF = "pod1-seg1-leaf1"
RECEIVER_PORT = "et-0/0/0:0"
"""Port of a host on LEAF, where the senders of an incast meet."""
INCAST = {"traffic": {"pattern": "incast", "senders": 14, "receivers": 1, "bytes": "1.5MB"}}
SLOW_GBPS = 20.0
"""Rate at which the receiver takes packets from its NIC, which therefore pauses the leaf."""
FAR_SUBNET = "10.18.1.0/31"
"""Of a host at the other rail switch."""
LOSSLESS = 3
"""Priority and queue of the lossless class."""


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Design:
    path = tmp_path_factory.mktemp("intent") / "intent.yml"
    path.write_text(INTENT)
    return design(path)


@pytest.fixture(scope="module")
def twin(fabric: Design, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(fabric, state=tmp_path_factory.mktemp("state"), base_port=0, configured=True) as running:
        yield running


@pytest.fixture(scope="module")
def leaf(twin: Twin) -> VirtualDevice:
    """A switch that the receiver of an incast has paused, and that has marked its packets."""
    switch = twin._switches[LEAF]
    twin.set_host_rate("pod1-seg1-host1", SLOW_GBPS)
    until(lambda: all(session.established for session in switch.observe().sessions))
    ran(twin, made_job(phases=[INCAST], repeat=3))
    return switch


@pytest.fixture
def client(twin: Twin) -> Session:
    """A session of ours with the switch, not opened."""
    endpoint = twin.endpoints.by_name()[LEAF]
    return platform("junos").session_factory(LEAF)(endpoint, read_credentials(endpoint))


@pytest.fixture
def session(leaf: VirtualDevice) -> Iterator[Cli]:
    opened = cli(leaf)(CliUser(name="admin"))
    yield opened
    opened.closed()


def said(session: Cli, command: str) -> str:
    return session.answer(command).output


def parsed(command: str, text: str) -> list[dict[str, Any]]:
    """The rows that ntc-templates reads in the answer to a command; it raises for a line that it does not know."""
    return list(parse_output(platform="juniper_junos", command=command, data=text))


def answered(session: Cli, command: str) -> list[dict[str, Any]]:
    return parsed(command, said(session, command))


def values(session: Cli, command: str) -> Any:
    """An answer in JSON, with each list of one as what is in it, as a reader of the XML sees it."""
    return plain(json.loads(said(session, f"{command} | display json")))


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return plain(value[0]) if len(value) == 1 else [plain(each) for each in value]
    if isinstance(value, Mapping):
        return value["data"] if "data" in value else {name: plain(each) for name, each in value.items()}
    return value


def port(session: Cli, command: str) -> Any:
    return values(session, command)["interface-information"]["physical-interface"]


def test_ntc_templates_read_the_interfaces(session: Cli, leaf: VirtualDevice) -> None:
    """Without the addresses of links, whose lines end before the broadcast address that the template asks for."""
    text = said(session, "show interfaces | except Destination")
    rows = {row["interface"]: row for row in parsed("show interfaces", text)}
    physical = {name: row for name, row in rows.items() if not name.endswith(".0")}
    assert set(physical) == {port.name for port in leaf.ports()}
    assert {row["admin_state"] for row in physical.values()} == {"Enabled"}
    assert {row["link_status"] for row in physical.values()} == {"Up"}
    assert physical[RECEIVER_PORT]["description"] == "pod1-seg1-host1 rail1-p0"
    assert rows[f"{RECEIVER_PORT}.0"]["mtu"] == "9216"


def test_ntc_templates_read_the_address_of_a_subnet(leaf: VirtualDevice) -> None:
    state = replace(port_states(leaf)[0], addresses={"0": {"inet": ("10.1.1.7/24",)}})
    physical, unit = parsed("show interfaces", "\n".join(port_text(state)))
    assert (physical["interface"], unit["interface"]) == (state.port.name, f"{state.port.name}.0")
    assert (unit["destination"], unit["local"]) == ("10.1.1.0/24", "10.1.1.7")


def test_ntc_templates_read_the_neighbours(session: Cli, leaf: VirtualDevice) -> None:
    rows = answered(session, "show lldp neighbors")
    heard = {(port.name, each.name, each.port) for port in leaf.ports() for each in port.neighbors}
    assert {(row["local_interface"], row["neighbor_name"], row["neighbor_interface"]) for row in rows} == heard
    assert heard


def test_ntc_templates_read_the_bgp_sessions(
    session: Cli, leaf: VirtualDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sessions that have been up for a day: those of the template's author were."""
    now_s = time.time() + 65 * DAY_S
    monkeypatch.setattr(time, "time", lambda: now_s)
    rows = answered(session, "show bgp summary")
    assert {(row["peer_ip"], row["peer_as"]) for row in rows} == {
        (str(peer.peer), str(peer.remote_as)) for peer in leaf.observe().sessions
    }
    assert {(row["state"], row["interface"], row["last_flap"]) for row in rows} == {("Establ", "inet.0", "9w2d")}
    assert all(row["received"] == row["accepted"] >= row["active"] > "0" for row in rows)


def test_ntc_templates_read_the_system(session: Cli) -> None:
    (version,) = answered(session, "show version")
    assert (version["hostname"], version["model"]) == (LEAF, "qfx5130-32cd")
    assert version["junos_version"].startswith("24.4R1")
    (uptime,) = answered(session, "show system uptime")
    assert uptime["boot_year"] == time.strftime("%Y", time.gmtime())
    assert uptime["last_config_user"] == "root"
    assert {row["ip_address"] for row in answered(session, "show arp no-resolve")} >= {
        "10.17.0.1",
        "10.17.0.3",
    }


def test_ntc_templates_read_the_route_summary(session: Cli, leaf: VirtualDevice) -> None:
    rows = {row["route_src"]: int(row["active_routes"]) for row in answered(session, "show route summary")}
    counts = leaf.chassis().routes[0]
    assert rows == {"Direct": counts.active - counts.bgp, "BGP": counts.bgp}


def test_routes_are_those_that_are_counted_with_the_next_hops_of_the_sessions(
    session: Cli, leaf: VirtualDevice
) -> None:
    table = values(session, "show route")["route-information"]["route-table"]
    counted = {row["protocol-name"]: int(row["active-route-count"]) for row in summary(session)["protocols"]}
    assert Counter(entry["rt-entry"]["protocol-name"] for entry in table["rt"]) == counted
    (far,) = [entry for entry in table["rt"] if entry["rt-destination"] == FAR_SUBNET]
    assert far["rt-entry"]["as-path"] == "AS path: 65001 4200001002 I"
    uplinks = {(peer.peer, f"{peer.interface}.0") for peer in leaf.sessions()}
    assert {(hop["to"], hop["via"]) for hop in far["rt-entry"]["nh"]} == uplinks
    text = said(session, f"show route {FAR_SUBNET.partition('/')[0]}")
    assert re.search(rf"^{FAR_SUBNET} +\*\[BGP/170\] [\d:]+, localpref 100$", text, re.MULTILINE)
    assert set(re.findall(r"^ +>?  to (\S+) via (\S+)$", text, re.MULTILINE)) == uplinks
    assert said(session, "show route protocol bgp").count("[BGP/170]") == counted["BGP"]
    assert said(session, "show route protocol direct").count("[Direct/0]") == counted["Direct"]


def summary(session: Cli) -> Any:
    return values(session, "show route summary")["route-summary-information"]["route-table"]


def test_a_congested_port_shows_its_pause_frames_and_marks(session: Cli, leaf: VirtualDevice) -> None:
    """The counters in text, and in JSON, are those that a collector reads."""
    counted = {
        (metric, labels["interface"], labels.get("priority") or labels.get("queue")): int(value)
        for metric, labels, value in leaf.readings()
        if metric in ("fabric_pfc_receive_frames_total", "fabric_queue_ecn_marked_packets_total")
    }
    paused = counted["fabric_pfc_receive_frames_total", RECEIVER_PORT, str(LOSSLESS)]
    marked = counted["fabric_queue_ecn_marked_packets_total", RECEIVER_PORT, "3"]
    assert paused > 0
    assert marked > 0
    extensive = said(session, f"show interfaces extensive {RECEIVER_PORT}")
    assert re.search(rf"^    Priority :  {LOSSLESS} +{paused} +0$", extensive, re.MULTILINE)
    pfc = port(session, f"show interfaces {RECEIVER_PORT} extensive")["ethernet-mac-pfc-statistics"][LOSSLESS]
    assert pfc == {"mac-pfc-dot1p": str(LOSSLESS), "input-mac-pfc-frames": str(paused), "output-mac-pfc-frames": "0"}
    queue = said(session, f"show interfaces queue {RECEIVER_PORT}").partition(f"Queue: {LOSSLESS}, ")[2]
    assert re.search(r"ECN-CE packets +: +(\d+)$", queue, re.MULTILINE)[1] == str(marked)  # type: ignore[index]


def test_ports_do_what_they_are_configured_for(client: Session, leaf: VirtualDevice) -> None:
    with client as opened:
        observed = {port.name: port for port in opened.observe().interfaces}
    configured = operations(platform("junos").parse(leaf.running()))
    assert set(configured) == set(observed)
    for name, operation in configured.items():
        assert operation.pfc == operation.ecn == frozenset({LOSSLESS})
        assert (observed[name].pfc, observed[name].ecn) == (operation.pfc, operation.ecn)
        assert observed[name].dscp == operation.dscp


@pytest.mark.parametrize(
    ("bound", "instead", "found"),
    [
        ("Enabled, Name: 100g-5m_pfc-3_fabric, Index: 0", "Disabled", "operates PFC on no priority"),
        ("Scheduler map: 100g-5m,", "Scheduler map: <default>,", "marks packets of no queue"),
    ],
)
def test_what_the_switch_has_not_bound_to_a_port_is_found(
    client: Session, fabric: Design, monkeypatch: pytest.MonkeyPatch, bound: str, instead: str, found: str
) -> None:
    """A switch whose class-of-service process has not taken a part of what is committed."""
    answered = JunosShows.show_cos_interface
    monkeypatch.setattr(
        JunosShows, "show_cos_interface", lambda *given, **more: answered(*given, **more).replace(bound, instead, 1)
    )
    with client as opened:
        observed, running = opened.observe(), opened.running().text
    findings = qos_findings(LEAF, fabric.models[LEAF], observed, lambda: platform("junos").parse(running))
    assert [str(each).partition(",")[0] for each in findings] == [f"{LEAF} {RECEIVER_PORT}: {found}"]


def test_objects_that_are_the_switchs_are_not_judged() -> None:
    """The first answer is a virtual PTX's of release 23.2, whose classifier and profile no configuration states."""
    shown = (
        "Physical interface: et-0/0/0, Index: 1024\n  Scheduler map: test-mp, Index: 0\n"
        "  Congestion-notification: Disabled\n\n  Logical interface: et-0/0/0.100, Index: 1003\n"
        "Classifier              ipprec-compatibility   ip                          0\n"
        "Physical interface: et-0/0/1, Index: 1025\n  Scheduler map: <default>, Index: 0\n"
        "  Congestion-notification: Enabled, Name: unknown, Index: 1\n"
        "Classifier              dscp-default           dscp                        0\n"
    )
    classes = "forwarding-classes {\n    class roce queue-num 3 no-loss pfc-priority 3;\n}"
    first, second = qos_in_effect(classes, shown).values()
    assert (first.pfc, first.ecn, first.dscp) == (frozenset(), None, None)
    assert (second.pfc, second.ecn, second.dscp) == (None, frozenset(), None)
    assert qos_in_effect(classes, "error: the class-of-service subsystem is not running\n") == {}


def test_forwarding_classes_have_their_queues_and_priorities(session: Cli) -> None:
    rows = [
        re.split(r" {2,}", line.strip())
        for line in said(session, "show class-of-service forwarding-class").splitlines()
    ]
    assert ["roce", "1", "3", "normal", "enabled", "3"] in rows
    assert ["cnp", "2", "6", "normal", "disabled", "0"] in rows


def test_the_levels_of_a_port_agree(session: Cli) -> None:
    extensive = port(session, f"show interfaces extensive {RECEIVER_PORT}")
    queues = port(session, f"show interfaces queue {RECEIVER_PORT}")["queue-counters"]["queue"]
    brief = extensive["queue-counters"]["queue"]
    assert [{name: queue[name] for name in each} for each, queue in zip(brief, queues, strict=True)] == brief
    sent = sum(int(queue["queue-counters-trans-bytes"]) for queue in queues)
    assert sent == int(extensive["traffic-statistics"]["output-bytes"]) > 0
    assert extensive["ethernet-mac-statistics"]["output-bytes"] == extensive["traffic-statistics"]["output-bytes"]


def test_sessions_are_the_same_in_text_and_json(session: Cli, leaf: VirtualDevice) -> None:
    summary = values(session, "show bgp summary")["bgp-information"]
    assert (summary["peer-count"], summary["down-peer-count"]) == (str(len(leaf.sessions())), "0")
    for peer in values(session, "show bgp neighbor")["bgp-information"]["bgp-peer"]:
        text = said(session, f"show bgp neighbor {peer['peer-address']}")
        assert (
            f"Peer: {peer['peer-address']} AS {peer['peer-as']} Local: {peer['local-address']} AS {peer['local-as']}"
            in text
        )
        assert f"Accepted prefixes:            {peer['bgp-rib']['accepted-prefix-count']}" in text
    (bfd, *_) = values(session, "show bfd session")["bfd-session-information"]["bfd-session"]
    row = r"{session-neighbor} +Up +{session-interface} +0\.900 +0\.300 +3$".format(**bfd)
    assert re.search(row, said(session, "show bfd session detail"), re.MULTILINE)


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (f"show configuration interfaces {RECEIVER_PORT} unit 0", "family inet {\n    address 10.17.0.0/31;\n}\n"),
        ("show configuration chassis | display set", "set chassis maximum-ecmp 64\n"),
        ("show configuration system host-name", f"host-name {LEAF};\n"),
        ("show interfaces terse | match lo0 | last 1", "lo0.0                   up    up   inet     10.255.1.1/32\n"),
        ("show interfaces terse | count", "Count: 51 lines\n"),
        ("show interfaces et-0/0/99", "error: device et-0/0/99 not found\n"),
        ("show interfaces terse | display json", "error: this virtual switch prints it as text alone\n"),
        ("show version | display xhtml", "syntax error.\n"),
    ],
)
def test_parts_filters_and_refusals(session: Cli, command: str, answer: str) -> None:
    assert said(session, command) == f"{answer}\n"


def test_configuration_mode_shows_the_place_that_is_edited(session: Cli) -> None:
    said(session, "configure private")
    said(session, f"edit interfaces {RECEIVER_PORT}")
    said(session, "set mtu 1600")
    assert "mtu 1600;\n" in said(session, "show")
    assert said(session, "show unit 0 family inet") == "address 10.17.0.0/31;\n\n"
    assert said(session, "run show interfaces descriptions | match host1").startswith(RECEIVER_PORT)


@pytest.mark.parametrize(
    ("seconds", "of_session", "of_boot"),
    [
        (12, "12", "00:00:12"),
        (187, "3:07", "00:03:07"),
        (9 * 7 * DAY_S + 2 * DAY_S + 19_417, "9w2d 5:23:37", "9w2d 05:23"),
        (3 * DAY_S + 60, "3d 0:01:00", "3d 00:01"),
    ],
)
def test_ages_are_written_as_junos_does(seconds: int, of_session: str, of_boot: str) -> None:
    assert (elapsed(seconds), age(seconds)) == (of_session, of_boot)


def test_a_cut_link_takes_its_next_hop_from_the_routes(twin: Twin, session: Cli, leaf: VirtualDevice) -> None:
    """The last test of the twin: the link stays cut."""
    (first, *_) = leaf.sessions()
    assert first.interface is not None
    twin.set_link(LEAF, first.interface, up=False)
    until(lambda: f"via {first.interface}.0" not in said(session, "show route"))
    assert "Physical link is Down" in said(session, f"show interfaces {first.interface}")
    assert re.search(rf"^{first.interface}.0 +up +down +inet ", said(session, "show interfaces terse"), re.MULTILINE)
    until(lambda: f"{first.peer} " in said(session, "show bgp summary | except Establ"))

"""Show commands of virtual Cumulus Linux switches: NVUE's tables and JSON follow the state of the fabric."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from netmiko.utilities import get_structured_data
from tests.integration.switches.racks import LEAF, SPINE, opened
from tests.twin.twins import made_job, netmiko_login, ran, until

from railfab.device import DeviceModel, Family, operations
from railfab.endpoints import Endpoint
from railfab.fabric.design import Design
from railfab.platforms.shared.frr_state import observed_state
from railfab.twin import Twin

NAME = "cumulus"
UPLINK, RECEIVER = "swp64", "swp1s0"
QUEUE = "3"
SLOW_GBPS = 20.0
"""Rate at which the receiver takes packets from its NIC, which therefore pauses the leaf."""
Ask = Callable[[str], str]
_DASHES = re.compile(r"-+")


@pytest.fixture(scope="module")
def twin(fabric: Design, state: Path) -> Iterator[Twin]:
    """Three configured switches, after an incast into a port of the leaf."""
    with Twin(fabric, state=state, base_port=0, configured=True) as running:
        running.set_host_rate("pod1-seg1-host1", SLOW_GBPS)
        incast = {"pattern": "incast", "senders": 2, "receivers": 1, "bytes": "2MB"}
        ran(running, made_job(phases=[{"traffic": incast}], repeat=1))
        yield running


@pytest.fixture
def ask(leaf: Endpoint) -> Iterator[Ask]:
    with netmiko_login(leaf, "cumulus_linux") as connection:
        yield lambda command: str(connection.send_command(command))


def rows(shown: str) -> list[dict[str, str]]:
    """The rows of each table in an output, by the titles over its dashes."""
    lines, read = shown.splitlines(), []
    for place, line in enumerate(lines):
        if place and line.strip() and not line.strip("- "):
            begins = [dashes.start() for dashes in _DASHES.finditer(line)]
            columns = [slice(begin, end) for begin, end in zip(begins, [*begins[1:], None], strict=True)]
            titles = [lines[place - 1][column].strip() for column in columns]
            for row in lines[place + 1 :]:
                if not row.strip():
                    break
                read.append(dict(zip(titles, (row[column].strip() for column in columns), strict=True)))
    return read


def read_by_template(command: str, shown: str) -> list[dict[str, Any]]:
    """The entries that the template of ntc-templates reads from an output of Linux."""
    entries = get_structured_data(shown, platform="linux", command=command)
    assert isinstance(entries, list)
    return entries


def by(title: str, shown: str) -> dict[str, dict[str, str]]:
    return {row[title]: row for row in rows(shown) if title in row}


def test_ports_in_text_json_and_linux_are_one_state(ask: Ask, model: DeviceModel) -> None:
    ports, held = by("Interface", ask("nv show interface")), json.loads(ask("nv show interface -o json"))
    assert ports.keys() == held.keys()
    assert (ports[UPLINK]["Remote Host"], ports[UPLINK]["Remote Port"]) == (SPINE, "swp1")
    assert (ports[UPLINK]["Speed"], ports[UPLINK]["MTU"]) == (held[UPLINK]["link"]["speed"], "9216")
    assert ports[RECEIVER]["Summary"] == f"IP Address: {next(iter(held[RECEIVER]['ipv4']['address']))}"
    links = {link["interface"]: link for link in read_by_template("ip link show", ask("ip link show"))}
    assert {name: link["mtu"] for name, link in links.items()} == {name: row["MTU"] for name, row in ports.items()}
    addresses = read_by_template("ip address show", ask("ip addr show"))
    loopback = next(each for each in addresses if each["interface"] == "lo")
    assert loopback["ip_addresses"] == [str(model.loopback)]
    assert [line.split()[:2] for line in ask("ip -br link").splitlines()][1:] == [[name, "UP"] for name in [*ports][1:]]


def test_what_lldp_hears_is_in_each_form(ask: Ask) -> None:
    (row,) = rows(ask("nv show interface lldp"))
    heard = json.loads(ask("nv show interface lldp -o json"))[UPLINK]["lldp"]["neighbor"]
    assert (row["Interface"], row["Remote Host"], row["Remote Port"]) == (UPLINK, SPINE, "swp1")
    assert {name: each["port"]["name"] for name, each in heard.items()} == {SPINE: "swp1"}
    assert f"SysName:      {SPINE}\n" in ask("lldpctl")
    assert json.loads(ask("lldpctl -f json")) == json.loads(ask("lldpcli show neighbors -f json"))


def test_counters_of_a_port_its_queues_and_roce_agree(ask: Ask) -> None:
    stats = json.loads(ask(f"nv show interface {RECEIVER} link stats -o json"))
    held = json.loads(ask(f"nv show interface {RECEIVER} counters qos -o json"))
    assert sum(entry["tx-bytes"] for entry in held["egress-queue-stats"].values()) == stats["out-bytes"] > 4_000_000
    queues = by("traffic-class", ask(f"nv show interface {RECEIVER} counters qos egress-queue-stats"))
    assert queues[QUEUE]["tx-frames"] == str(held["egress-queue-stats"][QUEUE]["tx-frames"])
    assert queues[QUEUE]["tx-bytes"].endswith(" MB")
    assert rows(ask(f"nv show interface {RECEIVER} counters qos pfc-stats"))[3]["switch-priority"] == "3"
    assert held["pfc-stats"]["3"].keys() == {"rx-pause-frames", "rx-pause-duration", "tx-pause-frames"}
    roce = json.loads(ask(f"nv show interface {RECEIVER} qos roce counters -o json"))
    assert roce["tx-stats"]["tx-roce-stats"]["roce-bytes"] == held["egress-queue-stats"][QUEUE]["tx-bytes"]
    paused = held["pfc-stats"]["3"]
    assert roce["rx-stats"]["rx-pfc-stats"] == {
        "pause-duration": paused["rx-pause-duration"],
        "pause-packets": paused["rx-pause-frames"],
    }
    assert min(paused["rx-pause-duration"], paused["rx-pause-frames"]) > 0 == paused["tx-pause-frames"]
    counters = by("Counter", ask(f"nv show interface {RECEIVER} counters"))
    assert counters["Total Octets"] == {
        "Counter": "Total Octets",
        "Receive": str(stats["in-bytes"]),
        "Transmit": str(stats["out-bytes"]),
    }
    hardware = dict(line.strip().split(": ") for line in ask(f"ethtool -S {RECEIVER}").splitlines()[1:])
    assert hardware["HwIfOutOctets"] == str(stats["out-bytes"])
    assert hardware["HwIfInPfc3Pkt"] == str(paused["rx-pause-frames"])
    assert by("Counter", ask(f"nv show interface {RECEIVER} counters errors"))["Total Errors"]["Receive"] == "0"


def test_the_status_of_roce_is_that_of_the_model(ask: Ask, model: DeviceModel) -> None:
    assert model.qos is not None
    port = next(each for each in model.qos.ports if each.interface == RECEIVER)
    status = json.loads(ask(f"nv show interface {RECEIVER} qos roce status -o json"))
    assert status["pfc"]["pfc-priority"] == ",".join(map(str, port.pfc))
    assert status["congestion-control"]["enabled-tc"] == QUEUE
    assert (status["prio-map"]["roce"]["dscp"], status["tc-map"]["roce"]["traffic-class"]) == ("26", 3)
    (ramp,) = rows(ask(f"nv show interface {RECEIVER} qos congestion-control"))
    assert (ramp["traffic-class"], ramp["Probability"]) == (QUEUE, str(status["congestion-control"]["probability"]))
    mapping = by("switch-priority", ask(f"nv show interface {RECEIVER} qos egress-queue-mapping"))
    assert {row["traffic-class"] for row in mapping.values()} == {str(each.queue) for each in model.qos.classes}


def test_neighbors_in_text_and_json_are_one_state(leaf: Endpoint, ask: Ask) -> None:
    neighbors = ask("vtysh -c 'show bgp vrf all neighbors json'")
    state = observed_state(LEAF, interface_name=str, neighbors=neighbors, addresses=ask("ip -j addr show"))
    (session,) = state.sessions
    (row,) = rows(ask("nv show vrf default router bgp neighbor"))
    (family,) = session.families
    assert (row["Neighbor"], row["AS"], row["State"]) == (session.peer, str(session.remote_as), session.state)
    assert (family.family, row["PfxRcvd"]) == (Family.IPV4, str(family.received))
    assert f"{SPINE}({UPLINK})" in ask("vtysh -c 'show bgp summary'")
    assert json.loads(ask("nv show router bgp -o json"))["router-id"] in ask("vtysh -c 'show bgp summary'")
    with opened(leaf) as opening:
        assert opening.observe().sessions[0].families == session.families


def test_the_switch_refuses_what_it_has_not(ask: Ask) -> None:
    assert ask("nv show interface swp99 link") == "Error: The requested item does not exist."
    assert ask("nv show bogus").startswith("Error: ")
    assert json.loads(ask("nv show system -o json"))["hostname"] == LEAF


def test_a_session_reads_what_each_port_does_with_pfc_ecn_and_dscp(leaf: Endpoint, model: DeviceModel) -> None:
    with opened(leaf) as opening:
        ports = {each.name: each for each in opening.observe().interfaces}
    for name, wanted in operations(model).items():
        assert (ports[name].pfc, ports[name].ecn) == (wanted.pfc, wanted.ecn)
        assert ports[name].dscp == {point: wanted.dscp[point] for point in (26, 48)}


def test_routes_of_frr_are_those_of_linux(ask: Ask) -> None:
    routes = json.loads(ask("vtysh -c 'show ip route json'"))
    lines = ask("ip route show").splitlines()
    kernel = read_by_template("ip route show", "\n".join(line for line in lines if "proto kernel" in line))
    connected = {entry["network"]: entry["nexthop_if"] for entry in kernel}
    hops = {prefix: (route["protocol"], route["nexthops"][0]["interfaceName"]) for prefix, (route,) in routes.items()}
    assert connected == {
        prefix: device for prefix, (protocol, device) in hops.items() if protocol == "connected" and device != "lo"
    }
    learned = [prefix for prefix, (protocol, _) in hops.items() if protocol == "bgp"]
    assert [line.split()[0] for line in lines if "proto bgp" in line] == [each.removesuffix("/32") for each in learned]
    assert len(learned) == int(rows(ask("nv show vrf default router bgp neighbor"))[0]["PfxRcvd"])


def test_a_cut_cable_shows_in_every_table(twin: Twin, ask: Ask) -> None:
    before = json.loads(ask(f"nv show interface {UPLINK} link stats -o json"))["carrier-transitions"]
    twin.set_link(LEAF, UPLINK, up=False)
    try:
        until(lambda: json.loads(ask(f"nv show interface {UPLINK} link -o json"))["oper-status"] == "down")
        assert by("Interface", ask("nv show interface"))[UPLINK]["Remote Host"] == ""
        assert by("Neighbor", ask("nv show vrf default router bgp neighbor"))[UPLINK]["State"] != "established"
        assert re.search(rf"^{UPLINK} +DOWN", ask("ip -br link"), re.MULTILINE)
    finally:
        twin.set_link(LEAF, UPLINK, up=True)
    until(lambda: by("Interface", ask("nv show interface"))[UPLINK]["Oper Status"] == "up")
    after = json.loads(ask(f"nv show interface {UPLINK} link stats -o json"))["carrier-transitions"]
    assert after == before + 2

"""Show commands of virtual SONiC switches: their tables follow the state of the fabric, as JSON and gNMI do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.integration.switches.racks import LEAF, SPINE, opened
from tests.twin.twins import made_job, netmiko_login, ran, switch, until

from railfab.device import DeviceModel, Family, operations
from railfab.endpoints import Endpoint
from railfab.fabric.design import Design
from railfab.platforms.shared.frr_state import observed_state
from railfab.twin import Twin

NAME = "sonic"
UPLINK, RECEIVER = "Ethernet504", "Ethernet0"
QUEUE = "UC3"
SLOW_GBPS = 20.0
"""Rate at which the receiver takes packets from its NIC, which therefore pauses the leaf."""
Ask = Callable[[str], str]
_DASHES = re.compile(r"-+")


@pytest.fixture(scope="module")
def twin(fabric: Design, state: Path) -> Iterator[Twin]:
    """Three configured switches, after an incast into a port of the leaf that filled its queue."""
    with Twin(fabric, state=state, base_port=0, configured=True) as running:
        running.set_host_rate("pod1-seg1-host1", SLOW_GBPS)
        incast = {"pattern": "incast", "senders": 2, "receivers": 1, "bytes": "2MB"}
        ran(running, made_job(phases=[{"traffic": incast}], repeat=1))
        yield running


@contextmanager
def shell(endpoint: Endpoint) -> Iterator[Ask]:
    with netmiko_login(endpoint, "linux") as connection:
        yield lambda command: str(connection.send_command(command))


@pytest.fixture
def ask(leaf: Endpoint) -> Iterator[Ask]:
    with shell(leaf) as asked:
        yield asked


def rows(shown: str) -> list[dict[str, str]]:
    """The rows of each table in an output, by the titles over its dashes, as scripts of SONiC's users read them."""
    lines, found = shown.splitlines(), []
    for place, line in enumerate(lines):
        if place and line and not line.strip("- "):
            columns = [slice(dashes.start(), dashes.end()) for dashes in _DASHES.finditer(line)]
            titles = [lines[place - 1][column].strip() for column in columns]
            for row in lines[place + 1 :]:
                if not row.strip():
                    break
                found.append(dict(zip(titles, (row[column].strip() for column in columns), strict=True)))
    return found


def by(title: str, shown: str) -> dict[str, dict[str, str]]:
    return {row[title]: row for row in rows(shown) if title in row}


def test_ports_are_those_of_the_configuration_and_the_state(ask: Ask, model: DeviceModel) -> None:
    status, described = by("Interface", ask("show interfaces status")), ask(f"show interfaces description {UPLINK}")
    assert (status[UPLINK]["Speed"], status[UPLINK]["MTU"], status[UPLINK]["Vlan"]) == ("400G", "9216", "routed")
    assert {row["Oper"] for row in status.values()} == {row["Admin"] for row in status.values()} == {"up"}
    interface = next(each for each in model.interfaces if each.name == UPLINK)
    assert [row["Description"] for row in rows(described)] == [interface.description]
    assert by("Port", ask("show interfaces transceiver presence")).keys() == status.keys()


def test_a_cut_cable_and_a_disabled_port_show_in_every_table(twin: Twin, ask: Ask) -> None:
    twin.set_link(LEAF, UPLINK, up=False)
    try:
        until(lambda: by("Interface", ask("show interfaces status"))[UPLINK]["Oper"] == "down")
        assert by("IFACE", ask("show interfaces counters"))[UPLINK]["STATE"] == "D"
        assert "Total entries displayed:  0" in ask("show lldp table")
        assert by("Neighbhor", ask("show ip bgp summary"))[UPLINK]["State/PfxRcd"] != "Established"
        assert json.loads(ask("vtysh -c 'show bfd peers json'"))[0]["status"] == "down"
        summary = json.loads(ask("vtysh -c 'show bgp summary json'"))["ipv4Unicast"]
        assert summary["failedPeers"] == summary["totalPeers"] == 1
    finally:
        twin.set_link(LEAF, UPLINK, up=True)
    until(lambda: json.loads(ask("vtysh -c 'show bgp summary json'"))["ipv4Unicast"]["failedPeers"] == 0)


def test_counters_of_ports_queues_and_pfc_are_those_that_are_collected(twin: Twin, ask: Ask) -> None:
    port = by("IFACE", ask(f"show interfaces counters -i {RECEIVER}"))[RECEIVER]
    as_json = json.loads(ask(f"show interfaces counters -i {RECEIVER} -j"))[RECEIVER]
    assert {"IFACE": RECEIVER, **as_json} == port
    queue = by("TxQ", ask(f"show queue counters {RECEIVER}"))[QUEUE]
    assert int(queue["Counter/pkts"]) == int(port["TX_OK"].replace(",", "")) > 0
    held = json.loads(ask(f"show queue counters {RECEIVER} --json"))[RECEIVER][QUEUE]
    assert held["totalbytes"] == queue["Counter/bytes"]
    assert port["RX_BPS"] == port["TX_UTIL"] == "N/A"
    pfc = ask("show pfc counters")
    assert list(by("Port Rx", pfc.partition("\n\n")[0])) == list(by("Port Tx", pfc.partition("\n\n")[2]))
    received = by("Port Rx", pfc.partition("\n\n")[0])[RECEIVER]["PFC3"].replace(",", "")
    with switch(twin, LEAF) as gnmi:
        assert gnmi.value(f"/COUNTERS/Ethernet*/{RECEIVER}/SAI_PORT_STAT_PFC_3_RX_PKTS") == received != "0"


def test_watermarks_are_text_and_json(ask: Ask) -> None:
    for command in ("show queue watermark unicast", "show priority-group watermark headroom"):
        assert json.loads(ask(f"{command} -j")) == rows(ask(command))


def test_settings_of_pfc_its_watchdog_and_ecn_are_those_of_config_db(ask: Ask, model: DeviceModel) -> None:
    assert model.qos is not None
    priorities = by("Interface", ask("show pfc priority"))
    assert {name: row["Lossless priorities"] for name, row in priorities.items()} == {
        port.interface: ",".join(map(str, port.pfc)) for port in model.qos.ports
    }
    assert rows(ask(f"show pfc priority {UPLINK}")) == [priorities[UPLINK]]
    assert ask("show pfc priority Ethernet8") == "Cannot find interface Ethernet8"
    watchdog = by("PORT", ask("pfcwd show config"))[UPLINK]
    assert model.qos.watchdog is not None
    assert watchdog["DETECTION TIME"] == str(model.qos.watchdog.detect_ms)
    assert rows(ask("show pfcwd stats")) == []
    assert ask("show ecn") == ask("ecnconfig -l")
    assert re.search(r"^ecn +ecn_all$", ask("show ecn"), re.MULTILINE)


def test_neighbors_in_text_and_json_are_one_state(twin: Twin, leaf: Endpoint, ask: Ask) -> None:
    neighbors = ask("vtysh -c 'show bgp vrf all neighbors json'")
    state = observed_state(LEAF, interface_name=str, neighbors=neighbors, addresses=ask("ip -j addr show"))
    (session,) = state.sessions
    (row,) = rows(ask("show ip bgp summary"))
    (family,) = session.families
    assert (row["Neighbhor"], row["AS"]) == (session.peer, str(session.remote_as))
    assert (family.family, str(family.received)) == (Family.IPV4, row["State/PfxRcd"])
    summary = json.loads(ask("vtysh -c 'show bgp summary json'"))["ipv4Unicast"]["peers"][UPLINK]
    assert (summary["pfxRcd"], summary["pfxSnt"]) == (family.received, family.sent)
    text = ask("vtysh -c 'show bgp ipv4 unicast summary'").splitlines()
    assert text[3].split()[:3] == [f"{SPINE}({UPLINK})", "4", str(session.remote_as)]
    assert re.fullmatch(r"\d\d:\d\d:\d\d", summary["peerUptime"])
    assert rows(ask("show ipv6 bgp summary")) == []
    with opened(leaf) as opening:
        assert opening.observe().sessions[0].families == session.families


def test_the_switch_says_what_it_is_and_refuses_what_no_source_shows(ask: Ask) -> None:
    assert "HwSKU: railfab-twin" in ask("show platform summary")
    assert "Error: No such command 'bogus'." in ask("show bogus")
    assert ask("vtysh -c 'show bogus'") == "% Unknown command: show bogus"


def test_a_session_reads_what_each_port_does_with_pfc_ecn_and_dscp(leaf: Endpoint, model: DeviceModel) -> None:
    with opened(leaf) as opening:
        ports = {each.name: each for each in opening.observe().interfaces}
    for name, wanted in operations(model).items():
        assert (ports[name].pfc, ports[name].ecn, ports[name].dscp) == (wanted.pfc, wanted.ecn, wanted.dscp)


def test_routes_lead_over_the_sessions_that_taught_them(ask: Ask, model: DeviceModel) -> None:
    routes = json.loads(ask("vtysh -c 'show ip route json'"))
    text = ask("show ip route")
    assert text.startswith("Codes: K - kernel route, C - connected")
    connected = {prefix for prefix, (route,) in routes.items() if route["protocol"] == "connected"}
    addresses = [*(address for each in model.interfaces for address in getattr(each, "addresses", ()))]
    assert connected == {f"{model.loopback}/32", *(str(address.network) for address in addresses)}
    learned = {prefix: route for prefix, (route,) in routes.items() if route["protocol"] == "bgp"}
    (row,) = rows(ask("show ip bgp summary"))
    assert len(learned) == int(row["State/PfxRcd"])
    for prefix, route in learned.items():
        assert [hop["interfaceName"] for hop in route["nexthops"]] == [UPLINK]
        assert f"B>* {prefix} [20/0] via fe80::ff:fe00:2, {UPLINK}, weight 1, " in text
    assert ask("show ipv6 route").startswith("Codes: ")


def test_neighbors_of_lldp_have_their_details(ask: Ask) -> None:
    row = by("LocalPort", ask("show lldp table"))[UPLINK]
    shown = ask(f"show lldp neighbors {UPLINK}")
    assert f"SysName:      {row['RemoteDevice']}\n" in shown
    assert f"PortID:       local {row['RemotePortID']}\n" in shown
    assert ask("show lldp neighbors").count("Interface:") == 1
    assert "Interface:" not in ask(f"show lldp neighbors {RECEIVER}")

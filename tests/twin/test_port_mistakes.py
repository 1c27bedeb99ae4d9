"""Mistakes and faults of ports, sessions and optics, set over gNMI and seen over gNMI at both ends."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from operator import le
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.sampled import sampled
from tests.twin.small_fabric import (
    DOWNLINK,
    HOST_PORT,
    LEAF,
    OTHER_SPINE,
    OTHER_UPLINK,
    SPINE,
    UPLINK,
    small,
)
from tests.twin.twins import Switch, elapsed_s, endpoint, made_job, pass_time, switch, until
from typer.testing import CliRunner

from railfab.cli import app
from railfab.deploy import apply_all, new_change, nornir_of, preview_all, verify_all
from railfab.endpoints import Endpoints
from railfab.errors import DeviceError
from railfab.platforms import platform
from railfab.twin import Twin

PORT = f"/interface[name={UPLINK}]"
BGP = "/network-instance[name=default]/protocols/bgp"
LONG = made_job(phases=[{"collective": {"op": "allreduce", "bytes": "100GB"}}])


class Ends(NamedTuple):
    """A running twin, and the switches at both ends of UPLINK."""

    twin: Twin
    state: Path
    leaf: Switch
    spine: Switch


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ends]:
    with ExitStack() as stack:
        state = tmp_path_factory.mktemp("state")
        twin = stack.enter_context(Twin(small(), state=state, base_port=0, configured=True))
        yield Ends(twin, state, *(stack.enter_context(switch(twin, name)) for name in (LEAF, SPINE)))


@contextmanager
def mistake(target: Switch, **edits: Any) -> Iterator[None]:
    """A Set, and its repair by the configuration before it."""
    (before,) = target.values("/", "config").values()
    target.set(**edits)
    try:
        yield
    finally:
        target.set(replace=[("/", before)])


def session(target: Switch, port: str) -> dict[str, Any]:
    """The leaves of the BGP neighbour over a port; empty without one."""
    found = target.values("/network-instance[name=default]/protocols/bgp/neighbor[peer-address=*]")
    return next((held for held in found.values() if held["peer-address"].endswith(f"%{port}.0")), {})


def bfd(target: Switch, port: str) -> str | None:
    found = target.values("/bfd/network-instance[name=default]/peer[local-discriminator=*]").values()
    unit = f"{port}.0"
    return next((held["session-state"] for held in found if held.get("ipv6-link-local-interface") == unit), None)


def seen(target: Switch, port: str) -> tuple[Any, ...]:
    """State and transitions of a port, of the BGP session and of BFD over it."""
    here = f"/interface[name={port}]"
    state, transitions = target.value(f"{here}/oper-state"), int(target.value(f"{here}/statistics/carrier-transitions"))
    return state, transitions, session(target, port)["session-state"], bfd(target, port)


def statistics(target: Switch, port: str) -> dict[str, int]:
    found = target.values(f"/interface[name={port}]/statistics/*")
    return {path.rpartition("/")[2]: int(value) for path, value in found.items()}


UNIT = f"{PORT}/subinterface[index=0]"
MISTAKES = {
    "subinterface disabled": ({"update": [(f"{UNIT}/admin-state", '"disable"')]}, ("up", 0, "idle", "DOWN"), "active"),
    "subinterface in no network instance": (
        {"delete": [f"/network-instance[name=default]/interface[name={UPLINK}.0]"]},
        ("up", 0, "idle", "DOWN"),
        "active",
    ),
    "IPv6 disabled": ({"update": [(f"{UNIT}/ipv6/admin-state", '"disable"')]}, ("up", 0, "active", "DOWN"), "active"),
    "FEC off": (
        {"update": [(f"{PORT}/ethernet/forward-error-correction/fec-option", '"disabled"')]},
        ("down", 1, "idle", "DOWN"),
        "idle",
    ),
    "another speed": ({"update": [(f"{PORT}/ethernet/port-speed", '"100G"')]}, ("down", 1, "idle", "DOWN"), "idle"),
    "port disabled": ({"update": [(f"{PORT}/admin-state", '"disable"')]}, ("down", 1, "idle", "DOWN"), "idle"),
    "BGP disabled": ({"update": [(f"{BGP}/admin-state", '"disable"')]}, ("up", 0, "idle", "DOWN"), "active"),
    "group disabled": (
        {"update": [(f"{BGP}/group[group-name=fabric]/admin-state", '"disable"')]},
        ("up", 0, "idle", "DOWN"),
        "active",
    ),
    "network instance disabled": (
        {"update": [("/network-instance[name=default]/admin-state", '"disable"')]},
        ("up", 0, "idle", "DOWN"),
        "active",
    ),
    "wrong AS": (
        {"update": [(f"{BGP}/dynamic-neighbors/interface[interface-name={UPLINK}.0]/allowed-peer-as", '["65099"]')]},
        ("up", 0, "active", "UP"),
        "active",
    ),
}
"""The Set on LEAF; what UPLINK shows there: state, further transitions, BGP and BFD; and BGP at the far end, which has
the same state of the port, as many further transitions, and the same BFD."""


FEW = ("subinterface disabled", "FEC off", "port disabled", "BGP disabled", "wrong AS")


@pytest.mark.parametrize("name", sampled(MISTAKES.keys(), few=FEW))
def test_a_mistake_shows_at_both_ends_and_is_healed(ends: Ends, name: str) -> None:
    edits, (state, flips, here, bfd_state), there = MISTAKES[name]
    before = seen(ends.leaf, UPLINK), seen(ends.spine, DOWNLINK)
    assert [found[::2] for found in before] == [("up", "established")] * 2
    with mistake(ends.leaf, **edits):
        until(lambda: seen(ends.leaf, UPLINK) == (state, before[0][1] + flips, here, bfd_state))
        until(lambda: seen(ends.spine, DOWNLINK) == (state, before[1][1] + flips, there, bfd_state))
    until(lambda: seen(ends.leaf, UPLINK) == ("up", before[0][1] + 2 * flips, "established", "UP"))
    until(lambda: seen(ends.spine, DOWNLINK) == ("up", before[1][1] + 2 * flips, "established", "UP"))


RETRY = (f"{BGP}/group[group-name=fabric]/timers/connect-retry", 1)
"""A try each second."""


def test_a_session_with_a_wrong_as_is_opened_again_and_again(ends: Ends) -> None:
    wrong = (f"{BGP}/dynamic-neighbors/interface[interface-name={UPLINK}.0]/allowed-peer-as", '["65099"]')

    def shows(target: Switch, port: str, state: str) -> bool:
        return session(target, port)["session-state"] == state

    with mistake(ends.leaf, update=[wrong, RETRY]):
        for target, port in ((ends.leaf, UPLINK), (ends.spine, DOWNLINK)):
            until(partial(shows, target, port, "opensent"))
            until(partial(shows, target, port, "active"))
    until(lambda: seen(ends.spine, DOWNLINK)[2:] == ("established", "UP"))


def test_a_port_says_why_it_is_down(ends: Ends) -> None:
    reason, far = f"{PORT}/oper-down-reason", f"/interface[name={DOWNLINK}]/oper-down-reason"
    with mistake(ends.leaf, update=[(f"{PORT}/ethernet/forward-error-correction/fec-option", '"rs-528"')]):
        assert (ends.leaf.value(reason), ends.spine.value(far)) == ("unsupported-fec", "lower-layer-down")
    with mistake(ends.leaf, update=[(f"{PORT}/admin-state", '"disable"')]):
        assert (ends.leaf.value(reason), ends.spine.value(far)) == ("port-admin-disabled", "lower-layer-down")
        assert ends.leaf.value(f"{UNIT}/oper-down-reason") == "port-down"
    with mistake(ends.leaf, update=[(f"{UNIT}/admin-state", '"disable"')]):
        assert ends.leaf.value(f"{UNIT}/oper-state") == "down"


def test_a_disabled_speaker_keeps_its_neighbours_with_their_admin_state(ends: Ends) -> None:
    with mistake(ends.leaf, update=[(f"{BGP}/admin-state", '"disable"')]):
        assert session(ends.leaf, UPLINK)["admin-state"] == "disable"
        assert session(ends.spine, DOWNLINK)["admin-state"] == "enable"
        assert ends.twin.status().sessions == 8


def growth(ends: Ends, port: str, seconds: float = 0.4) -> dict[str, int]:
    """What the statistics of a port of LEAF grow by."""
    ends.leaf.wait_for_news()
    before = statistics(ends.leaf, port)
    pass_time(ends.twin, seconds)
    ends.leaf.wait_for_news()
    return {leaf: value - before[leaf] for leaf, value in statistics(ends.leaf, port).items()}


@contextmanager
def running(twin: Twin) -> Iterator[None]:
    """A ring that lasts, whose flows send."""
    twin.switch_job(LONG)
    pass_time(twin, 0.05)
    yield
    twin.switch_job(None)


def dropped(ends: Ends) -> dict[str, int]:
    """What LEAF has dropped, by reason."""
    found = ends.leaf.values("/platform/linecard[slot=1]/forwarding-complex[name=0]/drop-counters/*")
    return {path.rpartition("/")[2]: int(value) for path, value in found.items()}


def reasons(ends: Ends, before: dict[str, int]) -> set[str]:
    """The reasons for which LEAF has dropped packets since then."""
    return {reason for reason, value in dropped(ends).items() if value > before[reason]}


IP_MTU = "subinterface[index=0]/ip-mtu"


@pytest.mark.parametrize(
    ("leaf", "mtu_bytes", "refuses"),
    [
        pytest.param(IP_MTU, 1500, False, id="IP MTU of 1500"),
        pytest.param(IP_MTU, None, False, id="no IP MTU", marks=pytest.mark.matrix),
        pytest.param("mtu", 1514, True, id="port MTU of 1514"),
    ],
)
def test_a_port_sends_no_packet_above_its_ip_mtu_and_receives_none_above_its_own(
    ends: Ends, leaf: str, mtu_bytes: int | None, *, refuses: bool
) -> None:
    paths = [f"/interface[name={port}]/{leaf}" for port in (UPLINK, OTHER_UPLINK)]
    edits = {"update": [(path, mtu_bytes) for path in paths]} if mtu_bytes else {"delete": paths}
    with running(ends.twin):
        until(lambda: not ends.twin.status().stalled)
        ends.leaf.wait_for_news()
        before = dropped(ends)
        with mistake(ends.leaf, **edits):
            until(lambda: bool(ends.twin.status().stalled))
            grown = [growth(ends, port) for port in (UPLINK, OTHER_UPLINK)]
            assert sum(found["out-error-packets"] for found in grown) > 0
            assert sum(found["out-discarded-packets"] for found in grown) == 0
            assert (sum(found["in-error-packets"] for found in grown) > 0) is refuses
            assert reasons(ends, before) == {"packet-processing-aggregate"}
            assert session(ends.leaf, UPLINK)["session-state"] == "established"
        until(lambda: not ends.twin.status().stalled)


def test_a_subinterface_without_ip_mtu_has_the_default_of_the_system(ends: Ends) -> None:
    paths = [f"/interface[name={port}]/{IP_MTU}" for port in (UPLINK, OTHER_UPLINK)]
    with running(ends.twin):
        until(lambda: not ends.twin.status().stalled)
        with mistake(ends.leaf, delete=paths, update=[("/system/mtu/default-ip-mtu", 9000)]):
            found = {held.name: held for held in ends.twin.status().switches}
            assert found[LEAF].unmodelled == (), "the twin computes the default"
            assert sum(growth(ends, port)["out-octets"] for port in (UPLINK, OTHER_UPLINK)) > 0
            assert not ends.twin.status().stalled
            ends.leaf.set(update=[("/system/mtu/default-ip-mtu", 4139)])
            until(lambda: any("has MTU 4139" in reason for reason in ends.twin.status().stalled))


def test_packets_without_a_route_are_counted_where_they_come_in(ends: Ends) -> None:
    before = dropped(ends)
    with running(ends.twin), mistake(ends.leaf, update=[(f"{BGP}/admin-state", '"disable"')]):
        until(lambda: ends.twin.status().stalled)
        hosts = [port for port in ("ethernet-1/1/3", "ethernet-1/1/4") if growth(ends, port)["in-discarded-packets"]]
        assert hosts, "the ring crosses the spines from the second host"
        assert reasons(ends, before) == {"no-route", "packet-processing-aggregate"}
    assert growth(ends, "ethernet-1/1/3")["in-discarded-packets"] == 0


def test_less_light_gives_bit_errors_then_lost_frames_then_flaps(ends: Ends) -> None:
    fec = f"{PORT}/ethernet/forward-error-correction/statistics/host-if-fec-router"
    light = f"{PORT}/transceiver/channel[index=1]/input-power/latest-value"
    clean = float(ends.leaf.value(f"{fec}/pre-fec-ber/instant")), float(ends.leaf.value(light))
    with running(ends.twin):
        ends.twin.control.set_optic_loss(LEAF, UPLINK, loss_db=1.5)
        assert float(ends.leaf.value(f"{fec}/pre-fec-ber/instant")) > 100 * clean[0]
        assert float(ends.leaf.value(light)) == pytest.approx(clean[1] - 1.5, abs=0.02)
        assert growth(ends, UPLINK, 0.1)["in-fcs-error-packets"] == 0
        ends.twin.control.set_optic_loss(LEAF, UPLINK, loss_db=2.6)
        before = statistics(ends.leaf, UPLINK)
        until(lambda: statistics(ends.leaf, UPLINK)["in-fcs-error-packets"] > before["in-fcs-error-packets"])
        until(lambda: int(ends.leaf.value(f"{fec}/frame-error-count")) > 0)
        found = statistics(ends.leaf, UPLINK)
        assert found["in-error-packets"] > before["in-error-packets"]
        assert found["carrier-transitions"] == before["carrier-transitions"]
        assert statistics(ends.spine, DOWNLINK)["in-error-packets"] == 0, "errors are at the receiving end"
    flips = statistics(ends.leaf, UPLINK)["carrier-transitions"]
    ends.twin.control.set_optic_loss(LEAF, UPLINK, loss_db=3.5)
    until(lambda: statistics(ends.leaf, UPLINK)["carrier-transitions"] >= flips + 2)
    ends.twin.control.set_optic_loss(LEAF, UPLINK, loss_db=0)
    until(lambda: seen(ends.leaf, UPLINK)[::2] == ("up", "established"))
    assert float(ends.leaf.value(light)) == clean[1]


def test_the_leaves_that_collectors_ask_for_exist(ends: Ends) -> None:
    casts = [f"{way}-{cast}-packets" for way in ("in", "out") for cast in ("unicast", "multicast", "broadcast")]
    errors = ["in-error-packets", "out-error-packets", "in-fcs-error-packets", "in-discarded-packets"]
    assert {*casts, *errors, "out-discarded-packets", "carrier-transitions"} <= statistics(ends.leaf, UPLINK).keys()
    module = ends.leaf.values(f"{PORT}/transceiver")[f"{PORT}/transceiver"]
    assert (module["form-factor"], module["vendor"], len(module["channel"])) == ("QSFPDD", "NOKIA", 4)
    assert 20 < module["temperature"]["latest-value"] < 75
    assert -5 < float(module["channel"][0]["input-power"]["latest-value"]) < 5
    board = "/platform/control[slot=A]"
    assert 0 < int(ends.leaf.value(f"{board}/cpu[index=all]/total/instant")) < 100
    free, whole = (int(ends.leaf.value(f"{board}/memory/{leaf}")) for leaf in ("free", "physical"))
    assert 0 < free < whole
    assert ends.leaf.value("/platform/chassis/type") == "7220 IXR-D5"
    assert ends.leaf.value("/system/information/version").startswith("v")
    routes = ends.leaf.values("/network-instance[name=default]/route-table/ipv4-unicast/statistics/*")
    assert [value for path, value in routes.items() if path.endswith("/active-routes-with-ecmp")] > [0]
    assert json.dumps(module, default=str) != json.dumps(
        ends.leaf.values(f"/interface[name={HOST_PORT}]/transceiver"), default=str
    )


@pytest.mark.parametrize(
    "path",
    [
        rule.path
        for rule in platform("srlinux").telemetry.rules
        if "{peer}]" not in rule.path and "/lag/" not in rule.path  # test_twin_lags.py has those
    ],
)
def test_the_twin_serves_every_path_that_is_mapped(ends: Ends, path: str) -> None:
    assert ends.leaf.values(re.sub(r"\[([\w-]+)=[^]]*[*{][^]]*\]", r"[\1=*]", path))


def test_a_port_counts_the_frames_of_its_own_protocols_as_multicast(ends: Ends) -> None:
    before = statistics(ends.leaf, UPLINK)["out-multicast-packets"]
    until(lambda: statistics(ends.leaf, UPLINK)["out-multicast-packets"] > before)
    assert statistics(ends.leaf, UPLINK)["out-broadcast-packets"] == 0


# LLDP

NAMES = "/system/lldp/interface[name=*]/neighbor[id=*]/system-name"
HELLO = [("/system/lldp/hello-timer", '"1"'), ("/system/lldp/hold-multiplier", 3)]


def names(target: Switch, port: str) -> list[str]:
    """The neighbours that LLDP has heard on a port."""
    found = target.values("/system/lldp/interface[name=*]")
    held = next(entry for entry in found.values() if entry["name"] == port)
    return [neighbor["system-name"] for neighbor in held.get("neighbor", [])]


def test_switches_hear_each_other_and_no_host(ends: Ends) -> None:
    assert sorted(ends.leaf.values(NAMES).values()) == [SPINE, OTHER_SPINE]


def test_a_new_host_name_is_announced_at_once(ends: Ends) -> None:
    with mistake(ends.leaf, update=[("/system/name/host-name", '"other"')]):
        until(lambda: names(ends.spine, DOWNLINK) == ["other"])
    until(lambda: names(ends.spine, DOWNLINK) == [LEAF])


@pytest.mark.parametrize("where", ["/system/lldp", f"/system/lldp/interface[name={UPLINK}]"])
def test_a_neighbour_that_falls_silent_stays_until_its_hold_time_ends(ends: Ends, where: str) -> None:
    with mistake(ends.leaf, update=HELLO):
        began_s = ends.twin.status().simulated_s
        ends.leaf.set(update=[(f"{where}/admin-state", '"disable"')])
        assert names(ends.leaf, UPLINK) == [], "what does not listen knows nobody"
        heard = names(ends.spine, DOWNLINK)
        if ends.twin.status().simulated_s < began_s + 2.5:
            assert heard == [LEAF]
        until(lambda: names(ends.spine, DOWNLINK) == [])
        assert elapsed_s(ends.twin, began_s) >= 3.0
        assert session(ends.leaf, UPLINK)["session-state"] == "established"
    until(lambda: (names(ends.leaf, UPLINK), names(ends.spine, DOWNLINK)) == ([SPINE], [LEAF]))


def test_a_port_that_is_down_has_no_neighbour(ends: Ends) -> None:
    ends.twin.control.set_link(LEAF, UPLINK, up=False)
    until(lambda: (names(ends.leaf, UPLINK), names(ends.spine, DOWNLINK)) == ([], []))
    ends.twin.control.set_link(LEAF, UPLINK, up=True)
    until(lambda: (names(ends.leaf, UPLINK), names(ends.spine, DOWNLINK)) == ([SPINE], [LEAF]))


def deploy(twin: Twin, name: str) -> None:
    """Deploy the intent to a switch, as `railfab deploy` does."""
    node, srlinux = endpoint(twin, name), platform("srlinux")
    nornir = nornir_of(twin.design, Endpoints(fabric=twin.fabric, backend="twin", nodes=(node,)))
    texts = {name: srlinux.text(srlinux.render(twin.design.models[name]))}
    approved = {shown.name: shown.diff for shown in preview_all(nornir, texts, lambda _: None)}
    (outcome,) = apply_all(nornir, texts, new_change(), lambda _: None, approved=approved)
    assert (outcome.result, outcome.error) == ("changed", None)


def test_a_deploy_heals_ports_and_lldp(ends: Ends) -> None:
    other = f"/interface[name={OTHER_UPLINK}]/subinterface[index=0]/admin-state"
    fec = f"{PORT}/ethernet/forward-error-correction/fec-option"
    names_of = ("/system/name/host-name", '"other"'), ("/system/lldp/admin-state", '"disable"')
    ends.leaf.set(update=[(other, '"disable"'), (fec, '"disabled"'), *HELLO, *names_of])
    until(lambda: [session(ends.leaf, port)["session-state"] for port in (UPLINK, OTHER_UPLINK)] == ["idle"] * 2)
    deploy(ends.twin, LEAF)
    until(lambda: [session(ends.leaf, port)["session-state"] for port in (UPLINK, OTHER_UPLINK)] == ["established"] * 2)
    until(lambda: (names(ends.leaf, UPLINK), names(ends.spine, DOWNLINK)) == ([SPINE], [LEAF]))
    assert "hello-timer" not in ends.leaf.values("/system/lldp", "config")["/system/lldp"]


# Cables


def command(ends: Ends, *words: str) -> None:
    result = CliRunner().invoke(app, ["twin", *words, "--state", str(ends.state)])
    assert result.exit_code == 0, result.output


def octets(target: Switch, port: str) -> tuple[int, int]:
    found = statistics(target, port)
    return found["in-octets"], found["out-octets"]


def test_exchanged_cables_change_neighbours_and_traffic_and_are_undone_by_the_same_command(ends: Ends) -> None:
    exchange, exchanged = ("cable", LEAF, UPLINK, LEAF, OTHER_UPLINK), ([OTHER_SPINE], [SPINE])
    with mistake(ends.leaf, update=[RETRY]):
        with running(ends.twin):
            before = {port: octets(ends.leaf, port) for port in (UPLINK, OTHER_UPLINK)}
            far = octets(ends.spine, DOWNLINK)
            flips = statistics(ends.spine, DOWNLINK)["carrier-transitions"]
            began_s = ends.twin.status().simulated_s
            command(ends, *exchange)
            until(lambda: (names(ends.leaf, UPLINK), names(ends.leaf, OTHER_UPLINK)) == exchanged)
            assert statistics(ends.spine, DOWNLINK)["carrier-transitions"] == flips + 2
            assert len(ends.twin.status().faults) == 2
        until(lambda: seen(ends.leaf, UPLINK)[::2] == ("up", "established"))
        assert ends.twin.status().simulated_s > began_s + 1, "the sessions over the cables wait to try again"
        for port, counted in before.items():
            assert all(map(le, counted, octets(ends.leaf, port))), "a port keeps its counters"
        assert all(map(le, far, octets(ends.spine, DOWNLINK)))
        quiet = octets(ends.leaf, OTHER_UPLINK)[1]
        with running(ends.twin):
            until(lambda: octets(ends.leaf, OTHER_UPLINK)[1] > quiet + 1_000_000)
        command(ends, *exchange)
        until(lambda: (names(ends.leaf, UPLINK), names(ends.leaf, OTHER_UPLINK)) == ([SPINE], [OTHER_SPINE]))
        until(lambda: seen(ends.leaf, UPLINK)[2:] == seen(ends.leaf, OTHER_UPLINK)[2:] == ("established", "UP"))
    assert ends.twin.status().faults == ()


def test_exchanged_host_cables_cut_both_hosts_off(ends: Ends) -> None:
    """Each host has the address of its own port's subnet."""
    one, other = (LEAF, HOST_PORT), (LEAF, "ethernet-1/1/2")
    ends.twin.control.exchange_cables(one, other)
    ends.twin.switch_job(LONG)
    until(lambda: bool(ends.twin.status().stalled))
    ends.twin.control.exchange_cables(one, other)
    until(lambda: not ends.twin.status().stalled)
    ends.twin.switch_job(None)


def cabling_of_hosts(ends: Ends) -> str:
    """What `railfab verify` says of the cables that are not proved; no address is taken for that of another host."""
    nodes = Endpoints(fabric=ends.twin.fabric, backend="twin", nodes=(endpoint(ends.twin, LEAF),))
    verified = verify_all(nornir_of(ends.twin.design, nodes), ends.twin.design, wait_s=0)
    assert [found for found in verified.findings if found.code == "miscabled"] == []
    return verified.cabling.summary.partition(", ")[2]


def test_a_port_resolves_its_host_by_arp_but_not_one_with_an_address_of_another_subnet(ends: Ends) -> None:
    unit = f"/interface[name={HOST_PORT}]/subinterface[index=0]"
    entry = f"{unit}/ipv4/arp/neighbor[ipv4-address=10.17.0.1]"
    one, other = (LEAF, HOST_PORT), (LEAF, "ethernet-1/1/2")
    healthy = f"4 unknown (hosts that ARP identifies, but not their NIC: {LEAF} ethernet-1/1/[1-4])"
    assert ends.leaf.value(f"{entry}/origin") == "dynamic"
    assert cabling_of_hosts(ends) == healthy
    ends.twin.control.exchange_cables(one, other)
    assert cabling_of_hosts(ends) == (
        f"4 unknown (hosts that ARP has not resolved: {LEAF} ethernet-1/1/[1-2]; "
        f"hosts that ARP identifies, but not their NIC: {LEAF} ethernet-1/1/[3-4])"
    )
    ends.twin.control.exchange_cables(one, other)
    assert cabling_of_hosts(ends) == healthy


def test_the_ends_of_one_cable_cannot_be_exchanged(ends: Ends) -> None:
    with pytest.raises(DeviceError, match="nothing to exchange between the ends of one cable"):
        ends.twin.control.exchange_cables((LEAF, UPLINK), (SPINE, DOWNLINK))
    with pytest.raises(DeviceError, match="there is no cable"):
        ends.twin.control.exchange_cables((LEAF, UPLINK), (SPINE, "ethernet-1/30"))


def test_the_command_makes_an_optic_dirty(ends: Ends) -> None:
    command(ends, "fault", LEAF, UPLINK, "--optic-loss", "1.5")
    assert ends.twin.status().faults == (
        f"{LEAF} {UPLINK} misses 1.5 dB of light. Undo it with railfab twin fault {LEAF} {UPLINK} --optic-loss 0",
    )
    command(ends, "fault", LEAF, UPLINK, "--optic-loss", "0")
    assert ends.twin.status().faults == ()

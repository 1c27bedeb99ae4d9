"""Findings of verify about the live state of a switch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from railfab.deploy.verify import live_findings
from railfab.device import Observed, ObservedBgpSession, ObservedInterface
from railfab.fabric import Design, design

LEAF, UPLINK = "pod1-seg1-leaf1", "ethernet-1/32"
PLACE = f"{LEAF} {UPLINK}"


@pytest.fixture(scope="module")
def fabric(repository: Path) -> Design:
    return design(repository / "labs" / "srl-pod" / "intent.yml")


def healthy(fabric: Design) -> Observed:
    """The live state of the leaf as intended."""
    ports = fabric.topology.ports_of(LEAF)
    switches = fabric.models
    return Observed(
        interfaces=tuple(
            ObservedInterface(
                name=port.name,
                oper_up=True,
                mtu_bytes=9216,
                neighbor_device=peer.node if peer.node in switches else None,
                neighbor_interface=peer.name if peer.node in switches else None,
            )
            for port, peer, _ in ports
        ),
        sessions=tuple(
            ObservedBgpSession(peer=port.name, state="established", neighbor_device=peer.node, bfd_up=True)
            for port, peer, _ in ports
            if peer.node in switches
        ),
    )


def on_port(**fields: object) -> Callable[[Observed], Observed]:
    def change(observed: Observed) -> Observed:
        ports = observed.interfaces
        return replace(
            observed,
            interfaces=tuple(replace(port, **fields) if port.name == UPLINK else port for port in ports),  # type: ignore[arg-type]
        )

    return change


def on_session(**fields: object) -> Callable[[Observed], Observed]:
    def change(observed: Observed) -> Observed:
        found = observed.sessions
        return replace(
            observed,
            sessions=tuple(replace(one, **fields) if one.peer == UPLINK else one for one in found),  # type: ignore[arg-type]
        )

    return change


def without_the_port(observed: Observed) -> Observed:
    return replace(observed, interfaces=tuple(port for port in observed.interfaces if port.name != UPLINK))


def without_the_session(observed: Observed) -> Observed:
    return replace(observed, sessions=tuple(one for one in observed.sessions if one.peer != UPLINK))


WRONG = {
    "down": (
        on_port(oper_up=False),
        "is down, its link to pod1-spine1 does not work. Check the cable and the far end.",
    ),
    "disabled": (
        on_port(oper_up=False, enabled=False),
        "is shut down, its link to pod1-spine1 does not work. Deploy the intent.",
    ),
    "narrow": (on_port(mtu_bytes=1500), "has MTU 1500, the intent says 9216. Deploy the intent."),
    "crossed": (
        on_port(neighbor_device="pod1-spine2"),
        "is cabled to pod1-spine2 ethernet-1/1, the intent says pod1-spine1 ethernet-1/1. Correct the cabling.",
    ),
    "crossed with its neighbour": (
        on_port(neighbor_interface="ethernet-1/2"),
        "is cabled to pod1-spine1 ethernet-1/2, the intent says pod1-spine1 ethernet-1/1. Correct the cabling.",
    ),
    "missing port": (without_the_port, "does not exist on the switch. Deploy the intent, or check its breakout."),
    "missing session": (without_the_session, "has no BGP session with pod1-spine1. Deploy the intent."),
    "active": (
        on_session(state="active"),
        "BGP with pod1-spine1 is active. Check the link and the far end's AS number.",
    ),
    "another peer": (
        on_session(neighbor_device="pod1-spine2"),
        "BGP peer is pod1-spine2, the intent says pod1-spine1. Correct the cabling.",
    ),
    "bfd down": (on_session(bfd_up=False), "BFD with pod1-spine1 is not up. Check BFD on both ends."),
    "no bfd": (on_session(bfd_up=None), "BFD with pod1-spine1 is not up. Check BFD on both ends."),
}


def test_a_healthy_switch_has_no_findings(fabric: Design) -> None:
    assert list(live_findings(fabric, LEAF, healthy(fabric))) == []


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_each_thing_that_is_wrong_is_one_finding(
    fabric: Design, change: Callable[[Observed], Observed], message: str
) -> None:
    assert [str(found) for found in live_findings(fabric, LEAF, change(healthy(fabric)))] == [f"{PLACE}: {message}"]


@pytest.fixture(scope="module")
def linux(repository: Path) -> Design:
    return design(repository / "labs" / "frr-pod" / "intent.yml")


def narrow_and_disabled(fabric: Design) -> Observed:
    """A port of the leaf that Linux has disabled and given another MTU, on a switch without sessions."""
    ports = [port.name for port, _, _ in fabric.topology.ports_of(LEAF)]
    found = [ObservedInterface(name=name, oper_up=True, enabled=True, mtu_bytes=9000) for name in ports]
    found[0] = replace(found[0], oper_up=False, enabled=False, mtu_bytes=1500)
    return Observed(interfaces=tuple(found), sessions=())


def on_swp1(fabric: Design, *, owns_system: bool) -> list[str]:
    found = live_findings(fabric, LEAF, narrow_and_disabled(fabric), owns_system=owns_system)
    return [str(one).removeprefix(f"{LEAF} swp1: ") for one in found if one.where == f"{LEAF} swp1"]


def test_the_remedy_for_what_the_system_has_names_what_sets_it(linux: Design) -> None:
    boot = "and for the next boot in the network configuration of the system"
    assert on_swp1(linux, owns_system=False) == [
        f"is shut down, its link to pod1-seg1-host1 does not work. Enable it with `ip link set dev swp1 up`, {boot}.",
        f"has MTU 1500, the intent says 9000. Set it with `ip link set dev swp1 mtu 9000`, {boot}.",
    ]


def test_where_a_deploy_configures_the_system_too_the_remedy_is_a_deploy(linux: Design) -> None:
    assert on_swp1(linux, owns_system=True) == [
        "is shut down, its link to pod1-seg1-host1 does not work. Deploy the intent.",
        "has MTU 1500, the intent says 9000. Deploy the intent.",
    ]


def test_a_hash_without_the_source_port_is_found_with_how_to_set_it(linux: Design) -> None:
    name = next(iter(linux.models))
    seen = Observed(interfaces=(), sessions=(), lldp=False, hashes_source_port=False)
    found = next(one for one in live_findings(linux, name, seen) if one.code == "hash-without-port")
    assert found.line == (
        f"error {name} ECMP hash: has no source port, so that all RoCE between two NICs takes one path. Set it with "
        "`sysctl -w net.ipv4.fib_multipath_hash_policy=1`, and for the next boot in /etc/sysctl.d. [hash-without-port]"
    )
    reported = (replace(seen, hashes_source_port=value) for value in (True, None))
    assert all(one.code != "hash-without-port" for seen in reported for one in live_findings(linux, name, seen))


def test_a_vlan_without_its_vni_is_found_with_how_to_make_it(repository: Path) -> None:
    overlay = design(repository / "labs" / "frr-evpn" / "intent.yml")

    def lines(vnis: frozenset[int] | None) -> list[str]:
        seen = Observed(interfaces=(), sessions=(), lldp=False, vnis=vnis)
        return [found.line for found in live_findings(overlay, "front-leaf1", seen) if found.code == "vni-missing"]

    (line,) = lines(frozenset({10101, 10200}))
    assert line.startswith(
        "error front-leaf1 vlan100: has no VNI 10100, its hosts do not reach those of other switches. "
        "Make a device for each VNI with `ip link add vniN type vxlan id N "
    )
    assert lines(None) == lines(frozenset({10100, 10101, 10200})) == []


def test_state_that_a_platform_does_not_report_is_no_finding(fabric: Design) -> None:
    silent = on_port(mtu_bytes=None, neighbor_device=None, neighbor_interface=None)(
        on_session(neighbor_device=None)(healthy(fabric))
    )
    assert list(live_findings(fabric, LEAF, replace(silent, lldp=False))) == []


@pytest.mark.parametrize(
    ("change", "lacking"),
    [
        (on_port(neighbor_device=None, neighbor_interface=None), "no LLDP"),
        (on_port(neighbor_interface=None), "no port in LLDP"),
    ],
    ids=["silent", "without its port"],
)
def test_a_neighbour_that_does_not_say_which_one_it_is_is_a_warning(
    fabric: Design, change: Callable[[Observed], Observed], lacking: str
) -> None:
    (found,) = live_findings(fabric, LEAF, change(healthy(fabric)))
    assert found.line == (
        f"warning {PLACE}: receives {lacking} from pod1-spine1, so that its cabling is not verified. "
        "Enable LLDP on both ends of the link to pod1-spine1. [lldp-silent]"
    )


def test_a_session_between_loopbacks_is_expected_and_named_by_its_peer(fabric: Design) -> None:
    model = fabric.models[LEAF]
    assert model.bgp is not None
    spine = fabric.models["pod1-spine1"].loopback
    assert spine is not None
    far = replace(model.neighbors[0], peer=spine, update_source="loopback0", bfd=None)
    bgp = replace(model.bgp, neighbors=(*model.neighbors, far))
    other = Design(document=fabric.document, intent=fabric.intent, topology=fabric.topology)
    vars(other)["models"] = {**fabric.models, LEAF: replace(model, bgp=bgp)}
    message = f"{LEAF} {spine}: has no BGP session with pod1-spine1. Deploy the intent."
    assert [str(found) for found in live_findings(other, LEAF, healthy(fabric))] == [message]
    up = ObservedBgpSession(peer=spine, state="established")
    observed = healthy(fabric)
    assert list(live_findings(other, LEAF, replace(observed, sessions=(*observed.sessions, up)))) == []

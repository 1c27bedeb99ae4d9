"""What `interruptions.yml` of FRR says is what real FRR does: sessions, and a packet every 2 ms through each change."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, ip_address, ip_interface, ip_network

import pytest
from tests.integration.frr.bench import SPINE, Node, eventually, push, settle
from tests.platforms.frr import switches as models
from tests.platforms.frr.switches import RANGES, inside, permits, text, with_bgp, with_neighbors
from tests.sampled import sampled

from railfab.device import Aggregate, BfdTimers, DeviceModel, Loopback, NextHop, Port
from railfab.fabric.impact import differences_of, impact_of
from railfab.platforms import platform

pytestmark = pytest.mark.lab

FRR = platform("frr")
TIMERS = replace(models.TIMERS, connect_retry_s=2)
LEAF = with_neighbors(models.LEAF, timers=TIMERS)
LEAF_LOOPBACK, SPINE_LOOPBACK = "10.255.1.1", "10.254.1.1"
SETTLES_S = 7.0
"""FRR applies changed route maps 5 s after the last change of one (`bgp route-map delay-timer`)."""
IN_FLIGHT = 3
"""Packets that are on their way when the sender stops."""


def described(description: str) -> DeviceModel:
    interfaces = tuple(
        replace(interface, description=description) if isinstance(interface, Port) else interface
        for interface in LEAF.interfaces
    )
    return with_neighbors(replace(LEAF, interfaces=interfaces), description=description)


def with_policies(*ranges: models.PrefixRange, set_med: int | None = None) -> DeviceModel:
    policies = (permits(policy.name, *ranges) for policy in LEAF.policies)
    changed = (
        replace(policy, rules=tuple(replace(rule, set_med=set_med) for rule in policy.rules)) for policy in policies
    )
    return replace(LEAF, policies=tuple(changed))


RENAMED = replace(
    with_neighbors(LEAF, import_policies=("second",)), policies=(*LEAF.policies, permits("second", *RANGES))
)
NAMES = {policy.name: f"{policy.name}-2" for policy in LEAF.policies}
ALL_RENAMED = replace(
    with_neighbors(LEAF, import_policies=("fabric-import-2",), export_policies=("fabric-export-2",)),
    policies=tuple(replace(policy, name=NAMES[policy.name]) for policy in LEAF.policies),
)
FIRST = LEAF.neighbors[0]
CASES: Mapping[str, tuple[str, DeviceModel]] = {
    "descriptions": ("description", described("other")),
    "another rule": ("routing-policy", with_policies(*RANGES, inside("10.99.0.0/16", 32))),
    "a rule less": ("routing-policy", with_policies(RANGES[0])),
    "a metric": ("routing-policy", with_policies(*RANGES, set_med=50)),
    "wider prefixes": ("prefix-list", with_policies(inside("10.254.0.0/15", 31, 32), RANGES[1])),
    "other policies": ("session-policy", RENAMED),
    "policies with other names": ("session-policy", ALL_RENAMED),
    "no policies": ("session-policy-removed", with_neighbors(LEAF, import_policies=())),
    "hold time": ("bgp-timers", with_neighbors(LEAF, timers=replace(TIMERS, keepalive_s=5, hold_s=15))),
    "connect retry": ("bgp-intervals", with_neighbors(LEAF, timers=replace(TIMERS, connect_retry_s=9))),
    "advertisements": ("bgp-intervals", with_neighbors(LEAF, timers=replace(TIMERS, advertisement_interval_s=1))),
    "BFD timers": ("bfd-timers", with_neighbors(LEAF, bfd=BfdTimers(interval_ms=1200, multiplier=5))),
    "no BFD": ("bfd", with_neighbors(LEAF, bfd=None)),
    "fewer paths": ("max-paths", with_bgp(LEAF, max_paths=2)),
    "equal AS paths": ("max-paths", with_bgp(LEAF, multiple_as=False)),
    "prefix limit": ("prefix-limit", with_neighbors(LEAF, prefix_limit=1000)),
    "next hop": ("next-hop", with_neighbors(LEAF, next_hop=NextHop.SELF)),
    "an aggregate": (
        "announced-routes",
        with_bgp(LEAF, aggregates=(Aggregate(prefix=ip_network("10.255.0.0/16"), summary_only=False),)),
    ),
    "no routes": ("announced-routes", with_bgp(LEAF, originated=())),
    "router ID": ("router-id", with_bgp(LEAF, router_id=IPv4Address("10.255.1.99"))),
    "another session": (
        "session-added",
        with_bgp(LEAF, neighbors=(*LEAF.neighbors, replace(FIRST, peer=ip_address("10.16.77.1")))),
    ),
    "another loopback": (
        "interface-added",
        replace(
            LEAF,
            interfaces=(*LEAF.interfaces, Loopback(name="loopback1", addresses=(ip_interface("10.255.9.1/32"),))),
        ),
    ),
    "a drain": ("drain", replace(LEAF, drain=True)),
}
HARMLESS_HERE = {"an aggregate"}
"""Changes that interrupt nothing although others of their kind do."""


@dataclass(frozen=True)
class Seen:
    """What a change did. reset: sessions that were. lost: packets."""

    reset: tuple[str, ...]
    lost: int

    @property
    def interrupted(self) -> bool:
        return bool(self.reset) or self.lost > IN_FLIGHT


def sessions(node: Node) -> dict[str, tuple[str, int]]:
    """State of each session, and how often it was established."""
    shown = json.loads(node.inside("vtysh", "-c", "show bgp neighbors json"))
    return {
        name: (neighbor["bgpState"], neighbor["connectionsEstablished"])
        for name, neighbor in shown.items()
        if isinstance(neighbor, dict) and "bgpState" in neighbor
    }


@pytest.fixture
def pair(switches: tuple[Node, Node]) -> Iterator[tuple[Node, Node]]:
    """Leaf and spine, with routes to each other."""
    leaf, spine = settle(switches[0], LEAF), settle(switches[1], SPINE)
    assert eventually(
        lambda: len(sessions(leaf)) == 3 and {state for state, _ in sessions(leaf).values()} == {"Established"}
    )
    ping = ("ping", "-c", "1", "-W", "1", "-q", "-I", LEAF_LOOPBACK, SPINE_LOOPBACK)
    enter = ("nsenter", "-t", str(leaf.pid), "-n")
    assert eventually(lambda: subprocess.run([*enter, *ping], capture_output=True).returncode == 0)
    time.sleep(SETTLES_S)
    yield leaf, spine
    settle(leaf, models.LEAF)


@contextmanager
def packets(node: Node, lost: list[int]) -> Iterator[None]:
    """Send packets to the other loopback, and count those without an answer."""
    command = ["nsenter", "-t", str(node.pid), "-n", "ping", "-q", "-i", "0.002", "-I", LEAF_LOOPBACK, SPINE_LOOPBACK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate()
    match = re.search(r"(\d+) packets transmitted, (\d+) received", output)
    assert match is not None, output
    lost.append(int(match[1]) - int(match[2]))


def seen(leaf: Node, changed: DeviceModel) -> Seen:
    """What a change of the leaf did while packets passed."""
    before, lost = sessions(leaf), list[int]()
    with packets(leaf, lost):
        time.sleep(1)
        push(leaf, changed)
        time.sleep(SETTLES_S)
    after = sessions(leaf)
    return Seen(tuple(name for name, state in before.items() if after.get(name) != state), lost[0])


@pytest.mark.parametrize(("kind", "changed"), sampled(CASES, few=["policies with other names"]))
def test_a_change_interrupts_where_it_is_said_to(
    pair: tuple[Node, Node], request: pytest.FixtureRequest, kind: str, changed: DeviceModel
) -> None:
    leaf, _ = pair
    running, candidate = text(LEAF), text(changed)
    assert kind in {difference.code for difference in differences_of(FRR, running, candidate)}
    change = seen(leaf, changed)
    if request.node.callspec.id not in HARMLESS_HERE:
        assert change.interrupted == impact_of(FRR, running, candidate).interrupts, change
    assert FRR.interruptions().interrupts(kind) or not change.interrupted, change


def test_every_row_of_frr_is_measured() -> None:
    assert FRR.interruptions().by_kind.keys() == {kind for kind, _ in CASES.values()}

"""What SR Linux accepts, a virtual switch accepts.

Each mistake is set over gNMI, shows the symptom that a switch shows, is named by `verify`, and is healed by a deploy.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pygnmi.client import gNMIException
from tests.sampled import sampled
from tests.twin.twins import Switch, endpoint, made_job, ran, switch, until

from railfab.deploy import apply_all, new_change, nornir_of, preview_all, verify_all
from railfab.endpoints import Endpoints
from railfab.fabric.design import Design, design
from railfab.findings import Severity
from railfab.platforms import platform
from railfab.twin import Twin

# pygnmi's reading thread dies with its channel and says so by an exception.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")

INTENT = """
version: 1
fabric: small
hosts: {gpus: 1, nic_ports: 1, rate_gbps: 100}
backend:
  segments: {count: 2, hosts: 4, rail_switches: 1, model: 7220-ixr-d5, platform: srlinux}
  spines: {count: 2, links_per_leaf: 1, rate_gbps: 400, model: 7220-ixr-d5, platform: srlinux}
"""
LEAF, FAR_LEAF, SPINE, OTHER_SPINE = "pod1-seg1-leaf1", "pod1-seg2-leaf1", "pod1-spine1", "pod1-spine2"
UPLINK, OTHER_UPLINK = "ethernet-1/32", "ethernet-1/31"
"""Of a rail switch: to SPINE, and to OTHER_SPINE. Those are connected by their ports 1 to LEAF, and 2 to FAR_LEAF."""

PREFIXES = 5
"""Of a rail switch: its loopback and the links of four hosts."""

INSTANCE = "/network-instance[name=default]"
BGP = f"{INSTANCE}/protocols/bgp"
GROUP = f"{BGP}/group[group-name=fabric]"
IPV4 = f"{BGP}/afi-safi[afi-safi-name=ipv4-unicast]"
QOS = "/qos/interfaces/interface"
PFC_OBEYED = "/qos/pfc-mapping-profile[name=fabric]/received-pfc-pause-frames/queue[queue-name=roce]"
MARKING = "/qos/buffer-management/queue-management-profile[name=100g-5m]"
HEADROOM = (
    "/qos/buffer-management/buffer-allocation-profile[name=400g-40m]/queues/pfc-queue[pfc-queue-name=pfc-roce]"
    "/maximum-pfc-reserved-share-percentage"
)
RECEIVER_PORT = "ethernet-1/1/1"
INCAST = made_job(phases=[{"traffic": {"pattern": "incast", "senders": 7, "receivers": 1, "bytes": "4MB"}}], repeat=1)
"""To the first host of LEAF, over all uplinks."""


def small(folder: Path) -> Design:
    """Two rail switches with four hosts each, and two spines."""
    file = folder / "small.yml"
    file.write_text(INTENT)
    return design(file)


@dataclass(frozen=True)
class Fabric:
    """A running twin, and the clients of its switches."""

    twin: Twin
    switches: Mapping[str, Switch]

    def values(self, name: str, path: str) -> dict[str, Any]:
        """The values at a path; none where there is nothing."""
        try:
            return self.switches[name].values(path, "all")
        except gNMIException:
            return {}

    def of_sessions(self, name: str, leaf: str) -> dict[str, Any]:
        """A leaf of every BGP neighbour, by its address or its interface."""
        found = self.values(name, f"{BGP}/neighbor[peer-address=*]/{leaf}")
        return {place.split("peer-address=")[1].split("]")[0].rpartition("%")[2]: found[place] for place in found}

    def routes(self, name: str, kind: str) -> dict[str, int]:
        """Routes of every session that are `received`, `sent` or `active`."""
        leaf = f"afi-safi[afi-safi-name=ipv4-unicast]/{kind}-routes"
        return {peer: int(count) for peer, count in self.of_sessions(name, leaf).items()}

    def bfd(self, name: str, interface: str, leaf: str) -> Any:
        peers = self.values(name, "/bfd/network-instance[name=default]/peer[local-discriminator=*]").values()
        return next(peer[leaf] for peer in peers if peer["ipv6-link-local-interface"] == f"{interface}.0")

    def total(self, name: str, path: str) -> int:
        """The sum of counters."""
        return sum(map(int, self.values(name, path).values()))

    def edit(self, edits: Mapping[str, Edits]) -> None:
        for name, operations in edits.items():
            self.switches[name].set(**operations)

    def endpoints(self, names: Iterable[str]) -> Endpoints:
        nodes = tuple(endpoint(self.twin, name) for name in names)
        return Endpoints(fabric=self.twin.fabric, backend="twin", nodes=nodes)

    def differences(self, names: Iterable[str]) -> str:
        """The errors and warnings of `verify` about these switches."""
        nornir = nornir_of(self.twin.design, self.endpoints(names))
        found = verify_all(nornir, self.twin.design, wait_s=0).findings
        return "\n".join(str(one) for one in found if one.severity is not Severity.NOTE)

    def deploy(self, names: Iterable[str]) -> None:
        """Deploy the intent to these switches, as `railfab deploy` does."""
        design, endpoints, srlinux = self.twin.design, self.endpoints(names), platform("srlinux")
        texts = {name: srlinux.text(srlinux.render(design.models[name])) for name in names}
        shown = preview_all(nornir_of(design, endpoints), texts, lambda _: None)
        approved = {one.name: one.diff for one in shown}
        outcomes = apply_all(nornir_of(design, endpoints), texts, new_change(), lambda _: None, approved=approved)
        assert [(found.result, found.error) for found in outcomes] == [("changed", None)] * len(texts)


Edits = Mapping[str, list[Any]]
"""The operations of a Set, as pygnmi takes them."""


def update(*pairs: tuple[str, Any]) -> Edits:
    return {"update": [(path, json.dumps(value)) for path, value in pairs]}


def delete(*paths: str) -> Edits:
    return {"delete": list(paths)}


@dataclass(frozen=True)
class Mistake:
    """symptom: what a client reads; shows: what it is with the mistake, and only then.

    named: part of what `verify` says of it. first: what is set before, and is no mistake by itself.
    """

    name: str
    edits: Mapping[str, Edits]
    symptom: Callable[[Fabric], object]
    shows: object
    named: str
    first: Mapping[str, Edits] = field(default_factory=dict)

    @property
    def on(self) -> list[str]:
        return list({**self.first, **self.edits})


def routes(name: str, kind: str, *interfaces: str) -> Callable[[Fabric], list[int | None]]:
    """Routes of the sessions over these interfaces; None where there is no session."""
    return lambda fabric: [fabric.routes(name, kind).get(f"{interface}.0") for interface in interfaces]


def states(name: str, *peers: str) -> Callable[[Fabric], list[str | None]]:
    return lambda fabric: [fabric.of_sessions(name, "session-state").get(peer) for peer in peers]


def together(*symptoms: Callable[[Fabric], object]) -> Callable[[Fabric], list[object]]:
    return lambda fabric: [symptom(fabric) for symptom in symptoms]


def grows(name: str, path: str, fabric: Fabric) -> bool:
    """Whether a counter grows when seven hosts send to one."""
    before = fabric.total(name, path)
    ran(fabric.twin, INCAST)
    return fabric.total(name, path) > before


def queue(interface: str, name: str, leaf: str) -> str:
    queues = f"{QOS}[interface-id={interface}]/output/queues/queue[queue-name={name}]"
    return f"{queues}/queue-statistics/aggregate-statistics/{leaf}"


def peer_router_ids(name: str) -> Callable[[Fabric], list[str]]:
    return lambda fabric: sorted(fabric.of_sessions(name, "peer-router-id").values())


def allowing(interface: str, asn: str) -> Edits:
    neighbor = f"{BGP}/dynamic-neighbors/interface[interface-name={interface}.0]"
    return {"replace": [(f"{neighbor}/allowed-peer-as", json.dumps([asn]))]}


NO_SESSION = [None, None]
DOWN = "active"
ANOTHER_GROUP = f"{BGP}/dynamic-neighbors/interface[interface-name={UPLINK}.0]/peer-group"
PERMITTING = {"action": {"policy-result": "accept", "bgp": {"local-preference": {"set": 200}}}}

MISTAKES = (
    Mistake(
        "BFD timers of one port are negotiated",
        {
            LEAF: update(
                (f"/bfd/subinterface[id={UPLINK}.0]/desired-minimum-transmit-interval", 10_000),
                (f"/bfd/subinterface[id={UPLINK}.0]/required-minimum-receive", 10_000),
            )
        },
        lambda fabric: [
            fabric.bfd(LEAF, UPLINK, "session-state"),
            fabric.bfd(LEAF, UPLINK, "active-transmit-interval"),
            fabric.bfd(SPINE, "ethernet-1/1", "remote-minimum-receive-interval"),
        ],
        ["UP", 300_000, 10_000],
        "desired-minimum-transmit-interval 10000: sessions go down under load of the CPU",
    ),
    Mistake(
        "without its address, the loopback is not announced, and the router ID stays",
        {LEAF: delete("/interface[name=system0]/subinterface[index=0]/ipv4/address[ip-prefix=10.255.1.1/32]")},
        together(routes(SPINE, "received", "ethernet-1/1"), peer_router_ids(SPINE)),
        [[PREFIXES - 1], ["10.255.1.1", "10.255.1.2"]],
        "loopback0: has no address",
    ),
    Mistake(
        "without BGP, a switch has no sessions, and its peers no routes of it",
        {LEAF: delete(BGP)},
        together(
            states(LEAF, f"{UPLINK}.0", f"{OTHER_UPLINK}.0"),
            states(SPINE, "ethernet-1/1.0"),
            routes(FAR_LEAF, "received", UPLINK),
        ),
        [NO_SESSION, [DOWN], [1]],
        "has no BGP speaker",
    ),
    Mistake(
        "without the network instance likewise",
        {LEAF: delete(INSTANCE)},
        together(states(LEAF, f"{UPLINK}.0", f"{OTHER_UPLINK}.0"), routes(FAR_LEAF, "received", UPLINK)),
        [NO_SESSION, [1]],
        "has no BGP speaker",
    ),
    Mistake(
        "ECMP within the AS of the best path only",
        {LEAF: update((f"{IPV4}/multipath/allow-multiple-as", False))},
        routes(LEAF, "active", UPLINK, OTHER_UPLINK),
        [PREFIXES + 1, 1],
        "multipath allow-multiple-as false: ",
        first={
            OTHER_SPINE: update((f"{BGP}/autonomous-system", 65002)),
            LEAF: allowing(OTHER_UPLINK, "65002"),
            FAR_LEAF: allowing(OTHER_UPLINK, "65002"),
        },
    ),
    Mistake(
        "without advertise-ipv6-next-hops, the peers receive nothing",
        {LEAF: update((f"{IPV4}/ipv4-unicast/advertise-ipv6-next-hops", False))},
        together(routes(SPINE, "received", "ethernet-1/1"), routes(LEAF, "received", UPLINK)),
        [[0], [PREFIXES + 1]],
        "bgp.advertise_ipv6_next_hops: is off",
    ),
    Mistake(
        "without receive-ipv6-next-hops, the switch receives nothing",
        {LEAF: update((f"{IPV4}/ipv4-unicast/receive-ipv6-next-hops", False))},
        together(routes(SPINE, "received", "ethernet-1/1"), routes(LEAF, "received", UPLINK)),
        [[PREFIXES], [0]],
        "receive-ipv6-next-hops false: the session carries no IPv4 routes",
    ),
    Mistake(
        "a second address is one more route",
        {
            LEAF: update(
                (f"/interface[name={RECEIVER_PORT}]/subinterface[index=0]/ipv4/address[ip-prefix=10.31.0.0/31]", {})
            )
        },
        routes(SPINE, "received", "ethernet-1/1"),
        [PREFIXES + 1],
        f"set / interface {RECEIVER_PORT} subinterface 0 ipv4 address 10.31.0.0/31: the address of a session",
    ),
    Mistake(
        "another policy that is there is used",
        {
            LEAF: update(
                ("/routing-policy/policy[name=second]", {"default-action": {"policy-result": "reject"}}),
                (f"{GROUP}/import-policy", ["second"]),
            )
            | delete(f"{GROUP}/import-policy")
        },
        together(routes(LEAF, "received", UPLINK), routes(LEAF, "active", UPLINK)),
        [[PREFIXES + 1], [0]],
        "import-policy [ second ]: other routes are accepted or announced than planned",
    ),
    Mistake(
        "equal router IDs in different ASes do no harm; the spine sees the same one twice",
        {LEAF: update((f"{BGP}/router-id", "10.255.1.2"))},
        together(peer_router_ids(SPINE), states(SPINE, "ethernet-1/1.0")),
        [["10.255.1.2", "10.255.1.2"], ["established"]],
        "router-id 10.255.1.2: another router may have the identifier",
    ),
    Mistake(
        "a second BGP group: without policies it passes nothing",
        {
            LEAF: update(
                (f"{BGP}/group[group-name=slow]", {"timers": {"hold-time": 90, "keepalive-interval": 30}}),
                (ANOTHER_GROUP, "slow"),
            )
        },
        together(routes(LEAF, "active", UPLINK, OTHER_UPLINK), routes(SPINE, "received", "ethernet-1/1")),
        [[0, PREFIXES + 1], [0]],
        "timers.hold_s: is 90",
    ),
    Mistake(
        "a second BGP group with a local preference attracts everything",
        {
            LEAF: update(
                ("/routing-policy/policy[name=preferring]/statement[name=1]", PERMITTING),
                (
                    f"{BGP}/group[group-name=preferred]",
                    {"import-policy": ["preferring"], "export-policy": ["fabric-export"]},
                ),
                (ANOTHER_GROUP, "preferred"),
            )
        },
        routes(LEAF, "active", UPLINK, OTHER_UPLINK),
        [PREFIXES + 1, 1],
        "policies[preferring]",
    ),
    Mistake(
        "an additional neighbour, in no subnet",
        {LEAF: update((f"{BGP}/neighbor[peer-address=10.77.0.0]", {"peer-as": 65077, "peer-group": "fabric"}))},
        states(LEAF, "10.77.0.0", f"{UPLINK}.0"),
        ["idle", "established"],
        "bgp.neighbors[10.77.0.0]: is not in the intent",
    ),
    Mistake(
        "an additional neighbour of no AS",
        {LEAF: update((f"{BGP}/neighbor[peer-address=10.17.0.1]", {"peer-group": "fabric"}))},
        states(LEAF, "10.17.0.1", f"{UPLINK}.0"),
        [DOWN, "established"],
        "bgp.neighbors[10.17.0.1]: is not in the intent",
    ),
    Mistake(
        "sessions from the loopback, which the peers do not expect",
        {LEAF: update((f"{GROUP}/transport/local-address", "system0.0"))},
        together(states(LEAF, f"{UPLINK}.0"), states(SPINE, "ethernet-1/1.0")),
        [[DOWN], [DOWN]],
        "update_source: is loopback0",
    ),
    Mistake(
        "without its host name",
        {LEAF: delete("/system/name/host-name")},
        lambda fabric: fabric.values(LEAF, "/system/name/host-name"),
        {},
        "name: is empty, the intent says pod1-seg1-leaf1",
    ),
    Mistake(
        "a host port in a VRF: the default network instance has no route to it",
        {
            LEAF: delete(f"{INSTANCE}/interface[name={RECEIVER_PORT}.0]")
            | update(
                ("/network-instance[name=blue]", {"type": "ip-vrf", "interface": [{"name": f"{RECEIVER_PORT}.0"}]})
            )
        },
        routes(SPINE, "received", "ethernet-1/1"),
        [PREFIXES - 1],
        "delete / network-instance default interface ethernet-1/1/1.0: ",
    ),
    Mistake(
        "an uplink in a LAG, which its far end is not",
        {
            LEAF: delete(
                f"/interface[name={UPLINK}]/subinterface[index=0]",
                f"{INSTANCE}/interface[name={UPLINK}.0]",
                f"{BGP}/dynamic-neighbors/interface[interface-name={UPLINK}.0]",
                f"/bfd/subinterface[id={UPLINK}.0]",
                f"/interface[name={UPLINK}]/mtu",
                f"{QOS}[interface-id={UPLINK}]",
                f"{QOS}[interface-id={UPLINK}.0]",
            )
            | update(
                ("/interface[name=lag1]", {"lag": {"lag-type": "lacp"}}),
                (f"/interface[name={UPLINK}]/ethernet/aggregate-id", "lag1"),
            )
        },
        together(states(LEAF, f"{UPLINK}.0"), states(SPINE, "ethernet-1/1.0")),
        [[None], [DOWN]],
        "interfaces[lag1]: is not in the intent",
    ),
    Mistake(
        "spines that obey another priority than rail switches ask on send on, and these drop",
        {name: update((f"{PFC_OBEYED}/pfc-pause-frame-priority", 4)) for name in (SPINE, OTHER_SPINE)},
        partial(grows, LEAF, f"{QOS}[interface-id=*]/pfc/statistics/total-packet-pfc-discards"),
        True,
        "pfc-pause-frame-priority 4: ",
        first={LEAF: update((HEADROOM, 2))},
    ),
    Mistake(
        "without its ECN slope a queue marks nothing",
        {LEAF: delete(f"{MARKING}/wred/wred-slope[traffic-type=all][drop-probability=all][enable-ecn=true]")},
        partial(grows, LEAF, queue(RECEIVER_PORT, "roce", "ecn-marked-packets")),
        False,
        "qos.profiles[100g-5m].thresholds[roce].ecn",
    ),
    Mistake(
        "a second DSCP policy on one port puts its traffic into another queue",
        {
            LEAF: update(
                ("/qos/classifiers/dscp-policy[name=other]/dscp[value=26]", {"forwarding-class": "default"}),
                (f"{QOS}[interface-id={UPLINK}.0]/input/classifiers/dscp-policy", "other"),
            )
        },
        partial(grows, LEAF, queue(RECEIVER_PORT, "default", "transmitted-packets")),
        True,
        f"qos.ports[{UPLINK}].classifier: is other, the intent says fabric",
    ),
    Mistake(
        "a buffer profile without a queue management profile of its name drops at its limit",
        {
            LEAF: update(
                (
                    "/qos/buffer-management/buffer-allocation-profile[name=lone]",
                    {"queues": {"queue": [{"queue-name": "roce", "maximum-burst-size": 20_000}]}},
                ),
                (f"{QOS}[interface-id={RECEIVER_PORT}]/output/buffer-allocation-profile", "lone"),
            )
        },
        partial(grows, LEAF, queue(RECEIVER_PORT, "roce", "dropped-packets")),
        True,
        f"qos.ports[{RECEIVER_PORT}].profile: is lone",
    ),
)


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fabric]:
    folder = tmp_path_factory.mktemp("accepted")
    with ExitStack() as stack:
        twin = stack.enter_context(Twin(small(folder), state=folder, base_port=0, configured=True))
        names = (LEAF, FAR_LEAF, SPINE, OTHER_SPINE)
        yield Fabric(twin, {name: stack.enter_context(switch(twin, name)) for name in names})


FEW = (
    "BFD timers of one port are negotiated",
    "without its address, the loopback is not announced, and the router ID stays",
    "ECMP within the AS of the best path only",
    "without receive-ipv6-next-hops, the switch receives nothing",
    "another policy that is there is used",
    "an additional neighbour of no AS",
    "without its host name",
    "a host port in a VRF: the default network instance has no route to it",
    "an uplink in a LAG, which its far end is not",
    "spines that obey another priority than rail switches ask on send on, and these drop",
)
"""One of each part of a configuration."""


@pytest.mark.parametrize("mistake", sampled({mistake.name: mistake for mistake in MISTAKES}, few=FEW))
def test_a_mistake_that_a_switch_accepts_shows_its_symptom_until_the_next_deploy(
    fabric: Fabric, mistake: Mistake
) -> None:
    healthy = mistake.symptom(fabric)
    assert healthy != mistake.shows
    fabric.edit(mistake.first)
    if mistake.first:
        until(lambda: mistake.symptom(fabric) == healthy)
    fabric.edit(mistake.edits)
    until(lambda: mistake.symptom(fabric) == mistake.shows)
    differences = fabric.differences(mistake.on)
    fabric.deploy(mistake.on)
    until(lambda: mistake.symptom(fabric) == healthy)
    until(lambda: fabric.differences(mistake.on) == "")
    assert mistake.named in differences

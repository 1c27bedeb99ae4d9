"""How evenly links that ECMP may choose are loaded."""

from __future__ import annotations

from railfab.dashboards.board import ORANGE, Board, Graph, Listing, Query
from railfab.dashboards.recording import ECMP_BYTES, GROUP
from railfab.dashboards.selection import CHAIN, HOST_PORT, TO_PORT, UPLINK, rate, selector

GROUPS = "{{fabric}} {{device}} {{link}} {{peer_device}}"
BYTES = selector(ECMP_BYTES)
SHARE = f"{BYTES} / {TO_PORT} group_left () {selector('fabric_interface_speed_bytes_per_second')}"
FROM_HOSTS = (
    f"sum by (fabric, device) ({rate('fabric_interface_receive_bytes_total')}"
    f" * {TO_PORT} group_left () {selector('fabric_interface_info', HOST_PORT)})"
)
UPLINK_CAPACITY = (
    f"sum by (fabric, device) (({selector('fabric_interface_speed_bytes_per_second')}"
    f" and {selector('fabric_interface_oper_up')} == 1)"
    f" * {TO_PORT} group_left () {selector('fabric_interface_info', UPLINK)})"
)
ROLE = f"on (fabric, device) group_left (role) {selector('fabric_device_info')}"

BALANCE = Board(
    name="balance",
    title="Load balance",
    question="Is the load spread evenly over equal links, and which link is left out?",
    reading=(
        "Groups are the links among which ECMP chooses: the uplinks of a switch, or its links to one neighbour below."
        " A Jain index near 1 is even. A low one with few flows is chance; with many, the hash has too few fields, or"
        " two tiers hash alike, or multipath is limited. Look at the links used, then at the link that carries nothing."
    ),
    variables=CHAIN,
    panels=(
        Graph(
            title="Jain index of links",
            description="1 where all links of a group carry the same; one part in n where one of n links carries all."
            " No value with almost no traffic.",
            at_most=1,
            queries=(Query(selector("device_peer_device:fabric_ecmp_transmit:jain_rate1m"), GROUPS),),
        ),
        Graph(
            title="Maximum to mean",
            description="Load of the busiest link of a group as multiple of the mean: the factor by which the group is"
            " full too early.",
            queries=(Query(selector("device_peer_device:fabric_ecmp_transmit:max_to_mean_rate1m"), GROUPS),),
        ),
        Graph(
            title="Spread under ECMP",
            description="Coefficient of variation of the load of the links of a group. 0 is even; above the line few"
            " flows or a poor hash overload some links while others are idle.",
            limits=((0.3, ORANGE),),
            queries=(Query(selector("device_peer_device:fabric_ecmp_transmit:cov_rate1m"), GROUPS),),
        ),
        Graph(
            title="Links left out",
            description="Links of a group with less than a twentieth of the mean load.",
            queries=(
                Query(
                    f"{selector('device_peer_device:fabric_ecmp_links:count')}"
                    f" - {selector('device_peer_device:fabric_ecmp_links_used:count')}",
                    GROUPS,
                ),
            ),
        ),
        Graph(
            title="Busiest links between switches",
            description="The eight links between switches with the highest utilisation.",
            unit="percentunit",
            at_most=1,
            limits=((0.8, ORANGE),),
            queries=(Query(f"topk(8, {SHARE})", "{{fabric}} {{device}} {{interface}} {{peer_device}}"),),
        ),
        Graph(
            title="Idlest links between switches",
            description="The eight links between switches with the lowest utilisation.",
            unit="percentunit",
            queries=(Query(f"bottomk(8, {SHARE})", "{{fabric}} {{device}} {{interface}} {{peer_device}}"),),
        ),
        Graph(
            title="Uplinks against hosts",
            description="What the hosts of a switch send, as share of what its working uplinks can carry. Above the"
            " line the uplinks are too few.",
            unit="percentunit",
            limits=((0.9, ORANGE),),
            queries=(Query(f"{FROM_HOSTS} / on (fabric, device) {UPLINK_CAPACITY}", "{{fabric}} {{device}}"),),
        ),
        Graph(
            title="Load by role",
            description="Mean load of the links between switches, by the role of the switch that sends.",
            unit="bps",
            queries=(Query(f"8 * avg by (fabric, role) ({BYTES} * {ROLE})", "{{fabric}} {{role}}"),),
        ),
        Graph(
            title="Flows at least",
            description="Least number of flows that can make up the load of a group: with as few as there are links,"
            " uneven load is chance.",
            queries=(Query(selector("device_peer_device:fabric_ecmp_flows:min"), GROUPS),),
        ),
        Listing(
            title="Groups of links",
            description="Links of each group, those that are used, and how evenly; an uneven group with all links used"
            " has few large flows.",
            queries=tuple(
                Query(f"max by ({GROUP}) ({selector(f'device_peer_device:fabric_ecmp_{name}')})")
                for name in ("links:count", "links_used:count", "transmit:jain_rate1m", "transmit:max_to_mean_rate1m")
            ),
            columns={
                "fabric": "Fabric",
                "device": "Switch",
                "link": "Link",
                "peer_device": "Peer",
                "Value #A": "Links",
                "Value #B": "Used",
                "Value #C": "Jain",
                "Value #D": "Maximum to mean",
            },
            first="Jain",
            width=24,
        ),
    ),
    alerts=("FabricEcmpImbalance", "FabricEcmpPolarisation", "FabricUplinkOversubscribed", "FabricLinkDown"),
    next={
        "port": "one link is full or idle",
        "congestion": "full links are marked or paused",
        "change": "hash or multipath differ from the intent",
        "layer1": "uplinks are down",
    },
)

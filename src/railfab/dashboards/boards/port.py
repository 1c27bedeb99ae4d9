"""A switch and its ports."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import LIMITS
from railfab.dashboards.board import ORANGE, Board, Graph, Listing, Query, StateTimeline
from railfab.dashboards.boards.parts import BGP_STATES, UP_STATES
from railfab.dashboards.promql import unit
from railfab.dashboards.selection import CHAIN, ON_PORT, ON_RAIL, ONE_SWITCH, PORT, peak, rate, selector

OF_PORT = "{{fabric}} {{device}} {{interface}}"
SENT = 'direction="sent"'
PEAK, DEPTH = "fabric_queue_depth_peak_bytes", "fabric_queue_depth_bytes"


def _by_queue(expr: str) -> Query:
    return Query(expr, f"{OF_PORT} {{{{queue}}}}")


def _by_priority(name: str, word: str) -> Query:
    return Query(rate(name, ON_PORT), f"{OF_PORT} priority {{{{priority}}}} {word}")


PORT_BOARD = Board(
    name="port",
    title="Switch and port",
    question="What does this switch and port carry, and what holds it up?",
    reading=(
        "Choose a switch and a port. A full port with marks is a bottleneck; a paused port waits for its peer: go to"
        " the other end of the link. A port with discards and short queues drops for other reasons than load."
    ),
    variables=(*CHAIN[:-1], ONE_SWITCH, PORT),
    panels=(
        Graph(
            title="Sent",
            description="Transmit utilisation of the port.",
            unit="percentunit",
            at_most=1,
            queries=(Query(selector("device_interface:fabric_transmit_utilization:ratio_rate1m", ON_PORT), OF_PORT),),
        ),
        Graph(
            title="Received",
            description="Receive utilisation of the port.",
            unit="percentunit",
            at_most=1,
            queries=(Query(selector("device_interface:fabric_receive_utilization:ratio_rate1m", ON_PORT), OF_PORT),),
        ),
        Graph(
            title="Queues",
            description="Deepest state of each queue between two points; of samples, where a switch counts no peaks.",
            unit=unit(PEAK),
            queries=(_by_queue(f"{peak(PEAK, ON_PORT)} or {peak(DEPTH, ON_PORT)}"),),
        ),
        Graph(
            title="Marked packets",
            description="Share of packets of each queue that the switch marks with ECN.",
            unit="percentunit",
            limits=((LIMITS.ecn_marked, ORANGE),),
            queries=(_by_queue(selector("device_interface_queue:fabric_ecn_marked:ratio_rate1m", ON_PORT)),),
        ),
        Graph(
            title="Pause frames",
            description="Sent: this port paused its peer. Received: the peer paused this port.",
            unit="cps",
            queries=(
                _by_priority("fabric_pfc_transmit_frames_total", "sent"),
                _by_priority("fabric_pfc_receive_frames_total", "received"),
            ),
        ),
        Graph(
            title="Lost packets",
            description="Discards of the port and drops of its queues.",
            unit="pps",
            queries=(
                Query(rate("fabric_interface_receive_discards_total", ON_PORT), f"{OF_PORT} received"),
                Query(rate("fabric_interface_transmit_discards_total", ON_PORT), f"{OF_PORT} sent"),
                _by_queue(rate("fabric_queue_dropped_packets_total", ON_PORT)),
            ),
        ),
        Graph(
            title="Damaged packets",
            description="Packets that were received with errors.",
            unit="pps",
            queries=(Query(rate("fabric_interface_receive_errors_total", ON_PORT), OF_PORT),),
        ),
        Graph(
            title="Drops by reason",
            description="Packets that the switch dropped, by the reason that its chip counts.",
            unit="pps",
            queries=(Query(rate("fabric_device_dropped_packets_total"), "{{fabric}} {{device}} {{reason}}"),),
        ),
        StateTimeline(
            title="Port state",
            description="Operational state of each port.",
            width=8,
            queries=(Query(selector("fabric_interface_oper_up", ON_PORT), OF_PORT),),
            states=UP_STATES,
        ),
        Listing(
            title="Ports",
            description="Ports of the design with their peers; state and speed as the switch reports them.",
            queries=(
                Query(
                    "max by (fabric, device, interface, link, peer_device, peer_interface)"
                    f" ({selector('fabric_interface_info', ON_PORT, ON_RAIL)})"
                ),
                Query(f"max by (fabric, device, interface) ({selector('fabric_interface_oper_up', ON_PORT)})"),
                Query(
                    "8 * max by (fabric, device, interface)"
                    f" ({selector('fabric_interface_speed_bytes_per_second', ON_PORT)})"
                ),
            ),
            columns={
                "fabric": "Fabric",
                "device": "Switch",
                "interface": "Port",
                "link": "Link",
                "peer_device": "Peer",
                "peer_interface": "Peer port",
                "Value #B": "State",
                "Value #C": "Speed",
            },
            states={"State": UP_STATES},
            units={"Speed": "bps"},
            first="Port",
        ),
        Listing(
            title="Sessions of the switch",
            description="BGP sessions; an unnumbered one is named by its interface. With the prefixes that it sends.",
            queries=(
                Query(f"max by (fabric, device, peer) ({selector('fabric_bgp_session_state')})"),
                Query(f"sum by (fabric, device, peer) ({selector('fabric_bgp_prefixes', SENT)})"),
            ),
            columns={
                "fabric": "Fabric",
                "device": "Switch",
                "peer": "Peer",
                "Value #A": "BGP",
                "Value #B": "Prefixes sent",
            },
            states={"BGP": BGP_STATES},
            first="Peer",
        ),
    ),
    alerts=(
        *("FabricLinkDown", "FabricEcnMarkRatioHigh", "FabricPfcStormEstimated", "FabricInterfaceDiscards"),
        *("FabricReceiveErrors", "FabricQueueDrops", "FabricBgpSessionDown", "FabricHeadroomNearlyExhausted"),
    ),
    next={
        "congestion": "the port is marked or paused",
        "balance": "its neighbours are idle",
        "layer1": "it has errors or is down",
        "change": "its configuration differs",
    },
)

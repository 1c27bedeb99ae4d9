"""The first board: whether a fabric works, and which of the others to look at."""

from __future__ import annotations

from railfab.dashboards.board import RED, Board, Graph, Listing, Query, Tile
from railfab.dashboards.boards.parts import BFD_STATES, BGP_STATES, SILENT_DEVICES
from railfab.dashboards.promql import unit
from railfab.dashboards.selection import CHAIN, HOST_PORT, ON_RAIL, alerts, growth, joined, rate, selector

ECN_MARKS = "fabric_queue_ecn_marked_packets_total"
IN_POD, IS_LOSSLESS = 'pod!=""', 'priority!=""'
PFC_SENT, PFC_RECEIVED = "fabric_pfc_transmit_frames_total", "fabric_pfc_receive_frames_total"
LOSSLESS = f"and on (fabric, device, queue) {selector('fabric_roce_queue_info', IS_LOSSLESS)}"
UTILISATION = selector("device_interface:fabric_transmit_utilization:ratio_rate1m")
POD_OF_DEVICE = f"on (fabric, device) group_left (pod) {selector('fabric_device_info', IN_POD)}"
SESSIONS = selector("fabric_bgp_session_up")

TILES = (
    Tile(
        title="BGP sessions",
        description="Session ends that are established, and that are down.",
        queries=(Query(f"sum({SESSIONS})", "up"), Query(f"sum({SESSIONS} == bool 0)", "down")),
        limits=((1, RED),),
        limited="B",
    ),
    Tile(
        title="Links down",
        description="Interfaces that are enabled but down.",
        queries=(
            Query(
                f"sum(({selector('fabric_interface_admin_up')} - {selector('fabric_interface_oper_up')}) > bool 0)",
                "down",
            ),
        ),
        limits=((1, RED),),
    ),
    Tile(
        title="ECN marks",
        description="Packets marked because a queue was above kmin. Bursts under incast are normal.",
        unit=unit(ECN_MARKS),
        queries=(Query(f"sum({rate(ECN_MARKS)})", "marked"),),
    ),
    Tile(
        title="PFC frames",
        description="Pause frames sent and received by switches. Zero without congestion.",
        unit=unit(PFC_SENT),
        queries=(Query(f"sum({rate(PFC_SENT)})", "sent"), Query(f"sum({rate(PFC_RECEIVED)})", "received")),
    ),
    Tile(
        title="Lossless drops",
        description="Packets of lossless classes dropped in the time range, on arrival or in their queue."
        " Any drop is a fault.",
        queries=(
            Query(
                f"sum({growth('fabric_pfc_dropped_packets_total')}"
                f" or {growth('fabric_queue_dropped_packets_total')} {LOSSLESS})",
                "dropped",
            ),
        ),
        limits=((1, RED),),
    ),
    Tile(
        title="Silent switches",
        description="Switches without telemetry session or without update for 60 s. What they do is not known.",
        queries=(Query(f"sum({SILENT_DEVICES})", "silent"),),
        limits=((1, RED),),
    ),
)

FABRIC_BOARD = Board(
    name="fabric",
    title="Fabric",
    question="Does the fabric work, and where does it not?",
    reading=(
        "All numbers in the first row that can be red are 0, and no alert is active: the fabric works. Else begin with"
        " the alert at the top of the list; its runbook names the next step."
    ),
    variables=CHAIN,
    panels=(
        *TILES,
        Graph(
            title="Throughput by rail",
            description="Traffic from rail switches to hosts, by rail. A job loads all rails equally.",
            unit="bps",
            queries=(
                Query(f"8 * {selector('rail:fabric_transmit_bytes:rate1m', ON_RAIL)}", "{{fabric}} rail {{rail}}"),
            ),
        ),
        Graph(
            title="Utilisation by pod",
            description="Mean transmit utilisation of the ports of the switches of each pod.",
            unit="percentunit",
            at_most=1,
            queries=(Query(f"avg by (fabric, pod) ({UTILISATION} * {POD_OF_DEVICE})", "{{fabric}} {{pod}}"),),
        ),
        Graph(
            title="Busiest ports",
            description="The eight ports with the highest transmit utilisation.",
            unit="percentunit",
            at_most=1,
            queries=(Query(f"topk(8, {UTILISATION})", "{{fabric}} {{device}} {{interface}}"),),
        ),
        Listing(
            title="Alerts by switch",
            description="Number of active alerts of each switch: the switch with the most of them is rarely the cause"
            " alone.",
            queries=(Query(f"count by (fabric, device, severity) ({alerts()})"),),
            empty="none",
            columns={"fabric": "Fabric", "device": "Switch", "severity": "Severity", "Value": "Alerts"},
            first="Switch",
        ),
        Listing(
            title="BGP and BFD sessions",
            description="State of each session on the switch; an unnumbered session is named by its interface.",
            queries=(
                Query(f"max by (fabric, device, peer) ({selector('fabric_bgp_session_state')})"),
                Query(f"max by (fabric, device, peer) ({selector('fabric_bfd_session_up')})"),
            ),
            columns={"fabric": "Fabric", "device": "Switch", "peer": "Peer", "Value #A": "BGP", "Value #B": "BFD"},
            first="BGP",
            states={"BGP": BGP_STATES, "BFD": BFD_STATES},
        ),
        Listing(
            title="Hosts",
            description="Ports towards hosts: what the switch sends to each, and the rail that it is on.",
            queries=(
                Query(
                    "max by (fabric, rail, peer_device, device, interface)"
                    f" ({joined(UTILISATION, 'rail, peer_device', HOST_PORT, ON_RAIL)})"
                ),
            ),
            columns={
                "fabric": "Fabric",
                "peer_device": "Host",
                "rail": "Rail",
                "device": "Switch",
                "interface": "Port",
                "Value": "Utilisation",
            },
            units={"Utilisation": "percentunit"},
            first="Host",
            width=24,
        ),
    ),
    alerts=(),
    next={
        "jobs": "a job is slow",
        "rail": "one rail carries less",
        "congestion": "marks, pauses or drops",
        "layer1": "links are down or flap",
        "change": "it began with a change",
        "collector": "switches are silent",
    },
)

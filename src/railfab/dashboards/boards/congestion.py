"""Congestion of the fabric: marks, pauses, queues and headroom."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import LIMITS
from railfab.dashboards.board import ORANGE, RED, Board, Graph, Query
from railfab.dashboards.promql import unit
from railfab.dashboards.selection import CHAIN, HOST_PORT, growth, joined, peak, rate, selector

PEAK, DEPTH = "fabric_queue_depth_peak_bytes", "fabric_queue_depth_bytes"
SENT, RECEIVED = (selector(f"device:fabric_pfc_{direction}_frames:rate1m") for direction in ("transmit", "receive"))
HEADROOM = (
    f"({peak('fabric_buffer_headroom_peak_bytes')} or {peak('fabric_buffer_headroom_used_bytes')})"
    f" / ({selector('fabric_buffer_headroom_size_bytes')} > 0)"
)
BY_QUEUE, BY_DEVICE = "{{fabric}} {{device}} {{queue}}", "{{fabric}} {{device}}"
BY_PORT = "{{fabric}} {{device}} {{interface}}"

CONGESTION = Board(
    name="congestion",
    title="Congestion",
    question="Where does congestion begin, and is it resolved without loss?",
    reading=(
        "Marks alone are healthy: senders slow down. Pauses follow where marks are too late or too few. The switch that"
        " sends pauses and receives none is next to the cause: its egress port with the deepest queue is the"
        " bottleneck. Headroom that is used up becomes drops."
    ),
    variables=CHAIN,
    panels=(
        Graph(
            title="ECN ratio",
            description="Share of marked packets, of the queue of each switch with the highest share. Above the line"
            " for long: congestion that senders do not resolve.",
            unit="percentunit",
            limits=((LIMITS.ecn_marked, ORANGE),),
            queries=(
                Query(
                    "max by (fabric, device, queue)"
                    f" ({selector('device_interface_queue:fabric_ecn_marked:ratio_rate1m')})",
                    BY_QUEUE,
                ),
            ),
        ),
        Graph(
            title="Queue depth, peak",
            description="Deepest egress queue by switch and traffic class; of samples, where a switch counts no peaks."
            " Compare with kmin, where ECN marking starts, and with xoff.",
            unit=unit(PEAK),
            queries=(Query(f"max by (fabric, device, queue) ({peak(PEAK)} or {peak(DEPTH)})", BY_QUEUE),),
        ),
        Graph(
            title="Deepest queues",
            description="The eight ports with the deepest queue.",
            unit=unit(PEAK),
            queries=(Query(f"topk(8, max by (fabric, device, interface) ({peak(PEAK)} or {peak(DEPTH)}))", BY_PORT),),
        ),
        Graph(
            title="PFC frames sent",
            description="Pause frames by sending switch. Congestion starts at one that sends them and is not paused"
            " itself.",
            unit="cps",
            queries=(Query(SENT, BY_DEVICE),),
        ),
        Graph(
            title="PFC frames sent and not received",
            description="Pause frames that a switch sends beyond those that it receives: where it is highest,"
            " congestion begins.",
            unit="cps",
            at_least=None,
            queries=(Query(f"{SENT} - on (fabric, device) {RECEIVED}", BY_DEVICE),),
        ),
        Graph(
            title="Ports that are paused",
            description="The eight ports that receive most pause frames, with the peer that sends them.",
            unit="cps",
            queries=(
                Query(
                    "topk(8, "
                    + joined(
                        f"sum by (fabric, device, interface) ({rate('fabric_pfc_receive_frames_total')})", "peer_device"
                    )
                    + ")",
                    BY_PORT + " by {{peer_device}}",
                ),
            ),
        ),
        Graph(
            title="Paused time, estimated",
            description="Share of time that the most paused port of each switch was paused. An upper bound: every"
            " counted frame is assumed to pause for the maximum time at port speed.",
            unit="percentunit",
            at_most=1,
            limits=((LIMITS.paused, RED),),
            queries=(
                Query(
                    "max by (fabric, device, priority)"
                    f" ({selector('device_interface_priority:fabric_pfc_paused_estimated:ratio_rate1m')})",
                    "{{fabric}} {{device}} priority {{priority}}",
                ),
            ),
        ),
        Graph(
            title="Headroom used",
            description="Used share of the PFC headroom, of the port of each switch with the highest share. At 100 %"
            " packets of lossless classes are dropped.",
            unit="percentunit",
            at_most=1,
            limits=((0.8, ORANGE),),
            queries=(Query(f"max by (fabric, device) ({HEADROOM})", BY_DEVICE),),
        ),
        Graph(
            title="Drops",
            description="Packets dropped in lossless classes on arrival, and in queues of any class.",
            unit="pps",
            queries=(
                Query(f"sum by (fabric, device) ({rate('fabric_pfc_dropped_packets_total')})", f"{BY_DEVICE} lossless"),
                Query(
                    f"sum by (fabric, device, queue) ({rate('fabric_queue_dropped_packets_total')})",
                    BY_QUEUE,
                ),
            ),
        ),
        Graph(
            title="Storms stopped by the watchdog",
            description="Times that the PFC watchdog found a lossless queue stuck, in the time range.",
            queries=(
                Query(
                    f"sum by (fabric, device) ({growth('fabric_pfc_watchdog_storms_detected_total')})",
                    BY_DEVICE,
                ),
            ),
        ),
        Graph(
            title="Receivers under incast",
            description="The eight ports towards hosts with most marked packets: many senders send to one receiver.",
            unit="pps",
            queries=(
                Query(
                    "topk(8, "
                    + joined(
                        f"sum by (fabric, device, interface) ({rate('fabric_queue_ecn_marked_packets_total')})",
                        "peer_device",
                        HOST_PORT,
                    )
                    + ")",
                    "{{fabric}} {{peer_device}} ({{device}} {{interface}})",
                ),
            ),
        ),
        Graph(
            title="Traffic by queue",
            description="Traffic of each queue. RoCE in another queue than its own is neither marked nor paused.",
            unit="bps",
            queries=(
                Query(
                    f"8 * sum by (fabric, queue) ({rate('fabric_queue_transmit_bytes_total')})", "{{fabric}} {{queue}}"
                ),
            ),
        ),
    ),
    alerts=(
        *("FabricEcnMarkRatioHigh", "FabricPfcStormEstimated", "FabricPfcPauseImbalance", "FabricPfcWithoutEcn"),
        *("FabricPfcWatchdogTriggered", "FabricHeadroomNearlyExhausted", "FabricHostPauses", "FabricLosslessDrops"),
        *("FabricQueueDrops", "FabricRoceOutsideItsClass"),
    ),
    next={
        "port": "one port is the bottleneck",
        "balance": "uplinks are the bottleneck",
        "rail": "hosts send the pauses",
        "change": "thresholds differ from the intent",
    },
)

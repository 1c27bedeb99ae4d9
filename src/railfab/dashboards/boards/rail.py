"""Rails beside each other, and the host ports of a rail."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import LIMITS
from railfab.dashboards.board import ORANGE, Board, Graph, Query
from railfab.dashboards.selection import CHAIN, HOST_PORT, ON_RAIL, joined, rate, selector

RAILS = selector("rail:fabric_transmit_bytes:rate1m", ON_RAIL)
ALL_RAILS = selector("rail:fabric_transmit_bytes:rate1m")
MOST, LEAST = (f"{function} by (fabric) ({ALL_RAILS})" for function in ("max", "min"))
HOST = "rail, peer_device"
SENT = selector("device_interface:fabric_transmit_utilization:ratio_rate1m")
RECEIVED = selector("device_interface:fabric_receive_utilization:ratio_rate1m")
OF_HOST = "{{fabric}} {{peer_device}} rail {{rail}} ({{device}} {{interface}})"


def _of_hosts(series: str, labels: str = HOST) -> str:
    return joined(series, labels, HOST_PORT, ON_RAIL)


RAIL_BOARD = Board(
    name="rail",
    title="Rail",
    question="Do all rails carry the same load, and which host port differs?",
    reading=(
        "Rails apart: choose the one with less traffic, and look for the host port that carries least. A port that is"
        " paused by its host is slow behind the NIC; one without traffic is down, miscabled, or not in the job's rings."
    ),
    variables=CHAIN,
    panels=(
        Graph(
            title="Throughput of rails",
            description="Traffic from rail switches to hosts. A job loads all rails equally.",
            unit="bps",
            queries=(Query(f"8 * {RAILS}", "{{fabric}} rail {{rail}}"),),
        ),
        Graph(
            title="Rail skew",
            description="Difference between the most and the least loaded rail, as share of the most loaded one. Above"
            " the line for long: a broken or miscabled NIC, or rings that do not span all rails.",
            unit="percentunit",
            at_most=1,
            limits=((LIMITS.rail_asymmetry, ORANGE),),
            queries=(Query(f"({MOST} - {LEAST}) / ({MOST} > 0)", "{{fabric}}"),),
        ),
        Graph(
            title="Jain index of rails",
            description="1 where all rails carry the same; one part in n where one of n rails carries all. No value"
            " without traffic.",
            at_most=1,
            queries=(Query(selector("fabric:fabric_rail_transmit:jain_rate1m"), "{{fabric}}"),),
        ),
        Graph(
            title="Host ports that send least",
            description="The eight ports whose hosts send least, as share of the speed. In a ring all send the same.",
            unit="percentunit",
            at_most=1,
            queries=(Query(f"bottomk(8, {_of_hosts(RECEIVED)})", OF_HOST),),
        ),
        Graph(
            title="Host ports that receive most",
            description="The eight ports whose hosts receive most, as share of the speed. One alone at its full speed:"
            " many senders send to one receiver.",
            unit="percentunit",
            at_most=1,
            queries=(Query(f"topk(8, {_of_hosts(SENT)})", OF_HOST),),
        ),
        Graph(
            title="Pauses from hosts",
            description="Pause frames that hosts send, of the eight ports with most. A host takes less than its NIC"
            " receives: PCIe, memory or NIC.",
            unit="cps",
            queries=(
                Query(
                    "topk(8, "
                    + _of_hosts(
                        f"sum by (fabric, device, interface) ({rate('fabric_pfc_receive_frames_total')})",
                    )
                    + ")",
                    OF_HOST,
                ),
            ),
        ),
        Graph(
            title="Host ports down",
            description="Ports towards hosts that are enabled but down, by rail.",
            queries=(
                Query(
                    "sum by (fabric, rail) ("
                    + joined(
                        f"({selector('fabric_interface_admin_up')} > {selector('fabric_interface_oper_up')}"
                        f" or 0 * {selector('fabric_interface_oper_up')})",
                        "rail",
                        HOST_PORT,
                        ON_RAIL,
                    )
                    + ")",
                    "{{fabric}} rail {{rail}}",
                ),
            ),
        ),
        Graph(
            title="ECN marks towards hosts",
            description="Share of marked packets of the most marked queue towards a host, by rail.",
            unit="percentunit",
            limits=((LIMITS.ecn_marked, ORANGE),),
            queries=(
                Query(
                    "max by (fabric, rail) ("
                    + _of_hosts(selector("device_interface_queue:fabric_ecn_marked:ratio_rate1m"), "rail")
                    + ")",
                    "{{fabric}} rail {{rail}}",
                ),
            ),
        ),
        Graph(
            title="Discards towards and from hosts",
            description="Packets that ports towards hosts discard in both directions, by rail.",
            unit="pps",
            queries=tuple(
                Query(
                    f"sum by (fabric, rail) ({_of_hosts(rate(name), 'rail')})",
                    f"{{{{fabric}}}} rail {{{{rail}}}} {word}",
                )
                for name, word in (
                    ("fabric_interface_transmit_discards_total", "towards"),
                    ("fabric_interface_receive_discards_total", "from"),
                )
            ),
        ),
    ),
    alerts=("FabricRailAsymmetry", "FabricHostPauses", "FabricLinkDown", "FabricPortDisabled", "FabricCablingMismatch"),
    next={
        "port": "one port differs",
        "congestion": "a rail is marked or paused",
        "layer1": "a host port is down",
        "jobs": "steps of a job are slow",
    },
)

"""Layer 1: bit errors, light and flaps of links."""

from __future__ import annotations

from railfab.dashboards.board import ORANGE, Board, Graph, Listing, Query, StateTimeline
from railfab.dashboards.boards.parts import UP_STATES
from railfab.dashboards.selection import CHAIN, growth, joined, rate, selector

OF_PORT = "{{fabric}} {{device}} {{interface}}"
BY_PORT = "by (fabric, device, interface)"
NEIGHBOR = "on (fabric, device, interface, peer_device, peer_interface)"
INTENDED = selector("fabric_link_intended_info", 'link!="host"')
BER, CODEWORDS = "fabric_interface_pre_fec_ber_ratio", "fabric_interface_fec_uncorrected_codewords_total"

LAYER1 = Board(
    name="layer1",
    title="Layer 1",
    question="Which link is damaged or about to fail, and at which end?",
    reading=(
        "Errors belong to the direction in which they are received. Weak light at a receiver while the other end sends"
        " as usual: connector or fibre. Weak light that is sent: the optic at the other end. Errors with good light:"
        " optic or port of the receiver. A link that flaps is worse than one that is down: drain it first."
    ),
    variables=CHAIN,
    panels=(
        Graph(
            title="Bit errors before FEC",
            description="The eight ports with the largest share of wrong bits. Optics of 400G always have some: a rise"
            " of ten times is a fault.",
            unit="sci",
            queries=(Query(f"topk(8, {selector(BER)})", OF_PORT),),
        ),
        Graph(
            title="Bit errors against the best hour",
            description="Share of wrong bits as multiple of the best minute of the last hour, of the eight ports with"
            " the largest rise.",
            limits=((10, ORANGE),),
            queries=(
                Query(
                    f"topk(8, {selector(BER)} / (min_over_time({selector(BER)}[1h]) + 1e-12))",
                    OF_PORT,
                ),
            ),
        ),
        Graph(
            title="Codewords beyond FEC",
            description="Codewords that error correction could not correct, of the eight ports with most. Each is a"
            " lost packet.",
            unit="cps",
            queries=(Query(f"topk(8, {rate(CODEWORDS)})", OF_PORT),),
        ),
        Graph(
            title="Light received",
            description="Light of the weakest lane of the eight ports that receive least, in dBm.",
            unit="dBm",
            at_least=None,
            queries=(Query(f"bottomk(8, min {BY_PORT} ({selector('fabric_optic_receive_power_dbm')}))", OF_PORT),),
        ),
        Graph(
            title="Light sent",
            description="Light of the weakest lane of the eight ports that send least, in dBm.",
            unit="dBm",
            at_least=None,
            queries=(Query(f"bottomk(8, min {BY_PORT} ({selector('fabric_optic_transmit_power_dbm')}))", OF_PORT),),
        ),
        Graph(
            title="Light lost on the way",
            description="Light that the other end sends less what the weakest lane receives, in dB, of the eight links"
            " that lose most: connectors and fibre.",
            unit="dB",
            at_least=None,
            queries=(
                Query(
                    "topk(8, "
                    + joined(selector("device_interface:fabric_optic_attenuation:difference"), "peer_device")
                    + ")",
                    OF_PORT + " from {{peer_device}}",
                ),
            ),
        ),
        Graph(
            title="Damaged frames",
            description="Frames with a wrong check sequence, and packets with other errors: the eight ports with most.",
            unit="pps",
            queries=(
                Query(f"topk(8, {rate('fabric_interface_receive_fcs_errors_total')})", f"{OF_PORT} check sequence"),
                Query(f"topk(8, {rate('fabric_interface_receive_errors_total')})", OF_PORT),
            ),
        ),
        Graph(
            title="Flaps",
            description="Changes of the link state in ten minutes, of the eight ports with most; down and up again are"
            " two.",
            limits=((4, ORANGE),),
            queries=(
                Query(
                    f"topk(8, increase({selector('fabric_interface_carrier_transitions_total')}[10m]))",
                    OF_PORT,
                ),
            ),
        ),
        StateTimeline(
            title="Links that changed",
            description="State of the ports whose link changed in the last hour; the eight with most changes.",
            width=8,
            queries=(
                Query(
                    f"{selector('fabric_interface_oper_up')} and on (fabric, device, interface)"
                    f" topk(8, changes({selector('fabric_interface_oper_up')}[1h]))",
                    OF_PORT,
                ),
            ),
            states=UP_STATES,
        ),
        Listing(
            title="Links",
            description="Every port of the design with its state, the changes of its link in the time range, and the"
            " light that is lost on the way.",
            queries=(
                Query(
                    "max by (fabric, device, interface, peer_device)"
                    f" ({joined(selector('fabric_interface_oper_up'), 'peer_device')})"
                ),
                Query(f"max {BY_PORT} ({growth('fabric_interface_carrier_transitions_total')})"),
                Query(f"max {BY_PORT} ({selector('device_interface:fabric_optic_attenuation:difference')})"),
            ),
            columns={
                "fabric": "Fabric",
                "device": "Switch",
                "interface": "Port",
                "peer_device": "Peer",
                "Value #A": "State",
                "Value #B": "Changes",
                "Value #C": "Light lost",
            },
            states={"State": UP_STATES},
            units={"Light lost": "dB"},
            first="State",
        ),
        Listing(
            title="Cabling",
            description="Links between switches of the design, and whether LLDP reports the same neighbour (1) or"
            " another one, or none (0).",
            queries=(
                Query(
                    "min by (fabric, device, interface, peer_device, peer_interface) ("
                    f"{INTENDED} and {NEIGHBOR} {selector('fabric_lldp_neighbor_info')}"
                    f" or on (fabric, device, interface) 0 * {INTENDED})"
                ),
            ),
            columns={
                "fabric": "Fabric",
                "device": "Switch",
                "interface": "Port",
                "peer_device": "Intended peer",
                "peer_interface": "Peer port",
                "Value": "As intended",
            },
            first="As intended",
        ),
    ),
    alerts=("FabricFecDegraded", "FabricReceiveErrors", "FabricLinkFlap", "FabricLinkDown", "FabricCablingMismatch"),
    next={
        "port": "one link is damaged",
        "balance": "its load moved to other links",
        "change": "cables or ports were changed",
    },
)

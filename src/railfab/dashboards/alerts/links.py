"""Alerts on ports, links and cabling."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import LIMITS, NUMBER, PORT
from railfab.dashboards.promql import held
from railfab.dashboards.rules import Alert, AlertSeverity, Silence

NEIGHBOR = held("fabric_lldp_neighbor_info", "30s")
"""A neighbour that is gone is a mismatch soon; where a switch is silent, all of its neighbours are gone."""

LINKS = (
    Alert(
        alert="FabricLinkDown",
        condition=(
            f"{held('fabric_interface_oper_up')} == 0 and {held('fabric_interface_admin_up')} == 1\n"
            "and on (fabric, device, interface) fabric_interface_info"
        ),
        silence=Silence.PORT,
        lasting="1m",
        severity=AlertSeverity.CRITICAL,
        summary=f"{PORT} is enabled but down",
        description=(
            "The port has no link. Check the other end, then optics and cable; the cabling plan of `railfab plan` names"
            " the peer."
        ),
    ),
    Alert(
        alert="FabricPortDisabled",
        condition=(
            f"{held('fabric_interface_admin_up')} == 0\nand on (fabric, device, interface) fabric_link_intended_info"
        ),
        silence=Silence.PORT,
        lasting="1m",
        severity=AlertSeverity.CRITICAL,
        summary=f"{PORT} is disabled, but the intent uses it",
        description=(
            "The configuration disables a port that the intent uses; its link is down, and the far end reports a link"
            " that is down. Show the difference with `railfab deploy --plan`, and deploy the intent if it is not on"
            " purpose."
        ),
    ),
    Alert(
        alert="FabricLinkFlap",
        condition="increase(fabric_interface_carrier_transitions_total[10m]) >= 4",
        silence=Silence.PORT,
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} changed state {NUMBER} times in 10 minutes",
        description=(
            f"The link went down and up at least twice ({NUMBER} changes in 10 minutes); sessions and flows move every"
            " time. Drain the link, then check optics, cable and the log of the peer."
        ),
    ),
    Alert(  # optics of 400G have bit errors at their best: a port is compared with its own past
        alert="FabricFecDegraded",
        condition=(
            "increase(fabric_interface_fec_uncorrected_codewords_total[1m]) > 0\n"
            "or fabric_interface_pre_fec_ber_ratio"
            f" > 1e-9 + {LIMITS.bit_errors:g} * min_over_time(fabric_interface_pre_fec_ber_ratio[1h])"
        ),
        silence=Silence.PORT,
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} receives with more bit errors than before",
        description=(
            "Forward error correction cannot correct some codewords, or ten times as many bits are wrong before it as"
            ' in the best minute of the last hour ({{ printf "%.2g" $value }}, codewords a minute or share of bits).'
            " Clean the connectors of this direction of the link, then swap the optics."
        ),
    ),
    Alert(  # ports that are down, without LLDP neighbour or towards a host are not compared
        alert="FabricCablingMismatch",
        condition=(
            'fabric_link_intended_info{link!="host"}\n'
            f"unless on (fabric, device, interface, peer_device, peer_interface) {NEIGHBOR}\n"
            f"and on (fabric, device) {NEIGHBOR}\n"
            f"and on (fabric, device, interface) {held('fabric_interface_oper_up')} == 1"
        ),
        silence=Silence.PORT,
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary=f"{PORT} is not cabled to {{{{ $labels.peer_device }}}} {{{{ $labels.peer_interface }}}}",
        description=(
            "LLDP reports another neighbour than the design, or none on this port. Compare"
            " the cabling plan of `railfab plan` with the LLDP neighbours of the switch, and correct the cable, not the"
            " configuration."
        ),
    ),
)

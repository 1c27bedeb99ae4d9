"""Alerts on routing: daemons, BGP, BFD, prefixes."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import DEVICE, NUMBER
from railfab.dashboards.promql import held
from railfab.dashboards.rules import Alert, AlertSeverity, Silence

PREFIXES = "device:fabric_bgp_prefixes:max"

ROUTING = (
    Alert(
        alert="FabricDaemonDown",
        condition=f"{held('fabric_daemon_up')} == 0",
        lasting="30s",
        severity=AlertSeverity.CRITICAL,
        summary=f"{DEVICE}: {{{{ $labels.daemon }}}} does not run or does not answer",
        description=(
            "A routing daemon of this switch has ended or is stuck, and its sessions have no series any more. Read its"
            " log, then restart it; in a lab with `railfab lab restart`."
        ),
    ),
    Alert(
        alert="FabricBgpSessionDown",
        condition=f"{held('fabric_bgp_session_up')} == 0",
        silence=Silence.PEER,
        lasting="30s",
        severity=AlertSeverity.CRITICAL,
        summary=f"{DEVICE}: the BGP session with {{{{ $labels.peer }}}} is down",
        description=(
            "Paths over this neighbour are lost, and others carry its traffic. If the link is up, compare AS number,"
            " address family and BFD of both ends with `railfab verify`."
        ),
    ),
    Alert(
        alert="FabricBgpFlapping",
        condition="increase(fabric_bgp_established_transitions_total[15m]) > 3",
        silence=Silence.PEER,
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE}: the BGP session with {{{{ $labels.peer }}}} came up {NUMBER} times in 15 minutes",
        description=(
            f"The session is unstable: it came up {NUMBER} times in 15 minutes. First check for link flaps and BFD"
            " failures on the same port, then for a busy control plane or a policy that resets the session."
        ),
    ),
    Alert(  # where BGP is down too, the alert on it is enough
        alert="FabricBfdDown",
        condition=(
            f"{held('fabric_bfd_session_up')} == 0\nand on (fabric, device, peer) {held('fabric_bgp_session_up')} == 1"
        ),
        silence=Silence.PEER,
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE}: BFD with {{{{ $labels.peer }}}} is down while BGP is up",
        description=(
            "BGP notices a failure of this link only after its hold time instead of some hundred milliseconds, and"
            " traffic is lost until then. Compare BFD of both ends with `railfab verify`."
        ),
    ),
    Alert(
        alert="FabricPrefixesLost",
        condition=f"max_over_time({PREFIXES}[1h]) - {PREFIXES} > 0",
        silence=Silence.FABRIC,
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE} lost {NUMBER} prefixes that it had, with its BGP sessions up",
        description=(
            f"{NUMBER} prefixes that this switch had within the last hour are gone though sessions are up, and their"
            " hosts cannot be reached. Look for the switch that announces them: a host port that is down or has another"
            " address, a policy that denies, a loopback without address."
        ),
    ),
)

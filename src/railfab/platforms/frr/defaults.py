"""Lines that state a default of FRR 8.4, which `show running-config` hides, and two that it shows.

Each was loaded into FRR 8.4 with `frr defaults datacenter`. Other profiles have other defaults (doc/user/bgp.rst,
profiles), so that the lines of a configuration with another one stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from railfab.platforms.shared.line_tree import Line

PROFILE = "datacenter"
BGP = frozenset(
    (
        *("bgp network import-check", "bgp default show-hostname", "bgp default show-nexthop-hostname"),
        *("bgp log-neighbor-changes", "bgp deterministic-med", "bgp suppress-duplicates", "bgp default ipv4-unicast"),
        *("bgp hard-administrative-reset", "bgp graceful-restart notification", "bgp default local-preference 100"),
        *("bgp listen limit 100", "bgp graceful-restart stalepath-time 360", "bgp graceful-restart restart-time 120"),
        *("bgp graceful-restart select-defer-time 360", "update-delay 0", "read-quanta 10", "write-quanta 64"),
        *("bgp default subgroup-pkt-queue-max 40", "bgp route-map delay-timer 5"),
        *("bgp conditional-advertisement timer 60", "distance bgp 20 200 200"),
    )
)
"""Lines of a router and of its address families."""
BFD = frozenset({"minimum-ttl 254", "echo receive-interval 50", "echo transmit-interval 50", "no minimum-ttl"})
"""Lines of a BFD profile."""
TOP = frozenset(
    {
        "no ip nht resolve-via-default",
        "no ipv6 nht resolve-via-default",
        "zebra nexthop-group keep 180",
        "bgp session-dscp 48",
    }
)
"""Lines outside of sections."""
_OFF = re.compile(
    r"no (?P<setting>bgp (?:always-compare-med|bestpath (?:compare-routerid|med missing-as-worst)|shutdown|dampening"
    r"|graceful-shutdown|graceful-restart|confederation identifier|cluster-id|fast-convergence|reject-as-sets)"
    r"|neighbor \S+ (?:shutdown|passive|enforce-first-as|override-capability|dont-capability-negotiate|next-hop-self"
    r"|allowas-in|as-override|soft-reconfiguration inbound|remove-private-AS|default-originate|password|ttl-security.*"
    r"|ebgp-multihop|local-as|update-source|disable-connected-check|strict-capability-match|solo|tcp-mss|weight"
    r"|route-reflector-client|route-server-client|addpath-tx-\S+|maximum-prefix|graceful-restart.*|attribute-unchanged"
    r"|capability dynamic))"
)
"""Lines that switch off what is off."""
SHOWN: Mapping[str, str] = {"timers connect": "10", "advertisement-interval": "0"}
"""Settings of a session whose default FRR shows where it is stated, with the default."""
_SHOWN = re.compile(rf"neighbor \S+ (?P<setting>{'|'.join(SHOWN)}) (?P<value>\d+)")


def profile_of(lines: Iterable[Line]) -> str:
    """The profile of a configuration; FRR's own where it states none."""
    return next((line.text.split()[2] for line in lines if line.text.startswith("frr defaults ")), "traditional")


def without_bgp_defaults(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines of a router or an address family without those that state a default. A line that switches off what
    another one switches on stays."""
    texts = {line.text for line in lines}
    for line in lines:
        off = _OFF.fullmatch(line.text)
        is_default = line.text in BGP and f"no {line.text}" not in texts
        is_off = off is not None and not any(text.startswith(off["setting"]) for text in texts)
        if not (is_default or is_off):
            yield line


def with_shown_defaults(text: str, lines: Sequence[Line], rendered: Sequence[Line]) -> str:
    """The text in which sessions state a default where the other one does, and only there.

    lines: of the text.
    """
    if profile_of(lines) != PROFILE:
        return text
    stated, wanted = _defaults(lines), _defaults(rendered)
    for _, line in sorted(stated - wanted):
        text = re.sub(rf"(?m)^ {re.escape(line)}\s*\n", "", text)
    for router, line in sorted(wanted - stated):
        if not re.search(rf"(?m)^ {re.escape(line.rpartition(' ')[0])} ", text):
            text = re.sub(rf"(?m)^{re.escape(router)}$", rf"\g<0>\n {line}", text, count=1)
    return text


def _defaults(lines: Iterable[Line]) -> set[tuple[str, str]]:
    """Each router, and its lines that state a default which FRR shows."""
    return {
        (router.text, line.text)
        for router in lines
        if router.text.startswith("router bgp ")
        for line in router.children
        if (match := _SHOWN.fullmatch(line.text)) and SHOWN[match["setting"]] == match["value"]
    }

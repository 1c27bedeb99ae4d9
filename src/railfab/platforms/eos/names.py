"""EOS's names of what a device model names: interfaces, port speeds, communities, severities, Ethernet segments."""

from __future__ import annotations

import re
from functools import lru_cache

from railfab.device import LOOPBACK, Fec
from railfab.platforms.shared.native_names import NativeNames

_NAMES = NativeNames(loopback="Loopback", lag="Port-Channel", vlan="Vlan")
native_name = lru_cache(maxsize=8192)(_NAMES.device_name)
interface_name = lru_cache(maxsize=8192)(_NAMES.interface_name)

_CAGE = re.compile(r"(Ethernet\d+)/1")

VXLAN_INTERFACE = "Vxlan1"
SOURCE = LOOPBACK
PEER_VLAN = 4094
"""VLAN of the peer link of an MLAG pair, as in Arista's examples (EOS User Manual, Multi-Chassis Link Aggregation)."""

CAGE_LANES = 8
"""Lanes of a QSFP-DD or OSFP cage; EOS numbers them Ethernet1/1 to Ethernet1/8 (EOS User Manual, Layer 1 Profiles)."""

GATEWAY_MAC = "00:1c:73:00:00:99"
"""Virtual MAC address of anycast gateways where a model states none: the one of Arista's examples."""

LANES = {800: 8, 400: 8, 200: 4, 100: 4, 50: 2, 40: 4}
"""Lanes that a whole cage uses at a speed; speeds of one lane have none in their name."""

SPEEDS = frozenset(
    {
        *("10g", "25g", "40g", "40g-4", "50g-1", "50g-2", "100g-1", "100g-2", "100g-4"),
        *("200g-1", "200g-2", "200g-4", "400g-2", "400g-4", "400g-8", "800g-4", "800g-8"),
    }
)
"""Names of speeds (PyAVD 6.4.0, eos_cli_config_gen, ethernet_interfaces[].speed)."""

FECS = {
    Fec.OFF: "no error-correction encoding",
    Fec.BASE_R: "error-correction encoding fire-code",
    Fec.RS_528: "error-correction encoding reed-solomon",
}
"""RS(544,514) has no word of its own: `reed-solomon` is the code that belongs to the speed."""

SEVERITIES = {
    "emergency": "emergencies",
    "alert": "alerts",
    "critical": "critical",
    "error": "errors",
    "warning": "warnings",
    "notice": "notifications",
    "informational": "informational",
    "debug": "debugging",
}
"""EOS's names of the severities of RFC 5424 (PyAVD 6.4.0, logging.trap)."""

COMMUNITIES = {"graceful-shutdown": "GSHUT", "local-AS": "local-as"}
"""Well-known communities that EOS names differently (PyAVD 6.4.0, ip_community_lists[].entries[].communities)."""

_COMMUNITY_NAMES = {native: name for name, native in COMMUNITIES.items()}


@lru_cache(maxsize=64)
def speed_name(rate_gbps: int, lanes: int | None = None) -> str:
    """`400g-8`. lanes: the most that a port of a breakout has; None for a whole cage."""
    most = LANES.get(rate_gbps, 1) if lanes is None else lanes
    for count in (8, 4, 2, 1):
        if count <= most and f"{rate_gbps}g-{count}" in SPEEDS:
            return f"{rate_gbps}g-{count}"
    return f"{rate_gbps}g"


@lru_cache(maxsize=1024)
def cage_ports(cage: str, lanes: int) -> tuple[str, ...]:
    """The ports of a cage that is split into `lanes` of them: each has the name of its first lane."""
    match = _CAGE.fullmatch(cage)
    if match is None or CAGE_LANES % lanes:
        return (cage,)
    return tuple(f"{match[1]}/{1 + place * CAGE_LANES // lanes}" for place in range(lanes))


def community(name: str) -> str:
    """A community as EOS writes it."""
    return COMMUNITIES.get(name, name)


def community_name(native: str) -> str:
    """A community as every model has it."""
    return _COMMUNITY_NAMES.get(native, native)


def segment_identifier(esi: str) -> str:
    """`0000:0000:0001:0001:0005` of `00:00:00:00:00:01:00:01:00:05`: EOS writes five groups."""
    octets = esi.split(":")
    return ":".join(high + low for high, low in zip(octets[::2], octets[1::2], strict=True))


def esi_of(identifier: str) -> str:
    """The identifier in octets. Raises ValueError for text that has not five groups of four digits."""
    if not re.fullmatch(r"[0-9a-fA-F]{4}(:[0-9a-fA-F]{4}){4}", identifier):
        raise ValueError(f"{identifier} is not five groups of four hexadecimal digits")
    return ":".join(f"{group[:2]}:{group[2:]}" for group in identifier.lower().split(":"))


def segment_target(esi: str) -> str:
    """The ES-import route target of a segment: its low six octets, which differ from segment to segment, as in Arista's
    designs. EOS derives none by itself from an identifier of type 0."""
    return ":".join(esi.split(":")[4:])


DEFAULT_PROFILE = "default"
"""QoS profile of ports whose thresholds are the switch's own; no port profile of a model has this name."""


JERICHO = "Jericho"
"""First word of the chips with virtual output queues, those of 7280R3 and 7800R3 switches."""


def queue_section(silicon: str) -> str:
    """The section of a transmit queue: of unicast packets on Trident and Tomahawk chips, of all packets on a Jericho.

    Source: PyAVD 6.4.0, qos_profiles[].uc_tx_queues and qos_profiles[].tx_queues; EOS User Manual, Quality of Service,
    `uc-tx-queue` (Trident and Tomahawk) and `tx-queue` (Arad and Jericho).
    """
    return "tx-queue" if silicon.startswith(JERICHO) else "uc-tx-queue"


def default_traffic_class(dscp: int) -> int:
    """The traffic class of a code point that no line names: its class selector, but 1 of 0 to 7 and 0 of 8 to 15.

    Source: EOS User Manual, Quality of Service, default DSCP to traffic class map.
    """
    selector = dscp // 8
    return 1 - selector if selector < 2 else selector


INTERFACES = ("Ethernet", "Loopback", "Management", "Port-Channel", "Vlan", "Vxlan")
_TYPED = re.compile(r"interface ([A-Za-z-]+) ?(\d\S*)")


def full_interface(line: str) -> str:
    """A line that opens an interface, with the name in full: `interface Ethernet1/1` of `interface et1/1`."""
    match = _TYPED.fullmatch(line)
    if match is None:
        return line
    kinds = [kind for kind in INTERFACES if kind.lower().startswith(match[1].lower())]
    return f"interface {kinds[0]}{match[2]}" if len(kinds) == 1 else line

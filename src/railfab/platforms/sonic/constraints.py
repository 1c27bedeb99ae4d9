"""Constraints of SONiC's models between fields (`must`, `when`), for the tables that railfab writes.

The messages are theirs, where they have any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from railfab.platforms.sonic.tables import SEPARATOR, TRUE, Row, Tables, key, row, values

COLOURS = ("green", "yellow", "red")
ADDRESSED = ("INTERFACE", "LOOPBACK_INTERFACE", "VLAN_INTERFACE")
"""Tables whose rows with an address may state its family."""

CHASSIS, SEVERAL_CHIPS = ("voq", "chassis-packet", "fabric"), ("msft_four_asic_vs", "msft_multi_asic_vs")
"""Values of `switch_type`, and of `hwsku`, of switches with several chips."""
VOQ_PARTS, NUMBERED_PARTS = 4, 4
"""Parts of the key of a queue on a VOQ switch, and of an entry of a prefix list with a number."""
LOCAL_QUEUE = (
    "Local VOQ_QUEUE entry (matching DEVICE_METADATA/localhost hostname and asic_name) must reference an existing PORT."
)
NO_ESI = ":".join(["00"] * 10)
NEVER = 2**32
"""Above every time in milliseconds."""
BELOW_INTERVAL = "must be greater than or equal to POLL_INTERVAL"
Violation = tuple[str, str]


def violations(tree: Tables) -> Iterator[Violation]:
    """Rows that break a rule, each with the message of the models."""
    for rule in RULES:
        yield from rule(tree)


def _rows(tree: Tables, table: str) -> Iterator[tuple[str, list[str], Row]]:
    for name, fields in tree.get(table, {}).items():
        yield key(table, name), name.split(SEPARATOR), fields


def _number(fields: Row, name: str, otherwise: int = 0) -> int:
    value = str(fields.get(name, otherwise))
    return int(value) if value.isdecimal() else otherwise


def _ramps(tree: Tables) -> Iterator[Violation]:
    """sonic-wred-profile."""
    for where, _, fields in _rows(tree, "WRED_PROFILE"):
        for colour in COLOURS:
            least, most = (f"{colour}_{end}_threshold" for end in ("min", "max"))
            if most in fields and (least not in fields or _number(fields, most) < _number(fields, least)):
                yield where, f"{colour.title()} max threshold must be greater than or equal to min threshold"


def _rates(tree: Tables) -> Iterator[Violation]:
    """sonic-scheduler."""
    for where, _, fields in _rows(tree, "SCHEDULER"):
        for name, needed in (("pir", "cir"), ("cbs", "cir"), ("pbs", "pir")):
            if name in fields and not _number(fields, needed):
                yield where, f"{name} can't be configured without {needed}."
        if "pir" in fields and "cir" in fields and _number(fields, "pir") < _number(fields, "cir"):
            yield where, "pir must be greater than or equal to cir"
        if "pbs" in fields and _number(fields, "pbs") < _number(fields, "cbs"):
            yield where, "pbs must be greater than or equal to cbs"


def _watchdogs(tree: Tables) -> Iterator[Violation]:
    """sonic-pfcwd. Without an interval in the row of the switch no time is long enough."""
    everywhere = tree.get("PFC_WD", {}).get("GLOBAL", {"POLL_INTERVAL": "0"})
    for where, parts, fields in _rows(tree, "PFC_WD"):
        is_global = parts == ["GLOBAL"]
        for name in sorted(fields.keys() & {"action", "detection_time", "restoration_time", "pfc_stat_history"}):
            if is_global:
                yield where, f"{name} is of a port"
            elif name.endswith("_time") and _number(fields, name) < _number(everywhere, "POLL_INTERVAL", NEVER):
                yield where, f"{name} {BELOW_INTERVAL}"
        if "POLL_INTERVAL" in fields and not is_global:
            yield where, "POLL_INTERVAL is of GLOBAL"


def _host(tree: Tables) -> Row:
    return row(tree, "DEVICE_METADATA", "localhost")


def _suppression(tree: Tables) -> Iterator[Violation]:
    """sonic-device_metadata."""
    host = _host(tree)
    if host.get("suppress-fib-pending") == "enabled" and host.get("synchronous_mode", "enable") != "enable":
        message = "ASIC synchronous mode must be enabled in order to enable suppress FIB pending feature"
        yield key("DEVICE_METADATA", "localhost"), message


def _ports(tree: Tables) -> Iterator[Violation]:
    """sonic-port. A switch with several chips has the lanes in the configuration of each chip."""
    host = _host(tree)
    in_chips = host.get("switch_type") in CHASSIS or host.get("hwsku") in SEVERAL_CHIPS
    for where, _, fields in _rows(tree, "PORT"):
        for name in ("adv_speeds", "adv_interface_types"):
            stated = values(where, name, fields.get(name, []))
            if "all" in stated and len(stated) > 1:
                yield where, f"{name} has `all` beside other values"
        if "lanes" in fields and in_chips and "asic_name" not in host:
            yield where, "lanes are in the configuration of a chip, which DEVICE_METADATA names as asic_name"


def _queues(tree: Tables) -> Iterator[Violation]:
    """sonic-queue and -buffer-queue: on a VOQ switch a row has its host name and its chip in the key."""
    host = _host(tree)
    is_voq, names = host.get("switch_type") == "voq", [host.get("hostname"), host.get("asic_name")]
    for table in ("QUEUE", "BUFFER_QUEUE"):
        for where, parts, _ in _rows(tree, table):
            if is_voq != (len(parts) == VOQ_PARTS):
                yield where, f"the key is {'not ' if is_voq else ''}that of a VOQ switch (switch_type)"
            elif table == "QUEUE" and is_voq and parts[:2] == names and parts[2] not in tree.get("PORT", {}):
                yield where, LOCAL_QUEUE


def _pools(tree: Tables) -> Iterator[Violation]:
    """sonic-buffer-pool."""
    for where, _, fields in _rows(tree, "BUFFER_POOL"):
        if "percentage" in fields and "size" in fields:
            yield where, "Percentage should not be configured along with size"
        if "percentage" in fields and _host(tree).get("buffer_model") != "dynamic":
            yield where, "Percentage must be configured in dynamic buffer model"


def _families(tree: Tables) -> Iterator[Violation]:
    """sonic-bgp-global, BGP_GLOBALS_AF."""
    for where, (vrf, *family), fields in _rows(tree, "BGP_GLOBALS_AF"):
        if fields.get("import_vrf") == vrf:
            yield where, "Import VRF should be different than self!"
        if family != ["ipv4_unicast"] and any(name.startswith("route_flap_dampen") for name in fields):
            yield where, "Route flap dampening is supported only for IPv4 address family!"


def _neighbors(tree: Tables) -> Iterator[Violation]:
    """sonic-bgp-neighbor, rows for bgpcfgd, which have no VRF in their key."""
    for where, parts, fields in _rows(tree, "BGP_NEIGHBOR"):
        if len(parts) == 1 and fields.get("asn") == "0":
            yield where, "ASN must be greater than 0"


def _prefixes(tree: Tables) -> Iterator[Violation]:
    """sonic-routing-policy-sets, PREFIX with sequence numbers."""
    numbers = Counter(tuple(parts[:2]) for _, parts, _ in _rows(tree, "PREFIX") if len(parts) == NUMBERED_PARTS)
    for where, parts, _ in _rows(tree, "PREFIX"):
        if len(parts) == NUMBERED_PARTS and numbers[parts[0], parts[1]] > 1:
            yield where, "sequence_number required to be unique for each prefix-list"


def _vlans(tree: Tables) -> Iterator[Violation]:
    """sonic-vlan, vlanid."""
    for where, parts, fields in _rows(tree, "VLAN"):
        if "vlanid" in fields and parts[0].removeprefix("Vlan") != fields["vlanid"]:
            yield where, "The vlanid must correspond to the VLAN name"


def _vlan_members(tree: Tables) -> Iterator[Violation]:
    """sonic-vlan, VLAN_MEMBER."""
    bundled = {parts[-1] for _, parts, _ in _rows(tree, "PORTCHANNEL_MEMBER")}
    mirrors = [fields.get("dst_port") for fields in tree.get("MIRROR_SESSION", {}).values()]
    untagged: set[str] = set()
    for where, parts, fields in _rows(tree, "VLAN_MEMBER"):
        port = parts[-1]
        if port in mirrors:
            yield where, "Port is used as a destination port in a mirror session."
        if port in bundled:
            yield where, "Port is a member of a port channel."
        if port in tree.get("INTERFACE", {}):
            yield where, "Port is a router interface."
        if fields.get("tagging_mode") == "untagged" and port in untagged:
            yield where, "Port can be untagged in at most one VLAN."
        untagged |= {port} if fields.get("tagging_mode") == "untagged" else set()


def _addresses(tree: Tables) -> Iterator[Violation]:
    """sonic-interface, -loopback-interface and -vlan: an address needs the row of its interface, and has its family."""
    for table in ADDRESSED:
        for where, (interface, *address), fields in _rows(tree, table):
            if address and table != "LOOPBACK_INTERFACE" and interface not in tree[table]:
                yield where, f"Must condition not satisfied, Try adding {interface}: {{}}"
            if address and fields.get("family", _family(address[0])) != _family(address[0]):
                yield where, f"family must be {_family(address[0])}"


def _family(address: str) -> str:
    return "IPv6" if ":" in address else "IPv4"


def _gateways(tree: Tables) -> Iterator[Violation]:
    """sonic-vlan, static_anycast_gateway."""
    has_mac = "gateway_mac" in tree.get("SAG", {}).get("GLOBAL", {})
    for where, _, fields in _rows(tree, "VLAN_INTERFACE"):
        if str(fields.get("static_anycast_gateway")).lower() == TRUE and not has_mac:
            yield where, "static_anycast_gateway requires SAG GLOBAL gateway_mac to be configured"


def _segments(tree: Tables) -> Iterator[Violation]:
    """sonic-evpn."""
    for where, _, fields in _rows(tree, "EVPN_ETHERNET_SEGMENT"):
        esi, is_type_0 = str(fields.get("esi")), fields.get("type") == "TYPE_0_OPERATOR_CONFIGURED"
        if is_type_0 != (esi != "AUTO") or (is_type_0 and not esi.startswith("00:")):
            yield where, "Invalid ESI/type combination: Type 0 requires manual '00:' ESI; non-Type 0 requires AUTO ESI"
        if esi == NO_ESI:
            yield where, "Reserved all-zero ESI is not allowed"


def _management(tree: Tables) -> Iterator[Violation]:
    """sonic-ntp, -syslog and -gnmi: the VRF of the management port has to be enabled."""
    if str(tree.get("MGMT_VRF_CONFIG", {}).get("vrf_global", {}).get("mgmtVrfEnabled")).lower() == TRUE:
        return
    for table in ("NTP", "SYSLOG_SERVER", "GNMI"):
        for where, _, fields in _rows(tree, table):
            if fields.get("vrf") == "mgmt":
                yield where, "the management VRF is not enabled"


def _collectors(tree: Tables) -> Iterator[Violation]:
    """sonic-syslog: the source of messages is of the family of the server, which may have a name with dots."""
    for where, (server, *_), fields in _rows(tree, "SYSLOG_SERVER"):
        if "source" in fields and not any(mark in fields["source"] and mark in server for mark in ".:"):
            yield where, "source is of another family than the server"


def _aaa(tree: Tables) -> Iterator[Violation]:
    """sonic-system-aaa."""
    has_key = "passkey" in tree.get("TACPLUS", {}).get("global", {})
    for where, parts, fields in _rows(tree, "AAA"):
        if parts == ["authentication"] and "tacacs+" in str(fields.get("login")) and not has_key:
            yield where, "TACACS+ authentication needs the passkey of TACPLUS|global"


def _pairs(tree: Tables) -> Iterator[Violation]:
    """sonic-mclag."""
    for where, _, fields in _rows(tree, "MCLAG_DOMAIN"):
        if 3 * _number(fields, "keepalive_interval", 1) > _number(fields, "session_timeout", 30):
            yield where, "(keepalive interval * 3) <= session_timeout value"
    if not tree.get("MCLAG_DOMAIN"):
        yield from ((where, "mclag not configured") for where, _, _ in _rows(tree, "MCLAG_UNIQUE_IP"))


RULES: tuple[Callable[[Tables], Iterator[Violation]], ...] = (
    *(_ramps, _rates, _watchdogs, _suppression, _ports, _queues, _pools, _families, _neighbors, _prefixes),
    *(_vlans, _vlan_members, _addresses, _gateways, _segments, _management, _collectors, _aaa, _pairs),
)

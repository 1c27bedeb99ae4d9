"""What SONiC's models say between fields (`must`), for the tables that railfab writes. The messages are theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from railfab.platforms.sonic.tables import SEPARATOR, TRUE, Row, Tables, key

COLOURS = ("green", "yellow", "red")
Violation = tuple[str, str]


def violations(tree: Tables) -> Iterator[Violation]:
    """Rows that break a rule, each with the message of the models."""
    for rule in RULES:
        yield from rule(tree)


def _rows(tree: Tables, table: str) -> Iterator[tuple[str, list[str], Row]]:
    for row, fields in tree.get(table, {}).items():
        yield key(table, row), row.split(SEPARATOR), fields


def _number(fields: Row, name: str, otherwise: int = 0) -> int:
    value = str(fields.get(name, otherwise))
    return int(value) if value.isdecimal() else otherwise


def _ramps(tree: Tables) -> Iterator[Violation]:
    """sonic-wred-profile."""
    for where, _, fields in _rows(tree, "WRED_PROFILE"):
        for colour in COLOURS:
            least, most = (fields.get(f"{colour}_{end}_threshold") for end in ("min", "max"))
            if most is not None and (least is None or _number(fields, f"{colour}_max_threshold") < int(least)):
                yield where, f"{colour.title()} max threshold must be greater than or equal to min threshold"


def _rates(tree: Tables) -> Iterator[Violation]:
    """sonic-scheduler."""
    for where, _, fields in _rows(tree, "SCHEDULER"):
        if "pir" in fields and not _number(fields, "cir"):
            yield where, "pir can't be configured without cir."
        elif "pir" in fields and _number(fields, "pir") < _number(fields, "cir"):
            yield where, "pir must be greater than or equal to cir"


def _watchdogs(tree: Tables) -> Iterator[Violation]:
    """sonic-pfcwd."""
    poll = _number(tree.get("PFC_WD", {}).get("GLOBAL", {}), "POLL_INTERVAL")
    for where, parts, fields in _rows(tree, "PFC_WD"):
        for name in ("detection_time", "restoration_time"):
            if parts != ["GLOBAL"] and name in fields and _number(fields, name) < poll:
                yield where, f"{name} must be greater than or equal to POLL_INTERVAL"


def _vlans(tree: Tables) -> Iterator[Violation]:
    """sonic-vlan, vlanid."""
    for where, parts, fields in _rows(tree, "VLAN"):
        if "vlanid" in fields and parts[0].removeprefix("Vlan") != fields["vlanid"]:
            yield where, "The vlanid must correspond to the VLAN name"


def _vlan_members(tree: Tables) -> Iterator[Violation]:
    """sonic-vlan, VLAN_MEMBER."""
    bundled = {parts[-1] for _, parts, _ in _rows(tree, "PORTCHANNEL_MEMBER")}
    untagged: set[str] = set()
    for where, parts, fields in _rows(tree, "VLAN_MEMBER"):
        port = parts[-1]
        if port in bundled:
            yield where, "Port is a member of a port channel."
        if port in tree.get("INTERFACE", {}):
            yield where, "Port is a router interface."
        if fields.get("tagging_mode") == "untagged" and port in untagged:
            yield where, "Port can be untagged in at most one VLAN."
        untagged |= {port} if fields.get("tagging_mode") == "untagged" else set()


def _addresses(tree: Tables) -> Iterator[Violation]:
    """sonic-interface and sonic-vlan: an address needs the row of its interface."""
    for table in ("INTERFACE", "VLAN_INTERFACE"):
        for where, parts, _ in _rows(tree, table):
            if len(parts) == 2 and parts[0] not in tree[table]:
                yield where, f"Must condition not satisfied, Try adding {parts[0]}: {{}}"


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


def _management(tree: Tables) -> Iterator[Violation]:
    """sonic-ntp, -syslog and -gnmi: the VRF of the management port has to be enabled."""
    if str(tree.get("MGMT_VRF_CONFIG", {}).get("vrf_global", {}).get("mgmtVrfEnabled")).lower() == TRUE:
        return
    for table in ("NTP", "SYSLOG_SERVER", "GNMI"):
        for where, _, fields in _rows(tree, table):
            if fields.get("vrf") == "mgmt":
                yield where, "the management VRF is not enabled"


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


RULES: tuple[Callable[[Tables], Iterator[Violation]], ...] = (
    *(_ramps, _rates, _watchdogs, _vlans, _vlan_members, _addresses, _gateways),
    *(_segments, _management, _aaa, _pairs),
)

"""Ports of a virtual Junos switch: `show interfaces`, its levels of output, `terse` and `descriptions`.

Form: ntc-templates' recorded outputs, and a QFX of release 22.4 in a public repository of use cases of Apstra.
Lines whose value the twin does not know are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_interface

from railfab.platforms.junos.answers import Tree, age, date, lasting, shown_as
from railfab.platforms.junos.port_state import (
    FIRST_INDEX,
    FIRST_SNMP_INDEX,
    LOOPBACK,
    PRIORITIES,
    ShownPort,
)
from railfab.platforms.junos.show_queues import MOST_QUEUES, brief_queue, enabled

UNIT_INDEX, UNIT_SNMP_INDEX = 2000, 1500
"""From which logical interfaces are numbered."""
BUNDLED = "aenet"
"""Address family of the unit of a member of a bundle."""
_INTERFACE = "fabric_interface_"
_CASTS = {"unicasts": "unicast", "broadcasts": "broadcast", "multicasts": "multicast"}
TERSE_HEADER = "Interface               Admin Link Proto    Local                 Remote"
DESCRIPTIONS_HEADER = "Interface       Admin Link Description"


def port_tree(state: ShownPort) -> Tree:
    """A port in `show interfaces`."""
    flapped_s = state.now_s - state.flapped_s
    return {
        "name": state.port.name,
        "admin-status": shown_as(state.admin, enabled(state)),
        "oper-status": state.link,
        "local-index": FIRST_INDEX + state.index,
        "snmp-index": FIRST_SNMP_INDEX + state.index,
        **({"description": state.description} if state.description else {}),
        "link-level-type": "Ethernet",
        "mtu": state.mtu_bytes,
        "speed": f"{state.port.rate_gbps:g}Gbps",
        "current-physical-address": state.mac,
        "hardware-physical-address": state.mac,
        "interface-flapped": lasting(f"{date(state.flapped_s)} ({age(flapped_s)} ago)", flapped_s),
        "logical-interface": [_unit(state, unit) for unit in state.addresses] or _bundled(state),
    }


def _bundled(state: ShownPort) -> list[Tree]:
    """The unit that a member of a bundle has."""
    if state.bundle is None:
        return []
    family = {"address-family-name": BUNDLED, "ae-bundle-name": f"{state.bundle}.0", "interface-address": []}
    return [{**_unit(state, "0"), "address-family": [family]}]


def _unit(state: ShownPort, unit: str) -> Tree:
    received, sent = (state.counters.plain[f"{_INTERFACE}{way}_packets_total"] for way in ("receive", "transmit"))
    return {
        "name": f"{state.port.name}.{unit}",
        "local-index": UNIT_INDEX + state.index,
        "snmp-index": UNIT_SNMP_INDEX + state.index,
        "traffic-statistics": {"input-packets": received, "output-packets": sent},
        "address-family": [
            {
                "address-family-name": family,
                **({"mtu": state.port.mtu_bytes} if state.port.mtu_bytes is not None else {}),
                "interface-address": [_address(each) for each in addresses],
            }
            for family, addresses in state.addresses.get(unit, {}).items()
        ],
    }


def _address(address: str) -> Tree:
    """An address of a unit; the subnet of a link with two ends has no broadcast address."""
    interface = ip_interface(address)
    shares = interface.version == 4 and interface.network.num_addresses > 2
    broadcast = {"ifa-broadcast": str(interface.network.broadcast_address)} if shares else {}
    return {"ifa-destination": str(interface.network), "ifa-local": str(interface.ip), **broadcast}


def extensive_tree(state: ShownPort) -> Tree:
    """A port in `show interfaces extensive`."""
    plain = state.counters.plain
    return {
        **port_tree(state),
        "traffic-statistics": _both_ways(state, ("bytes", "packets")),
        "input-error-list": {
            "input-errors": plain[f"{_INTERFACE}receive_errors_total"],
            "framing-errors": plain[f"{_INTERFACE}receive_fcs_errors_total"],
            "input-resource-errors": plain[f"{_INTERFACE}receive_discards_total"],
        },
        "output-error-list": {
            "carrier-transitions": plain[f"{_INTERFACE}carrier_transitions_total"],
            "output-errors": plain[f"{_INTERFACE}transmit_errors_total"],
            "output-drops": plain[f"{_INTERFACE}transmit_discards_total"],
        },
        "queue-counters": {
            "interface-cos-short-summary": {
                "intf-cos-queue-type": "Egress queues",
                "intf-cos-num-queues-supported": MOST_QUEUES,
                "intf-cos-num-queues-in-use": len(state.queues),
            },
            "queue": [brief_queue(queue) for queue in state.queues],
        },
        "ethernet-fec-statistics": {"fec_nccw_count": plain[f"{_INTERFACE}fec_uncorrected_codewords_total"]},
        "ethernet-mac-statistics": {
            **_both_ways(state, ("bytes", "packets")),
            **{f"{way}-{name}": count for name, counts in _casts(state) for way, count in counts.items()},
            "input-crc-errors": plain[f"{_INTERFACE}receive_fcs_errors_total"],
        },
        "ethernet-mac-pfc-statistics": [_pfc(state, priority) for priority in PRIORITIES],
    }


def _both_ways(state: ShownPort, units: Sequence[str]) -> Tree:
    ways = {"input": "receive", "output": "transmit"}
    plain = state.counters.plain
    return {f"{way}-{unit}": plain[f"{_INTERFACE}{name}_{unit}_total"] for unit in units for way, name in ways.items()}


def _casts(state: ShownPort) -> Iterator[tuple[str, Mapping[str, int]]]:
    for name, cast in _CASTS.items():
        counts = (state.counters.casts[f"{_INTERFACE}{way}_packets_total", cast] for way in ("receive", "transmit"))
        yield name, dict(zip(("input", "output"), counts, strict=True))


def _pfc(state: ShownPort, priority: int) -> Tree:
    received, sent = (
        state.counters.priorities[f"fabric_pfc_{way}_frames_total", priority] for way in ("receive", "transmit")
    )
    return {"mac-pfc-dot1p": priority, "input-mac-pfc-frames": received, "output-mac-pfc-frames": sent}


def port_text(state: ShownPort) -> Iterator[str]:
    """A port in the text of `show interfaces`."""
    yield from _physical(state)
    yield from _alarms(state)
    yield from _units(state)


def statistics_text(state: ShownPort) -> Iterator[str]:
    """A port in the text of `show interfaces statistics`."""
    tree = extensive_tree(state)
    yield from _physical(state)
    yield (
        f"  Input errors: {tree['input-error-list']['input-errors']}, "
        f"Output errors: {tree['output-error-list']['output-errors']}"
    )
    yield from _alarms(state)
    yield from _units(state)


def extensive_text(state: ShownPort) -> Iterator[str]:
    """A port in the text of `show interfaces extensive`."""
    tree = extensive_tree(state)
    yield from _physical(state)
    yield "  Traffic statistics:"
    for name, key in (("Input  bytes  ", "input-bytes"), ("Output bytes  ", "output-bytes")):
        yield f"   {name}:{tree['traffic-statistics'][key]:>21}"
    for name, key in (("Input  packets", "input-packets"), ("Output packets", "output-packets")):
        yield f"   {name}:{tree['traffic-statistics'][key]:>21}"
    received, sent = tree["input-error-list"], tree["output-error-list"]
    yield "  Input errors:"
    yield (
        f"    Errors: {received['input-errors']}, Drops: 0, Framing errors: {received['framing-errors']}, Runts: 0, "
        f"Resource errors: {received['input-resource-errors']}"
    )
    yield "  Output errors:"
    yield (
        f"    Carrier transitions: {sent['carrier-transitions']}, Errors: {sent['output-errors']}, "
        f"Drops: {sent['output-drops']}, Collisions: 0"
    )
    yield from _queue_counters(tree)
    yield from _alarms(state)
    yield "  Ethernet FEC statistics              Errors"
    yield f"    FEC Uncorrected Errors{tree['ethernet-fec-statistics']['fec_nccw_count']:>19}"
    yield from _mac(tree)
    yield from _units(state)


def _physical(state: ShownPort) -> Iterator[str]:
    tree = port_tree(state)
    yield f"Physical interface: {state.port.name}, {enabled(state)}, Physical link is {state.link.capitalize()}"
    yield f"  Interface index: {tree['local-index']}, SNMP ifIndex: {tree['snmp-index']}"
    if state.description:
        yield f"  Description: {state.description}"
    yield f"  Link-level type: Ethernet, MTU: {tree['mtu']}, Speed: {tree['speed']}, Loopback: Disabled"
    yield f"  Current address: {state.mac}, Hardware address: {state.mac}"
    yield f"  Last flapped   : {tree['interface-flapped'].text}"


def _alarms(state: ShownPort) -> Iterator[str]:
    alarm = "LINK" if state.port.fault else "None"
    yield f"  Active alarms  : {alarm}"
    yield f"  Active defects : {alarm}"


def _queue_counters(tree: Tree) -> Iterator[str]:
    queues = tree["queue-counters"]["queue"]
    if not queues:
        return
    yield f"  Egress queues: {MOST_QUEUES} supported, {len(queues)} in use"
    yield "  Queue counters:       Queued packets  Transmitted packets      Dropped packets"
    for queue in queues:
        counts = (queue[f"queue-counters-{name}-packets"] for name in ("queued", "trans", "total-drop"))
        yield f"    {queue['queue-number']:<13}" + "".join(f"{count:>21}" for count in counts)
    yield "  Queue number:         Mapped forwarding classes"
    yield from (f"    {queue['queue-number']:<20}{queue['forwarding-class-name']}" for queue in queues)


def _mac(tree: Tree) -> Iterator[str]:
    counts = tree["ethernet-mac-statistics"]
    yield "  MAC statistics:                      Receive         Transmit"
    for name, key in (
        ("Total octets", "bytes"),
        ("Total packets", "packets"),
        ("Unicast packets", "unicasts"),
        ("Broadcast packets", "broadcasts"),
        ("Multicast packets", "multicasts"),
    ):
        yield f"    {name:<18}{counts[f'input-{key}']:>24}{counts[f'output-{key}']:>17}"
    yield f"    CRC/Align errors  {counts['input-crc-errors']:>24}{0:>17}"
    yield "  MAC Priority Flow Control Statistics:"
    for pfc in tree["ethernet-mac-pfc-statistics"]:
        received, sent = pfc["input-mac-pfc-frames"], pfc["output-mac-pfc-frames"]
        yield f"    Priority :  {pfc['mac-pfc-dot1p']}{received:>30}{sent:>17}"


def _units(state: ShownPort) -> Iterator[str]:
    for unit in port_tree(state)["logical-interface"]:
        yield ""
        yield f"  Logical interface {unit['name']} (Index {unit['local-index']}) (SNMP ifIndex {unit['snmp-index']})"
        yield f"    Flags: {state.link.capitalize()} SNMP-Traps 0x4004000 Encapsulation: ENET2"
        yield f"    Input packets : {unit['traffic-statistics']['input-packets']}"
        yield f"    Output packets: {unit['traffic-statistics']['output-packets']}"
        for family in unit["address-family"]:
            yield f"    Protocol {family['address-family-name']}" + (
                f", MTU: {family['mtu']}" if "mtu" in family else ""
            )
            for address in family["interface-address"]:
                yield "      Addresses, Flags: Is-Preferred Is-Primary"
                broadcast = f", Broadcast: {address['ifa-broadcast']}" if "ifa-broadcast" in address else ""
                yield f"        Destination: {address['ifa-destination']}, Local: {address['ifa-local']}{broadcast}"


def terse_text(states: Sequence[ShownPort], loopback: Mapping[str, Mapping[str, Sequence[str]]]) -> Iterator[str]:
    """`show interfaces terse`."""
    yield TERSE_HEADER
    for state in states:
        yield f"{state.port.name:<24}{state.admin:<6}{state.link}"
        yield from _terse_units(state.port.name, state.admin, state.link, state.addresses)
    if loopback:
        yield f"{LOOPBACK:<24}{'up':<6}up"
        yield from _terse_units(LOOPBACK, "up", "up", loopback)


def _terse_units(name: str, admin: str, link: str, units: Mapping[str, Mapping[str, Sequence[str]]]) -> Iterator[str]:
    for unit, families in units.items():
        head = f"{f'{name}.{unit}':<24}{admin:<6}{link:<5}"
        rows = [(family, address) for family, addresses in families.items() for address in addresses or ("",)]
        named: set[str] = set()
        for family, address in rows or [("", "")]:
            yield f"{head:<35}{'' if family in named else family:<9}{address}".rstrip()
            named.add(family)
            head = ""


def descriptions_text(states: Sequence[ShownPort]) -> Iterator[str]:
    """`show interfaces descriptions`."""
    yield DESCRIPTIONS_HEADER
    for state in states:
        if state.description:
            yield f"{state.port.name:<16}{state.admin:<6}{state.link:<5}{state.description}"

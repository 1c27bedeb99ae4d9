"""Live state of a SONiC switch: FRR's neighbours, Linux's devices, and the neighbours that LLDP hears."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from railfab.device import Observed, ObservedInterface, PortOperation, lag_name, loopback_name, svi_name
from railfab.platforms.shared.frr_state import observed_state
from railfab.platforms.sonic.asic_state import asic_ports

KINDS = {"Loopback": loopback_name, "PortChannel": lag_name, "Vlan": svi_name}
_NUMBERED = re.compile(r"(Loopback|PortChannel|Vlan)(\d+)")
_PORT = re.compile(r"Ethernet\d+")
_DASHES = re.compile(r"-+")


def model_name(device: str) -> str:
    """The name in every model of an interface that SONiC names so; a port keeps its name."""
    match = _NUMBERED.fullmatch(device)
    return KINDS[match[1]](int(match[2])) if match else device


def observed(
    name: str, *, neighbors: str, addresses: str, lldp: str, ports: str, queues: str, asic: str, resolved: str = ""
) -> Observed:
    """The live state from the outputs of commands. Devices that no model names are left out. Raises DeviceError.

    PFC, ECN and DSCP are those of ASIC_DB; a switch that answers otherwise does not report them.
    """
    state = observed_state(name, interface_name=model_name, neighbors=neighbors, addresses=addresses, resolved=resolved)
    heard, done = lldp_neighbors(lldp), asic_ports(ports=ports, queues=queues, asic=asic)
    interfaces = (link for link in state.interfaces if _PORT.fullmatch(link.name) or link.name in _kinds(link.name))
    return replace(state, interfaces=tuple(_doing(_heard(link, heard), done) for link in interfaces), lldp=True)


def _doing(link: ObservedInterface, done: Mapping[str, PortOperation]) -> ObservedInterface:
    port = done.get(link.name)
    return link if port is None else replace(link, pfc=port.pfc, ecn=port.ecn, dscp=port.dscp)


def _kinds(name: str) -> tuple[str, ...]:
    """The name itself where it is one of a loopback, a port channel or a VLAN of a model."""
    digits = re.sub(r"\D", "", name)
    return tuple(kind(int(digits)) for kind in KINDS.values()) if digits else ()


def _heard(link: ObservedInterface, heard: dict[str, tuple[str, str]]) -> ObservedInterface:
    device, port = heard.get(link.name, (None, None))
    return replace(link, neighbor_device=device, neighbor_interface=port)


def lldp_neighbors(shown: str) -> dict[str, tuple[str, str]]:
    """Device and port that each port hears, from `show lldp table`; the columns are those of its line of dashes."""
    lines = shown.splitlines()
    ruler = next((place for place, line in enumerate(lines) if line.startswith("---")), None)
    if ruler is None:
        return {}
    columns = [match.start() for match in _DASHES.finditer(lines[ruler])]
    rows = (_cells(line, columns) for line in lines[ruler + 1 :] if _PORT.match(line))
    return {cells[0]: (cells[1], cells[2]) for cells in rows}


def _cells(line: str, columns: list[int]) -> list[str]:
    return [line[begin:end].strip() for begin, end in zip(columns, [*columns[1:], None], strict=True)]

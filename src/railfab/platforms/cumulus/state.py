"""Live state of a Cumulus Linux switch: FRR's neighbours, Linux's devices, and what lldpd hears."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from railfab.bounded_json import load_json
from railfab.device import Observed, ObservedInterface
from railfab.errors import DeviceError
from railfab.platforms.cumulus.names import model_name
from railfab.platforms.cumulus.roce_state import RoceOperation, roce_ports
from railfab.platforms.shared.frr_state import observed_state


def observed(name: str, *, neighbors: str, addresses: str, heard: str, roce: str, resolved: str = "") -> Observed:
    """The live state from the outputs of commands. Devices that no model names are left out. Raises DeviceError."""
    state = observed_state(name, interface_name=_named, neighbors=neighbors, addresses=addresses, resolved=resolved)
    far_ends, done = lldp_neighbors(name, heard), roce_ports(roce)
    links = (link for link in state.interfaces if link.name)
    return replace(state, interfaces=tuple(_doing(_heard(link, far_ends), done) for link in links), lldp=True)


def _doing(link: ObservedInterface, done: Mapping[str, RoceOperation]) -> ObservedInterface:
    port = done.get(link.name)
    return link if port is None else replace(link, pfc=port.pfc, ecn=port.ecn, dscp=port.dscp)


def _named(device: str) -> str:
    """The name in a model; empty for a device that a model does not have."""
    return model_name(device) or ""


def _heard(link: ObservedInterface, far_ends: Mapping[str, tuple[str, str]]) -> ObservedInterface:
    device, port = far_ends.get(link.name, (None, None))
    return replace(link, neighbor_device=device, neighbor_interface=port)


def lldp_neighbors(where: str, shown: str) -> dict[str, tuple[str, str]]:
    """Device and port that each port hears, from `lldpcli show neighbors -f json`, whose single entries are no lists.

    Raises DeviceError.
    """
    try:
        document = load_json(shown)
        return dict(_entries(document.get("lldp", {}).get("interface", [])))
    except (ValueError, AttributeError):
        problem = "answers `lldpcli show neighbors -f json` with something else than JSON"
        raise DeviceError(where, problem, "Check that lldpd is running") from None


def _entries(entries: Any) -> Iterator[tuple[str, tuple[str, str]]]:
    for entry in entries if isinstance(entries, list) else [entries]:
        for port, neighbor in entry.items():
            device = next(iter(neighbor.get("chassis", {})), "")
            yield port, (device, str(neighbor.get("port", {}).get("id", {}).get("value", "")))

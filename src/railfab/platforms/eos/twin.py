"""A virtual switch with EOS: its CLI, and OpenConfig state over gNMI."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from railfab.device import DeviceModel
from railfab.gnmi.target import GnmiOffer
from railfab.gnmi.values import ASCII, JSON, JSON_IETF
from railfab.platforms.eos.cli import cli
from railfab.platforms.eos.configuration import parse
from railfab.platforms.eos.lines import FORMAT, text
from railfab.platforms.eos.port_state import short_name
from railfab.platforms.eos.running_text import shown
from railfab.platforms.eos.scoped import GNMI, scoped
from railfab.platforms.shared import openconfig_state
from railfab.platforms.shared.cli_origin import cli_origin
from railfab.platforms.shared.default_mtu import with_default_mtu
from railfab.platforms.shared.line_datastore import LineDatastore
from railfab.platforms.shared.openconfig_ports import OpenConfigPorts, line_writer
from railfab.platforms.shared.virtual_addresses import is_address, link_local
from railfab.platforms.twin_face import Tree, TwinFace, VirtualSession

FACTORY = """\
username admin privilege 15 role network-admin secret *
hostname {name}
interface Management0
   ip address 192.0.2.1/24
management api gnmi
   transport grpc default
management ssh
   idle-timeout 0
"""
"""The operator's settings, with which a switch is reached before the first deploy: a login, the management port."""

PORTS = OpenConfigPorts(write=line_writer(FORMAT, enabled=None), mtu_header_bytes=None)
"""Written by a Set (EOS-4.36.1F, pathreport.csv). Which MTU the leaf `mtu` is, that of L2 or of IP, it does not say."""
RELEASE = "4.36.1F"
NEIGHBORS = (
    "/network-instances/network-instance[name=default]/protocols/protocol[identifier=BGP][name=BGP]/bgp/neighbors"
)


def _datastore(name: str, rendered: Tree) -> LineDatastore:
    """Lines of topics that the intent does not state belong to the operator, and have no effect here."""
    stated = text(rendered)

    def parse_scoped(configuration: str) -> DeviceModel:
        return parse(scoped(configuration, stated))

    factory = FACTORY.format(name=name)
    return LineDatastore(name, FORMAT, factory=factory, parse=parse_scoped, shown=shown, ports=PORTS)


def wildcard(device: str, name: str, pattern: str, labels: Mapping[str, str]) -> str | None:
    """The value for the `*` in a key."""
    if pattern.startswith("*-"):
        return labels["interface"]
    return "UNICAST" if name == "queue-type" else openconfig_state.key(device, name, pattern, labels)


def session_leaves(device: str, session: VirtualSession) -> dict[str, Any]:
    """The AS number of a peer, which no metric carries."""
    numbered = is_address(session.peer)
    address = session.peer if numbered else f"{link_local(device, session.peer)}%{short_name(session.peer)}"
    return {f"{NEIGHBORS}/neighbor[neighbor-address={address}]/state/peer-as": session.remote_as}


def _serves_gnmi(configuration: str) -> bool:
    return any(line.text == GNMI.text and line.children for line in FORMAT.tree(configuration))


DEFAULT_MTU_BYTES = 1500
"""MTU of a routed port (Ethernet Ports, mtu)."""


OFFER = GnmiOffer(announced=(JSON, JSON_IETF, ASCII))
"""The encodings in Capabilities of cEOS 4.34.1F, as gnmic prints them. That PROTO is taken too is unverified."""


@cache
def twin() -> TwinFace:
    """The face of a virtual switch with EOS."""
    return TwinFace(
        datastore=_datastore,
        models=openconfig_state.models(RELEASE),
        wildcard=wildcard,
        origins=openconfig_state.ORIGINS,
        session_leaves=session_leaves,
        offer=OFFER,
        commands=cli_origin(__package__),
        cli=cli,
        serves_gnmi=_serves_gnmi,
        saves=lambda _configuration: False,
        release="4.33.1F",
        in_effect=lambda model, _configuration: with_default_mtu(model, DEFAULT_MTU_BYTES),
    )

"""A virtual switch with NX-OS: its CLI, and over gNMI its state by OpenConfig's models and Cisco's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from railfab.device import DeviceModel
from railfab.gnmi.target import GnmiOffer, YangModel
from railfab.gnmi.values import JSON, PROTO
from railfab.platforms.nxos.cli import cli
from railfab.platforms.nxos.installer import booted
from railfab.platforms.nxos.lines import FORMAT, text
from railfab.platforms.nxos.parse import parse
from railfab.platforms.nxos.running_text import shown
from railfab.platforms.nxos.scope import scoped
from railfab.platforms.nxos.shows_system import VERSION
from railfab.platforms.shared import openconfig_state
from railfab.platforms.shared.default_mtu import with_default_mtu
from railfab.platforms.shared.dynamic_xoff import with_own_pauses
from railfab.platforms.shared.line_datastore import LineDatastore
from railfab.platforms.shared.openconfig_ports import OpenConfigPorts, line_writer
from railfab.platforms.twin_face import Tree, TwinFace
from railfab.qos import ALPHA

FACTORY = """\
version {version} Bios:version
hostname {name}
vdc {name} id 1
  limit-resource vlan minimum 16 maximum 4094
  limit-resource vrf minimum 2 maximum 4096
username admin password 5 * role network-admin
vrf context management
interface mgmt0
  vrf member management
  ip address 192.0.2.1/24
line console
line vty
boot nxos bootflash:/nxos64-cs.{version}.bin
"""
"""Settings of the operator, with which a switch is reached before its first deploy: a login, the management port."""

PORTS = OpenConfigPorts(write=line_writer(FORMAT, enabled="no shutdown"))
"""Written by a Set: no deviation of 10.6(3) from openconfig-interfaces excludes them."""
NATIVE = YangModel("Cisco-NX-OS-device", "Cisco Systems, Inc.", VERSION)
NATIVE_ORIGIN = "device"


def _key(device: str, name: str, pattern: str, labels: Mapping[str, str]) -> str | None:
    """The value for the `*` in a key; the statType of queues is any value of its type."""
    return "none" if name == "statType" else openconfig_state.key(device, name, pattern, labels)


def _datastore(name: str, rendered: Tree) -> LineDatastore:
    factory, intended = FACTORY.format(name=name, version=VERSION), text(rendered)

    def parsed(configuration: str) -> DeviceModel:
        """Parse without what is the operator's because the intent does not state it."""
        return parse(scoped(configuration, intended))

    return LineDatastore(name, FORMAT, factory=factory, parse=parsed, shown=shown, ports=PORTS)


DEFAULT_MTU_BYTES = 1500
"""MTU of a routed port (Interfaces, Configuring Basic Interface Parameters, MTU)."""
HEADROOM_POOL_PERCENT = 10
"""A switch sets buffers of lossless classes by itself for cables of up to 100 m (Nexus 9000 QoS guide, Configuring
Priority Flow Control, Guidelines). Which, no document says that could be read: this pool and ALPHA are railfab's."""


def in_effect(model: DeviceModel, _configuration: str) -> DeviceModel:
    """The model with what the switch does where its configuration states nothing."""
    sized = with_default_mtu(model, DEFAULT_MTU_BYTES)
    return with_own_pauses(sized, alpha=ALPHA, headroom_pool_percent=HEADROOM_POOL_PERCENT)


OFFER = GnmiOffer(encodings=(JSON, PROTO), announced=(JSON, PROTO))
"""The encodings in Capabilities of NX-OS, as gnmic prints them (recorded in 2023, gNMI 0.8.0)."""


@cache
def twin() -> TwinFace:
    """The face of a virtual switch with NX-OS."""
    return TwinFace(
        datastore=_datastore,
        models=(*openconfig_state.models(VERSION), NATIVE),
        wildcard=_key,
        origins=(*openconfig_state.ORIGINS, NATIVE_ORIGIN),
        offer=OFFER,
        cli=cli,
        saves=lambda _configuration: False,
        in_effect=in_effect,
        release=VERSION,
        booted=booted,
    )

"""A virtual Cumulus Linux switch: its shell, which alone configures it, and OpenConfig state over gNMI."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from railfab.device import DeviceModel
from railfab.gnmi.target import GnmiOffer
from railfab.gnmi.values import JSON, PROTO
from railfab.platforms.cumulus.parse import parse, tree_of
from railfab.platforms.cumulus.scope import copied, without
from railfab.platforms.cumulus.shell import logins
from railfab.platforms.cumulus.shell_shows import RELEASE
from railfab.platforms.cumulus.spelling import merged, normal
from railfab.platforms.cumulus.tree import text
from railfab.platforms.shared import openconfig_state
from railfab.platforms.shared.default_mtu import with_default_mtu
from railfab.platforms.shared.dynamic_xoff import with_own_pauses
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.line_datastore import TextDatastore
from railfab.platforms.twin_face import TwinFace
from railfab.qos import ALPHA

FACTORY = """- set:
    interface:
      eth0:
        ipv4:
          dhcp-client:
            state: enabled
        type: eth
        vrf: mgmt
    system:
      aaa:
        class:
          sudo:
            action: allow
            command-path:
              /:
                permission: all
        role:
          system-admin:
            class:
              sudo: {{}}
        user:
          cumulus:
            hashed-password: '*'
            role: system-admin
      hostname: {name}
    vrf:
      mgmt: {{}}
"""
"""The management port, its VRF and the account that a new switch has (NVUE-CLI)."""


class NvueDatastore(TextDatastore):
    """The configuration as the YAML of NVUE."""

    def _is_factory(self, configuration: str) -> bool:
        return tree_of(configuration) == tree_of(self._factory)


def _datastore(device: str, rendered: Json) -> TextDatastore:
    factory = tree_of(FACTORY.format(name=device))
    given = without(factory, normal(rendered))

    def parsed(configuration: str) -> DeviceModel:
        return parse(text(without(tree_of(configuration), given)))

    return NvueDatastore(
        device,
        factory=text(factory),
        parse=parsed,
        shown=lambda configuration: text(tree_of(configuration)),
        overlaid=lambda running, tree: text(merged(copied(tree_of(running)), normal(tree))),
    )


DEFAULT_MTU_BYTES = 9216
"""MTU of a port (Switch Port Attributes, MTU)."""
HEADROOM_POOL_PERCENT = 10
"""A switch derives buffers of lossless classes from the length of the cable (Quality of Service, Priority Flow
Control), in a pool with dynamic thresholds (RDMA over Converged Ethernet, RoCE Pool Status). Which they are, no
document says that could be read: this pool and ALPHA are railfab's."""
CONNECT_RETRY_S = 10
"""Time between two tries to connect in FRR's profile `datacenter`, which NVUE configures (bgpd, bgp_vty.c)."""


def in_effect(model: DeviceModel, _configuration: str) -> DeviceModel:
    """The model with what the switch does where its configuration states nothing."""
    sized = with_default_mtu(_with_connect_retry(model), DEFAULT_MTU_BYTES)
    return with_own_pauses(sized, alpha=ALPHA, headroom_pool_percent=HEADROOM_POOL_PERCENT)


def _with_connect_retry(model: DeviceModel) -> DeviceModel:
    """The model with the time between two tries to connect where the configuration states none."""
    if model.bgp is None:
        return model
    neighbors = tuple(
        replace(neighbor, timers=replace(neighbor.timers, connect_retry_s=CONNECT_RETRY_S))
        if neighbor.timers.connect_retry_s is None
        else neighbor
        for neighbor in model.bgp.neighbors
    )
    return replace(model, bgp=replace(model.bgp, neighbors=neighbors))


OFFER = GnmiOffer(encodings=(PROTO, JSON), announced=(PROTO, JSON), get=False, set=False)
"""Neither Get nor Set, and the data formats Protobuf and JSON (gNMI Streaming, RPC Methods and Encoding Types)."""


@cache
def twin() -> TwinFace:
    """The face of a virtual Cumulus Linux switch."""
    return TwinFace(
        datastore=_datastore,
        models=openconfig_state.models(RELEASE),
        wildcard=openconfig_state.key,
        origins=openconfig_state.ORIGINS,
        offer=OFFER,
        cli=logins,
        saves=lambda _configuration: False,
        in_effect=in_effect,
        release=RELEASE,
    )

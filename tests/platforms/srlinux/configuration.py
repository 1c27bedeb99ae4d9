"""The configuration of the rail switch as a tree, free to be spoilt, and its parts."""

from __future__ import annotations

import json
from typing import Any

from tests.platforms.srlinux.switches import rail_switch

from railfab.device import DeviceModel
from railfab.platforms import platform
from railfab.platforms.shared.json_tree import Json, text

SRLINUX = platform("srlinux")


def tree(model: DeviceModel | None = None) -> Json:
    """A rendered configuration, free to be spoilt."""
    rendered: Json = json.loads(text(SRLINUX.render(model or rail_switch())))
    return rendered


def parsed(configuration: Json) -> DeviceModel:
    return SRLINUX.parse(json.dumps(configuration))


def interface(configuration: Json, name: str) -> Any:
    return next(entry for entry in configuration["srl_nokia-interfaces:interface"] if entry["name"] == name)


def unit(configuration: Json, name: str) -> Any:
    return interface(configuration, name)["subinterface"][0]


def instance(configuration: Json) -> Any:
    return configuration["srl_nokia-network-instance:network-instance"][0]


def bgp(configuration: Json) -> Any:
    return instance(configuration)["protocols"]["srl_nokia-bgp:bgp"]


def ipv4_unicast(configuration: Json) -> Any:
    return bgp(configuration)["afi-safi"][0]


def bfd(configuration: Json) -> Any:
    return configuration["srl_nokia-bfd:bfd"]["subinterface"][0]


def policies(configuration: Json) -> Any:
    return configuration["srl_nokia-routing-policy:routing-policy"]


def policy(configuration: Json) -> Any:
    """The import policy."""
    return policies(configuration)["policy"][0]


def qos(configuration: Json) -> Any:
    return configuration["srl_nokia-qos:qos"]


def binding(configuration: Json, name: str) -> Any:
    return next(entry for entry in qos(configuration)["interfaces"]["interface"] if entry["interface-id"] == name)


def marking(configuration: Json) -> Any:
    """The queue management profile of the ports to hosts."""
    return qos(configuration)["buffer-management"]["queue-management-profile"][0]


def slope(configuration: Json) -> Any:
    return marking(configuration)["wred"]["wred-slope"][0]


def mapping(configuration: Json) -> Any:
    return qos(configuration)["pfc-mapping-profile"][0]


def sent_pause_frames(configuration: Json) -> Any:
    return mapping(configuration)["received-traffic"]["unicast-mapping"]["pfc-queue"][0]


def obeyed_pause_frames(configuration: Json) -> Any:
    return mapping(configuration)["received-pfc-pause-frames"]["queue"][0]

"""A routed port whose configuration states no MTU has the default of its platform, as on hardware."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.faults.translation import rack

from railfab.device import DeviceModel, Port
from railfab.platforms import platform

LEAF = "pod1-seg1-leaf1"
DEFAULTS = {"eos": 1500, "nxos": 1500, "junos": 1500, "srlinux": 1500, "sonic": 9100}


def without_mtu(model: DeviceModel) -> DeviceModel:
    interfaces = (
        replace(interface, mtu_bytes=None, received_mtu_bytes=None) if isinstance(interface, Port) else interface
        for interface in model.interfaces
    )
    return replace(model, interfaces=tuple(interfaces))


@pytest.mark.parametrize(("name", "mtu_bytes"), DEFAULTS.items())
def test_a_port_without_mtu_has_the_default(name: str, mtu_bytes: int) -> None:
    system, model = platform(name), without_mtu(rack(name).models[LEAF])
    assert system.twin is not None
    face, tree = system.twin(), system.render(model)
    store = face.datastore(LEAF, tree)
    configuration = store.merged(tree)
    parsed = store.model(configuration)
    assert parsed is not None
    routed = [
        port
        for port in face.in_effect(parsed, configuration).interfaces
        if isinstance(port, Port) and port.network_instance
    ]
    assert routed
    assert {port.mtu_bytes for port in routed} == {mtu_bytes}

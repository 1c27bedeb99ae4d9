"""What a configuration does not state has the default of its platform, as on hardware: MTU, time between two tries."""

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


def in_effect(name: str, model: DeviceModel) -> DeviceModel:
    """The model by which a virtual switch with this configuration acts."""
    system = platform(name)
    assert system.twin is not None
    face, tree = system.twin(), system.render(model)
    store = face.datastore(LEAF, tree)
    configuration = store.merged(tree)
    parsed = store.model(configuration)
    assert parsed is not None
    return face.in_effect(parsed, configuration)


@pytest.mark.parametrize(("name", "mtu_bytes"), DEFAULTS.items())
def test_a_port_without_mtu_has_the_default(name: str, mtu_bytes: int) -> None:
    model = in_effect(name, without_mtu(rack(name).models[LEAF]))
    routed = [port for port in model.interfaces if isinstance(port, Port) and port.network_instance]
    assert routed
    assert {port.mtu_bytes for port in routed} == {mtu_bytes}


def test_a_session_of_cumulus_tries_again_after_the_time_of_frrs_datacenter_profile() -> None:
    planned = rack("cumulus").models[LEAF]
    assert {neighbor.timers.connect_retry_s for neighbor in planned.neighbors} == {None}
    assert {neighbor.timers.connect_retry_s for neighbor in in_effect("cumulus", planned).neighbors} == {10}

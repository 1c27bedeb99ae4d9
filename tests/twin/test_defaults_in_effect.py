"""What a configuration does not state has the default of its platform, as on hardware: MTU, time between two tries."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.faults.translation import rack
from tests.twin.small_fabric import bundled

from railfab.device import DeviceModel, Lag, Port
from railfab.forwarding.qos import switch_effect
from railfab.platforms import platform
from railfab.platforms.shared.dynamic_xoff import with_dynamic_xoff

LEAF = "pod1-seg1-leaf1"
BUFFER_BYTES = 132_000_000
DEFAULTS = {"eos": 1500, "nxos": 1500, "junos": 1500, "srlinux": 1500, "sonic": 9100, "cumulus": 9216}


def without_mtu(model: DeviceModel) -> DeviceModel:
    interfaces = (
        replace(interface, mtu_bytes=None, received_mtu_bytes=None) if isinstance(interface, Port) else interface
        for interface in model.interfaces
    )
    interfaces = (replace(held, mtu_bytes=None) if isinstance(held, Lag) else held for held in interfaces)
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


def test_a_lag_without_mtu_has_the_default() -> None:
    model = in_effect("srlinux", without_mtu(bundled().models[LEAF]))
    assert {lag.mtu_bytes for lag in model.interfaces if isinstance(lag, Lag)} == {DEFAULTS["srlinux"]}


@pytest.mark.parametrize(("name", "alpha"), {"nxos": 1.0, "junos": 8.0}.items())
def test_a_switch_that_states_no_xoff_pauses_at_a_share_of_the_free_buffer_above_its_ecn_ramps(
    name: str, alpha: float
) -> None:
    """On Junos at `dynamic-threshold 10`; 51,200 bytes, which are SR Linux's, had paused before the first mark."""
    switch = in_effect(name, rack(name).models[LEAF])
    assert switch.qos is not None
    (lossless,) = switch.qos.lossless()
    effect = switch_effect(switch, BUFFER_BYTES)
    for port in switch.qos.ports:
        (pause,) = effect.port(port.interface).pauses
        assert (pause.priority, pause.xoff_share) == (lossless.pfc_priority, alpha)
        assert pause.headroom_bytes > 500_000


def test_a_port_of_cumulus_pauses_later_than_it_marks_and_has_headroom_also_one_that_marks_nothing() -> None:
    planned = rack("cumulus").models[LEAF]
    assert planned.qos is not None
    first, *rest = planned.qos.ports
    unmarked = replace(planned, qos=replace(planned.qos, ports=(replace(first, ecn=()), *rest)))
    effect = switch_effect(in_effect("cumulus", unmarked), BUFFER_BYTES)
    for port in planned.qos.ports:
        held = effect.port(port.interface)
        (pause,) = held.pauses
        assert pause.xoff_share * effect.shared_bytes > max(
            (queue.kmax_bytes for queue in held.queues if queue.pmax), default=0
        )
        assert pause.xoff_share > 0
        assert pause.headroom_bytes > 100_000


def test_a_port_without_a_profile_pauses_at_a_share_of_the_free_buffer_too() -> None:
    planned = rack("nxos").models[LEAF]
    assert planned.qos is not None
    ports = tuple(replace(port, profile=None) for port in planned.qos.ports)
    paused = with_dynamic_xoff(replace(planned.qos, ports=ports), 0.5)
    assert {paused.profile(port.profile).of("queue3").alpha for port in paused.ports} == {0.5}


def test_headroom_and_xoff_of_junos_without_partitions_are_those_of_juniper_and_of_railfab() -> None:
    planned = rack("junos").models[LEAF]
    assert planned.qos is not None
    model = in_effect("junos", replace(planned, qos=replace(planned.qos, headroom_pool_percent=None)))
    assert model.qos is not None
    assert model.qos.headroom_pool_percent == 45
    assert {profile.of("roce").alpha for profile in model.qos.profiles} == {1.0}


def test_a_session_of_cumulus_tries_again_after_the_time_of_frrs_datacenter_profile() -> None:
    planned = rack("cumulus").models[LEAF]
    assert {neighbor.timers.connect_retry_s for neighbor in planned.neighbors} == {None}
    assert {neighbor.timers.connect_retry_s for neighbor in in_effect("cumulus", planned).neighbors} == {10}

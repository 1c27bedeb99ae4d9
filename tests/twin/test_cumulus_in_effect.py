"""A virtual Cumulus Linux switch has an MTU, pauses and headroom although its configuration states none of them."""

from __future__ import annotations

from dataclasses import replace

from tests.faults.translation import rack
from tests.twin.test_defaults_in_effect import LEAF, in_effect, without_mtu

from railfab.device import Port
from railfab.forwarding.qos import switch_effect

BUFFER_BYTES = 64 * 1024 * 1024


def test_every_port_pauses_later_than_it_marks_and_has_headroom_also_one_that_marks_nothing() -> None:
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


def test_a_port_without_mtu_takes_packets_of_9216_bytes() -> None:
    model = in_effect("cumulus", without_mtu(rack("cumulus").models[LEAF]))
    routed = [port for port in model.interfaces if isinstance(port, Port) and port.network_instance]
    assert {port.mtu_bytes for port in routed} == {9216}

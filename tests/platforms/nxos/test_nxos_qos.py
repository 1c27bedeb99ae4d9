"""QoS of NX-OS: which queue a class has, what the pause thresholds mean, and what all ports share."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.platforms.nxos.configurations import NXOS, leaf

from railfab.device import DeviceModel, PfcWatchdog, Scheduling
from railfab.errors import UnsupportedFeature
from railfab.platforms import admit
from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.shared.line_tree import Line


def children(model: DeviceModel, *place: str) -> list[str]:
    """The lines below a section of the rendered model."""
    lines: tuple[Line, ...] = NXOS.render(model)
    for step in place:
        lines = next(line.children for line in lines if line.text == step)
    return [line.text for line in lines]


def test_the_strict_queue_of_cnps_has_the_highest_group() -> None:
    model, _ = leaf()
    assert model.qos is not None
    strict = [found for found in model.qos.classes if found.scheduling is Scheduling.STRICT]
    assert [found.queue for found in strict] == [6]
    assert children(model, "policy-map type qos fabric", "class fabric_queue6") == ["set qos-group 7"]
    queuing = "policy-map type queuing RAILFAB"
    assert children(model, queuing, "class type queuing c-out-8q-q7") == ["priority level 1"]
    assert children(model, queuing, "class type queuing c-out-8q-q6") == ["bandwidth remaining percent 0"]


NETWORK = ("policy-map type network-qos RAILFAB", "class type network-qos c-8q-nq3")


def test_the_switch_sets_the_pause_thresholds_itself() -> None:
    """Stated ones are kept for each port: 64 times 3 MB on a chip of 120 MB."""
    model, text = leaf()
    assert model.qos is not None
    assert all(found.xoff_bytes is None for profile in model.qos.profiles for found in profile.thresholds)
    assert children(model, *NETWORK) == ["mtu 9216", "pause pfc-cos 3"]
    assert "buffer-size" not in text


def test_pause_thresholds_of_an_operator_are_read_and_are_a_difference() -> None:
    model, text = leaf()
    pause = "pause buffer-size 300000 pause-threshold 200000 resume-threshold 190000 pfc-cos 3"
    changed = text.replace("pause pfc-cos 3", pause)
    found = NXOS.parse(changed)
    assert found.qos is not None
    assert found.unmodelled == model.unmodelled
    held = found.qos.profiles[0].of("queue3")
    assert held is not None
    assert (held.xoff_bytes, held.xon_offset_bytes, held.headroom_bytes) == (200_000, 10_000, 100_000)
    place = ": ".join(NETWORK)
    assert [one.text for one in NXOS.differences(changed, text)] == [
        f"{place}: no pause pfc-cos 3",
        f"{place}: {pause}",
    ]


def test_a_longer_cable_of_a_port_with_pfc_is_refused() -> None:
    model, _ = leaf()
    assert model.qos is not None
    port = next(found for found in model.qos.ports if found.pfc)
    long = tuple(replace(one, cable_m=150 if one.name == port.profile else None) for one in model.qos.profiles)
    qos = replace(model.qos, profiles=long)
    with pytest.raises(UnsupportedFeature) as refused:
        admit(replace(model, qos=qos), NXOS)
    assert str(refused.value) == f"{model.name}: cable_m 150 is above platform nxos's limit of 100. Use 100 or less."
    without = replace(qos, ports=tuple(replace(one, pfc=()) for one in qos.ports))
    assert admit(replace(model, qos=without), NXOS).qos == replace(without, profiles=model.qos.profiles)


def test_the_times_of_the_watchdog_are_multiples_of_its_interval() -> None:
    model, _ = leaf()
    assert model.qos is not None
    qos = replace(model.qos, watchdog=PfcWatchdog(detect_ms=210, recover_ms=400))
    text = NXOS.text(NXOS.render(admit(replace(model, qos=qos), NXOS)))
    assert "priority-flow-control watch-dog shutdown-multiplier 3\n" in text
    assert "priority-flow-control auto-restore multiplier 4\n" in text
    assert NXOS.parse(text).qos == replace(qos, watchdog=PfcWatchdog(detect_ms=300, recover_ms=400))


def test_a_port_without_a_class_that_is_marked_has_a_policy_of_its_own() -> None:
    model, _ = leaf()
    assert model.qos is not None
    first, *others = model.qos.ports
    changed = replace(model, qos=replace(model.qos, ports=(replace(first, ecn=()), *others)))
    text = NXOS.text(NXOS.render(changed))
    assert NXOS.parse(text) == changed
    policy = next(line.text for line in FORMAT.tree(text) if line.text.endswith("_no-ecn3"))
    assert children(changed, policy, "class type queuing c-out-8q-q3") == ["bandwidth remaining percent 90"]

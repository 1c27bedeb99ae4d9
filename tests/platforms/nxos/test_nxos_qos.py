"""QoS of NX-OS: which queue a class has, what the pause thresholds mean, and what all ports share."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.platforms.nxos.configurations import NXOS, leaf
from tests.topology.fabric_intents import fabric

from railfab.device import DeviceModel, PfcWatchdog, Scheduling
from railfab.errors import UnsupportedFeature
from railfab.fabric import Design
from railfab.intent.document import Document
from railfab.platforms import admit, platform
from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.shared.line_tree import Line
from railfab.topology import wire

MODEL = "n9k-c9364d-gx2a"


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


@pytest.mark.parametrize("name", ["nxos", "eos"])
def test_a_strict_queue_below_a_weighted_one_is_refused_by_name(name: str) -> None:
    model = leaf()[0]
    assert model.qos is not None
    lower = tuple(replace(found, queue=2) if found.queue == 6 else found for found in model.qos.classes)
    with pytest.raises(UnsupportedFeature) as refused:
        admit(replace(model, qos=replace(model.qos, classes=lower)), platform(name))
    assert f"{model.name}: platform {name} does not support strict_below_weighted. Choose another platform, or " in str(
        refused.value
    )
    assert "change profile.lossless.cnp_queue in the intent" in str(refused.value)


def storage_leaf(protocol: str = "roce") -> DeviceModel:
    """With a class of storage beside that of GPUs."""
    intent = fabric(
        backend__segments={"count": 1, "hosts": 2, "rail_switches": 1, "model": MODEL, "platform": "nxos"},
        backend__spines={"count": 1, "rate_gbps": 400, "model": MODEL, "platform": "nxos"},
        hosts={"gpus": 2, "rate_gbps": 400},
        profile__lossless={"weight": 60},
        profile__storage_class={"weight": 30, "protocol": protocol},
    )
    design = Design(document=Document(Path("storage.yml"), {}), intent=intent, topology=wire(intent))
    return design.models["pod1-seg1-leaf1"]


def test_a_second_lossless_class_has_its_code_point_group_queue_pause_and_share() -> None:
    model = storage_leaf()
    assert children(model, "class-map type qos match-any fabric_queue4") == ["match dscp 34"]
    assert children(model, "policy-map type qos fabric", "class fabric_queue4") == ["set qos-group 4"]
    network = "policy-map type network-qos RAILFAB"
    for queue in (3, 4):
        lines = children(model, network, f"class type network-qos c-8q-nq{queue}")
        assert lines == ["mtu 9216", f"pause pfc-cos {queue}"]
    assert children(model, network, "class type network-qos c-8q-nq-default") == ["mtu 9216"]
    policy = next(line.text for line in NXOS.render(model) if line.text.startswith("policy-map type queuing 400g"))
    shares = [children(model, policy, f"class type queuing c-out-8q-q{queue}")[0] for queue in (3, 4)]
    assert shares == ["bandwidth remaining percent 60", "bandwidth remaining percent 30"]
    for queue in (3, 4):
        assert "random-detect" in children(model, policy, f"class type queuing c-out-8q-q{queue}")[1]
    assert NXOS.parse(NXOS.text(NXOS.render(model))) == model


def test_a_lossy_class_of_storage_has_long_packets_and_no_pause() -> None:
    model = storage_leaf("nvme-tcp")
    network = "policy-map type network-qos RAILFAB"
    assert children(model, network, "class type network-qos c-8q-nq4") == ["mtu 9216"]
    assert children(model, network, "class type network-qos c-8q-nq3") == ["mtu 9216", "pause pfc-cos 3"]
    assert NXOS.parse(NXOS.text(NXOS.render(model))) == model


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
    assert [one.text for one in NXOS.differences(changed, text)] == [f"{place}: {pause}"]


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


@pytest.mark.parametrize(
    "ramp",
    [
        "ecn",
        "threshold burst-optimized ecn",
        "minimum-threshold 100 packets maximum-threshold 300 packets drop-probability 10 weight 0 ecn",
    ],
)
def test_thresholds_of_which_no_document_gives_bytes_are_marks(ramp: str) -> None:
    """They are rendered as they were read, and their ports mark the same classes."""
    model, text = leaf()
    assert model.qos is not None
    read = NXOS.parse(re.sub(r"random-detect .* ecn", f"random-detect {ramp}", text))
    assert read.qos is not None
    assert [port.ecn for port in read.qos.ports] == [port.ecn for port in model.qos.ports]
    ramps = [thresholds for profile in read.qos.profiles for thresholds in profile.thresholds if thresholds.marks]
    assert {(thresholds.ecn, thresholds.native_ecn) for thresholds in ramps} == {(None, ramp)}
    assert not read.unmodelled
    assert NXOS.parse(NXOS.text(NXOS.render(read))) == read

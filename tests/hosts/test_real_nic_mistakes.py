"""NICs whose settings are really wrong on a host: nic.py reads them back, and one line names each mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.rig import Host, fabric, host

from railfab.device import Classifier, DeviceModel, Qos
from railfab.fabric import Design, design
from railfab.fabric.nic_agreement import NicAgreement, NicCoverage, NicStates
from railfab.hosts.nic_states import NicState, states_of
from railfab.hosts.ports import every_roce_port

NVIDIA, BROADCOM, AMD = NICS = ("connectx-7", "bcm57608", "pollara-400")
HOSTS = HOST, OTHER_HOST = ("pod1-seg1-host1", "pod1-seg1-host2")
NIC, LEAF, PORT = "rail2-p0", "pod1-seg1-leaf2", "ethernet-1/1/1"
CABLE = f"{HOST} {NIC} to {LEAF} {PORT}"
Edit = Callable[[Host], object]
Configured = Callable[[str], tuple[Design, Host, dict[str, Any]]]


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> Configured:
    """By NIC: the design, a host after `nic.py --apply`, and what `--check` prints there."""

    @cache
    def made(nic: str) -> tuple[Design, Host, dict[str, Any]]:
        folder = tmp_path_factory.mktemp("fabric")
        (folder / "two.yml").write_text(fabric(nic).model_dump_json(exclude_unset=True))
        (folder / "host").mkdir()
        configured = host(folder / "host", fabric(nic), nic)
        configured.run("--apply")
        return design(folder / "two.yml"), configured, configured.check()

    return made


def states(first: dict[str, Any], second: dict[str, Any]) -> dict[tuple[str, str], NicState]:
    """The NICs of both hosts, by what `--check` printed there."""
    documents = [{**document, "host": name} for name, document in zip(HOSTS, (first, second), strict=True)]
    return {(state.host, state.nic): state for document in documents for state in states_of(document)}


def agreement(
    fabric: Design,
    ports: dict[tuple[str, str], NicState],
    edit: Callable[[DeviceModel], DeviceModel] = lambda model: model,
) -> NicAgreement:
    """The NICs against the switches of the plan, of which LEAF is edited."""
    models = {**fabric.models, LEAF: edit(fabric.models[LEAF])}
    return NicAgreement(fabric, NicStates(ports, frozenset(HOSTS)), models)


def edited(made: Host, edit: Edit, folder: Path) -> dict[str, Any]:
    """What `--check` prints on a copy of a host after an edit."""
    copy = made.copy(folder)
    edit(copy)
    return json_of(copy)


def json_of(made: Host) -> dict[str, Any]:
    """What `--check` prints, whether or not all is as wanted."""
    try:
        return made.check()
    except AssertionError:
        return made.check(code=1)


def state(**values: Any) -> Edit:
    """Give the second NIC of a host these settings in its tools."""
    return lambda made: made.change(lambda kept: kept["nics"]["enp2s0"].update(values))


def dscps(**priorities: int) -> Edit:
    """Map DSCPs to priorities: `d24=3`."""
    points = {name[1:]: priority for name, priority in priorities.items()}
    return lambda made: made.change(lambda kept: kept["nics"]["enp2s0"]["dscp"].update(points))


def dcqcn(**values: str) -> Edit:
    named = {name.replace("_", "-"): value for name, value in values.items()}
    return lambda made: made.change(lambda kept: kept["nics"]["enp2s0"]["dcqcn"].update(named))


def file(name: str, text: str) -> Edit:
    return lambda made: made.file(name, text)


ECN = "/sys/class/net/enp2s0/ecn"
RDMA_CM = "/sys/kernel/config/rdma_cm/{}/ports/1/default_roce_tos"
TRAFFIC_CLASS = "/sys/class/infiniband/mlx5_2/tc/1/traffic_class"
CC = "/sys/kernel/config/bnxt_re/bnxt_re2/ports/1/cc/"
MISTAKES: list[tuple[str, Edit, str, str]] = [
    (NVIDIA, state(trust="pcp"), "trust", "trusts the priority of a VLAN tag"),
    (AMD, state(dcqcn={}), "ecn", "does not react to marks"),
    (BROADCOM, file(CC + "cnp_dscp", "0x2e"), "cnp", "CNPs with DSCP 46,"),
    (AMD, state(trust="PCP"), "trust", "trusts the priority of a VLAN tag"),
    (NVIDIA, state(pfc=[0] * 8), "pfc", "PFC on no priority"),
    (NVIDIA, state(pfc=[0, 0, 0, 0, 1, 0, 0, 0]), "pfc", "PFC on priority 4"),
    (NVIDIA, state(pfc=[1, 0, 0, 1, 0, 0, 0, 0]), "pfc", "PFC on priority 0, 3"),
    (NVIDIA, dscps(d24=3), "dscp", "DSCP 24, 26 in priority 3"),
    (NVIDIA, dscps(d26=0), "dscp", "DSCP none in priority 3"),
    (NVIDIA, file(TRAFFIC_CLASS, "96"), "dscp", "sends RoCE with DSCP 24"),
    (NVIDIA, file(RDMA_CM.format("mlx5_2"), "0"), "dscp", "sends RoCE with DSCP 0"),
    (NVIDIA, file(f"{ECN}/roce_np/enable/3", "0"), "ecn", "does not react to marks"),
    (NVIDIA, file(f"{ECN}/roce_rp/enable/3", "0"), "ecn", "does not react to marks"),
    (NVIDIA, file(f"{ECN}/roce_np/cnp_dscp", "4"), "cnp", "CNPs with DSCP 4,"),
    (NVIDIA, state(mtu=1500), "mtu", "MTU 1500"),
    (NVIDIA, state(cable=40), "cable", "a cable of 40 m"),
    (BROADCOM, state(pfc=["off"] * 8), "pfc", "PFC on no priority"),
    (BROADCOM, state(**{"dscp-prio": [["24", "3"], ["26", "3"]]}), "dscp", "DSCP 24, 26 in priority 3"),
    (BROADCOM, file(CC + "ecn_enable", "0x0"), "ecn", "does not react to marks"),
    (BROADCOM, file(CC + "ecn_marking", "0x0"), "ecn", "does not react to marks"),
    (BROADCOM, file(CC + "roce_dscp", "0x18"), "dscp", "sends RoCE with DSCP 24"),
    (BROADCOM, state(mtu=4096), "mtu", "MTU 4096"),
    (BROADCOM, file(RDMA_CM.format("bnxt_re2"), "0"), "dscp", "sends RoCE with DSCP 0"),
    (BROADCOM, state(**{"dscp-prio": []}), "dscp", "DSCP none in priority 3"),
    (AMD, state(nodrop=[]), "pfc", "PFC on no priority"),
    (AMD, state(nodrop=[3, 6]), "pfc", "PFC on priority 3, 6"),
    (AMD, dscps(d24=3), "dscp", "DSCP 24, 26 in priority 3"),
    (AMD, dscps(d26=0), "dscp", "DSCP none in priority 3"),
    (AMD, dcqcn(cnp_dscp="46"), "cnp", "CNPs with DSCP 46,"),
    (AMD, file(RDMA_CM.format("ionic_2"), "96"), "dscp", "sends RoCE with DSCP 24"),
    (AMD, state(mtu=9000), "mtu", "MTU 9000"),
]
SAMPLE = 4


@pytest.mark.parametrize(
    ("nic", "edit", "code", "says"),
    [
        pytest.param(*mistake, marks=[] if number < SAMPLE else [pytest.mark.matrix])
        for number, mistake in enumerate(MISTAKES)
    ],
)
def test_a_real_mistake_of_a_nic_is_one_line(
    configured: Configured, tmp_path: Path, nic: str, edit: Edit, code: str, says: str
) -> None:
    fabric, made, healthy = configured(nic)
    (finding,) = agreement(fabric, states(edited(made, edit, tmp_path), healthy)).findings()
    assert (finding.code, finding.where) == (f"nic-{code}-mismatch", CABLE)
    assert says in finding.problem
    assert finding.remedy == "Change the NIC with nic.py --apply"


def on_qos(edit: Callable[[Qos], Qos]) -> Callable[[DeviceModel], DeviceModel]:
    def changed(model: DeviceModel) -> DeviceModel:
        assert model.qos is not None
        return replace(model, qos=edit(model.qos))

    return changed


def without_classifier(qos: Qos) -> Qos:
    ports = (replace(port, classifier=None) if port.interface == PORT else port for port in qos.ports)
    return replace(qos, ports=tuple(ports))


def mapped(**classes: str) -> Callable[[Qos], Qos]:
    """Map DSCPs to classes: `d26="default"`."""

    def edit(qos: Qos) -> Qos:
        (classifier,) = qos.classifiers
        points = {**dict(classifier.dscp), **{int(name[1:]): value for name, value in classes.items()}}
        return replace(qos, classifiers=(Classifier(name=classifier.name, dscp=tuple(sorted(points.items()))),))

    return edit


@pytest.mark.parametrize(
    ("edit", "code", "says"),
    [
        (without_classifier, "trust", "trusts DSCP, the switch port puts every DSCP into one queue"),
        (mapped(d26="default"), "dscp", "DSCP 26 in priority 3, the switch port none"),
        (mapped(d24="roce"), "dscp", "DSCP 26 in priority 3, the switch port 24, 26"),
        (mapped(d48="default"), "cnp", "CNPs with DSCP 48, which the switch port puts into queue 0, not 6"),
    ],
)
def test_a_mistake_in_the_classes_of_a_switch_is_one_line_for_each_cable(
    configured: Configured, edit: Callable[[Qos], Qos], code: str, says: str
) -> None:
    fabric, _, healthy = configured(NVIDIA)
    findings = [*agreement(fabric, states(healthy, healthy), on_qos(edit)).findings()]
    assert len({finding.where for finding in findings}) == len(findings) > 0
    assert {(finding.code, finding.remedy) for finding in findings} == {
        (f"nic-{code}-mismatch", "Change the switch: deploy the intent")
    }
    assert all(says in finding.problem for finding in findings)


def test_a_nic_that_sends_another_dscp_is_named_beside_a_switch_without_that_of_the_intent(
    configured: Configured, tmp_path: Path
) -> None:
    fabric, made, healthy = configured(NVIDIA)
    wrong = edited(made, file(TRAFFIC_CLASS, "96"), tmp_path)
    findings = agreement(fabric, states(wrong, healthy), on_qos(mapped(d26="default"))).findings()
    problems = [finding.problem for finding in findings if finding.where == CABLE]
    assert problems == [
        "the NIC has DSCP 26 in priority 3, the switch port none",
        "the NIC sends RoCE with DSCP 24, which the switch port puts into queue 0",
    ]


@pytest.mark.parametrize(
    ("neighbor", "is_miscabled"),
    [
        ((LEAF, PORT), False),
        ((f"{LEAF}.cluster.example", PORT), False),
        ((LEAF, f"to {HOST}"), False),
        ((LEAF, "ethernet-1/1/2"), True),
        (("pod1-seg1-leaf1", PORT), True),
    ],
)
def test_a_neighbor_is_known_by_its_name_without_domain_and_by_a_port_that_it_has(
    configured: Configured, neighbor: tuple[str, str], is_miscabled: bool
) -> None:
    fabric, _, healthy = configured(NVIDIA)
    ports = states(healthy, healthy)
    ports[HOST, NIC] = replace(ports[HOST, NIC], neighbor=neighbor)
    assert [finding.code for finding in agreement(fabric, ports).findings()] == ["miscabled"] * is_miscabled


def test_a_nic_with_a_value_that_is_not_known_does_not_count_as_compared(
    configured: Configured, tmp_path: Path
) -> None:
    fabric, made, healthy = configured(NVIDIA)
    wrong = edited(made, lambda copy: (copy.folder / "bin" / "mlnx_qos").unlink(), tmp_path)
    compared = agreement(fabric, states(wrong, healthy))
    assert {finding.code for finding in compared.findings()} == {"nic-unread"}
    assert compared.coverage == NicCoverage(compared=2, ports=4)


@pytest.mark.parametrize("name", ["dual-mlag", "dual-vlan"])
def test_the_mtu_of_a_port_in_a_lag_is_that_of_the_lag(repository: Path, name: str) -> None:
    fabric = design(repository / "inventory" / "fabrics" / f"{name}.yml")
    ports = {
        (port.host, port.name): NicState(host=port.host, nic=port.name, mtu_bytes=port.mtu)
        for port in every_roce_port(fabric.topology, fabric.intent)
    }
    hosts = frozenset(host for host, _ in ports)
    assert [*NicAgreement(fabric, NicStates(ports, hosts), fabric.models).findings()] == []
    (host, nic), state = next(iter(ports.items()))
    ports[host, nic] = replace(state, mtu_bytes=1500)
    (finding,) = NicAgreement(fabric, NicStates(ports, hosts), fabric.models).findings()
    assert (finding.code, finding.where.partition(" to ")[0]) == ("nic-mtu-mismatch", f"{host} {nic}")


def test_the_map_of_a_second_lossless_class_is_compared_too(tmp_path: Path) -> None:
    """Storage with RoCE of its own: the NIC takes another DSCP for it than the switch."""
    intent = fabric(NVIDIA, lossless={"weight": 60}, storage_class={"protocol": "roce", "weight": 30})
    (tmp_path / "two.yml").write_text(intent.model_dump_json(exclude_unset=True))
    made = host(tmp_path, intent, NVIDIA)
    made.run("--apply")
    healthy, plan, storage = made.check(), design(tmp_path / "two.yml"), intent.profile.storage_class
    assert storage is not None
    assert [*agreement(plan, states(healthy, healthy)).findings()] == []
    made.change(lambda kept: kept["nics"]["enp2s0"]["dscp"].update({"1": storage.priority}))
    (finding,) = agreement(plan, states(json_of(made), healthy)).findings()
    assert (finding.code, finding.where) == ("nic-dscp-mismatch", CABLE)
    assert finding.problem == "the NIC has DSCP 1, 34 in priority 4, the switch port 34"

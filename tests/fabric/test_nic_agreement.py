"""NICs against the switch ports that they are cabled to: what differs is named once, with the end to change."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.hosts import rig

from railfab.device import DeviceModel, Fec, Port
from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.fabric.nic_agreement import NicAgreement, NicCoverage, NicStates, read_nic_states
from railfab.findings import Finding, Severity
from railfab.hosts.nic_states import NicDocumentError, states_of

NVIDIA, BROADCOM, AMD = NICS = ("connectx-7", "bcm57608", "pollara-400")
HOSTS = ("pod1-seg1-host1", "pod1-seg1-host2")
NIC, LEAF, OTHER_LEAF, PORT = "rail1-p0", "pod1-seg1-leaf1", "pod1-seg1-leaf2", "ethernet-1/1/1"
Document = dict[str, Any]


@pytest.fixture(scope="module")
def fabrics(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Design]:
    @cache
    def made(nic: str) -> Design:
        path = tmp_path_factory.mktemp("fabric") / "two.yml"
        path.write_text(rig.fabric(nic).model_dump_json(exclude_unset=True))
        return design(path)

    return made


@pytest.fixture(scope="module")
def configured(fabrics: Callable[[str], Design], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], rig.Host]:
    """A host after `nic.py --apply`, by its NIC."""

    @cache
    def made(nic: str) -> rig.Host:
        host = rig.host(tmp_path_factory.mktemp("host"), fabrics(nic).intent, nic)
        host.run("--apply")
        return host

    return made


@pytest.fixture(scope="module")
def checked(configured: Callable[[str], rig.Host]) -> Callable[[str], Document]:
    """What `nic.py --check` prints there."""
    return cache(lambda nic: configured(nic).check())


def states(*documents: Document) -> NicStates:
    """What these documents say, one of each host of HOSTS; the first one stands for those that are missing."""
    named = [
        {**document, "host": host} for host, document in zip(HOSTS, (*documents, *documents[:1] * 2), strict=False)
    ]
    ports = {(state.host, state.nic): state for document in named for state in states_of(document)}
    return NicStates(ports, frozenset(HOSTS))


def findings(fabric: Design, nics: NicStates, leaf: DeviceModel | None = None) -> list[Finding]:
    """leaf: what LEAF runs in place of the intent."""
    models = {**fabric.models, LEAF: leaf or fabric.models[LEAF]}
    return [*NicAgreement(fabric, nics, models).findings()]


@pytest.mark.parametrize("nic", NICS)
def test_nics_as_the_plan_wants_them_agree_with_switches_as_the_plan_wants_them(
    fabrics: Callable[[str], Design], checked: Callable[[str], Document], nic: str
) -> None:
    agreement = NicAgreement(fabrics(nic), states(checked(nic)), fabrics(nic).models)
    assert [*agreement.findings()] == []
    assert agreement.coverage == NicCoverage(compared=4, ports=4)
    state = agreement.states.ports[HOSTS[0], NIC]
    assert (state.pfc, state.roce_dscps, state.cnp_dscp, state.ecn) == ({3}, {26}, 48, True)
    assert (state.mtu_bytes, state.unread) == (fabrics(nic).intent.profile.mtu, ())


@dataclass(frozen=True)
class Mistake:
    """Settings of a NIC as they are read back, in place of those of the plan. says: of the line about it."""

    nic: str
    settings: Mapping[str, str]
    code: str
    says: str


MISTAKES = {
    "mlx5 without PFC": Mistake(
        NVIDIA,
        {"pfc": "0 0 0 0 0 0 0 0"},
        "nic-pfc-mismatch",
        "PFC on no priority, the switch port on priority 3",
    ),
    "mlx5 with PFC of another priority": Mistake(
        NVIDIA, {"pfc": "0 0 0 0 1 0 0 0"}, "nic-pfc-mismatch", "on priority 4,"
    ),
    "mlx5 with PFC of two": Mistake(NVIDIA, {"pfc": "1 0 0 1 0 0 0 0"}, "nic-pfc-mismatch", "PFC on priority 0, 3,"),
    "bnxt without PFC": Mistake(BROADCOM, {"pfc": ""}, "nic-pfc-mismatch", "PFC on no priority,"),
    "bnxt with PFC of all": Mistake(BROADCOM, {"pfc": "0,1,2,3,4,5,6,7"}, "nic-pfc-mismatch", "priority 0, 1, 2,"),
    "ionic without PFC": Mistake(AMD, {"pfc": ""}, "nic-pfc-mismatch", "PFC on no priority,"),
    "ionic with PFC of 0": Mistake(AMD, {"pfc": "0"}, "nic-pfc-mismatch", "PFC on priority 0,"),
    "mlx5 that trusts VLAN tags": Mistake(
        NVIDIA, {"trust": "pcp"}, "nic-trust-mismatch", "the priority of a VLAN tag, the switch port DSCP"
    ),
    "ionic that trusts VLAN tags": Mistake(AMD, {"trust": "PCP"}, "nic-trust-mismatch", "the priority of a VLAN tag"),
    "mlx5 with its default map": Mistake(
        NVIDIA,
        {"roce-dscp": "24,25,26,27,28,29,30,31"},
        "nic-dscp-mismatch",
        "DSCP 24, 25, 26, 27, 28, 29, 30, 31 in priority 3, the switch port 26",
    ),
    "mlx5 without RoCE's DSCP": Mistake(NVIDIA, {"roce-dscp": "24"}, "nic-dscp-mismatch", "DSCP 24 in priority 3,"),
    "bnxt with a second DSCP": Mistake(BROADCOM, {"roce-dscp": "24,26"}, "nic-dscp-mismatch", "24, 26 in priority 3,"),
    "bnxt with no DSCP": Mistake(BROADCOM, {"roce-dscp": ""}, "nic-dscp-mismatch", "DSCP none in priority 3,"),
    "ionic with another DSCP": Mistake(AMD, {"roce-dscp": "46"}, "nic-dscp-mismatch", "DSCP 46 in priority 3,"),
    "mlx5 that sends DSCP 0": Mistake(
        NVIDIA,
        {"traffic-class": "0"},
        "nic-dscp-mismatch",
        "RoCE with DSCP 0, which the switch port puts into queue 0",
    ),
    "mlx5 whose RDMA-CM sends DSCP 46": Mistake(NVIDIA, {"rdma-cm-tos": "184"}, "nic-dscp-mismatch", "DSCP 46,"),
    "bnxt whose RDMA-CM sends DSCP 0": Mistake(BROADCOM, {"rdma-cm-tos": "0"}, "nic-dscp-mismatch", "DSCP 0,"),
    "bnxt whose firmware sends DSCP 10": Mistake(BROADCOM, {"cc-roce-dscp": "0xa"}, "nic-dscp-mismatch", "DSCP 10,"),
    "ionic whose RDMA-CM sends DSCP 8": Mistake(AMD, {"rdma-cm-tos": "32"}, "nic-dscp-mismatch", "DSCP 8,"),
    "mlx5 that sends no CNPs": Mistake(
        NVIDIA,
        {"dcqcn-notification": "0"},
        "nic-ecn-mismatch",
        "not react to marks, the switch port marks",
    ),
    "mlx5 that ignores CNPs": Mistake(NVIDIA, {"dcqcn-reaction": "0"}, "nic-ecn-mismatch", "not react to marks"),
    "mlx5 whose firmware starts without DCQCN": Mistake(
        NVIDIA, {"firmware-roce-cc-prio-mask": "0"}, "nic-ecn-mismatch", "not react to marks"
    ),
    "bnxt without ECN": Mistake(BROADCOM, {"cc-ecn-enable": "0x0"}, "nic-ecn-mismatch", "not react to marks"),
    "bnxt that does not set ECT": Mistake(
        BROADCOM, {"cc-ecn-marking": "0x0"}, "nic-ecn-mismatch", "not react to marks"
    ),
    "ionic without DCQCN": Mistake(AMD, {"dcqcn-status": "Disabled"}, "nic-ecn-mismatch", "not react to marks"),
    "mlx5 with CNPs of DSCP 4": Mistake(
        NVIDIA,
        {"cnp-dscp": "4"},
        "nic-cnp-mismatch",
        "sends CNPs with DSCP 4, which the switch port puts into queue 0, not 6",
    ),
    "bnxt with CNPs of RoCE's DSCP": Mistake(
        BROADCOM,
        {"cc-cnp-dscp": "0x1a"},
        "nic-cnp-mismatch",
        "DSCP 26, which the switch port puts into queue 3",
    ),
    "ionic with CNPs of DSCP 0": Mistake(AMD, {"dcqcn-cnp-dscp": "0"}, "nic-cnp-mismatch", "CNPs with DSCP 0,"),
    "mlx5 with MTU 1500": Mistake(NVIDIA, {"mtu": "1500"}, "nic-mtu-mismatch", "MTU 1500, the switch port 9216"),
    "bnxt with MTU 9000": Mistake(BROADCOM, {"mtu": "9000"}, "nic-mtu-mismatch", "the NIC has MTU 9000,"),
    "ionic with MTU 9600": Mistake(AMD, {"mtu": "9600"}, "nic-mtu-mismatch", "the NIC has MTU 9600,"),
    "mlx5 with the buffer of a shorter cable": Mistake(
        NVIDIA,
        {"cable-length": "1"},
        "nic-cable-mismatch",
        "the NIC has its buffer for a cable of 1 m, the switch port for 5 m",
    ),
}


def with_settings(document: Document, settings: Mapping[str, str], nic: str = NIC) -> Document:
    changed = deepcopy(document)
    for row in changed["settings"]:
        if row["nic"] == nic and row["setting"] in settings:
            row |= {"found": settings[row["setting"]], "ok": False}
    assert changed != document
    return changed


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_of_a_nic_is_one_line_that_says_to_change_the_nic(
    fabrics: Callable[[str], Design], checked: Callable[[str], Document], name: str
) -> None:
    mistake = MISTAKES[name]
    wrong = with_settings(checked(mistake.nic), mistake.settings)
    (finding,) = findings(fabrics(mistake.nic), states(wrong, checked(mistake.nic)))
    assert (finding.severity, finding.code) == (Severity.ERROR, mistake.code)
    assert finding.where == f"{HOSTS[0]} {NIC} to {LEAF} {PORT}"
    assert mistake.says in finding.problem
    assert finding.remedy == "Change the NIC with nic.py --apply"


def changed_port(model: DeviceModel, **settings: Any) -> DeviceModel:
    ports = (
        replace(port, **settings) if port.name == PORT and isinstance(port, Port) else port for port in model.interfaces
    )
    return replace(model, interfaces=tuple(ports))


def changed_qos(model: DeviceModel, **settings: Any) -> DeviceModel:
    assert model.qos is not None
    ports = (replace(port, **settings) if port.interface == PORT else port for port in model.qos.ports)
    return replace(model, qos=replace(model.qos, ports=tuple(ports)))


ON_SWITCHES: Mapping[str, tuple[Callable[[DeviceModel], DeviceModel], str]] = {
    "PFC off": (lambda model: changed_qos(model, pfc=()), "nic-pfc-mismatch"),
    "PFC of another priority": (lambda model: changed_qos(model, pfc=(4,)), "nic-pfc-mismatch"),
    "no marks": (lambda model: changed_qos(model, ecn=()), "nic-ecn-mismatch"),
    "MTU 1500": (lambda model: changed_port(model, mtu_bytes=1500), "nic-mtu-mismatch"),
}


@pytest.mark.parametrize("name", ON_SWITCHES)
def test_a_mistake_of_a_switch_is_one_line_that_says_to_change_the_switch(
    fabrics: Callable[[str], Design], checked: Callable[[str], Document], name: str
) -> None:
    change, code = ON_SWITCHES[name]
    fabric = fabrics(NVIDIA)
    (finding,) = findings(fabric, states(checked(NVIDIA)), change(fabric.models[LEAF]))
    assert (finding.code, finding.where) == (code, f"{HOSTS[0]} {NIC} to {LEAF} {PORT}")
    assert finding.remedy == "Change the switch: deploy the intent"


def test_both_ends_that_differ_from_the_intent_and_from_each_other_are_both_to_change(
    fabrics: Callable[[str], Design], checked: Callable[[str], Document]
) -> None:
    fabric, wrong = fabrics(NVIDIA), with_settings(checked(NVIDIA), {"mtu": "1500"})
    leaf = changed_port(fabric.models[LEAF], mtu_bytes=4096)
    (finding,) = findings(fabric, states(wrong, checked(NVIDIA)), leaf)
    assert finding.remedy == "Change the NIC with nic.py --apply, and the switch: deploy the intent"
    alike = changed_port(fabric.models[LEAF], mtu_bytes=1500)
    assert findings(fabric, states(wrong, checked(NVIDIA)), alike) == []


HARMLESS = {
    NVIDIA: (
        {"dcbx-owner": "Firmware controlled"},
        {"802.3x-pause": "on on"},
        {"ets-roce": "ets 50"},
        {"ets-default": "ets 50"},
        {"ets-cnp": "ets"},
        {"cnp-priority": "5"},
        {"receive-buffer": "0 0 0 2 0 0 0 0"},
        {"firmware-lldp-nb-dcbx": "1"},
        {"firmware-cnp-dscp": "4"},
        {"firmware-roce-cc-prio-mask": "0x8"},
        {"rdma-cm-mode": "IB/RoCE v1"},
        {"traffic-class": "105"},
        {"rdma-cm-tos": "106"},
    ),
    BROADCOM: (
        {"dcbx-owner": "lld-managed"},
        {"roce-udp-port": "0"},
        {"ets-shares": "0:50 1:50"},
        {"cc-mode": "0x0"},
        {"cc-disable-prio-vlan-tx": "0x0"},
        {"cc-cnp-prio": "0x6"},
    ),
    AMD: (
        {"pause-receive": "disabled"},
        {"scheduling-roce": "DWRR 50 N/A"},
        {"dcqcn-ai-rate": "200"},
        {"dcqcn-hai-rate": "400"},
    ),
}
"""Settings that only concern the NIC itself, or mean the same: 105 and 106 are DSCP 26 with bits of ECN."""


@pytest.mark.parametrize(("nic", "settings"), [(nic, settings) for nic in NICS for settings in HARMLESS[nic]])
def test_what_concerns_the_nic_alone_is_no_mismatch(
    fabrics: Callable[[str], Design], checked: Callable[[str], Document], nic: str, settings: Mapping[str, str]
) -> None:
    document = deepcopy(checked(nic))
    assert settings.keys() <= {row["setting"] for row in document["settings"]}
    for row in document["settings"]:
        row["found"] = settings.get(row["setting"], row["found"])
    assert findings(fabrics(nic), states(document)) == []


@pytest.fixture
def copied(configured: Callable[[str], rig.Host], tmp_path: Path) -> Iterator[Callable[[str], rig.Host]]:
    return lambda nic: configured(nic).copy(tmp_path / nic)


def break_pfc(nic: str, state: dict[str, Any]) -> None:
    port = state["nics"]["enp1s0"]
    port |= {NVIDIA: {"pfc": [0] * 8}, BROADCOM: {"pfc": ["off"] * 8}, AMD: {"nodrop": []}}[nic]


@pytest.mark.parametrize("nic", NICS)
def test_a_nic_that_really_loses_its_pfc_is_named(
    fabrics: Callable[[str], Design], checked: Callable[[str], Document], copied: Callable[[str], rig.Host], nic: str
) -> None:
    host = copied(nic)
    host.change(lambda state: break_pfc(nic, state))
    (finding,) = findings(fabrics(nic), states(host.check(code=1), checked(nic)))
    assert (finding.code, finding.where) == ("nic-pfc-mismatch", f"{HOSTS[0]} {NIC} to {LEAF} {PORT}")


def agent_document(document: Document, **link: Any) -> Document:
    """The same as the agent prints it, with this link."""
    rows = [{**row, "read": row["found"]} for row in document["settings"] if row["nic"] == NIC]
    port = {"nic": NIC, "family": "mlx5", "neighbor": {"switch": LEAF, "port": PORT}, "settings": rows}
    whole_link = {"up": True, "rate_gbps": 200.0, "fec": "RS", **link}
    return {"version": 1, "fabric": "two", "host": HOSTS[0], "nics": [{**port, "link": whole_link}]}


@pytest.mark.parametrize(
    ("link", "code"),
    [
        ({}, None),
        ({"rate_gbps": 100.0}, "nic-speed-mismatch"),
        ({"fec": "Off"}, "nic-fec-mismatch"),
        ({"fec": "BaseR"}, "nic-fec-mismatch"),
        ({"fec": "Auto"}, None),
        ({"up": False, "rate_gbps": None, "fec": None}, None),
    ],
)
def test_the_link_of_a_nic_is_compared_while_it_is_up(
    fabrics: Callable[[str], Design], checked: Callable[[str], Document], link: dict[str, Any], code: str | None
) -> None:
    fabric = fabrics(NVIDIA)
    leaf = changed_port(fabric.models[LEAF], fec=Fec.RS_544)
    nics = states(agent_document(checked(NVIDIA), **link), checked(NVIDIA))
    nics = replace(nics, ports={key: state for key, state in nics.ports.items() if key[0] == HOSTS[0]})
    found = findings(fabric, nics, leaf)
    assert [finding.code for finding in found if finding.code != "nic-unread"] == ([] if code is None else [code])


def test_a_nic_that_lldp_sees_at_another_port_is_miscabled_and_nothing_else(
    fabrics: Callable[[str], Design], checked: Callable[[str], Document]
) -> None:
    document = agent_document(with_settings(checked(NVIDIA), {"pfc": "0 0 0 0 0 0 0 0"}))
    document["nics"][0]["neighbor"] = {"switch": OTHER_LEAF, "port": PORT}
    found = findings(fabrics(NVIDIA), states(document, checked(NVIDIA)))
    assert [str(finding) for finding in found if finding.code == "miscabled"] == [
        f"{HOSTS[0]} {NIC}: is cabled to {OTHER_LEAF} {PORT}, the intent says {LEAF} {PORT}. Correct the cabling."
    ]
    assert not any("mismatch" in finding.code for finding in found)


def test_what_is_not_known_is_said_and_counted_against_the_intent(
    fabrics: Callable[[str], Design], checked: Callable[[str], Document]
) -> None:
    fabric, document = fabrics(NVIDIA), deepcopy(checked(NVIDIA))
    for row in document["settings"]:
        if (row["nic"], row["setting"]) == (NIC, "pfc"):
            row |= {"found": None, "ok": False, "problem": "mlnx_qos is not installed"}
    nics = states(document)
    half = NicStates({key: state for key, state in nics.ports.items() if key[0] == HOSTS[0]}, frozenset(HOSTS[:1]))
    agreement = NicAgreement(fabric, half, {name: fabric.models[name] for name in (LEAF, OTHER_LEAF)})
    assert [(finding.severity, finding.where) for finding in agreement.findings()] == [
        (Severity.WARNING, HOSTS[1]),
        (Severity.WARNING, f"{HOSTS[0]} {NIC}"),
    ]
    assert agreement.coverage == NicCoverage(compared=1, ports=4)
    unread = NicAgreement(fabric, nics, {OTHER_LEAF: fabric.models[OTHER_LEAF]})
    assert unread.coverage == NicCoverage(compared=2, ports=4)


def test_a_folder_of_documents_is_read_and_each_fault_is_one_line(
    fabrics: Callable[[str], Design], checked: Callable[[str], Document], tmp_path: Path
) -> None:
    fabric = fabrics(NVIDIA)
    document = {**checked(NVIDIA), "host": f"{HOSTS[0]}.cluster.example"}
    (tmp_path / "one.json").write_text(json.dumps(document))
    assert read_nic_states(fabric, tmp_path).hosts == {HOSTS[0]}
    (tmp_path / "again.json").write_text(json.dumps(document))
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "foreign.json").write_text(json.dumps({**document, "host": "seg9-host1"}))
    (tmp_path / "later.json").write_text(json.dumps({**document, "version": 2}))
    (tmp_path / "of-three.json").write_text(json.dumps({**document, "host": HOSTS[1], "fabric": "three"}))
    with pytest.raises(RailfabError) as refused:
        read_nic_states(fabric, tmp_path)
    assert [line.partition(": ")[2].partition(". ")[0] for line in str(refused.value).splitlines()] == [
        "is not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))",
        "is of seg9-host1, which the intent lacks",
        "is no document of version 1 of NICs (ValueError: version 2)",
        "is of fabric three, not of two",
        "is of the same host as again.json",
    ]
    with pytest.raises(RailfabError, match="one for each host"):
        read_nic_states(fabric, tmp_path_of(tmp_path))


def tmp_path_of(folder: Path) -> Path:
    empty = folder / "empty"
    empty.mkdir()
    return empty


@pytest.mark.parametrize(
    "document", [[], 1, {}, {"nics": []}, {"version": 1, "nics": [{}]}, {"version": 1, "nics": {"a": "b"}}]
)
def test_other_documents_are_refused(document: Any) -> None:
    with pytest.raises(NicDocumentError):
        list(states_of(document))

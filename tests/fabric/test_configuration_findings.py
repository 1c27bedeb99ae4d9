"""Findings about configurations: three classes, folded by hazard and section."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.platforms.small_fabrics import design_of

from railfab.device import Port, deviations
from railfab.fabric import Design, design
from railfab.fabric.audit import configuration_findings, folded, most_harmful_first
from railfab.fabric.design import render_text
from railfab.fabric.trial import changed
from railfab.findings import DifferenceCode, Finding, Severity, error, note, warning
from railfab.platforms import Support, platform, platform_names
from railfab.platforms.admission import support_of
from railfab.topology import wire

LEAF = "pod1-seg1-leaf1"
INTERFACES, QOS = "srl_nokia-interfaces:interface", "srl_nokia-qos:qos"


@pytest.fixture(scope="module")
def fabric(repository: Path) -> Design:
    return design(repository / "inventory" / "fabrics" / "pod64.yml")


def lines(fabric: Design, edit: Callable[[Any], object]) -> list[str]:
    tree = json.loads(fabric.texts[LEAF])
    edit(tree)
    return [found.line for found in configuration_findings(fabric, {LEAF: json.dumps(tree)})]


def profiles(tree: Any) -> Any:
    return tree[QOS]["buffer-management"]["queue-management-profile"]


def test_the_rendered_configurations_have_no_finding(fabric: Design) -> None:
    assert configuration_findings(fabric, fabric.texts) == ()


def test_a_hazard_is_one_finding_with_its_first_place_and_how_many_more(fabric: Design) -> None:
    assert lines(fabric, lambda tree: [one.update({"weight-factor": 15}) for one in profiles(tree)]) == [
        f"warning {LEAF}: set / qos buffer-management queue-management-profile 100g-5m weight-factor 15: "
        "marks follow an average of the queue, so that PFC acts first in an incast "
        "(and 1 line more). Deploy the intent. [ecn-average]"
    ]


def test_a_label_is_a_note(fabric: Design) -> None:
    assert lines(fabric, lambda tree: tree[INTERFACES][3].update({"description": "spare"})) == [
        f"note {LEAF}: interfaces[ethernet-1/1/3].description: is spare, the intent says pod1-seg1-host1 rail3-p0. "
        "Deploy the intent. [configuration-differs]"
    ]


def test_a_part_that_railfab_does_not_configure_is_a_note_by_section(fabric: Design) -> None:
    banner = {"login-banner": "hands off", "motd-banner": "hello"}
    assert lines(
        fabric, lambda tree: tree["srl_nokia-system:system"].update({"srl_nokia-system-banner:banner": banner})
    ) == [
        f"note {LEAF}: /system/banner: railfab does not model 'set / system banner login-banner \"hands off\"' "
        "(and 1 line more). Check that nothing there concerns the fabric. [unmodelled]"
    ]


@pytest.mark.parametrize("release", ["8.4.4", "10.2"])
def test_a_line_that_the_release_does_not_know_is_one_finding(release: str) -> None:
    """`capability link-local` is of FRR 10, which states its negation by default."""
    frr, line = design_of("frr", "frr"), " no neighbor swp64 capability link-local\n"
    text = frr.texts[LEAF].replace("frr defaults", f"frr version {release}\nfrr defaults", 1)
    (finding,) = configuration_findings(
        frr, {LEAF: text.replace(" neighbor swp64 bfd\n", f"{line} neighbor swp64 bfd\n")}
    )
    refused, unknown = DifferenceCode.CONFIGURATION_REFUSED, DifferenceCode.UNKNOWN_SETTING
    assert finding.code is (refused if release.startswith("8") else unknown)


def test_a_rendered_setting_without_a_word_in_the_model_is_a_warning(fabric: Design) -> None:
    def unsampled(tree: Any) -> None:
        del tree[QOS]["queues"]["queue-depth-sampling"]

    (found,) = lines(fabric, unsampled)
    assert found.startswith(f"warning {LEAF}: delete / qos queues queue-depth-sampling admin-state: ")


@pytest.fixture(scope="module")
def mixed(repository: Path) -> Design:
    return design(repository / "inventory" / "fabrics" / "mixed-eos-spine.yml")


def broken(fabric: Design, line: str, other: str, *switches: str) -> tuple[Finding, ...]:
    """The findings of a fabric with another line in the first place of these switches that has it."""
    edited = {name: fabric.texts[name].replace(line, other, 1) for name in switches}
    assert all(fabric.texts[name] != text for name, text in edited.items())
    return configuration_findings(fabric, {**fabric.texts, **edited})


def test_a_broken_line_stands_before_the_links_that_it_breaks(mixed: Design) -> None:
    """One line of a profile is wrong on 32 ports, and at both ends of their links; it explains every setting."""
    found = broken(mixed, "   priority-flow-control priority 3 no-drop\n", "", "pod1-spine1")
    assert len(found) > 60
    shown = folded(found)
    assert [one.code for one in shown] == ["wrong-pfc-priority", "pfc-mismatch", "dscp-map-mismatch"]
    assert shown[0].where == "pod1-spine1: qos profile 400g-40m: no priority-flow-control priority 3 no-drop"
    assert shown[1].line == (
        "error pod1-seg1-leaf1 Ethernet1/64 and pod1-spine1 Ethernet1/1: PFC of priority 3 differs: on and off "
        "(and 31 places more on 4 switches). Configure both ends with the same value. [pfc-mismatch]"
    )


def test_a_broken_line_stands_before_a_setting_that_differs_by_itself(mixed: Design) -> None:
    texts = mixed.texts["pod1-spine1"].replace("   priority-flow-control priority 3 no-drop\n", "", 1)
    found = configuration_findings(mixed, {"pod1-spine1": texts.replace("   mtu 9000\n", "   mtu 9014\n", 1)})
    assert next(one.code for one in found if one.severity is Severity.ERROR) == "wrong-pfc-priority"
    assert any(one.where.endswith("mtu_bytes") for one in found)


def test_one_place_of_several_switches_is_one_line_and_other_values_are_others(mixed: Design) -> None:
    found = broken(mixed, "   mtu 9000\n", "   mtu 9014\n", "pod1-spine1", "pod1-spine2")
    differing = [one for one in folded(found) if one.code == "configuration-differs"]
    assert [one.where for one in differing] == ["pod1-spine1 and 1 more: interfaces[Ethernet1/1].mtu_bytes"]
    found += broken(mixed, "   mtu 9000\n", "   mtu 9015\n", "pod1-spine3")
    differing = [one for one in folded(found) if one.code == "configuration-differs"]
    assert [one.switch for one in differing] == ["pod1-spine1", "pod1-spine3"]


def test_switches_of_two_tiers_with_the_same_finding_are_one_line() -> None:
    """Also where further lines differ, of which the line has the number only."""
    switches = ("pod1-seg1-leaf1", "pod1-seg1-leaf2", "pod1-spine1")
    lines = [
        replace(note(DifferenceCode.UNMODELLED, f"{switch}: /interface", "has a line", "Check it"), more=(switch,))
        for switch in switches
    ]
    assert [one.where for one in folded(lines)] == ["pod1-seg1-leaf1 and 2 more: /interface"]
    fewer = replace(lines[0], where="pod1-spine2: /interface", more=())
    assert [one.switch for one in folded([*lines, fewer])] == ["pod1-seg1-leaf1", "pod1-spine2"]


def test_errors_stand_before_warnings_and_a_line_before_what_follows_from_it() -> None:
    differs, unknown = DifferenceCode.CONFIGURATION_DIFFERS, DifferenceCode.UNKNOWN_SETTING
    found = [
        note(unknown, "leaf1: a line of another daemon", "is unknown", "Check it"),
        warning(differs, "leaf1: a setting", "differs", "Deploy the intent"),
        error(differs, "leaf1: a setting", "differs", "Deploy the intent"),
        error(DifferenceCode.MTU_MISMATCH, "leaf1 and spine1", "MTU differs", "Configure both"),
        warning(unknown, "leaf1: a line", "is unknown", "Check its spelling"),
        error(DifferenceCode.CONFIGURATION_REFUSED, "leaf1: a line", "is refused", "Correct or remove it"),
    ]
    assert most_harmful_first(found) == tuple(found[place] for place in (5, 2, 3, 4, 1, 0))


def test_sessions_in_another_order_are_a_note_that_names_one(mixed: Design) -> None:
    text = mixed.texts["pod1-spine1"].replace("   ip address 100.64.0.0/31", "   ip address 100.64.9.0/31", 1)
    differing = deviations(platform("eos").parse(text), mixed.models["pod1-spine1"])
    order = next(finding for finding in differing if finding.where == "pod1-spine1: bgp.neighbors order")
    assert (order.severity, order.problem) == ("note", "has 100.64.0.3 where the intent has 100.64.0.1")


def test_one_line_is_one_finding_of_its_switch_whatever_follows_from_it(mixed: Design) -> None:
    """The order of the sessions follows from the address too."""
    found = broken(mixed, "   ip address 100.64.0.0/31", "   ip address 100.64.9.0/31", "pod1-spine1")
    assert [finding.code for finding in found] == ["wrong-address", "subnet-mismatch", "bgp-neighbor-missing"]


def states_mtu(name: str) -> bool:
    return support_of(platform(name).capabilities, "mtu") is Support.YES


@pytest.mark.parametrize("name", [name for name in platform_names() if states_mtu(name)])
@pytest.mark.parametrize(("mtu_bytes", "is_hazard"), [(9014, False), (4200, True)])
def test_an_mtu_that_roce_fits_is_a_mismatch_and_a_smaller_one_a_hazard(
    name: str, mtu_bytes: int, is_hazard: bool
) -> None:
    fabric = design_of(name, name)
    intended = fabric.models[LEAF]
    port = next(found for found in intended.interfaces if isinstance(found, Port) and found.mtu_bytes)
    interfaces = tuple(replace(port, mtu_bytes=mtu_bytes) if found is port else found for found in intended.interfaces)
    found = configuration_findings(fabric, {LEAF: render_text(replace(intended, interfaces=interfaces))})
    own = {finding.code for finding in found} & {"small-mtu", DifferenceCode.CONFIGURATION_DIFFERS}
    assert own == {"small-mtu" if is_hazard else DifferenceCode.CONFIGURATION_DIFFERS}


def test_an_invalid_configuration_is_an_error_and_the_others_are_checked(fabric: Design) -> None:
    found = configuration_findings(fabric, {**fabric.texts, LEAF: "{"})
    assert [one.code for one in found] == ["configuration-invalid"]
    assert found[0].switch == LEAF


def test_an_address_of_another_switch_is_an_error(fabric: Design) -> None:
    loopback = fabric.models["pod1-spine1"].loopback
    extra = {
        "name": "lo1",
        "admin-state": "enable",
        "subinterface": [{"index": 0, "ipv4": {"admin-state": "enable", "address": [{"ip-prefix": f"{loopback}/32"}]}}],
    }
    found = lines(fabric, lambda tree: tree[INTERFACES].append(extra))
    assert found[0].endswith(" Deploy the intent. [wrong-address]")
    assert found[1] == (
        f"error {LEAF} loopback1: has {loopback}, which is an address of pod1-spine1. "
        "Give one of both another address. [address-shared]"
    )
    assert all(one.startswith("note") for one in found[2:])


def with_members(more: Any) -> Callable[[str], str]:
    """A JSON text with more members, in the containers that it has or in new ones."""

    def merge(tree: Any, more: Any) -> None:
        for name, value in more.items():
            if isinstance(value, dict) and isinstance(tree.get(name), dict):
                merge(tree[name], value)
            else:
                tree[name] = value

    def edited(text: str) -> str:
        tree = json.loads(text)
        merge(tree, more)
        return json.dumps(tree)

    return edited


def with_lines(lines: str) -> Callable[[str], str]:
    return lambda text: f"{text.removesuffix('end' + chr(10))}{lines}\n"


SECRETS: dict[str, Callable[[str], str]] = {
    "eos": with_lines("username admin secret sha512 $6$hidden"),
    "nxos": with_lines("snmp-server user admin network-admin auth md5 0xhidden priv 0xhidden localizedkey"),
    "junos": with_lines('system {\n    root-authentication {\n        encrypted-password "$6$hidden";\n    }\n}'),
    "cumulus": with_lines(
        "- set:\n    system:\n      aaa:\n        user:\n          cumulus:\n            hashed-password: $6$hidden"
    ),
    "sonic": with_members({"TACPLUS": {"global": {"passkey": "hidden"}}}),
    "srlinux": with_members(
        {
            "srl_nokia-system:system": {
                "srl_nokia-aaa:aaa": {"authentication": {"linuxadmin-user": {"password": "hidden"}}}
            }
        }
    ),
    "frr": with_lines("enable password hidden"),
}
"""A setting of the operator with a secret, by platform."""


@pytest.mark.parametrize("name", SECRETS)
def test_a_finding_shows_no_secret(name: str) -> None:
    fabric = design_of(name, name)
    (found,) = configuration_findings(fabric, {LEAF: SECRETS[name](fabric.texts[LEAF])})
    assert "hidden" not in found.line
    assert " ..." in found.line


OF_CELLS = [name for name in platform_names() if platform(name).capabilities.cell_bytes > 1]


@pytest.mark.parametrize("name", OF_CELLS)
def test_a_threshold_that_the_chip_has_rounded_to_its_cells_is_no_finding(name: str) -> None:
    """NVIDIA's guide shows 156 KB, 159,744 bytes, for 150,000."""
    fabric, cell = design_of(name, name), platform(name).capabilities.cell_bytes
    qos = fabric.models[LEAF].qos
    assert qos is not None
    ramp = next(found.ecn for profile in qos.profiles for found in profile.thresholds if found.ecn)

    def found(more: int) -> list[DifferenceCode]:
        text = fabric.texts[LEAF].replace(str(ramp.kmin_bytes), str(ramp.kmin_bytes + more))
        assert text != fabric.texts[LEAF]
        return [one.code for one in configuration_findings(fabric, {LEAF: text})]

    assert found(cell - 1) == []
    assert {"ecn-thresholds", DifferenceCode.CONFIGURATION_DIFFERS} & {*found(cell)}


HEADERS = {
    "cumulus": "- header:\n    model: SN5600\n    nvue-api-version: nvue_v1\n    version: Cumulus Linux 5.15.0\n",
    "eos": "! Command: show running-config\n! device: leaf1 (DCS-7060X5, EOS-4.33.1F)\n! boot system flash:/EOS.swi\n",
    "frr": "Building configuration...\n\nCurrent configuration:\n!\nfrr version 8.4.4\n",
    "junos": "## Last commit: 2026-11-23 08:00:00 UTC by root\nversion 24.4R1-EVO;\n",
    "nxos": (
        "\n!Command: show running-config\n!Running configuration last done at: Mon Nov 23 08:00:00 2026\n"
        "!Time: Mon Nov 23 08:00:00 2026\n\nversion 10.5(3) Bios:version 01.08\n"
    ),
    "sonic": "",
    "srlinux": "\n",
}
"""What a switch prints before its configuration."""


@pytest.mark.parametrize("name", HEADERS)
def test_a_configuration_as_a_terminal_shows_it_has_no_finding(name: str) -> None:
    """With the header of the switch, blanks at the ends of lines, and the line ends of a terminal."""
    fabric = design_of(name, name)
    lines = f"{HEADERS[name]}{fabric.texts[LEAF]}\n\n".splitlines()
    text = "".join(f"{line} \r\n" for line in lines)
    assert platform(name).parse(text) == fabric.models[LEAF]
    assert configuration_findings(fabric, {LEAF: text}) == ()


def of_aggregates() -> tuple[Design, dict[str, Any], dict[str, Any]]:
    """A fabric whose leaves aggregate, the configuration of a leaf, and the first aggregate in it."""
    small = design_of("srlinux", "srlinux")
    intent = changed(small.intent, {"profile.bgp.aggregate_hosts": True})
    fabric = replace(small, intent=intent, topology=wire(intent))
    tree = json.loads(fabric.texts[LEAF])
    instances = {instance["name"]: instance for instance in tree["srl_nokia-network-instance:network-instance"]}
    return fabric, tree, instances["default"]["srl_nokia-aggregate-routes:aggregate-routes"]["route"][0]


def test_an_aggregate_that_is_no_summary_any_more_is_one_finding() -> None:
    """The entry has its key alone then, while the rendering of the same model states the default."""
    fabric, tree, first = of_aggregates()
    assert first.pop("summary-only") is True
    (found,) = configuration_findings(fabric, {LEAF: json.dumps(tree)})
    assert found.line.startswith(f"error {LEAF}: bgp.aggregates[10.17.0.0/24].summary_only: is off, the intent says on")


def test_a_disabled_aggregate_is_one_finding_and_one_of_the_operator_is_a_note() -> None:
    fabric, tree, first = of_aggregates()
    first["admin-state"] = "disable"
    (found,) = configuration_findings(fabric, {LEAF: json.dumps(tree)})
    assert found.line.startswith(f"error {LEAF}: bgp.aggregates[10.17.0.0/24]: is missing.")
    first["prefix"] = "192.0.2.0/24"
    found, theirs = configuration_findings(fabric, {LEAF: json.dumps(tree)})
    assert found.line.startswith(f"error {LEAF}: bgp.aggregates[10.17.0.0/24]: is missing.")
    assert (theirs.severity, "192.0.2.0/24" in theirs.line) == (Severity.NOTE, True)

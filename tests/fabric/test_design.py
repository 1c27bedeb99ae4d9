"""The design of a fabric: findings of every check, and what they stop."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.platforms.small_fabrics import design_of

from railfab.device import PfcWatchdog
from railfab.errors import NotRenderedYet, Problems, TopologyError, UnsupportedFeature
from railfab.fabric import NotAccepted, design
from railfab.fabric.audit import configuration_findings
from railfab.fabric.trial import changed
from railfab.fabric.watchdog import watchdog_findings
from railfab.findings import DesignCode, Severity
from railfab.platforms import platform_names

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"


@pytest.fixture
def oversubscribed(tmp_path: Path) -> Path:
    """pod64 with half its spines, stated to be non-blocking."""
    path = tmp_path / "pod64.yml"
    text = (FABRICS / "pod64.yml").read_text()
    path.write_text(text.replace("  spines:\n    count: 4", "  oversubscription: 1\n  spines:\n    count: 2"))
    return path


def test_an_error_stops_configurations_until_its_code_is_accepted(oversubscribed: Path) -> None:
    fabric = design(oversubscribed)
    with pytest.raises(NotAccepted) as caught:
        fabric.configurations()
    assert [finding.code for finding in caught.value.findings] == [DesignCode.OVERSUBSCRIPTION]
    assert str(caught.value) == (
        f"{oversubscribed}: the design has 1 error (oversubscription), and nothing was changed. "
        "Correct the intent, or continue with --accept oversubscription."
    )
    with pytest.raises(NotAccepted):
        fabric.configurations([DesignCode.PORT_BUDGET])
    assert set(fabric.configurations([DesignCode.OVERSUBSCRIPTION])) == set(fabric.models)


def test_ports_faster_than_those_of_the_nic_stop_configurations(tmp_path: Path) -> None:
    path = tmp_path / "fast.yml"
    text = (FABRICS / "single-switch.yml").read_text().replace("sn4700", "7220-ixr-d5")
    path.write_text(text.replace("rate_gbps: 200", "rate_gbps: 400").replace("nic: connectx-7", "nic: connectx-6"))
    with pytest.raises(NotAccepted, match="nic-speed"):
        design(path).configurations()


def test_an_error_has_the_line_of_the_file_that_was_read_though_the_file_is_another_now(tmp_path: Path) -> None:
    path = tmp_path / "unknown.yml"
    path.write_text((FABRICS / "pod64.yml").read_text().replace("nic: connectx-6-dx", "nic: connectx-5-dx"))
    fabric = design(path)
    line = 1 + path.read_text().partition("nic: connectx-5-dx")[0].count("\n")
    path.unlink()
    with pytest.raises(TopologyError, match=rf"unknown\.yml:{line}: hosts\.nic: 'connectx-5-dx' is not in the"):
        fabric.configurations()


def test_an_unknown_nic_stops_configurations(tmp_path: Path) -> None:
    path = tmp_path / "unknown.yml"
    path.write_text((FABRICS / "pod64.yml").read_text().replace("nic: connectx-6-dx", "nic: connectx-5-dx"))
    with pytest.raises(TopologyError, match=r"unknown\.yml:\d+: hosts\.nic: 'connectx-5-dx' is not in the"):
        design(path).configurations()


def test_a_warning_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "pod64.yml"
    path.write_text((FABRICS / "pod64.yml").read_text().replace("    count: 4", "    count: 2"))
    fabric = design(path)
    assert [finding.severity for finding in fabric.findings] == [Severity.WARNING]
    assert fabric.configurations()


def test_findings_of_topology_racks_and_buffers_are_together_errors_first(tmp_path: Path) -> None:
    path = tmp_path / "pod64.yml"
    text = (FABRICS / "pod64.yml").read_text()
    for old, new in (
        ("  spines:\n    count: 4", "  oversubscription: 1\n  spines:\n    count: 2"),
        ("lossless: {dscp: 26", "lossless: {ecn: false, dscp: 26"),
        ("hosts: {gpus: 8", "hosts: {model: dgx-b200, per_rack: 8, gpus: 8"),
        ("    hosts: 4", "    hosts: 8"),
    ):
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    codes = [finding.code for finding in design(path).findings]
    assert codes[0] is DesignCode.OVERSUBSCRIPTION
    assert {DesignCode.PFC_WITHOUT_ECN, DesignCode.RACK_SPACE} < set(codes)


@pytest.mark.parametrize(
    ("model", "platform", "effective", "notes"),
    [
        ("n9k-c9364d-gx2a", "nxos", (300, 500), ["detect_ms: 250 ms is 300 ms", "recover_ms: 455 ms is 500 ms"]),
        ("7060dx5-64s", "eos", (250, 460), ["recover_ms: 455 ms is 460 ms"]),
        (
            "sn5600",
            "cumulus",
            (300, 300),
            ["detect_ms: 250 ms is 300 ms", "recover_ms: platform cumulus has no setting"],
        ),
        ("sn4700", "sonic", (250, 455), []),
        ("7220-ixr-d5", "srlinux", (250, 455), []),
        ("qfx5240-64od", "junos", (250, 455), []),
    ],
)
def test_a_time_of_the_watchdog_that_a_platform_rounds_is_noted_and_no_drift(
    tmp_path: Path, model: str, platform: str, effective: tuple[int, int], notes: list[str]
) -> None:
    path = tmp_path / "intent.yml"
    switch = f"model: {model}, platform: {platform}"
    path.write_text(
        "version: 1\nfabric: small\nhosts: {gpus: 2, rate_gbps: 100}\n"
        "profile: {lossless: {watchdog: {detect_ms: 250, recover_ms: 455}}}\n"
        f"backend:\n  segments: {{count: 2, hosts: 2, rail_switches: 1, {switch}}}\n"
        f"  spines: {{count: 2, rate_gbps: 400, {switch}}}\n"
    )
    fabric = design(path)
    found = sorted(str(one) for one in fabric.findings if one.code is DesignCode.WATCHDOG_ROUNDED)
    assert len(found) == len(notes)
    assert all(said in one for said, one in zip(notes, found, strict=True)), found
    for leaf in fabric.models.values():
        assert leaf.qos is not None
        assert leaf.qos.watchdog == PfcWatchdog(detect_ms=effective[0], recover_ms=effective[1])
    assert not [one for one in configuration_findings(fabric, fabric.texts) if one.severity is Severity.ERROR]


@pytest.mark.parametrize(
    ("name", "recover_ms", "count"),
    [("cumulus", 200, 0), ("cumulus", 400, 1), ("srlinux", 200, 0), ("srlinux", 400, 0)],
)
def test_a_time_that_a_platform_has_no_setting_for_is_noted_where_it_differs(
    name: str, recover_ms: int, count: int
) -> None:
    """Cumulus Linux has one time for both."""
    small = design_of(name, name)
    stated = {"watchdog": {"detect_ms": 200, "recover_ms": recover_ms}}
    intent = changed(small.intent, {"profile.lossless": stated})
    assert len(list(watchdog_findings(small.buffers, intent))) == count


SMALL = (
    ("cumulus", "sn5600"),
    ("eos", "7060dx5-64s"),
    ("frr", "linux-64"),
    ("junos", "qfx5240-64od"),
    ("nxos", "n9k-c9364d-gx2a"),
    ("sonic", "sn4700"),
    ("srlinux", "7220-ixr-d5"),
)


@pytest.mark.parametrize(("platform", "model"), SMALL)
def test_a_switch_without_bgp_sessions_cannot_be_drained(tmp_path: Path, platform: str, model: str) -> None:
    """Rail switches that only hosts are connected to."""
    path = tmp_path / "intent.yml"
    path.write_text(
        "version: 1\nfabric: small\nhosts: {gpus: 2, rate_gbps: 100}\nprofile: {lossless: off}\n"
        "drain: [pod1-seg1-leaf2]\n"
        f"backend: {{segments: {{count: 1, hosts: 2, rail_switches: 2, model: {model}, platform: {platform}}}}}\n"
    )
    fabric = design(path)
    with pytest.raises(UnsupportedFeature) as refused:
        fabric.check()
    assert str(refused.value) == (
        f"{path}:5: pod1-seg1-leaf2: has no BGP session, by which a drain of platform {platform} moves traffic. "
        "Remove it from drain in the intent, and end the jobs of its hosts before you work on it."
    )
    assert [str(one) for one in fabric.refusals()] == [str(refused.value)]


def test_a_design_that_cannot_be_rendered_has_a_topology_and_findings_and_no_models(tmp_path: Path) -> None:
    text = (FABRICS / "pod64.yml").read_text()
    path = tmp_path / "intent.yml"
    path.write_text(text.replace("control_plane: ebgp", "control_plane: ibgp"))
    fabric = design(path)
    assert fabric.topology.switches()
    with pytest.raises(NotRenderedYet) as caught:
        fabric.check(DesignCode)
    assert "profile.reflectors: 2 of 4 spines reflect routes" in str(caught.value)
    assert fabric.refusals() == ()


OURS = """
switches:
  ours-32:
    vendor: ours
    silicon: Trident 4
    cages: 32
    speeds_gbps: [400, 200, 100]
    breakouts: {2: [200, 100], 4: [100]}
    buffer_bytes: 132_000_000
    names: {ouros: {cage: "e{cage}", lane: "e{cage}-{lane}"}}
"""


def test_all_switches_of_a_platform_that_railfab_does_not_have_are_one_error(tmp_path: Path) -> None:
    path = tmp_path / "intent.yml"
    text = (FABRICS / "pod64.yml").read_text()
    path.write_text(
        text.replace("    model: 7220-ixr-d5\n", "    model: ours-32\n").replace("platform: srlinux", "") + OURS
    )
    line = text.splitlines().index("    model: 7220-ixr-d5") + 1
    fabric = design(path)
    assert fabric.topology.switches()
    assert not fabric.refusals()
    with pytest.raises(NotRenderedYet) as caught:
        fabric.check(DesignCode)
    assert str(caught.value) == (
        f"{path}:{line}: backend.segments.model: ours-32 runs ouros, which railfab cannot render yet "
        f"({', '.join(platform_names())}). `plan`, `draw` and `explain` work."
    )
    path.write_text(path.read_text().replace("model: ours-32\n", "model: ours-32\n    platform: srlinux\n"))
    with pytest.raises(TopologyError) as refused:
        design(path)
    assert str(refused.value).startswith(
        f"{path}:{line + 1}: backend.segments.platform: ours-32 does not run platform 'srlinux'. "
        "Use ouros or a model that runs srlinux (7215-ixs-a1, "
    )


def test_an_error_of_a_platform_names_the_line_of_the_key_that_it_says_to_change(tmp_path: Path) -> None:
    path = tmp_path / "intent.yml"
    text = (FABRICS.parents[1] / "labs" / "frr-pod" / "intent.yml").read_text()
    path.write_text(text.replace("lossless: off", "lossless: {dscp: 26}"))
    with pytest.raises(Problems) as caught:
        design(path).check()
    first = str(caught.value).splitlines()[0]
    assert first.startswith(f"{path}:6: pod1-seg1-leaf1 and 5 more: platform frr does not support pfc. ")
    assert "change profile.lossless.pfc in the intent" in first


def test_the_traffic_classes_are_those_of_each_network_and_none_without_qos() -> None:
    fabric = design(FABRICS / "cluster.yml")
    for name, model in fabric.planned_models.items():
        assert fabric.traffic_classes[name] == (model.qos.classes if model.qos else ()), name
    assert () in fabric.traffic_classes.values()


def test_a_configuration_that_the_caller_changes_is_audited_against_the_rendered_one() -> None:
    fabric = design(FABRICS / "pod64.yml")
    texts = fabric.configurations()
    texts["pod1-spine1"] = texts["pod1-spine1"].replace('"enable-ecn": true', '"enable-ecn": false')
    assert "ecn-off" in {finding.code for finding in configuration_findings(fabric, texts)}

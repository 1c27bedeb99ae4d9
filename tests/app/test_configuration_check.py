"""The comparison of running configurations with the intent beside a collector, on a real twin."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry
from tests.twin.twins import switch

from railfab.app import configuration_check
from railfab.app.configuration_check import ConfigurationCheck
from railfab.app.deploys import switches_in_deploys
from railfab.deploy import Journal
from railfab.deploy.journal import DeployRecord
from railfab.fabric.audit import switch_audit
from railfab.fabric.design import Design, design
from railfab.twin import Twin
from railfab.twin.status import SwitchOperation

ROOT = Path(__file__).parents[2]
LEAF = "pod1-seg1-leaf1"
KMIN = (
    "/qos/buffer-management/queue-management-profile[name=100g-5m]/wred/wred-slope"
    "[traffic-type=all][drop-probability=all][enable-ecn=true]/min-threshold"
)


@pytest.fixture(scope="module")
def fabric() -> Design:
    return design(ROOT / "tests" / "faults" / "rack.yml")


@pytest.fixture(scope="module")
def twin(fabric: Design, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(fabric, state=tmp_path_factory.mktemp("state"), base_port=0, configured=True) as running:
        yield running


@pytest.fixture
def check(fabric: Design, twin: Twin, tmp_path: Path) -> ConfigurationCheck:
    return ConfigurationCheck(fabric, twin.endpoints, state=tmp_path, interval_s=0.2)


def exposed(check: ConfigurationCheck, name: str) -> dict[tuple[str, ...], float]:
    """Samples of a metric by the values of their labels besides that of the fabric."""
    registry = CollectorRegistry()
    registry.register(check)
    families = [family for family in registry.collect() if family.name == name]
    samples = [one for family in families for one in family.samples]
    assert {one.labels["fabric"] for one in samples} <= {"rack"}
    return {tuple(text for name, text in one.labels.items() if name != "fabric"): one.value for one in samples}


def test_switches_that_run_the_intent_have_no_findings_and_a_time(check: ConfigurationCheck, twin: Twin) -> None:
    check.check()
    assert exposed(check, "fabric_configuration_findings") == {}
    times_s = exposed(check, "fabric_configuration_checked_timestamp_seconds")
    assert times_s.keys() == {(endpoint.name,) for endpoint in twin.endpoints.nodes}
    assert all(abs(time.time() - at_s) < 60 for at_s in times_s.values())


def test_drift_and_hazards_are_counted_by_switch_and_code_until_they_are_gone(
    check: ConfigurationCheck, twin: Twin, fabric: Design
) -> None:
    with switch(twin, LEAF) as leaf, check:
        mtu = f"/interface[name={fabric.models[LEAF].interfaces[0].name}]/mtu"
        before = [(path, leaf.value(path, "config")) for path in (KMIN, mtu)]
        leaf.set(update=[(KMIN, 5000), (mtu, 9028)])
        until_s = time.monotonic() + 60
        while not (hazards := exposed(check, "fabric_configuration_hazards")):
            assert time.monotonic() < until_s
            time.sleep(0.1)
        found = exposed(check, "fabric_configuration_findings")
        assert found[LEAF, "configuration-differs"] == 1  # the MTU, as the hazard is that of Kmin
        assert hazards.keys() == {(LEAF, "ecn-thresholds")}
        leaf.set(update=before)
        while exposed(check, "fabric_configuration_findings") or exposed(check, "fabric_configuration_hazards"):
            assert time.monotonic() < until_s
            time.sleep(0.1)


def test_a_configuration_is_audited_again_only_when_it_has_changed(
    check: ConfigurationCheck, twin: Twin, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "railfab.app.configuration_check")

    def audited() -> list[str]:
        caplog.clear()
        check.check()
        return [record.getMessage().partition(": ")[0] for record in caplog.records]

    assert sorted(audited()) == sorted(endpoint.name for endpoint in twin.endpoints.nodes)
    assert audited() == []
    with switch(twin, LEAF) as leaf:
        before = leaf.value(KMIN, "config")
        leaf.set(update=[(KMIN, 5000)])
        assert audited() == [LEAF]
        assert (LEAF, "ecn-thresholds") in exposed(check, "fabric_configuration_hazards")
        leaf.set(update=[(KMIN, before)])
    assert audited() == [LEAF]
    assert exposed(check, "fabric_configuration_findings") == {}


def test_a_switch_that_does_not_answer_keeps_its_findings_and_an_old_time(
    check: ConfigurationCheck, twin: Twin, caplog: pytest.LogCaptureFixture
) -> None:
    check.check()
    before = exposed(check, "fabric_configuration_checked_timestamp_seconds")
    twin.stop_switch(LEAF)
    try:
        check.check()
        check.check()
    finally:
        twin.start_switch(LEAF)
    after = exposed(check, "fabric_configuration_checked_timestamp_seconds")
    assert [name for name in before if after[name] == before[name]] == [(LEAF,)]
    assert sum("not compared with the intent" in record.message for record in caplog.records) == 1


def test_a_switch_that_hangs_delays_neither_the_others_nor_the_end_of_the_process(
    check: ConfigurationCheck, twin: Twin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("railfab.app.configuration_check.READ_WITHIN_S", 4.0)
    began_s, others = time.time(), {(one.name,) for one in twin.endpoints.nodes} - {(LEAF,)}
    twin.operate(LEAF, SwitchOperation.HANG)
    thread = threading.Thread(target=check.check, daemon=True)
    try:
        thread.start()
        name = "fabric_configuration_checked_timestamp_seconds"
        while {key for key, at_s in exposed(check, name).items() if at_s > began_s} != others:
            assert thread.is_alive()
            time.sleep(0.05)
        assert all(one.daemon for one in threading.enumerate() if one is not threading.main_thread())
        thread.join(20)
        assert not thread.is_alive()
    finally:
        twin.operate(LEAF, SwitchOperation.RESUME)


def test_a_switch_that_was_never_read_has_the_time_at_which_the_check_began(
    fabric: Design, twin: Twin, tmp_path: Path
) -> None:
    twin.stop_switch(LEAF)
    try:
        began_s = time.time()
        check = ConfigurationCheck(fabric, twin.endpoints, state=tmp_path, interval_s=60)
        begun_s = time.time()
        check.check()
    finally:
        twin.start_switch(LEAF)
    times_s = exposed(check, "fabric_configuration_checked_timestamp_seconds")
    assert times_s.keys() == {(endpoint.name,) for endpoint in twin.endpoints.nodes}
    assert [key for key, at_s in times_s.items() if began_s <= at_s <= begun_s] == [(LEAF,)]
    assert exposed(check, "fabric_configuration_check_interval_seconds") == {(): 60.0}


@pytest.mark.parametrize("arrive", [True, False])
def test_the_first_comparison_waits_for_the_first_samples_and_not_for_ever(
    fabric: Design, twin: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arrive: bool
) -> None:
    """Both at once make a collector late; a switch may never send one."""
    monkeypatch.setattr(configuration_check, "POLL_S", 0.05)
    monkeypatch.setattr(configuration_check, "BEGINS_WITHIN_S", 1000.0 if arrive else 1.0)
    has_samples, compared = threading.Event(), threading.Event()
    check = ConfigurationCheck(fabric, twin.endpoints, state=tmp_path, interval_s=60, has_samples=has_samples.is_set)
    monkeypatch.setattr(check, "check", compared.set)
    with check:
        if arrive:
            assert not compared.wait(0.5)
            has_samples.set()
        assert compared.wait(20)


@pytest.mark.parametrize("defect", ["switch_audit", "read_credentials"])
def test_a_defect_at_one_switch_leaves_the_others_compared(
    check: ConfigurationCheck, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, defect: str
) -> None:
    """The name of a function that raises for one switch."""
    module = "railfab.app.configuration_check"
    working: Callable[..., object] = getattr(import_module(module), defect)

    def defective(*arguments: object) -> object:
        if LEAF in (getattr(one, "name", one) for one in arguments):
            raise ZeroDivisionError
        return working(*arguments)

    monkeypatch.setattr(f"{module}.{defect}", defective)
    before = exposed(check, "fabric_configuration_checked_timestamp_seconds")
    check.check()
    after = exposed(check, "fabric_configuration_checked_timestamp_seconds")
    assert [name for name in before if after[name] == before[name]] == [(LEAF,)]
    assert [record.message.partition(":")[0] for record in caplog.records if record.exc_info] == [LEAF]


def test_without_comparison_the_maintenance_is_exposed_with_the_drains_of_the_intent(
    twin: Twin, tmp_path: Path
) -> None:
    intent = tmp_path / "drained.yml"
    intent.write_text((ROOT / "tests" / "faults" / "rack.yml").read_text() + "drain: [pod1-spine1]\n")
    fabric = design(intent)
    journal = Journal(tmp_path, fabric.intent.fabric)
    with ConfigurationCheck(fabric, twin.endpoints, state=tmp_path, interval_s=0) as check:
        with journal.open("deploy") as entry:
            entry.keep(LEAF, "former")
            drained = {("pod1-spine1", "drain"): 1.0}
            assert exposed(check, "fabric_maintenance") == {**drained, (LEAF, "deploy"): 1.0}
        registry = CollectorRegistry()
        registry.register(check)
        assert [family.name for family in registry.collect()] == ["fabric_maintenance"]


def test_records_that_a_deploy_removes_meanwhile_are_read_again(
    fabric: Design, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path, fabric.intent.fabric)
    read, removed = Journal.deploys, [FileNotFoundError("before")]

    def deploys(self: Journal) -> tuple[DeployRecord, ...]:
        if removed:
            raise removed.pop()
        return read(self)

    monkeypatch.setattr(Journal, "deploys", deploys)
    with journal.open("deploy") as entry:
        entry.keep(LEAF, "former")
        assert switches_in_deploys(tmp_path, fabric.intent.fabric) == {LEAF}
    removed += [FileNotFoundError("before")] * 9
    assert switches_in_deploys(tmp_path, fabric.intent.fabric) == frozenset()


def test_switches_are_in_maintenance_while_a_deploy_changes_them_and_half_a_minute_longer(
    fabric: Design, twin: Twin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = ConfigurationCheck(fabric, twin.endpoints, state=tmp_path, interval_s=60)
    journal = Journal(tmp_path, fabric.intent.fabric)
    with journal.open("deploy") as entry:
        assert exposed(check, "fabric_maintenance") == {}
        entry.keep(LEAF, "former")
        assert exposed(check, "fabric_maintenance") == {(LEAF, "deploy"): 1.0}
        entry.finish({LEAF: "changed"})
    assert exposed(check, "fabric_maintenance") == {(LEAF, "deploy"): 1.0}
    record = journal.folder / journal.last().folder / "deploy.json"
    os.utime(record, (time.time() + 86400, time.time() + 86400))  # the clock was ahead, and is right again
    assert exposed(check, "fabric_maintenance") == {}
    os.utime(record)
    monkeypatch.setattr("railfab.app.deploys.SHOWN_FOR_S", 0.0)
    assert exposed(check, "fabric_maintenance") == {}


def test_a_drained_switch_is_recognised_by_what_it_runs() -> None:
    frr = design(ROOT / "labs" / "frr-pod" / "intent.yml")
    name, text = next(iter(frr.texts.items()))
    router = f"router bgp {frr.models[name].bgp.asn}\n"
    assert router in text
    drained = text.replace(router, f"{router} bgp graceful-shutdown\n", 1)
    models = [switch_audit(frr, name, one).model for one in (text, drained)]
    assert [model and model.drain for model in models] == [False, True]

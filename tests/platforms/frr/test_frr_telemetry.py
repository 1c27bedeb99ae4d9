"""FRR's telemetry map against OpenConfig's own models."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.oracles.openconfig import ARCHIVE, OpenConfig

from railfab.platforms import Confidence, TelemetryRule, platform

pytestmark = pytest.mark.oracle
RULES = platform("frr").telemetry.rules
TYPES = {
    "uint64": {"oc-yang:counter64", "uint64"},
    "uint32": {"uint32"},
    "string": {"enumeration", "identityref", "bfd-session-state"},
}
DECLARED_IN = {
    "oper-status": "interfaces",
    "admin-status": "interfaces",
    "port-speed": "if-ethernet",
    "session-state": "bgp-neighbor",
}
DECLARED_BELOW = {"bfd": "bfd", "components": "platform-types"}


@pytest.fixture(scope="module")
def openconfig(oracles: Path, tmp_path_factory: pytest.TempPathFactory) -> OpenConfig:
    if not (oracles / ARCHIVE).exists():
        pytest.skip(f"needs {ARCHIVE} in {oracles}; tests/README.md says where to get it")
    return OpenConfig(oracles / ARCHIVE, tmp_path_factory.mktemp("openconfig"))


def test_every_verified_path_is_a_leaf_of_its_type(openconfig: OpenConfig) -> None:
    for rule in RULES:
        if rule.confidence is Confidence.VERIFIED:
            assert openconfig.type_of(rule.path) in TYPES[rule.encoding], rule.path


def test_a_path_that_does_not_exist_has_no_type(openconfig: OpenConfig) -> None:
    assert openconfig.type_of("/interfaces/interface[name={interface}]/state/counters/in-bytes") is None
    assert openconfig.type_of("/interfaces/interface[id={interface}]/state/counters/in-octets") is None


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.states], ids=lambda rule: rule.metric)
def test_states_are_the_ones_that_openconfig_declares(openconfig: OpenConfig, rule: TelemetryRule) -> None:
    top = rule.path.split("/")[1]
    module = DECLARED_BELOW.get(top) or DECLARED_IN[rule.path.rsplit("/", 1)[1]]
    assert rule.states is not None
    assert set(rule.states) <= openconfig.names(module)


def test_every_bgp_state_has_its_number_of_the_bgp4_mib(openconfig: OpenConfig) -> None:
    rule = next(rule for rule in RULES if rule.metric == "fabric_bgp_session_state")
    order = ["IDLE", "CONNECT", "ACTIVE", "OPENSENT", "OPENCONFIRM", "ESTABLISHED"]
    assert rule.states == {state: number for number, state in enumerate(order, start=1)}


def test_a_speed_is_its_name_in_bytes_per_second(openconfig: OpenConfig) -> None:
    rule = next(rule for rule in RULES if rule.metric == "fabric_interface_speed_bytes_per_second")
    unit = {"MB": 1e6, "GB": 1e9}
    for name, value in (rule.states or {}).items():
        text = name.removeprefix("SPEED_")
        assert value == int(text[:-2]) * unit[text[-2:]] / 8, name

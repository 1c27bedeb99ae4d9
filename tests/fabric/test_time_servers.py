"""A design that states the management access of its switches states their time servers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.platforms.small_fabrics import design_of

from railfab.fabric.time_servers import time_servers
from railfab.fabric.trial import changed
from railfab.findings import Severity
from railfab.topology import wire

ACCESS: Mapping[str, Any] = {"vrf": "mgmt"}
GNMI = {"tls_profile": "fabric"}


def severities(platform: str, management: Mapping[str, Any] | None) -> list[Severity]:
    small = design_of(platform, platform)
    intent = changed(small.intent, {"management": management})
    findings = replace(small, intent=intent, topology=wire(intent)).findings
    return [finding.severity for finding in findings if finding.code == "no-time-servers"]


@pytest.mark.parametrize("name", ["srlinux", "sonic", "eos", "nxos", "junos", "cumulus"])
@pytest.mark.parametrize("stated", [{"services": {"syslog": ["192.0.2.3"]}}, {"gnmi": GNMI}])
def test_services_without_time_servers_are_one_warning(name: str, stated: Mapping[str, Any]) -> None:
    assert severities(name, {**ACCESS, **stated}) == [Severity.WARNING]


@pytest.mark.parametrize("name", ["srlinux", "nxos"])
def test_management_without_services_is_one_note(name: str) -> None:
    assert severities(name, {**ACCESS, "banner": "fabric"}) == [Severity.NOTE]


@pytest.mark.parametrize("source", ["ntp", "ptp"])
def test_a_source_of_time_is_enough(source: str) -> None:
    assert severities("srlinux", {**ACCESS, "services": {source: ["192.0.2.1"], "syslog": ["192.0.2.3"]}}) == []


def test_without_management_the_time_is_the_operators() -> None:
    assert severities("srlinux", None) == []


def test_on_platforms_whose_time_the_operating_system_sets_nothing_is_said() -> None:
    small = design_of("frr", "frr")
    intent = changed(small.intent, {"management": {"services": {"syslog": ["192.0.2.3"]}}})
    assert list(time_servers(small.topology, intent)) == []

"""What a deploy leaves of the management access of a switch of the twin, what it replaces, and what ends its access."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from tests.twin.twins import LEAF, Switch, endpoint, pod64, started, switch

from railfab.device import AaaServer, GnmiService, ManagementAccess
from railfab.endpoints import read_credentials
from railfab.errors import CommitRefused, DeviceError, Unreachable
from railfab.fabric.audit import configuration_findings
from railfab.findings import Severity
from railfab.platforms import ChangeName, Session, platform
from railfab.twin import Twin

SRLINUX = platform("srlinux")
CHANGE = ChangeName(deploy="20261122T093012.345Z-4f2a", user="me", host="here")
OF_THE_OPERATOR = {
    "admin-state": "enable",
    "network-instance": "mgmt",
    "server": [{"address": "192.0.2.1", "iburst": True}],
}


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    """A twin with NTP that the operator of a leaf configured, and a TLS profile."""
    with started(tmp_path_factory.mktemp("twin")) as found:
        with switch(found) as leaf:
            leaf.set(update=[("/system/ntp", OF_THE_OPERATOR), ("/system/tls/server-profile[name=fabric]", {})])
        yield found


@contextmanager
def session(twin: Twin, secret: str | None = None) -> Iterator[Session]:
    node = endpoint(twin, LEAF)
    with SRLINUX.session(node, replace(read_credentials(node), aaa_secret=secret)) as found:
        yield found


def text(**parts: Any) -> str:
    """The configuration of the leaf, with this management access."""
    management = ManagementAccess(network_instance="mgmt", **parts).stated()
    return SRLINUX.text(SRLINUX.render(replace(pod64().models[LEAF], management=management)))


def deploy(found: Session, configuration: str) -> str:
    """The differences, which are made."""
    staged = found.stage(configuration)
    found.commit(staged, CHANGE, 60)
    found.confirm(CHANGE)
    return staged.diff


def ntp(leaf: Switch) -> Any:
    return leaf.value("/system/ntp", "config")["server"]


def test_ntp_of_the_operator_stays_until_the_intent_states_it_and_a_rollback_brings_it_back(twin: Twin) -> None:
    with session(twin) as found, switch(twin) as leaf:
        deploy(found, text(banner="authorised users only"))
        assert ntp(leaf) == OF_THE_OPERATOR["server"]
        former = found.stage(text(ntp=("10.0.0.1",))).former
        assert deploy(found, text(ntp=("10.0.0.1",))).splitlines()[2:] == [
            "-set / system ntp server 192.0.2.1 iburst true",
            "+set / system ntp server 10.0.0.1",
        ]
        assert ntp(leaf) == [{"address": "10.0.0.1"}]
        assert found.stage(text(ntp=("10.0.0.1",))).diff == ""
        deploy(found, former)
        assert ntp(leaf) == OF_THE_OPERATOR["server"]


def test_what_the_operator_configured_is_no_deviation(twin: Twin) -> None:
    with session(twin) as found:
        deploy(found, text())
        running = found.running().text
    assert "192.0.2.1" in running
    findings = configuration_findings(pod64(), {LEAF: running})
    assert [one for one in findings if one.severity is not Severity.NOTE] == []


def test_a_secret_is_sent_with_a_new_server_and_is_in_no_text(twin: Twin) -> None:
    configuration = text(aaa=(AaaServer(address="10.0.0.4"),))
    with session(twin, secret="s3cret") as found, switch(twin) as leaf:
        staged = found.stage(configuration)
        deploy(found, configuration)
        path = "/system/aaa/server-group[name=tacacs]/server[address=10.0.0.4]/tacacs/secret-key"
        assert leaf.value(path, "config") == "s3cret"
        again = found.stage(configuration)
        texts = (staged.text, staged.diff, staged.former, again.former, again.diff, found.running().text)
        assert again.diff == ""
        assert not any("s3cret" in one for one in texts)


def test_a_tls_profile_that_the_switch_has_is_taken(twin: Twin) -> None:
    configuration = text(gnmi=GnmiService(port=57400, tls_profile="fabric"))
    with session(twin) as found:
        assert "+set / system grpc-server mgmt tls-profile fabric" in deploy(found, configuration).splitlines()
        assert found.stage(configuration).diff == ""


def test_a_tls_profile_that_the_switch_lacks_ends_its_gnmi_server_until_it_reverts_the_change(twin: Twin) -> None:
    with session(twin) as found:
        before = found.running().text
        staged = found.stage(text(gnmi=GnmiService(port=57400, tls_profile="nope")))
        with pytest.raises(Unreachable):
            found.commit(staged, CHANGE, 2)
    end_s = time.monotonic() + 60
    while True:
        try:
            with session(twin) as found:
                assert found.running().text == before
                assert found.running().pending is None
                return
        except DeviceError:
            assert time.monotonic() < end_s, "the switch did not revert it"
            time.sleep(0.2)


@pytest.mark.parametrize(
    ("leaf", "instance", "port"), [("port", "mgmt", 50051), ("network-instance", "default", 57400)]
)
def test_another_address_of_the_gnmi_server_is_refused_before_anything_changes(
    twin: Twin, leaf: str, instance: str, port: int
) -> None:
    moved = ManagementAccess(network_instance=instance, gnmi=GnmiService(port=port, tls_profile="fabric"))
    configuration = SRLINUX.text(SRLINUX.render(replace(pod64().models[LEAF], management=moved)))
    with session(twin) as found, pytest.raises(CommitRefused) as refused:
        found.stage(configuration)
    assert str(refused.value) == (
        f"{LEAF}: would lose railfab's own access: its gNMI server has another {leaf}. "
        "Change it in the CLI of the switch, and the port in the inventory, then deploy."
    )

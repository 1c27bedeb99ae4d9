"""The management access of a switch: managed where a candidate states it, the operator's elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.platforms.srlinux.configuration import SRLINUX, tree
from tests.platforms.srlinux.switches import rail_switch

from railfab.device import AaaServer, DeviceModel, GnmiService, ManagementAccess, SyslogServer
from railfab.gnmi.client import SetChanges
from railfab.gnmi.paths import elements
from railfab.gnmi.target import Edit, Operation
from railfab.platforms.shared.json_edits import edited
from railfab.platforms.shared.json_names import JsonNames
from railfab.platforms.shared.json_tree import Json, text
from railfab.platforms.srlinux.parse import parse_tree
from railfab.platforms.srlinux.set_request import managed, restorable, set_request
from railfab.platforms.srlinux.tree import keys_of, stripped

SYSTEM = "srl_nokia-system:system"
STATED = ManagementAccess(
    network_instance="mgmt",
    ntp=("10.0.0.1", "10.0.0.2"),
    syslog=(SyslogServer(address="10.0.0.3", port=601, protocol="tcp", level="warning"),),
    aaa=(AaaServer(address="10.0.0.4"),),
    gnmi=GnmiService(port=57400, tls_profile="fabric"),
    banner="authorised users only",
)
OF_THE_OPERATOR: Json = {
    "srl_nokia-ntp:ntp": {
        "admin-state": "enable",
        "network-instance": "mgmt",
        "server": [{"address": "192.0.2.1", "iburst": True}],
    },
    "srl_nokia-logging:logging": {
        "network-instance": "mgmt",
        "buffer": [{"buffer-name": "messages", "facility": [{"facility-name": "local6"}]}],
        "remote-server": [{"host": "192.0.2.2", "facility": [{"facility-name": "local6"}]}],
    },
    "srl_nokia-aaa:aaa": {
        "authentication": {"authentication-method": ["local"], "admin-user": {"password": "$y$hash"}},
        "server-group": [
            {"name": "local", "type": "srl_nokia-aaa-types:local"},
            {"name": "corp", "type": "srl_nokia-aaa-types:radius", "server": [{"address": "192.0.2.3"}]},
        ],
    },
    "srl_nokia-system-banner:banner": {"login-banner": "keep out", "motd-banner": "hello"},
    "srl_nokia-grpc:grpc-server": [
        {
            "name": "mgmt",
            "admin-state": "enable",
            "network-instance": "mgmt",
            "port": 57400,
            "tls-profile": "factory",
            "rate-limit": 65000,
            "services": ["gnmi", "gnoi"],
            "gnmi": {"commit-save": True},
        }
    ],
}
"""Parts of `/system` as an operator configured them."""


def switch(**parts: Any) -> DeviceModel:
    """The rail switch with this management access."""
    return replace(rail_switch(), management=ManagementAccess(network_instance="mgmt", **parts).stated())


def of_the_operator(model: DeviceModel | None = None) -> Json:
    """What a switch runs on which the operator configured all of the management access."""
    found = tree(model)
    found[SYSTEM].update(OF_THE_OPERATOR)
    return found


def after(running: Json, changes: SetChanges) -> Json:
    """The configuration of a switch after a Set."""
    names = JsonNames(keys_of)
    for known in (running, tree(replace(rail_switch(), management=STATED))):
        names.learn(known)
    edits = [Edit(Operation.DELETE, elements(path)) for path in changes.delete]
    edits += [Edit(Operation.REPLACE, elements(path), value) for path, value in changes.replace]
    edits += [Edit(Operation.UPDATE, elements(path), value) for path, value in changes.update]
    return edited(running, edits, names, "leaf1")


def pushed(running: Json, model: DeviceModel) -> Json:
    return after(running, set_request(managed(running), tree(model)))


def modelled(configuration: Json, model: DeviceModel) -> DeviceModel:
    """What a configuration has of what the rendering of a model states."""
    return replace(parse_tree(configuration, like=tree(model)), unmodelled=())


def system(configuration: Json) -> Json:
    found: Json = stripped(configuration)["system"]
    return found


def test_what_a_candidate_does_not_state_stays() -> None:
    assert not set_request(managed(of_the_operator()), tree())
    assert pushed(of_the_operator(), switch(banner="new")) == of_the_operator() | {
        SYSTEM: of_the_operator()[SYSTEM]
        | {"srl_nokia-system-banner:banner": {"login-banner": "new", "motd-banner": "hello"}}
    }


def test_stated_parts_replace_what_the_operator_had_and_nothing_beside_it() -> None:
    model = replace(rail_switch(), management=STATED)
    found = system(pushed(of_the_operator(), model))
    assert [server["address"] for server in found["ntp"]["server"]] == ["10.0.0.1", "10.0.0.2"]
    assert [server["host"] for server in found["logging"]["remote-server"]] == ["10.0.0.3"]
    assert found["logging"]["buffer"] == OF_THE_OPERATOR["srl_nokia-logging:logging"]["buffer"]
    assert found["aaa"]["authentication"] == {
        "authentication-method": ["tacacs", "local"],
        "admin-user": {"password": "$y$hash"},
    }
    assert {group["name"] for group in found["aaa"]["server-group"]} == {"corp", "local", "tacacs"}
    assert found["banner"] == {"login-banner": "authorised users only", "motd-banner": "hello"}
    (server,) = found["grpc-server"]
    former = OF_THE_OPERATOR["srl_nokia-grpc:grpc-server"][0]
    assert server == former | {"tls-profile": "fabric"}


def test_pushing_twice_changes_nothing_and_what_runs_is_the_model() -> None:
    model = replace(rail_switch(), management=STATED)
    once = pushed(of_the_operator(), model)
    assert not set_request(managed(once), tree(model))
    assert modelled(once, model) == model


@pytest.mark.parametrize("part", ["ntp", "syslog", "aaa", "gnmi", "banner"])
def test_each_part_is_managed_alone(part: str) -> None:
    model = switch(**{part: getattr(STATED, part)})
    before, found = of_the_operator(), pushed(of_the_operator(), model)
    assert modelled(found, model) == model
    own = {"syslog": "logging", "gnmi": "grpc-server"}.get(part, part)
    others = {name for name in system(before) if name != own}
    assert {name: system(found)[name] for name in others} == {name: system(before)[name] for name in others}


def test_the_former_configuration_restores_what_a_candidate_adds() -> None:
    """Also where the switch had nothing in its place: the text of a rollback says so."""
    bare, model = tree(), replace(rail_switch(), management=replace(STATED, gnmi=None))
    former = restorable(managed(bare), tree(model))
    found = pushed(bare, model)
    assert managed(found) != managed(bare)
    assert managed(after(found, set_request(managed(found), former))) == managed(bare)
    assert SRLINUX.parse(text(former)) == rail_switch()


def test_secrets_of_aaa_servers_are_kept_and_never_read() -> None:
    model = replace(rail_switch(), management=STATED)
    running = pushed(of_the_operator(), model)
    group = next(found for found in running[SYSTEM]["srl_nokia-aaa:aaa"]["server-group"] if found["name"] == "tacacs")
    group["server"][0]["tacacs"] = {"secret-key": "$aes$1$secret"}
    assert "secret" not in text(managed(running))
    assert not set_request(managed(running), tree(model))
    more = replace(model, management=replace(STATED, aaa=(*STATED.aaa, AaaServer(address="10.0.0.5"))))
    assert "$aes$1$secret" in text(pushed(running, more))


OF_LLDP: list[tuple[Json | None, bool]] = [
    (None, False),
    ({}, True),
    ({"admin-state": "disable"}, False),
    ({"management-address": [{"subinterface": "mgmt0.0"}]}, True),
    ({"hello-timer": "10"}, True),
]
"""Containers of LLDP, and whether it runs with them: they have presence, and admin-state is enabled by default."""


def with_lldp(container: Json | None) -> Json:
    """A switch that runs this container of LLDP, or none."""
    running = tree()
    del running[SYSTEM]["srl_nokia-lldp:lldp"]
    if container is not None:
        running[SYSTEM]["srl_nokia-lldp:lldp"] = container
    return running


@pytest.mark.parametrize(("container", "runs"), OF_LLDP)
def test_lldp_runs_where_its_container_is_there_even_empty(container: Json | None, runs: bool) -> None:
    assert parse_tree(with_lldp(container)).lldp.enabled is runs


@pytest.mark.parametrize(("container", "runs"), OF_LLDP)
def test_a_rollback_restores_whether_lldp_runs_and_keeps_what_the_operator_has(
    container: Json | None, runs: bool
) -> None:
    running = with_lldp(container)
    former = restorable(managed(running), tree())
    found = pushed(running, rail_switch())
    assert parse_tree(found).lldp.enabled
    restored = after(found, set_request(managed(found), former))
    assert managed(restored) == managed(running)
    assert parse_tree(restored).lldp.enabled is runs
    addresses = stripped(restored)["system"].get("lldp", {}).get("management-address")
    assert addresses == (container or {}).get("management-address")


def test_lldp_is_enabled_on_every_port_of_the_fabric() -> None:
    running = tree()
    running[SYSTEM]["srl_nokia-lldp:lldp"]["interface"] = [
        {"name": "ethernet-1/9", "admin-state": "disable"},
        {"name": "mgmt0", "admin-state": "disable"},
    ]
    found = SRLINUX.parse(text(running))
    assert found.lldp.silent == ("ethernet-1/9",)
    assert found.unmodelled == ("set / system lldp interface mgmt0 admin-state disable",)
    assert set_request(managed(running), tree()).delete == ("/system/lldp/interface[name=ethernet-1/9]",)


def test_what_the_operator_has_is_unmodelled_where_it_is_not_stated() -> None:
    found = parse_tree(of_the_operator(), like=tree())
    assert found.management is None
    assert "set / system ntp server 192.0.2.1 iburst true" in found.unmodelled
    beside = parse_tree(of_the_operator(), like=tree(switch(gnmi=STATED.gnmi))).unmodelled
    assert [line for line in beside if "grpc-server" in line] == [
        "set / system grpc-server mgmt gnmi commit-save true",
        "set / system grpc-server mgmt rate-limit 65000",
        "set / system grpc-server mgmt services [ gnmi gnoi ]",
    ]

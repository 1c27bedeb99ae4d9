"""What a file needs before `load override` replaces the configuration of a switch with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples

from railfab.errors import ConfigError
from railfab.fabric import design
from railfab.platforms import admit, platform
from railfab.platforms.junos.load_override import CUT, REFUSED, StatementForOverride, missing_for_override

JUNOS = platform("junos")
ROOT = "system root-authentication"
IN_INSTANCE = """
set version 24.4R1-EVO
set system root-authentication encrypted-password "$6$hidden"
set system login user netops class super-user
set system login user netops authentication ssh-ed25519 "ssh-ed25519 AAAA hidden"
set system login user auditor class read-only
set system services ssh root-login deny
set system services ssh port 2222
set system services netconf ssh
set system management-instance
set interfaces re0:mgmt-0 unit 0 family inet address 192.0.2.11/24 master-only
set interfaces re0:mgmt-0 unit 0 family inet6 address 2001:db8::11/64
set interfaces et-0/0/0 unit 0 family inet address 10.0.0.1/31
set routing-options static route 10.9.0.0/16 next-hop 10.0.0.0
set routing-instances mgmt_junos routing-options static route 0.0.0.0/0 next-hop 192.0.2.1
set routing-instances mgmt_junos routing-options rib mgmt_junos.inet6.0 static route ::/0 next-hop 2001:db8::1
"""
IN_DEFAULT = """
system {
    root-authentication { encrypted-password "$6$hidden"; }
    services { ssh; }
}
interfaces { fxp0 { unit 0 { family inet { address 192.0.2.11/24; } } } }
routing-options {
    rib inet6.0 { static { route ::/0 next-hop 2001:db8::1; } }
    static { route 0.0.0.0/0 { next-hop 192.0.2.1; no-readvertise; } }
}
"""
BARE = "set system host-name leaf1"
ACCESS = (
    "system services ssh",
    "system services ssh port 2222",
    "system services netconf ssh",
    "interfaces re0:mgmt-0 unit 0 family inet address 192.0.2.11/24",
    "interfaces re0:mgmt-0 unit 0 family inet6 address 2001:db8::11/64",
    "system management-instance",
    "routing-instances mgmt_junos routing-options static route 0.0.0.0/0 next-hop 192.0.2.1",
    "routing-instances mgmt_junos routing-options rib mgmt_junos.inet6.0 static route ::/0 next-hop 2001:db8::1",
)
LOGIN = ("system login user netops class super-user", "system login user netops authentication")


def lacking(candidate: str, running: str, user: str = "") -> tuple[str, ...]:
    return tuple(missing.statement for missing in missing_for_override(candidate, running, user=user))


def test_a_switch_needs_a_password_of_root_and_what_it_is_reached_by() -> None:
    assert missing_for_override(BARE, IN_INSTANCE) == (
        StatementForOverride(statement=ROOT, consequence=REFUSED),
        *(StatementForOverride(statement=statement, consequence=CUT) for statement in ACCESS),
    )
    assert "hidden" not in repr(missing_for_override(BARE, IN_INSTANCE, user="netops"))


def test_the_login_of_the_user_is_needed_and_that_of_others_is_not() -> None:
    assert set(lacking(BARE, IN_INSTANCE, "netops")) == {ROOT, *ACCESS, *LOGIN}
    allowed = "set system services ssh root-login allow"
    assert lacking(f"{BARE}\nset system services ssh", allowed, "root") == (ROOT, allowed.removeprefix("set "))
    assert lacking(f"{BARE}\nset system services ssh", allowed, "netops") == (ROOT,)


@given(drawn=st.data())
@settings(max_examples=examples(50), deadline=None)
def test_what_is_missing_is_what_was_removed_and_adding_it_is_enough(drawn: st.DataObject) -> None:
    lines = [line for line in IN_INSTANCE.splitlines() if line]
    kept = drawn.draw(st.lists(st.sampled_from(lines), unique=True))
    named = lacking("\n".join((BARE, *kept)), IN_INSTANCE, "netops")
    needed = (ROOT, *ACCESS, *LOGIN)
    assert set(named) == {statement for statement in needed if not any(statement in line for line in kept)}
    added = [f"set {name}{' ssh-rsa another' if name.endswith('authentication') else ''}" for name in named]
    assert lacking("\n".join((BARE, *kept, *added)), IN_INSTANCE, "netops") == ()


def test_what_is_not_in_effect_is_missing() -> None:
    hidden = IN_INSTANCE + "deactivate interfaces re0:mgmt-0 unit 0 family inet6\ndeactivate system services ssh"
    assert lacking(hidden, IN_INSTANCE) == (*ACCESS[:2], ACCESS[4])
    assert lacking(BARE, hidden) == (ROOT, *ACCESS[2:4], *ACCESS[5:7])


@pytest.mark.parametrize("running", [IN_INSTANCE, IN_DEFAULT])
def test_the_configuration_of_a_switch_has_all_that_it_needs_in_either_form(running: str) -> None:
    assert lacking(running, running, "netops") == ()


def test_a_route_is_needed_in_the_instance_into_which_the_file_moves_the_port() -> None:
    """A static route of the management in inet.0 does not move with its port."""
    address = "interfaces fxp0 unit 0 family inet address 192.0.2.11/24"
    route = "routing-options static route 0.0.0.0/0 next-hop 192.0.2.1"
    assert lacking(BARE, IN_DEFAULT) == (ROOT, "system services ssh", address, route)
    moved = IN_DEFAULT.replace("services {", "management-instance; services {")
    assert lacking(moved, IN_DEFAULT) == (f"routing-instances mgmt_junos {route}",)


@pytest.mark.parametrize(
    "stated",
    [
        "",
        "set system root-authentication no-public-keys",
        'set system root-authentication encrypted-password "$6$a"\ndeactivate system root-authentication',
        'set system root-authentication encrypted-password "$6$a"\ndelete system root-authentication',
    ],
)
def test_a_root_without_a_password_or_key_in_effect_is_none(stated: str) -> None:
    assert lacking(f"{BARE}\n{stated}", BARE) == (ROOT,)


@pytest.mark.parametrize(
    "stated",
    [
        'set system root-authentication ssh-rsa "ssh-rsa AAAA"',
        'set groups all system root-authentication encrypted-password "$6$a"\nset apply-groups all',
    ],
)
def test_a_key_or_a_group_is_enough(stated: str) -> None:
    assert lacking(f"{BARE}\n{stated}", BARE) == ()


def test_a_port_that_asks_for_its_address_needs_no_route() -> None:
    running = (
        "set interfaces vme unit 0 family inet dhcp vendor-id A\nset routing-options static route 0.0.0.0/0 discard"
    )
    assert lacking(BARE, running) == (ROOT, "interfaces vme unit 0 family inet dhcp")


def test_a_rendered_file_lacks_what_the_page_says(repository: Path) -> None:
    fabric = design(repository / "inventory" / "fabrics" / "mixed-junos-spine.yml")
    model = next(model for model in fabric.models.values() if model.platform == "junos")
    text = JUNOS.text(JUNOS.render(admit(model, JUNOS)))
    services = ("system services ssh", "system services netconf ssh")
    assert lacking(text, IN_INSTANCE) == (ROOT, *(name for name in ACCESS if name not in services))


def test_a_text_that_is_no_configuration_is_refused() -> None:
    with pytest.raises(ConfigError):
        missing_for_override("a {", BARE)

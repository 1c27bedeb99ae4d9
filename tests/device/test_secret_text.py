"""Secrets of switches are not shown, in whichever words a platform has them."""

from __future__ import annotations

import pytest

from railfab.device.secret_text import without_secrets

LINES = (
    "username admin privilege 15 role network-admin secret sha512 $6$SECRET",
    "enable password sha512 $6$SECRET",
    "neighbor 10.0.0.1 password 7 SECRET",
    "snmp-server community SECRET ro",
    "ntp authentication-key 1 md5 7 SECRET",
    'tacacs-server host 10.0.0.5 key 7 "SECRET"',
    'radius-server host 10.0.0.6 key 7 "SECRET" authentication accounting',
    "username admin password 5 $5$SECRET  role network-admin",
    "snmp-server user admin network-admin auth md5 0xSECRET priv 0xSECRET localizedkey",
    "snmp-server user admin network-admin auth sha SECRET priv aes-128 SECRET",
    "key 1: key-string 7 SECRET",
    'system root-authentication encrypted-password "$6$SECRET"',
    'system tacplus-server 10.0.0.5 secret "$9$SECRET"',
    "system ntp authentication-key 1 value SECRET",
    "snmp community SECRET authorization read-only",
    'protocols bgp group a authentication-key "$9$SECRET"',
    "nv set system aaa tacacs server 1 secret SECRET",
    "nv set system aaa user cumulus hashed-password '$6$SECRET'",
    "nv set system snmp-server readonly-community SECRET access any",
    "TACPLUS_SERVER|10.0.0.5 passkey SECRET",
    "BGP_NEIGHBOR|default|10.0.0.1 auth_password SECRET",
    "SNMP_COMMUNITY|SECRET TYPE RO",
    'set / system aaa server-group t server 10.0.0.5 tacacs secret-key "$aes1$SECRET"',
    'set / system aaa authentication linuxadmin-user password "$6$SECRET"',
    "- neighbor swp1 password SECRET",
)


@pytest.mark.parametrize("line", LINES)
def test_a_secret_is_not_shown(line: str) -> None:
    shown = without_secrets(line)
    assert "SECRET" not in shown
    assert shown.split()[:2] == line.replace("SNMP_COMMUNITY|SECRET", "SNMP_COMMUNITY|...").split()[:2]
    assert without_secrets(shown) == shown


@pytest.mark.parametrize(
    "line",
    [
        "set community 65001:1 additive",
        "neighbor 10.0.0.1 send-community extended",
        "ip community-list standard drain permit 65535:0",
        "forwarding-options hash-key family inet layer-3",
        "forwarding-options enhanced-hash-key ecmp-dlb flowlet",
        "key chain bgp",
        "BGP_NEIGHBOR|default|10.0.0.1 asn 65001",
        "nv set system aaa authentication-order 10 tacacs",
        "username admin sshkey file bootflash:key.pub",
        "set / interface ethernet-1/1 description monkey-business",
    ],
)
def test_another_line_is_shown_as_it_is(line: str) -> None:
    assert without_secrets(line) == line

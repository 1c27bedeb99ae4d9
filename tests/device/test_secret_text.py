"""Secrets of switches are not shown, in whichever words a platform has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from railfab.device import configuration_without_secrets, without_secrets

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


def test_no_whole_configuration_shows_a_secret() -> None:
    text = "\n".join(LINES)
    assert "SECRET" not in configuration_without_secrets(text)
    assert len(configuration_without_secrets(text).splitlines()) == len(LINES)


TREES: dict[str, Any] = {
    "SNMP_COMMUNITY": {"SECRET1": {"TYPE": "RO"}, "SECRET2": {"TYPE": "RW"}},
    "NTP_KEY": {"42": {"type": "md5", "value": "SECRET"}},
    "TACPLUS": {"global": {"auth_type": "pap", "passkey": "SECRET"}},
    "BGP_NEIGHBOR": {"default|10.0.0.1": {"asn": "65001", "auth_password": "SECRET"}},
    "srl_nokia-system:system": {
        "aaa": {"user": [{"password": "$6$SECRET", "username": "admin"}]},
        "tls": {"server-profile": [{"key": "$aes1$SECRET", "name": "mgmt"}]},
        "snmp": {"community-entry": [{"community": "SECRET", "name": "all"}]},
    },
    "MACSEC_PROFILE": {"one": {"primary_cak": "SECRET", "primary_ckn": "6162"}},
    "service": {"snmp-server": {"readonly-community": {"SECRET": {"access": {}}}, "listening-address": {}}},
    "pre-shared-key": 1234567,
}


@pytest.mark.parametrize("write", [lambda tree: json.dumps(tree, indent=4), lambda tree: yaml.safe_dump(tree)])
def test_a_tree_shows_no_secret_and_stays_a_tree(write: Any) -> None:
    shown = configuration_without_secrets(write(TREES))
    assert "SECRET" not in shown
    assert "1234567" not in shown
    read = yaml.safe_load(shown)
    assert read["NTP_KEY"] == {"42": {"type": "md5", "value": "...1"}}
    assert read["SNMP_COMMUNITY"] == {"...1": {"TYPE": "RO"}, "...2": {"TYPE": "RW"}}
    assert read["TACPLUS"] == {"global": {"auth_type": "pap", "passkey": "..."}}
    assert read["MACSEC_PROFILE"]["one"]["primary_ckn"] == "6162"
    assert configuration_without_secrets(shown) == shown


def test_what_railfab_renders_is_shown_as_it_is(repository: Path) -> None:
    golden = [path for path in (repository / "tests" / "golden" / "configurations").rglob("*") if path.is_file()]
    assert len(golden) > 50
    assert [path for path in golden if configuration_without_secrets(path.read_text()) != path.read_text()] == []

"""Files beside a running lab or twin: who owns them, who reads them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from railfab.endpoints import Credentials, Endpoint, Endpoints, load_endpoints, read_credentials, save_endpoints
from railfab.errors import EndpointError

NOBODY = 65534


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root; run the tests with sudo")
def test_what_sudo_writes_belongs_to_the_user_who_called_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_UID", str(NOBODY))
    monkeypatch.setenv("SUDO_GID", str(NOBODY))
    path = tmp_path / "work" / "state" / "f.lab.json"
    endpoints = Endpoints(
        fabric="f", backend="netns", nodes=(Endpoint(name="leaf1", platform="frr", host="192.0.2.1"),)
    )
    save_endpoints(path, endpoints)
    for made in (path, path.parent, path.parent.parent):
        assert (made.stat().st_uid, made.stat().st_gid) == (NOBODY, NOBODY)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_endpoints(path) == endpoints


def test_the_secret_of_aaa_servers_is_optional_and_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "credentials.yml"
    file.write_text("{username: me, password: word}\n")
    monkeypatch.setenv("LAB_USERNAME", "me")
    monkeypatch.setenv("LAB_PASSWORD", "word")
    ends = [Endpoint(name="leaf1", platform="srlinux", host="::1", credentials=at) for at in (str(file), "env:LAB")]
    assert [read_credentials(end).aaa_secret for end in ends] == [None, None]
    file.write_text("{username: me, password: word, aaa_secret: s3cret}\n")
    monkeypatch.setenv("LAB_AAA_SECRET", "s3cret")
    assert [read_credentials(end).aaa_secret for end in ends] == ["s3cret", "s3cret"]
    assert "s3cret" not in repr(read_credentials(ends[0]))


def test_a_token_replaces_user_name_and_password_and_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "credentials.yml"
    file.write_text("{token: t0ken}\n")
    monkeypatch.setenv("LAB_TOKEN", "t0ken")
    monkeypatch.setenv("LAB_USERNAME", "me")
    ends = [Endpoint(name="leaf1", platform="srlinux", host="::1", credentials=at) for at in (str(file), "env:LAB")]
    found = [read_credentials(end) for end in ends]
    assert found == [Credentials("", "", token="t0ken"), Credentials("me", "", token="t0ken")]
    assert "t0ken" not in repr(found)


def by_command(tmp_path: Path, script: str) -> Endpoint:
    program = tmp_path / "log in"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    return Endpoint(name="leaf1", platform="srlinux", host="::1", credentials=f"command:'{program}' --of s3cret")


def test_a_command_prints_the_credentials_of_the_switch_for_which_it_is_run(tmp_path: Path) -> None:
    endpoint = by_command(tmp_path, 'echo "{username: $RAILFAB_SWITCH, password: $2}"')
    assert read_credentials(endpoint) == Credentials("leaf1", "s3cret")


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo username: me; echo s3cret >&2", "prints no credentials. Print username and password, as YAML."),
        ("echo '- s3cret'", "prints no credentials. Print username and password, as YAML."),
        ("echo s3cret; exit 3", "ended with code 3. Run it by hand to see why."),
        ("exec sleep 60", "did not end in 0 s, and was killed. Run it by hand to see what it waits for."),
    ],
)
def test_a_command_without_credentials_is_one_line_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, problem: str
) -> None:
    if "sleep" in script:
        monkeypatch.setattr("railfab.endpoints.credentials.COMMAND_WITHIN_S", 0.3)
    with pytest.raises(EndpointError) as caught:
        read_credentials(by_command(tmp_path, script))
    assert str(caught.value) == f"leaf1: the command {tmp_path / 'log in'} of its credentials {problem}"


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("", "'command:' is followed by no command, or a quote in it is not closed. Write for example"),
        ("'login", "'command:' is followed by no command, or a quote in it is not closed. Write for example"),
        ("/no/such/login", "the command /no/such/login of its credentials cannot be run: No such file or directory."),
    ],
)
def test_a_command_that_cannot_be_run_is_named(command: str, problem: str) -> None:
    endpoint = Endpoint(name="leaf1", platform="srlinux", host="::1", credentials=f"command:{command}")
    with pytest.raises(EndpointError) as caught:
        read_credentials(endpoint)
    assert str(caught.value).startswith(f"leaf1: {problem}")


def test_a_target_may_ask_for_no_login() -> None:
    endpoint = Endpoint(name="leaf1", platform="srlinux", host="::1", credentials="none")
    assert read_credentials(endpoint) == Credentials("", "")


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ("plaintext: true, ca: c", "plaintext is without TLS, and ca is for TLS. Leave out plaintext, or ca."),
        (
            "plaintext: true, skip_verify: true, client_cert: c, client_key: k",
            "plaintext is without TLS, and skip_verify, client_cert and client_key are for TLS. Leave out plaintext",
        ),
        ("client_cert: c", "client_cert is without client_key. Name both files; they may be the same."),
        ("client_key: c", "client_key is without client_cert. Name both files; they may be the same."),
        ("client_cert: 7, client_key: k", "client_cert 7 is not a path. Name a file."),
        ("plaintext: 1", "plaintext 1 is not a boolean. Use true or false."),
        ("tls_name: ''", "tls_name '' is not a text. Write the name in the certificate."),
        ("gnmi_target: 7", "gnmi_target 7 is not a text. Write a text."),
        ("gnmi_mode: stream", "gnmi_mode 'stream' is not sample, poll or once. Use one of them, or leave it out."),
        ("gnmi_interval_s: 0", "gnmi_interval_s 0 is not 0.1 to 86400 seconds. Write a number, or leave it out."),
        ("gnmi_interval_s: .nan", "gnmi_interval_s nan is not 0.1 to 86400 seconds. Write a number, or leave it out."),
        ("gnmi_interval_s: 5s", "gnmi_interval_s '5s' is not 0.1 to 86400 seconds. Write a number, or leave it out."),
        ("gnmi_interval_s: true", "gnmi_interval_s True is not 0.1 to 86400 seconds. Write a number, or leave it out."),
        ("gnmi_heartbeat_s: 90000", "gnmi_heartbeat_s 90000 is not 0.1 to 86400 seconds. Write"),
        ("gnmi_suppress_redundant: 1", "gnmi_suppress_redundant 1 is not a boolean. Use true or false."),
        (
            "gnmi_mode: once, gnmi_heartbeat_s: 60",
            "each answer of mode once is whole, and gnmi_heartbeat_s is for streams. Leave out gnmi_heart",
        ),
        (
            "gnmi_encoding: xml",
            "gnmi_encoding 'xml' is not proto, json_ietf, json, bytes or ascii. Use one of them, or leave it out.",
        ),
    ],
)
def test_settings_that_exclude_each_other_are_refused_in_one_line(tmp_path: Path, settings: str, line: str) -> None:
    (tmp_path / "hosts.yml").write_text(f"leaf1: {{hostname: h, platform: frr, data: {{{settings}}}}}\n")
    with pytest.raises(EndpointError) as caught:
        load_endpoints(tmp_path / "hosts.yml")
    assert str(caught.value).startswith(f"{tmp_path / 'hosts.yml'}:1: leaf1: {line}")

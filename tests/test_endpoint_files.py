"""Files beside a running lab or twin: who owns them, who reads them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from railfab.endpoints import Endpoint, Endpoints, load_endpoints, read_credentials, save_endpoints

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

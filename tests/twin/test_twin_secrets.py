"""The password and the CA of a twin: clients of the last twin of a fabric reach the next one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.twin.twins import srl_pod

from railfab.endpoints import Credentials, read_credentials
from railfab.errors import LoginRefused
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.certificates import Authority, TlsIdentity
from railfab.gnmi.tls import CertificateRefused
from railfab.twin import Twin
from railfab.twin.files import TwinFiles, twin_files

NAME = "/system/name/host-name"


def started(state: Path, *, new_credentials: bool = False) -> Twin:
    """A twin of four switches."""
    return Twin(srl_pod(), state=state, base_port=0, new_credentials=new_credentials)


def files_of(state: Path) -> TwinFiles:
    return twin_files(state, "srl-pod")


def test_a_client_of_the_last_twin_reaches_the_next_one_and_not_one_with_new_credentials(tmp_path: Path) -> None:
    """The client has its own copy of the CA, as one that runs on has in memory."""
    known = tmp_path / "known.pem"
    with started(tmp_path) as first:
        known.write_bytes(files_of(tmp_path).ca.read_bytes())
        login = read_credentials(first.endpoints.nodes[0])
        assert names(first, login, known) == {node.name for node in first.endpoints.nodes}
    with started(tmp_path) as second:
        assert names(second, login, known) == {node.name for node in first.endpoints.nodes}
    with started(tmp_path, new_credentials=True) as renewed:
        files = files_of(tmp_path)
        assert names(renewed, read_credentials(renewed.endpoints.nodes[0]), files.ca)
        with pytest.raises(CertificateRefused):
            names(renewed, login, known)
        with pytest.raises(LoginRefused):
            names(renewed, login, files.ca)


def names(twin: Twin, login: Credentials, ca: Path) -> set[object]:
    """The names of a twin's switches, as a client with this login and CA reads them."""
    found = set()
    for node in twin.endpoints.nodes:
        with BlockingGnmiClient(replace(node, ca=str(ca)), login) as client:
            found.add(name_at(client))
    return found


def name_at(client: BlockingGnmiClient) -> object:
    (found,) = client.get((NAME,))
    return found.value


def unreadable_password(files: TwinFiles) -> None:
    files.credentials.write_text('{"username": "admin"}')


def broken_key(files: TwinFiles) -> None:
    files.ca_key.write_text("no key")


def key_of_another(files: TwinFiles) -> None:
    files.ca_key.write_bytes(Authority("other").identity.key)


def key_lost(files: TwinFiles) -> None:
    files.ca_key.unlink()


@pytest.mark.parametrize("spoil", [unreadable_password, broken_key, key_of_another, key_lost])
def test_what_is_unusable_is_made_anew_and_readable_by_its_owner_alone(
    tmp_path: Path, spoil: Callable[[TwinFiles], None]
) -> None:
    files = files_of(tmp_path)
    with started(tmp_path):
        before = {path: path.read_bytes() for path in (files.credentials, files.ca)}
    for path in files.kept():
        if path.exists():
            path.chmod(0o644)
    spoil(files)
    with started(tmp_path) as twin:
        node, *_ = twin.endpoints.nodes
        with BlockingGnmiClient(node, read_credentials(node)) as client:
            assert name_at(client) == node.name
        renewed = files.credentials if spoil is unreadable_password else files.ca
        assert {path for path, content in before.items() if path.read_bytes() != content} == {renewed}
        assert {path.stat().st_mode & 0o777 for path in (files.credentials, files.ca, files.ca_key)} == {0o600}


def test_an_authority_that_was_stored_issues_certificates_for_those_who_trust_it(tmp_path: Path) -> None:
    authority = Authority("pod")
    stored = Authority.of(authority.identity)
    assert stored.certificate == authority.certificate
    assert isinstance(stored.issue("leaf"), TlsIdentity)
    with pytest.raises(ValueError, match="does not belong"):
        Authority.of(TlsIdentity(authority.certificate, Authority("other").identity.key))

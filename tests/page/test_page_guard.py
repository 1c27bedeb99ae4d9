"""Who may ask and who may change: host names, tokens, origins, and the headers of every answer."""

from __future__ import annotations

from http import HTTPStatus

import pytest
from starlette.requests import Request

from railfab.errors import RailfabError
from railfab.page.security import Guard, RequestDeclined, allowed_names, is_loopback
from railfab.page.settings import PageAddress, new_token

TOKEN = new_token()


def request(**headers: str) -> Request:
    given = {"host": "127.0.0.1:9805", "authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    raw = [(name.encode(), value.encode()) for name, value in (given | headers).items()]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": raw})


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        ("127.0.0.1:9805", True),
        ("localhost:1", True),
        ("LOCALHOST", True),
        ("[::1]:9805", True),
        ("192.0.2.7", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example:9805", False),
        ("localhost.evil.example", False),
        ("127.0.0.1:80@evil.example", False),
        ("[::1].evil.example", False),
        ("", False),
    ],
)
def test_only_addresses_and_this_machine_are_answered(host: str, is_allowed: bool) -> None:
    guard = Guard(TOKEN, allowed_names("127.0.0.1"))
    if is_allowed:
        guard.check_host(host)
    else:
        with pytest.raises(RequestDeclined, match="open it by its address"):
            guard.check_host(host)


def test_a_change_needs_the_token_our_origin_and_json() -> None:
    guard = Guard(TOKEN, allowed_names("127.0.0.1"))
    guard.check_change(request())
    guard.check_change(request(origin="http://127.0.0.1:9805"))
    refused = {
        HTTPStatus.UNAUTHORIZED: {"authorization": "Bearer " + TOKEN[:-1]},
        HTTPStatus.FORBIDDEN: {"origin": "http://evil.example"},
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE: {"content-type": "text/plain"},
    }
    for status, headers in refused.items():
        with pytest.raises(RequestDeclined) as refusal:
            guard.check_change(request(**headers))
        assert refusal.value.status is status
    with pytest.raises(RequestDeclined) as refusal:
        guard.check_change(request(**{"sec-fetch-site": "cross-site"}))
    assert refusal.value.status is HTTPStatus.FORBIDDEN


def test_without_a_twin_nothing_can_be_changed() -> None:
    with pytest.raises(RequestDeclined) as refusal:
        Guard(None, allowed_names("127.0.0.1")).check_change(request())
    assert refusal.value.status is HTTPStatus.NOT_FOUND


def test_tokens_are_new_each_time() -> None:
    assert len({new_token() for _ in range(100)}) == 100


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("0.0.0.0:80", "0.0.0.0", 80), ("[::1]:0", "::1", 0), ("192.0.2.1", "192.0.2.1", 9805), ("::1", "::1", 9805)],
)
def test_an_address_to_listen_on(text: str, host: str, port: int) -> None:
    assert PageAddress.parse(text) == PageAddress(host, port)


@pytest.mark.parametrize("text", ["", ":80", "127.0.0.1:http", "127.0.0.1:65536", "127.0.0.1:-1"])
def test_what_is_no_address_is_named_with_one_that_is(text: str) -> None:
    with pytest.raises(RailfabError, match="is no address and port") as refused:
        PageAddress.parse(text)
    remedies = [word for word in str(refused.value).replace(",", " ").split() if word.startswith("127.0.0.1:")]
    assert [PageAddress.parse(word.rstrip(".")).host for word in remedies if word != text] != []


def test_loopback_is_told_from_other_addresses() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.1")] == [
        True,
        True,
        True,
        False,
        False,
    ]

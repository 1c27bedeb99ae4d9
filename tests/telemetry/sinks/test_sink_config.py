"""Sinks as users state them: what is wrong is said in one line, and a password is never shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.telemetry.sinks.samples import batch, eventually, receiving

from railfab.errors import RailfabError
from railfab.telemetry.sinks.config import SinkError, push_labels, sinks_of

PATH_REMEDY = "Write for example https://mimir.example/api/v1/write."
URL_REMEDY = "Write https://HOST[:PORT], or http:// for a connection in plain text."


def refusal(environment: dict[str, str] | None = None, **options: str) -> str:
    with pytest.raises(RailfabError) as found:
        sinks_of(**options, environment=environment or {})
    return str(found.value)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            {"remote_write": "https://mimir.example"},
            f"https://mimir.example names no path that takes remote write. {PATH_REMEDY}",
        ),
        (
            {"remote_write": "mimir.example/api/v1/write"},
            f"'mimir.example/api/v1/write' is not the address of a receiver. {URL_REMEDY}",
        ),
        ({"remote_write": "https://a b/write"}, f"'https://a b/write' is not the address of a receiver. {URL_REMEDY}"),
        (
            {"remote_write": "https://a:99999/write"},
            f"'https://a:99999/write' is not the address of a receiver. {URL_REMEDY}",
        ),
        ({"remote_write": "https:///write"}, f"'https:///write' is not the address of a receiver. {URL_REMEDY}"),
        (
            {"kafka": "broker1"},
            "'broker1' is not a list of brokers. Write HOST:PORT, several with commas, and a topic after a slash: "
            "kafka1:9093,kafka2:9093/fabric.",
        ),
        (
            {"kafka": "b:9093/a topic"},
            "'a topic' is no topic. Use letters, digits, dot, underscore and hyphen, at most 249.",
        ),
        (
            {"nats": "https://b:4222"},
            "'https://b:4222' is not the address of a receiver. Write tls://HOST[:PORT], or nats:// for a "
            "connection in plain text.",
        ),
        (
            {"nats": "tls://b/fabric.>"},
            "'fabric.>' is no beginning of a subject. Write words with dots between them, without spaces, * and >.",
        ),
        (
            {"nats": "tls://a:4222,nats://b:4222"},
            "'tls://a:4222,nats://b:4222' is not one cluster. Use one of tls:// and nats:// for all servers, "
            "and a subject behind the last.",
        ),
    ],
)
def test_a_wrong_address_is_one_line(options: dict[str, str], line: str) -> None:
    (name,) = options
    assert refusal(**options) == f"--{name.replace('_', '-')}: {line}"


@pytest.mark.parametrize(
    ("options", "prefix"),
    [
        ({"remote_write": "https://ann:secret@mimir.example/write"}, "RAILFAB_REMOTE_WRITE"),
        ({"kafka": "ann:secret@b:9093"}, "RAILFAB_KAFKA"),
        ({"nats": "tls://secret@b:4222"}, "RAILFAB_NATS"),
    ],
)
def test_an_address_with_a_password_is_refused_and_not_shown(options: dict[str, str], prefix: str) -> None:
    line = refusal(**options)
    assert line.endswith(
        f": the address has a user name or a password in it. State them in {prefix}_USERNAME and {prefix}_PASSWORD, "
        f"or a file with them in {prefix}_CREDENTIALS."
    )
    assert "secret" not in line


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        (
            {"RAILFAB_NATS_USERNAME": "ann"},
            "environment: has RAILFAB_NATS_USERNAME, and a login is a user name with a password, or a token. "
            "State one of the two.",
        ),
        (
            {"RAILFAB_NATS_CREDENTIALS": "/nowhere"},
            "/nowhere: the file contains no credentials. Write username and password into it, or token, as YAML.",
        ),
        (
            {"RAILFAB_NATS_TOKEN": "a\nb"},
            "environment: the token has characters that no token has. Write it on one line.",
        ),
        (
            {"RAILFAB_NATS_CA": "/nowhere"},
            "RAILFAB_NATS_CA: /nowhere contains no CA certificate that can be read. Name a PEM file.",
        ),
    ],
)
def test_wrong_secrets_are_one_line(environment: dict[str, str], line: str) -> None:
    assert refusal(environment, nats="tls://127.0.0.1:4222") == line


def test_a_ca_without_tls_is_refused() -> None:
    assert refusal({"RAILFAB_NATS_CA": "/ca.pem"}, nats="nats://127.0.0.1:4222") == (
        "RAILFAB_NATS_CA: names a CA, but the address is without TLS. Use an address with TLS, or leave the CA out."
    )


def test_kafka_takes_no_token_and_no_unknown_mechanism() -> None:
    assert refusal({"RAILFAB_KAFKA_TOKEN": "abc"}, kafka="b:9093") == (
        "--kafka: a token is no login to Kafka. State a user name and a password."
    )
    environment = {f"RAILFAB_KAFKA_{key}": "ann" for key in ("USERNAME", "PASSWORD", "MECHANISM")}
    line = refusal(environment, kafka="b:9093")
    assert line.startswith("kafka b:9093: ")
    assert line.endswith(". Check the variables RAILFAB_KAFKA_*.")


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert len(refusal(remote_write="mimir", kafka="b", nats="nats://127.0.0.1:4222").splitlines()) == 2


def test_a_login_in_plain_text_is_warned_of_unless_it_stays_on_the_machine(caplog: pytest.LogCaptureFixture) -> None:
    login = {"RAILFAB_REMOTE_WRITE_TOKEN": "abc"}
    for host, warned in (("127.0.0.1:1", 0), ("[::1]:1", 0), ("localhost:1", 0), ("192.0.2.1", 1)):
        (sink,) = sinks_of(remote_write=f"http://{host}/write", environment=login)
        sink.close(0.0)
        assert len(caplog.records) == warned
    assert caplog.messages == ["--remote-write: the login goes to 192.0.2.1 in plain text"]


def test_the_sinks_that_are_stated_run(tmp_path: Path) -> None:
    assert sinks_of(environment={}) == ()
    (tmp_path / "login.yml").write_text("{username: ann, password: secret}")
    environment = {"RAILFAB_REMOTE_WRITE_CREDENTIALS": str(tmp_path / "login.yml")}
    with receiving() as (receiver, url):
        sinks = sinks_of(
            remote_write=url, kafka="plaintext://127.0.0.1:1/fabric", nats="nats://127.0.0.1:1", environment=environment
        )
        assert [sink.outbox.name for sink in sinks] == ["remote_write", "kafka", "nats"]
        sinks[0].emit(batch([1]))
        eventually(lambda: receiver.headers)
        for sink in sinks:
            sink.close(0.0)
    assert receiver.headers[0]["Authorization"] == "Basic YW5uOnNlY3JldA=="


def test_labels_of_what_is_pushed_are_read() -> None:
    assert push_labels(["site=fra1", "__replica__=a=b"]) == (("__replica__", "a=b"), ("site", "fra1"))


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["site"], "--push-label: 'site' is no label with a value"),
        (["site="], "--push-label: 'site=' is no label with a value"),
        (["0=a"], "--push-label: '0=a' is no label with a value"),
        (["device=a"], "or its name is one of __name__, device. Write for example replica=a."),
        (["a=1", "a=2"], "--push-label: a is stated twice. Leave one out."),
    ],
)
def test_a_label_that_cannot_be_pushed_is_refused(texts: list[str], said: str) -> None:
    with pytest.raises(SinkError) as caught:
        push_labels(texts)
    assert said in str(caught.value)

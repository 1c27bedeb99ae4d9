"""Targets from HTTP service discovery, from real servers, also from bad ones."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples

from railfab.endpoints import Endpoint
from railfab.endpoints.secrets import SecretSource
from railfab.errors import EndpointError
from railfab.telemetry.targets import (
    Discovery,
    HttpSource,
    Loader,
    LoadFailed,
    PartlyFailed,
    parse_targets,
    sd_document,
)

LIST = [
    {"targets": ["192.0.2.1:6030", "leaf2"], "labels": {"platform": "eos", "site": "fra1", "__meta_x": "y"}},
    {"targets": ["[2001:db8::3]:9339"], "labels": {"device": "leaf3", "platform": "srlinux"}},
    {"targets": ["2001:db8::4"], "labels": {}},
]
NETBOX = [
    {
        "targets": ["leaf5"],
        "labels": {
            "__meta_netbox_name": "leaf5",
            "__meta_netbox_primary_ip": "192.0.2.5",
            "__meta_netbox_platform_slug": "arista-eos",
            "__meta_netbox_site_slug": "fra1",
        },
    }
]


class Site:
    """A web server. answer: what it does with a request; seen: the headers of each."""

    def __init__(self) -> None:
        self.seen: list[dict[str, str]] = []
        self.answer: Callable[[BaseHTTPRequestHandler], None] = lambda handler: send(handler, LIST)
        self.stop = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.seen.append(dict(self.headers))
                try:
                    site.answer(self)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/sd"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()


@pytest.fixture(scope="module")
def running() -> Iterator[Site]:
    found = Site()
    yield found
    found.stop.set()
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def site(running: Site) -> Site:
    running.seen.clear()
    running.answer = lambda handler: send(handler, LIST)
    return running


def send(handler: BaseHTTPRequestHandler, body: Any, status: int = 200, **headers: str) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(data)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def source(site: Site, environment: dict[str, str] | None = None, **options: Any) -> HttpSource:
    return HttpSource(site.url, SecretSource("SD", environment or {}), **options)


def failed(of: HttpSource) -> tuple[str, str]:
    with pytest.raises(LoadFailed) as caught:
        asyncio.run(of.poll())
    return caught.value.reason, str(caught.value)


def test_each_entry_becomes_a_target(site: Site) -> None:
    found = asyncio.run(source(site).poll()) or ()
    ends = [(spec.name, spec.platform, spec.endpoint.host, spec.endpoint.gnmi_port) for spec in found if spec.endpoint]
    assert ends == [
        ("192.0.2.1", "eos", "192.0.2.1", 6030),
        ("leaf2", "eos", "leaf2", 57400),
        ("leaf3", "srlinux", "2001:db8::3", 9339),
        ("2001:db8::4", "unknown", "2001:db8::4", 57400),
    ]
    assert dict(found[0].labels) == {"platform": "eos", "site": "fra1"}
    assert dict(found[2].labels) == {"platform": "srlinux"}
    assert found[1].telemetry.rules
    assert not found[3].telemetry.rules
    assert site.seen[0]["X-Prometheus-Refresh-Interval-Seconds"] == "60"


def test_targets_of_netboxs_plug_in() -> None:
    settings = Endpoint(name="", platform="", host="", gnmi_port=6030, ca="/ca.pem", credentials="env:LAB")
    discovery = Discovery(settings=settings, address_label="__meta_netbox_primary_ip", platforms={"arista-eos": "eos"})
    (spec,) = parse_targets("u", json.dumps(NETBOX).encode(), discovery)
    assert spec.endpoint == replace(settings, name="leaf5", platform="eos", host="192.0.2.5")
    assert dict(spec.labels) == {"platform": "eos"}


def test_a_list_cannot_weaken_what_the_user_has_set() -> None:
    labels = {"skip_verify": "true", "plaintext": "true", "credentials": "/etc/passwd", "__ca": "/tmp/ca.pem"}
    (spec,) = parse_targets("u", json.dumps([{"targets": ["a"], "labels": labels}]).encode(), Discovery())
    assert spec.endpoint == replace(Discovery().settings, name="a", platform="unknown", host="a")


def test_an_unchanged_list_is_not_sent_again(site: Site) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.headers.get("If-None-Match") == '"1"':
            send(handler, b"", 304)
        else:
            send(handler, LIST, ETag='"1"')

    site.answer = answer
    of = source(site)
    assert asyncio.run(of.poll()) is not None
    assert asyncio.run(of.poll()) is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "is not JSON (Expecting value"),
        (b"\xff\xfe\x00", "is not JSON ("),
        (b"[" * 100_000, "is not JSON ("),
        (b"{}", "is not a list."),
        (b"[1]", "entry 1: is not a mapping."),
        (b'[{"targets": "a"}]', "entry 1: targets is not a list of texts."),
        (b'[{"targets": [""]}]', "entry 1: targets is not a list of texts."),
        (b'[{"targets": [], "labels": {"a": 1}}]', "entry 1: labels is not a mapping of texts."),
        (b'[{"targets": [], "labels": {"a-b": ""}}]', "entry 1: 'a-b' is not the name of a label."),
        (b'[{"targets": ["http://a/b"]}]', "entry 1: 'http://a/b': is not of the form host:port."),
        (b'[{"targets": ["a:99999"]}]', "entry 1: a:99999: gnmi_port 99999 is not a port number. Use 1 to 65535."),
        (b'[{"targets": ["a:1"]}, {"targets": ["a:2"]}]', "entry 2: target 'a' has another content in an entry before"),
        (gzip.compress(b"[]", mtime=0), "is not JSON ("),
    ],
)
def test_garbage_is_refused_whole(site: Site, body: bytes, said: str) -> None:
    site.answer = lambda handler: send(handler, body, ETag='"x"')
    of = source(site)
    reason, text = failed(of)
    assert reason == "invalid"
    assert said in text
    assert "\n" not in text
    failed(of)
    assert "If-None-Match" not in site.seen[-1]


def test_a_wrong_entry_is_named_and_the_others_are_targets(site: Site) -> None:
    entries = [{"targets": ["leaf1", "192.0.2.67/32"]}, {"targets": "a"}, {"targets": ["leaf2"]}]
    site.answer = lambda handler: send(handler, entries, ETag='"x"')
    of = source(site)
    with pytest.raises(PartlyFailed) as caught:
        asyncio.run(of.poll())
    assert str(caught.value) == (
        f"{site.url}: entry 1: 192.0.2.67/32: host '192.0.2.67/32' is not an address or a name: it has the mask /32"
        " (and 1 more). Write 192.0.2.67."
    )
    assert [spec.name for spec in caught.value.specs] == ["leaf1", "leaf2"]
    failed(of)
    assert "If-None-Match" not in site.seen[-1]


@pytest.mark.parametrize("target", ["192.0.2.67/32", "192.0.2.67/32:57400", "2001:db8::1/128", "[2001:db8::1/128]:1"])
def test_an_address_with_a_mask_is_an_error_that_names_the_mask(target: str) -> None:
    with pytest.raises(LoadFailed, match=r"it has the mask /(32|128)\. Write (192\.0\.2\.67|2001:db8::1)\."):
        parse_targets("u", json.dumps([{"targets": [target]}]).encode(), Discovery())


def test_a_mask_of_an_address_in_a_label_is_named_too() -> None:
    discovery = Discovery(address_label="__meta_netbox_primary_ip")
    labels = {"__meta_netbox_primary_ip": "192.0.2.5/24"}
    with pytest.raises(LoadFailed, match="it has the mask /24"):
        parse_targets("u", json.dumps([{"targets": ["leaf5"], "labels": labels}]).encode(), discovery)


def test_a_target_whose_entry_is_wrong_now_stays_as_it_was(site: Site) -> None:
    async def follow() -> None:
        loader = Loader(source(site))
        site.answer = lambda handler: send(handler, [{"targets": ["192.0.2.1", "192.0.2.2", "192.0.2.3"]}])
        await loader.refresh()
        site.answer = lambda handler: send(handler, [{"targets": ["192.0.2.1/32", "192.0.2.2", "192.0.2.4"]}])
        changes = await loader.refresh()
        assert [[spec.name for spec in part] for part in changes] == [["192.0.2.4"], [], ["192.0.2.3"]]
        assert sorted(spec.name for spec in loader.specs) == ["192.0.2.1", "192.0.2.2", "192.0.2.4"]
        assert dict(loader.health.failures) == {"invalid": 1}

    asyncio.run(follow())


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "a", "a:1", "[::1]:2", "::", "a b", "platform"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["targets", "labels", "device", "platform", "__x", "a-b"]), inner, max_size=3)
    ),
    max_leaves=10,
)


@settings(max_examples=examples(100), deadline=None)
@given(ANY | st.lists(st.fixed_dictionaries({"targets": st.lists(ANY, max_size=2), "labels": ANY}), max_size=3))
def test_any_json_is_a_list_of_targets_or_refused(document: Any) -> None:
    try:
        found = parse_targets("u", json.dumps(document).encode(), Discovery())
    except LoadFailed:
        return
    assert len({spec.name for spec in found}) == len(found)


def test_a_bad_status_a_redirect_and_a_port_without_server_are_told_apart(site: Site) -> None:
    for status in (500, 401, 204, 302):
        site.answer = lambda handler, status=status: send(handler, b"", status, Location="http://127.0.0.1:1/")
        assert failed(source(site))[0] == f"http_{status}"
    gone = HttpSource("http://127.0.0.1:1/sd", SecretSource("SD", {}))
    assert failed(gone) == (
        "unreachable",
        "http://127.0.0.1:1/sd: cannot be read (Connection refused). Check the address and its server.",
    )


def test_an_answer_that_never_comes_or_never_ends_is_given_up(site: Site) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not site.stop.wait(0.02):
            handler.wfile.write(b"y")

    for answer in (lambda _: site.stop.wait(1) and None, drip):
        site.answer = answer
        began_s = time.monotonic()
        reason, text = failed(source(site, timeout_s=0.2))
        assert (reason, "no whole answer within 0.2 s" in text) == ("timeout", True)
        assert time.monotonic() - began_s < 5


def test_a_huge_answer_is_not_read_to_its_end(site: Site) -> None:
    sent: list[int] = []

    def pour(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        for _ in range(1_000):
            handler.wfile.write(b" " * 65_536)
            sent.append(65_536)

    site.answer = pour
    assert failed(source(site, most_bytes=100_000))[0] == "too_large"
    assert sum(sent) < 30_000_000


def test_an_answer_that_is_cut_off_is_not_taken_for_the_whole(site: Site) -> None:
    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"[]")
        handler.close_connection = True

    site.answer = cut
    assert failed(source(site))[0] == "unreachable"


def test_the_login_is_read_at_each_poll(site: Site) -> None:
    environment = {"SD_TOKEN": "one"}
    of = source(site, environment)
    asyncio.run(of.poll())
    environment["SD_TOKEN"] = "two"
    asyncio.run(of.poll())
    assert [seen["Authorization"] for seen in site.seen] == ["Bearer one", "Bearer two"]
    with pytest.raises(
        EndpointError, match=r"^http://h/x: the URL has a login in it\. Set SD_USERNAME and SD_PASSWORD"
    ):
        HttpSource("http://me:word@h/x", SecretSource("SD", {}))
    with pytest.raises(EndpointError, match="is no http or https URL"):
        HttpSource("file:///etc/passwd", SecretSource("SD", {}))


def test_a_source_that_fails_leaves_the_last_list_and_is_counted(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    async def follow() -> None:
        loader = Loader(source(site))
        assert [spec.name for spec in (await loader.refresh()).added] == ["192.0.2.1", "leaf2", "leaf3", "2001:db8::4"]
        site.answer = lambda handler: send(handler, b"", 500)
        assert not any(await loader.refresh())
        assert not any(await loader.refresh())
        assert (len(loader.specs), dict(loader.health.failures)) == (4, {"http_500": 2})
        site.answer = lambda handler: send(handler, [LIST[1], {"targets": ["leaf2:1"]}])
        changes = await loader.refresh()
        assert [[spec.name for spec in part] for part in changes] == [[], ["leaf2"], ["192.0.2.1", "2001:db8::4"]]
        assert (loader.health.polls, loader.health.targets) == (4, 2)
        assert loader.health.last_success_s == pytest.approx(time.time(), abs=60)

    caplog.set_level("INFO")
    asyncio.run(follow())
    said = [record.message for record in caplog.records]
    assert len(said) == 2, said
    assert said[0].endswith(
        "answers 500 Internal Server Error. Check the URL, the login and the server. The last list is kept: 4 targets."
    )
    assert said[1].endswith("gives a list of targets again")


def test_a_loader_hands_on_changes_only(site: Site) -> None:
    async def follow() -> list[int]:
        handed: list[int] = []

        async def apply(changes: Any) -> None:
            handed.append(sum(map(len, changes)))

        task = asyncio.create_task(Loader(source(site, interval_s=0.01)).run(apply))
        while len(site.seen) < 3:
            await asyncio.sleep(0.01)
        task.cancel()
        return handed

    assert asyncio.run(follow()) == [4]


def test_the_document_of_shards_is_read_as_it_is_written() -> None:
    text = sd_document({"0": "c0:9804", "1.0": "c1:9804/metrics/0"}, labels={"fabric": "pod64"}, parent="c2:9804")
    assert json.loads(text) == [
        {"targets": ["c0:9804"], "labels": {"fabric": "pod64", "__metrics_path__": "/metrics", "shard": "0"}},
        {"targets": ["c1:9804"], "labels": {"fabric": "pod64", "__metrics_path__": "/metrics/0", "shard": "1.0"}},
        {"targets": ["c2:9804"], "labels": {"fabric": "pod64", "__metrics_path__": "/metrics"}},
    ]
    assert [spec.name for spec in parse_targets("u", text.encode(), Discovery())] == ["c0", "c1", "c2"]

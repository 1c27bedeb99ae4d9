"""Where the telemetry of the gates is read: a Prometheus, or the exposition of railfab's own collector."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Protocol
from urllib.parse import urlencode, urlsplit

from railfab.deploy.gates.contract import CLOCKS, UPDATED, TelemetryReading
from railfab.endpoints.http_client import HttpClient, HttpFailed
from railfab.endpoints.secrets import SecretSource

PREFIX = "RAILFAB_TELEMETRY"
"""Of the variables with the login and the CA of the URL: see `endpoints.secrets`."""
MOST_BYTES = 256 << 20
TIMEOUT_S = 15.0
QUERY, METRICS = "/api/v1/query", "/metrics"
CHECK_URL = "Check that the URL is that of a Prometheus or of railfab collect"
LINE = re.compile(rb"([a-z_]+)\{(.*)\} (\S+)$")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
ESCAPED = re.compile(r"\\(.)")

Samples = Iterator[tuple[str, Mapping[str, str], float]]
"""Metric, labels and value of each."""


class _Protocol(Protocol):
    """A way in which a server gives samples."""

    def samples(self, metrics: Collection[str], devices: Collection[str] | None) -> Samples: ...


class TelemetrySource:
    """The telemetry of a fabric behind a URL; which server it is shows at the first request.

    secrets: the login and the CA. Raises EndpointError for what is no URL, or has a login in it.
    """

    def __init__(self, url: str, fabric: str, secrets: SecretSource) -> None:
        self._client = HttpClient(url, secrets, timeout_s=TIMEOUT_S, most_bytes=MOST_BYTES)
        self._fabric = fabric
        self.name = self._client.name

    @property
    def is_prometheus(self) -> bool:
        """Whether it can be asked for the past. Raises EndpointError where the server does not answer."""
        return isinstance(self._protocol, _Prometheus)

    def samples(self, metrics: Collection[str]) -> Samples:
        """Metric, labels and value of each series of these metrics now. Raises EndpointError."""
        return self._protocol.samples(sorted(metrics), None)

    def read(self, metrics: Collection[str], devices: Collection[str] | None = None) -> TelemetryReading:
        return TelemetryReading.of(self._protocol.samples(sorted({*metrics, *CLOCKS}), devices))

    @cached_property
    def _protocol(self) -> _Protocol:
        """The protocol of the server. Raises EndpointError where it has neither."""
        path = urlsplit(self.name).path.rstrip("/")
        if path.endswith(METRICS):
            return _Exposition(self._client, path, self._fabric)
        prometheus = _Prometheus(self._client, path + QUERY, self._fabric)
        try:
            prometheus.query("vector(1)")
        except HttpFailed as failed:
            if failed.reason != "http_404":
                raise
        else:
            return prometheus
        exposition = _Exposition(self._client, path + METRICS, self._fabric)
        try:
            next(exposition.samples((UPDATED,), None), None)
        except HttpFailed as failed:
            if failed.reason != "http_404":
                raise
            raise self._client.failed("http_404", "serves neither queries nor metrics", CHECK_URL) from None
        return exposition


class _Prometheus:
    """The HTTP API of Prometheus, and of what speaks it. The job metrics of twins have labels of the scrape too."""

    def __init__(self, client: HttpClient, path: str, fabric: str) -> None:
        self._client, self._path, self._fabric = client, path, fabric

    def samples(self, metrics: Collection[str], devices: Collection[str] | None) -> Samples:
        matchers = [f"__name__=~{_quoted('|'.join(metrics))}", f"fabric={_quoted(self._fabric)}"]
        if devices is not None:
            matchers.append(f"device=~{_quoted('|'.join(map(re.escape, devices)))}")
        for labels, value in self.query(f"{{{', '.join(matchers)}}}"):
            of_scrape = ("instance", "job", "shard")
            yield labels["__name__"], {name: labels[name] for name in labels if name not in of_scrape}, value

    def query(self, expr: str) -> list[tuple[Mapping[str, str], float]]:
        """Labels and value of each series of an instant vector. Raises HttpFailed."""
        answer = self._client.request(self._path, form={"query": expr})
        try:
            document = json.loads(answer.body)
            if document["status"] != "success":
                raise ValueError
            return [(sample["metric"], float(sample["value"][1])) for sample in document["data"]["result"]]
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            problem = f"answers with {_kind(answer.body)} and not as Prometheus does"
            raise self._client.failed("invalid", problem, CHECK_URL) from None


class _Exposition:
    """What the collector serves, in Prometheus' text format. It is asked for the families that are wanted."""

    def __init__(self, client: HttpClient, path: str, fabric: str) -> None:
        self._client, self._path, self._fabric = client, path, fabric

    def samples(self, metrics: Collection[str], devices: Collection[str] | None) -> Samples:
        query = urlencode({"name[]": list(metrics)}, doseq=True)
        answer = self._client.request(f"{self._path}?{query}", headers={"Accept": "text/plain"})
        if answer.body.lstrip()[:1] not in (b"", b"#"):
            problem = f"answers with {_kind(answer.body)} and not with metrics"
            raise self._client.failed("invalid", problem, CHECK_URL)
        wanted = None if devices is None else frozenset(devices)
        names = frozenset(metrics)
        for line in answer.body.splitlines():
            match = LINE.match(line)
            if match is None or (name := match[1].decode()) not in names:
                continue
            labels = {key: ESCAPED.sub(_unescaped, text) for key, text in LABEL.findall(match[2].decode())}
            if labels.get("fabric") == self._fabric and (wanted is None or labels.get("device") in wanted):
                yield name, labels, float(match[3])


def _quoted(text: str) -> str:
    return json.dumps(text)


def _kind(body: bytes) -> str:
    return "a page of HTML" if body.lstrip()[:1] == b"<" else "something else"


def _unescaped(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]

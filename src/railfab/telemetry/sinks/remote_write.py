"""Prometheus remote write 1.0: protobuf in snappy's block format over HTTP, in order, with retries.

Source: Prometheus Remote-Write 1.0 specification. It asks for one order within a series, for retries with back-off on
5xx, allows them on 429, and forbids them on every other 4xx.
"""

from __future__ import annotations

import http.client
import logging
import random
import ssl
from collections.abc import Iterator
from urllib.parse import SplitResult

import cramjam

from railfab.endpoints.secrets import SecretSource
from railfab.errors import EndpointError
from railfab.metrics import Metric
from railfab.repeated_warnings import RepeatedWarnings
from railfab.telemetry.retry import RetryPolicy
from railfab.telemetry.sinks.contract import Labels, SampleBatch
from railfab.telemetry.sinks.due import DueSamples
from railfab.telemetry.sinks.http_post import TIMEOUT_S, HttpPost, PostAnswer
from railfab.telemetry.sinks.outbox import Outbox, Parcel
from railfab.telemetry.sinks.queued import QUEUE_BYTES, QueuedSink
from railfab.telemetry.sinks.write_request import metadata_request, series_head, write_request

logger = logging.getLogger(__name__)

MOST_SAMPLES = 2_000
"""Samples of a request, as Prometheus' own max_samples_per_send."""
METADATA_MS = 60_000
"""As Prometheus' own send_interval of metadata."""
HEADERS = {
    "Content-Encoding": "snappy",
    "Content-Type": "application/x-protobuf",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
RETRIES = RetryPolicy(first_s=1.0, most_s=30.0)


class RemoteWriteEncoder:
    """Batches as compressed requests of at most most_samples samples.

    The first one of a push says kind, unit and help of all metrics: where one is new, and every METADATA_MS.
    """

    def __init__(self, most_samples: int = MOST_SAMPLES) -> None:
        self._due = DueSamples(self._head)
        self._most_samples = most_samples
        self._metrics: dict[str, Metric] = {}
        self._described = 0
        self._described_ms = 0

    def __call__(self, batch: SampleBatch) -> Iterator[Parcel]:
        due = self._due.take(batch)
        metadata = self._metadata(batch.now_ms) if due.series else b""
        for first in range(0, len(due.series), self._most_samples):
            part = slice(first, first + self._most_samples)
            body = metadata + write_request(due.series[part], due.values[part], due.at_ms[part])
            metadata = b""
            yield Parcel(bytes(cramjam.snappy.compress_raw(body)), len(due.series[part]))

    def _head(self, metric: Metric, labels: Labels) -> bytes:
        self._metrics[metric.name] = metric
        return series_head(metric, labels)

    def _metadata(self, now_ms: int) -> bytes:
        if len(self._metrics) == self._described and now_ms - self._described_ms < METADATA_MS:
            return b""
        self._described, self._described_ms = len(self._metrics), now_ms
        return metadata_request(self._metrics.values())


class RemoteWriteTransport:
    """Posts one request after the other; one that may be retried is, until it is delivered or dropped as the oldest."""

    def __init__(
        self, url: SplitResult, source: SecretSource, *, timeout_s: float = TIMEOUT_S, retries: RetryPolicy = RETRIES
    ) -> None:
        self._http = HttpPost(url, source, timeout_s)
        self._retries = retries
        self._warnings = RepeatedWarnings(logger, prefix=f"{url._replace(query='').geturl()}: ")
        self._draw = random.Random()

    def run(self, outbox: Outbox) -> None:
        failures = 0
        while (parcel := outbox.take()) is not None:
            wait_s = self._attempt(outbox, parcel)
            failures = 0 if wait_s is None else failures + 1
            if wait_s is not None:
                jitter_s = self._retries.delay_s(failures, refused=False, draw=self._draw)
                outbox.pause(max(wait_s, jitter_s))
        self._http.close()

    def abort(self) -> None:
        self._http.abort()

    def _attempt(self, outbox: Outbox, parcel: Parcel) -> float | None:
        """Send once. None when the parcel is settled, else the shortest wait before a retry [s]."""
        try:
            answer = self._http.post(parcel.body, HEADERS)
        except EndpointError as error:
            return self._later(outbox, parcel, str(error))
        except ssl.SSLError as error:
            reason = getattr(error, "verify_message", "") or error.reason
            return self._later(outbox, parcel, f"no TLS session ({str(reason).rstrip('.').lower()})")
        except (OSError, http.client.HTTPException) as error:
            return self._later(outbox, parcel, f"no answer ({str(error).lower() or type(error).__name__})")
        if 200 <= answer.status < 300:
            self._warnings.end("unreachable", "takes samples again")
            outbox.settle(parcel)
            return None
        if answer.status == 429 or answer.status >= 500:
            return self._later(outbox, parcel, _says(answer), answer.retry_after_s)
        self._warnings.warning(
            f"{_says(answer)}, and {parcel.samples:,} samples are lost. They are not sent again",
            reason=f"http_{answer.status}",
        )
        outbox.settle(parcel, f"http_{answer.status}")
        return None

    def _later(self, outbox: Outbox, parcel: Parcel, problem: str, wait_s: float = 0.0) -> float:
        self._warnings.warning(f"{problem}. Samples are queued, and sent again with back-off", reason="unreachable")
        outbox.give_back(parcel)
        return wait_s


def _says(answer: PostAnswer) -> str:
    reason = http.client.responses.get(answer.status, "")
    return f"answers {answer.status} {reason}{f' ({answer.text})' if answer.text else ''}"


def remote_write_sink(
    url: SplitResult,
    source: SecretSource,
    *,
    queue_bytes: int = QUEUE_BYTES,
    timeout_s: float = TIMEOUT_S,
    retries: RetryPolicy = RETRIES,
    most_samples: int = MOST_SAMPLES,
) -> QueuedSink:
    """A sink that writes to what takes remote write: Prometheus, Mimir, Thanos, VictoriaMetrics.

    url: with path and without secrets. timeout_s: for each step of an exchange.
    """
    transport = RemoteWriteTransport(url, source, timeout_s=timeout_s, retries=retries)
    return QueuedSink("remote_write", RemoteWriteEncoder(most_samples), transport, queue_bytes=queue_bytes)

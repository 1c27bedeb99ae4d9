"""A list of targets behind a URL, in the format of Prometheus' HTTP service discovery."""

from __future__ import annotations

import asyncio
import http.client

from railfab.endpoints.http_client import MOST_BYTES, TIMEOUT_S, HttpClient, HttpFailed
from railfab.endpoints.secrets import SecretSource
from railfab.telemetry.targets.loader import LoadFailed
from railfab.telemetry.targets.service_discovery import Discovery, parse_targets
from railfab.telemetry.targets.spec import TargetSpec

INTERVAL_S = 60.0


class HttpSource:
    """Polls a URL, with If-None-Match where the last answer had an ETag (RFC 9110, 13.1.2).

    secrets: user name and password or token, and CA, read at each poll. Raises EndpointError for what is no http or
    https URL, or has a password in it.
    """

    def __init__(
        self,
        url: str,
        secrets: SecretSource,
        discovery: Discovery | None = None,
        *,
        interval_s: float = INTERVAL_S,
        timeout_s: float = TIMEOUT_S,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        example = "https://netbox.example/targets"
        self._client = HttpClient(url, secrets, timeout_s=timeout_s, most_bytes=most_bytes, example=example)
        self.name = self._client.name
        self.interval_s = interval_s
        self.discovery = discovery or Discovery()
        self._etag = ""

    async def poll(self) -> tuple[TargetSpec, ...] | None:
        """The targets, or None when the list is as before. Raises LoadFailed, or EndpointError for the secrets."""
        return await asyncio.to_thread(self._poll)

    def _poll(self) -> tuple[TargetSpec, ...] | None:
        headers = {"X-Prometheus-Refresh-Interval-Seconds": f"{self.interval_s:g}"}
        expected = [http.client.OK]
        if self._etag:
            headers["If-None-Match"] = self._etag
            expected.append(http.client.NOT_MODIFIED)
        try:
            answer = self._client.request(headers=headers, expected=expected)
        except HttpFailed as failed:
            error = LoadFailed(failed.where, failed.problem, failed.remedy)
            error.reason = failed.reason
            raise error from None
        if answer.status == http.client.NOT_MODIFIED:
            return None
        targets = parse_targets(self.name, answer.body, self.discovery)
        self._etag = answer.headers.get("ETag") or ""
        return targets

"""Settings of how changes of the fabric are rolled out."""

from collections.abc import Iterator
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field

from railfab.intent.gates import GateLimits
from railfab.intent.model import KeyFault, Model, Text
from railfab.intent.scheduler import SchedulerSettings


class GrafanaSettings(Model):
    """A Grafana that shows each wave as an annotation."""

    url: Text = Field(description="URL of Grafana, such as `https://grafana.example`")
    token_file: Text | None = Field(
        default=None,
        description="file with a token, relative to the folder of the intent; else GRAFANA_TOKEN, or GRAFANA_USERNAME"
        " and GRAFANA_PASSWORD",
    )
    ca: Text | None = Field(
        default=None, description="PEM file of the CA to trust, relative to the folder of the intent"
    )

    def _faults(self) -> Iterator[KeyFault]:
        parts = urlsplit(self.url)
        if "@" in parts.netloc:
            yield KeyFault("url", "it contains a login", "Set GRAFANA_TOKEN, or token_file")
        elif parts.scheme not in ("http", "https") or not parts.hostname:
            yield KeyFault("url", f"{self.url!r} is not a URL", "Use for example https://grafana.example")


class ChangeSettings(Model):
    """Settings of a roll-out in waves."""

    max_bandwidth_loss: Annotated[float, Field(gt=0, le=100)] = Field(
        default=25,
        description="share of the bandwidth of a rail or a tier that the switches of a wave may have together [%]",
    )
    scheduler: SchedulerSettings | None = Field(
        default=None, description="the scheduler that keeps jobs off hosts which a change cuts off"
    )
    grafana: GrafanaSettings | None = Field(default=None, description="Grafana that shows each wave")
    telemetry: Text | None = Field(
        default=None,
        description="URL of the Prometheus, or of the collector of railfab, that the gates read, such as"
        " `http://prometheus.example:9090`",
    )
    gates: GateLimits = Field(
        default_factory=GateLimits.model_construct, description="limits of what the telemetry may show after a wave"
    )

    def _faults(self) -> Iterator[KeyFault]:
        if self.telemetry is None:
            return
        parts = urlsplit(self.telemetry)
        if "@" in parts.netloc:
            yield KeyFault("telemetry", "it contains a login", "Set RAILFAB_TELEMETRY_CREDENTIALS to a file with it")
        elif parts.scheme not in ("http", "https") or not parts.hostname:
            problem = f"{self.telemetry!r} is not a URL"
            yield KeyFault("telemetry", problem, "Use for example http://prometheus.example:9090")

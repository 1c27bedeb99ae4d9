"""Waves of a roll-out as events: a line of the log each, and an annotation of the Grafana that the intent names."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.text.folding import folded

if TYPE_CHECKING:
    from railfab.dashboards.grafana import GrafanaSink

logger = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass
class WaveEvents:
    """Tells of the waves of a deploy. grafana: shows them; a failure of it is logged, and stops nothing.

    Each wave has its annotation once, by its tags, also where a deploy is resumed in it.
    """

    fabric: str
    deploy: str
    grafana: GrafanaSink | None = None
    clock: Callable[[], datetime] = _now
    _began: dict[int, datetime] = field(default_factory=dict)

    def begins(self, number: int) -> None:
        """Note the time at which a wave begins."""
        self._began[number] = self.clock()

    def ends(self, number: int, switches: Sequence[str], stopped: str = "") -> None:
        """Tell of a wave that has ended. stopped: why the roll-out ends with it, else empty."""
        names = folded(sorted(switches))
        result = f"stopped: {stopped}" if stopped else "done"
        logger.info("%s: deploy %s, wave %d (%s): %s", self.fabric, self.deploy, number, names, result)
        if self.grafana is None:
            return
        text = f"{self.fabric}: wave {number} of deploy {self.deploy} ({names}), {result}"
        tags = ("railfab", f"fabric:{self.fabric}", f"deploy:{self.deploy}", f"wave:{number}")
        ended = self.clock()
        try:
            self.grafana.annotate(text, tags, self._began.get(number, ended), ended)
        except RailfabError as error:
            logger.warning("%s: wave %d has no annotation: %s", self.fabric, number, error)


def wave_events(fabric: Design, deploy: str, environment: Mapping[str, str]) -> WaveEvents:
    """The events of a deploy. environment: with the login of Grafana. Raises RailfabError for the files it names."""
    settings = fabric.intent.change.grafana
    if settings is None:
        return WaveEvents(fabric.intent.fabric, deploy)
    from railfab.dashboards.grafana import GrafanaSink, grafana_login

    folder = fabric.path.parent
    login = grafana_login(environment, folder / settings.token_file if settings.token_file else None)
    sink = GrafanaSink(settings.url, login, ca=folder / settings.ca if settings.ca else None)
    return WaveEvents(fabric.intent.fabric, deploy, sink)

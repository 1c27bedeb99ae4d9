"""Delivery of boards to a dashboard server such as Grafana."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from railfab.dashboards.boards import board_document
from railfab.dashboards.monitoring import FOLDER, FOLDER_UID, Datasource

if TYPE_CHECKING:
    from grafana_foundation_sdk.models.dashboard import Dashboard


class DashboardSink(Protocol):
    """A dashboard server. Every method returns whether it changed anything."""

    def ensure_folder(self, uid: str, title: str) -> bool: ...

    def ensure_datasource(self, datasource: Datasource) -> bool: ...

    def put_dashboard(self, dashboard: Mapping[str, Any], *, folder_uid: str, overwrite: bool) -> bool: ...


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivered object. kind: folder, datasource or dashboard."""

    kind: str
    name: str
    changed: bool


def push(
    sink: DashboardSink, boards: Mapping[str, Dashboard], *, datasource: Datasource | None, overwrite: bool
) -> Iterator[Delivery]:
    """Create or update a folder, the datasource if one is given, and the boards; a second push changes nothing.

    overwrite: replace an existing board that differs; otherwise it is an error.
    """
    yield Delivery("folder", FOLDER, sink.ensure_folder(FOLDER_UID, FOLDER))
    if datasource is not None:
        yield Delivery("datasource", datasource.name, sink.ensure_datasource(datasource))
    for board in boards.values():
        document = board_document(board)
        changed = sink.put_dashboard(document, folder_uid=FOLDER_UID, overwrite=overwrite)
        yield Delivery("dashboard", document["title"], changed)

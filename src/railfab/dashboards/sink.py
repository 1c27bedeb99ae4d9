"""Delivery of boards to a dashboard server such as Grafana."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from railfab.dashboards.board import Board
from railfab.dashboards.grafana_alerts import rule_group
from railfab.dashboards.grafana_board import board_document
from railfab.dashboards.monitoring import FOLDER, FOLDER_UID, Datasource
from railfab.dashboards.rules import RUNBOOKS, Alert


class DashboardSink(Protocol):
    """A dashboard server. Every method returns whether it changed anything."""

    def ensure_folder(self, uid: str, title: str) -> bool: ...

    def ensure_datasource(self, datasource: Datasource) -> bool: ...

    def put_dashboard(self, dashboard: Mapping[str, Any], *, folder_uid: str, overwrite: bool) -> bool: ...

    def put_rules(self, group: Mapping[str, Any], *, overwrite: bool) -> bool: ...

    def annotate(self, text: str, tags: Sequence[str], began: datetime, ended: datetime) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A span of time that boards mark. tags: name it, so that it is marked once."""

    text: str
    tags: tuple[str, ...]
    began: datetime
    ended: datetime


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivered object. kind: folder, datasource, dashboard, alerts or annotation."""

    kind: str
    name: str
    changed: bool


def push(
    sink: DashboardSink,
    boards: Mapping[str, Board],
    *,
    datasource: Datasource | None,
    alerts: Sequence[Alert] = (),
    marks: Iterable[Mark] = (),
    runbooks: str = RUNBOOKS,
    overwrite: bool,
) -> Iterator[Delivery]:
    """Create or update a folder, the datasource if one is given, and the boards; a second push changes nothing.

    alerts: those that the server itself evaluates, by the datasource. marks: annotations of all boards.
    runbooks: folder or URL of the pages of alerts.
    overwrite: replace what is there and differs; otherwise it is an error.
    """
    yield Delivery("folder", FOLDER, sink.ensure_folder(FOLDER_UID, FOLDER))
    if datasource is not None:
        yield Delivery("datasource", datasource.name, sink.ensure_datasource(datasource))
    for board in boards.values():
        document = board_document(board, runbooks)
        changed = sink.put_dashboard(document, folder_uid=FOLDER_UID, overwrite=overwrite)
        yield Delivery("dashboard", document["title"], changed)
    if datasource is not None and alerts:
        group = rule_group(alerts, datasource, runbooks)
        yield Delivery("alerts", group["title"], sink.put_rules(group, overwrite=overwrite))
    for mark in marks:
        changed = sink.annotate(mark.text, mark.tags, mark.began, mark.ended)
        yield Delivery("annotation", mark.text, changed)

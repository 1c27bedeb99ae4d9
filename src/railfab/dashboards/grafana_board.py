"""Boards as JSON of Grafana, and their Prometheus queries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from railfab.dashboards.board import Board
from railfab.dashboards.boards import BOARDS
from railfab.dashboards.boards.parts import active_alerts
from railfab.dashboards.rules import RUNBOOKS, runbook
from railfab.dashboards.selection import BoardVariable, selector

if TYPE_CHECKING:
    from grafana_foundation_sdk.builders.dashboard import AnnotationQuery, Dashboard, DashboardLink, QueryVariable
    from grafana_foundation_sdk.cog.builder import Builder
    from grafana_foundation_sdk.cog.variants import Dataquery

CHANGES_TAG = "railfab"
"""Tag of the annotations that deploys and waves leave in Grafana."""
RAISED = 'ALERTS{fabric=~"$fabric", alertstate="firing", severity="critical"}'


def board_document(board: Board, runbooks: str = RUNBOOKS) -> dict[str, Any]:
    """A board as a JSON document. Needs the extra `dashboards`. runbooks: folder or URL of the pages of alerts."""
    from grafana_foundation_sdk.cog.encoder import JSONEncoder

    document: dict[str, Any] = json.loads(JSONEncoder().encode(_dashboard(board, runbooks).build()))
    for shown in (*document["links"], *document["annotations"]["list"]):
        del shown["placement"]  # beside the variables, not in a menu of newer versions
    return document


def board_queries(board: Board) -> list[str]:
    """Every query of a board in the order of its panels, with the variables of Grafana."""
    return [query.expr for panel in (active_alerts(board.alerts), *board.panels) for query in panel.queries]


def _dashboard(board: Board, runbooks: str) -> Dashboard:
    from grafana_foundation_sdk.builders import dashboard
    from grafana_foundation_sdk.models.dashboard import DashboardCursorSync

    from railfab.dashboards.grafana_panels import CELL, markdown, panel

    built = dashboard.Dashboard(board.title).uid(board.uid).tags(["railfab"]).description(board.question)
    built.refresh("10s").timezone("browser").time("now-30m", "now").tooltip(DashboardCursorSync.CROSSHAIR)
    built.with_variable(dashboard.DatasourceVariable("datasource").label("Prometheus").type("prometheus"))
    for variable in board.variables:
        built.with_variable(_variable(variable))
    for annotation in _annotations():
        built.annotation(annotation)
    for name, sign in board.next.items():
        built.link(_link(BOARDS[name], sign))
    page = runbook(CELL, runbooks) if "://" in runbooks else f"/alerting/list?search={CELL}"
    panels = (markdown(_guide(board, runbooks)), *(panel(each, page) for each in _all_panels(board)))
    for number, each in enumerate(panels, start=1):
        built.with_panel(each.id(number))
    return built


def _all_panels(board: Board) -> Iterator[Any]:
    yield active_alerts(board.alerts)
    yield from board.panels


def _guide(board: Board, runbooks: str) -> str:
    """The question, how the panels answer it, and what to look at then, in Markdown."""
    boards = "\n".join(f"- {sign}: [{BOARDS[name].title}](d/{BOARDS[name].uid})" for name, sign in board.next.items())
    pages = (f"[{name}]({page})" if "://" in page else name for name, page in _runbooks(board, runbooks))
    alerts = f"Alerts, with their runbooks{'' if '://' in runbooks else f' in `{runbooks}`'}: {', '.join(pages)}"
    return f"### {board.question}\n\n{board.reading}\n\n{boards}\n\n{alerts if board.alerts else ''}".rstrip()


def _runbooks(board: Board, runbooks: str) -> Iterator[tuple[str, str]]:
    return ((name, runbook(name, runbooks)) for name in board.alerts)


def _variable(variable: BoardVariable) -> QueryVariable:
    from grafana_foundation_sdk.builders import dashboard
    from grafana_foundation_sdk.models.dashboard import VariableOption, VariableRefresh, VariableSort

    from railfab.dashboards.grafana_panels import DATASOURCE

    built = dashboard.QueryVariable(variable.name).label(variable.label).datasource(DATASOURCE).query(variable.query)
    built.refresh(VariableRefresh.ON_TIME_RANGE_CHANGED).sort(VariableSort.NATURAL_ASC)
    if variable.regex:
        built.regex(variable.regex)
    if variable.everything is not None:
        built.all_value(variable.everything)
    if variable.is_single:
        return built.multi(False).include_all(False)
    return built.multi(True).include_all(True).current(VariableOption(selected=True, text="All", value="$__all"))


def _annotations() -> Iterator[AnnotationQuery]:
    """Changes that railfab leaves in Grafana, switches in maintenance, and critical alerts."""
    from grafana_foundation_sdk.builders import dashboard
    from grafana_foundation_sdk.models.common import DataSourceRef

    from railfab.dashboards.grafana_panels import DATASOURCE

    stored = DataSourceRef(type_val="grafana", uid="-- Grafana --")
    tagged = dashboard.AnnotationTarget().type("tags").tags([CHANGES_TAG]).limit(100).match_any(False)
    yield _annotation("Deploys and waves", "blue").datasource(stored).target(cast("Builder[Dataquery]", tagged))
    for name, color, expr, text in (
        ("Maintenance", "orange", selector("fabric_maintenance_info"), "{{device}}: {{reason}}"),
        ("Critical alerts", "red", RAISED, "{{alertname}} {{device}} {{interface}}"),
    ):
        yield _annotation(name, color).datasource(DATASOURCE).expr(expr).text_format(text)


def _annotation(name: str, color: str) -> AnnotationQuery:
    from grafana_foundation_sdk.builders import dashboard

    return dashboard.AnnotationQuery().name(name).icon_color(color).enable(True).hide(False)


def _link(board: Board, sign: str) -> DashboardLink:
    from grafana_foundation_sdk.builders import dashboard
    from grafana_foundation_sdk.models.dashboard import DashboardLinkType

    link = dashboard.DashboardLink(board.title).type(DashboardLinkType.LINK).url(f"/d/{board.uid}").tooltip(sign)
    return link.icon("dashboard").include_vars(True).keep_time(True)

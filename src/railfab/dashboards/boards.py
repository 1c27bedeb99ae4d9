"""The boards as Grafana JSON, and their Prometheus queries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grafana_foundation_sdk.models.dashboard import Dashboard

VARIABLES: Mapping[str, str] = MappingProxyType({"$__rate_interval": "1m", "$__range": "30m", "$fabric": ".*"})
"""Values of Grafana's variables at a scrape interval of 15 s, the default time range of the board and all fabrics."""


def boards() -> dict[str, Dashboard]:
    """Every board, by file name. Needs the extra `dashboards`."""
    from railfab.dashboards.overview import overview_board

    return {"overview": overview_board()}


def board_document(board: Dashboard) -> dict[str, Any]:
    """A board as a JSON document."""
    from grafana_foundation_sdk.cog.encoder import JSONEncoder

    document: dict[str, Any] = json.loads(JSONEncoder().encode(board))
    return document


def board_queries(board: Dashboard, variables: Mapping[str, str] = VARIABLES) -> list[str]:
    """Every query of a board in the order of its panels, with Grafana's variables replaced by `variables`."""
    return [_replaced(target["expr"], variables) for panel in _panels(board) for target in panel.get("targets", ())]


def _panels(board: Dashboard) -> Iterator[dict[str, Any]]:
    for panel in board_document(board)["panels"]:
        yield panel
        yield from panel.get("panels", ())


def _replaced(expr: str, variables: Mapping[str, str]) -> str:
    for variable, value in variables.items():
        expr = expr.replace(variable, value)
    return expr

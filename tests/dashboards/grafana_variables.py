"""What Grafana makes of the variables of a board: each is asked of Prometheus in turn, and put into queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from railfab.dashboards import Board
from railfab.dashboards.selection import BoardVariable

Ask = Callable[..., Any]
"""The `data` of an answer of Prometheus, by path and parameters."""
LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")
QUERY_RESULT = re.compile(r"query_result\((.+)\)")


def values(ask: Ask, variable: BoardVariable, chosen: Mapping[str, str]) -> list[str]:
    """The values to choose from, with those of the variables before it."""
    query = filled(variable.query, chosen)
    if labels := LABEL_VALUES.fullmatch(query):
        return sorted(ask(f"/api/v1/label/{labels[2]}/values", **{"match[]": labels[1]}))
    result = QUERY_RESULT.fullmatch(query)
    assert result is not None, query
    lines = [_line(series) for series in ask("/api/v1/query", query=result[1])["result"]]
    matches = (re.search(variable.regex.strip("/"), line) for line in lines)
    return sorted({match[1] for match in matches if match})


def _line(series: Mapping[str, Any]) -> str:
    labels = ",".join(f'{name}="{value}"' for name, value in series["metric"].items() if name != "__name__")
    at_s, value = series["value"]
    return f"{series['metric'].get('__name__', '')}{{{labels}}} {value} {at_s * 1000:.0f}"


def selection(ask: Ask, board: Board, wishes: Mapping[str, str]) -> dict[str, str]:
    """A value for each variable: the wished one, which must be in its list, else All."""
    chosen: dict[str, str] = {}
    for variable in board.variables:
        offered = values(ask, variable, chosen)
        wish = wishes.get(variable.name)
        assert offered, variable.name
        if wish is not None:
            assert wish in offered, (variable.name, offered)
        everything = variable.everything or "({})".format("|".join(map(re.escape, offered)))
        chosen[variable.name] = wish if wish is not None else everything
    return chosen


def filled(text: str, chosen: Mapping[str, str], *, step: str = "10s", since: str = "5m") -> str:
    """A query with these values in place of the variables."""
    text = text.replace("$__rate_interval", step).replace("$__range", since)
    return re.sub(r"\$(\w+)", lambda match: chosen[match[1]].replace("\\", "\\\\"), text)

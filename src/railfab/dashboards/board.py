"""A board as data: the question that it answers, its panels, its alerts, and the boards to look at next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from railfab.dashboards.selection import BoardVariable

GREEN, ORANGE, RED = "green", "orange", "red"
LIST_WIDTH, TILE_WIDTH, GRAPH_WIDTH = 12, 4, 8
"""Columns of a panel; a board has 24."""

Limits = tuple[tuple[float, str], ...]
"""Colours from a value on; green below the first one."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query. legend: legend of its series, with labels in double braces. Empty in a table."""

    expr: str
    legend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPanel:
    """What every panel has. unit: Grafana's id. empty: text shown without data.

    limits: of a tile its colours; of a graph lines at these values.
    """

    title: str
    description: str
    queries: tuple[Query, ...]
    unit: str = "none"
    empty: str = "no data"
    limits: Limits = ()
    width: int = GRAPH_WIDTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile(BoardPanel):
    """The latest value of each query as a number. limited: the queries whose numbers the limits colour; empty: all."""

    width: int = TILE_WIDTH
    limited: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph(BoardPanel):
    """Time series. at_least, at_most: ends of the axis; None where the values decide."""

    at_least: float | None = 0
    at_most: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTimeline(BoardPanel):
    """States over time, a line each. states: name and colour of each value."""

    states: Mapping[str, tuple[str, str]] = field(default_factory=lambda: MappingProxyType({}))
    width: int = LIST_WIDTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(BoardPanel):
    """A table of the latest samples; queries are joined on their common labels.

    columns: the fields to show, in order, with their titles; a query's value is `Value #A`, `Value #B`, ...
    first: the column by which rows are sorted, ascending. states: name and colour of each value, by column.
    units: of columns, where they have one.
    """

    columns: Mapping[str, str]
    first: str
    states: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=lambda: MappingProxyType({}))
    units: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    width: int = LIST_WIDTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A board.

    question: that it answers. reading: how its panels answer it, from top to bottom, in Markdown. alerts: those about
    the question. panels: in rows from left to right. next: boards that an answer leads to, and the sign of each.
    """

    name: str
    title: str
    question: str
    reading: str
    variables: tuple[BoardVariable, ...]
    panels: tuple[BoardPanel, ...]
    alerts: tuple[str, ...]
    next: Mapping[str, str]

    @property
    def uid(self) -> str:
        """The UID of the board in Grafana."""
        return f"railfab-{self.name}"

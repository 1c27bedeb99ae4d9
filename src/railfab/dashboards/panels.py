"""The panels of the boards, all Grafana core panels: stat, time series, table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from grafana_foundation_sdk.builders import common as options
from grafana_foundation_sdk.builders import prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders.dashboard import ThresholdsConfig
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    BigValueGraphMode,
    BigValueTextMode,
    DataSourceRef,
    LegendDisplayMode,
    LegendPlacement,
    TooltipDisplayMode,
    VisibilityMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DataTransformerConfig,
    DynamicConfigValue,
    Threshold,
    ThresholdsMode,
    ValueMap,
    ValueMappingResult,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

DATASOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
GREEN, ORANGE, RED = "green", "orange", "red"

PanelT = TypeVar("PanelT", stat.Panel, timeseries.Panel, table.Panel)


@dataclass(frozen=True, slots=True)
class Query:
    """A query. legend: legend of its series, with labels in double braces."""

    expr: str
    legend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelText:
    """Title and texts of a panel. unit: Grafana's id. empty: text shown without data."""

    title: str
    description: str
    unit: str
    empty: str = "no data"


def tile(text: PanelText, *queries: Query, limits: Sequence[tuple[float, str]] = ()) -> stat.Panel:
    """The latest value of each query as a number. limits: colours from a value on; green below."""
    panel = _described(stat.Panel(), text, queries, instant=True)
    mode = BigValueTextMode.VALUE if len(queries) == 1 else BigValueTextMode.VALUE_AND_NAME
    panel.thresholds(ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(_steps(limits)))
    panel.reduce_options(options.ReduceDataOptions().calcs(["lastNotNull"]))
    panel.text_mode(mode).color_mode(BigValueColorMode.VALUE).graph_mode(BigValueGraphMode.NONE)
    return panel.span(4).height(4)


def limited(panel: stat.Panel, letter: str, limits: Sequence[tuple[float, str]]) -> stat.Panel:
    """Set the colour limits of one query, given by its letter."""
    thresholds = {"mode": ThresholdsMode.ABSOLUTE.value, "steps": [step.to_json() for step in _steps(limits)]}
    return panel.override_by_query(letter, [DynamicConfigValue(id_val="thresholds", value=thresholds)])


def _steps(limits: Sequence[tuple[float, str]]) -> list[Threshold]:
    return [Threshold(value=None, color=GREEN), *(Threshold(value=value, color=color) for value, color in limits)]


def graph(text: PanelText, *queries: Query, width: int = 8, at_most: float | None = None) -> timeseries.Panel:
    """A time series; the legend has the latest and the maximum value. at_most: upper end of the axis."""
    panel = _described(timeseries.Panel(), text, queries, instant=False)
    legend = options.VizLegendOptions().display_mode(LegendDisplayMode.TABLE).placement(LegendPlacement.BOTTOM)
    panel.legend(legend.show_legend(True).calcs(["lastNotNull", "max"]))
    panel.tooltip(options.VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
    panel.line_width(1).fill_opacity(8).show_points(VisibilityMode.NEVER).min(0)
    if at_most is not None:
        panel.max(at_most)
    return panel.span(width).height(9)


def listing(text: PanelText, *queries: Query, columns: dict[str, str], first: str, width: int) -> table.Panel:
    """A table of the latest samples; queries are joined on their common labels.

    columns: the fields to show, in order, with their titles; a query's value is `Value #A`, `Value #B`, ...
    first: the column by which rows are sorted, ascending.
    """
    panel = _described(table.Panel(), text, queries, instant=True)
    panel.with_transformation(DataTransformerConfig(id_val="merge", options={}))
    order = {field: position for position, field in enumerate(columns)}
    panel.with_transformation(
        DataTransformerConfig(id_val="filterFieldsByName", options={"include": {"names": list(columns)}})
    )
    panel.with_transformation(
        DataTransformerConfig(id_val="organize", options={"indexByName": order, "renameByName": columns})
    )
    panel.sort_by([options.TableSortByFieldState().display_name(first).desc(False)])
    return panel.span(width).height(10)


def value_names(panel: table.Panel, column: str, names: dict[str, tuple[str, str]]) -> table.Panel:
    """Replace the numbers of one column by names with colours."""
    results = {
        value: ValueMappingResult(text=name, color=color, index=index)
        for index, (value, (name, color)) in enumerate(names.items())
    }
    mapping = DynamicConfigValue(id_val="mappings", value=[ValueMap(options=results)])
    cell = DynamicConfigValue(id_val="custom.cellOptions", value={"type": "color-text"})
    return panel.override_by_name(column, [mapping, cell])


def _described(panel: PanelT, text: PanelText, queries: Sequence[Query], *, instant: bool) -> PanelT:
    panel.title(text.title).description(text.description).unit(text.unit).no_value(text.empty).datasource(DATASOURCE)
    for letter, query in zip("ABCDEFGH", queries, strict=False):
        target = prometheus.Dataquery().ref_id(letter).expr(query.expr).legend_format(query.legend)
        target = target.datasource(DATASOURCE)
        target = target.instant() if instant else target.range()
        panel.with_target(target.format(PromQueryFormat.TABLE) if isinstance(panel, table.Panel) else target)
    return panel

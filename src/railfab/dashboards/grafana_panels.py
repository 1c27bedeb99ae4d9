"""The panels of boards as panels of Grafana, all of its core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from grafana_foundation_sdk.builders import common as options
from grafana_foundation_sdk.builders import prometheus, stat, statetimeline, table, text, timeseries
from grafana_foundation_sdk.builders.dashboard import DashboardLink, FieldColor, ThresholdsConfig
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    BigValueGraphMode,
    BigValueTextMode,
    DataSourceRef,
    GraphThresholdsStyleMode,
    LegendDisplayMode,
    LegendPlacement,
    TooltipDisplayMode,
    VisibilityMode,
)
from grafana_foundation_sdk.models.dashboard import (
    DashboardLinkType,
    DataTransformerConfig,
    DynamicConfigValue,
    FieldColorModeId,
    Threshold,
    ThresholdsMode,
    ValueMap,
    ValueMappingResult,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from railfab.dashboards.board import GREEN, BoardPanel, Graph, Limits, Listing, StateTimeline, Tile
from railfab.dashboards.boards import PORT_BOARD

DATASOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
TILE_HEIGHT, HEIGHT = 4, 9
PORT_PAGE = f"/d/{PORT_BOARD.uid}?${{__url_time_range}}&${{datasource:queryparam}}&${{fabric:queryparam}}"
"""The board of a switch, without its name."""
CELL = "${__value.text}"

PanelT = TypeVar("PanelT", stat.Panel, timeseries.Panel, table.Panel, statetimeline.Panel)
AnyPanel = stat.Panel | timeseries.Panel | table.Panel | statetimeline.Panel | text.Panel


def panel(described: BoardPanel, runbook: str) -> AnyPanel:
    """The panel of Grafana. runbook: URL of the page of an alert, with `CELL` for its name."""
    match described:
        case Tile():
            return _tile(described)
        case Graph():
            return _graph(described)
        case StateTimeline():
            return _timeline(described)
        case Listing():
            return _listing(described, runbook)
    raise TypeError(f"{described.title}: no panel of Grafana for {type(described).__name__}")


def markdown(content: str) -> text.Panel:
    """A panel with text."""
    return text.Panel().title("").content(content).transparent(True).span(12).height(HEIGHT)


def _tile(tile: Tile) -> stat.Panel:
    panel = _described(stat.Panel(), tile, instant=True)
    mode = BigValueTextMode.VALUE if len(tile.queries) == 1 else BigValueTextMode.VALUE_AND_NAME
    panel.thresholds(_thresholds(() if tile.limited else tile.limits))
    for letter in tile.limited:
        steps = [step.to_json() for step in _steps(tile.limits)]
        limits = {"mode": ThresholdsMode.ABSOLUTE.value, "steps": steps}
        panel.override_by_query(letter, [DynamicConfigValue(id_val="thresholds", value=limits)])
    panel.reduce_options(options.ReduceDataOptions().calcs(["lastNotNull"]))
    panel.text_mode(mode).color_mode(BigValueColorMode.VALUE).graph_mode(BigValueGraphMode.NONE)
    return panel.height(TILE_HEIGHT)


def _graph(graph: Graph) -> timeseries.Panel:
    """A time series; the legend has the latest and the maximum value."""
    panel = _described(timeseries.Panel(), graph, instant=False)
    legend = options.VizLegendOptions().display_mode(LegendDisplayMode.TABLE).placement(LegendPlacement.BOTTOM)
    panel.legend(legend.show_legend(True).calcs(["lastNotNull", "max"]))
    panel.tooltip(options.VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
    panel.line_width(1).fill_opacity(8).show_points(VisibilityMode.NEVER)
    if graph.limits:
        panel.thresholds(_thresholds(graph.limits))
        panel.thresholds_style(options.GraphThresholdsStyleConfig().mode(GraphThresholdsStyleMode.DASHED))
    if graph.at_least is not None:
        panel.min(graph.at_least)
    if graph.at_most is not None:
        panel.max(graph.at_most)
    return panel


def _timeline(timeline: StateTimeline) -> statetimeline.Panel:
    panel = _described(statetimeline.Panel(), timeline, instant=False)
    panel.legend(options.VizLegendOptions().show_legend(False).display_mode(LegendDisplayMode.LIST))
    panel.tooltip(options.VizTooltipOptions().mode(TooltipDisplayMode.SINGLE))
    panel.color_scheme(FieldColor().mode(FieldColorModeId.THRESHOLDS))
    return panel.mappings([_mapping(timeline.states)]).show_value(VisibilityMode.NEVER).row_height(0.9)


def _listing(listing: Listing, runbook: str) -> table.Panel:
    panel = _described(table.Panel(), listing, instant=True)
    panel.with_transformation(DataTransformerConfig(id_val="merge", options={}))
    columns = dict(listing.columns)
    panel.with_transformation(
        DataTransformerConfig(id_val="filterFieldsByName", options={"include": {"names": list(columns)}})
    )
    order = {field: position for position, field in enumerate(columns)}
    panel.with_transformation(
        DataTransformerConfig(id_val="organize", options={"indexByName": order, "renameByName": columns})
    )
    panel.sort_by([options.TableSortByFieldState().display_name(listing.first).desc(False)])
    for column, states in listing.states.items():
        cell = DynamicConfigValue(id_val="custom.cellOptions", value={"type": "color-text"})
        panel.override_by_name(column, [DynamicConfigValue(id_val="mappings", value=[_mapping(states)]), cell])
    for column, unit in listing.units.items():
        panel.override_by_name(column, [DynamicConfigValue(id_val="unit", value=unit)])
    for column, (title, url) in _pages(runbook).items():
        if column in columns.values():
            link = DynamicConfigValue(id_val="links", value=[{"title": title, "url": url}])
            panel.override_by_name(column, [link])
    return panel


def _pages(runbook: str) -> Mapping[str, tuple[str, str]]:
    """Title and URL of what a cell leads to, by its column."""
    return {
        "Alert": ("Runbook", runbook),
        "Switch": ("Switch", f"{PORT_PAGE}&var-switch={CELL}"),
        "Port": ("Port", f"{PORT_PAGE}&var-switch=${{__data.fields.Switch}}&var-port={CELL}"),
    }


def _described(panel: PanelT, described: BoardPanel, *, instant: bool) -> PanelT:
    panel.title(described.title).description(described.description).unit(described.unit).no_value(described.empty)
    panel.datasource(DATASOURCE).span(described.width).height(HEIGHT)
    for letter, query in zip("ABCDEFGH", described.queries, strict=False):
        target = prometheus.Dataquery().ref_id(letter).expr(query.expr).legend_format(query.legend)
        target = target.datasource(DATASOURCE)
        target = target.instant() if instant else target.range()
        panel.with_target(target.format(PromQueryFormat.TABLE) if isinstance(panel, table.Panel) else target)
    if any("{{device}}" in query.legend for query in described.queries):
        panel.data_links([_to_port(described)])
    return panel


def _to_port(described: BoardPanel) -> DashboardLink:
    """Leads from a series to its switch, and to its port where it is of one."""
    url = f"{PORT_PAGE}&var-switch=${{__field.labels.device}}"
    if all("{{interface}}" in query.legend for query in described.queries):
        url += "&var-port=${__field.labels.interface}"
    return DashboardLink(PORT_BOARD.title).type(DashboardLinkType.LINK).url(url)


def _thresholds(limits: Limits) -> ThresholdsConfig:
    return ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(_steps(limits))


def _steps(limits: Limits) -> list[Threshold]:
    return [Threshold(value=None, color=GREEN), *(Threshold(value=value, color=color) for value, color in limits)]


def _mapping(states: Mapping[str, tuple[str, str]]) -> ValueMap:
    results = {
        value: ValueMappingResult(text=name, color=color, index=index)
        for index, (value, (name, color)) in enumerate(states.items())
    }
    return ValueMap(options=results)

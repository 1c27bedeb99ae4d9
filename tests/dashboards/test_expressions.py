"""Queries of boards and rules use only metrics and labels that railfab provides."""

from __future__ import annotations

import re

import pytest
from tests.dashboards.promql_labels import RECORDED, labels_of, metrics_of, mixing, selectors_of

from railfab.dashboards import ALERTS, RECORDING, board_document, board_queries, boards
from railfab.dashboards.promql import growth, peak, signal, unit
from railfab.dashboards.recording import ECMP_BYTES
from railfab.metrics import CATALOGUE, Kind
from railfab.platforms import platform, platform_names

BOARDS = boards()
TARGETS = [
    pytest.param(panel, target, id=f"{panel['title']} {target['refId']}")
    for board in BOARDS.values()
    for panel in board_document(board)["panels"]
    for target in panel["targets"]
]
QUERIES = [query for board in BOARDS.values() for query in board_queries(board)]
OWN = ("fabric_collector_", "fabric_configuration_", "fabric_twin_", "training_")
"""Metrics of railfab's own processes, and of jobs."""
EXPRESSIONS = [*(rule.expr for rule in RECORDING), *(alert.expr for alert in ALERTS), *QUERIES]


def _filled(expr: str) -> str:
    return expr.replace("$__rate_interval", "1m").replace("$__range", "30m")


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_of_a_board_parses_and_uses_existing_labels(query: str) -> None:
    assert "$" not in query
    labels_of(query)


@pytest.mark.parametrize("rule", RECORDING, ids=lambda rule: rule.record)
def test_a_recording_rule_has_its_stated_labels(rule) -> None:
    assert labels_of(rule.expr) == set(rule.labels)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.alert)
def test_the_texts_of_an_alert_use_its_labels(alert) -> None:
    assert set(re.findall(r"\$labels\.(\w+)", alert.summary)) <= labels_of(alert.expr)
    assert "$labels" not in alert.description


@pytest.mark.parametrize(("panel", "target"), TARGETS)
def test_a_legend_and_a_column_name_labels_that_the_series_have(panel, target) -> None:
    present = labels_of(_filled(target["expr"]))
    assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= present
    shown = [
        step["options"]["include"]["names"] for step in panel.get("transformations", ()) if "include" in step["options"]
    ]
    assert {name for names in shown for name in names if not name.startswith("Value #")} <= present


@pytest.mark.parametrize("rule", [*RECORDING, *ALERTS], ids=lambda rule: getattr(rule, "record", "") or rule.alert)
def test_a_rule_judges_each_fabric_by_itself_and_its_series_name_it(rule) -> None:
    """Switches of two fabrics may have the same names."""
    assert not mixing(rule.expr)
    assert "fabric" in labels_of(rule.expr)


@pytest.mark.parametrize(
    "wrong",
    [
        "sum by (device) (fabric_bgp_session_up)",
        "max(fabric_bgp_session_up)",
        "fabric_bgp_session_up and on (device) fabric_maintenance_info",
        "fabric_bgp_session_up unless on () fabric_maintenance_info",
    ],
)
def test_the_check_of_fabrics_finds_what_mixes_them(wrong: str) -> None:
    assert mixing(wrong)


def test_every_metric_has_the_label_of_the_fabric() -> None:
    assert [name for name, metric in CATALOGUE.items() if "fabric" not in metric.labels] == []


@pytest.mark.parametrize(("panel", "target"), TARGETS)
def test_a_panel_shows_the_selected_fabrics_alone(panel, target) -> None:
    selectors = selectors_of(_filled(target["expr"]))
    assert selectors
    for selector in selectors:
        assert ("fabric", "$fabric") in [(one.name, one.value) for one in selector.matchers.matchers], selector.name


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_no_rule_and_no_panel_names_a_queue_of_a_vendor(expr: str) -> None:
    """They come from the intent: queues have the names of its classes, `fabric_roce_queue_info` those of RoCE."""
    of_vendors = {"queue", "priority_group", "interface", "daemon"}
    assert not [
        str(one) for selector in selectors_of(expr) for one in selector.matchers.matchers if one.name in of_vendors
    ]


def test_no_text_names_a_platform() -> None:
    """What an operator reads holds for the switches of every vendor, and for those of two."""
    texts = [text for alert in ALERTS for text in (alert.summary, alert.description)]
    for board in BOARDS.values():
        for panel in board_document(board)["panels"]:
            texts += [panel["title"], panel["description"], *(target["legendFormat"] for target in panel["targets"])]
    products = {*platform_names(), "SR Linux", "SONiC", "NX-OS", "EOS", "Junos", "Cumulus"}
    assert not [(name, text) for name in sorted(products) for text in texts if re.search(rf"\b{name}\b", text)]


def test_no_two_rules_have_one_name_and_a_rule_uses_only_rules_before_it() -> None:
    names = [rule.record for rule in RECORDING] + [alert.alert for alert in ALERTS]
    assert len(set(names)) == len(names)
    for place, rule in enumerate(RECORDING):
        later = {other.record for other in RECORDING[place:]}
        assert not any(name in rule.expr for name in later)


def test_every_queried_metric_has_a_source() -> None:
    """An alert on a metric without source never fires."""
    mapped = {rule.metric for name in platform_names() for rule in platform(name).telemetry.rules}
    made = {name for name, metric in CATALOGUE.items() if metric.kind is Kind.INFO or "_estimated_" in name}
    own = {name for name in CATALOGUE if name.startswith(OWN)}
    asked = frozenset().union(*(metrics_of(expr) for expr in EXPRESSIONS))
    assert asked <= mapped | made | own


def test_every_recording_rule_is_used() -> None:
    """By a board or an alert, except utilisation in both directions, which is for ad-hoc queries."""
    used = {name for name in RECORDED for expr in EXPRESSIONS if name in expr}
    assert RECORDED.keys() - used <= {"device_interface:fabric_receive_utilization:ratio_rate1m"}


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ("rate(fabric_queue_depth_bytes[1m])", "rate of the gauge"),
        ("sum by (rail) (fabric_bgp_session_up)", "grouped by"),
        ("fabric_nonsense_total", "neither catalogued nor recorded"),
        ('fabric_bgp_session_up{rail="1"}', "no label rail"),
        ("fabric_bgp_session_up and fabric_interface_oper_up", "never match"),
        (f"{ECMP_BYTES} * on (rail) fabric_interface_info", "left side"),
    ],
)
def test_the_label_check_finds_errors(wrong: str, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        labels_of(wrong)


def test_expression_and_unit_follow_from_the_kind_of_a_metric() -> None:
    rate = 'rate(fabric_queue_ecn_marked_packets_total{fabric=~"$fabric"}[$__rate_interval])'
    assert signal("fabric_queue_ecn_marked_packets_total").endswith(f" or {rate})")
    assert unit("fabric_queue_ecn_marked_packets_total") == "pps"
    assert signal("fabric_queue_depth_bytes") == 'fabric_queue_depth_bytes{fabric=~"$fabric"}'
    assert unit("fabric_queue_depth_bytes") == "bytes"
    assert unit("fabric_pfc_receive_pause_estimated_seconds_total") == "percentunit"
    assert growth("fabric_pfc_dropped_packets_total") == (
        'increase(fabric_pfc_dropped_packets_total{fabric=~"$fabric"}[$__range])'
    )
    assert peak("fabric_queue_depth_peak_bytes").startswith("max_over_time(")


def test_an_expression_for_another_kind_is_refused() -> None:
    for wrong in (lambda: growth("fabric_queue_depth_bytes"), lambda: peak("fabric_pfc_dropped_packets_total")):
        with pytest.raises(KeyError):
            wrong()
    with pytest.raises(KeyError):
        signal("fabric_nonsense_total")

"""Queries of boards and rules use only metrics and labels that railfab provides."""

from __future__ import annotations

import re

import pytest
from tests.dashboards.promql_labels import RECORDED, labels_of, metrics_of, mixing, selectors_of

from railfab.dashboards import ALERTS, BOARDS, RECORDING, board_document, board_queries
from railfab.dashboards.promql import unit
from railfab.dashboards.recording import ECMP_BYTES
from railfab.dashboards.selection import growth, peak, rate
from railfab.metrics import CATALOGUE, Kind
from railfab.platforms import platform, platform_names

DOCUMENTS = {name: board_document(board) for name, board in BOARDS.items()}


def _filled(expr: str) -> str:
    return expr.replace("$__rate_interval", "1m").replace("$__range", "30m")


PANELS = {name: [panel for panel in document["panels"] if "targets" in panel] for name, document in DOCUMENTS.items()}
QUERIES = [_filled(query) for board in BOARDS.values() for query in board_queries(board)]
OWN = ("fabric_collector_", "fabric_configuration_", "fabric_twin_", "roce_nic_", "training_")
"""Metrics of railfab's own processes, and of jobs."""
EXPRESSIONS = [*(rule.expr for rule in RECORDING), *(alert.expr for alert in ALERTS), *QUERIES]


@pytest.mark.parametrize("name", BOARDS)
def test_the_queries_of_a_board_parse_and_use_existing_labels(name: str) -> None:
    for query in board_queries(BOARDS[name]):
        labels_of(_filled(query))


@pytest.mark.parametrize("rule", RECORDING, ids=lambda rule: rule.record)
def test_a_recording_rule_has_its_stated_labels(rule) -> None:
    assert labels_of(rule.expr) == set(rule.labels)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.alert)
def test_the_texts_of_an_alert_use_its_labels(alert) -> None:
    assert set(re.findall(r"\$labels\.(\w+)", alert.summary)) <= labels_of(alert.expr)
    assert "$labels" not in alert.description


@pytest.mark.parametrize("name", BOARDS)
def test_legends_and_columns_name_labels_that_the_series_have(name: str) -> None:
    for panel in PANELS[name]:
        present = [labels_of(_filled(target["expr"])) for target in panel["targets"]]
        for target, labels in zip(panel["targets"], present, strict=True):
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= labels, panel["title"]
        for step in panel.get("transformations", ()):
            columns = {
                column for column in step["options"].get("include", {}).get("names", ()) if "Value" not in column
            }
            assert columns <= frozenset().union(*present), panel["title"]


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


@pytest.mark.parametrize("name", BOARDS)
def test_the_panels_of_a_board_show_the_selected_fabrics_and_switches_alone(name: str) -> None:
    for query in board_queries(BOARDS[name]):
        selectors = selectors_of(_filled(query))
        assert selectors
        for selector in selectors:
            matchers = {(each.name, each.value) for each in selector.matchers.matchers}
            assert ("fabric", "$fabric") in matchers, selector.name
            if "device" in labels_of(selector.name):
                assert matchers & {("device", "$switch"), ("device", "|$switch")}, selector.name


def test_no_rule_and_no_panel_names_a_queue_of_a_vendor() -> None:
    """They come from the intent: queues have the names of its classes, `fabric_roce_queue_info` those of RoCE."""
    of_vendors = {"queue", "priority_group", "interface", "daemon"}
    selectors = (selector for expr in EXPRESSIONS for selector in selectors_of(expr))
    matchers = (each for selector in selectors for each in selector.matchers.matchers)
    assert not [str(each) for each in matchers if each.name in of_vendors and not each.value.startswith("$")]


def test_no_text_names_a_platform() -> None:
    """What an operator reads holds for the switches of every vendor, and for those of two."""
    texts = [text for alert in ALERTS for text in (alert.summary, alert.description)]
    texts += [text for board in BOARDS.values() for text in (board.question, board.reading, *board.next.values())]
    for panel in (panel for panels in PANELS.values() for panel in panels):
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
    marks, chosen = "fabric_queue_ecn_marked_packets_total", 'fabric=~"$fabric", device=~"$switch"'
    assert rate(marks).endswith(f" or rate({marks}{{{chosen}}}[$__rate_interval]))")
    assert unit(marks) == "pps"
    assert unit("fabric_queue_depth_bytes") == "bytes"
    assert unit("fabric_pfc_receive_pause_estimated_seconds_total") == "percentunit"
    assert growth("fabric_pfc_dropped_packets_total") == (
        f"increase(fabric_pfc_dropped_packets_total{{{chosen}}}[$__range])"
    )
    assert peak("fabric_queue_depth_peak_bytes").startswith("max_over_time(")


def test_an_expression_for_another_kind_is_refused() -> None:
    for expression in (growth, rate):
        with pytest.raises(KeyError):
            expression("fabric_queue_depth_bytes")
    for name in ("fabric_pfc_dropped_packets_total", "fabric_nonsense_total"):
        with pytest.raises(KeyError):
            peak(name)

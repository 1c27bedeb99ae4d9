"""Labels of the series of an expression by PromQL's rules; an invalid expression raises AssertionError.

The parser has checked the types (instant or range vector, scalar); this adds what the catalogue knows: that the
metrics exist, that functions fit their kinds, and that every label that is matched, grouped or joined on is there.
"""

from __future__ import annotations

from collections.abc import Iterator

import promql_parser as promql

from railfab.dashboards import RECORDING
from railfab.metrics import CATALOGUE, Kind

RECORDED = {rule.record: frozenset(rule.labels) for rule in RECORDING}
EXPOSED = {name: metric for metric in CATALOGUE.values() for name in metric.exposed_names()}
ALERT_LABELS = frozenset({"alertname", "alertstate", "severity", "fabric", "device", "interface", "peer"})

OF_COUNTERS = {"rate", "increase", "last_over_time"}
OF_GAUGES = {"max_over_time", "avg_over_time", "min_over_time", "last_over_time", "changes"}
SETS = {"and", "or", "unless"}
KEEP_SERIES = {"topk", "bottomk"}


def labels_of(text: str) -> frozenset[str]:
    """Labels of the result, the scrape's own `job` and `instance` left out."""
    return _labels(promql.parse(text))


def mixing(text: str) -> list[str]:
    """The parts of an expression that join or aggregate series of several fabrics."""
    return [str(node) for node in _nodes(promql.parse(text)) if _mixes(node)]


def _mixes(node: promql.Expr) -> bool:
    match node:
        case promql.AggregateExpr() if str(node.op) not in KEEP_SERIES:
            return node.modifier is None or "fabric" not in node.modifier.labels
        case promql.BinaryExpr() if node.modifier and node.modifier.matching:
            return "fabric" not in node.modifier.matching.labels
    return False


def selectors_of(text: str) -> list[promql.VectorSelector]:
    """Every selector of an expression."""
    return [node for node in _nodes(promql.parse(text)) if isinstance(node, promql.VectorSelector)]


def _nodes(node: promql.Expr) -> Iterator[promql.Expr]:
    yield node
    match node:
        case promql.MatrixSelector():
            below = [node.vector_selector]
        case promql.AggregateExpr() | promql.ParenExpr():
            below = [node.expr]
        case promql.BinaryExpr():
            below = [node.lhs, node.rhs]
        case promql.Call():
            below = list(node.args)
        case _:
            below = []
    for child in below:
        yield from _nodes(child)


def metrics_of(text: str) -> frozenset[str]:
    """Catalogued names an expression rests on, through recording rules down to the collected ones."""
    names = {selector.name for selector in selectors_of(text)}
    below = [metrics_of(rule.expr) for rule in RECORDING if rule.record in names]
    return frozenset().union({EXPOSED[name].name for name in names if name in EXPOSED}, *below)


def _labels(node: promql.Expr) -> frozenset[str]:
    match node:
        case promql.VectorSelector():
            return _selected(node)
        case promql.MatrixSelector():
            return _selected(node.vector_selector)
        case promql.ParenExpr():
            return _labels(node.expr)
        case promql.NumberLiteral() | promql.StringLiteral():
            return frozenset()
        case promql.Call():
            return _called(node)
        case promql.AggregateExpr():
            return _aggregated(node)
        case promql.BinaryExpr():
            return _combined(node)
    raise AssertionError(f"no rule for {node!r}")


def _selected(node: promql.VectorSelector) -> frozenset[str]:
    if node.name == "ALERTS":
        return ALERT_LABELS
    known = RECORDED.get(node.name)
    labels = known if known is not None else _catalogued(node.name)
    for matcher in node.matchers.matchers:
        assert matcher.name in labels, f"{node.name} has no label {matcher.name}"
    return labels


def _catalogued(name: str) -> frozenset[str]:
    assert name in EXPOSED, f"{name} is neither catalogued nor recorded"
    return frozenset(EXPOSED[name].labels) | ({"le"} if name.endswith("_bucket") else set())


def _called(node: promql.Call) -> frozenset[str]:
    function = node.func.name
    if function == "label_replace":
        series, target, _, source, _ = node.args
        present = _labels(series)
        assert source.val in present, f"label_replace from {source.val}, which the series do not have"
        return present | {target.val}
    arguments = [_labels(argument) for argument in node.args]
    for argument in node.args:
        if isinstance(argument, promql.MatrixSelector):
            _check_kind(function, argument.vector_selector.name)
    return frozenset().union(*arguments)


def _check_kind(function: str, name: str) -> None:
    kind = EXPOSED[name].kind if name in EXPOSED else Kind.GAUGE
    if kind in (Kind.COUNTER, Kind.HISTOGRAM):
        assert function in OF_COUNTERS, f"{function} of the counter {name}"
    else:
        assert function in OF_GAUGES, f"{function} of the {kind} {name}"


def _aggregated(node: promql.AggregateExpr) -> frozenset[str]:
    inner = _labels(node.expr)
    if str(node.op) in KEEP_SERIES:
        return inner
    if node.modifier is None:
        return frozenset()
    assert node.modifier.type == promql.AggModifierType.By
    grouped = frozenset(node.modifier.labels)
    assert grouped <= inner, f"grouped by {sorted(grouped - inner)}, which the series do not have"
    return grouped


def _combined(node: promql.BinaryExpr) -> frozenset[str]:
    left, right = _labels(node.lhs), _labels(node.rhs)
    if _is_scalar(node.lhs) or _is_scalar(node.rhs):
        return left | right
    operator, modifier = str(node.op), node.modifier
    matching = modifier.matching if modifier else None
    if matching is None:
        assert left == right or operator == "or", f"{sorted(left)} never match {sorted(right)}"
        return left | right if operator == "or" else left
    on = frozenset(matching.labels)
    assert on <= left, f"on {sorted(on - left)}, which the left side does not have"
    assert on <= right, f"on {sorted(on - right)}, which the right side does not have"
    if operator in SETS:
        return left
    return _joined(modifier, on, left, right)


def _joined(
    modifier: promql.BinModifier, on: frozenset[str], left: frozenset[str], right: frozenset[str]
) -> frozenset[str]:
    if "ManyToOne" not in str(modifier.card):
        return on
    added = frozenset(modifier.group_labels or ())
    assert added <= right, f"group_left of {sorted(added - right)}, which the right side does not have"
    return left | added


def _is_scalar(node: promql.Expr) -> bool:
    match node:
        case promql.NumberLiteral():
            return True
        case promql.ParenExpr():
            return _is_scalar(node.expr)
        case promql.Call():
            return node.func.name == "time"
    return False

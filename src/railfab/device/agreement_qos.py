"""QoS at the two ends of a link: DSCP maps, PFC, its watchdog, ECN and thresholds.

Queue numbers and names of classes belong to each platform, so classes are compared by their code points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from railfab.device.link_ends import LinkEnd, mismatch
from railfab.device.qos import ClassThresholds, TrafficClass
from railfab.findings import DifferenceCode, Finding

STEPS = {"kmin_bytes": "ecn_bytes", "kmax_bytes": "ecn_bytes", "pmax_percent": "pmax_percent"}
"""Values of an ECN ramp, and the names of the steps to which platforms round them."""


def _priorities(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    """PFC by priority, and the watchdog."""
    if not (a.states("pfc") and z.states("pfc")):
        return
    left, right = (end.port_qos.pfc if end.port_qos else () for end in (a, z))
    for priority in sorted({*left, *right}):
        setting, ends = f"PFC of priority {priority}", (priority in left, priority in right)
        yield from mismatch(DifferenceCode.PFC_MISMATCH, a, z, setting, *ends)
    if (left or right) and a.states("pfc_watchdog") and z.states("pfc_watchdog"):
        watched = [end.qos is not None and end.qos.watchdog is not None for end in (a, z)]
        yield from mismatch(DifferenceCode.WATCHDOG_MISMATCH, a, z, "the PFC watchdog", *watched)


def _classification(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    """DSCP trust and the DSCP map of each port."""
    if not (a.states("pfc") and z.states("pfc")) or not (a.qos or z.qos):
        return
    classified = _is_classified(a), _is_classified(z)
    yield from mismatch(DifferenceCode.DSCP_TRUST_MISMATCH, a, z, "DSCP trust", *classified)
    if all(classified):
        left, right = _dscp_map(a), _dscp_map(z)
        only = [
            tuple(entry for entry in ours if entry not in theirs) for ours, theirs in ((left, right), (right, left))
        ]
        yield from mismatch(DifferenceCode.DSCP_MAP_MISMATCH, a, z, "DSCP map", *only)


def _is_classified(end: LinkEnd) -> bool:
    return end.port_qos is not None and end.port_qos.classifier is not None


def _classes(end: LinkEnd) -> Mapping[int, TrafficClass]:
    """The class of each code point that has another one than the default, ascending."""
    port, qos = end.port_qos, end.qos
    if qos is None or port is None:
        return {}
    used = port.classifier or next((classifier.name for classifier in qos.classifiers), "")
    classifier = qos.classifier(used)
    classes = {
        traffic_class.name: traffic_class
        for traffic_class in qos.classes_on(port)
        if traffic_class.name != qos.default_class
    }
    return {point: classes[name] for point, name in (classifier.dscp if classifier else ()) if name in classes}


def _points(end: LinkEnd) -> Mapping[str, list[int]]:
    """The code points of each class, by its name."""
    points: dict[str, list[int]] = {}
    for point, traffic_class in _classes(end).items():
        points.setdefault(traffic_class.name, []).append(point)
    return points


def _dscp_map(end: LinkEnd) -> tuple[str, ...]:
    """The code points of each class and what it is: `26 lossless with PFC priority 3`."""
    by_name = {traffic_class.name: traffic_class for traffic_class in _classes(end).values()}
    return tuple(f"{_listed(points)} {_kind(by_name[name])}" for name, points in _points(end).items())


def _listed(points: list[int]) -> str:
    return " and ".join(map(str, points))


def _kind(traffic_class: TrafficClass) -> str:
    if traffic_class.lossless:
        return f"lossless with PFC priority {traffic_class.pfc_priority}"
    return f"lossy and {traffic_class.scheduling}"


def _marking(a: LinkEnd, z: LinkEnd) -> Iterator[Finding]:
    """ECN and the thresholds of each class whose code points both ends know.

    A ramp, and XOFF which lies above it, is compared where the intent states the same for both ends.
    """
    if not (a.states("ecn") and z.states("ecn")):
        return
    left, right = _classes(a), _classes(z)
    pairs: dict[tuple[str, str], list[int]] = {}
    for point in left:
        if point in right:
            pairs.setdefault((left[point].name, right[point].name), []).append(point)
    for (ours, theirs), points in pairs.items():
        marked = [bool(end.port_qos and name in end.port_qos.ecn) for end, name in ((a, ours), (z, theirs))]
        name = f"DSCP {_listed(points)}"
        yield from mismatch(DifferenceCode.ECN_MISMATCH, a, z, f"ECN of {name}", *marked)
        limits = [end.thresholds(name) or ClassThresholds(traffic_class=name) for end, name in ((a, ours), (z, theirs))]
        if all(marked) and a.ramp == z.ramp:
            yield from _ramps(a, z, name, *limits)
        yield from _shared(a, z, name, *limits)


def _ramps(a: LinkEnd, z: LinkEnd, name: str, ours: ClassThresholds, theirs: ClassThresholds) -> Iterator[Finding]:
    """The ECN ramps of a class at two ends, which may differ by what their platforms round.

    One in another unit than bytes is compared with none.
    """
    if ours.native_ecn is not None or theirs.native_ecn is not None:
        return
    if ours.ecn is None or theirs.ecn is None:
        yield from mismatch(DifferenceCode.THRESHOLD_MISMATCH, a, z, f"the ECN ramp of {name}", ours.ecn, theirs.ecn)
        return
    for value, step in STEPS.items():
        left, right = getattr(ours.ecn, value), getattr(theirs.ecn, value)
        if not _equal(a, z, step, left, right):
            yield from mismatch(DifferenceCode.THRESHOLD_MISMATCH, a, z, f"{value} of {name}", left, right)


def _equal(a: LinkEnd, z: LinkEnd, value: str, left: float, right: float) -> bool:
    """Whether two values are one that each end has rounded up."""
    return left == right or abs(left - right) < max(a.step(value), z.step(value))


def _shared(a: LinkEnd, z: LinkEnd, name: str, ours: ClassThresholds, theirs: ClassThresholds) -> Iterator[Finding]:
    """Thresholds that both ends state for each port.

    Headroom depends on the chip, and shares of a pool on all ports of a switch.
    """
    same = {"headroom_bytes"} if a.switch.node.model == z.switch.node.model else set()
    above = {"xoff_bytes"} if a.ramp == z.ramp else set()
    compared = {"xon_offset_bytes", "alpha", *same, *above}
    for value in sorted(compared - a.switch.traits.shared - z.switch.traits.shared):
        left, right = getattr(ours, value), getattr(theirs, value)
        if left is not None and right is not None and not _equal(a, z, value, left, right):
            yield from mismatch(DifferenceCode.THRESHOLD_MISMATCH, a, z, f"{value} of {name}", left, right)


QOS_CHECKS: tuple[Callable[[LinkEnd, LinkEnd], Iterator[Finding]], ...] = (_priorities, _classification, _marking)

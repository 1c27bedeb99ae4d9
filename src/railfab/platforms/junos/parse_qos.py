"""Reads QoS and load balancing of a configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from railfab.device import (
    BalancingMode,
    Classifier,
    ClassThresholds,
    EcnRamp,
    HashField,
    LoadBalancing,
    PfcWatchdog,
    PortProfile,
    PortQos,
    Qos,
    Scheduling,
    TrafficClass,
)
from railfab.platforms.hazard_facts import DSCP_NAMES
from railfab.platforms.junos.fill_levels import Levels, queue_bytes
from railfab.platforms.junos.names import LAG, LOSSLESS_BY_DEFAULT, PORT, interface_name
from railfab.platforms.junos.render_qos import (
    BOTH_LAYERS,
    EXACT,
    EXCLUSIONS,
    FIVE_TUPLE,
    FLOW_LABEL,
    NO_PORT,
    NO_PROFILE,
    ONLY,
    POLL_MS,
    VLAN,
)
from railfab.platforms.shared.words import Words

ECN = "explicit-congestion-notification"
DEFAULT_POLLS, DEFAULT_RECOVERY_MS = 2, 200
"""Defaults of the watchdog (Juniper, PFC Watchdog)."""
_ALIASES = {name.lower(): point for point, name in DSCP_NAMES.items()} | {"be": 0}
_OWN_PAUSE = re.compile(r"(?:(?P<profile>[^_]+)_)?pfc(?P<priorities>(?:-[0-7])*)(?:_.*)?")


def qos_of(root: Words) -> Qos | None:
    """The QoS of a switch that defines classes; None without."""
    words = root.at("class-of-service")
    if not words.texts("forwarding-classes", "class"):
        return None
    classes = tuple(_classes(words))
    classifiers = tuple(_classifiers(words))
    pool = words.number("shared-buffer", "apply-macro", EXACT, "shared-pool")
    return Qos(
        classes=classes,
        default_class=next((traffic_class.name for traffic_class in classes if traffic_class.queue == 0), ""),
        classifiers=classifiers,
        profiles=tuple(_profiles(words, classes, queue_bytes(pool))),
        ports=tuple(_ports(root, classes, classifiers)),
        watchdog=_watchdog(words),
        headroom_pool_percent=words.number(
            "shared-buffer", "ingress", "buffer-partition", "lossless-headroom", "percent"
        ),
        shared_pool_bytes=pool,
    )


def _classes(words: Words) -> Iterator[TrafficClass]:
    """The classes; how one is scheduled is in the scheduler of its name, else in that of a scheduler map."""
    obeyed = _obeyed(words)
    unused = set(_lossy_defaults(words))
    for name, node in words.entries("forwarding-classes", "class"):
        queue = None if name in unused else node.number("queue-num")
        scheduler = words.at("schedulers", _scheduler_of(name, words))
        if queue is not None:
            weight = scheduler.number("transmit-rate", "percent")
            strict = scheduler.text("priority") == "strict-high"
            yield TrafficClass(
                name=name,
                queue=queue,
                scheduling=Scheduling.STRICT if strict else Scheduling.WEIGHTED,
                weight=None if strict else weight,
                pfc_priority=node.number("pfc-priority") if "no-loss" in node else None,
                obeyed_priority=obeyed.get(queue),
                rate_percent=scheduler.number("shaping-rate", "percent"),
            )


def _lossy_defaults(words: Words) -> Iterator[str]:
    """The default classes that are defined only to be lossy: beside a lossy class of their queue, and never used."""
    lossy: dict[str, set[str]] = {}
    for name, node in words.entries("forwarding-classes", "class"):
        if "no-loss" not in node:
            lossy.setdefault(node.text("queue-num") or "", set()).add(name)
    maps = (words.at("scheduler-maps", name, "forwarding-class") for name in words.texts("scheduler-maps"))
    points = (words.at("classifiers", "dscp", name, "forwarding-class") for name in words.texts("classifiers", "dscp"))
    used = {name for users in (words.at("schedulers"), *maps, *points) for name in users.below}
    for queue, name in LOSSLESS_BY_DEFAULT.items():
        others = lossy.get(str(queue), set())
        if name in others - used and len(others) > 1:
            yield name


def _scheduler_of(name: str, words: Words) -> str:
    if name in words.at("schedulers"):
        return name
    maps = (
        scheduler_map.text("forwarding-class", name, "scheduler")
        for _, scheduler_map in words.entries("scheduler-maps")
    )
    return next((scheduler for scheduler in maps if scheduler), "")


def _obeyed(words: Words) -> Mapping[int, int]:
    """The priority of pause frames that each queue obeys, of all profiles together."""
    obeyed: dict[int, int] = {}
    for _, profile in words.entries("congestion-notification-profile"):
        for point, output in profile.entries("output", "ieee-802.1", "code-point"):
            for queue in output.texts("flow-control-queue"):
                if queue.isdecimal() and re.fullmatch("[01]{3}", point):
                    obeyed.setdefault(int(queue), int(point, 2))
    return obeyed


def _classifiers(words: Words) -> Iterator[Classifier]:
    for name, node in words.entries("classifiers", "dscp"):
        points = {
            point: cls
            for cls, below in node.entries("forwarding-class")
            for _, priority in below.entries("loss-priority")
            for text in priority.texts("code-points")
            if (point := _point(text)) is not None
        }
        yield Classifier(name=name, dscp=tuple(sorted(points.items())))


def _point(text: str) -> int | None:
    """A DSCP code point, as bits or by its name; None for another."""
    return int(text, 2) if re.fullmatch("[01]{6}", text) else _ALIASES.get(text)


def _profiles(words: Words, classes: Sequence[TrafficClass], size: int) -> Iterator[PortProfile]:
    """The scheduler maps for all classes of a profile, with the ramps of their schedulers."""
    for name, node in words.entries("scheduler-maps"):
        if name != NO_PROFILE and ONLY not in name:
            ramps = {cls.name: _ramp(name, cls.name, node, words, size) for cls in classes}
            thresholds = (ClassThresholds(traffic_class=cls, ecn=ramp) for cls, ramp in ramps.items() if ramp)
            yield PortProfile(name=name, thresholds=tuple(thresholds), cable_m=_cable(name, words))


def _cable(profile: str, words: Words) -> int | None:
    """The length of the cables of a port profile: in a congestion notification profile of its name, else in that of a
    port with it."""
    pauses = dict(words.entries("congestion-notification-profile"))
    named = [
        pause for name, pause in pauses.items() if (match := _OWN_PAUSE.fullmatch(name)) and match["profile"] == profile
    ]
    ports = (port for _, port in words.entries("interfaces") if port.text("scheduler-map") == profile)
    used = (pauses.get(port.text("congestion-notification-profile") or "") for port in ports)
    lengths = (pause.number("input", "cable-length") for pause in (*named, *used) if pause is not None)
    return next((length for length in lengths if length is not None), None)


def _ramp(profile: str, name: str, scheduler_map: Words, words: Words, size: int) -> EcnRamp | None:
    """The ramp of a class in a profile: of the drop profile of both names, else of the one of its scheduler."""
    ramp_name = f"{profile}_{name}"
    if ramp_name not in words.at("drop-profiles"):
        scheduler = words.at("schedulers", scheduler_map.text("forwarding-class", name, "scheduler") or "")
        drops = scheduler.at("drop-profile-map", "loss-priority", "any", "protocol", "any")
        ramp_name = drops.text("drop-profile") or "" if ECN in scheduler else ""
    return _read_ramp(words.at("drop-profiles", ramp_name), size)


def _read_ramp(words: Words, size: int) -> EcnRamp | None:
    """The ramp of a drop profile, with the bytes of the intent where its levels are those of them."""
    read, pmax = _steps(words) if FILL_LEVEL in words else _line(words.at("interpolate"))
    if read is None:
        return None
    kmin, kmax = (words.number("apply-macro", EXACT, name) for name in ("kmin", "kmax"))
    if kmin is not None and kmax is not None:
        exact = EcnRamp(kmin_bytes=kmin, kmax_bytes=kmax, pmax_percent=pmax)
        if Levels.of(exact, size) == read:
            return exact
    return read.ramp(pmax, size)


FILL_LEVEL, PROBABILITY = "fill-level", "drop-probability"


def _line(points: Words) -> tuple[Levels | None, int]:
    """The ends of the line through two points or more, and the probability at its end."""
    levels, odds = (
        [int(text) for text in points.texts(name) if text.isdecimal()] for name in (FILL_LEVEL, PROBABILITY)
    )
    return (Levels(levels[0], levels[-1]), odds[-1]) if len(levels) > 1 and odds else (None, 0)


def _steps(words: Words) -> tuple[Levels | None, int]:
    """The first and the last step that marks, and the probability of the last, of a profile without a line: from each
    level on its probability holds (Juniper, Configuring RED Drop Profiles, segmented)."""
    stated = ((level, step.number(PROBABILITY)) for level, step in words.entries(FILL_LEVEL) if level.isdecimal())
    marking = sorted((int(level), odds) for level, odds in stated if odds)
    return (Levels(marking[0][0], marking[-1][0]), marking[-1][1]) if marking else (None, 0)


def _ports(root: Words, classes: Sequence[TrafficClass], classifiers: Sequence[Classifier]) -> Iterator[PortQos]:
    """The QoS of each port and LAG, by its name or by a wildcard that stands for it."""
    words = root.at("class-of-service")
    for name, node in cos_interfaces(root).items():
        used = node.text("scheduler-map") or NO_PROFILE
        profile = used.partition(ONLY)[0]
        yield PortQos(
            interface=interface_name(name),
            profile=None if profile == NO_PROFILE else profile,
            classifier=node.text("unit", "0", "classifiers", "dscp"),
            pfc=_paused(node.text("congestion-notification-profile"), words, classes, classifiers),
            ecn=tuple(_marked(used, words, classes)),
        )


def cos_interfaces(root: Words) -> Mapping[str, Words]:
    """The statements of each port and LAG with QoS."""
    named = root.entries("class-of-service", "interfaces")
    return {name: node for name, node in named if PORT.fullmatch(name) or LAG.fullmatch(name)}


def _marked(name: str, words: Words, classes: Sequence[TrafficClass]) -> Iterator[str]:
    """The classes whose scheduler in a map marks packets."""
    scheduler_map = words.at("scheduler-maps", name)
    for cls in classes:
        if ECN in words.at("schedulers", scheduler_map.text("forwarding-class", cls.name, "scheduler") or ""):
            yield cls.name


def _paused(
    name: str | None, words: Words, classes: Sequence[TrafficClass], classifiers: Sequence[Classifier]
) -> tuple[int, ...]:
    """The priorities that a profile pauses: in its name, else those of the classes of its code points."""
    if name is None:
        return ()
    match = _OWN_PAUSE.fullmatch(name)
    if match is not None:
        return tuple(sorted({int(priority) for priority in match["priorities"].split("-") if priority}))
    points = {
        _point(text) for text in words.texts("congestion-notification-profile", name, "input", "dscp", "code-point")
    }
    named = {cls for classifier in classifiers for point, cls in classifier.dscp if point in points}
    priorities = {cls.pfc_priority for cls in classes if cls.name in named and cls.pfc_priority is not None}
    return tuple(sorted(priority for priority in priorities if priority is not None))


def _watchdog(words: Words) -> PfcWatchdog | None:
    """The watchdog of the first profile that has one."""
    for _, profile in words.entries("congestion-notification-profile"):
        if "pfc-watchdog" in profile:
            watchdog = profile.at("pfc-watchdog")
            polls = watchdog.number("detection")
            recover = watchdog.number("recovery")
            return PfcWatchdog(
                detect_ms=(watchdog.number("poll-interval") or POLL_MS) * (DEFAULT_POLLS if polls is None else polls),
                recover_ms=DEFAULT_RECOVERY_MS if recover is None else recover,
            )
    return None


def balancing_of(root: Words) -> LoadBalancing | None:
    """Load balancing; None where everything is the switch's default."""
    words = root.at("forwarding-options")
    dynamic = words.at("enhanced-hash-key", "ecmp-dlb")
    mode = BalancingMode.FLOW
    if "flowlet" in dynamic or "per-packet" in dynamic:
        mode = BalancingMode.FLOWLET if "flowlet" in dynamic else BalancingMode.ADAPTIVE
    balancing = LoadBalancing(
        mode=mode,
        fields=_hash_fields(words),
        flowlet_gap_us=dynamic.number("flowlet", "inactivity-interval"),
    )
    return None if balancing == LoadBalancing() else balancing


def _hash_fields(words: Words) -> tuple[HashField, ...]:
    """Fields of the hash: what enhanced-hash-key leaves of all and adds, else the usual ones where both layers are
    named. Of other layers the switch takes nothing."""
    stated = set(words.texts("enhanced-hash-key", "inet6"))
    if NO_PORT not in stated:
        return FIVE_TUPLE if set(words.texts("hash-key", "family", "inet")) == {*BOTH_LAYERS} else ()
    more = ((HashField.FLOW_LABEL, FLOW_LABEL), (HashField.VLAN, VLAN))
    left = [field for field, word in EXCLUSIONS["inet6"].items() if word not in stated]
    return (*left, *(field for field, word in more if word in stated))

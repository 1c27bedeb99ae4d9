"""QoS of a configuration of NX-OS being parsed."""

from __future__ import annotations

from dataclasses import dataclass, field

from railfab.device import EcnRamp


@dataclass(slots=True, kw_only=True)
class DraftQueue:
    """A queue of an output policy. shape_mbps: its largest rate. native_ecn: as of `ClassThresholds`."""

    strict: bool = False
    weight: int | None = None
    shape_mbps: int | None = None
    ecn: EcnRamp | None = None
    native_ecn: str | None = None
    limit_bytes: int | None = None


@dataclass(slots=True, kw_only=True)
class DraftPause:
    """A class of network QoS. thresholds: buffer, pause and resume threshold [bytes]."""

    priority: int | None = None
    thresholds: tuple[int, int, int] | None = None


@dataclass(slots=True, kw_only=True)
class DraftQos:
    """class_maps: code points by name. groups: QoS group by class map, by policy. network: classes by QoS group, by
    policy. outputs: queues by QoS group, by policy. system: name of the policy by its kind.

    map, policy, group: of the section being read.
    """

    class_maps: dict[str, list[int]] = field(default_factory=dict)
    groups: dict[str, dict[str, int]] = field(default_factory=dict)
    network: dict[str, dict[int, DraftPause]] = field(default_factory=dict)
    outputs: dict[str, dict[int, DraftQueue]] = field(default_factory=dict)
    system: dict[str, str] = field(default_factory=dict)
    watchdog: bool = False
    interval_ms: int = 100
    shutdown: int = 1
    restore: int = 10
    map: str = ""
    policy: str = ""
    group: str = ""
    queue: DraftQueue = field(default_factory=DraftQueue)
    pause: DraftPause = field(default_factory=DraftPause)

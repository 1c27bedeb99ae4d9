"""Grammar of class maps, policy maps, PFC and its watchdog."""

from __future__ import annotations

import re

from railfab.device import EcnRamp
from railfab.platforms.nxos.draft import NxosDraft
from railfab.platforms.nxos.draft_qos import DraftPause, DraftQueue
from railfab.platforms.shared.line_grammar import ignored, rule
from railfab.platforms.shared.statements import within

NATIVE_ECN = r"ecn|threshold \S+ ecn|minimum-threshold \d+ packets maximum-threshold \d+ packets .*ecn"
"""Ramps whose thresholds the switch chooses, or that count packets, of which no document gives bytes."""


def _class_map(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.map = match[1]
    draft.qos.class_maps.setdefault(match[1], [])


def _dscp(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.class_maps[draft.qos.map].append(within(match[1], 0, 63))


def _qos_policy(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.policy = match[1]
    draft.qos.groups.setdefault(match[1], {})


def _qos_class(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.map = match[1]


def _group(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.groups[draft.qos.policy][draft.qos.map] = within(match[1], 0, 7)


def _network_policy(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.policy = match[1]
    draft.qos.network.setdefault(match[1], {})


def _network_class(draft: NxosDraft, match: re.Match[str]) -> None:
    classes = draft.qos.network[draft.qos.policy]
    draft.qos.pause = classes.setdefault(int(match[1] or 0), DraftPause())


def _pause(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.pause.priority = within(match[4], 0, 7)
    if match[1]:
        draft.qos.pause.thresholds = int(match[1]), int(match[2]), int(match[3])


def _queuing_policy(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.policy = match[1]
    draft.qos.outputs.setdefault(match[1], {})


def _queue(draft: NxosDraft, match: re.Match[str]) -> None:
    queues = draft.qos.outputs[draft.qos.policy]
    draft.qos.queue = queues.setdefault(int(match[1] or 0), DraftQueue())


def _priority(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.qos.queue.strict = True


def _weight(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.queue.weight = within(match[1], 0, 100)


def _shape(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.queue.shape_mbps = int(match[1])


def _ramp(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.queue.ecn = EcnRamp(
        kmin_bytes=int(match[1]), kmax_bytes=int(match[2]), pmax_percent=within(match[3], 0, 100)
    )


def _native_ramp(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.queue.native_ecn = match[1]


def _limit(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.queue.limit_bytes = int(match[1])


def _system(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.system[match[1]] = match[2]


def _watchdog(draft: NxosDraft, _match: re.Match[str]) -> None:
    draft.qos.watchdog = True


def _interval(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.interval_ms = within(match[1], 100, 1000)


def _shutdown(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.shutdown = within(match[1], 1, 10)


def _restore(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.qos.restore = within(match[1], 0, 100)


def _port_pfc(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.pfc = match[1] == "on"


def _port_classifier(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.classifier = match[1]


def _port_output(draft: NxosDraft, match: re.Match[str]) -> None:
    draft.interface.output = match[1]


QOS = (
    rule(r"class-map type qos match-any (\S+)", _class_map, rule(r"match dscp (\d+)", _dscp)),
    rule(
        r"policy-map type qos (\S+)",
        _qos_policy,
        rule(r"class (\S+)", _qos_class, rule(r"set qos-group (\d+)", _group)),
    ),
    rule(
        r"policy-map type network-qos (\S+)",
        _network_policy,
        rule(
            r"class type network-qos c-(?:8q-)?nq(?:(\d)|-default)",
            _network_class,
            rule(r"pause (?:buffer-size (\d+) pause-threshold (\d+) resume-threshold (\d+) )?pfc-cos (\d+)", _pause),
        ),
    ),
    rule(
        r"policy-map type queuing (\S+)",
        _queuing_policy,
        rule(
            r"class type queuing c-out-(?:8q-)?q(?:(\d)|-default)",
            _queue,
            rule(r"priority level (\d+)", _priority),
            rule(r"bandwidth (?:remaining )?percent (\d+)", _weight),
            rule(r"shape min \d+ mbps max (\d+) mbps", _shape),
            rule(
                r"random-detect minimum-threshold (\d+) bytes maximum-threshold (\d+) bytes "
                r"drop-probability (\d+) weight \d+(?: cap-average)? ecn",
                _ramp,
            ),
            rule(rf"random-detect ({NATIVE_ECN})", _native_ramp),
            rule(r"queue-limit (\d+) bytes", _limit),
        ),
    ),
    rule(r"system qos", ignored, rule(r"service-policy type (network-qos|queuing output|qos input) (\S+)", _system)),
    rule(r"priority-flow-control watch-dog-interval on", _watchdog),
    rule(r"priority-flow-control watch-dog interval (\d+)", _interval),
    rule(r"priority-flow-control watch-dog shutdown-multiplier (\d+)", _shutdown),
    rule(r"priority-flow-control auto-restore multiplier (\d+)", _restore),
)
PORT_QOS = (
    rule(r"priority-flow-control mode (on|off)", _port_pfc),
    rule(r"service-policy type qos input (\S+)", _port_classifier),
    rule(r"service-policy type queuing output (\S+)", _port_output),
)

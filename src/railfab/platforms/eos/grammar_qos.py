"""Grammar of EOS's QoS: maps, QoS profiles, PFC, the buffers of the chip, and load balancing."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from railfab.device import BalancingMode, EcnRamp, HashField
from railfab.platforms.balancing_features import QUEUE_PAIR_FIELDS
from railfab.platforms.eos.balancing import CLUSTER, DYNAMIC, POLICIES, PROFILE, QUEUE_PAIR, ROCE
from railfab.platforms.eos.draft import Draft, DraftQosProfile, DraftQueue
from railfab.platforms.eos.render_qos import MMU, MMU_PROFILE, NO_TRUST, TRUST, WATCHDOG
from railfab.platforms.shared.line_grammar import ignored, rule, within

LONGEST_S = 600


def _dscp_map(draft: Draft, match: re.Match[str]) -> None:
    traffic_class = within(match[2], 0, 7)
    for point in match[1].split():
        draft.dscp_map[within(point, 0, 63)] = traffic_class


def _cos_map(draft: Draft, match: re.Match[str]) -> None:
    traffic_class = within(match[2], 0, 7)
    for priority in match[1].split():
        draft.cos_map[within(priority, 0, 7)] = traffic_class


def _profile(draft: Draft, match: re.Match[str]) -> None:
    draft.qos_profile = draft.qos_profiles.setdefault(match[1], DraftQosProfile())


def _trust(draft: Draft, _match: re.Match[str]) -> None:
    draft.qos_profile.trust = True


def _queue(draft: Draft, match: re.Match[str]) -> None:
    draft.has_tx_queues = match[1] == "tx-queue"
    draft.queue = draft.qos_profile.queues.setdefault(within(match[2], 0, 7), DraftQueue())


def _weighted(draft: Draft, _match: re.Match[str]) -> None:
    draft.queue.strict = False


def _weight(draft: Draft, match: re.Match[str]) -> None:
    draft.queue.weight = within(match[1], 1, 100)


def _rate(draft: Draft, match: re.Match[str]) -> None:
    draft.queue.rate_percent = within(match[1], 1, 100)


def _ramp(draft: Draft, match: re.Match[str]) -> None:
    draft.queue.ecn = EcnRamp(
        kmin_bytes=within(match[1], 1, 2**32),
        kmax_bytes=within(match[2], 1, 2**32),
        pmax_percent=within(match[3], 1, 100) if match[3] else 100,
    )


def _pfc(draft: Draft, _match: re.Match[str]) -> None:
    draft.qos_profile.pfc = True


def _no_drop(draft: Draft, match: re.Match[str]) -> None:
    draft.qos_profile.priorities.add(within(match[1], 0, 7))


def _ms(text: str) -> int:
    seconds = Decimal(text)
    if not 0 < seconds <= LONGEST_S:
        raise ValueError(f"{text} is not within 0 and {LONGEST_S} s")
    return int(seconds * 1000)


def _detect(draft: Draft, match: re.Match[str]) -> None:
    draft.detect_ms = _ms(match[1])


def _recover(draft: Draft, match: re.Match[str]) -> None:
    draft.recover_ms = _ms(match[1])


def _headroom(draft: Draft, match: re.Match[str]) -> None:
    draft.headroom_bytes = int(match[1])


def _resume(draft: Draft, match: re.Match[str]) -> None:
    draft.resume_bytes = int(match[1])


def _ingress_alpha(draft: Draft, match: re.Match[str]) -> None:
    draft.ingress_alphas[within(match[1], 0, 7)] = float(Fraction(match[2]))


def _egress_alpha(draft: Draft, match: re.Match[str]) -> None:
    draft.egress_alphas[within(match[1], 0, 7)] = float(Fraction(match[2]))


def _pool(draft: Draft, match: re.Match[str]) -> None:
    draft.headroom_pool_bytes = int(match[1])


def _dynamic(draft: Draft, _match: re.Match[str]) -> None:
    draft.balancing = replace(draft.balancing, mode=BalancingMode.FLOWLET)


def _cluster(draft: Draft, _match: re.Match[str]) -> None:
    draft.balancing = replace(draft.balancing, mode=BalancingMode.COLLECTIVE)


def _queue_pair(draft: Draft, _match: re.Match[str]) -> None:
    fields = tuple(field for field in HashField if field in QUEUE_PAIR_FIELDS)
    draft.balancing = replace(draft.balancing, fields=fields)


_SHARE = r"(1/(?:2|4|8|16|32|64|128)|[1248])"
_RAMP = r"random-detect ecn minimum-threshold (\d+) bytes maximum-threshold (\d+) bytes"
_QUEUE = (
    rule(r"no priority", _weighted),
    rule(r"bandwidth percent (\d+)", _weight),
    rule(r"shape rate (\d+) percent", _rate),
    rule(rf"{_RAMP}(?: max-mark-probability (\d+))?(?: weight \d+)?", _ramp),
)
_PROFILE = (
    rule(TRUST, _trust),
    rule(NO_TRUST, ignored),
    rule(r"(uc-tx-queue|tx-queue) (\d)", _queue, *_QUEUE),
    rule(r"priority-flow-control on", _pfc),
    rule(r"priority-flow-control priority (\d) no-drop", _no_drop),
)
_BUFFERS = (
    rule(r"ingress headroom (?:bytes )?(\d+)", _headroom),
    rule(r"ingress resume (\d+)", _resume),
    rule(rf"ingress priority-group (\d) threshold {_SHARE}", _ingress_alpha),
    rule(rf"egress unicast queue (\d) threshold {_SHARE}", _egress_alpha),
)
QOS = (
    rule(r"qos map dscp ([\d ]+) to traffic-class (\d)", _dscp_map),
    rule(r"qos map cos ([\d ]+) to traffic-class (\d)", _cos_map),
    rule(r"qos profile (\S+)", _profile, *_PROFILE),
    rule(rf"{WATCHDOG} default timeout ([\d.]+)", _detect),
    rule(rf"{WATCHDOG} default recovery-time ([\d.]+)", _recover),
    rule(rf"{MMU} queue profile {MMU_PROFILE}", ignored, *_BUFFERS),
    rule(rf"{MMU} headroom-pool limit (?:bytes )?(\d+)", _pool),
    rule(DYNAMIC, _dynamic),
    rule(CLUSTER, _cluster),
    rule(POLICIES, ignored, rule(PROFILE, ignored, rule(ROCE, ignored, rule(QUEUE_PAIR, _queue_pair)))),
)

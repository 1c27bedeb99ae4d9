"""Risk of a change: what is at stake while each of its waves is changed, as rows that an operator reads before it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from railfab.deploy.waves import Wave
from railfab.fabric import Design
from railfab.intent import Hosts
from railfab.text.folding import folded_sets
from railfab.topology import Role
from railfab.topology.outages import NicOfNet, is_rail, outages


@dataclass(frozen=True, slots=True)
class GroupLoss:
    """The rail or tier that loses most. share: of its bandwidth, 0 to 1."""

    group: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveRisk:
    """Risk of one wave, as if all of its switches, and those that are drained, forwarded nothing.

    switches: their names, folded. cut_off: GPUs that lose every port of a NIC, or their host every port to a network.
    less_redundant: other GPUs that lose some. rail, tier: those that lose most; None where none loses any.
    """

    number: int
    canary: bool
    switches: str
    cut_off: int
    less_redundant: int
    rail: GroupLoss | None
    tier: GroupLoss | None


def risk_of(fabric: Design, waves: Iterable[Wave], *, drained: Collection[str] = ()) -> tuple[WaveRisk, ...]:
    """The risk of each wave. drained: switches that forward nothing meanwhile."""
    lost, hosts = outages(fabric.topology), fabric.intent.hosts
    servers = frozenset(node.name for node in fabric.topology.nodes if node.role is Role.HOST)
    rows = []
    for wave in waves:
        cut, fewer = lost.nics_without(frozenset(drained).union(wave.switches))
        cut_off = set(_gpus((nic for nic in cut if nic[0] in servers), hosts))
        fewer_paths = set(_gpus((nic for nic in fewer if nic[0] in servers), hosts))
        rows.append(
            WaveRisk(
                number=wave.number,
                canary=wave.canary,
                switches=", ".join(folded_sets(wave.switches)),
                cut_off=len(cut_off),
                less_redundant=len(fewer_paths - cut_off),
                rail=_most({group: share for group, share in wave.outage.lost.items() if is_rail(group)}),
                tier=_most({group: share for group, share in wave.outage.lost.items() if not is_rail(group)}),
            )
        )
    return tuple(rows)


def _gpus(nics: Iterable[NicOfNet], hosts: Hosts) -> Iterator[tuple[str, int]]:
    """Host and index of each GPU behind these NICs: those of a rail, or all of the host."""
    for host, _, rail in nics:
        first, number = (0, hosts.gpus) if rail is None else ((rail - 1) * hosts.gpus_per_nic, hosts.gpus_per_nic)
        yield from ((host, rank) for rank in range(first, first + number))


def _most(lost: Mapping[str, float]) -> GroupLoss | None:
    """The group that loses most, of equal ones the first."""
    group = max(lost, key=lost.__getitem__, default=None)
    return None if group is None else GroupLoss(group, lost[group])

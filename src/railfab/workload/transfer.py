"""Transfers of payload between host ports, and the stages of a job that they make."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.topology import PortKey

Gpu = tuple[str, int]
"""Host and rail, from 1, whose NIC the GPU has; several may share it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A transfer from one host port to another. stream: distinguishes flows between the same two ports.

    after: places of the transfers of its stage that it waits for; it begins gap_ns after the last of them. Without
    payload only this time passes, on the host of its source. rate_gbps: on the wire, at which it is sent; None: that of
    congestion control. asynchronous: the stage does not wait for it. It goes on during the next stages; the first
    transfers of the next stage with asynchronous transfers wait for it.
    """

    source: PortKey
    target: PortKey
    payload_bytes: float
    stream: int = 0
    after: tuple[int, ...] = ()
    gap_ns: int = 0
    rate_gbps: float | None = None
    asynchronous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCall:
    """A collective or send of a group over the network. places: its transfers in the stage."""

    op: str
    size_bytes: float
    ranks: int
    hosts: tuple[str, ...]
    places: range


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A part of a step: computing for compute_ns, and transfers; the next stage starts when both have ended.

    every: it is in each so many-th step. calls: of a training step. ideal_s: its duration where nothing is slow;
    None: computed from the paths of its transfers when they start. slowed: by stragglers of the job.
    """

    name: str
    compute_ns: int = 0
    transfers: tuple[Transfer, ...] = ()
    every: int = 1
    calls: tuple[StageCall, ...] = ()
    ideal_s: float | None = None
    slowed: bool = False

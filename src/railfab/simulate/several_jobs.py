"""Jobs that share a fabric: the step of each alone, beside the others in the mean, and at worst."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from math import prod

import numpy as np
from numpy.typing import NDArray

from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.routed import RoutedFabric, routed
from railfab.forwarding import FabricChange
from railfab.intent import Job
from railfab.simulate.contention import BusyLink
from railfab.simulate.endless import EndlessFlows
from railfab.simulate.exchange import ExchangeTime, exchange_beside
from railfab.simulate.job import CallKey, FabricCalls, Say, fabric_estimate
from railfab.simulate.placed import PlacedJob, placed_job
from railfab.simulate.results import FabricEstimate
from railfab.text.counted import counted
from railfab.topology import PortKey
from railfab.workload import CollectiveTime, JobEstimate, RecordedJob, estimate

NOT_SEEN = (
    "queues, ECN and PFC thresholds",
    "collectives of different groups of a job beside each other",
    "stragglers that the jobs do not state",
    "incasts, checkpoints and operations in closed form of the other jobs",
    "steps of jobs that fall into step with each other",
)
"""Properties of a fabric and its jobs that max-min fair rates of several jobs do not show."""
MOST_STATES = 64
"""Combinations of operations of the other jobs that are tried for an operation; of more, so many are drawn."""
MOST_TURNS = 30
"""Times that the steps of all jobs are computed again from the shares of time in which the others communicate."""
AGREED = 1e-4
"""Relative difference of steps that counts as none."""
LAST_TURNS = 10
"""Turns whose steps are said where they do not agree."""
MOST_NAMED = 8
"""Free hosts that a remedy names."""

Operation = tuple[int, CallKey]
"""An operation of a job: its number, and the key of the call."""
Seconds = dict[CallKey, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedCall:
    """A call of an operation of a job [s]: alone, beside the other jobs in the mean, and at worst.

    duty: share of the step in which the operation runs, in the mean. link: on which its slowest group waits at worst,
    empty where the other jobs do not slow it down; flows: of the job on it; beside: the other job with most flows
    there, with its operation and their number. reason: whether the links are too few, or hashes collide.
    """

    group: str
    op: str
    algorithm: str
    size_bytes: int
    alone_s: float
    expected_s: float
    worst_s: float
    duty: float
    link: str = ""
    reason: str = ""
    flows: int = 0
    beside: str = ""
    beside_operation: str = ""
    beside_flows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class VaryingStep:
    """An expected step that does not agree with the shares of time in which the jobs communicate: the least and the
    most [s] of the last of so many turns, and of a call of the operation that varies most."""

    turns: int
    least_s: float
    most_s: float
    group: str
    op: str
    least_call_s: float
    most_call_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedJob:
    """A job beside others. alone: its step on the fabric without them. expected: beside operations that each of the
    others has active in the share of its step in which it communicates. worst: with one active all the time of each.

    calls: those of the operations that cross the network, what the others add to a step first. varying: where the
    expected step is that of the last turn, since it does not settle.
    """

    job: str
    hosts: tuple[str, ...]
    alone: FabricEstimate
    expected: JobEstimate
    worst: JobEstimate
    calls: tuple[SharedCall, ...]
    varying: VaryingStep | None = None

    @property
    def slowest(self) -> SharedCall | None:
        """The operation to which the other jobs add most in a step; None where they add nothing."""
        return next((call for call in self.calls if call.link), None)


def simulate_jobs(
    jobs: Sequence[Job | RecordedJob],
    design: Design,
    *,
    seed: int = 1,
    change: FabricChange | None = None,
    fabric: RoutedFabric | None = None,
    say: Say = lambda _: None,
) -> tuple[SharedJob, ...]:
    """The step of each job on the fabric of a design while the others run, at max-min fair rates.

    seed, change, fabric, say: as of `simulate_job`. Links that a job states to be slow are slow for all.
    Raises RailfabError for jobs on the same hosts, and what `simulate_job` raises.
    """
    places = [placed_job(job, design) for job in jobs]
    check_apart(places, design)
    slow: dict[PortKey, float] = {}
    for place in places:
        slow.update({port: max(factor, slow.get(port, 1.0)) for port, factor in place.slow_links.items()})
    shared = (fabric or routed(design, change)).with_slow_links(slow).with_seed(seed)
    tenants = [_Tenant.alone_on(place, design, shared, say) for place in places]
    return _Sharing(tenants, shared).result()


def check_apart(places: Sequence[PlacedJob], design: Design) -> None:
    """Raise RailfabError for two jobs of one name, or with hosts in common."""
    for first, second in combinations(places, 2):
        names = first.job.job, second.job.job
        if names[0] == names[1]:
            raise RailfabError(f"job {names[0]}", "two jobs have this name", "Rename one of them")
        common = [host for host in second.hosts if host in set(first.hosts)]
        if common:
            more = f" and {counted(len(common) - 1, 'host')} more" if len(common) > 1 else ""
            problem = f"both run on {common[0]}{more}"
            raise RailfabError(f"jobs {names[0]} and {names[1]}", problem, _apart(first, second, places, design))


def _apart(first: PlacedJob, second: PlacedJob, places: Sequence[PlacedJob], design: Design) -> str:
    """A remedy for two jobs with hosts in common: other hosts for one of them, if there are so many."""
    known = [node.name for node in design.topology.hosts()]
    for moved in (second, first):
        taken = {host for place in places if place is not moved for host in place.hosts}
        free = [host for host in known if host not in taken]
        if isinstance(moved.job, Job) and len(moved.hosts) <= min(len(free), MOST_NAMED):
            return f"Use hosts: [{', '.join(free[: len(moved.hosts)])}] in job {moved.job.job}"
        if isinstance(moved.job, Job) and len(moved.hosts) <= len(free):
            return f"State the names of other hosts in job {moved.job.job}: {free[0]} and {len(free) - 1} more are free"
    return f"State hosts in both jobs: the fabric has {counted(len(known), 'host')}, and each has one job"


@dataclass(frozen=True, kw_only=True)
class _Tenant:
    """A job with its step alone. active: flows of each operation that crosses the network."""

    place: PlacedJob
    design: Design
    calls: FabricCalls
    alone: FabricEstimate
    active: Mapping[CallKey, EndlessFlows]

    @classmethod
    def alone_on(cls, place: PlacedJob, design: Design, fabric: RoutedFabric, say: Say) -> _Tenant:
        """The step of a job without others."""
        name = place.job.job
        calls = FabricCalls(
            fabric=fabric,
            hosts=place.ports,
            groups=place.groups,
            exchanges={},
            say=lambda now: say(f"{name} {now}"),
            unseen=NOT_SEEN,
        )
        alone = fabric_estimate(place, design, calls)
        assert calls.exchanges is not None
        active = {key: result.followed.active(fabric.links_count) for key, result in calls.exchanges.items()}
        return cls(place=place, design=design, calls=calls, alone=alone, active=active)

    @property
    def exchanges(self) -> Mapping[CallKey, ExchangeTime]:
        """Results of the operations that cross the network."""
        return self.calls.exchanges or {}

    def step(self, seconds: Mapping[CallKey, float]) -> JobEstimate:
        """The step with other durations of the slowest groups."""
        contentions = {
            key: contention and replace(contention, slowest_s=seconds.get(key, contention.slowest_s))
            for key, contention in self.calls.contentions.items()
        }
        calls = replace(self.calls, contentions=contentions, unfollowed=[])
        return estimate(self.place.job, self.design.intent, self.design.topology, calls, calls.write_s)

    def duties(self, step: JobEstimate) -> dict[CallKey, float]:
        """The share of a step in which each operation runs. Where operations overlap, they share the time."""
        busy = {
            key: sum(turn.calls * turn.call_s for turn in step.collectives if _is_of(key, turn))
            for key in self.exchanges
        }
        whole_s = max(step.step_s, sum(busy.values()))
        return {key: seconds / whole_s for key, seconds in busy.items()}


def _is_of(key: CallKey, turn: CollectiveTime) -> bool:
    return key[:3] == (turn.group, turn.op, turn.algorithm)


@dataclass(eq=False)
class _CallBeside:
    """Durations of a call of an operation beside operations of the other jobs.

    rivals: flows of those that share a link with it, by job. known: duration, and link, beside each set of them.
    """

    result: ExchangeTime
    fabric: RoutedFabric
    rivals: Sequence[Mapping[Operation, EndlessFlows]]
    known: dict[frozenset[Operation], tuple[float, BusyLink | None]] = field(default_factory=dict)

    def seconds(self, active: frozenset[Operation]) -> float:
        """The duration [s] while these operations are active."""
        if active not in self.known:
            flows = [rivals[key] for rivals in self.rivals for key in rivals if key in active]
            self.known[active] = self._beside(flows)
        return self.known[active][0]

    def _beside(self, flows: Sequence[EndlessFlows]) -> tuple[float, BusyLink | None]:
        joined = (
            EndlessFlows.of_all(flows).joined_to(self.result.followed.used(self.fabric.links_count)) if flows else None
        )
        if joined is None:
            return float(self.result.seconds.max()), self.result.busiest
        return exchange_beside(self.result, joined, self.fabric)

    def expected_s(self, duties: Mapping[Operation, float]) -> float:
        """The mean duration where operations are active with these probabilities [s]."""
        choices = [[(key, duties[key]) for key in rivals] for rivals in self.rivals if rivals]
        return sum(share * self.seconds(active) for share, active in _states(choices))

    def worst(self) -> frozenset[Operation]:
        """The operation of each job that slows this one down most, all of which are active; or a worse set."""
        heaviest = [max(rivals, key=lambda key: self.seconds(frozenset({key}))) for rivals in self.rivals if rivals]
        self.seconds(frozenset(heaviest))
        return max(self.known, key=lambda active: self.known[active][0])


def _states(choices: Sequence[Sequence[tuple[Operation, float]]]) -> Iterator[tuple[float, frozenset[Operation]]]:
    """Sets of active operations with their probabilities: of each job one or none.

    choices: operations of each job with their probabilities. Of too many sets some are drawn, always the same.
    """
    if prod(len(choice) + 1 for choice in choices) <= MOST_STATES:
        ways = [[(None, 1.0 - sum(share for _, share in choice)), *choice] for choice in choices]
        for way in product(*ways):
            yield prod(share for _, share in way), frozenset(key for key, _ in way if key is not None)
        return
    for draw in np.random.default_rng(1).random((MOST_STATES, len(choices))):
        yield 1 / MOST_STATES, frozenset(_drawn(choices, draw))


def _drawn(choices: Sequence[Sequence[tuple[Operation, float]]], draw: NDArray[np.float64]) -> Iterator[Operation]:
    """The operations that are active for a number between 0 and 1 of each job."""
    for choice, place in zip(choices, draw.tolist(), strict=True):
        for key, share in choice:
            place -= share
            if place < 0:
                yield key
                break


@dataclass(frozen=True, slots=True)
class _Turn:
    """Mean durations of the operations of each job, and the steps with them."""

    expected: list[Seconds]
    steps: list[JobEstimate]


def _varying(number: int, turns: Sequence[_Turn]) -> VaryingStep | None:
    """How the expected step of a job varies in turns; None where it does not."""
    steps = [turn.steps[number].step_s for turn in turns]
    if max(steps) - min(steps) <= AGREED * min(steps):
        return None
    calls = {key: [turn.expected[number][key] for turn in turns] for key in turns[-1].expected[number]}
    key = max(calls, key=lambda key: max(calls[key]) / min(calls[key]))
    return VaryingStep(
        turns=len(turns),
        least_s=min(steps),
        most_s=max(steps),
        group=key[0],
        op=key[1],
        least_call_s=min(calls[key]),
        most_call_s=max(calls[key]),
    )


class _Sharing:
    """Jobs on a fabric at once."""

    def __init__(self, tenants: Sequence[_Tenant], fabric: RoutedFabric) -> None:
        self._tenants, self._fabric = tenants, fabric
        self._beside = [
            {key: _CallBeside(result, fabric, self._rivals(number, result)) for key, result in tenant.exchanges.items()}
            for number, tenant in enumerate(tenants)
        ]

    def _rivals(self, number: int, result: ExchangeTime) -> list[dict[Operation, EndlessFlows]]:
        """The operations of each of the others that share a link with an operation of a job."""
        links = result.followed.used(self._fabric.links_count)
        return [
            {(place, key): flows for key, flows in tenant.active.items() if flows.on(links).any()}
            for place, tenant in enumerate(self._tenants)
            if place != number
        ]

    def result(self) -> tuple[SharedJob, ...]:
        """The steps of all jobs."""
        turns = self._turns()
        return tuple(self._shared(number, tenant, turns) for number, tenant in enumerate(self._tenants))

    def _turns(self) -> list[_Turn]:
        """A turn that agrees with the shares of time in which each job communicates, or the last ones."""
        turns, steps = [], [tenant.alone.step for tenant in self._tenants]
        for _ in range(MOST_TURNS):
            duties = {
                (number, key): share
                for number, (tenant, step) in enumerate(zip(self._tenants, steps, strict=True))
                for key, share in tenant.duties(step).items()
            }
            expected = [{key: call.expected_s(duties) for key, call in calls.items()} for calls in self._beside]
            before = steps
            steps = [tenant.step(seconds) for tenant, seconds in zip(self._tenants, expected, strict=True)]
            turns.append(_Turn(expected, steps))
            if all(abs(new.step_s - old.step_s) <= AGREED * old.step_s for new, old in zip(steps, before, strict=True)):
                return turns[-1:]
        return turns[-LAST_TURNS:]

    def _shared(self, number: int, tenant: _Tenant, turns: Sequence[_Turn]) -> SharedJob:
        expected, step = turns[-1].expected[number], turns[-1].steps[number]
        worst = {key: call.worst() for key, call in self._beside[number].items()}
        worst_s = {key: self._beside[number][key].seconds(active) for key, active in worst.items()}
        duties = tenant.duties(step)
        calls = [
            self._call(number, key, worst[key], expected_s=expected[key], duty=duties[key]) for key in tenant.exchanges
        ]
        calls.sort(key=lambda call: -call.duty * (1 - call.alone_s / call.worst_s))
        return SharedJob(
            job=tenant.place.job.job,
            hosts=tenant.place.hosts,
            alone=tenant.alone,
            expected=step,
            worst=tenant.step(worst_s),
            calls=tuple(calls),
            varying=_varying(number, turns),
        )

    def _call(
        self, number: int, key: CallKey, worst: frozenset[Operation], *, expected_s: float, duty: float
    ) -> SharedCall:
        """An operation with the link on which it waits at worst."""
        beside, contention = self._beside[number][key], self._tenants[number].calls.contentions[key]
        assert contention is not None
        alone_s, (worst_s, busiest) = contention.slowest_s, beside.known[worst]
        call = SharedCall(
            group=contention.group,
            op=contention.op,
            algorithm=contention.algorithm,
            size_bytes=contention.size_bytes,
            alone_s=alone_s,
            expected_s=expected_s,
            worst_s=worst_s,
            duty=duty,
        )
        if busiest is None or worst_s <= alone_s * (1 + AGREED):
            return call
        counts = {rival: self._tenants[rival[0]].active[rival[1]].crossing(busiest.link) for rival in worst}
        rival = max(sorted(counts), key=lambda each: counts[each])
        return replace(
            call,
            link=self._fabric.name_of(busiest.link),
            reason=busiest.reason,
            flows=busiest.flows - sum(counts.values()),
            beside=self._tenants[rival[0]].place.job.job,
            beside_operation=" ".join(rival[1][:2]),
            beside_flows=counts[rival],
        )

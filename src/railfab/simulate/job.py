"""A step of a job on a fabric: the closed form, and what the links between switches add to each collective."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from railfab.fabric import Design
from railfab.forwarding import FabricChange
from railfab.intent import Job
from railfab.simulate.details import OperationDetail, OperationWait, operation_detail
from railfab.simulate.exchange import BusyLink, ExchangeTime, HostPorts, exchange
from railfab.simulate.memo import Memo
from railfab.simulate.packets import PacketSample, PacketTier
from railfab.simulate.routed import RoutedFabric, routed
from railfab.simulate.storage_writes import WriteTime, storage_ports, written
from railfab.text.counted import counted
from railfab.topology import Net, Role
from railfab.workload import JobEstimate, RanksByHost, RecordedJob, estimate, transfer_rounds
from railfab.workload.algorithms import ALGORITHMS, TooManyTransfers
from railfab.workload.checkpoints import StorageSide
from railfab.workload.plan import training_plan
from railfab.workload.ranks import GROUPS, Span
from railfab.workload.rates import CallTime, LinkRates, link_rates
from railfab.workload.stages import gpu_nics, hosts_of
from railfab.workload.stragglers import link_factors

TIER = "max-min"
PACKETS = "packets"
NOT_SEEN = (
    "queues, ECN and PFC thresholds",
    "collectives of different groups beside each other",
    "stragglers that the job does not state",
    "other jobs",
)
"""Properties of a fabric that max-min fair rates do not show; packets show the first of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contention:
    """What a fabric adds to a call of a collective [s]: nothing where only NICs and hosts limit it.

    median_s, slowest_s: of the groups; ideal_s, at max-min fair rates. busiest: a BusyLink, and link its name.
    tier: what times are computed with, and why, where that is not what was asked for. sample: what was simulated.
    """

    group: str
    op: str
    algorithm: str
    size_bytes: int
    groups: int
    ideal_s: float
    median_s: float
    slowest_s: float
    link: str = ""
    busiest: BusyLink | None = None
    tier: str = TIER
    why: str = ""
    sample: PacketSample | None = None

    @property
    def extra_s(self) -> float:
        """Time by which the slowest group is later than where only NICs and hosts limit it [s]."""
        return max(0.0, self.slowest_s - self.ideal_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricEstimate:
    """A step on a fabric with one seed of its hashes. unfollowed: operations that are in closed form, and why.

    details: ranks and links of each contention, where they were asked for. slow_links: cables that the job states to be
    slow.
    """

    seed: int
    step: JobEstimate
    contentions: tuple[Contention, ...]
    unfollowed: tuple[str, ...] = ()
    details: tuple[OperationDetail, ...] = ()
    slow_links: int = 0

    def waits(self) -> tuple[OperationWait, ...]:
        """Who waits for which link in each operation with details, the most time in a step first."""
        waits = (
            OperationWait(
                group=detail.group,
                op=detail.op,
                size_bytes=detail.size_bytes,
                seconds=detail.seconds,
                ideal_s=detail.ideal_s,
                extra_s=max(0.0, detail.seconds - detail.ideal_s) * self.calls(detail),
                ranks=detail.slowest_ranks(),
                links=detail.waits,
            )
            for detail in self.details
        )
        return tuple(sorted(waits, key=lambda wait: -wait.extra_s))

    def calls(self, detail: OperationDetail) -> float:
        """Calls of an operation in a step, in calls of the size of a detail."""
        turns = (turn for turn in self.step.collectives if (turn.group, turn.op) == (detail.group, detail.op))
        return sum(turn.calls * turn.size_bytes for turn in turns) / detail.size_bytes


Say = Callable[[str], None]
"""Takes the operation that is followed next."""


@dataclass(slots=True)
class FabricCalls:
    """Durations of collectives on a fabric. groups: ranks of every group by kind. details: None where none are wanted.

    What the fabric adds to a collective is computed for the first size, and is in proportion to the size for others;
    with packets, for each size.
    """

    fabric: RoutedFabric
    hosts: HostPorts
    groups: dict[str, Sequence[Sequence[int]]]
    packets: PacketTier | None = None
    contentions: dict[tuple[str, str, str, int], Contention | None] = field(default_factory=dict)
    unfollowed: list[str] = field(default_factory=list)
    details: list[OperationDetail] | None = None
    say: Say = lambda _: None

    @property
    def tier(self) -> str:
        """What durations are computed with."""
        return TIER if self.packets is None else PACKETS

    @property
    def not_seen(self) -> tuple[str, ...]:
        """Properties of the fabric that durations do not show."""
        return NOT_SEEN if self.packets is None else NOT_SEEN[1:]

    def call(
        self, rates: LinkRates, group: str, op: str, size_bytes: float, span: Span, algorithm: str | None = None
    ) -> CallTime:
        """Duration of one call of every group of a kind at once: that of the slowest group."""
        call = rates.call(op, size_bytes, span, algorithm)
        size = round(size_bytes)
        key = (group, op, call.algorithm, 0 if self.packets is None else size)
        if key not in self.contentions:
            self.contentions[key] = self._contention(group, op, call.algorithm, size, rates.channels(op, span))
        contention = self.contentions[key]
        extra_s = contention.extra_s * size_bytes / contention.size_bytes if contention else 0.0
        return replace(call, seconds=call.seconds + extra_s)

    def write_s(self, host_bytes: Sequence[float], side: StorageSide) -> float:
        """Duration of a checkpoint with these bytes of each host: until the storage has that of the slowest host."""
        if side.net is Net.BACKEND or not storage_ports(self.fabric.links.topology, Role.SERVER):
            self.unfollowed.append("checkpoint is in closed form: the design has no storage servers where it goes")
            return side.write_s(host_bytes)
        hosts = tuple(dict.fromkeys(host for host, _ in self.hosts.gpus))
        result = written(host_bytes, side, hosts, self.fabric)
        key = ("checkpoint", "write", "stripes", round(sum(host_bytes)))
        self.contentions[key] = contention = self._summary(key, result)
        return max(side.write_s(host_bytes), contention.slowest_s)

    def _contention(self, group: str, op: str, algorithm: str, size_bytes: int, channels: int) -> Contention | None:
        """What the fabric adds to a call; None where that is nothing, or not followed."""
        by_hosts: dict[RanksByHost, list[Sequence[int]]] = {}
        for members in self.groups[group]:
            by_hosts.setdefault(_by_host(members, self.hosts), []).append(members)
        if self.hosts.scale_up is not None and all(ranks.hosts == 1 for ranks in by_hosts):
            return None
        is_able = len(by_hosts) == 1 and not ALGORITHMS[op][algorithm].obstacle(next(iter(by_hosts)))
        name = algorithm if is_able else next(iter(ALGORITHMS[op]))
        self.say(f"{group} {op} of {counted(len(self.groups[group]), 'group')}")
        try:
            kinds = [
                (transfer_rounds(op, name, ranks, size_bytes, channels=channels), groups)
                for ranks, groups in by_hosts.items()
            ]
            result = exchange(kinds, self.hosts, self.fabric, self.packets)
        except TooManyTransfers as error:
            self.unfollowed.append(f"{group} {op} is in closed form: {error.problem}")
            return None
        if result is None:
            return None
        if self.details is not None:
            self.details.append(operation_detail(group, op, size_bytes, result, self.hosts, self.fabric))
        return self._summary((group, op, name, size_bytes), result)

    def _summary(self, key: tuple[str, str, str, int], result: ExchangeTime | WriteTime) -> Contention:
        group, op, algorithm, size_bytes = key
        busiest = result.busiest
        sample = result.sample if isinstance(result, ExchangeTime) else None
        return Contention(
            group=group,
            op=op,
            algorithm=algorithm,
            size_bytes=size_bytes,
            groups=len(result.seconds),
            ideal_s=result.ideal_s,
            median_s=float(sorted(result.seconds.tolist())[len(result.seconds) // 2]),
            slowest_s=float(result.seconds.max()),
            link="" if busiest is None else self.fabric.name_of(busiest.link),
            busiest=busiest,
            tier=TIER if sample is None else PACKETS,
            why=result.why if isinstance(result, ExchangeTime) else "",
            sample=sample,
        )


def _by_host(members: Sequence[int], hosts: HostPorts) -> RanksByHost:
    counts: dict[str, int] = {}
    for rank in members:
        host = hosts.gpus[rank][0]
        counts[host] = counts.get(host, 0) + 1
    return RanksByHost(tuple(counts.values()))


def _hosts(job: RecordedJob, design: Design) -> tuple[str, ...]:
    """The first hosts of a design, as many as a recorded job needs."""
    hosts, per_host = [node.name for node in design.topology.hosts()], design.intent.hosts.gpus
    return tuple(hosts[: -(-job.ranks(len(hosts) * per_host) // per_host)])


def simulate_job(
    job: Job | RecordedJob,
    design: Design,
    *,
    seed: int = 1,
    change: FabricChange | None = None,
    fabric: RoutedFabric | None = None,
    details: bool = False,
    say: Say = lambda _: None,
    packets: Memo | None = None,
) -> FabricEstimate:
    """A step of a job on the fabric of a design, whose switches run the configurations of their platforms.

    seed: of the hashes. change: faults. fabric: what `routed` gives for design and change, where it is there already.
    details: keep the ranks and links of each operation. say: takes the operation that is followed next.
    packets: has the packets of collectives simulated, and keeps what comes of them; None: max-min fair rates.
    Raises IntentError, or Problems, for a job that the design cannot run, and RailfabError for a design without
    routes, and for ranks that do not reach each other.
    """
    hosts = hosts_of(job, design.topology) if isinstance(job, Job) else _hosts(job, design)
    gpus_per_host, per_nic = design.intent.hosts.gpus, design.intent.hosts.gpus_per_nic
    gpus = [(host, gpu // per_nic + 1) for host in hosts for gpu in range(gpus_per_host)]
    groups: dict[str, Sequence[Sequence[int]]]
    if not isinstance(job, Job):
        gpus = gpus[: job.ranks(len(gpus))]
        groups = dict(job.groups(len(gpus)))
    elif job.model is None:
        ranks = range(len(gpus))
        rails = [list(ranks[gpu::gpus_per_host]) for gpu in range(0, gpus_per_host, per_nic)]
        groups = {"rail": rails, "all": [list(ranks)]}
    else:
        plan = training_plan(job, hosts=len(hosts), gpus_per_host=gpus_per_host)
        groups = {group: list(plan.ranks.groups(group)) for group in GROUPS}
    ports = HostPorts(gpus=gpus, nics=gpu_nics(design.topology, hosts), scale_up=link_rates(design.intent).scale_up)
    slow = link_factors(job, design.topology) if isinstance(job, Job) else {}
    fabric = (fabric or routed(design, change)).with_slow_links(slow).with_seed(seed)
    kept: list[OperationDetail] | None = [] if details else None
    tier = None if packets is None else PacketTier(fabric, packets)
    calls = FabricCalls(fabric=fabric, hosts=ports, groups=groups, packets=tier, details=kept, say=say)
    step = estimate(job, design.intent, design.topology, calls, calls.write_s)
    contentions = tuple(contention for contention in calls.contentions.values() if contention is not None)
    return FabricEstimate(
        seed=seed,
        step=step,
        contentions=contentions,
        unfollowed=tuple(calls.unfollowed),
        details=tuple(kept or ()),
        slow_links=len(slow) // 2,
    )

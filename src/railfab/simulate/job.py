"""A step of a job on a fabric: the closed form, and what the links between switches add to each collective."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from railfab.fabric import Design
from railfab.fabric.routed import RoutedFabric, routed
from railfab.forwarding import FabricChange
from railfab.intent import Job
from railfab.simulate.contention import PACKETS, TIER, Contention
from railfab.simulate.details import OperationDetail, operation_detail
from railfab.simulate.exchange import ExchangeTime, exchange
from railfab.simulate.memo import Memo
from railfab.simulate.packets import PacketTier
from railfab.simulate.placed import PlacedJob, RankGroups, placed_job
from railfab.simulate.results import FabricEstimate
from railfab.simulate.storage_writes import WriteTime, written
from railfab.text.counted import counted
from railfab.topology import Net, Role
from railfab.workload import RanksByHost, RecordedJob, estimate, transfer_rounds
from railfab.workload.algorithms import ALGORITHMS, TooManyTransfers
from railfab.workload.checkpoints import StorageSide
from railfab.workload.group_flows import one_way
from railfab.workload.mapping import HostPorts, ranks_by_host
from railfab.workload.ranks import Span
from railfab.workload.rates import CallTime, LinkRates
from railfab.workload.recorded.nodes import is_pair
from railfab.workload.storage_stripes import storage_ports

NOT_SEEN = (
    "queues, ECN and PFC thresholds",
    "collectives of different groups beside each other",
    "stragglers that the job does not state",
    "other jobs",
)
"""Properties of a fabric that max-min fair rates do not show; packets show the first of them."""


NEAR_SIZE = 0.1
"""Relative difference of two sizes up to which packets are simulated of one of them."""
Say = Callable[[str], None]
"""Takes the operation that is followed next."""
CallKey = tuple[str, str, str, int]
"""A call of an operation: group, operation, algorithm, and the size that is followed."""


@dataclass(slots=True)
class FabricCalls:
    """Durations of collectives on a fabric. groups: ranks of every group by kind. details, exchanges: None where none
    are wanted. unseen: what max-min fair rates do not show.

    What the fabric adds to a collective is computed for the first size, and is in proportion to the size for others;
    with packets, for sizes that are near to it, if no queue was long.
    """

    fabric: RoutedFabric
    hosts: HostPorts
    groups: RankGroups
    packets: PacketTier | None = None
    contentions: dict[CallKey, Contention | None] = field(default_factory=dict)
    unfollowed: list[str] = field(default_factory=list)
    details: list[OperationDetail] | None = None
    exchanges: dict[CallKey, ExchangeTime] | None = None
    say: Say = lambda _: None
    unseen: tuple[str, ...] = NOT_SEEN

    @property
    def tier(self) -> str:
        """What durations are computed with."""
        return TIER if self.packets is None else PACKETS

    @property
    def not_seen(self) -> tuple[str, ...]:
        """Properties of the fabric that durations do not show."""
        return self.unseen if self.packets is None else self.unseen[1:]

    def call(
        self, rates: LinkRates, group: str, op: str, size_bytes: float, span: Span, algorithm: str | None = None
    ) -> CallTime:
        """Duration of one call of every group of a kind at once: that of the slowest group."""
        call = rates.call(op, size_bytes, span, algorithm)
        size = round(size_bytes)
        key = (group, op, call.algorithm, self._followed_size(group, op, call.algorithm, size))
        if key not in self.contentions:
            self.contentions[key] = self._contention(key, size, rates.channels(op, span))
        contention = self.contentions[key]
        extra_s = contention.extra_s * size_bytes / contention.size_bytes if contention else 0.0
        return replace(call, seconds=call.seconds + extra_s)

    def _followed_size(self, group: str, op: str, algorithm: str, size: int) -> int:
        """The size whose call has been followed and gives the duration of another size; that itself without one."""
        nearness = inf if self.packets is None else NEAR_SIZE
        for (*names, followed), held in self.contentions.items():
            near = abs(size - followed) <= nearness * followed and (held is None or held.is_in_proportion)
            if near and names == [group, op, algorithm]:
                return followed
        return size

    def write_s(self, host_bytes: Sequence[float], side: StorageSide) -> float:
        """Duration of a checkpoint with these bytes of each host: until the storage has that of the slowest host."""
        if side.net is Net.BACKEND or not storage_ports(self.fabric.links.topology, Role.SERVER):
            self.unfollowed.append("checkpoint is in closed form: the design has no storage servers where it goes")
            return side.write_s(host_bytes)
        hosts = tuple(dict.fromkeys(host for host, _ in self.hosts.gpus))
        key = ("checkpoint", "write", "stripes", round(sum(host_bytes)))
        if key not in self.contentions:
            self.contentions[key] = self._summary(key, written(host_bytes, side, hosts, self.fabric))
        contention = self.contentions[key]
        assert contention is not None
        return max(side.write_s(host_bytes), contention.slowest_s)

    def _contention(self, key: CallKey, size_bytes: int, channels: int) -> Contention | None:
        """What the fabric adds to a call; None where that is nothing, or not followed."""
        group, op, algorithm, _ = key
        by_hosts: dict[RanksByHost, list[Sequence[int]]] = {}
        for members in self.groups[group]:
            by_hosts.setdefault(ranks_by_host(members, self.hosts), []).append(members)
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
            if is_pair(group):
                kinds = [(one_way(rounds), groups) for rounds, groups in kinds]
            result = exchange(kinds, self.hosts, self.fabric, self.packets)
        except TooManyTransfers as error:
            self.unfollowed.append(f"{group} {op} is in closed form: {error.problem}")
            return None
        if result is None:
            return None
        if self.exchanges is not None:
            self.exchanges[key] = result
        if self.details is not None:
            self.details.append(operation_detail(group, op, size_bytes, result, self.hosts, self.fabric))
        return self._summary((group, op, name, size_bytes), result)

    def _summary(self, key: CallKey, result: ExchangeTime | WriteTime) -> Contention:
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
    place = placed_job(job, design)
    fabric = (fabric or routed(design, change)).with_slow_links(place.slow_links).with_seed(seed)
    calls = FabricCalls(
        fabric=fabric,
        hosts=place.ports,
        groups=place.groups,
        packets=None if packets is None else PacketTier(fabric, packets, reorders=design.intent.hosts.reorder),
        details=[] if details else None,
        say=say,
    )
    return fabric_estimate(place, design, calls)


def fabric_estimate(place: PlacedJob, design: Design, calls: FabricCalls) -> FabricEstimate:
    """A step of a job with these durations of its collectives."""
    step = estimate(place.job, design.intent, design.topology, calls, calls.write_s)
    contentions = tuple(contention for contention in calls.contentions.values() if contention is not None)
    return FabricEstimate(
        seed=calls.fabric.state.marking.seed,
        step=step,
        contentions=contentions,
        unfollowed=tuple(calls.unfollowed),
        details=tuple(calls.details or ()),
        slow_links=len(place.slow_links) // 2,
        balancing=tuple(sorted(mode.name.lower() for mode in calls.fabric.balancing)),
        reorders=design.intent.hosts.reorder,
    )

"""Comparison of measured collectives with the ceilings of a design: as planned, and with a fault of its hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.host_names import HostNames, short_name
from railfab.fabric.routed import RoutedFabric
from railfab.simulate.contention import COLLISIONS
from railfab.simulate.job import FabricCalls
from railfab.text.counted import counted, listed
from railfab.workload.job_hosts import gpu_nics
from railfab.workload.mapping import HostPorts
from railfab.workload.measured_run import MeasuredRun, MeasuredSize
from railfab.workload.ranks import Span, widest
from railfab.workload.rates import LinkRates, link_rates
from railfab.workload.transfer import Gpu

LEAST_SHARE, MOST_SHARE = 0.85, 1.02
"""Shares of a ceiling between which a run fits it. Published AllReduce and AllGather with 8 H100 a host and 400 Gb/s
have 0.91 to 0.96 of the closed form on 2 and 4 hosts, and 1.00 on one (tests/workload/test_rates.py). docs/measured.md
gives the reason of each threshold."""
LATENCY_SHARE = 0.1
"""Share of latency in the time of a size up to which bandwidth limits it."""
SAME = 0.005
"""Relative difference of two ceilings up to which they are one."""
NETWORK = 0.98
"""Share of the closed form below which links between switches limit a simulated collective."""
DESIGN = "the design"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedRun:
    """A run on GPUs of the plan. gpus: host and rail of each rank. assumed: the plan does not name its hosts."""

    run: MeasuredRun
    gpus: Sequence[Gpu]
    span: Span
    assumed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeCeiling:
    """A size and its ceilings. measured: None where no time was measured. simulated: median of the seeds; None
    without simulation. share: of the latter, or of the closed form, that was measured. limit: of the design, at this
    size: latency, NICs, scale-up or network. wrong: elements with errors.
    """

    size_bytes: int
    measured_bytes_per_s: float | None
    closed_form_bytes_per_s: float
    simulated_bytes_per_s: float | None
    share: float | None
    limit: str
    wrong: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseCeiling:
    """A ceiling of the design with a fault, at the largest size; of several seeds the highest, and the lowest as least.

    share: of it that was measured, in the median of the sizes that bandwidth limits. fits: whether runs with this fault
    measure so.
    """

    cause: str
    bus_bytes_per_s: float
    least_bytes_per_s: float
    share: float
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCeilings:
    """A run and its ceilings. bandwidth_sizes: those that bandwidth limits; from_bytes: the least power of two that
    is such a size."""

    placed: PlacedRun
    sizes: tuple[SizeCeiling, ...]
    causes: tuple[CauseCeiling, ...]
    bandwidth_sizes: tuple[int, ...]
    from_bytes: int | None

    @property
    def design(self) -> CauseCeiling | None:
        return next(iter(self.causes), None)

    @property
    def fitting(self) -> tuple[CauseCeiling, ...]:
        return tuple(cause for cause in self.causes if cause.fits)


def placed_run(run: MeasuredRun, design: Design, names: HostNames) -> PlacedRun:
    """The run on the hosts of the plan, by their names, or on its first hosts if it names none of them.

    Raises RailfabError for hosts and GPUs that the plan does not have.
    """
    intent, planned = design.intent, [host.name for host in design.topology.hosts()]
    of_cluster = names.planned(planned)
    hosts = list(dict.fromkeys(host for host, _ in run.gpus))
    known = {host: of_cluster[short] for host in hosts if (short := short_name(host)) in of_cluster}
    if known and len(known) < len(hosts):
        missing = [host for host in hosts if host not in known]
        problem = f"{listed(missing)}: the plan has no such host"
        raise RailfabError(run.source, problem, "Name the hosts with --hosts, or use the intent of this fabric")
    if len(hosts) > len(planned):
        problem = f"runs on {counted(len(hosts), 'host')}, and the plan has {len(planned)}"
        raise RailfabError(run.source, problem, "Use the intent of this fabric")
    for host, gpu in run.gpus:
        if gpu >= intent.hosts.gpus:
            problem = f"uses GPU {gpu} of {host}, and hosts of the plan have {intent.hosts.gpus}"
            raise RailfabError(run.source, problem, "Use the intent of this fabric")
    places = known or dict(zip(hosts, planned, strict=False))
    gpus = [(places[host], gpu // intent.hosts.gpus_per_nic + 1) for host, gpu in run.gpus]
    span = widest(Span.of(run.gpus[rank][0] for rank in group) for group in run.groups)
    return PlacedRun(run=run, gpus=gpus, span=span, assumed=not known)


def simulated_calls(placed: PlacedRun, design: Design, fabric: RoutedFabric) -> FabricCalls:
    """The collectives of a run on the links of a fabric."""
    hosts = tuple(dict.fromkeys(host for host, _ in placed.gpus))
    return FabricCalls(
        fabric=fabric,
        hosts=HostPorts(
            gpus=placed.gpus, nics=gpu_nics(design.topology, hosts), scale_up=link_rates(design.intent).scale_up
        ),
        groups={"all": placed.run.groups},
    )


def measured_ceilings(placed: PlacedRun, design: Design, simulated: Sequence[FabricCalls] = ()) -> MeasuredCeilings:
    """Compare a run with the ceilings of a design. simulated: one for each seed of the hashes."""
    run, rates = placed.run, _rates(placed.run.op, design)
    kinds = {cause: _Ceiling(placed, each) for cause, each in _faulty(rates, placed.span, design)}
    seeds = [_Ceiling(placed, rates, calls) for calls in simulated]
    seeds = [] if any(seed.is_unfollowed(run.sizes[0].size_bytes) for seed in seeds) else seeds
    built = _Ceiling(placed, rates)
    sizes = tuple(_size(size, built, seeds) for size in run.sizes)
    limited = [size for size in run.sizes if size.valid and built.latency_share(size.size_bytes) <= LATENCY_SHARE]
    return MeasuredCeilings(
        placed=placed,
        sizes=sizes,
        causes=tuple(_causes(limited, built, seeds, kinds)) if limited else (),
        bandwidth_sizes=tuple(size.size_bytes for size in limited),
        from_bytes=built.least_size(),
    )


def _rates(op: str, design: Design) -> LinkRates:
    """The rates of a GPU; in sendrecv, where each rank sends to the next, one GPU of a NIC at most uses it."""
    rates = link_rates(design.intent)
    return replace(rates, nic=design.intent.hosts.gpus_per_nic * rates.nic) if op == "sendrecv" else rates


@dataclass(frozen=True, slots=True)
class _Ceiling:
    """Bus bandwidths that rates allow, or that calls simulate."""

    placed: PlacedRun
    rates: LinkRates
    calls: FabricCalls | None = None

    def bus(self, size_bytes: int) -> float:
        run, span = self.placed.run, self.placed.span
        if self.calls is None:
            seconds = self.rates.call(run.op, size_bytes, span).seconds
        else:
            seconds = self.calls.call(self.rates, "all", run.op, size_bytes, span).seconds
        return run.bus_factor * size_bytes / seconds

    def is_unfollowed(self, size_bytes: int) -> bool:
        """Whether the engine cannot follow the collective, so that its times are those of the closed form."""
        self.bus(size_bytes)
        return self.calls is not None and bool(self.calls.unfollowed)

    def reasons(self) -> Iterator[str]:
        """Why links between switches limit the calls so far."""
        for contention in self.calls.contentions.values() if self.calls is not None else ():
            if contention is not None and contention.busiest is not None:
                yield contention.busiest.reason

    def latency_share(self, size_bytes: int) -> float:
        call = self.rates.call(self.placed.run.op, size_bytes, self.placed.span)
        return call.latency_s / call.seconds

    def least_size(self) -> int | None:
        """The least power of two that bandwidth limits [bytes]."""
        return next((1 << power for power in range(10, 50) if self.latency_share(1 << power) <= LATENCY_SHARE), None)

    def limit(self, size_bytes: int) -> str:
        """What more of would make the call faster."""
        if self.latency_share(size_bytes) > 0.5:
            return "latency"
        faster = replace(self, rates=replace(self.rates, nic=2 * self.rates.nic))
        return "NICs" if faster.bus(size_bytes) > (1 + SAME) * self.bus(size_bytes) else "scale-up"


def _size(size: MeasuredSize, built: _Ceiling, seeds: Sequence[_Ceiling]) -> SizeCeiling:
    closed = built.bus(size.size_bytes)
    simulated = median(seed.bus(size.size_bytes) for seed in seeds) if seeds else None
    limit = built.limit(size.size_bytes)
    return SizeCeiling(
        size_bytes=size.size_bytes,
        measured_bytes_per_s=size.bus_bytes_per_s,
        closed_form_bytes_per_s=closed,
        simulated_bytes_per_s=simulated,
        share=None if size.bus_bytes_per_s is None else size.bus_bytes_per_s / (simulated or closed),
        limit="network" if limit != "latency" and simulated is not None and simulated < NETWORK * closed else limit,
        wrong=size.wrong,
    )


def _faulty(rates: LinkRates, span: Span, design: Design) -> Iterator[tuple[str, LinkRates]]:
    """The rates of hosts with a fault each."""
    hosts = design.intent.hosts
    nics = span.ranks_per_host // hosts.gpus_per_nic
    if span.hosts > 1 and nics > 1 and rates.scale_up is not None:
        for cause, missing in (("a rail missing", 1), ("half of the NICs", nics // 2), ("one NIC of a host", nics - 1)):
            yield cause, replace(rates, missing=missing * hosts.gpus_per_nic)
    if span.hosts > 1:
        yield "NICs at half of their rate", replace(rates, nic=rates.nic / 2)
    if rates.scale_up is not None and span.ranks_per_host > 1:
        if rates.generation is not None and rates.generation.nvls is not None:
            yield "no NVLS in the hosts", replace(rates, generation=replace(rates.generation, nvls=None))
        yield "no scale-up network in the hosts", replace(rates, scale_up=None)


@dataclass(frozen=True, slots=True)
class _Range:
    """Causes with one ceiling, from the fastest seed to the slowest."""

    causes: list[str]
    fastest: _Ceiling
    slowest: _Ceiling

    def cause(self, sizes: Sequence[MeasuredSize]) -> CauseCeiling:
        largest = sizes[-1].size_bytes
        share, most = (
            median((size.bus_bytes_per_s or 0.0) / ceiling.bus(size.size_bytes) for size in sizes)
            for ceiling in (self.fastest, self.slowest)
        )
        return CauseCeiling(
            cause=" or ".join(self.causes),
            bus_bytes_per_s=self.fastest.bus(largest),
            least_bytes_per_s=self.slowest.bus(largest),
            share=share,
            fits=share <= MOST_SHARE and most >= LEAST_SHARE,
        )


def _causes(
    sizes: Sequence[MeasuredSize], built: _Ceiling, seeds: Sequence[_Ceiling], kinds: Mapping[str, _Ceiling]
) -> Iterator[CauseCeiling]:
    """The ceilings, that of the design first, then from the highest on; causes of one ceiling are one."""
    largest = sizes[-1].size_bytes
    design, *collisions = _ranges(largest, built, seeds)
    most = design.fastest.bus(largest)
    lower = [_Range([cause], kind, kind) for cause, kind in kinds.items() if kind.bus(largest) < most]
    merged = [design]
    for each in sorted((*collisions, *lower), key=lambda each: -each.fastest.bus(largest)):
        last = merged[-1]
        same = last.fastest is last.slowest and each.fastest is each.slowest
        if same and last is not design and last.fastest.bus(largest) * (1 - SAME) <= each.fastest.bus(largest):
            last.causes.extend(each.causes)
        else:
            merged.append(each)
    yield from (each.cause(sizes) for each in merged)


def _ranges(largest: int, built: _Ceiling, seeds: Sequence[_Ceiling]) -> Iterator[_Range]:
    """The design, and the collisions of hashes that it may have. Where its links are too few, these are one."""
    slower = [seed for seed in seeds if seed.bus(largest) < NETWORK * built.bus(largest)]
    by_speed = sorted(slower, key=lambda seed: -seed.bus(largest))
    if not by_speed:
        yield _Range([DESIGN], built, built)
        return
    slowed = {reason for seed in slower for reason in seed.reasons()}
    if slowed <= {COLLISIONS}:
        yield _Range([DESIGN], built, built)
        cause = f"ECMP collisions ({len(slower)} of {counted(len(seeds), 'seed')})"
        yield _Range([cause], by_speed[0], by_speed[-1])
    else:
        why = next(iter(sorted(slowed - {COLLISIONS})))
        yield _Range([f"{DESIGN} ({why})"], by_speed[0], by_speed[-1])


def nearest_cause(ceilings: MeasuredCeilings, ratio: float) -> tuple[CauseCeiling, float] | None:
    """The cause whose ceiling is this part of the design's, as nearly as any, and its part; None without causes."""
    if not ceilings.causes:
        return None
    whole = ceilings.causes[0].bus_bytes_per_s
    parts = [(cause, cause.bus_bytes_per_s / whole) for cause in ceilings.causes[1:]]
    return min(parts, key=lambda part: abs(part[1] - ratio), default=None)

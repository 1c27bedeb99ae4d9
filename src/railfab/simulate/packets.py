"""The packet tier: collectives of several groups at once, by components whose packets are simulated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from railfab.errors import RailfabError
from railfab.fabric.routed import RoutedFabric
from railfab.sim import Balancing
from railfab.sim.fast_forward import NEVER
from railfab.simulate.canonical import canonical, numbered
from railfab.simulate.component_groups import ComponentGroups, FairTimes
from railfab.simulate.components import Component, Split
from railfab.simulate.contention import PacketSample
from railfab.simulate.memo import Memo
from railfab.simulate.network_colours import NetworkColours
from railfab.simulate.ordered import Carriers, Floats, Numbers
from railfab.simulate.packet_run import FRAMING, PacketOutcome, PacketSettings, UnfinishedRun, run_packets
from railfab.simulate.queue_series import QueueRecorder, QueueSeries
from railfab.workload import TransferRounds

LEAST_ROUNDS = 4
"""Equal rounds in a row that are always simulated; from them and half of them the time of the rest follows."""
WHOLE_HOPS = 20_000_000
"""Packets times links up to which all rounds of a component are simulated."""
MOST_HOPS = 60_000_000
"""Packets times links of a component, from which on a part of each payload is simulated, in runs of up to so many."""
TOTAL_HOPS = 300_000_000
"""Packets times links of an operation, from which on components are sampled."""
MOST_FLOWS = 100_000
"""Flows of a component that are simulated, those of all of its rounds."""
LEAST_PACKETS = 32
"""Packets of a flow in the mean, below which a part of its payload says nothing about the rest."""
STEADY = 0.02
"""Relative difference of two rates in a row that counts as none."""
STANDARD_ERROR = 0.01
"""Relative standard error of the mean of sampled components at which sampling ends."""
LEAST_SAMPLE = 4
DEVIATIONS = 2.0
"""Standard deviations above the mean ratio with which a component may be the slowest, so that it is simulated, too."""


class NotSimulated(Exception):
    """An operation whose packets are not simulated; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ComponentTime:
    """Times of a component. key: of its form. seconds: (carrier,) when the last simulated flow of each ends [s].

    early_s: (carrier,) the same of the first half of equal rounds; later_rounds: those not simulated over the others.
    """

    key: str
    seconds: Floats
    outcome: PacketOutcome
    early_s: Floats
    later_rounds: float = 0.0

    def group_seconds(self, group: Numbers) -> Floats:
        """When each group has ended [s], (group,), whose other rounds take as long as those of the second half.

        group: (carrier,) from 0.
        """
        seconds, early_s = np.zeros((2, int(group.max()) + 1))
        np.maximum.at(seconds, group, self.seconds)
        np.maximum.at(early_s, group, self.early_s)
        ends: Floats = seconds + (seconds - early_s) * self.later_rounds
        return ends


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PacketTimes:
    """An operation in packets. seconds: (group,) when each has ended [s]. queues: runs its slowest component again."""

    seconds: Floats
    sample: PacketSample
    queues: Callable[[], QueueSeries]


@dataclass(eq=False)
class PacketTier:
    """Runs components on a fabric. memo: of their results. whole: all flows of an operation at once, each packet of
    every round, without memo and sampling, which the rest is measured against. reorders: as of PacketSettings."""

    fabric: RoutedFabric
    memo: Memo = field(default_factory=lambda: Memo(None))
    whole: bool = False
    reorders: bool = False
    _times: dict[bytes, _ComponentTime] = field(default_factory=dict)

    @property
    def settings(self) -> PacketSettings:
        """Settings of all runs."""
        return PacketSettings(reorders=self.reorders, seed=self.fabric.state.marking.seed)

    @cached_property
    def colours(self) -> NetworkColours:
        """Digests of the links and nodes of the fabric."""
        return NetworkColours.of(self.fabric.network)

    def seconds(
        self, rounds: TransferRounds, carriers: Carriers, group_of: Numbers, fair: FairTimes, scale_up: float | None
    ) -> PacketTimes:
        """When each group has ended, and what was simulated for it.

        group_of: (transfer,). scale_up: of a rank [bytes/s].
        Raises NotSimulated, and RailfabError for packets that wait for each other.
        """
        modes = self.fabric.balancing
        if Balancing.FLOW in modes and len(modes) > 1:
            raise NotSimulated("some switches choose links for each flow, and others for each packet or burst")
        split = Split(
            rounds=rounds,
            carriers=carriers,
            capacity=self.fabric.payload_bytes_per_s,
            peak=fair.peak,
            delay_s=_delays(rounds, carriers, self.fabric.links_count, scale_up),
            network=self.colours,
            whole=self.whole,
        )
        return _Sampling(self, split, group_of[carriers.transfer], fair).result()

    def is_known(self, split: Split, component: int) -> bool:
        """Whether a component like this one was simulated on this fabric before."""
        return split.digest(component) in self._times

    def time(self, split: Split, component: int, estimate_s: float) -> _ComponentTime:
        """Times of a component. estimate_s: about how long it takes."""
        digest = split.digest(component)
        if digest not in self._times:
            self._times[digest] = self._simulated(split, component, estimate_s)
        return self._times[digest]

    def _simulated(self, split: Split, number: int, estimate_s: float) -> _ComponentTime:
        """Simulate a component: the rounds beyond the first ones take as long as the last of these."""
        active = [(times, len(transfers)) for times, transfers in split.rounds_of(number)[0].intervals()]
        intervals = [times for times, _ in active]
        followed, _ = self._followed(split, number)
        flows = sum(min(times, followed) * transfers for times, transfers in active)
        if flows > MOST_FLOWS and not self.whole:
            raise NotSimulated(f"a component has {flows:,} transfers")
        many, few = (partial(min, count) for count in (followed, followed // 2))
        key, ends_s, outcome = self._carrier_ends(split, split.component(number, many), estimate_s)
        seconds = np.array([ends.max() for ends in ends_s])
        left = sum(max(0, times - followed) for times in intervals)
        if not left:
            return _ComponentTime(key=key, seconds=seconds, early_s=seconds, outcome=outcome)
        if len(intervals) == 1:
            early_s = np.array([ends[: len(ends) // 2].max() for ends in ends_s])
        else:
            _, ends_s, _ = self._carrier_ends(split, split.component(number, few), estimate_s)
            early_s = np.array([ends.max() for ends in ends_s])
        repeated = sum(times > followed for times in intervals)
        later = left / (repeated * (followed - followed // 2))
        return _ComponentTime(key=key, seconds=seconds, early_s=early_s, later_rounds=later, outcome=outcome)

    def _followed(self, split: Split, number: int) -> tuple[int, int]:
        """Equal rounds in a row of a component that are simulated, and all of them."""
        longest = max(times for times, _ in split.rounds_of(number)[0].intervals())
        hops = split.packet_hops(number, FRAMING.payload_bytes)
        if hops <= WHOLE_HOPS or self.whole:
            return longest, longest
        return min(longest, max(LEAST_ROUNDS, int(WHOLE_HOPS * longest / hops))), longest

    def queues(self, split: Split, number: int, estimate_s: float) -> QueueSeries:
        """The queues of a component over time, in a run of its own. estimate_s: about how long it takes."""
        followed, longest = self._followed(split, number)
        component = split.component(number, partial(min, followed))
        share = min(1.0, MOST_HOPS / component.packet_hops(FRAMING.payload_bytes))
        parts = [f"{followed:,} of {longest:,} rounds"] if followed < longest else []
        if share < 1:
            component, parts = component.scaled(share), [*parts, f"{100 * share:.1f} % of the payload"]
        recorder, form = QueueRecorder(), canonical(component, split.colours)
        run_packets(form, self.fabric.network, estimate_s * share, self.settings, advance=recorder.run)
        return recorder.series(form.links, ", ".join(parts))

    def _carrier_ends(
        self, split: Split, component: Component, estimate_s: float
    ) -> tuple[str, list[Floats], PacketOutcome]:
        """The key of the form of a component, when flows of each carrier end [s], in their order, and the outcome."""
        key, ends_ns, outcome = self._ends(component, split.colours, estimate_s)
        flows = np.argsort(component.carrier, kind="stable")
        carrier = component.carrier[flows]
        first = int(np.searchsorted(carrier, 0))
        begins = first + np.flatnonzero(np.diff(carrier[first:])) + 1
        return key, np.split(ends_ns[flows] / 1e9, [first, *begins])[1:], outcome

    def _ends(
        self, component: Component, colours: NetworkColours, estimate_s: float
    ) -> tuple[str, Floats, PacketOutcome]:
        """The key of the form of a component, (flow,) when each of its flows ends [ns], and the outcome.

        Of long flows a part is simulated, if they are steady then.
        """
        hops = component.packet_hops(FRAMING.payload_bytes)
        if hops <= MOST_HOPS or self.whole:
            return self._run(component, colours, estimate_s)
        share = MOST_HOPS / hops
        crossing = component.payload_bytes[component.payload_bytes > 0]
        if share * crossing.mean() / 4 < LEAST_PACKETS * FRAMING.payload_bytes:
            raise NotSimulated(f"a component has {len(crossing):,} flows, and {hops:,} packets times links")
        runs = [self._run(component.scaled(part), colours, estimate_s * part) for part in (share / 4, share / 2, share)]
        first, middle, last = (ends.max() for _, ends, _ in runs)
        early, late = (middle - first) / (share / 4), (last - middle) / (share / 2)
        if abs(early / late - 1) > STEADY:
            raise NotSimulated(f"rates are not steady after {100 * share:.1f} % of the payload")
        key, ends, outcome = runs[2]
        return key, ends + (1 - share) * (ends - runs[1][1]) / (share / 2), outcome

    def _run(
        self, component: Component, colours: NetworkColours, estimate_s: float
    ) -> tuple[str, Floats, PacketOutcome]:
        network, settings = self.fabric.network, self.settings
        try:
            if self.whole:
                form = numbered(component, colours, np.arange(len(component.carrier)))
                outcome = run_packets(form, network, estimate_s, settings, NEVER)
            else:
                form = canonical(component, colours)
                key = settings.key(form)
                outcome = self.memo.outcome(key, lambda: run_packets(form, network, estimate_s, settings))
        except UnfinishedRun as error:
            where = ", ".join(map(self.fabric.name_of, error.links)) or "packets"
            remedy = "Look at PFC and the routes there, or use --tier max-min"
            raise RailfabError(where, error.problem, remedy) from None
        ends = np.empty(len(form.order))
        ends[form.order] = outcome.ends_ns
        return form.key, ends, outcome


class _Sampling:
    """The components of an operation, of which as many are simulated as are needed: some at random, until the mean of
    their times over those at max-min fair rates is known, and those that may be the slowest. group_of: (carrier,).
    """

    def __init__(self, tier: PacketTier, split: Split, group_of: Numbers, fair: FairTimes) -> None:
        self._tier, self._split, self._fair = tier, split, fair
        self._groups = [ComponentGroups.of(members, group_of, fair) for members in split.members]
        self._times: list[_ComponentTime] = []
        self._ratios: list[Floats] = []
        self._seconds = np.zeros(len(fair.seconds))
        self._slowest = (0, 0.0)

    def result(self) -> PacketTimes:
        """When each group has ended, and what was simulated for it."""
        left = []
        samples = not self._tier.whole and self._total_hops() > TOTAL_HOPS
        for number in self._order():
            if samples and self._is_precise() and not self._tier.is_known(self._split, number):
                left.append(number)
            else:
                self._simulate(number)
        for number in sorted(left, key=lambda number: -self._groups[number].slowest_s):
            if self._may_be_slowest(number):
                self._simulate(number)
            else:
                self._set(number, self._groups[number].expected(self._ratios))
        return PacketTimes(
            seconds=np.where(self._seconds > 0, self._seconds, self._fair.seconds),
            sample=self._sample(),
            queues=partial(self._tier.queues, self._split, *self._slowest),
        )

    def _simulate(self, component: int) -> None:
        groups = self._groups[component]
        time = self._tier.time(self._split, component, groups.slowest_s)
        ends = time.group_seconds(groups.place)
        self._times.append(time)
        self._ratios.append(groups.ratios(ends))
        self._slowest = max(self._slowest, (component, float(ends.max())), key=lambda each: each[1])
        self._set(component, ends)

    def _set(self, component: int, ends: Floats) -> None:
        """Have groups end with a component, or with a later one. ends: (group of it,) [s]."""
        groups = self._groups[component].numbers
        self._seconds[groups] = np.maximum(self._seconds[groups], ends)

    def _may_be_slowest(self, component: int) -> bool:
        """Whether a component would be the slowest if it were late, in comparison with those that were simulated."""
        ratios = self._slowest_ratios
        late = float(np.mean(ratios)) + DEVIATIONS * float(np.std(ratios, ddof=1))
        return bool(self._groups[component].slowest_s * late > self._seconds.max())

    def _total_hops(self) -> float:
        return sum(self._split.packet_hops(number, FRAMING.payload_bytes) for number in range(len(self._groups)))

    def _order(self) -> list[int]:
        """The component that is slowest at max-min fair rates, then the others at random."""
        slowest = int(np.argmax([groups.slowest_s for groups in self._groups]))
        rest = np.random.default_rng(1).permutation(len(self._groups)).tolist()
        return [slowest, *(number for number in rest if number != slowest)]

    def _is_precise(self) -> bool:
        """Whether the mean of the ratios is known well enough."""
        enough = len(self._ratios) >= LEAST_SAMPLE
        return enough and self._standard_error() <= STANDARD_ERROR * float(np.mean(self._slowest_ratios))

    @property
    def _slowest_ratios(self) -> list[float]:
        """Times of the slowest groups of components over those at max-min fair rates."""
        return [float(ratios[-1]) for ratios in self._ratios]

    def _standard_error(self) -> float:
        """Standard error of the mean of the ratios, of a sample without replacement."""
        simulated, components = len(self._ratios), len(self._groups)
        if simulated == components or simulated < LEAST_SAMPLE:
            return 0.0
        return float(np.std(self._slowest_ratios, ddof=1)) * sqrt((1 - simulated / components) / simulated)

    def _sample(self) -> PacketSample:
        ratios = self._slowest_ratios
        return PacketSample(
            components=len(self._groups),
            simulated=len(self._times),
            kinds=len({time.key for time in self._times}),
            ratio=float(np.mean(ratios)),
            least_ratio=min(ratios),
            most_ratio=max(ratios),
            standard_error=self._standard_error(),
            marked=sum(time.outcome.marked for time in self._times),
            pauses=sum(time.outcome.pauses for time in self._times),
            dropped=sum(time.outcome.dropped for time in self._times),
        )


def _delays(rounds: TransferRounds, carriers: Carriers, links: int, scale_up: float | None) -> Floats:
    """(carrier,) durations of those that stay on a scale-up network [s], which those of a round share."""
    paths = carriers.paths[carriers.route]
    inside: NDArray[np.bool_] = paths >= links
    begin = rounds.table["begin"][carriers.transfer].astype(np.int64)
    place, hop = np.nonzero(inside)
    keys = begin[place] * (int(paths.max(initial=0)) + 1) + paths[place, hop]
    _, number = np.unique(keys, return_inverse=True)
    sharing = np.bincount(number, carriers.alike[place])[number] if len(keys) else np.zeros(0)
    most = np.zeros(len(paths))
    np.maximum.at(most, place, sharing)
    payload = carriers.share * rounds.payload_bytes[carriers.transfer]
    return carriers.latency_s + payload * most / (scale_up or inf)

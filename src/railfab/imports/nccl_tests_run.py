"""The run that results of nccl-tests are of: its GPUs, and the times of each size.

Source: NVIDIA/nccl-tests 2.19.6 (a0b82b2), src/util.cu and src/common.cu, whose JSON has format version 3.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from railfab.imports.existing import SourceError
from railfab.text.counted import counted, listed
from railfab.workload.measured_run import HostGpu, MeasuredRun, MeasuredSize, MeasuredTime
from railfab.workload.operations import OPERATIONS

OTHER_FILE = "Name the output of nccl-tests, as text or as JSON (-J)"
PROGRAMS: Mapping[str, str] = {
    "all_reduce": "allreduce",
    "all_gather": "allgather",
    "reduce_scatter": "reducescatter",
    "alltoall": "alltoall",
    "broadcast": "broadcast",
    "sendrecv": "sendrecv",
}
"""Operations by the names of the programs, without _perf, that railfab has a ceiling for."""


@dataclass(frozen=True, slots=True)
class RankDevice:
    """A rank, and its GPU: number of CUDA and address on the PCI bus."""

    rank: int
    group: int
    host: str
    device: int
    bus: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """A half of a row of results. seconds: mean of the iterations; None where only the time of the processor was
    printed. bus_bytes_per_s: as printed. Others as in MeasuredTime.
    """

    where: str
    size_bytes: int
    in_place: bool
    seconds: float | None
    bus_bytes_per_s: float
    wrong: float | None
    variation: float | None = None


LEAST_COMPARED, TOLERANCE = 1e9, 0.02
"""Bandwidth from which two decimals tell whether it is that of the time [bytes/s], and how near it must be."""


def operation(where: str, program: str) -> str:
    """The operation of a program. Raises SourceError for one without ceiling."""
    name = Path(program).name.removesuffix("_perf")
    if name not in PROGRAMS:
        raise SourceError(where, f"railfab has no ceiling for {name}", f"Use a run of {listed([*PROGRAMS])}")
    return PROGRAMS[name]


def measured_run(
    path: Path, op: str, devices: Sequence[RankDevice], rows: Sequence[ResultRow], iterations: int | None
) -> MeasuredRun:
    """A run of these devices. Raises SourceError for ranks that cannot be."""
    if not rows:
        raise SourceError(str(path), "has no results", OTHER_FILE)
    groups = _groups(str(path), devices)
    factor = OPERATIONS[op].bus_factor(len(groups[0]))
    sizes: dict[int, list[MeasuredTime]] = defaultdict(list)
    for row in rows:
        sizes[row.size_bytes].append(_measurement(row, factor, len(groups[0])))
    return MeasuredRun(
        source=path.name,
        op=op,
        gpus=_gpus(str(path), devices),
        groups=groups,
        iterations=iterations,
        sizes=[MeasuredSize(size_bytes=size, measurements=tuple(sizes[size])) for size in sorted(sizes)],
    )


def _measurement(row: ResultRow, factor: float, ranks: int) -> MeasuredTime:
    """A measurement, whose bandwidth is that of its time: printed ones have two decimals."""
    bus = row.bus_bytes_per_s
    if row.seconds:
        bus = factor * row.size_bytes / row.seconds
        printed = row.bus_bytes_per_s
        if min(bus, printed) > LEAST_COMPARED and abs(bus / printed - 1) > TOLERANCE:
            problem = f"a bus bandwidth of {printed / 1e9:.2f} GB/s is not that of {counted(ranks, 'rank')}"
            raise SourceError(row.where, problem, "Give the whole output, with a line `#  Rank ...` for each GPU")
    return MeasuredTime(
        in_place=row.in_place,
        bus_bytes_per_s=bus,
        wrong=row.wrong,
        variation=row.variation,
    )


def _groups(where: str, devices: Sequence[RankDevice]) -> list[list[int]]:
    """The ranks of each group, that of rank 0 first."""
    ranks = [device.rank for device in devices]
    listed_ranks = frozenset(ranks)
    missing = next(rank for rank in range(len(ranks) + 1) if rank not in listed_ranks)
    if missing < len(ranks) or not ranks:
        problem = f"does not list rank {missing}"
        raise SourceError(where, problem, "Give the whole output, with a line `#  Rank ...` for each GPU")
    groups: dict[int, list[int]] = {}
    for device in sorted(devices, key=lambda device: device.rank):
        groups.setdefault(device.group, []).append(device.rank)
    lengths = sorted({len(group) for group in groups.values()})
    if len(lengths) > 1:
        sizes = " and ".join(map(str, lengths))
        raise SourceError(where, f"its groups have {sizes} ranks", "Use NCCL_TESTS_SPLIT with a divisor of the ranks")
    return list(groups.values())


def _gpus(where: str, devices: Sequence[RankDevice]) -> list[HostGpu]:
    """The GPU of each rank: CUDA's number, or its position on the PCI bus where each process sees its own GPU as 0."""
    by_host: dict[str, list[RankDevice]] = defaultdict(list)
    for device in devices:
        by_host[device.host].append(device)
    gpus: dict[int, HostGpu] = {}
    for host, of_host in by_host.items():
        numbers = [device.device for device in of_host]
        if len({*numbers}) < len(numbers):
            order = sorted({device.bus for device in of_host})
            numbers = [order.index(device.bus) for device in of_host]
        number, times = Counter(numbers).most_common(1)[0]
        if times > 1:
            problem = f"{counted(times, 'rank')} of {host} are on GPU {number}"
            raise SourceError(where, problem, "Use a run with a GPU for each rank")
        gpus.update((device.rank, (host, gpu)) for device, gpu in zip(of_host, numbers, strict=True))
    return [gpus[rank] for rank in range(len(devices))]

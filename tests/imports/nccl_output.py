"""Output of nccl-tests 2.19.6 for given times; tests/reference/nccl_tests has what its own code prints for some."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from railfab.imports.nccl_tests_run import PROGRAMS
from railfab.workload.operations import OPERATIONS

HEADINGS = """\
#
#                                                              out-of-place                       in-place          
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong 
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         
"""  # noqa: W291
NAME = "NVIDIA H100 80GB HBM3"


@dataclass(frozen=True)
class Row:
    """A size, and the time of both halves [us]. wrong: of each half; None: not checked."""

    size_bytes: int
    times_us: tuple[float, float]
    wrong: tuple[float | None, float | None] = (0, 0)


@dataclass(frozen=True)
class Output:
    """A run of an operation with a process a host, whose GPUs have the first numbers."""

    op: str
    hosts: Sequence[str]
    rows: Sequence[Row]
    gpus: int = 8

    @property
    def program(self) -> str:
        return next(program for program, op in PROGRAMS.items() if op == self.op) + "_perf"

    @property
    def factor(self) -> float:
        return OPERATIONS[self.op].bus_factor(len(self.hosts) * self.gpus)

    def text(self) -> str:
        devices = "".join(
            f"#  Rank {rank:2} Group  0 Pid {4000 + rank // self.gpus:6} on {self.hosts[rank // self.gpus]:>10} device "
            f"{rank % self.gpus:2} [0000:{27 + 3 * (rank % self.gpus):02x}:00] {NAME}\n"
            for rank in range(len(self.hosts) * self.gpus)
        )
        wrong = sum((half or 0) > 0 for row in self.rows for half in row.wrong)
        rates = [size_gb(row) / time * self.factor for row in self.rows for time in row.times_us]
        return (
            "# nccl-tests version 2.19.6 nccl-headers=22307 nccl-library=22307\n"
            f"# Collective test starting: {self.program}\n"
            f"# nThread 1 nGpus {self.gpus} minBytes 1048576 maxBytes 17179869184 step: 2(factor) warmup iters: 1 "
            "iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0\n"
            f"#\n# Using devices\n{devices}{HEADINGS}{''.join(self._line(row) for row in self.rows)}"
            f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}\n"
            f"# Avg bus bandwidth    : {sum(rates) / len(rates):g} \n"
            f"#\n# Collective test concluded: {self.program}\n#\n\n"
        )

    def _line(self, row: Row) -> str:
        halves = ""
        for time, wrong in zip(row.times_us, row.wrong, strict=True):
            rate = size_gb(row) / time
            numbers = "  ".join((cell(time, 7), cell(rate, 6), cell(rate * self.factor, 6)))
            halves += f"  {numbers}  {'  N/A' if wrong is None else format(wrong, '6g'):>6}"
        return f"{row.size_bytes:12}  {row.size_bytes // 4:12}     float     sum      -1{halves}\n"

    def json(self) -> str:
        return json.dumps(self.document())

    def document(self) -> dict[str, Any]:
        """As version 3 has it: booleans and NaN are texts, and of a process there is the first GPU."""
        return {
            "version": 3,
            "args": [f"/usr/bin/{self.program}"],
            "config": {
                "nthreads": 1,
                "ngpus": self.gpus,
                "iterations": 20,
                "blocking_collectives": "false",
                "devices": [
                    {"rank": self.gpus * n, "group": 0, "hostname": host, "device": 0, "device_hex": "0000:1b:00"}
                    for n, host in enumerate(self.hosts)
                ],
            },
            "results": [self._result(row) for row in self.rows],
            "average_bus_bandwidth": {"bandwidth": 1.0, "okay": "unchecked"},
        }

    def _result(self, row: Row) -> dict[str, Any]:
        result: dict[str, Any] = {"size": row.size_bytes, "count": row.size_bytes // 4, "root": "    -1"}
        for name, time, wrong in zip(("out_of_place", "in_place"), row.times_us, row.wrong, strict=True):
            rate = size_gb(row) / time
            half = {"time": time, "alg_bw": rate, "bus_bw": rate * self.factor, "nwrong": wrong}
            result[name] = {key: "nan" if value is not None and isnan(value) else value for key, value in half.items()}
        return result


def size_gb(row: Row) -> float:
    """Bytes over 1000, which over a time [us] are GB/s."""
    return row.size_bytes / 1e3


def cell(value: float, width: int) -> str:
    """A number in a column: as many decimals as fit, at most two."""
    texts = (f"{value:{width}.{decimals}f}" for decimals in (2, 1, 0))
    return next((text for text in texts if len(text) <= width), f"{value:{width}.{1 if width > 6 else 0}e}")


def at_rates(
    op: str, hosts: Sequence[str], rates: Iterable[tuple[int, float]], gpus: int = 8, spread: float = 0.002
) -> Output:
    """Output with these bus bandwidths [bytes/s] by size; in-place is faster by a part that differs by size."""
    factor = OPERATIONS[op].bus_factor(len(hosts) * gpus)
    rows = []
    for number, (size, rate) in enumerate(rates):
        time = factor * size / rate * 1e6
        rows.append(Row(size, (time * (1 + spread * (number % 3 - 1)), time * (1 - spread * (number % 2)))))
    return Output(op, hosts, rows, gpus)

"""What the collector costs: CPU of its process per million updates and per scrape, its memory, and that of others.

A replay server streams on one core, and what is measured runs on another: `fast` and `grpc` are the collector with
either receiver, `interpreted` is `fast` without numba, `floor` is grpcio handing over bytes at which nobody looks, and
`gnmic` runs where it is on PATH. They take turns in each round, and each is scraped, with gzip, every 10 s.

    python benchmarks/bench_collector.py --write                # every bar, three rounds, the page too: about an hour
    python benchmarks/bench_collector.py --quick                # one round of 5 s each: about 10 minutes
    python benchmarks/bench_collector.py --only paced trickle --kinds fast gnmic
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median

from collector_processes import GNMIC, Replay, Running, collector, replay
from measured import machine

PAGE = Path(__file__).with_name("collector.md")
FIGURES = re.compile(r"(?<=<!-- figures -->\n).*(?=<!-- end -->)", re.DOTALL)
QUICK_S, QUIET_LOAD = 5.0, 2.5
WARM_S, WARM_PER_TARGET_S = 4.0, 0.2
SCRAPE_S = 10.0
MILLION_SERIES = 1_048_576
RIVALS = ("gnmic",) if GNMIC else ()
SCRAPES = 3
SCRAPE_CPU, STATE, PEAK, READY = "CPU-s a scrape", "MB per 100,000 series", "peak MB", "CPU-s until ready"
PER_MILLION, CORE = "CPU-s per million updates", "% of a core"
Figures = dict[str, float]
Found = dict[str, dict[str, list[float]]]
"""Of one work: figures of each round, by kind of collector and what was measured."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The most that a figure of a kind may be: a factor of a rival's, or a number. Source: issue 14."""

    kind: str
    figure: str
    factor: float
    rival: str | None = None

    def row(self, title: str, found: Found) -> str:
        """A row of the report."""
        compared = found.get(self.rival, {}).get(self.figure, []) if self.rival else [1.0]
        values = found.get(self.kind, {}).get(self.figure, [])
        bar = f"{self.rival} {_factor(self.factor)}" if self.rival else f"{self.factor:,g}"
        if not compared or not values:
            return f"| {title} | {self.kind}, {self.figure} | {bar} | | not measured |"
        value, other = median(values), median(compared)
        against = f" ({self.rival} {_factor(value / other)})" if self.rival else ""
        verdict = "met" if value <= self.factor * other else "**missed**"
        return f"| {title} | {self.kind}, {self.figure} | {bar} | {value:,.3g}{against} | {verdict} |"


def _factor(value: float) -> str:
    return f"x {value:.3g}" if value >= 0.5 else f"/ {1 / value:.3g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is measured. server: arguments of the replay server. kinds: what takes turns."""

    title: str
    server: tuple[str, ...]
    kinds: tuple[str, ...]
    bars: tuple[Bar, ...] = ()
    measure: Callable[[str, Replay, Path, float], Figures]
    targets: int = 1
    tls: bool = False


def streamed(kind: str, served: Replay, folder: Path, seconds: float) -> Figures:
    """CPU time while it streams, scrapes included: its share of the measured time, and per update since it began."""
    with collector(kind, served, folder) as running:
        time.sleep(WARM_S + WARM_PER_TARGET_S * len(served.targets))
        began_s, cpu_s = time.monotonic(), running.cpu_s()
        scrape_at_s = min(SCRAPE_S, seconds) / 2
        while (now_s := time.monotonic() - began_s) < seconds:
            if now_s >= scrape_at_s:
                scrape_at_s += SCRAPE_S
                if kind != "floor":
                    running.scrape()
            time.sleep(max(0.0, min(scrape_at_s, seconds) - (time.monotonic() - began_s)))
        share = (running.cpu_s() - cpu_s) / (time.monotonic() - began_s)
        figures = {CORE: share * 100, PEAK: running.memory_mb("VmHWM")} | _ready(running)
        used_s = running.cpu_s() - (running.ready_cpu_s or 0.0)
    served.wait_for(len(served.targets), 30.0)
    sent = sum(stream["updates"] for stream in served.ended)
    rate = sum(stream["updates"] / stream["seconds"] for stream in served.ended)
    return figures | {PER_MILLION: used_s / sent * 1e6, "updates/s": rate}


def scraped(kind: str, served: Replay, folder: Path, _: float) -> Figures:
    """CPU time of a scrape of all series, each of which was sent once, and memory."""
    with collector(kind, served, folder) as running:
        served.wait_for(len(served.targets), 600.0)
        running.wait_until_idle()
        figures = _ready(running)
        if running.idle_mb is not None:
            figures[STATE] = (running.memory_mb("VmRSS") - running.idle_mb) / MILLION_SERIES * 1e5
        costs: list[float] = []
        for _ in range(2 * SCRAPES):
            cpu_s, samples = running.cpu_s(), running.scrape()
            if samples >= MILLION_SERIES:
                costs.append(running.cpu_s() - cpu_s)
            if len(costs) == (1 if kind == "gnmic" else SCRAPES):
                return figures | {SCRAPE_CPU: median(costs), PEAK: running.memory_mb("VmHWM")}
            running.wait_until_idle()
        print(f"{kind} serves {samples:,} of {MILLION_SERIES:,} series", file=sys.stderr)
        return figures


def _ready(running: Running) -> Figures:
    return {} if running.ready_cpu_s is None else {READY: running.ready_cpu_s}


def works() -> dict[str, Work]:
    """All that is measured, by the names that --only takes."""
    found = {"scrape": million_series()}
    fast = Bar("fast", PER_MILLION, 1 / 40, "gnmic")
    bars = {
        "1": (fast, Bar("fast", PER_MILLION, 1 / 80, "floor"), Bar("grpc", PER_MILLION, 1.2, "floor")),
        "29": (fast, Bar("grpc", PER_MILLION, 1 / 5, "gnmic"), Bar("fast", READY, 2.0)),
        "512": (fast, Bar("grpc", PER_MILLION, 1 / 25, "gnmic")),
    }
    for name, updates in (("1", 1), ("29", 30), ("512", 512)):
        kinds = ("fast", "grpc", "floor", *RIVALS, *(("interpreted",) if name == "29" else ()))
        found[name] = unpaced(name, updates, kinds, bars[name])
        found[f"{name}-tls"] = unpaced(f"TLS, {name}", updates, ("fast", "grpc", "floor"), ())
    found["paced"] = paced("1,024 series at 1 Hz, 29 updates a message", 30, 1024, fast=1 / 5, grpc=0.7)
    found["trickle"] = paced("96 messages/s of 1 update", 1, 96, fast=1 / 3, grpc=1.0)
    return found


def unpaced(title: str, updates: int, kinds: tuple[str, ...], bars: tuple[Bar, ...]) -> Work:
    """One target that sends as fast as it is read."""
    return Work(
        title=f"{title} a message, as fast as it goes",
        server=("--updates", str(updates)),
        kinds=kinds,
        bars=bars,
        measure=streamed,
        tls=title.startswith("TLS"),
    )


def paced(title: str, updates: int, rate: int, *, fast: float, grpc: float) -> Work:
    """64 targets, each with so many updates per second. fast, grpc: the bars, of what gnmic takes."""
    return Work(
        title=f"64 targets x {title}",
        server=("--updates", str(updates), "--rate", str(rate)),
        kinds=("fast", "grpc", *RIVALS),
        bars=(Bar("fast", CORE, fast, "gnmic"), Bar("grpc", CORE, grpc, "gnmic")),
        measure=streamed,
        targets=64,
    )


def million_series() -> Work:
    """A scrape of all series of 64 targets."""
    each = MILLION_SERIES // 64
    return Work(
        title=f"A scrape of {MILLION_SERIES:,} series with gzip",
        server=("--updates", "512", "--interfaces", str(each // 8), "--count", str(each), "--rounds", "1"),
        kinds=("fast", "grpc", *RIVALS),
        bars=tuple(
            bar
            for kind in ("fast", "grpc")
            for bar in (Bar(kind, SCRAPE_CPU, 1 / 60, "gnmic"), Bar(kind, PEAK, 800.0), Bar(kind, STATE, 40.0))
        ),
        measure=scraped,
        targets=64,
    )


def table(work: Work, found: Found) -> str:
    """The figures of each round, and the ratio of medians to `fast`."""
    names = list(dict.fromkeys(name for kind in found.values() for name in kind))
    rows = [f"### {work.title}", "", f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for kind, figures in found.items():
        cells = []
        for name in names:
            values = figures.get(name, [])
            cell = " / ".join(f"{value:,.3g}" if value < 1000 else f"{value:,.0f}" for value in values)
            ours = found.get("fast", {}).get(name)
            if values and ours and kind != "fast" and name in (PER_MILLION, CORE, SCRAPE_CPU, PEAK):
                cell += f" (x {median(values) / median(ours):,.3g})"
            cells.append(cell)
        rows.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def report(every: dict[str, Work], all_found: dict[str, Found], options: argparse.Namespace, began: str) -> str:
    """All figures, and what they say of the bars."""
    rival = "gnmic beside it" if GNMIC else "without gnmic, which is not on PATH"
    told = f"{date.today():%d %B %Y}, {rival}; {options.rounds} rounds of {options.seconds:g} s each."
    lines = [f"{told} Begin: {began}. End: {machine()}.", ""]
    if loaded(began) or loaded(machine()):
        lines += ["**The machine had other work**: read the figures of one row against each other only.", ""]
    lines += ["| work | figure | bar | median | |", "|---|---|---|---|---|"]
    lines += [bar.row(every[name].title, found) for name, found in all_found.items() for bar in every[name].bars]
    return "\n".join([*lines, "", *(table(every[name], found) for name, found in all_found.items())])


def loaded(said: str) -> bool:
    """Whether a machine has more to do than this benchmark gives it."""
    found = re.search(r"load ([\d.]+)", said)
    return found is not None and float(found[1]) > QUIET_LOAD


def main(arguments: Sequence[str] | None = None) -> None:
    every = works()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0, help="measured time of each run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help=f"one round of {QUICK_S:g} s each")
    parser.add_argument("--write", action="store_true", help=f"write the figures into {PAGE.name} too")
    barred = [name for name, work in every.items() if work.bars]
    parser.add_argument("--only", nargs="+", choices=every, default=barred, help="by default all that have a bar")
    parser.add_argument("--kinds", nargs="+", help="of collectors, such as fast and gnmic; by default all")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.seconds = 1, QUICK_S
    began = machine()
    print(began, flush=True)
    all_found: dict[str, Found] = {name: defaultdict(lambda: defaultdict(list)) for name in options.only}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for name, found in all_found.items():
                work = every[name]
                for kind in work.kinds:
                    if options.kinds and kind not in options.kinds:
                        continue
                    with replay(Path(folder), *work.server, targets=work.targets, tls=work.tls) as served:
                        for what, value in work.measure(kind, served, Path(folder), options.seconds).items():
                            found[kind][what].append(value)
                    figures = (f"{what} {values[-1]:,.3g}" for what, values in found[kind].items())
                    print(f"{name}, {kind}: {', '.join(figures)}", file=sys.stderr, flush=True)
    text = report(every, all_found, options, began)
    print(text)
    if options.write:
        PAGE.write_text(FIGURES.sub(lambda _: text, PAGE.read_text()))


if __name__ == "__main__":
    main()

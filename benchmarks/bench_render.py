"""What rendering costs: 16 to 1,024 switches on every platform, and on EOS beside PyAVD.

Every figure is that of a real process on one core, `railfab render FILE -o DIR`, interpreter and imports included:

    python benchmarks/bench_render.py                                  # railfab alone, a minute or two
    python benchmarks/bench_render.py --pyavd ~/avd/bin/python         # some five minutes
    python benchmarks/bench_render.py --switches 16 --platform eos     # a part of it

It ends with an error that names the bar that a run misses: the CPU of EOS beside PyAVD, that of the slowest platform,
or the peak of 1,024 switches.

The fabrics are those of `same_fabric.py`: the same ports, links and sessions for every platform and for PyAVD.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench_design import HOW, Railfab, check, show, words
from measured import Cost, as_installed, cost, machine, stay_on_one_core, typical
from same_fabric import HARDWARE, SHAPES, railfab_intent

from railfab.platforms import platform_names

SIZES = (16, 64, 256, 1024)
COLUMNS = ("switches", "platform", "CPU s", "seconds", "peak MB", "CPU ms a switch", "switches a CPU s", "lines", "MB")

SECTIONS = {
    "interfaces": r"interface ",
    "routing": r"(router bgp|ip routing|ipv6 unicast-routing|ip prefix-list|ipv6 prefix-list|route-map|ip route) ?",
    "QoS": r"(qos|priority-flow-control|no priority-flow-control|platform|queue-monitor|hardware) ",
}
"""Sections of an EOS configuration by the first words of their first lines; every other line is of `the rest`."""
BARRED = 1024
"""Switches of the fabric to which the bar of memory applies."""
LEAST_TIMES_PYAVD = 20
SIZES_BESIDE_PYAVD = (256, 1024)
"""Sizes to which the bar beside PyAVD applies: in smaller ones the start of the interpreter is most of a rendering."""
MOST_TIMES_EOS = 3
MOST_PEAK_MIB = 400
LEAST = 0.95
"""Lines of each section that railfab has for each one of PyAVD's, at least; with fewer it would do less."""


class Rendering:
    """railfab's renderings of one fabric after the other."""

    def __init__(self, scratch: Path) -> None:
        self.railfab = Railfab(scratch)
        self.scratch = scratch

    def costs(self, name: str, switches: int, rounds: int) -> list[Cost]:
        intent = self.scratch / f"{name}-{switches}.yml"
        intent.write_text(railfab_intent(SHAPES[switches], HARDWARE[name]))
        return [self.railfab.render(intent) for _ in range(rounds)]

    def texts(self, name: str, switches: int) -> list[Path]:
        return sorted((self.scratch / f"render-{name}-{switches}").iterdir())


def row(switches: int, name: str, found: Cost, texts: Sequence[Path]) -> Sequence[str]:
    lines = sum(text.read_text().count("\n") for text in texts)
    size_mb = sum(text.stat().st_size for text in texts) / 1e6
    each = f"{1e3 * found.cpu_s / switches:.2f}", f"{switches / found.cpu_s:,.0f}"
    return f"{switches:,}", name, *words(found), *each, f"{lines:,}", f"{size_mb:.1f}"


def missed(switches: int, found: Mapping[str, Cost]) -> Iterator[str]:
    """The bars of every platform that one size misses. found: what each platform cost."""
    slowest = max(found, key=lambda name: found[name].cpu_s)
    if "eos" in found and found[slowest].cpu_s > MOST_TIMES_EOS * found["eos"].cpu_s:
        times = found[slowest].cpu_s / found["eos"].cpu_s
        yield f"{slowest} at {switches:,} switches: {times:.1f} times the CPU of EOS, at most {MOST_TIMES_EOS}"
    for name, one in found.items() if switches == BARRED else ():
        if one.peak_mb > MOST_PEAK_MIB:
            yield f"{name} at {switches:,} switches: a peak of {one.peak_mb:,.0f} MiB, at most {MOST_PEAK_MIB}"


def missed_beside_pyavd(switches: int, rival: Cost, own: Cost) -> Iterator[str]:
    """The bar of EOS beside PyAVD, where one size misses it."""
    times = rival.cpu_s / own.cpu_s
    if switches in SIZES_BESIDE_PYAVD and times < LEAST_TIMES_PYAVD:
        yield f"EOS at {switches:,} switches: PyAVD takes {times:.1f} times the CPU, at least {LEAST_TIMES_PYAVD}"


def every_platform(rendering: Rendering, sizes: Sequence[int], names: Sequence[str], rounds: int) -> list[str]:
    """The bars that are missed."""
    misses: list[str] = []

    def rows() -> Iterator[Sequence[str]]:
        for switches in sizes:
            costs: dict[str, Cost] = {}
            for name in names:
                found = costs[name] = typical(rendering.costs(name, switches, rounds))
                texts = rendering.texts(name, switches)
                check(f"configurations of {name}", len(texts), switches)
                yield row(switches, name, found, texts)
            misses.extend(missed(switches, costs))

    show("railfab render", COLUMNS, rows())
    return misses


def beside_pyavd(rendering: Rendering, sizes: Sequence[int], python: Path) -> list[str]:
    """EOS from both, railfab before and after PyAVD, and the lines of each section. The bars that are missed."""
    misses: list[str] = []

    def rows() -> Iterator[Sequence[str]]:
        for switches in sizes:
            out = rendering.scratch / f"pyavd-{switches}"
            bench = [str(python), str(Path(__file__).with_name("pyavd_bench.py")), "-o", str(out)]
            before = rendering.costs("eos", switches, 2)
            rival = cost([*bench, "--switches", str(switches)], rendering.scratch, as_installed(), output="pyavd.json")
            own = typical(before + rendering.costs("eos", switches, 2))
            made = json.loads((rendering.scratch / "pyavd.json").read_text())
            check("ends of sessions that PyAVD configured", made["neighbors"], 2 * SHAPES[switches].sessions)
            yield row(switches, f"PyAVD {made['version']}", rival, sorted(out.iterdir()))
            yield row(switches, "railfab", own, rendering.texts("eos", switches))
            misses.extend(missed_beside_pyavd(switches, rival, own))
            yield f"{switches:,}", "times", f"{rival.cpu_s / own.cpu_s:.1f}", "", *[""] * (len(COLUMNS) - 4)

    show("EOS beside PyAVD", COLUMNS, rows())
    same_content(rendering, sizes[-1])
    return misses


def same_content(rendering: Rendering, switches: int) -> None:
    """Lines of each section on both sides. Ends the benchmark where railfab has too few."""
    theirs = sections((rendering.scratch / f"pyavd-{switches}").iterdir())
    own = sections(rendering.texts("eos", switches))
    rows = [(name, f"{theirs[name]:,}", f"{own[name]:,}", f"{own[name] / theirs[name]:.2f}") for name in theirs]
    show(f"Lines of {switches:,} switches", ("section", "PyAVD", "railfab", "railfab's for each of PyAVD's"), rows)
    for name in SECTIONS:
        if own[name] < LEAST * theirs[name]:
            raise SystemExit(f"{name}: railfab has {own[name]:,} lines, and PyAVD {theirs[name]:,}")


def sections(files: Iterator[Path] | Sequence[Path]) -> Counter[str]:
    """Lines of each section in EOS configurations, without comments and descriptions, which are a matter of taste."""
    found: Counter[str] = Counter()
    for file in files:
        section = "the rest"
        for line in file.read_text().splitlines():
            if line.strip() in ("", "!") or " description " in line:
                continue
            if not line.startswith(" "):
                section = next((name for name, first in SECTIONS.items() if re.match(first, line)), "the rest")
            found[section] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [name for name in HARDWARE if name in platform_names()]
    parser.add_argument("--switches", type=int, nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, of which the median is shown")
    parser.add_argument("--platform", nargs="+", choices=known, default=known)
    given = os.environ.get("RAILFAB_PYAVD")
    parser.add_argument("--pyavd", type=Path, default=given, help="a Python that has pyavd; or $RAILFAB_PYAVD")
    options = parser.parse_args()
    stay_on_one_core()
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as folder:
        rendering = Rendering(Path(folder))
        misses = every_platform(rendering, options.switches, options.platform, options.rounds)
        if options.pyavd is None:
            print(f"Not compared with PyAVD. To have it: {HOW['pyavd']}")
        elif "eos" in known:
            misses += beside_pyavd(rendering, options.switches, options.pyavd.absolute())
    if misses:
        raise SystemExit("\n".join(f"missed: {miss}" for miss in misses))


if __name__ == "__main__":
    main()

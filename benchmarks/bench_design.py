"""What designing costs: the largest fabrics planned and written out, and 256 switches beside netlab and PyAVD.

Every figure is that of a real process on one core, interpreter and imports included: CPU (user and system, with what it
waited for), the clock, and peak memory. The rivals are measured in the same run, between railfab's own rounds:

    python benchmarks/bench_design.py                                   # railfab alone, a minute or two
    python benchmarks/bench_design.py --netlab ~/nl/bin/netlab --pyavd ~/avd/bin/python
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from measured import Cost, as_installed, cost, machine, stay_on_one_core, together, typical
from same_fabric import EOS, FRR, LARGE, SMALL, Hardware, netlab_topology, railfab_intent

ROOT = Path(__file__).resolve().parents[1]
FABRICS = ROOT / "inventory" / "fabrics"
SIZES = ("gpu1024", "gpu16384", "gpu32768", "gpu131072")
ROUNDS, LARGE_ROUNDS = 5, 3
DONE_OR_FOUND = (0, 1)
"""Exit codes of `plan`: nothing to say, and findings."""
PAIRS = {"small": SMALL, "large": LARGE}
HOW = {
    "pyavd": "python3 -m venv ~/avd && ~/avd/bin/pip install pyavd==6.4.0, then --pyavd ~/avd/bin/python",
    "netlab": "python3 -m venv ~/nl && ~/nl/bin/pip install networklab==26.10, then --netlab ~/nl/bin/netlab",
}
"""How to have a rival measured."""


@dataclass(frozen=True, slots=True)
class Tool:
    """measure: what it costs on the small or the large one of the fabrics."""

    name: str
    measure: Callable[[str], Cost]


class Railfab:
    """railfab's commands, as installed: with bytecode, which the first run of each makes."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.env = as_installed(scratch / "bytecode")

    def cost(self, *arguments: str | Path, output: str = os.devnull) -> Cost:
        command = [sys.executable, "-m", "railfab", *map(str, arguments)]
        return cost(command, self.scratch, self.env, output=output, fine=DONE_OR_FOUND)

    def plan(self, intent: Path) -> Cost:
        return self.cost("plan", intent)

    def plan_written(self, intent: Path) -> Cost:
        return self.cost("plan", intent, "-o", self._empty(f"plan-{intent.stem}"))

    def render(self, intent: Path) -> Cost:
        return self.cost("render", intent, "-o", self._empty(f"render-{intent.stem}"))

    def configured(self, intent: Path) -> Cost:
        """Planned, written out and rendered."""
        return together([self.plan_written(intent), self.render(intent)])

    def _empty(self, name: str) -> Path:
        """A folder that is not there yet."""
        shutil.rmtree(self.scratch / name, ignore_errors=True)
        return self.scratch / name


def growth(railfab: Railfab) -> None:
    """From a thousand GPUs to 131,072."""
    show(
        f"plan FILE -o DIR (median of {LARGE_ROUNDS})",
        ("fabric", "links", *COSTS, "CPU us a link"),
        _growth_rows(railfab),
    )


def _growth_rows(railfab: Railfab) -> Iterable[Sequence[str]]:
    idle = typical([railfab.plan_written(intent_file(railfab.scratch, "small", EOS)) for _ in range(ROUNDS)])
    for name in SIZES:
        found = typical([railfab.plan_written(FABRICS / f"{name}.yml") for _ in range(LARGE_ROUNDS)])
        with (railfab.scratch / f"plan-{name}" / "cabling.csv").open() as cabling:
            links = sum(1 for _ in cabling) - 1
        yield name, f"{links:,}", *words(found), f"{(found.cpu_s - idle.cpu_s) / links * 1e6:.1f}"


def first_answer(railfab: Railfab) -> None:
    """The time until a common pod is answered."""
    pod = FABRICS / "pod64.yml"
    railfab.plan(pod)
    rows = [("plan pod64.yml", *words(typical([railfab.plan(pod) for _ in range(ROUNDS)])))]
    show(f"The first answer (median of {ROUNDS})", ("command", *COSTS), rows)


def beside(title: str, ours: Tool, theirs: Tool) -> None:
    """Ours before and after theirs; what each costs on the small fabric is what it costs whatever it is given."""
    before = [ours.measure("large") for _ in range(ROUNDS)]
    small_s = typical([ours.measure("small") for _ in range(ROUNDS)]).cpu_s
    rival_small_s, rival = theirs.measure("small").cpu_s, theirs.measure("large")
    own = typical(before + [ours.measure("large") for _ in range(ROUNDS)])
    rows = (
        (theirs.name, *words(rival), f"{rival.cpu_s - rival_small_s:.2f}"),
        (ours.name, *words(own), f"{own.cpu_s - small_s:.2f}"),
        (
            "times",
            f"{rival.cpu_s / own.cpu_s:.1f}",
            "",
            "",
            f"{(rival.cpu_s - rival_small_s) / (own.cpu_s - small_s):.1f}",
        ),
    )
    columns = ("", *COSTS, f"CPU s beyond {SMALL.switches} switches")
    show(f"{title}: {LARGE.switches} switches, {LARGE.links:,} links, {LARGE.sessions:,} sessions", columns, rows)


def beside_netlab(railfab: Railfab, netlab: Path) -> None:
    """`plan -o` and `render` beside `create`."""
    intents = {size: intent_file(railfab.scratch, size, FRR) for size in PAIRS}
    folders = {size: netlab_folder(railfab.scratch, size) for size in PAIRS}
    command = [str(netlab), "create", "--quiet", "topology.yml"]
    beside(
        "FRR configurations",
        Tool("railfab plan -o, and render -o", lambda size: railfab.configured(intents[size])),
        Tool("netlab create", lambda size: cost(command, folders[size], as_installed())),
    )
    rendered, created = (railfab.scratch / "render-frr-large").glob("*.conf"), folders["large"].glob("node_files/*/bgp")
    check("ends of sessions that railfab configured", sum(map(sessions, rendered)), 2 * LARGE.sessions)
    check("ends of sessions that netlab configured", sum(map(sessions, created)), 2 * LARGE.sessions)


def beside_pyavd(railfab: Railfab, python: Path) -> None:
    """`plan` beside validated inputs, facts and structured configuration."""
    intents = {size: intent_file(railfab.scratch, size, EOS) for size in PAIRS}
    bench = [str(python), str(Path(__file__).with_name("pyavd_bench.py"))]
    commands = {"small": [*bench, f"--switches={SMALL.switches}"], "large": bench}
    steps = {size: f"pyavd-{size}.json" for size in PAIRS}
    beside(
        "A planned fabric",
        Tool("railfab plan", lambda size: railfab.plan(intents[size])),
        Tool("PyAVD", lambda size: cost(commands[size], railfab.scratch, as_installed(), output=steps[size])),
    )
    structured = json.loads((railfab.scratch / steps["large"]).read_text())
    print(f"PyAVD {structured['version']} by step, CPU s: {structured['cpu_s']}\n")
    check("ends of sessions that PyAVD structured", structured["neighbors"], 2 * LARGE.sessions)
    check("ports that PyAVD structured", structured["ports"], LARGE.links + LARGE.sessions)
    railfab.cost("plan", intents["large"], "--output", "json", output="plan.json")
    planned = json.loads((railfab.scratch / "plan.json").read_text())
    check("links that railfab planned", len(planned["links"]), LARGE.links)
    switches = [node for node in planned["nodes"] if node["role"] != "host"]
    check("switches that railfab planned", len(switches), LARGE.switches)


def intent_file(scratch: Path, size: str, hardware: Hardware) -> Path:
    path = scratch / f"{hardware.platform}-{size}.yml"
    path.write_text(railfab_intent(PAIRS[size], hardware))
    return path


def netlab_folder(scratch: Path, size: str) -> Path:
    folder = scratch / f"netlab-{size}"
    folder.mkdir()
    (folder / "topology.yml").write_text(netlab_topology(PAIRS[size]))
    return folder


def sessions(configuration: Path) -> int:
    """BGP sessions of a switch in FRR's language."""
    return configuration.read_text().count(" remote-as ")


def check(what: str, found: int, expected: int) -> None:
    """A comparison of different fabrics is none."""
    if found != expected:
        raise SystemExit(f"{what}: {found:,}, and the fabric has {expected:,}")


COSTS = ("CPU s", "seconds", "peak MB")


def words(found: Cost) -> tuple[str, str, str]:
    return f"{found.cpu_s:.2f}", f"{found.wall_s:.2f}", f"{found.peak_mb:,.0f}"


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table in Markdown, each row as soon as it is there."""
    print(f"{title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for rival, what in (("netlab", "the command of networklab"), ("pyavd", "a Python that has pyavd")):
        given = os.environ.get(f"RAILFAB_{rival.upper()}")
        parser.add_argument(f"--{rival}", type=Path, default=given, help=f"{what}; or ${f'RAILFAB_{rival.upper()}'}")
    options = parser.parse_args()
    stay_on_one_core()
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as folder:
        railfab = Railfab(Path(folder))
        first_answer(railfab)
        growth(railfab)
        for rival, compare in (("pyavd", beside_pyavd), ("netlab", beside_netlab)):
            path = getattr(options, rival)
            if path:
                compare(railfab, path.absolute())
            else:
                print(f"Not compared with {rival}. To have it: {HOW[rival]}")


if __name__ == "__main__":
    main()

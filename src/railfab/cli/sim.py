"""`railfab sim`: replay a scenario folder with the simulator, and explain a port of a saved run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from railfab.cli.common import (
    FOUND,
    Output,
    OutputOption,
    prepare_simulator,
    print_json,
    print_table,
    progress_bar,
    report_line,
)
from railfab.cli.echo import echo, echo_line
from railfab.errors import RailfabError
from railfab.text.remedies import install

if TYPE_CHECKING:
    from railfab.sim.replay.results import SeedResult
    from railfab.sim.replay.run import Progress, Run
    from railfab.sim.replay.scenario import Scenario
    from railfab.sim.replay.storm import Branch
    from railfab.sim.replay.why import CountedPort, Explanation

SEEDS = 5
"""Runs of the reference scenarios."""
PICTURES = (".svg", ".png")
MOST_LINES = 12
MOST_BRANCHES = 6

sim_app = typer.Typer(help="Replay a scenario packet by packet; explain pauses and marks of a saved run.")

ScenarioDir = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO_DIR", help="Directory with scenario.json, links.csv and flows.csv.", show_default=False
    ),
]
SeedsOption = Annotated[int, typer.Option("--seeds", metavar="N", min=1, max=10_000, help="Runs, with seeds 1 to N.")]
SaveOption = Annotated[
    Path | None,
    typer.Option("--save", metavar="DIR", help="Write the run with seed 1 for `sim why`.", show_default=False),
]
PlotOption = Annotated[
    Path | None,
    typer.Option(
        "--plot", metavar="FILE", help="Queue depths and rates of seed 1 over time: .svg or .png.", show_default=False
    ),
]
RunDir = Annotated[
    Path, typer.Argument(metavar="DIR", help="Directory that `sim replay --save` wrote.", show_default=False)
]
PortName = Annotated[
    str, typer.Argument(metavar="PORT", help="A port of links.csv as NODE:PORT, for example 3:1.", show_default=False)
]


@sim_app.command()
def replay(
    scenario_dir: ScenarioDir,
    seeds: SeedsOption = SEEDS,
    output: OutputOption = Output.TABLE,
    save: SaveOption = None,
    plot: PlotOption = None,
) -> None:
    """Run a scenario with several seeds: completion times, marks, pauses, watermarks and drops of each, and their mean.

    Exits with 1 when flows are left: at the time where the scenario stops, or in a PFC deadlock.
    """
    if plot is not None:
        _check_plot(plot)
    from railfab.sim.replay.saved import check_place
    from railfab.sim.replay.scenario import load

    scenario = load(scenario_dir)
    for note in scenario.notes:
        echo(f"railfab: {note}", err=True)
    if save is not None:
        check_place(save)
    prepare_simulator()
    first, results, stuck = _run_all(scenario, seeds, record=save is not None or plot is not None)
    try:
        _keep(first, results, save, plot)
    finally:
        _print(scenario.name, results, stuck, output)
    if stuck:
        raise typer.Exit(FOUND)


def _keep(run: Run, results: Sequence[SeedResult], save: Path | None, plot: Path | None) -> None:
    from railfab.sim.replay.saved import save as save_run

    if save is not None:
        save_run(run, results, save)
    if plot is not None:
        _plot(run, plot)


def _print(name: str, results: Sequence[SeedResult], stuck: dict[int, str], output: Output) -> None:
    from railfab.sim.replay.results import mean

    rows = [result.row() for result in results]
    if output is Output.JSON:
        unfinished = [{"seed": seed, "reason": reason} for seed, reason in stuck.items()]
        print_json({"seeds": rows, "mean": mean(results), "unfinished": unfinished})
    else:
        _print_results(name, rows, mean(results))
    for seed, reason in stuck.items():
        report_line(f"{name}, seed {seed}: {reason}.")


def _run_all(scenario: Scenario, seeds: int, *, record: bool) -> tuple[Run, list[SeedResult], dict[int, str]]:
    """The first run, with samples if wanted; the results of all seeds; and by seed why flows are left."""
    from railfab.sim.replay.run import run

    results, stuck = [], {}
    with _progress(seeds) as progress_of:
        first = run(scenario, seed=1, record=record, progress=progress_of(1))
        for seed in range(1, seeds + 1):
            done = first if seed == 1 else run(scenario, seed=seed, progress=progress_of(seed))
            results.append(done.result)
            if done.stuck:
                stuck[seed] = done.stuck
    return first, results, stuck


@contextmanager
def _progress(seeds: int) -> Iterator[Any]:
    """Progress over seeds and the payload of each, with the simulated time; only on a terminal."""
    with progress_bar() as bar:
        task = bar.add_task("", total=100 * seeds)

        def progress_of(seed: int) -> Progress:
            def progress(share: float, now_ns: float) -> None:
                done = round(100 * (seed - 1 + share))
                bar.update(task, completed=done, description=f"seed {seed} of {seeds}, {now_ns / 1e6:.3f} ms simulated")

            return progress

        yield progress_of


def _print_results(name: str, rows: Sequence[dict[str, Any]], mean: dict[str, Any]) -> None:
    columns = list(rows[0])
    cells = [[_number(row[column]) for column in columns] for row in rows]
    cells.append(["mean", *(_number(mean[column]) for column in columns[1:])])
    print_table(name, columns, cells)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}" if value == int(value) or value >= 100 else f"{value:.1f}"


def _check_plot(path: Path) -> None:
    from importlib.util import find_spec

    if path.suffix.lower() not in PICTURES:
        raise RailfabError(str(path), "is not the name of an SVG or PNG file", "End the name in .svg or .png")
    if not path.parent.is_dir():
        raise RailfabError(str(path), f"{path.parent} is not a directory", "Name a file in a directory that exists")
    if path.is_dir():
        raise RailfabError(str(path), "is a directory", "Name a file with --plot")
    if find_spec("matplotlib") is None:
        raise RailfabError("--plot", "matplotlib is not installed", install("plot"))
    from railfab.sim.replay.saved import check_writable

    check_writable(path.parent, "Name a file in another directory with --plot")


def _plot(run: Run, path: Path) -> None:
    """Draw the busiest ports of a run."""
    from railfab.draw.time_series import TimeSeries, draw_time_series
    from railfab.sim.replay.series import port_series

    assert run.samples is not None
    draw_time_series(
        f"{run.scenario.name}, seed {run.result.seed}",
        [
            TimeSeries(title, unit, times, values)
            for title, unit, times, values in port_series(run.scenario, run.samples)
        ],
        path,
        legend="port",
    )


@sim_app.command()
def why(run_dir: RunDir, port: PortName, output: OutputOption = Output.TABLE) -> None:
    """Explain why PFC or ECN acted at a port, or did not: thresholds and watermarks, senders, and who paused whom."""
    from railfab.sim.replay.saved import read_run
    from railfab.sim.replay.why import explain

    run = read_run(run_dir)
    explanation = explain(run, port)
    if output is Output.JSON:
        print_json(_document(explanation))
    else:
        _print_explanation(run.name, explanation)


def _document(found: Explanation) -> dict[str, Any]:
    return {
        "port": found.port.name,
        "peer": found.port.peer_name,
        "rate_gbps": found.port.rate_gbps,
        "ecn": asdict(found.ecn),
        "pfc": asdict(found.pfc),
        "feeders": [asdict(pfc) for pfc in found.feeders],
        "paused": {
            "reason": found.paused,
            "xoff_received": found.port.xoff_received,
            "paused_ns": found.port.paused_ns,
            "caused_by": [asdict(cause) for cause in found.paused_by],
        },
        "pauses": [asdict(paused) for paused in found.pauses],
        "senders": [asdict(sender) for sender in found.senders],
        "storms": [_tree_document(tree) for tree in found.trees],
        "notes": list(found.notes),
    }


def _tree_document(tree: Branch) -> dict[str, Any]:
    return {
        "port": tree.name,
        "xoffs": tree.xoffs,
        "paused_ns": tree.paused_ns,
        "first_ns": tree.first_ns,
        "pauses": [_tree_document(branch) for branch in tree.ordered],
    }


def _print_explanation(name: str, found: Explanation) -> None:
    port = found.port
    kind = "switch" if port.is_switch else "host"
    lines = [
        f"{name}: port {port.name} of a {kind}, {port.rate_gbps:g} Gb/s to {port.peer_name}",
        f"ECN   {found.ecn.reason}",
        f"PFC   {found.pfc.reason}{_causes(found.pfc.caused_by)}",
        f"queue {found.paused}{_causes(found.paused_by)}",
    ]
    lines += [f"      its queue made the switch pause {_causes(found.pauses, '')}"] if found.pauses else []
    lines += _section("Ports by which its flows come in", [f"{pfc.port}  {pfc.reason}" for pfc in found.feeders])
    lines += _section(
        "Flows through its queue",
        [f"flow {one.flow}  {one.src} to {one.dst}  {one.sent_bytes:,} bytes" for one in found.senders],
    )
    lines += ["Pauses, from the port whose queue began them to those that it paused"] if found.trees else []
    asked = {(port.node, port.port)} | ({(port.peer, port.peer_port)} if port.xoff_sent else set())
    for tree in found.trees:
        lines += _tree_lines(tree, asked, 1)
    lines += [f"note: {note}" for note in found.notes]
    for line in lines:
        echo_line(line)


def _causes(ports: Sequence[CountedPort], before: str = ", because of the queue of ") -> str:
    if not ports:
        return ""
    shown = ", ".join(f"{one.port} ({one.xoffs:,} XOFF)" for one in ports[:MOST_LINES])
    return f"{before}{shown}{f' and {len(ports) - MOST_LINES} more' if len(ports) > MOST_LINES else ''}"


def _section(title: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    more = [f"  and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else []
    return [title, *(f"  {line}" for line in lines[:MOST_LINES]), *more]


def _tree_lines(tree: Branch, asked: AbstractSet[tuple[int, int]], depth: int) -> list[str]:
    """A line for each port; under a port, those that its queue paused. Of many, those around the port asked for."""
    here = "  <" if tree.port in asked else ""
    label = "in all" if depth == 1 else "paused"
    time = f"{label} {tree.xoffs:,} XOFF, {tree.paused_ns / 1e3:,.1f} us, from {tree.first_ns / 1e6:.3f} ms"
    lines = [f"{'  ' * depth}{tree.name}  {time}{here}"]
    on_way = [branch for branch in tree.ordered if asked & set(branch.ports())]
    others = [branch for branch in tree.ordered if branch not in on_way]
    shown = on_way + others[: max(0, MOST_BRANCHES - len(on_way))]
    for branch in shown:
        lines += _tree_lines(branch, asked, depth + 1)
    if len(shown) < len(tree.branches):
        lines.append(f"{'  ' * (depth + 1)}and {len(tree.branches) - len(shown)} more ports")
    return lines

"""plan: expand, check and document a fabric."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.common import (
    IntentFile,
    Output,
    OutputOption,
    findings_exit,
    print_findings,
    print_table,
    progress_bar,
    stderr,
    stdout,
    uncollected,
)

if TYPE_CHECKING:
    from railfab.device import SwitchBuffers
    from railfab.documents import Plan, RailBlock, SwitchPorts

OutDir = Annotated[Path | None, typer.Option("-o", metavar="DIR", help="Write files here.", show_default=False)]


@uncollected()
def plan(intent: IntentFile, out: OutDir = None, output: OutputOption = Output.TABLE) -> None:
    """Expand a fabric, check it, and show it as tables; -o writes summary, cabling plan, addresses, bill and more."""
    from railfab.documents import document, planned, write_documents
    from railfab.units import counted

    with _stages() as say:
        fabric = planned(intent, say)
        files = write_documents(fabric, out, say) if out is not None else []
    if out is not None:
        stderr().print(f"wrote {counted(len(files), 'file')}, listed in {out / 'summary.md'}", soft_wrap=True)
    if output is Output.JSON:
        _write(document(fabric))
    else:
        _print_plan(fabric)
        print_findings(fabric.findings)
    findings_exit(fabric.findings)


def _write(pieces: Iterable[str]) -> None:
    """Write to stdout, if there is one."""
    if sys.stdout is not None:
        sys.stdout.writelines(pieces)


@contextmanager
def _stages() -> Iterator[Callable[[str], None]]:
    """Progress bar with the current stage, for large fabrics."""
    if not stderr().is_terminal:
        yield lambda _: None
        return
    with progress_bar() as bar:
        task = bar.add_task("", total=None)
        yield lambda what: bar.update(task, description=what, advance=1)


def _print_plan(fabric: Plan) -> None:
    from railfab.documents import headline

    stdout().print(f"[bold]{fabric.topology.fabric}[/bold]: {headline(fabric)}\n")
    _print_switches(fabric)
    _print_cables(fabric)
    _print_rails(fabric)
    _print_thresholds(fabric.buffers)
    _print_power(fabric)


def _print_switches(fabric: Plan) -> None:
    """Print the switches: each by name, or each kind in a large fabric."""
    from railfab.documents import LISTED, capacity_words
    from railfab.topology.grouping import grouped

    switches = fabric.overview.switches
    groups = [[found] for found in switches] if len(switches) <= LISTED else grouped(switches, _kind)
    rows = [
        (
            _like(len(group), first.node.name),
            first.node.role,
            first.node.model,
            first.node.platform,
            first.node.asn,
            first.node.loopback,
            first.hosts,
            first.fabric,
            capacity_words(first),
        )
        for group in groups
        for first in group[:1]
    ]
    columns = ("switch", "role", "model", "platform", "AS", "loopback", "host ports", "fabric ports", "down / up")
    print_table("Switches", columns, rows)


def _kind(switch: SwitchPorts) -> tuple[object, ...]:
    node = switch.node
    rates = switch.down_gbps, switch.up_gbps
    return node.net, node.plane, node.role, node.model, node.platform, switch.hosts, switch.fabric, *rates


def _like(count: int, first: str) -> str:
    """Name of one switch, or `2,048 like pod1-seg1-leaf1`."""
    return first if count == 1 else f"{count:,} like {first}"


def _print_cables(fabric: Plan) -> None:
    """Print the cables: number, speed and length of each kind."""
    from railfab.documents import between

    networks = len({kind.net for kind in fabric.overview.cables}) > 1
    rows = [
        ((f"{kind.net}: " if networks else "") + between(kind), f"{count:,}", kind.rate_gbps, f"{kind.cable_m:g}")
        for kind, count in fabric.overview.cables.items()
    ]
    print_table("Cables", ("between", "count", "Gb/s", "metres"), rows)


def _print_rails(fabric: Plan) -> None:
    """Print the ports and the prefix of each rail."""
    from railfab.documents import LISTED
    from railfab.topology.grouping import grouped

    rails = fabric.overview.rails
    groups = [[block] for block in rails] if len(rails) <= LISTED else grouped(rails, _rail_kind)
    rows = [
        (
            first.rail,
            _like(len(group), first.switch),
            first.ports,
            f"{first.first.name} .. {first.last.name}",
            first.prefix,
        )
        for group in groups
        for first in group[:1]
    ]
    print_table("Rails", ("rail", "switch", "ports", "from .. to", "of prefix"), rows)


def _rail_kind(block: RailBlock) -> tuple[object, ...]:
    return block.rail, block.ports, block.first.name, block.last.name


def _print_thresholds(buffers: tuple[SwitchBuffers, ...]) -> None:
    rows = [
        (
            kind.where,
            found.name,
            f"{found.kmin_bytes / 1000:g}",
            f"{found.kmax_bytes / 1000:g}",
            f"{found.pmax_percent} %",
            f"{found.xoff_bytes / 1000:g}",
            f"{found.headroom_percent} % of {kind.headroom_pool_percent} %",
        )
        for kind in buffers
        for found in kind.thresholds
    ]
    if rows:
        columns = ("on", "speed-cable", "Kmin kB", "Kmax kB", "Pmax", "XOFF kB", "headroom of buffer")
        print_table("Lossless queue", columns, rows)
    _print_cuts(buffers)


def _print_cuts(buffers: tuple[SwitchBuffers, ...]) -> None:
    """Print the buffer division that the stated traffic allows."""
    from railfab.documents import division

    cut = [kind for kind in buffers if kind.plan.cut is not None]
    for kind in cut:
        stdout().print(f"{kind.where}: {division(kind)}.", soft_wrap=True)
    if cut:
        stdout().print()


def _print_power(fabric: Plan) -> None:
    """Print the power of all racks, and of the rack with the highest power."""
    from railfab.documents import heat, watts

    total_w, racks, hottest, hottest_w = heat(fabric)
    stdout().print(f"Power: {watts(total_w)} in {racks:,} racks, at most {watts(hottest_w)} in one ({hottest}).\n")

"""plan: expand, check and document a fabric."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from railfab.cli.common import (
    IntentFile,
    Output,
    OutputOption,
    findings_exit,
    print_findings,
    print_table,
    print_text,
    progress_bar,
    uncollected,
)
from railfab.cli.echo import echo_line
from railfab.text.folding import folded, number_ranges

if TYPE_CHECKING:
    from railfab.device import PortThresholds, SwitchBuffers
    from railfab.documents import Plan, RailBlock, SwitchPorts

OutDir = Annotated[Path | None, typer.Option("-o", metavar="DIR", help="Write files here.", show_default=False)]


@uncollected()
def plan(intent: IntentFile, out: OutDir = None, output: OutputOption = Output.TABLE) -> None:
    """Expand a fabric, check it, and show it as tables; -o writes summary, cabling plan, addresses, bill and more."""
    from railfab.documents import planned
    from railfab.text.counted import counted

    with _stages() as say:
        fabric = planned(intent, say)
        files = _written(fabric, out, say) if out is not None else []
    if out is not None:
        echo_line(f"wrote {counted(len(files), 'file')}, listed in {out / 'summary.md'}", err=True)
    if output is Output.JSON:
        _print_document(fabric)
    else:
        print_plan(fabric)
        print_findings(fabric.findings)
    findings_exit(fabric.findings)


def _written(fabric: Plan, out: Path, say: Callable[[str], None]) -> list[Path]:
    from railfab.documents.folder import write_documents
    from railfab.exports import HostNames, export_formats

    exports = {name: export for name, export in export_formats().items() if export.with_plan}
    further = {f"{name}/: {each.help}": each.documents(fabric, HostNames()) for name, each in exports.items()}
    return write_documents(fabric, out, say, further)


def _print_document(fabric: Plan) -> None:
    """Write the JSON document to stdout, if there is one."""
    from railfab.documents.plan_json import document

    if sys.stdout is not None:
        sys.stdout.writelines(document(fabric))


@contextmanager
def _stages() -> Iterator[Callable[[str], None]]:
    """Progress bar with the current stage, for large fabrics."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    with progress_bar() as bar:
        task = bar.add_task("", total=None)
        yield lambda what: bar.update(task, description=what, advance=1)


def print_plan(fabric: Plan) -> None:
    """Print the tables of a plan."""
    from railfab.documents import headline

    print_text((fabric.topology.fabric, "bold"), f": {headline(fabric)}\n")
    _print_switches(fabric)
    _print_cables(fabric)
    _print_rails(fabric)
    _print_thresholds(fabric.buffers)
    _print_power(fabric)


def _print_switches(fabric: Plan) -> None:
    """Print the switches, equal ones in one row: models and ports, capacity, numbers and addresses."""
    from railfab.documents import capacity_words
    from railfab.topology.grouping import grouped

    groups = grouped(fabric.overview.switches, _kind)
    names = [folded([found.node.name for found in group]) for group in groups]
    rows = [
        (name, f"{len(group):,}", group[0].node.model, group[0].node.platform, group[0].hosts, group[0].fabric)
        for name, group in zip(names, groups, strict=True)
    ]
    columns = ("switches", "count", "model", "platform", "to hosts", "to fabric")
    print_table("Switches, and their ports", columns, rows)
    capacities = [(name, capacity_words(group[0])) for name, group in zip(names, groups, strict=True)]
    print_table("Capacity of a switch", ("switches", "down / up"), capacities)
    numbers = [
        (name, _range(found.node.asn for found in group), _range(found.node.loopback for found in group))
        for name, group in zip(names, groups, strict=True)
    ]
    print_table("AS numbers and loopbacks", ("switches", "AS", "loopbacks"), numbers)


def _kind(switch: SwitchPorts) -> tuple[object, ...]:
    node = switch.node
    rates = switch.down_gbps, switch.up_gbps
    return node.net, node.plane, node.role, node.model, node.platform, switch.hosts, switch.fabric, *rates


def _range(values: Iterable[Any]) -> str:
    """The smallest and the largest of these numbers, addresses or prefixes; empty without any."""
    stated = {value for value in values if value is not None}
    if not stated:
        return ""
    least, most = min(stated), max(stated)
    return str(least) if least == most else f"{least}-{most}"


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
    """Print where each rail is; rails on the same switches, with as many ports each, are one row."""
    from railfab.topology.grouping import grouped

    rows = []
    for rails in grouped(grouped(fabric.overview.rails, lambda block: (block.rail, block.ports)), _rail_kind):
        blocks = [block for rail in rails for block in rail]
        numbers, names = sorted({block.rail for block in blocks}), [block.switch for block in rails[0]]
        prefixes = _range(block.prefix for block in blocks)
        rows.append((number_ranges(numbers), folded(names), f"{blocks[0].ports} each", prefixes))
    print_table("Rails", ("rails", "switches", "ports", "prefixes"), rows)


def _rail_kind(blocks: list[RailBlock]) -> tuple[object, ...]:
    return blocks[0].ports, *(block.switch for block in blocks)


def _print_thresholds(buffers: tuple[SwitchBuffers, ...]) -> None:
    from railfab.documents import headroom_text, is_configured, ramp_texts, xoff_text

    def headroom(kind: SwitchBuffers, found: PortThresholds) -> str:
        if is_configured(kind, "headroom_percent"):
            return f"{found.headroom_percent} % of {kind.headroom_pool_percent} %"
        return headroom_text(kind, f"{found.headroom_bytes / 1000:g} kB")

    rows = [
        (kind.where, found.name, *ramp_texts(kind, found), xoff_text(kind, found), headroom(kind, found))
        for kind in buffers
        for found in kind.thresholds
    ]
    if rows:
        columns = ("on", "ports", "Kmin", "Kmax", "Pmax", "XOFF", "headroom")
        print_table("Lossless queue (kB, % of the buffer)", columns, rows)
    _print_cuts(buffers)


def _print_cuts(buffers: tuple[SwitchBuffers, ...]) -> None:
    """Print the buffer division that the stated traffic allows."""
    from railfab.documents import division

    cut = [kind for kind in buffers if kind.plan.cut is not None]
    for kind in cut:
        echo_line(f"{kind.where}: {division(kind)}.")
    if cut:
        echo_line("")


def _print_power(fabric: Plan) -> None:
    """Print the power of all racks, and of the rack with the highest power."""
    from railfab.documents import heat, watts

    total_w, racks, hottest, hottest_w = heat(fabric)
    print_text(f"Power: {watts(total_w)} in {racks:,} racks, at most {watts(hottest_w)} in one ({hottest}).\n")

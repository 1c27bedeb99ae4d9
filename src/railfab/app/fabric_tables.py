"""Tables of the live view for large terminals: switches, and the busiest ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text

from railfab.app.cells import NOTE, VALUE, bar, last_seconds, short
from railfab.app.rates import FabricRates, PortRate, SwitchRates
from railfab.app.sparkline import sparkline

COLUMNS = (("BGP", 9), ("Gb/s", 11), ("ECN/s", 11), ("PFC/s", 11), ("drops/s", 10))
"""Headings and cells, between the name and the history of what a switch transmits."""
LEAST_HISTORY = 20
"""Cells of a history, below which rows have none."""
NO_RATES = SwitchRates(sent_gbps=0.0, marks_per_s=0.0, pauses_per_s=0.0, drops_per_s=0.0)


def switch_table(
    reading: FabricRates,
    history: Sequence[FabricRates],
    history_s: float,
    capacity_gbps: Mapping[str, float],
    *,
    cells: int,
    height: int,
) -> Iterator[Text]:
    """A heading, and a line for each switch by name; of more switches than lines, for those to look at first.

    capacity_gbps: what all ports of each switch can transmit.
    """
    names = sorted(reading.totals.switches)
    if not names:
        return
    shown = sorted(sorted(names, key=lambda name: _urgency(reading, name))[: height - 1])
    label = max(map(len, names)) + 2
    spark = cells - label - sum(size for _, size in COLUMNS) - 2
    heading = f"{len(shown)} of {len(names)} switches" if len(shown) < len(names) else "switch"
    columns = "".join(name.rjust(size) for name, size in COLUMNS)
    of_history = last_seconds(spark * history_s, spark + 2) if spark >= LEAST_HISTORY else ""
    yield Text(f"{heading:<{label}}{columns}{of_history}", style="dim")
    for name in shown:
        line = _switch(reading, name, label)
        if spark >= LEAST_HISTORY:
            values = [past.switches[name].sent_gbps if name in past.switches else None for past in history]
            line.append("  ").append(sparkline(values, most=capacity_gbps.get(name, 0.0), width=spark), "green")
        yield Text(line.plain, style="dim") if name in reading.stale else line


def _urgency(reading: FabricRates, name: str) -> tuple[float, ...]:
    """The lower, the earlier a switch is shown: those that are down, then by what they lose, pause, mark and send."""
    switch, rates = reading.totals.switches[name], reading.switches.get(name, NO_RATES)
    up = switch.sessions_up == switch.sessions and switch.is_up
    return (
        up,
        name not in reading.stale,
        -rates.drops_per_s,
        -rates.pauses_per_s,
        -rates.marks_per_s,
        -rates.sent_gbps,
    )


def _switch(reading: FabricRates, name: str, label: int) -> Text:
    switch, rates = reading.totals.switches[name], reading.switches.get(name)
    sizes = iter(size for _, size in COLUMNS)
    up = switch.sessions_up == switch.sessions
    line = Text.assemble(
        (name.ljust(label), "" if switch.is_up else "bold red"),
        (f"{switch.sessions_up}/{switch.sessions}".rjust(next(sizes)), "green" if up else "bold red"),
    )
    if rates is None:
        return line.append("".join("-".rjust(size) for size in sizes))
    line.append(f"{rates.sent_gbps:,.{0 if rates.sent_gbps >= 10 else 1}f}".rjust(next(sizes)))
    for value, style in ((rates.marks_per_s, "yellow"), (rates.pauses_per_s, "magenta"), (rates.drops_per_s, "red")):
        line.append(short(value).rjust(next(sizes)), f"bold {style}" if value else "")
    return line


def busiest_ports(reading: FabricRates, *, cells: int, height: int) -> Iterator[Text]:
    """A heading, and the ports with the highest shares of their rates, as many to a line as have room."""
    if not reading.busiest:
        return
    names = [f"{port.switch} {port.interface}" for port in reading.busiest]
    width = max(map(len, names)) + VALUE + NOTE
    across = max(1, cells // width)
    rows = [*zip(names, reading.busiest, strict=True)][: across * (height - 1)]
    yield Text("busiest ports", style="dim")
    for begin in range(0, len(rows), across):
        yield Text.assemble(*(_port(name, port, width) for name, port in rows[begin : begin + across]))


def _port(name: str, port: PortRate, width: int) -> Text:
    return Text.assemble(name.ljust(width - VALUE - NOTE), f"{port.gbps:,.1f} Gb/s".rjust(VALUE), bar([port.share]))

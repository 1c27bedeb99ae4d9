"""The catalogue as tables: for docs/catalogue.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from railfab.hosts import nic_models
from railfab.hosts.catalogue import Family
from railfab.hosts.files import nic_settings
from railfab.hosts.settings import Setting
from railfab.intent import Lossless
from railfab.qos import Chip
from railfab.qos import chips as qos_chips
from railfab.topology import SwitchModel, catalogue
from railfab.topology.equipment import host_models, media

Rows = Callable[..., str]
"""The function that makes a table of columns and rows."""


def switches(table: Rows) -> str:
    columns = ("model", "vendor", "silicon", "ports", "Gb/s", "split into", "buffer MB", "W", "U", "platforms", "from")
    return table(columns, map(_switch, catalogue().values()))


def _switch(model: SwitchModel) -> tuple[str, ...]:
    form = f"{model.cages} {model.cage}".strip()
    speeds = ", ".join(map(str, model.speeds_gbps)) if len(model.speeds_gbps) < 8 else "any"
    split = "; ".join(f"{lanes} x {', '.join(map(str, rates))}" for lanes, rates in model.breakouts.items())
    size = f"{model.buffer_bytes / 1e6:g}", str(model.power_w or ""), str(model.units or "")
    return (
        f"`{model.name}`",
        model.vendor,
        model.silicon,
        form,
        speeds,
        split,
        *size,
        ", ".join(model.names),
        model.source,
    )


def chips(table: Rows) -> str:
    columns = ("chip", "cell", "MAC and PHY", "in the chip ns", "pipeline", "worst case", "figures", "from")
    return table(columns, map(_chip, qos_chips().values()))


def _chip(chip: Chip) -> tuple[str, ...]:
    figures = f"{chip.cell_bytes}", f"{chip.mac_phy_bytes:g}", f"{chip.internal_ns:g}", f"{chip.pipeline_bytes:,}"
    return chip.name, *figures, f"x {chip.worst_case}", chip.uncertainty, chip.source


def hosts(table: Rows) -> str:
    rows = (
        (
            f"`{one.name}`",
            str(one.gpus),
            str(one.gpu_memory_gb),
            str(one.tflops),
            f"{one.power_w / 1000:g}",
            str(one.units),
            one.source,
        )
        for one in host_models()
    )
    return table(("model", "GPUs", "GB a GPU", "TFLOP/s a GPU", "kW", "U", "from"), rows)


def nics(table: Rows) -> str:
    rows = (
        (f"`{one.name}`", one.vendor, one.product, one.family, one.pci, str(one.rate_gbps), one.source)
        for one in nic_models().values()
    )
    return table(("nic", "vendor", "product", "driver family", "PCI", "Gb/s a port", "from"), rows)


def nic_commands(family: Family, table: Rows) -> str:
    """The settings of a family of NICs, for a fabric with the default classes; those of one command in one row."""
    groups = groupby(nic_settings(family, Lossless()), key=lambda one: (_writing(one), one.when))
    return table(("setting", "wanted", "set by", "after a reboot"), (_commands(list(group)) for _, group in groups))


def _commands(group: list[Setting]) -> tuple[str, str, str, str]:
    first = group[0]
    names, wanted = ", ".join(f"`{one.name}`" for one in group), ", ".join(_code(one.wanted) for one in group)
    where = "" if first.when is None else f" ({'with' if first.when.value == '1' else 'without'} a class of CNPs)"
    return names + where, wanted, _writing(first), "lost" if first.permanent else "kept"


def _writing(setting: Setting) -> str:
    commands = [" ".join(command) for command in (setting.undo or (), *setting.run) if command]
    files = setting.read.files if setting.text is not None else ()
    return ", ".join(map(_code, (*commands, *files))).replace("mlxconfig|mstconfig", "mlxconfig")


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def cables(table: Rows) -> str:
    return table(("Gb/s", "kinds, with what they reach"), _reaches())


def _reaches() -> Iterator[tuple[str, str]]:
    for rate_gbps in sorted({one.rate_gbps for one in media()}):
        kinds = sorted((one for one in media() if one.rate_gbps == rate_gbps), key=lambda one: (one.reach_m, one.name))
        yield str(rate_gbps), ", ".join(f"{one.name} {one.reach_m:g} m" for one in kinds)

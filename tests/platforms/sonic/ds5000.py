"""What a Celestica DS5000 has by itself: its rows of PORT (sonic-buildimage, x86_64-cls_ds5000-r0, port_config.ini)."""

from __future__ import annotations

from railfab.platforms.sonic.tables import Row, Tables, merged

LANES = 8
BLOCKS = (0, 2, 3, 1)
"""Cages of four, in the order of the blocks of eight lanes of the chip that they have."""

HOST = {"hwsku": "DS5000", "platform": "x86_64-cls_ds5000-r0", "mac": "00:11:22:33:44:55", "type": "LeafRouter"}


def port_row(number: int, mode: str | None = None) -> Row:
    """The row of the port with the first electrical lane `number`. mode: of its broken-out cage, such as `2x400G`."""
    cage, lane = divmod(number, LANES)
    count, _, speed = (mode or "1x800G").removesuffix("G").partition("x")
    width = LANES // int(count)
    first = 1 + LANES * (4 * (cage // 4) + BLOCKS[cage % 4]) + lane
    return {
        "lanes": ",".join(map(str, range(first, first + width))),
        "alias": f"Eth{cage + 1}/{lane // width + 1}",
        "index": str(cage + 1),
        "speed": str(int(speed) * 1000),
        "fec": "rs",
        "admin_status": "down",
    }


def laid_over(tables: Tables) -> Tables:
    """A rendered configuration on a switch that has split its cages."""
    modes = {row: fields["brkout_mode"] for row, fields in tables.get("BREAKOUT_CFG", {}).items()}
    ports = {}
    for name in tables.get("PORT", {}):
        number = int(name.removeprefix("Ethernet"))
        ports[name] = port_row(number, modes.get(f"Ethernet{number - number % LANES}"))
    return merged(({"DEVICE_METADATA": {"localhost": dict(HOST)}, "PORT": ports}, tables))

"""Configurations of SONiC as a switch runs them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.platforms.sonic.ds5000 import laid_over
from tests.platforms.sonic.row_lines import every_field

from railfab.device import DeviceModel
from railfab.platforms import admit, platform
from railfab.platforms.sonic.schema import schema
from railfab.platforms.sonic.tables import Tables

SONIC = platform("sonic")


def whole(model: DeviceModel) -> Tables:
    """The configuration of a switch as it runs: rendered, over what its hardware gives it."""
    return laid_over(SONIC.render(admit(model, SONIC)))


def unlisted_fields(trees: Iterable[Tables]) -> list[str]:
    """The fields of configurations that `every_field.txt` lacks."""
    return sorted({*_fields(trees)} - {*_fields([every_field()])})


def _fields(trees: Iterable[Tables]) -> Iterator[str]:
    """The fields of all rows, by table and the names of the parts of the key; entries of a map are of no name."""
    for tree in trees:
        for table, rows in tree.items():
            for row, fields in rows.items():
                known = schema().of_row(table, row)
                of_row = f"{table}|{'|'.join(known.get('keys', [row]))}"
                yield of_row
                yield from (f"{of_row} {name}" for name in fields if "map" not in known)

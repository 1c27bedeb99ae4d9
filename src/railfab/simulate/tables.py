"""Operations, links and ranks of runs as Parquet files. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from railfab.fabric import Design
from railfab.forwarding import LinkTable
from railfab.simulate.details import OperationDetail
from railfab.simulate.link_places import LinkPlaces, link_places
from railfab.simulate.results import FabricEstimate
from railfab.simulate.sweeps import SweepResult

Columns = Mapping[str, Any]
"""Values of a column by its name."""
ENDS = ("node", "port", "far_node", "far_port")
DesignRun = tuple[Design, FabricEstimate]


def write_tables(runs: Sequence[DesignRun], folder: Path) -> list[Path]:
    """Write operations.parquet, and links.parquet and ranks.parquet of runs with details; the paths.

    folder: exists.
    """
    paths = [_write(folder / "operations.parquet", map(_operations, runs))]
    detailed = [each for each in runs if each[1].details]
    if detailed:
        paths += [
            _write(folder / "links.parquet", chain.from_iterable(map(_links, detailed))),
            _write(folder / "ranks.parquet", chain.from_iterable(map(_ranks, detailed))),
        ]
    return paths


def write_results(results: Sequence[SweepResult], path: Path) -> Path:
    """Write the results of a sweep, a row each."""
    rows = [{**asdict(result), "faults": list(result.faults), "settings": list(result.settings)} for result in results]
    return _write(path, [{name: [row[name] for row in rows] for name in rows[0]}])


def _write(path: Path, parts: Iterable[Columns]) -> Path:
    """Write columns, part after part, as one file; whole or not at all."""
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.concat_tables([pyarrow.table(dict(part)) for part in parts], promote_options="permissive")
    part = path.with_name(f".{path.name}.part")
    try:
        parquet.write_table(table, part, compression="zstd")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def _operations(each: DesignRun) -> Columns:
    """A row for each operation of the slowest stage; what the fabric adds is null where it was not followed."""
    design, run = each
    known = {(held.group, held.op, held.algorithm): held for held in run.contentions}
    rows = []
    for turn in run.step.collectives:
        held = known.get((turn.group, turn.op, turn.algorithm))
        fabric = {
            "groups": held and held.groups,
            "followed_bytes": held and held.size_bytes,
            "ideal_s": held and held.ideal_s,
            "median_s": held and held.median_s,
            "slowest_s": held and held.slowest_s,
            "link": held.link or None if held else None,
        }
        rows.append({"fabric": design.intent.fabric, "seed": run.seed, **asdict(turn), **fabric})
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def _links(each: DesignRun) -> Iterator[Columns]:
    """A row for each operation and link of the backend."""
    design, run = each
    places, table = link_places(design.topology), LinkTable(design.topology)
    numbers = places.links.tolist()
    ends = [(*table.keys[link], *table.far_key(link)) for link in numbers]
    for detail in run.details:
        yield {
            **_of_operation(design, run, detail, len(numbers)),
            **{name: [end[place] for end in ends] for place, name in enumerate(ENDS)},
            **_names(places),
            "capacity_bytes_per_s": detail.capacity[places.links],
            "carried_bytes": detail.link_bytes[places.links],
            "mean_load": detail.load[places.links],
            "peak_load": detail.peak[places.links],
        }


def _names(places: LinkPlaces) -> Columns:
    return {
        "tier": [places.tiers[number] for number in places.tier.tolist()],
        "rails": [list(places.rails[number]) for number in places.rail.tolist()],
    }


def _ranks(each: DesignRun) -> Iterator[Columns]:
    """A row for each operation and rank that has transfers in it."""
    design, run = each
    for detail in run.details:
        ranks = np.flatnonzero(detail.group_of_rank >= 0)
        places = [detail.ranks[rank] for rank in ranks.tolist()]
        yield {
            **_of_operation(design, run, detail, len(ranks)),
            "rank": ranks,
            "host": [place.host for place in places],
            "gpu": [place.gpu for place in places],
            "group_number": detail.group_of_rank[ranks],
            "seconds": detail.rank_s[ranks],
            "ideal_s": detail.rank_ideal_s[ranks],
        }


def _of_operation(design: Design, run: FabricEstimate, detail: OperationDetail, count: int) -> Columns:
    values = design.intent.fabric, run.seed, detail.group, detail.op
    return {name: [value] * count for name, value in zip(("fabric", "seed", "group", "op"), values, strict=True)}

"""The JSON that nccl-tests writes (-J), format version 3."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import nan
from pathlib import Path
from typing import Any

from railfab.bounded_json import load_json
from railfab.imports.existing import SourceError
from railfab.imports.nccl_tests_run import OTHER_FILE, RankDevice, ResultRow, measured_run, operation
from railfab.workload.measured_run import MeasuredRun

FORMAT_VERSION = 3
AS_TEXT = "Give the text that nccl-tests prints"
HALVES = (("out_of_place", False), ("in_place", True))


class _Missing(Exception):
    """A key without a value of its type."""


def parsed(path: Path, text: str) -> MeasuredRun:
    """The run in a document. Raises SourceError with the line, or the key."""
    document = _document(path, text)
    version = document.get("version")
    if version != FORMAT_VERSION:
        problem = f"is format version {version} of nccl-tests' JSON, and railfab reads {FORMAT_VERSION}"
        raise SourceError(str(path), problem, AS_TEXT)
    if "average_bus_bandwidth" not in document:
        problem = "has no average_bus_bandwidth: the run did not end"
        raise SourceError(str(path), problem, "Give the output of a run that ended")
    try:
        op = operation(str(path), _value(_value(document, "args", list), 0, str))
        config = _value(document, "config", dict)
        rows = [
            row for number in range(len(_value(document, "results", list))) for row in _rows(path, document, number)
        ]
        return measured_run(path, op, list(_devices(config)), rows, _value(config, "iterations", int))
    except _Missing as error:
        raise SourceError(str(path), f"{error} is missing or of another type", OTHER_FILE) from None


def _document(path: Path, text: str) -> dict[str, Any]:
    """The document; C prints the infinite bandwidth of a time of 0 as `inf`, which is no JSON."""
    try:
        document = load_json(text.replace(":inf", ":Infinity").replace(":-inf", ":-Infinity"))
    except json.JSONDecodeError as error:
        cut = text.rstrip()[-1:] != "}"
        problem = "is cut off: the run did not end" if cut else f"is not JSON ({error.msg}, column {error.colno})"
        raise SourceError(f"{path}:{error.lineno}", problem, "Give the output of a run that ended") from None
    except ValueError as error:
        raise SourceError(str(path), f"is {error}", OTHER_FILE) from None
    assert isinstance(document, dict)
    return document


def _value(holder: Any, key: str | int, kind: type) -> Any:
    """The value of a key or place. Raises _Missing."""
    try:
        value = holder[key]
    except (KeyError, IndexError, TypeError):
        value = None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _Missing(str(key) if isinstance(key, str) else f"entry {key}")
    return value


def _devices(config: Mapping[str, Any]) -> Iterator[RankDevice]:
    """The GPU of each rank. Of a process the document has the first alone, whose others have the next numbers."""
    per_process = _value(config, "nthreads", int) * _value(config, "ngpus", int)
    for entry in _value(config, "devices", list):
        rank, device = _value(entry, "rank", int), _value(entry, "device", int)
        bus = _value(entry, "device_hex", str)
        for step in range(per_process):
            yield RankDevice(
                rank=rank + step,
                group=_value(entry, "group", int),
                host=_value(entry, "hostname", str),
                device=device + step,
                bus=bus if step == 0 else f"{bus}+{step}",
            )


def _rows(path: Path, document: Mapping[str, Any], number: int) -> Iterator[ResultRow]:
    """The halves of a result; out-of-place is null in a replay."""
    result = document["results"][number]
    where = f"{path}: results[{number}]"
    size_bytes = _value(result, "size", int)
    for name, in_place in HALVES:
        if isinstance(result, dict) and result.get(name) is None:
            continue
        half = _value(result, name, dict)
        iterations = result.get(f"{name}_per_iter")
        yield ResultRow(
            where=where,
            size_bytes=size_bytes,
            in_place=in_place,
            seconds=_number(half, "time", 1e-6) if "time" in half else None,
            bus_bytes_per_s=_number(half, "bus_bw", 1e9),
            wrong=None if half.get("nwrong") is None else _number(half, "nwrong", 1.0),
            variation=None if iterations is None else _number(iterations, "cv_pct", 0.01),
        )


def _number(holder: Any, key: str, unit: float) -> float:
    """A number in a unit; what is not a number is there as text."""
    if isinstance(holder, dict) and holder.get(key) == "nan":
        return nan
    return float(_value(holder, key, (int, float))) * unit  # type: ignore[arg-type]

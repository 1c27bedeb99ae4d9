"""Running configurations of real devices, read by railfab's platforms: what raises, what is lost, what is modelled.

The configurations are those of `batfish/lab-validation`, a public repository, cloned wherever you like:

    python benchmarks/bench_parse.py ~/lab-validation              # some minutes, most of them for lost lines
    python benchmarks/bench_parse.py ~/lab-validation --show 20    # and examples of what raised and what was lost

A line counts unless it is blank, a comment, the version of the software, or only closes a block. It is lost if
changing its last word changes nothing in what is read: neither the model nor its unmodelled part. It is modelled if it
is not in that part.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench_design import show
from measured import machine, stay_on_one_core

from railfab.device import DeviceModel
from railfab.platforms import platform, platform_names
from railfab.platforms.differences import Side

KINDS = {"arista": "eos", "nx": "nxos", "junos": "junos", "cumulus": "frr"}
"""Platform of each system of a snapshot's `host_nos.txt`. Its Cumulus switches are configured by files, before NVUE:
their routing, `frr.conf`, is FRR's."""
FRR_BEGINS = re.compile(r"^frr version", re.MULTILINE)
UNCOUNTED = re.compile(r"\s*(?:$|[!#]|end$|exit$|exit-address-family$|\}$|(?:frr |set )?version\b)")
JSON_VALUE = re.compile(r'.*"(?=,?$)')
"""A line of a CONFIG_DB up to the end of its value; lines without one only open or close an object."""
CHANGED = "x"
"""What a word is changed by: after it, it is another one."""
COLUMNS = ("system", "files", "lines", "raised", "lost", "modelled", "CPU ms per 1,000 lines")


@dataclass(slots=True)
class Reading:
    """What came out for one platform. raised, lost: a text for each file, each line."""

    files: int = 0
    lines: int = 0
    unmodelled: int = 0
    cpu_s: float = 0.0
    raised: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def row(self, name: str) -> Sequence[str]:
        shares = f"{1 - self.unmodelled / self.lines:.0%}", f"{1e6 * self.cpu_s / self.lines:.1f}"
        return name, f"{self.files}", f"{self.lines:,}", f"{len(self.raised)}", f"{len(self.lost)}", *shares


def configurations(snapshots: Path) -> Iterator[tuple[str, Path, str]]:
    """Platform, file and text of every configuration of a system that railfab reads."""
    for snapshot in sorted(snapshots.iterdir()):
        table = snapshot / "show" / "host_nos.txt"
        systems = json.loads(table.read_text()) if table.exists() else {}
        for file in sorted((snapshot / "configs").glob("*/*")):
            text = file.read_text(errors="replace") if file.suffix in (".cfg", ".txt") else ""
            kind = KINDS.get(systems.get(file.parent.name, ""), _by_content(text))
            begins = FRR_BEGINS.search(text)
            if kind == "frr":
                text = text[begins.start() :] if begins else ""
            if kind is not None and text:
                yield kind, file, text
        for file in sorted((snapshot / "sonic_configs").glob("*/config_db.json")):
            yield "sonic", file, file.read_text()


def _by_content(text: str) -> str | None:
    """Platform of a configuration that no table names."""
    if text.startswith("set version"):
        return "junos"
    return "frr" if FRR_BEGINS.search(text) else None


def read(name: str, file: Path, text: str, into: Reading, every: int) -> None:
    """Read one configuration. every: 1 changes every line, n each n-th."""
    lines = text.splitlines()
    counted = [number for number, line in enumerate(lines) if _counts(name, line)]
    into.files += 1
    into.lines += len(counted)
    began_s = time.process_time()
    model = _parsed(name, text)
    into.cpu_s += time.process_time() - began_s
    if not isinstance(model, DeviceModel):
        into.raised.append(f"{file}: {model!r}")
        return
    into.unmodelled += unmodelled(name, text, model)
    for number in counted[::every]:
        changed = "\n".join((*lines[:number], _changed(lines[number]), *lines[number + 1 :]))
        if _parsed(name, changed) == model:
            into.lost.append(f"{file}:{number + 1}: {lines[number]}")


def _counts(name: str, line: str) -> bool:
    return JSON_VALUE.match(line) is not None if name == "sonic" else not UNCOUNTED.match(line)


def _changed(line: str) -> str:
    """The line with another last word; of a quoted one, within its quotes."""
    quoted = JSON_VALUE.match(line)
    return f"{line[: quoted.end() - 1]}{CHANGED}{line[quoted.end() - 1 :]}" if quoted else f"{line.rstrip()}{CHANGED}"


def unmodelled(name: str, text: str, model: DeviceModel) -> int:
    """Lines of a configuration that its model keeps as unmodelled; of a CONFIG_DB each is a field."""
    if name == "sonic":
        return len(model.unmodelled)
    known = platform(name)
    found = known.differences(text, known.text(known.render(model)))
    lines = Counter(difference.path for difference in found if difference.side is not Side.MISSING)
    return (lines & Counter(model.unmodelled)).total()


def _parsed(name: str, text: str) -> DeviceModel | Exception:
    """The model of a configuration, or what was raised."""
    try:
        return platform(name).parse(text)
    except Exception as error:  # noqa: BLE001
        return error


def examples(readings: Iterable[Reading], most: int) -> None:
    for reading in readings:
        for line in (*reading.raised[:most], *reading.lost[:most]):
            print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path, help="a clone of batfish/lab-validation")
    parser.add_argument("--platform", choices=sorted({*KINDS.values(), "sonic"}), help="this one alone")
    parser.add_argument("--every", type=int, default=1, help="change each n-th line only, which takes less time")
    parser.add_argument("--show", type=int, default=0, help="examples of each platform")
    options = parser.parse_args()
    stay_on_one_core()
    print(f"{machine()}\n")
    readings: dict[str, Reading] = {}
    for name, file, text in configurations(options.repository / "snapshots"):
        if name in platform_names() and options.platform in (None, name):
            read(name, file, text, readings.setdefault(name, Reading()), options.every)
    show("Running configurations", COLUMNS, (reading.row(name) for name, reading in sorted(readings.items())))
    examples(readings.values(), options.show)


if __name__ == "__main__":
    main()

"""Fuzz a reader of bytes from outside, led by the code that an input reaches: `-m tests.telemetry.fuzz.guided decode`.

It needs atheris (`make fuzz-deps`). Compiled code runs interpreted, since atheris watches Python's bytecode. Inputs
that reach new code are kept in `.fuzz/READER` for the next run. One that fails is written into the working directory
as `crash-...`, and run again by naming it.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

WATCHED = ["railfab.telemetry", "railfab.imports", "railfab.gnmi", "railfab.platforms", "railfab.endpoints"]
KEPT = Path(".fuzz")
LIMITS = ["-timeout=30", "-rss_limit_mb=2000"]


def main() -> None:
    """Fuzz one reader for a time, from valid bytes."""
    os.environ["RAILFAB_INTERPRETED"] = "1"
    import atheris

    with atheris.instrument_imports(include=WATCHED):
        from tests.telemetry.fuzz.readers import READERS, seeds
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("inputs", nargs="*", help="run these alone")
    parser.add_argument("--for", type=int, default=60, dest="seconds", help="seconds")
    options = parser.parse_args()
    corpus = KEPT / options.reader
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(options.reader)):
        (corpus / f"seed{number}").write_bytes(seed)
    limits = [*LIMITS, f"-max_total_time={options.seconds}"]

    def read(data: bytes) -> None:
        READERS[options.reader](data, KEPT)

    atheris.Setup([sys.argv[0], *limits, *(options.inputs or [str(corpus)])], read)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

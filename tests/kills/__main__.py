"""Print how the cases of a kill matrix ended, and write them to benchmarks/kills.md: `make kills`.

python -m tests.kills FILE [--page]
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measured import hardware
from tests.conftest import REPOSITORY
from tests.kills.tally import Case, cases, table

PAGE = REPOSITORY / "benchmarks" / "kills.md"
BEGINS, ENDS = "<!-- figures: kills -->\n", "<!-- end -->\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--page", action="store_true", help="write the figures to benchmarks/kills.md")
    options = parser.parse_args()
    every = cases(options.file)
    print(table(every))
    failed = [case for case in every if case.result == "failed"]
    for case in failed:
        print(f"{case.platform} {case.change}: {case.event} {case.moment} step {case.step}, {case.ending}:")
        print(f"    {case.problem}")
    if options.page:
        head, _, rest = PAGE.read_text().partition(BEGINS)
        PAGE.write_text(f"{head}{BEGINS}{figures(every)}{ENDS}{rest.partition(ENDS)[2]}")
    return bool(failed)


def figures(every: list[Case]) -> str:
    """The part of the page that is measured."""
    first, last = min(case.began for case in every), max(case.began + case.took_s for case in every)
    began, ended = (datetime.fromtimestamp(time, UTC) for time in (first, last))
    failed = sum(case.result == "failed" for case in every)
    alone = sum(case.ending == "none" for case in every)
    head = f"{len(every):,} cases, {failed} failed, of {alone:,} the deploy ended well by itself; "
    head += f"{began:%Y-%m-%d %H:%M} to {ended:%H:%M} UTC; {hardware()}."
    return f"{head}\n\n```text\n{table(every)}```\n"


if __name__ == "__main__":
    sys.exit(main())

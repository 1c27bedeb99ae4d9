"""Judge every switch of every design, and write benchmarks/oracles.md: `make oracles`.

python -m tests.oracles INTENT ...       these designs only, and write no page
python -m tests.oracles --most 150       of a larger design as many switches, at equal distances
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.measured import machine
from tests.conftest import REPOSITORY, oracle_folder
from tests.oracles.every_switch import OracleRun, page

PAGE = REPOSITORY / "benchmarks" / "oracles.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intents", type=Path, nargs="*")
    parser.add_argument("--most", type=int, help="switches of a design that are judged")
    options = parser.parse_args()
    every = (*REPOSITORY.glob("inventory/fabrics/*.yml"), *REPOSITORY.glob("labs/*/intent.yml"))
    judged = "Every switch was judged" if options.most is None else f"At most {options.most} switches of a design"
    run = OracleRun(oracle_folder(), Path(), options.most)
    for path in options.intents or sorted(every):
        print(path, flush=True)
        run.judge_design_apart(path)
    written = page(run.verdicts, run.missing, f"{judged}; {machine()}.")
    print(written)
    if not options.intents:
        PAGE.write_text(written)
    return any(verdict.refused for verdict in run.verdicts.values())


if __name__ == "__main__":
    sys.exit(main())

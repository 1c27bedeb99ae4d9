#!/usr/bin/env python3
"""Return switches to what they ran before a deploy, or in a snapshot, as a Nornir run to read, copy and change.

python playbooks/rollback.py inventory/fabrics/pod64.yml --on twin --plan
"""

import argparse
import sys
from pathlib import Path

from railfab.deploy import Journal, apply_all, is_snapshot, nornir_of, preview_all, snapshot_target
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.fabric import design, resolve_endpoints
from railfab.text.printable import printable_lines


def main() -> int:
    """Exit code: 0 done, 1 partly failed, 2 cannot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    parser.add_argument("--to", metavar="ID|DIR", help="undo this deploy and all later ones, or return to a snapshot")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--plan", action="store_true", help="show the differences and stop")
    action.add_argument("--yes", action="store_true", help="change the switches, without a question")
    arguments = parser.parse_args()
    fabric = design(arguments.intent)
    journal = Journal(STATE_DIR, fabric.intent.fabric)
    if is_snapshot(arguments.to or ""):
        texts = snapshot_target(fabric, Path(arguments.to), arguments.on, STATE_DIR).texts
    else:
        texts = journal.texts_before(journal.last().deploy if arguments.to is None else arguments.to)
    nornir = nornir_of(fabric, resolve_endpoints(fabric, arguments.on, STATE_DIR, among=texts))
    if arguments.plan:
        for change in preview_all(nornir, texts, lambda _name: None):
            print(f"{change.name}: {'would change' if change.changed else 'no change'}")
            print(printable_lines(change.diff))
        return 0
    with journal.open("rollback") as entry:
        outcomes = apply_all(nornir, texts, entry.change, lambda _name: None, keep=entry.keep)
        entry.finish({outcome.name: outcome.result for outcome in outcomes})
    for outcome in outcomes:
        print(f"{outcome.name}: {outcome.result}{f' ({outcome.error})' if outcome.failed else ''}")
    failed = sum(outcome.failed for outcome in outcomes)
    return 0 if not failed else 2 if failed == len(outcomes) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"rollback.py: {error}", file=sys.stderr)
        sys.exit(2)

#!/usr/bin/env python3
"""Give switches their traffic back after a drain, as a Nornir run to read, copy and change.

python playbooks/undrain.py inventory/fabrics/pod64.yml pod1-spine1 --on twin
"""

import argparse
import sys

from railfab.deploy import Journal, check_verb, nornir_of, operate_all
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.fabric import design, named, resolve_endpoints
from railfab.platforms import Verb
from railfab.text.printable import printable


def main() -> int:
    """Exit code: 0 done, 1 partly failed, 2 cannot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("switches", nargs="+", metavar="SWITCH")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    arguments = parser.parse_args()
    fabric = design(arguments.intent)
    names = named(fabric.topology, arguments.switches)
    check_verb(fabric, names, Verb.UNDRAIN)
    nornir = nornir_of(fabric, resolve_endpoints(fabric, arguments.on, STATE_DIR, among=names))
    with Journal(STATE_DIR, fabric.intent.fabric).open("undrain") as entry:
        outcomes = operate_all(nornir, Verb.UNDRAIN, lambda _outcome: None, keep=entry.keep)
        entry.finish({outcome.name: outcome.result for outcome in outcomes})
    for outcome in outcomes:
        print(printable(f"{outcome.name}: {outcome.result}{f' ({outcome.error})' if outcome.failed else ''}"))
    failed = sum(outcome.failed for outcome in outcomes)
    return 0 if not failed else 2 if failed == len(outcomes) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"undrain.py: {error}", file=sys.stderr)
        sys.exit(2)

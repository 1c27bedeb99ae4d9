#!/usr/bin/env python3
"""Bring the switches of a fabric to its intent, as a Nornir run to read, copy and change.

python playbooks/deploy.py inventory/fabrics/pod64.yml --on twin --limit spine --plan
"""

import argparse
import sys

from nornir.core.task import MultiResult

from railfab.deploy import Journal, configure, nornir_of, preview
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.fabric import NotAccepted, design, resolve_endpoints
from railfab.findings import DesignCode
from railfab.text.printable import printable, printable_lines


def state_of(results: MultiResult) -> str:
    return "failed" if results.failed else "changed" if results[0].changed else "no change"


def main() -> int:
    """Exit code: 0 done, 1 partly failed or errors in the design, 2 cannot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    parser.add_argument("--limit", help="switches or groups, for example leaf&rail_1")
    parser.add_argument("--accept", metavar="CODE", choices=list(map(str, DesignCode)), action="append", default=[])
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--plan", action="store_true", help="show the differences and stop")
    action.add_argument("--yes", action="store_true", help="change the switches, without a question")
    arguments = parser.parse_args()
    fabric = design(arguments.intent)
    texts = fabric.configurations(arguments.accept)
    nornir = nornir_of(fabric, resolve_endpoints(fabric, arguments.on, STATE_DIR, arguments.limit))
    if arguments.plan:
        result = nornir.run(task=preview, configurations=texts)
    else:
        with Journal(STATE_DIR, fabric.intent.fabric).open("deploy") as entry:
            result = nornir.run(task=configure, configurations=texts, change=entry.change, keep=entry.keep)
            entry.finish({name: state_of(results) for name, results in result.items()})
    for name, results in result.items():
        print(printable(f"{name}: {state_of(results)}{f' ({results[0].exception})' if results.failed else ''}"))
        if arguments.plan:
            print(printable_lines(results[0].diff))
    return 2 if len(result.failed_hosts) == len(result) else 1 if result.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NotAccepted as refused:
        print("\n".join(printable(finding.line) for finding in refused.findings))
        sys.exit(f"deploy.py: {refused}")
    except RailfabError as error:
        print(f"deploy.py: {error}", file=sys.stderr)
        sys.exit(2)

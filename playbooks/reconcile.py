#!/usr/bin/env python3
"""Deploy the intent to the switches that drifted from it, as a Nornir run to read, copy and change.

python playbooks/reconcile.py inventory/fabrics/pod64.yml --on twin --yes
"""

import argparse
import sys
from dataclasses import replace

from railfab.deploy import Journal, apply_all, drift_all, nornir_of
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.fabric import design, readable_endpoints
from railfab.text.printable import printable


def main() -> int:
    """Exit code: 0 all in step now, 1 some are not, 2 cannot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    parser.add_argument("--limit", help="switches or groups, for example leaf&rail_1")
    parser.add_argument("--yes", action="store_true", required=True, help="change the switches, without a question")
    arguments = parser.parse_args()
    fabric = design(arguments.intent)
    texts = fabric.configurations()
    endpoints, without_address = readable_endpoints(fabric, arguments.on, STATE_DIR, arguments.limit)
    switches = drift_all(nornir_of(fabric, endpoints), fabric, without_address=without_address)
    unread = [one for one in switches if one.error is not None]
    for switch in unread:
        print(printable(f"{switch.name}: {switch.error}"), file=sys.stderr)
    drifted = {one.name for one in switches if one.findings}
    chosen = replace(endpoints, nodes=tuple(node for node in endpoints.nodes if node.name in drifted))
    outcomes = []
    if drifted:
        with Journal(STATE_DIR, fabric.intent.fabric).open("deploy") as entry:
            nornir = nornir_of(fabric, chosen)
            outcomes = apply_all(nornir, texts, entry.change, lambda _outcome: None, keep=entry.keep)
            entry.finish({outcome.name: outcome.result for outcome in outcomes})
    for outcome in outcomes:
        print(printable(f"{outcome.name}: {outcome.result}{f' ({outcome.error})' if outcome.failed else ''}"))
    print(f"{len(switches)} switches: {len(drifted)} drifted, {sum(one.changed for one in outcomes)} changed")
    return 1 if unread or any(outcome.failed for outcome in outcomes) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"reconcile.py: {error}", file=sys.stderr)
        sys.exit(2)

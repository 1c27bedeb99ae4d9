#!/usr/bin/env python3
"""Compare the running configuration of each switch with the intent, as a Nornir run to read, copy and change.

python playbooks/drift.py inventory/fabrics/pod64.yml --on twin
"""

import argparse
import sys

from railfab.deploy import drift_all, nornir_of
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.fabric import design, readable_endpoints
from railfab.text.counted import counted
from railfab.text.printable import printable


def main() -> int:
    """Exit code: 0 all in step, 1 some drifted, 2 some cannot be read, or cannot at all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    parser.add_argument("--limit", help="switches or groups, for example leaf&rail_1")
    arguments = parser.parse_args()
    fabric = design(arguments.intent)
    endpoints, without_address = readable_endpoints(fabric, arguments.on, STATE_DIR, arguments.limit)
    switches = drift_all(nornir_of(fabric, endpoints), fabric, without_address=without_address)
    for switch in switches:
        print(printable(f"{switch.name}: {switch.error or switch.state}"))
        for finding in switch.findings:
            print(printable(f"  {finding.line}"))
    drifted, unknown = sum(bool(one.findings) for one in switches), sum(one.error is not None for one in switches)
    print(f"{len(switches) - unknown} of {counted(len(fabric.models), 'switch')} read, {drifted} drifted")
    return 1 if drifted else 2 if unknown else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"drift.py: {error}", file=sys.stderr)
        sys.exit(2)

#!/usr/bin/env python3
"""Compare the cables that switches see with the plan, as a Nornir run to read, copy and change.

python playbooks/cabling.py inventory/fabrics/pod64.yml --on twin
"""

import argparse
import sys

from railfab.deploy import nornir_of, read_cabling
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.fabric import design, limited, readable_endpoints
from railfab.text.printable import printable


def main() -> int:
    """Exit code: 0 no wrong cable, 1 wrong cables, 2 some switches cannot be read, or cannot at all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    parser.add_argument("--limit", help="switches or groups, for example leaf&rail_1")
    arguments = parser.parse_args()
    fabric = design(arguments.intent)
    endpoints, without_address = readable_endpoints(fabric, arguments.on, STATE_DIR, arguments.limit)
    names = [node.name for node in limited(fabric.topology, arguments.limit)]
    cabling, unread = read_cabling(nornir_of(fabric, endpoints), fabric, names, without_address=without_address)
    for error in unread.values():
        print(f"cabling.py: {error}", file=sys.stderr)
    findings = tuple(cabling.findings())
    for finding in findings:
        print(printable(finding.line))
    print(printable(cabling.summary))
    return 1 if findings else 2 if unread else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"cabling.py: {error}", file=sys.stderr)
        sys.exit(2)

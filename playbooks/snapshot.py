#!/usr/bin/env python3
"""Write what switches run and see now, or compare it with a snapshot, as a Nornir run to read, copy and change.

python playbooks/snapshot.py inventory/fabrics/pod64.yml --on twin -o before
python playbooks/snapshot.py inventory/fabrics/pod64.yml --on twin --since before
"""

import argparse
import sys
from pathlib import Path

from railfab.deploy import check_writable, compare_snapshots, nornir_of, read_snapshot, take_snapshot, write_snapshot
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.fabric import design, readable_endpoints
from railfab.text.printable import printable


def main() -> int:
    """Exit code: 0 done, or nothing different; 1 different, or some switches not read; 2 cannot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("-o", type=Path, metavar="DIR|FILE", help="write a snapshot")
    action.add_argument("--since", type=Path, metavar="DIR|FILE", help="compare with a snapshot")
    arguments = parser.parse_args()
    fabric = design(arguments.intent)
    before = read_snapshot(arguments.since, fabric.intent.fabric) if arguments.since else None
    if before is None:
        check_writable(arguments.o)
    endpoints, without_address = readable_endpoints(fabric, arguments.on, STATE_DIR)
    taken = take_snapshot(nornir_of(fabric, endpoints), fabric, without_address=without_address)
    for error in taken.unread.values():
        print(f"snapshot.py: {error}", file=sys.stderr)
    if before is None:
        write_snapshot(arguments.o, taken)
        print(printable(f"{len(taken.texts)} switches in {arguments.o}"))
        return 1 if taken.unread else 0
    compared = compare_snapshots(before, taken.snapshot)
    for switch in compared.different:
        for line in switch.lines:
            print(printable(f"{switch.name}: {line}"))
    print(f"{len(compared.switches)} switches, {len(compared.different)} different")
    return 1 if compared.different or compared.unknown else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"snapshot.py: {error}", file=sys.stderr)
        sys.exit(2)

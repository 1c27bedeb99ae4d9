#!/usr/bin/env python3
"""Check the live state of a fabric's switches against its intent, as a Nornir run to read, copy and change.

python playbooks/verify.py inventory/fabrics/pod64.yml --on twin
"""

import argparse
import sys

from railfab.deploy import nornir_of, verify_all
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.fabric import design, resolve_endpoints
from railfab.findings import Severity, findings_text
from railfab.text.counted import counted
from railfab.text.printable import printable


def main() -> int:
    """Exit code: 0 as the intent says but for notes, 1 findings, 2 cannot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    parser.add_argument("--limit", help="switches or groups, for example leaf&rail_1")
    arguments = parser.parse_args()
    fabric = design(arguments.intent)
    nornir = nornir_of(fabric, resolve_endpoints(fabric, arguments.on, STATE_DIR, arguments.limit))
    result = verify_all(nornir, fabric, wait_s=15, on_done=lambda _name: None)
    for unread in result.unread.values():
        print(f"verify.py: {unread}", file=sys.stderr)
    wrong = [finding for finding in result.findings if finding.severity is not Severity.NOTE]
    for finding in wrong:
        print(printable(finding.line))
    of = f"{len(result.checked)} of {counted(len(fabric.topology.switches()), 'switch')}"
    print(f"{of}, {findings_text(result.findings)}\n{result.cabling.summary}")
    return 2 if result.unread else 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"verify.py: {error}", file=sys.stderr)
        sys.exit(2)

#!/usr/bin/env python3
"""Check the design and the configurations of switches, which Nornir reads, against the intent and each other.

python playbooks/audit.py inventory/fabrics/pod64.yml --on twin
"""

import argparse
import sys

from nornir import InitNornir

from railfab.deploy import read_running
from railfab.errors import RailfabError
from railfab.fabric import design
from railfab.fabric.audit import CABLING_UNCHECKED, configuration_findings
from railfab.findings import Severity, findings_text
from railfab.text.counted import counted
from railfab.text.printable import printable


def main() -> int:
    """Exit code: 0 nothing but notes found, 1 findings, 2 cannot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    parser.add_argument("--limit", help="switches or groups, for example leaf&rail_1")
    arguments = parser.parse_args()
    nornir = InitNornir(
        inventory={"plugin": "RailfabInventory", "options": vars(arguments)},
        runner={"plugin": "threaded", "options": {"num_workers": 16}},
        logging={"enabled": False},
    )
    result = nornir.run(task=read_running)
    for name in result.failed_hosts:
        print(printable(f"audit.py: {result[name][0].exception}"), file=sys.stderr)
    fabric = design(arguments.intent)
    read = {name: found[0].result for name, found in result.items() if not found.failed}
    texts, drained = ({name: one.text for name, one in read.items()}, [name for name in read if read[name].drained])
    findings = (*fabric.findings, *configuration_findings(fabric, texts, drained))
    wrong = [finding for finding in findings if finding.severity is not Severity.NOTE]
    for finding in wrong:
        print(printable(finding.line))
    of = f"{len(texts)} of {counted(len(fabric.topology.switches()), 'switch')}"
    print(f"{of}, {findings_text(findings)}")
    print(CABLING_UNCHECKED)
    return 2 if result.failed else 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"audit.py: {error}", file=sys.stderr)
        sys.exit(2)

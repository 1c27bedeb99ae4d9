#!/usr/bin/env python3
"""Do both ends of every link agree? Reads the running configurations with Nornir and compares them link by link.

python playbooks/audit.py inventory/fabrics/pod64.yml --on twin
"""

import argparse
import sys

from nornir import InitNornir

from railfab.deploy import read_running
from railfab.device import disagreements
from railfab.errors import RailfabError
from railfab.fabric import design
from railfab.platforms import platform
from railfab.units import counted


def main() -> int:
    """Exit code: 0 they agree, 1 they do not, 2 cannot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    arguments = parser.parse_args()
    nornir = InitNornir(
        inventory={"plugin": "RailfabInventory", "options": {"intent": arguments.intent, "on": arguments.on}},
        runner={"plugin": "threaded", "options": {"num_workers": 16}},
        logging={"enabled": False},
    )
    result = nornir.run(task=read_running)
    for name in result.failed_hosts:
        print(f"audit.py: {result[name][0].exception}", file=sys.stderr)
    read = {name: found[0].result for name, found in result.items() if not found.failed}
    models = {name: platform(str(nornir.inventory.hosts[name].platform)).parse(text) for name, text in read.items()}
    findings = disagreements(design(arguments.intent).topology, models)
    for finding in findings:
        print(finding)
    print(f"{counted(len(models), 'switch')}, {counted(len(findings), 'finding')}")
    return 2 if result.failed else 1 if findings else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"audit.py: {error}", file=sys.stderr)
        sys.exit(2)

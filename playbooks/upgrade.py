#!/usr/bin/env python3
"""Install a software image on switches, one failure domain at a time, as a Nornir run to read, copy and change.

python playbooks/upgrade.py inventory/fabrics/pod64.yml EOS-4.34.2F.swi pod1-spine1 pod1-spine2 --on twin
"""

import argparse
import sys

from railfab.deploy import Journal, UpgradeRun, check_verb, drained_by_upgrades, remaining_in_turn, waves_of
from railfab.deploy.gates import source_of
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.fabric import design, named, present_endpoints
from railfab.platforms import Image, Verb
from railfab.text.printable import printable


def main() -> int:
    """Exit code: 0 done, 1 traffic stays, 2 cannot, 3 stopped at a switch."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("image", help="file on the switch, or a URL")
    parser.add_argument("switches", nargs="+", metavar="SWITCH")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    parser.add_argument("--version", default="", help="of the image; else its name states it")
    parser.add_argument("--yes", action="store_true", help="also switches whose traffic has no other path")
    arguments = parser.parse_args()
    fabric = design(arguments.intent)
    names = named(fabric.topology, arguments.switches)
    check_verb(fabric, names, Verb.DRAIN)
    domains = [wave.switches for wave in waves_of(fabric, names)]
    journal = Journal(STATE_DIR, fabric.intent.fabric)
    with journal.open("upgrade") as entry:
        findings, _ = remaining_in_turn(fabric, tuple(map(frozenset, domains)), arguments.on, STATE_DIR)
        for finding in findings:
            print(printable(finding.line))
        if findings and not arguments.yes:
            return 1
        results = UpgradeRun(
            fabric=fabric,
            endpoints=present_endpoints(fabric, arguments.on, STATE_DIR)[0],
            image=Image(place=arguments.image, version=arguments.version),
            keep=entry.keep,
            resumed=drained_by_upgrades(journal.deploys()),
            telemetry=source_of(fabric),
        ).upgrade(domains)
        entry.finish({result.name: result.journalled for result in results if result.result != "not begun"})
    for result in results:
        print(printable(result.error or f"{result.name}: {result.result} {result.after}"))
    return 3 if any(result.failed for result in results) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"upgrade.py: {error}", file=sys.stderr)
        sys.exit(2)

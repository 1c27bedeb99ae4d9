#!/usr/bin/env python3
"""Put a new device in the place of a switch, as a Nornir run to read, copy and change.

python playbooks/replace.py inventory/fabrics/pod64.yml pod1-spine1 --on twin
"""

import argparse
import sys

from railfab.deploy import Journal, Replacement
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.fabric import design, named, present_endpoints, session_endpoints
from railfab.text.printable import printable


def main() -> int:
    """Exit code: 0 done, 2 cannot, 3 configured and not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("switch")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    arguments = parser.parse_args()
    fabric = design(arguments.intent)
    (name,) = named(fabric.topology, [arguments.switch])
    session_endpoints(fabric, arguments.on, STATE_DIR, among=[name])
    replacement = Replacement(
        fabric=fabric,
        endpoints=present_endpoints(fabric, arguments.on, STATE_DIR)[0],
        journal=Journal(STATE_DIR, fabric.intent.fabric),
        name=name,
        on_step=lambda step: print(printable(f"{name}: {step}")),
    )
    device = replacement.check()
    result = replacement.replace(device)
    why = f" ({result.error})" if result.failed else ""
    print(printable(f"{name}: {result.result}: {device.model} with version {device.version}{why}"))
    return 0 if not result.failed else 3 if result.changed else 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"replace.py: {error}", file=sys.stderr)
        sys.exit(2)

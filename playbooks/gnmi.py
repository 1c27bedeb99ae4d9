#!/usr/bin/env python3
"""Read a path of a fabric's switches with pygnmi, as a Nornir run to read, copy and change.

python playbooks/gnmi.py inventory/fabrics/pod64.yml /system/name/host-name --on twin --limit leaf
"""

import argparse
import json
import sys

from nornir.core.task import Result, Task

from railfab.deploy import nornir_of
from railfab.endpoints import STATE_DIR
from railfab.errors import RailfabError
from railfab.fabric import design, resolve_endpoints
from railfab.text.printable import printable


def read(task: Task, path: str) -> Result:
    """The values at a path; `set` and `subscribe2` of the client work the same way."""
    client = task.host.get_connection("pygnmi", task.nornir.config)
    answer = client.get(path=[path], encoding="json_ietf")
    updates = [update for notification in answer["notification"] for update in notification.get("update", [])]
    return Result(host=task.host, result={update["path"]: update["val"] for update in updates})


def main() -> int:
    """Exit code: 0 all answered, 1 some did not, 2 cannot."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("intent")
    parser.add_argument("path")
    parser.add_argument("--on", help="twin, lab or a file; else the intent's inventory")
    parser.add_argument("--limit", help="switches or groups, for example leaf&rail_1")
    arguments = parser.parse_args()
    fabric = design(arguments.intent)
    nornir = nornir_of(fabric, resolve_endpoints(fabric, arguments.on, STATE_DIR, arguments.limit))
    with nornir:
        answers = nornir.run(read, path=arguments.path)
    for name, found in answers.items():
        for path, value in ({} if found.failed else found[0].result).items():
            print(printable(f"{name}: /{path}: {json.dumps(value)}"))
        if found.failed:
            print(printable(f"{name}: {found[0].exception}"), file=sys.stderr)
    return 1 if answers.failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RailfabError as error:
        print(f"gnmi.py: {error}", file=sys.stderr)
        sys.exit(2)

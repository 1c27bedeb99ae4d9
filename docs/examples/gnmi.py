"""Reads and changes a switch of a running twin over gNMI, with pygnmi and without railfab.

python docs/examples/gnmi.py SWITCH get PATH              print the values
python docs/examples/gnmi.py SWITCH growth SECONDS PATH   print the counters below a path that grow
python docs/examples/gnmi.py SWITCH set PATH VALUE        VALUE as JSON
python docs/examples/gnmi.py SWITCH delete PATH
"""

import json
import logging
import sys
import time
from pathlib import Path

import yaml
from pygnmi.client import gNMIclient, gNMIException

STATE = Path(".railfab")


def client(switch):
    """A connection to a switch: address, CA and credentials from the endpoints file."""
    twin = json.loads(next(STATE.glob("*.twin.json")).read_text())
    node = next(node for node in twin["nodes"] if node["name"] == switch)
    login = yaml.safe_load(Path(node["credentials"]).read_text())
    return gNMIclient(target=(node["host"], node["gnmi_port"]), path_cert=node["ca"], **login)


def read(switch, path):
    answer = switch.get(path=[path], encoding="json_ietf")
    return {update["path"]: update["val"] for update in answer["notification"][0]["update"]}


def counters(value, name=""):
    """Every 64-bit counter of a response by name; JSON_IETF writes them as strings."""
    if isinstance(value, dict):
        return {key: n for inner, v in value.items() for key, n in counters(v, f"{name}/{inner}").items()}
    if isinstance(value, list):
        entries = [entry for entry in value if isinstance(entry, dict)]
        return {key: n for entry in entries for key, n in counters(entry, f"{name}[{label(entry)}]").items()}
    return {name.strip("/"): int(value)} if isinstance(value, str) and value.isdigit() else {}


def label(entry):
    """The key of a list entry."""
    return next((entry[key] for key in ("index", "queue-name", "name") if key in entry), "")


def growth(switch, path, seconds):
    """Counters that grew, and their increase; with wildcards, names contain the matched path."""
    before = read(switch, path)
    time.sleep(seconds)
    for found, value in read(switch, path).items():
        former = counters(before[found])
        prefix = f"{found}/" if len(before) > 1 else ""
        for name, number in sorted(counters(value).items()):
            if number > former[name]:
                yield (prefix + name).rstrip("/") or found.rpartition("/")[2], number - former[name]


def main(name, verb, *arguments):
    with client(name) as switch:
        if verb == "get":
            for value in read(switch, arguments[0]).values():
                print(json.dumps(value, indent=2, sort_keys=True))
        elif verb == "growth":
            for counter, by in growth(switch, arguments[1], float(arguments[0])):
                print(f"{counter} +{by}")
        elif verb == "set":
            switch.set(update=[(arguments[0], arguments[1])], encoding="json_ietf")
        elif verb == "delete":
            switch.set(delete=[arguments[0]])


if __name__ == "__main__":
    logging.getLogger("pygnmi.client").handlers = [logging.NullHandler()]
    logging.getLogger("pygnmi.client").propagate = False
    try:
        main(*sys.argv[1:])
    except gNMIException as error:
        sys.exit(error.orig_exc.details())

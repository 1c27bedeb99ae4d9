"""Cuts links and stops gNMI servers of a running twin of pod64.

python docs/examples/control.py status
python docs/examples/control.py cut | restore SWITCH INTERFACE
python docs/examples/control.py stop | start SWITCH
"""

import sys
from pathlib import Path

from railfab.errors import RailfabError
from railfab.twin import connect


def main(verb, *names):
    twin = connect(Path(".railfab"), "pod64")
    if verb == "status":
        status = twin.status()
        print(f"job {status.job}, {status.sessions_up} of {status.sessions} BGP session ends up")
        if status.failure:
            print(f"the simulation failed and its job has stopped: {status.failure}")
        for reason in status.stalled:
            print(f"flows without path: {reason}")
    elif verb in ("cut", "restore"):
        twin.set_link(*names, up=verb == "restore")
    elif verb == "stop":
        twin.stop_switch(*names)
    elif verb == "start":
        twin.start_switch(*names)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except RailfabError as error:
        sys.exit(str(error))

"""A change of an FRR switch, made by a program that runs on the switch.

FRR has no candidate, no commit, no timer and no lock. This program makes them of files in `/var/run/frr/railfab`:

    lock                    held by the process that changes the configuration, and by its commands
    change/record.json      the pending change: name, state, deadline and job
    change/candidate/, change/former/   its configuration and the one before it, each as frr.conf
    ended.json              how earlier changes ended, so that confirming twice does nothing

and `/etc/frr/railfab.drained`, while the switch is drained by a verb.

`change` appears and disappears by one rename, so a process that is killed at any moment leaves it whole or not at all.
A job, forked before the first line is applied, restores the former configuration at the deadline. FRR's own startup
file is replaced by one rename when the change is confirmed, and by nothing else.

The session sends the program to the switch as an argument of python3, which frr-reload.py needs too, so no file that
another user could write is run. The modules use the standard library of Python 3.8 and each other, nothing else; of
`typing`, only in annotations. Each verb starts Python anew, so what it imports counts.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

MODULES = (
    "reload_output",
    "on_switch/places",
    "on_switch/daemons",
    "on_switch/commands",
    "system",
    "on_switch/texts",
    "on_switch/records",
    "on_switch/startup",
    "on_switch/draining",
    "on_switch/changes",
    "on_switch/verbs",
)
"""Each after those that it imports."""

NOT_ON_SWITCH = ("__future__", "railfab", "typing")
"""Packages whose imports are left out of the program."""

_OWN_IMPORT = re.compile(
    rf"^from (?:{'|'.join(NOT_ON_SWITCH)})(?:\.[\w.]+)? import (?:\([^)]*\)|[^(\n]*)\n", re.MULTILINE
)
"""Not by `ast`, which fails in CPython 3.11 when two threads parse at the same time (cpython/issues/106905)."""

PYTHON = ("python3", "-I", "-S", "-c")
"""Runs it without modules of the environment, the working directory and other packages."""


@cache
def program() -> str:
    """The source of the program: its modules in one text, without their imports of each other and of `typing`."""
    folder = files("railfab.platforms.frr")
    parts = [_without_own_imports(folder.joinpath(f"{name}.py").read_text(encoding="utf-8")) for name in MODULES]
    return "\n".join(["from __future__ import annotations", *parts, "main()"])


def _without_own_imports(source: str) -> str:
    return _OWN_IMPORT.sub("", source)

"""Text format of FRR's configuration.

The text equals the output of `show running-config no-header` of FRR 8.4: a section ends in `exit` (an address family in
`exit-address-family`) and top-level sections are separated by `!`. frr-reload.py then finds nothing to do on a second
push.
"""

from __future__ import annotations

from railfab.platforms.shared.line_tree import LineFormat, Section


def _block(word: str) -> str:
    """`ip` for the lines of all prefix lists, `header` for all other plain lines."""
    return "ip" if word == "ip" else "header"


FORMAT = LineFormat(
    indent=1,
    sections={word: Section(exit="exit") for word in ("interface", "router", "route-map", "bfd")},
    nested={
        "address-family": Section(exit="exit-address-family", before=True),
        "profile": Section(exit="exit", after=True),
    },
    exits=frozenset({"exit", "exit-address-family", "exit-vrf"}),
    comments="!#",
    header=frozenset({"Building configuration...", "Current configuration:"}),
    block=_block,
    keeps_blanks=False,
)

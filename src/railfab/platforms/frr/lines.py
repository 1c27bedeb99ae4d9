"""Text format of FRR's configuration.

The text equals the output of `show running-config no-header` of FRR 8.4: a section ends in `exit` (an address family in
`exit-address-family`) and top-level sections are separated by `!`. frr-reload.py then finds nothing to do on a second
push.
"""

from __future__ import annotations

from railfab.platforms.shared.line_tree import LineFormat, Section


def _block(line: str) -> str:
    """The kind of a list (`ip prefix-list`, `bgp community-list`), `header` for all other plain lines."""
    first, second, *_ = f"{line}  ".split(" ")
    return f"{first} {second}" if first in ("ip", "ipv6", "bgp") else "header"


FORMAT = LineFormat(
    indent=1,
    sections={word: Section(exit="exit") for word in ("interface", "router", "route-map", "bfd")}
    | {"vrf": Section(exit="exit-vrf")},
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

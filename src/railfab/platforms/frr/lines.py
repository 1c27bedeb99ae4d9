"""Text format of FRR's configuration.

The text equals the output of `show running-config no-header` of FRR 8.4: a section ends in `exit` (an address family in
`exit-address-family`) and top-level sections are separated by `!`. frr-reload.py then finds nothing to do on a second
push.
"""

from __future__ import annotations

from railfab.platforms.shared.line_tree import Line, LineFormat, SectionKind

RENDERED = ("interface", "router", "route-map", "bfd")
OTHERS = ("key", "l2vpn", "line", "mpls", "nexthop-group", "pbr-map", "pseudowire", "rpki", "segment-routing")
"""First words of the sections that railfab does not render."""


def _block(line: str) -> str:
    """The kind of a list (`ip prefix-list`, `bgp community-list`), `header` for all other plain lines."""
    first, second, *_ = f"{line}  ".split(" ")
    return f"{first} {second}" if first in ("ip", "ipv6", "bgp") else "header"


FORMAT = LineFormat(
    indent=1,
    sections={word: SectionKind(exit="exit") for word in (*RENDERED, *OTHERS)} | {"vrf": SectionKind(exit="exit-vrf")},
    nested={
        "address-family": SectionKind(exit="exit-address-family", before=True),
        "profile": SectionKind(exit="exit", after=True),
        "peer": SectionKind(exit="exit", after=True),
        "vni": SectionKind(),
        "bmp": SectionKind(),
    },
    exits=frozenset({"exit", "exit-address-family", "exit-vrf", "exit-vni"}),
    comments="!#",
    header=frozenset({"Building configuration...", "Current configuration:"}),
    block=_block,
    keeps_blanks=False,
)


def effective(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines that remain when FRR has read them in their order.

    `no LINE` takes back LINE, and all that is longer (its value); LINE takes back `no LINE`.
    """
    kept: list[Line] = []
    negative: set[str] = set()
    for line in lines:
        if not line.text.startswith("no "):
            if (negated := f"no {line.text}") in negative:
                kept = [earlier for earlier in kept if earlier.text != negated]
        else:
            positive = line.text.removeprefix("no ")
            others = [earlier for earlier in kept if not f"{earlier.text} ".startswith(f"{positive} ")]
            if len(others) < len(kept):
                kept = others
                continue
            negative.add(line.text)
        kept.append(Line(line.text, effective(line.children), line.number) if line.children else line)
    return tuple(kept)


def text(lines: tuple[Line, ...]) -> str:
    """The configuration text of rendered lines."""
    return FORMAT.text(lines)

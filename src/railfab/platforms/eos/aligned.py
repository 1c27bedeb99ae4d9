"""Names that a configuration of EOS may choose freely, as a rendered one has them."""

from __future__ import annotations

from railfab.platforms.eos.lines import FORMAT, canonical
from railfab.platforms.eos.spellings import with_profiles
from railfab.platforms.shared.free_names import ROUTE_MAPS, NameAlignment, NameKind

_MMU = r"platform trident mmu queue profile"
KINDS = (
    NameKind.of("qos profile", [r"qos profile (?P<name>\S+)"], [r"service-profile (?P<name>\S+)"]),
    NameKind.of(_MMU, [rf"{_MMU} (?P<name>\S+)"], [rf"{_MMU} (?P<name>\S+) (?P<key>apply)"]),
    NameKind.of(
        "neighbor",
        [r"neighbor (?P<name>\S+) peer[- ]group"],
        [
            r"neighbor (?:interface )?\S+ peer[- ]group (?P<name>\S+)(?: .*)?",
            r"bgp listen range \S+ peer[- ]group (?P<name>\S+)(?: .*)?",
        ],
        [r"(?:no )?neighbor (?P<name>(?!interface )\S+) .+"],
    ),
    *ROUTE_MAPS,
)
_NAMES = NameAlignment(format=FORMAT, kinds=KINDS, canonical=canonical)


def aligned(text: str, rendered: str) -> tuple[str, tuple[str, ...]]:
    """The text with the names of the rendered one, and every object that has another name.

    QoS that ports state themselves is that of profiles, which are named likewise.
    """
    lines = FORMAT.tree(text)
    stated = with_profiles(lines)
    return _NAMES.aligned(text if stated is lines else FORMAT.text(stated), rendered)

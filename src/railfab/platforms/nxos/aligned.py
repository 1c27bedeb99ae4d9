"""Names that a configuration of NX-OS may choose freely, as a rendered one has them."""

from __future__ import annotations

from railfab.platforms.nxos.lines import FORMAT, effective
from railfab.platforms.shared.free_names import ROUTE_MAPS, NameAlignment, NameKind

KINDS = (
    NameKind.of(
        "policy-map type qos",
        [r"policy-map (?:type qos )?(?P<name>(?!type )\S+)"],
        [r"service-policy (?:type qos )?input (?P<name>\S+)(?: no-stats)?"],
    ),
    NameKind.of(
        "policy-map type network-qos",
        [r"policy-map type network-qos (?P<name>\S+)"],
        [r"service-policy type network-qos (?P<name>\S+)"],
    ),
    NameKind.of(
        "policy-map type queuing",
        [r"policy-map type queuing (?P<name>\S+)"],
        [r"service-policy type queuing (?:in|out)put (?P<name>\S+)(?: no-stats)?"],
    ),
    NameKind.of(
        "class-map type qos",
        [r"class-map (?:type qos )?(?:match-(?:any|all) )?(?P<name>(?!type |match-)\S+)"],
        [r"class (?:type qos )?(?P<name>(?!type )\S+)"],
        by_content=True,
    ),
    *ROUTE_MAPS,
)
_NAMES = NameAlignment(format=FORMAT, kinds=KINDS, canonical=effective)


def aligned(text: str, rendered: str) -> tuple[str, tuple[str, ...]]:
    """The text with the names of the rendered one for the same uses, and every object that has another name."""
    return _NAMES.aligned(text, rendered)

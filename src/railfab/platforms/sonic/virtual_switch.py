"""The startup configuration of a virtual switch, which replaces its factory configuration and so has its ports.

The image sonic-vs is a Force10-S6000: 32 ports of four lanes (show interfaces status; NVIDIA, SONiC documentation,
"Switch Port Configuration").
"""

from __future__ import annotations

from railfab.errors import LabError
from railfab.platforms.sonic.tables import Row, Tables, merged, text

LANES = 4
FIRST_LANES = (
    *(25, 29, 33, 37, 45, 41, 1, 5, 13, 9, 17, 21, 53, 49, 57, 61),
    *(69, 65, 73, 77, 109, 105, 113, 117, 125, 121, 81, 85, 93, 89, 101, 97),
)
"""The first lane of each port, in front-panel order."""

SPEED_MBPS = 40_000
HOST = {"hwsku": "Force10-S6000", "platform": "x86_64-kvm_x86_64-r0", "type": "LeafRouter"}


def startup(tree: Tables) -> str:
    """A rendered configuration with the ports of a virtual switch, whose cages are not split. Raises LabError."""
    ports = {name: _port(name) for name in tree.get("PORT", {})}
    rendered = {name: table for name, table in tree.items() if name != "BREAKOUT_CFG"}
    return text(merged(({"DEVICE_METADATA": {"localhost": dict(HOST)}, "PORT": ports}, rendered)))


def _port(name: str) -> Row:
    digits = name.removeprefix("Ethernet")
    place, rest = divmod(int(digits), LANES) if digits.isdecimal() else (len(FIRST_LANES), 0)
    if rest or place >= len(FIRST_LANES):
        last = LANES * (len(FIRST_LANES) - 1)
        problem = f"is no port of a virtual switch, which has Ethernet0, Ethernet{LANES} and so on to Ethernet{last}"
        raise LabError(f"interface {name}", problem, "Use a fabric with fewer ports, or whole cages")
    first = FIRST_LANES[place]
    return {
        "lanes": ",".join(map(str, range(first, first + LANES))),
        "alias": f"fortyGigE0/{place * LANES}",
        "index": str(place),
        "speed": str(SPEED_MBPS),
    }

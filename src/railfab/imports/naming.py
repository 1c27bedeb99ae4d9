"""Recognize models, roles and platforms by the names that sources use for them."""

from __future__ import annotations

import re

from railfab.platforms import has_platform
from railfab.topology.model import Role

ROLES = {
    **{role.value: role for role in Role},
    **dict.fromkeys(("gpu-server", "gpu-host", "gpu-node", "compute", "compute-node"), Role.HOST),
    **dict.fromkeys(("storage-server", "storage-node"), Role.SERVER),
    **dict.fromkeys(("leaf-switch", "rail-switch", "rail", "tor", "top-of-rack"), Role.LEAF),
    **dict.fromkeys(("spine-switch",), Role.SPINE),
    **dict.fromkeys(("super-spine", "superspine"), Role.SUPER),
}
"""Roles by common names; other names are ignored."""
PLATFORMS = {
    **dict.fromkeys(("sr-linux", "nokia-srlinux", "nokia-sr-linux", "srl"), "srlinux"),
    **dict.fromkeys(("eos", "arista-eos"), "eos"),
    **dict.fromkeys(("sonic", "dell-sonic", "enterprise-sonic", "community-sonic"), "sonic"),
    **dict.fromkeys(("nxos", "nx-os", "cisco-nxos", "cisco-nx-os"), "nxos"),
    **dict.fromkeys(("junos", "juniper-junos", "junos-evolved", "junos-evo"), "junos"),
    **dict.fromkeys(("cumulus", "cumulus-linux", "nvidia-cumulus"), "cumulus"),
    **dict.fromkeys(("frrouting", "free-range-routing"), "frr"),
}
"""Platforms by common slugs; a platform of railfab has its own name too."""


def role_named(name: str) -> Role | None:
    return ROLES.get(slug(name))


def platform_named(name: str) -> str | None:
    known = slug(name)
    return PLATFORMS.get(known) or (known if has_platform(known) else None)


def slug(name: str) -> str:
    """Lower-case words with dashes between them."""
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))


def is_model(name: str, model: str) -> bool:
    """Whether the name of a model in a source contains the words of a catalogue model, as `Nokia 7220 IXR-D5` does
    `7220-ixr-d5`."""
    return f"-{slug(model)}-" in f"-{slug(name)}-"

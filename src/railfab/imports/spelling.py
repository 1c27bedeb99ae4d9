"""Sources spell models, roles and platforms in their own ways."""

from __future__ import annotations

import re

from railfab.topology.model import Role

ROLES = {
    **{role.value: role for role in Role},
    **dict.fromkeys(("gpu-server", "gpu-host", "gpu-node", "compute", "compute-node"), Role.HOST),
    **dict.fromkeys(("storage-server", "storage-node"), Role.SERVER),
    **dict.fromkeys(("leaf-switch", "rail-switch", "rail", "tor", "top-of-rack"), Role.LEAF),
    **dict.fromkeys(("spine-switch",), Role.SPINE),
    **dict.fromkeys(("super-spine", "superspine"), Role.SUPER),
}
"""Roles by what people call them; a name that is not here says nothing."""
PLATFORMS = {
    **dict.fromkeys(("srlinux", "sr-linux", "nokia-srlinux", "nokia-sr-linux", "srl"), "srlinux"),
    **dict.fromkeys(("eos", "arista-eos"), "eos"),
    **dict.fromkeys(("sonic", "dell-sonic", "enterprise-sonic", "community-sonic"), "sonic"),
    **dict.fromkeys(("nxos", "nx-os", "cisco-nxos", "cisco-nx-os"), "nxos"),
    **dict.fromkeys(("junos", "juniper-junos", "junos-evolved", "junos-evo"), "junos"),
    **dict.fromkeys(("cumulus", "cumulus-linux", "nvidia-cumulus"), "cumulus"),
    **dict.fromkeys(("frr", "frrouting", "free-range-routing"), "frr"),
}
"""Platforms by the slugs that people give them."""


def role_called(name: str) -> Role | None:
    return ROLES.get(slug(name))


def platform_called(name: str) -> str | None:
    return PLATFORMS.get(slug(name))


def slug(name: str) -> str:
    """Lower-case words with dashes between them."""
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))


def is_model(spelled: str, model: str) -> bool:
    """Whether a source's model is ours: its words hold ours side by side, as `Nokia 7220 IXR-D5` does `7220-ixr-d5`."""
    return f"-{slug(model)}-" in f"-{slug(spelled)}-"

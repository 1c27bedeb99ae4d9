"""Route maps of a configuration that are policies."""

from __future__ import annotations

from railfab.platforms.nxos.names import DENY_ALL, DIRECT, KEPT_NEXT_HOP, PERMIT_ALL


def is_policy(name: str) -> bool:
    """Whether a route map neither stands for no policy nor repeats another one."""
    return policy_name(name) == name and name not in (DIRECT, DENY_ALL, PERMIT_ALL)


def policy_name(name: str) -> str:
    """The policy of a route map."""
    return name.removesuffix(KEPT_NEXT_HOP)

"""Cisco NX-OS on Nexus 9000: the running configuration as lines."""

from railfab.platforms.shared.folder import platform_of

__all__ = ["PLATFORM"]

PLATFORM = platform_of(
    __name__,
    suffix="cfg",
    text=".lines:text",
    differences=".parse:differences",
    refusals=".known_lines:refusals",
    scoped=".scope:scoped",
    session=".session:NxosSession",
)

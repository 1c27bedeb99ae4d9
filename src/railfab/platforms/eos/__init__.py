"""Arista EOS: configuration as lines."""

from railfab.platforms.shared.folder import platform_of

__all__ = ["PLATFORM"]

PLATFORM = platform_of(
    __name__,
    suffix="cfg",
    render=".configuration:render",
    text=".lines:text",
    parse=".configuration:parse",
    differences=".configuration:differences",
    startup=".scoped:startup",
    session=".session:EosSession",
)

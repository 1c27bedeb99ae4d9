"""FRRouting on Linux: integrated configuration, pushed with frr-reload.py over SSH."""

from railfab.platforms.shared.folder import platform_of

__all__ = ["PLATFORM"]

PLATFORM = platform_of(
    __name__,
    suffix="conf",
    text=".lines:text",
    differences=".parse:differences",
    session=".session:FrrSession",
    refusals=".commands:refusals",
)

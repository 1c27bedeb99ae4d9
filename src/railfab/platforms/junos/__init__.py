"""Juniper Junos OS and Junos OS Evolved on QFX switches: configuration in braces, loaded with `load override`."""

from railfab.platforms.shared.folder import platform_of

__all__ = ["PLATFORM"]

PLATFORM = platform_of(
    __name__,
    suffix="conf",
    text="railfab.platforms.shared.brace_text:brace_text",
    differences=".parse:differences",
    session=".session:JunosSession",
)

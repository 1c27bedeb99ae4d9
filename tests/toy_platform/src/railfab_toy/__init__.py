"""Toy OS: a switch operating system with a CLI of lines, a candidate, and commits that revert by themselves."""

from railfab.platforms.shared.folder import platform_of

PLATFORM = platform_of(
    __name__,
    name="toy",
    suffix="toy",
    render=".configuration:render",
    text=".configuration:text",
    parse=".configuration:parse",
    differences=".configuration:differences",
    session=".session:ToySession",
)

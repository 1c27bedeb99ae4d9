"""Groups of commands whose name alone is a command too: `railfab twin FILE` beside `railfab twin status`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

SERVE = "serve"
"""The hidden name of the command that a group is without another word."""


class DefaultGroup(TyperGroup):
    """A group in which what is no word of another command is an argument of SERVE."""

    default = SERVE

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        words = self.commands.keys() - {SERVE}
        completing = ctx.resilient_parsing and not args
        return super().parse_args(ctx, args if completing or (args[:1] and args[0] in words) else [SERVE, *args])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return "" if name == SERVE else name, command, rest

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        files = self.commands[SERVE].params[0].shell_complete(ctx, incomplete)
        return [*super().shell_complete(ctx, incomplete), *files]

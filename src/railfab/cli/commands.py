"""The commands of `railfab` by name; the module of a command is imported when the command is looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from railfab.cli.common import uncollected
from railfab.startup_cache import CACHE

PLACES: Mapping[str, tuple[str, str]] = {
    "new": ("new", "new"),
    "explain": ("explain", "explain"),
    "plan": ("plan", "plan"),
    "render": ("design", "render"),
    "audit": ("design", "audit"),
    "compare": ("compare", "compare"),
    "draw": ("draw", "draw"),
    "report": ("design_report", "report"),
    "export": ("export", "export"),
    "schema": ("design", "schema"),
    "deploy": ("deploy", "deploy"),
    "reconcile": ("reconcile", "reconcile"),
    "rollback": ("rollback", "rollback"),
    "history": ("history", "history"),
    "drain": ("drain", "drain"),
    "undrain": ("drain", "undrain"),
    "upgrade": ("upgrade", "upgrade"),
    "replace": ("replace", "replace"),
    "verify": ("verify", "verify"),
    "drift": ("drift", "drift"),
    "cabling": ("cabling", "cabling"),
    "doctor": ("doctor", "doctor"),
    "snapshot": ("snapshot", "snapshot"),
    "diff": ("snapshot", "diff"),
    "collect": ("collect", "collect_app"),
    "targets": ("target_check", "targets_app"),
    "import": ("from_gnmic", "import_app"),
    "agent": ("agent", "agent"),
    "up": ("up", "up"),
    "page": ("page", "page"),
    "lab": ("lab", "lab_app"),
    "dashboards": ("dashboards", "app"),
    "simulate": ("simulate", "simulate"),
    "sweep": ("sweep", "sweep"),
    "measured": ("measured", "measured"),
    "twin": ("twin_image", "twin_app"),
    "sim": ("sim", "sim_app"),
}
"""Module of each command in railfab.cli, and its function or application there, in the order of the help."""

HELP_NAMES = ["-h", "--help"]


class Commands(Mapping[str, Any]):
    """The command of each name, as the parser of command lines wants it."""

    def __getitem__(self, name: str) -> Any:
        if name not in PLACES:
            raise KeyError(name)
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


class CommandGroup(TyperGroup):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = Commands()
        self._is_listed = False

    def get_params(self, ctx: Any) -> list[Any]:
        hide_types_of_flags(self)  # not at the start: typer adds the options of completion later
        return super().get_params(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._is_listed = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._is_listed = False

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self._is_listed:
            return TyperCommand(cmd_name, help=summary(cmd_name))
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(PLACES)


def summary(name: str) -> str:
    """The help of a command, of which a list shows the first sentence; its module is imported only if it changed."""
    module, _ = PLACES[name]
    source = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    text: str = CACHE.result("help", f"{name}\0{source}", lambda _: _command(name).help or "")
    return text


@cache
def _command(name: str) -> Any:
    module, attribute = PLACES[name]
    with uncollected():
        found = getattr(import_module(f"railfab.cli.{module}"), attribute)
    alone = typer.Typer()
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name)
    else:
        alone.command(name)(found)
    command = get_group(alone).commands[name]
    for shown in (command, *getattr(command, "commands", {}).values()):
        hide_types_of_flags(shown)
    return command


def hide_types_of_flags(command: Any) -> None:
    """Show options that take no value, `--help` too, without one; typer would add `<bool>`."""
    for option in (*command.params, command.get_help_option(typer.Context(command, help_option_names=HELP_NAMES))):
        if getattr(option, "is_flag", False):
            option.metavar = ""

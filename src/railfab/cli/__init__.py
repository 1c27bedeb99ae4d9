"""The command line: arguments in, library call, exit code. Packages are imported where they are used, so that `plan`
starts fast and needs no extra."""

from __future__ import annotations

import logging
import os
import signal
import sys
from contextlib import suppress
from types import ModuleType, SimpleNamespace
from typing import Annotated, NoReturn, cast

import typer

from railfab import __version__
from railfab.cli.commands import HELP_NAMES, CommandGroup
from railfab.cli.common import CANNOT, report, report_line
from railfab.cli.echo import echo
from railfab.cli.logs import LogFormat, configure
from railfab.errors import RailfabError
from railfab.process.open_files import allow_open_files
from railfab.process.signals import INTERRUPTED, SIGNALS, ended_by_signal
from railfab.text.remedies import distribution, install

__all__ = ["app", "main"]

logger = logging.getLogger(__name__)

READER_GONE = 141
"""Exit code after SIGPIPE: the reader of the output has closed it."""

OPTIONAL = frozenset(
    ("numpy", "grpc", "google", "pygnmi", "prometheus_client", "cryptography", "nornir", "netmiko", "asyncssh")
) | {"grafana_foundation_sdk", "grafana_api", "pynetbox", "requests", "urllib3", "cramjam", "starlette", "uvicorn"}
"""Modules that the core does not need."""
EXTRAS = {
    "audit": "deploy",
    "deploy": "deploy",
    "reconcile": "deploy",
    "rollback": "deploy",
    "verify": "deploy",
    "drift": "deploy",
    "cabling": "deploy",
    "snapshot": "deploy",
    "diff": "deploy",
    "collect": "collect",
    "targets": "collect",
    "import": "collect",
    "compare": "netbox",
    "twin": "twin",
    "up": "all",
    "page": "page",
    "lab": "lab",
    "build": "dashboards",
    "push": "dashboards,grafana",
    "replay": "sim",
    "simulate": "sim",
    "sweep": "sim",
    "why": "sim",
}
"""Extras that install the dependencies of a command."""

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its errors are reported as ours; its own lines would repeat them
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # none is used, and the search reads every package
if "pydantic" not in sys.modules:  # its search imports importlib.metadata and email, a twentieth of the CPU of `plan`
    sys.modules["pydantic.plugin._loader"] = cast(ModuleType, SimpleNamespace(get_plugins=tuple))

app = typer.Typer(
    name="railfab",
    cls=CommandGroup,
    help="Design, render, deploy, observe and simulate the Ethernet fabrics of GPU clusters.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP_NAMES},
)


def _version(value: bool) -> None:
    if value:
        echo(f"railfab {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", metavar="", help="Write a log to stderr.")] = False,
    _: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    log_format: Annotated[
        LogFormat, typer.Option(help="Format of the log: lines, or a JSON object a line.")
    ] = LogFormat.TEXT,
) -> None:
    configure(log_format, verbose=verbose)
    allow_open_files()


def main() -> None:
    """Run a command. A RailfabError is one line on stderr and exit code 2; a defect keeps its traceback.

    With `--output json`, the line is a JSON document (`railfab.cli.common.report`).

    SIGTERM ends a command as Ctrl-C does, so that it cleans up. A signal that the process has inherited as ignored, as
    SIGINT in the background of a shell, stays ignored.
    """
    with ended_by_signal("interrupted", [sign for sign in SIGNALS if signal.getsignal(sign) != signal.SIG_IGN]):
        _run()


def _run() -> NoReturn:
    try:
        code = app(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except RailfabError as error:
        report(error)
        sys.exit(CANNOT)
    except typer.TyperException as error:
        _refuse(_usage(error))
    except typer.Abort:
        _refuse("stopped; nothing was changed.")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in OPTIONAL:
            raise
        extra = next((EXTRAS[word] for word in sys.argv[1:] if word in EXTRAS), "all")
        _refuse(f"{distribution(error.name or '')} is not installed. {install(extra)}")
    except (BrokenPipeError, SystemExit) as leaving:  # typer and rich leave by SystemExit when the reader has gone
        if isinstance(leaving, SystemExit) and not leaving.code:  # completions of a shell
            raise
        _drop_output()
        sys.exit(READER_GONE)
    except OSError as error:
        logger.info("what the operating system refused", exc_info=error)
        _drop_output()
        _refuse(_refused(error))
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    sys.exit(code)


def _refuse(line: str) -> NoReturn:
    if line:
        report_line(line)
    sys.exit(CANNOT)


def _usage(error: typer.TyperException) -> str:
    """A usage error in one line; empty when the help was printed instead."""
    message = " ".join(error.format_message().replace("Value error, ", "").split())
    context = getattr(error, "ctx", None)
    if not message or context is None:
        return message
    return f"{message}{'' if message[-1] in '.?' else '.'} See {context.command_path.rstrip()} --help."


def _refused(error: OSError) -> str:
    """An error of the operating system in one line, such as a full disk or a missing permission."""
    where = error.filename if isinstance(error.filename, str) else "output"
    return f"{where}: cannot be used ({(error.strerror or str(error)).lower()}). Check the place and its permissions."


def _drop_output() -> None:
    """Discard buffered output, so that the interpreter does not report it at its end."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

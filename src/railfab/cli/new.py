"""`railfab new`: a starter intent of a fabric, or a starter job."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from railfab.cli import completion
from railfab.cli.common import Output, OutputOption, given_parameters, print_json, print_table, refuse
from railfab.cli.echo import echo, echo_line
from railfab.errors import IntentError, RailfabError

SCHEMA = "intent.schema.json"


NOT_LISTED = {"design": "DESIGN", "out": "-o", "fabric": "--fabric"}
"""Parameters of a file that is written."""
NOT_OF_JOBS = {"design": "DESIGN", "fabric": "--fabric", "listed": "--list", "output": "--output"}
"""Parameters that a job does not have."""


def new(
    context: typer.Context,
    design: Annotated[
        str | None,
        typer.Argument(
            metavar="[DESIGN]",
            help="Name of a design in the list.",
            show_default=False,
            autocompletion=completion.designs,
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", metavar="FILE", help="New file; else stdout.")] = None,
    fabric: Annotated[
        str | None, typer.Option("--fabric", metavar="NAME", help="Name of the fabric; else the design's.")
    ] = None,
    job: Annotated[
        str | None,
        typer.Option(
            "--job", metavar="NAME", help="Write a job instead: of a model, or phases.", autocompletion=completion.jobs
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", metavar="", help="List the designs, as without DESIGN.")] = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Write a commented starter intent of a design, or a job; without either, list the designs and jobs."""
    from railfab.intent.starters import designs, starter

    if job is not None:
        refuse(given_parameters(context), NOT_OF_JOBS, "--job writes a job: leave out")
        _new_job(job, out)
        return
    if listed:
        refuse(given_parameters(context), NOT_LISTED, "--list writes no intent: leave out")
    if fabric is not None:
        _check_name(fabric)
    if design is None and (out is not None or fabric is not None):
        raise RailfabError("new", "no design is named", "`railfab new` lists them")
    if design is None:
        _print_designs(dict(designs()), output)
        return
    schema = _schema(out.parent if out else Path())
    text = starter(design, fabric=fabric, schema=schema)
    if out is not None:
        _write(out, text)
    if output is Output.JSON:
        file = str(out) if out else None
        print_json({"design": design, "fabric": fabric or design, "file": file, "schema": schema, "intent": text})
    elif out is None:
        echo(text, nl=False)
    else:
        _tell(out, known=schema != SCHEMA or (out.parent / SCHEMA).is_file())


def _new_job(name: str, out: Path | None) -> None:
    from railfab.intent.job_starters import starter_job

    text = starter_job(name)
    if out is None:
        echo(text, nl=False)
        return
    _write(out, text)
    echo_line(f"wrote {out}; what it takes: railfab simulate FABRIC.yml --job {out}", err=True)


def _check_name(fabric: str) -> None:
    from railfab.intent.model import NAME_PATTERN

    if not re.match(NAME_PATTERN, fabric):
        problem = f"{fabric!r} is no name of a fabric"
        raise IntentError("--fabric", problem, "Use lower-case letters, digits and inner hyphens, up to 32")


def _print_designs(designs: dict[str, str], output: Output) -> None:
    if output is Output.JSON:
        print_json([{"design": design, "when": when} for design, when in designs.items()])
    else:
        print_table("Designs", ("design", "choose it for"), designs.items())
        from railfab.intent.job_starters import starter_jobs

        print_table("Jobs", ("--job", "what it is"), ((name, job["when"]) for name, job in starter_jobs().items()))


def _schema(folder: Path) -> str:
    """Path of the schema for editors: the nearest in a parent directory, else beside the file."""
    for above in (folder.absolute(), *folder.absolute().parents):
        if (above / SCHEMA).is_file():
            return Path(os.path.relpath(above / SCHEMA, folder.absolute())).as_posix()
    return SCHEMA


def _write(out: Path, text: str) -> None:
    """Write a new file; an existing one is never overwritten."""
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise RailfabError(str(out), "is there already", "Name another file with -o, or remove this one") from None
    except OSError as error:
        problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
        raise RailfabError(str(out), problem, "Choose another place with -o") from error


def _tell(out: Path, *, known: bool) -> None:
    """Print the next steps. known: whether the schema exists where the file says."""
    lines = [f"wrote {out}; what follows from it: railfab explain {out}"]
    if not known:
        lines.append(f"for editors to complete its keys: railfab schema > {out.parent / SCHEMA}")
    for line in lines:
        echo_line(line, err=True)

"""Completions of the shell: designs, intents of fabrics, switches and their groups, running twins and labs.

Without a completion, the shell completes names of files.
"""

from __future__ import annotations

import re
from pathlib import Path

import typer

from railfab.errors import RailfabError
from railfab.findings import DesignCode

INTENTS = ("inventory/fabrics/*.yml", "labs/*/intent.yml")
"""Where intents are, below the working directory."""
CUT = "cut"
"""Word of `--accept` for changes that cut hosts off."""
TERM = re.compile(r"[^,&!]*$")
"""The term of a limit that is being written."""


def designs(incomplete: str) -> list[tuple[str, str]]:
    """Designs, with when to choose each."""
    from railfab.intent.starters import designs as known

    return [(name, when) for name, when in known().items() if name.startswith(incomplete)]


def jobs(incomplete: str) -> list[tuple[str, str]]:
    """Starter jobs, with what each is."""
    from railfab.intent.job_starters import starter_jobs

    return [(name, job["when"]) for name, job in starter_jobs().items() if name.startswith(incomplete)]


def intents(incomplete: str) -> list[str]:
    """Intents below the working directory, files of YAML and folders."""
    folder = Path(incomplete.rpartition("/")[0] + "/" if "/" in incomplete else "")
    beside = [f"{path}/" if path.is_dir() else str(path) for path in sorted(_readable(folder)) if _is_choice(path)]
    known = [str(path) for pattern in INTENTS for path in sorted(Path().glob(pattern))]
    return [path for path in dict.fromkeys((*known, *beside)) if path.startswith(incomplete)]


def _readable(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_choice(path: Path) -> bool:
    return not path.name.startswith(".") and (path.is_dir() or path.suffix in {".yml", ".yaml"})


def sources(incomplete: str) -> list[str]:
    """What `--on` knows beside files."""
    return [name for name in ("twin", "lab") if name.startswith(incomplete)]


def export_formats(incomplete: str) -> list[tuple[str, str]]:
    """Formats of `export`, with what each is."""
    from railfab.exports import export_formats as known

    return [(name, export.help) for name, export in known().items() if name.startswith(incomplete)]


def design_codes(incomplete: str) -> list[str]:
    """Codes of findings about a design."""
    return [code for code in DesignCode if code.startswith(incomplete)]


def cut(incomplete: str) -> list[str]:
    """The word that accepts that hosts are cut off."""
    return [word for word in (CUT,) if word.startswith(incomplete)]


def design_codes_or_cut(incomplete: str) -> list[str]:
    """Codes of findings about a design, and `cut`."""
    return [*design_codes(incomplete), *cut(incomplete)]


def finding_codes(incomplete: str) -> list[str]:
    """Codes of findings about a design, and of kinds of hazards."""
    from railfab.platforms.hazard_kinds import hazard_kinds

    return [*design_codes(incomplete), *(code for code in hazard_kinds() if code.startswith(incomplete))]


def switches(ctx: typer.Context, incomplete: str) -> list[str]:
    """Switches of the intent that stands before."""
    return [name for name in _names(ctx, groups=False) if name.startswith(incomplete)]


def limits(ctx: typer.Context, incomplete: str) -> list[str]:
    """Limits whose last term is a switch or a group of the intent that stands before."""
    found = TERM.search(incomplete)
    term = found[0] if found else ""
    before = incomplete.removesuffix(term)
    return [before + name for name in _names(ctx, groups=True) if name.startswith(term)]


def _names(ctx: typer.Context, *, groups: bool) -> list[str]:
    """Names of the switches of an intent, and of their groups; none for an intent that cannot be read."""
    from railfab.fabric import design
    from railfab.fabric.limit import group_names

    path = ctx.params.get("intent") or next(iter(ctx.args), None)  # words are left over before an option's value
    if path is None or str(path) == "-":
        return []
    try:
        topology = design(path).topology
    except RailfabError:
        return []
    nodes = topology.switches()
    found = dict.fromkeys(group for node in nodes for group in group_names(topology, node)) if groups else {}
    return [*found, *(node.name for node in nodes)]

"""import gnmic: what a gnmic configuration becomes."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from railfab.cli.common import Output, OutputOption, print_json, print_table, print_text
from railfab.cli.echo import echo_line
from railfab.cli.tables import columns, with_command
from railfab.endpoints import write_private
from railfab.errors import RailfabError
from railfab.text.counted import counted, listed
from railfab.units import COLLECTOR_PORT

if TYPE_CHECKING:
    from railfab.imports.gnmic import Conversion
    from railfab.imports.gnmic.conversion import Export, HostsTarget, Renamed, Subscribed


import_app = typer.Typer(no_args_is_help=True, help="Convert the configurations of other tools.")

GnmicFile = Annotated[Path, typer.Argument(metavar="FILE", help="A gnmic configuration (YAML or JSON).")]
WriteOption = Annotated[
    Path | None,
    typer.Option("--write", metavar="DIR", help="Write hosts.yml and mappings.yml there.", show_default=False),
]
PlatformOption = Annotated[
    list[str] | None,
    typer.Option(
        "--platform",
        metavar="[PATTERN=]NAME",
        help="Platform of targets whose paths do not tell it; repeatable.",
        show_default=False,
    ),
]


@import_app.command("gnmic")
def from_gnmic(
    path: GnmicFile,
    write: WriteOption = None,
    platforms: PlatformOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Show what a gnmic configuration becomes: targets, subscriptions, metrics and settings. Connects to nothing."""
    from railfab.imports.gnmic import convert, read_gnmic

    conversion = convert(read_gnmic(path, os.environ), platforms or (), os.environ)
    written = _write(conversion, write) if write is not None else ()
    if output is Output.JSON:
        print_json(_document(conversion, written))
    else:
        _print(conversion, write)


def _write(conversion: Conversion, folder: Path) -> tuple[Path, ...]:
    """Write both files. Raises RailfabError rather than overwrite other ones."""
    from railfab.imports.gnmic.files import HOSTS, MAPPINGS, hosts_text, mappings_text

    if unplaced := conversion.unplaced:
        names = listed([target.source.name for target in unplaced])
        among = unplaced[0].platforms
        why = f"their paths are those of {listed(list(among))}" if among else "no platform has their paths"
        remedy = "Add --platform NAME for all of them, or --platform PATTERN=NAME for those whose names match"
        raise RailfabError(str(conversion.config.path), f"the platform of {names} is not known: {why}", remedy)
    texts = {folder / HOSTS: hosts_text(conversion), folder / MAPPINGS: mappings_text(conversion)}
    try:
        for path, text in texts.items():
            if path.exists() and path.read_text() != text:
                raise RailfabError(str(path), "exists with other content", "Name another folder, or move it away")
        for path, text in texts.items():
            write_private(path, text)
    except OSError as error:
        problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
        raise RailfabError(str(folder), problem, "Name a folder that you can write to") from None
    return tuple(texts)


def _print(conversion: Conversion, written: Path | None) -> None:
    notes = [(note.line or "", note.place, note.verdict.words, note.text) for note in conversion.notes]
    tables = (
        ("Targets", ("name", "address", "platform", "TLS", "credentials"), [*map(_target, conversion.targets)]),
        ("Subscriptions", ("subscription", "path", "mode", "railfab"), [*_paths(conversion)]),
        ("Metrics", ("gnmic", "railfab", "kind", "differs"), [*map(_metric, conversion.renamed)]),
        ("Settings", ("line", "key", "verdict", "in railfab"), notes),
    )
    for title, heading, rows in tables:
        if rows:
            print_table(title, heading, rows)
        else:
            print_text(f"{title}: none\n")
    for line in _next(conversion, written):
        echo_line(line)


def _target(target: HostsTarget) -> tuple[str, ...]:
    source = target.source
    (host, port), *_ = source.hosts
    platform = target.platform or ("unknown: " + ", ".join(target.platforms) if target.platforms else "unknown")
    return source.name, f"{host}:{port}", platform, _tls(target), target.credentials


def _tls(target: HostsTarget) -> str:
    source = target.source
    if source.insecure:
        return "none: plaintext"
    verified = "not verified" if source.skip_verify else f"by {source.ca}" if source.ca else "by the system's CAs"
    return f"{verified}, client certificate" if source.cert else verified


def _paths(conversion: Conversion) -> Iterator[tuple[str, ...]]:
    """A row for each path; several platforms may have it."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for one in conversion.subscribed:
        interval = f" {one.subscription.interval_s:g} s" if one.subscription.interval_s else ""
        key = (one.subscription.name, one.path, one.subscription.mode + interval)
        rows.setdefault(key, []).append(_becomes(one))
    return ((*key, "; ".join(found)) for key, found in rows.items())


def _becomes(one: Subscribed) -> str:
    metrics = len({rule.metric for rule in one.rules})
    if not one.platform:
        return "no platform has it"
    return f"{one.platform}: {counted(metrics, 'metric') if metrics else 'not mapped'}"


def _metric(row: Renamed) -> tuple[str, ...]:
    fixed = f"{{{', '.join(f'{name}={value}' for name, value in row.fixed.items())}}}" if row.fixed else ""
    labels = ", ".join(f"{theirs} is {ours}" for theirs, ours in row.labels.items() if theirs != "source")
    return row.gnmic, row.railfab + fixed, row.kind, "; ".join(filter(None, (row.change, labels)))


def _next(conversion: Conversion, written: Path | None) -> Iterator[str]:
    """What to do now: what to export, and the command that collects."""
    if conversion.exports:
        yield "Credentials are read from the environment:"
        yield from (f"  {_export(one, conversion.config.path)}" for one in conversion.exports)
    if conversion.renamed:
        yield "Series have a type, and the label device in place of source."
    if written is None:
        yield "Nothing is written yet: --write DIR writes hosts.yml and mappings.yml."
        return
    yield f"Written: {written / 'hosts.yml'}, {written / 'mappings.yml'}"
    yield from with_command("Next:", _command(conversion, written), columns())


def _export(export: Export, path: Path) -> str:
    if export.variable is not None:
        return f'export {export.name}="${export.variable}"'
    if export.text is not None:
        return f"export {export.name}={shlex.quote(export.text)}"
    return f"read -rs {export.name} && export {export.name}  # it is on line {export.line} of {path.name}"


def _command(conversion: Conversion, written: Path) -> str:
    words = ["railfab collect", f"--targets {shlex.quote(str(written / 'hosts.yml'))}"]
    words.append(f"--map {shlex.quote(str(written / 'mappings.yml'))}")
    if conversion.interval_s is not None:
        words.append(f"--interval {conversion.interval_s:g}")
    listens = [one.listen or f":{COLLECTOR_PORT}" for one in conversion.config.outputs if one.type == "prometheus"]
    if listens:
        host, _, port = listens[0].rpartition(":")
        words += ["--listen 0.0.0.0"] if host not in ("127.0.0.1", "localhost") else []
        words += [f"--port {port}"] if port.isdecimal() and int(port) != COLLECTOR_PORT else []
    return " ".join(words)


def _document(conversion: Conversion, written: Sequence[Path]) -> dict[str, Any]:
    """The report for machines."""
    return {
        "file": str(conversion.config.path),
        "targets": [
            dict(zip(("name", "address", "platform", "tls", "credentials"), _target(target), strict=True))
            | {"platform": target.platform, "platforms": target.platforms}
            for target in conversion.targets
        ],
        "subscriptions": [
            {
                "subscription": one.subscription.name,
                "path": one.path,
                "mode": one.subscription.mode,
                "interval_s": one.subscription.interval_s,
                "platform": one.platform,
                "metrics": sorted({rule.metric for rule in one.rules}),
            }
            for one in conversion.subscribed
        ],
        "metrics": [asdict(row) for row in conversion.renamed],
        "settings": [asdict(note) for note in conversion.notes],
        "exports": [{"name": one.name, "variable": one.variable, "line": one.line} for one in conversion.exports],
        "written": [str(path) for path in written],
    }

"""Configurations of switches from a folder, one file a switch, as `render` names them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.platforms import platform
from railfab.text.folding import folded_all

MAX_BYTES = 16_000_000
"""A configuration with tens of thousands of filter entries takes some MB; a larger file is another kind of file."""


def configuration_files(fabric: Design, folder: Path) -> dict[str, Path]:
    """The file of each switch in a folder that `render` wrote, by name."""
    return {name: folder / f"{name}.{platform(model.platform).suffix}" for name, model in fabric.models.items()}


def configurations_in(fabric: Design, folder: Path, names: Collection[str]) -> dict[str, str]:
    """The configurations of those of these switches that have a file there. Raises RailfabError for none at all."""
    files = configuration_files(fabric, folder)
    present = {name: file for name, file in files.items() if name in names and file.is_file()}
    if not present:
        problem = "contains no configuration of this fabric"
        raise RailfabError(str(folder), problem, "Name a folder that `render` wrote")
    return {name: _text(file) for name, file in present.items()}


def configurations_of(fabric: Design, folder: Path, names: Collection[str]) -> dict[str, str]:
    """The configurations of all these switches. Raises RailfabError, naming those that have no file there."""
    texts = configurations_in(fabric, folder, names)
    if missing := sorted(set(names) - texts.keys()):
        problem = f"contains no configuration of {folded_all(missing)}"
        raise RailfabError(str(folder), problem, "Render them as well, or name the others with --limit")
    return texts


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_BYTES:
            remedy = "Name a folder with one file for each switch"
            raise RailfabError(str(file), f"is larger than {MAX_BYTES:,} bytes, more than a configuration has", remedy)
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        problem = "is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else f"cannot be read ({error.strerror})"
        raise RailfabError(str(file), problem, "Save it as UTF-8, or render it again") from None

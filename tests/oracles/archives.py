"""Archives of the vendors' models."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

DATA_FILTER = getattr(tarfile, "data_filter", lambda member, _: member)
"""Debian 12's Python 3.11.2 has no filters yet (docs.python.org, tarfile, "Supporting older Python versions")."""

Models = TypeVar("Models")
_PREPARED: dict[tuple[object, Path, int], Any] = {}


def prepared(models: Callable[[Path, Path], Models], archive: Path, folder: Path) -> Models:
    """Return the models of an archive, which a process unpacks and loads once.

    folder: for the first call of the process, new and kept until its end. A forked process has models of its own.
    """
    key = (models, archive, os.getpid())
    if key not in _PREPARED:
        folder.mkdir(exist_ok=True)
        _PREPARED[key] = models(archive, folder)
    models_of_archive: Models = _PREPARED[key]
    return models_of_archive

"""Packages that only some users install, imported on use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from railfab.errors import RailfabError


class MissingExtra(RailfabError):
    """An optional package is not installed."""


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Around imports: names the extra to install where one of its packages is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        package = (missing.name or "").partition(".")[0]
        raise MissingExtra(
            "railfab dashboards", f"the package {package} is not installed", f"pip install 'railfab[{extra}]'"
        ) from missing

"""What a run follows from: its files and options, and the software that computes it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from railfab.compiled.cache import digest_of
from railfab.intent.document import STDIN, standard_input
from railfab.intent.load import intent_files
from railfab.platforms.registry import registered_modules
from railfab.workload.recorded import job_files

LIBRARIES = ("numpy", "numba", "pydantic")


def inputs_digest(intent: Path, job: Path, options: Iterable[str]) -> str:
    """Digest of what the files of a run say now, and of its options.

    Raises OSError for a file that cannot be read, RailfabError for an intent that is not YAML.
    """
    digest = blake2b(digest_size=16)
    files = (_octets(path) for path in (*intent_files(intent), *job_files(job)))
    for part in (*(option.encode() for option in options), b"", *files):
        digest.update(f"{len(part)} ".encode() + part)
    return digest.hexdigest()


def software_version() -> str:
    """Digest of all that computes a run: railfab, the platforms of other packages, Python and libraries."""
    files = {path for module in ("railfab", *registered_modules()) for path in sources(module)}
    return digest_of(files, (sys.version, *(f"{name} {_version(name)}" for name in LIBRARIES)))


@cache
def installed_version() -> str:
    """Version of railfab, with a digest of its code and of platforms of other packages: the same on any machine."""
    digest = blake2b(digest_size=4)
    for module in ("railfab", *sorted(registered_modules())):
        for path in sorted(path for path in sources(module) if path.suffix == ".py"):
            content = path.read_bytes()
            digest.update(f"{path.name} {len(content)} ".encode() + content)
    return f"{version('railfab')} ({digest.hexdigest()})"


def _octets(path: Path) -> bytes:
    return standard_input() if path == STDIN else path.read_bytes()


def sources(module: str) -> Iterator[Path]:
    """The files of the package that has a module, or of the module itself."""
    spec = find_spec(module.partition(".")[0])
    if spec is None:
        return
    if not spec.submodule_search_locations and spec.origin:
        yield Path(spec.origin)
    for folder in spec.submodule_search_locations or ():
        yield from (path for path in Path(folder).rglob("*") if "__pycache__" not in path.parts and path.is_file())


def _version(library: str) -> str:
    return version(library) if find_spec(library) else ""

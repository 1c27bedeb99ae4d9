"""The jobs of `railfab up` where the user names none."""

from __future__ import annotations

from pathlib import Path

PACKAGED = Path(__file__).parent / "jobs"
"""Where `inventory/jobs` of the repository has the same files."""
NAMES = ("ring.yml", "incast.yml")


def default_jobs(intent: Path) -> list[Path]:
    """Those in `jobs/` beside the folder of an intent; railfab's own where that folder does not have both."""
    beside = intent.resolve().parent.parent / "jobs"
    folder = beside if all((beside / name).is_file() for name in NAMES) else PACKAGED
    return [folder / name for name in NAMES]

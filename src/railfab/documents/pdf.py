"""A page as PDF, printed by Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from railfab.errors import RailfabError

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT_S = 120


def write_pdf(page: Path, path: Path) -> None:
    """Print an HTML file. Raises RailfabError where there is no Chromium, or it does not print."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        problem = "needs Chromium, which is not installed"
        raise RailfabError("--pdf", problem, f"Install chromium, or print {page} in a browser")
    with tempfile.TemporaryDirectory() as profile:
        # Chromium refuses its sandbox to root; the page is our own and has no script.
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            *sandbox,
            f"--user-data-dir={profile}",
            "--no-pdf-header-footer",
            f"--print-to-pdf={path.resolve()}",
            page.resolve().as_uri(),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            problem = "" if done.returncode == 0 and path.is_file() else f"{Path(browser).name} does not print it"
        except subprocess.TimeoutExpired:
            problem = f"{Path(browser).name} does not print it within {TIMEOUT_S} s"
    if problem:
        raise RailfabError(str(path), problem, f"Print {page} in a browser")

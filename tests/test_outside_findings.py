"""The scripts of findings/, outside CI: each is listed, pinned, leaves nothing behind and needs no railfab."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

FINDINGS = Path(__file__).parents[1] / "findings"
SCRIPTS = sorted(FINDINGS.glob("*.sh"))
PINNED = re.compile(r"\w(?:==|=|@v)\d[\w.+~-]*")
"""A package with its version, of PyPI, Debian or Go."""
ROW = re.compile(r"^\| \[(?P<name>[\w-]+\.sh)\]\((?P=name)\) \|(?: [^|]+ \|){3}$", re.MULTILINE)


def test_the_table_has_a_row_for_each_script() -> None:
    assert [row["name"] for row in ROW.finditer((FINDINGS / "README.md").read_text())] == [
        script.name for script in SCRIPTS
    ]
    assert len(SCRIPTS) >= 10


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_states_its_finding_and_runs_alone(script: Path) -> None:
    text = script.read_text()
    code = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    assert os.access(script, os.X_OK)
    assert text.startswith("#!/usr/bin/env bash\n# ")
    assert "Expected:" in text
    assert "Seen:" in text
    assert code.startswith("set -eu\n")
    assert "mktemp -d" in code
    assert re.search(r"trap '.*rm -rf \"\$work\"' EXIT", code)
    assert PINNED.search(code) or re.search(r"case \$installed in \d", code)
    assert "railfab" not in text
    assert "://" not in text

"""The codes of findings: each is documented, used, and has one meaning."""

from __future__ import annotations

import re
from pathlib import Path

from railfab.findings import DesignCode, DifferenceCode, Finding, error, warning

ROOT = Path(__file__).parents[1]
ROW = re.compile(r"^\| `([a-z0-9-]+)` \| (.+) \| (.+) \|$", re.MULTILINE)
CODES = (*DesignCode, *DifferenceCode)


def test_no_two_findings_have_one_code() -> None:
    assert len(set(map(str, CODES))) == len(CODES)


def test_codes_are_words_joined_by_hyphens() -> None:
    assert [code for code in CODES if not re.fullmatch(r"[a-z]+(-[a-z]+)*", code)] == []


def test_every_code_is_documented_once_and_no_other() -> None:
    design, _, difference = (ROOT / "docs" / "findings.md").read_text().partition("## Findings about what exists")
    assert sorted(code for code, _, _ in ROW.findall(design)) == sorted(map(str, DesignCode))
    assert sorted(code for code, _, _ in ROW.findall(difference)) == sorted(map(str, DifferenceCode))


def test_every_code_is_given_to_a_finding_somewhere() -> None:
    sources = [path for path in (ROOT / "src").rglob("*.py") if path.name != "findings.py"]
    text = "\n".join(path.read_text() for path in sources)
    used = set(re.findall(r"\b(?:DesignCode|DifferenceCode)\.([A-Z_]+)\b", text))
    assert used == {code.name for code in CODES}


def test_a_line_has_severity_text_and_code() -> None:
    found = error(DesignCode.PORT_BUDGET, "pod1-seg1-leaf1", "has 9 links of 400 Gb/s", "Use fewer")
    assert found.line == "error pod1-seg1-leaf1: has 9 links of 400 Gb/s. Use fewer. [port-budget]"
    assert isinstance(warning(DesignCode.RACK_SPACE, "hosts.per_rack", "60 U", "Use fewer"), Finding)

"""A report has all of a design in one file, two designs side by side, and results that were given."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from tests.commands import run

from railfab.documents import Plan, planned
from railfab.documents.report import ReportSection, report
from railfab.documents.report_results import result_section
from railfab.errors import RailfabError

ROOT = Path(__file__).resolve().parents[2]
POD64, SRL_POD = ROOT / "inventory" / "fabrics" / "pod64.yml", ROOT / "labs" / "srl-pod" / "intent.yml"


@pytest.fixture(scope="module")
def pod64() -> Plan:
    return planned(POD64)


@pytest.fixture(scope="module")
def srl_pod() -> Plan:
    return planned(SRL_POD)


def headings(page: str) -> list[str]:
    return re.findall(r"<h2>([^<]+)</h2>", page)


def section(page: str, title: str) -> str:
    """The HTML of a section."""
    return page.split(f"<h2>{title}</h2>", 1)[1].split("</section>", 1)[0]


def test_a_report_has_picture_numbers_failure_domains_findings_and_configurations(pod64: Plan) -> None:
    page = report([pod64], "1.2.3")
    wanted = {"Picture", "Findings", "Overview", "Thresholds of the lossless class", "Capacity", "Power"}
    assert wanted | {"Bill of materials", "Failure domains", "Configurations"} <= set(headings(page))
    assert len(headings(page)) == len(set(headings(page)))
    assert "<svg" in section(page, "Picture")
    assert "<td>leaf</td>" in section(page, "Switches")
    assert pod64.texts["pod1-seg1-leaf1"].splitlines()[0].replace('"', "&quot;") in section(page, "Configurations")


def test_a_report_works_offline_and_has_no_script(pod64: Plan) -> None:
    page = report([pod64], "1.2.3")
    assert not re.search(r"(src|href)=[\"'](?!#)", page)
    assert "<script" not in page
    assert "@import" not in page


def test_the_same_intent_gives_the_same_report(pod64: Plan) -> None:
    assert report([pod64], "1.2.3") == report([planned(POD64)], "1.2.3")


def test_two_fabrics_stand_side_by_side_and_what_is_the_same_is_said_once(pod64: Plan, srl_pod: Plan) -> None:
    page = report([pod64, srl_pod], "1.2.3")
    assert 'class="columns"' in section(page, "Overview")
    assert section(page, "Picture").count("<svg") == 2
    same = report([pod64, pod64], "1.2.3")
    assert section(same, "Picture").count("<svg") == 1
    assert "The same in both." in section(same, "Overview")


def test_text_of_results_is_no_markup(pod64: Plan) -> None:
    page = report([pod64], "1.2.3", [ReportSection("<b>", "<script>alert(1)</script>")])
    assert "<script" not in page
    assert "<h2>&lt;b&gt;</h2>" in page


def test_results_of_other_commands_are_sections(pod64: Plan, tmp_path: Path) -> None:
    estimate = {
        "tier": "max-min",
        "gpus": 64,
        "step_s": 0.4,
        "compute_s": 0.1,
        "exposed_s": {"rail": 0.3},
        "bubble_s": 0,
    }
    path = tmp_path / "ring.json"
    path.write_text(
        json.dumps({"job": "ring", "designs": [{"fabric": "pod64", "estimate": estimate}], "differences": []})
    )
    page = report([pod64], "1.2.3", [result_section(path)])
    assert "<td>0.3</td>" in section(page, "Job ring")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "results.json:1: is not JSON"),
        ("[]", "is no document of simulate, measured, verify and doctor"),
        ('{"job": "ring", "designs": [{}]}', "lacks parts of its document"),
    ],
)
def test_a_file_that_has_no_results_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(RailfabError, match=re.escape(message)):
        result_section(path)


def test_the_command_writes_page_and_pdf_and_refuses_a_third_fabric(tmp_path: Path) -> None:
    page = tmp_path / "review.html"
    pdf = ["--pdf", tmp_path / "review.pdf"] if shutil.which("chromium") else []
    done = run("report", POD64, "-o", page, *pdf)
    assert (done.returncode, done.stdout) == (0, "")
    assert page.read_text().startswith("<!doctype html>")
    assert not pdf or (tmp_path / "review.pdf").read_bytes().startswith(b"%PDF")
    refused = run("report", POD64, SRL_POD, POD64, "-o", tmp_path / "three.html")
    assert (refused.returncode, "Compare two at a time" in refused.stderr) == (2, True)
    assert not (tmp_path / "three.html").exists()
    unwritable = run("report", POD64, "-o", tmp_path / "no" / "review.html")
    assert (unwritable.returncode, "cannot be written: No such file" in unwritable.stderr) == (2, True)

"""`--accept` of codes: `audit` and `verify` take kinds of hazards too, what changes switches those of a design only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests import commands
from tests.docs.schemas import conforming

from railfab.cli.acceptance import design_code, finding_code
from railfab.errors import RailfabError
from railfab.findings import DesignCode
from railfab.platforms.hazard_kinds import old_hazard_names

MIXED = Path(__file__).parents[2] / "inventory" / "fabrics" / "mixed-eos-spine.yml"
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"


PORT = "\ninterface Ethernet1/1\n"
LINES = {LEAF: "  storm-control broadcast level 1.00\n", SPINE: "   storm-control all level 10\n"}
"""The same mistake on NX-OS and EOS."""


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rendered configurations of a fabric of two vendors, with a mistake on a leaf and on a spine."""
    folder = tmp_path_factory.mktemp("configs")
    assert commands.run("render", MIXED, "-o", folder).returncode == 0
    for name, line in LINES.items():
        file = next(folder.glob(f"{name}.*"))
        text = file.read_text()
        assert text.count(PORT) == 1
        file.write_text(text.replace(PORT, f"{PORT}{line}"))
    return folder


def audited(folder: Path, *words: str, code: int) -> Mapping[str, Any]:
    done = commands.run("audit", MIXED, "--configs", folder, "--output", "json", *words)
    assert done.returncode == code, done.stderr
    document: Mapping[str, Any] = conforming("audit", done.stdout)
    return document


def places(findings: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    return sorted((finding["switch"], finding["class"], finding["code"]) for finding in findings)


SAME = [(LEAF, "warning", "storm-control"), (SPINE, "warning", "storm-control")]


def test_one_mistake_on_two_platforms_has_one_code_in_the_audit_of_a_mixed_fabric(broken: Path) -> None:
    document = audited(broken, code=1)
    assert (places(document["findings"]), document["accepted"]) == (SAME, [])


def test_an_accepted_kind_is_apart_from_the_findings_and_the_exit_code_is_0(broken: Path) -> None:
    document = audited(broken, "--accept", "storm-control", code=0)
    assert (document["findings"], places(document["accepted"])) == ([], SAME)


def test_accepted_findings_are_named_on_stderr(broken: Path) -> None:
    done = commands.run("audit", MIXED, "--configs", broken, "--accept", "storm-control")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f"accepted: warning {name}: interface Ethernet1/1: {LINES[name].strip()}: "
        "a meter drops packets above its rate, outside of all queues. Deploy the intent. [storm-control]"
        for name in (LEAF, SPINE)
    ]
    assert done.stdout.splitlines()[0].endswith(" switches checked, no finding, 2 accepted")


def test_the_old_name_of_a_hazard_is_read_with_a_note() -> None:
    done = commands.run("audit", MIXED, "--accept", "averaged-marking")
    assert done.returncode == 0
    assert done.stderr == "railfab: --accept averaged-marking: is now ecn-average; the old name is read until 0.2.\n"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("pfc-of", "--accept pfc-of: is no code that can be accepted. Write pfc-off, which is the nearest one."),
        ("xyz", "--accept xyz: is no code that can be accepted. Write one that a finding has in brackets."),
        (
            "slow-port",
            "--accept slow-port: is now rate-limit on cumulus, wrong-speed on junos. "
            "Write one of them, such as rate-limit.",
        ),
    ],
)
def test_a_word_that_is_no_code_is_refused_with_the_nearest_one(word: str, message: str) -> None:
    done = commands.run("audit", MIXED, "--accept", word)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"railfab: {message}\n")


def test_codes_of_a_design_and_of_a_kind_are_accepted_by_their_names() -> None:
    assert [finding_code(word) for word in ("oversubscription", "pfc-off")] == ["oversubscription", "pfc-off"]
    assert design_code("oversubscription") == "oversubscription"


def test_an_old_name_that_is_the_code_of_a_design_stands_for_the_design() -> None:
    both = sorted(word for word in old_hazard_names() if word in set(DesignCode))
    assert both == ["bfd-timers", "headroom", "headroom-share"]
    assert {type(finding_code(word)) for word in both} == {DesignCode}


@pytest.mark.parametrize("word", ["pfc-off", "averaged-marking"])
def test_a_command_that_checks_no_configuration_refuses_a_kind(word: str) -> None:
    with pytest.raises(RailfabError) as refused:
        design_code(word)
    assert str(refused.value) == (
        f"--accept {word}: is a kind of hazard, and this command looks for none in configurations. "
        "Leave it out; railfab audit and railfab verify take it."
    )


def test_an_unknown_code_is_refused_with_the_nearest_one_of_a_design() -> None:
    with pytest.raises(RailfabError, match="Write oversubscription, which is the nearest one"):
        design_code("oversubscribtion")

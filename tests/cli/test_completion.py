"""Completions of the shell: designs, intents, switches and groups."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from railfab.cli import app
from railfab.intent.starters import designs


@pytest.fixture(autouse=True)
def at_the_root(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)


def completed(line: str) -> list[str]:
    """The choices of bash at the end of a command line."""
    words = line.split(" ")
    environment = {
        "_RAILFAB_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = CliRunner().invoke(app, [], prog_name="railfab", env=environment)
    assert done.exit_code == 0
    return done.stdout.split()


def test_new_completes_designs() -> None:
    assert completed("railfab new pod64") == [name for name in designs() if name.startswith("pod64")]
    assert completed("railfab new ") == list(designs())


@pytest.mark.parametrize("command", ["plan", "deploy", "lab up", "twin", "twin stop"])
def test_commands_complete_intents_of_fabrics(command: str) -> None:
    assert set(completed(f"railfab {command} inventory/fabrics/pod64")) == {
        f"inventory/fabrics/{name}.yml" for name in designs() if name.startswith("pod64")
    }
    assert "labs/frr-pod/intent.yml" in completed(f"railfab {command} ")
    assert completed(f"railfab {command} docs/exa") == ["docs/examples/"]


def test_twin_completes_its_words_too() -> None:
    assert completed("railfab twin st") == ["status", "stop"]
    assert {"status", "stop", "inventory/fabrics/pod64.yml"} <= set(completed("railfab twin "))
    assert "serve" not in completed("railfab twin s")


def test_accept_completes_codes_of_a_design_and_where_configurations_are_checked_kinds_of_hazards() -> None:
    assert completed("railfab render --accept pfc") == ["pfc-without-ecn"]
    for command in ("audit", "verify"):
        assert {"pfc-without-ecn", "pfc-off"} <= set(completed(f"railfab {command} --accept pfc"))


def test_limit_completes_switches_and_groups_of_the_intent() -> None:
    line = "railfab deploy inventory/fabrics/pod64.yml --on twin --limit "
    assert {"leaf", "rail_3", "pod1-seg2", "pod1-spine4"} <= set(completed(line))
    assert completed(f"{line}leaf&rail_1,pod1-sp") == [f"leaf&rail_1,pod1-spine{spine}" for spine in (1, 2, 3, 4)]
    assert completed(f"{line}!spi") == ["!spine"]
    assert completed("railfab deploy --limit pod") == []
    assert completed("railfab deploy no-such.yml --limit pod") == []


def test_restart_completes_switches_and_on_its_words() -> None:
    assert completed("railfab lab restart labs/frr-pod/intent.yml pod1-spi") == ["pod1-spine1", "pod1-spine2"]
    assert completed("railfab verify inventory/fabrics/pod64.yml --on ") == ["twin", "lab"]


def test_accept_completes_the_word_for_cuts_where_it_is_taken() -> None:
    assert completed("railfab rollback --accept ") == ["cut"]
    assert completed("railfab deploy --accept cu") == ["cut"]
    assert completed("railfab plan --accept cu") == []

"""`--cpu` of `railfab twin` and `railfab up`: what is refused, and that a twin in a process of its own gets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.test_command_line import POD64, railfab, refused

from railfab.twin import twin_command


@pytest.mark.parametrize("command", ["twin", "up"])
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("0", "0 is not above 0 and at most 1, the simulation runs in one thread."),
        ("1.5", "1.5 is not above 0 and at most 1, the simulation runs in one thread."),
        ("-1", "-1 is not above 0 and at most 1, the simulation runs in one thread."),
        ("nan", "nan is not above 0 and at most 1, the simulation runs in one thread."),
        ("abc", "Input should be a valid number, unable to parse string as a number."),
    ],
)
def test_what_is_no_share_of_a_core_is_refused_in_one_line(
    command: str, value: str, reason: str, tmp_path: Path
) -> None:
    line = refused(railfab(command, POD64, "--cpu", value, cwd=tmp_path))
    assert line.startswith(f"railfab: Invalid value for '--cpu': {reason} See ")


def test_a_twin_in_a_process_of_its_own_gets_its_share() -> None:
    assert "--cpu=0.25" in twin_command(POD64, Path("state"), port=0, cpu=0.25)

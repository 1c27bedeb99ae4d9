"""What the audit says of every command of FRR: a golden file, so that each change of a verdict is seen."""

from __future__ import annotations

import re

from railfab.fabric import design
from railfab.platforms import platform

from .judged_commands import GOLDEN, LEAF, ROOT, verdicts


def test_every_command_of_frr_has_the_verdict_that_is_committed() -> None:
    model = design(ROOT / "labs" / "frr-pod" / "intent.yml").models[LEAF]
    assert list(verdicts(model)) == GOLDEN.read_text().splitlines()


def test_every_hazard_is_one_of_a_command_that_frr_has_or_of_a_missing_line() -> None:
    """A pattern with a misspelt word matches nothing."""
    named = re.findall(r"(?m)  \[(.*)\]$", GOLDEN.read_text())
    seen = {name for names in named for name in names.split(", ")}
    assert {hazard.name for hazard in platform("frr").hazards()} - seen == {
        "ipv6-forwarding-off",  # the fabric has no IPv6
        "port-settings",  # a comment, which FRR does not read
        "slow-profile",  # a value that the grammar leaves open
        "no-multipath-relax",
        "redistribution-missing",
        "fewer-paths",  # numbers of the examples are the largest
        "fewer-paths-internal",
        "no-hold-time",
    }

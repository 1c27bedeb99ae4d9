"""Which drains are those of an upgrade that did not end them, by the journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.deploy import Journal, drained_by_upgrades
from railfab.errors import RailfabError


def record(journal: Journal, verb: str, **results: str) -> str:
    """A run that kept what these switches ran; one without results was killed."""
    with journal.open(verb) as entry:
        for name in results or ("leaf1", "leaf2"):
            entry.keep(name, "text")
        if results:
            entry.finish(results)
    return entry.change.deploy


def test_a_drain_is_ours_from_a_failed_or_killed_upgrade_until_the_next_run_on_the_switch(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "rack")
    record(journal, "upgrade", leaf1="changed", leaf2="unsettled")
    assert drained_by_upgrades(journal.deploys()) == {"leaf2"}
    record(journal, "upgrade")
    assert drained_by_upgrades(journal.deploys()) == {"leaf1", "leaf2"}
    record(journal, "drain", leaf2="changed")
    assert drained_by_upgrades(journal.deploys()) == {"leaf1"}
    record(journal, "upgrade", leaf1="changed")
    assert drained_by_upgrades(journal.deploys()) == frozenset()


def test_an_upgrade_is_no_deploy_that_can_be_rolled_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "rack")
    deploy = record(journal, "upgrade", leaf1="changed")
    with pytest.raises(
        RailfabError, match=r"is an upgrade, which a rollback leaves as it is\. Use railfab upgrade for"
    ):
        journal.texts_before(deploy)

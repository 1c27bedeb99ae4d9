"""The configuration transactions that an SR Linux switch lists, and the one that waits for its confirmation."""

from __future__ import annotations

from railfab.platforms.session import ChangeName, Pending
from railfab.platforms.shared.json_tree import Json

COMMITS = "/system/configuration/commit[id=*]"
"""The list of configuration transactions (srl_nokia-configuration.yang)."""
UNCONFIRMED, COMPLETE = "unconfirmed", "complete"
"""Values of commit-status, in the same module."""


def status_of(state: Json, change: ChangeName) -> str:
    """The status of the last commit with this name; empty when the switch lists none."""
    named = (commit for commit in reversed(_commits(state)) if commit.get("persist-id") == str(change))
    return next((str(commit["status"]) for commit in named), "")


def pending_commit(state: Json) -> Pending | None:
    """The commit that waits for its confirmation. The models have no leaf for the time at which it is reverted."""
    waiting = next((commit for commit in reversed(_commits(state)) if commit.get("status") == UNCONFIRMED), None)
    if waiting is None:
        return None
    name = str(waiting.get("persist-id", ""))
    by = f" of {waiting['username']}" if "username" in waiting else ""
    since = f" since {waiting['started']}" if "started" in waiting else ""
    description = f"commit {name or waiting['id']}{by} waits{since}"
    return Pending(change=ChangeName.parse(name), description=description, reverts_in_s=None)


def _commits(state: Json) -> list[Json]:
    """The commits that the switch lists, oldest first."""
    configuration = state.get("system", {}).get("configuration", {})
    return sorted(configuration.get("commit", []), key=lambda commit: int(commit["id"]))

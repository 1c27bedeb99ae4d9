"""Each verb of gNMI on a switch of the twin: with pygnmi, which knows nothing of ours, and what it lacks with ours."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.twin.twins import LEAF, Switch, endpoint, started, switch, until

from railfab.endpoints import read_credentials, state_file
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import SetChanges
from railfab.gnmi.statuses import NotNow, Refused, Unimplemented
from railfab.gnmi.target import Commit, CommitAction, DataType
from railfab.platforms.srlinux.twin_leaves import VERSION
from railfab.twin import Twin

# pygnmi's reading thread dies with its channel and says so by an exception.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")

DESCRIPTION = "/interface[name=ethernet-1/1/1]/description"
OCTETS = "/interface[name=ethernet-1/1/1]/statistics/in-octets"
COMMITS = "/system/configuration/commit[id=*]"


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def twin(state: Path) -> Iterator[Twin]:
    with started(state) as running:
        yield running


@pytest.fixture
def theirs(twin: Twin) -> Iterator[Switch]:
    with switch(twin) as connected:
        yield connected


@contextmanager
def ours(twin: Twin) -> Iterator[BlockingGnmiClient]:
    node = endpoint(twin, LEAF)
    with BlockingGnmiClient(node, read_credentials(node)) as client:
        yield client


def description(client: BlockingGnmiClient) -> Any:
    (found,) = client.get((DESCRIPTION,), DataType.CONFIG)
    return found.value


def described(text: str) -> SetChanges:
    return SetChanges(update=((DESCRIPTION, text),))


def last_commit(client: BlockingGnmiClient) -> dict[str, Any]:
    """The leaves of the last commit, by name."""
    found: dict[int, dict[str, Any]] = {}
    for answer in client.once((COMMITS,)):
        number = int(dict(answer.path[-2].keys)["id"])
        found.setdefault(number, {})[answer.path[-1].name] = answer.value
    return found[max(found)]


# pygnmi


def test_pygnmi_reads_the_capabilities(theirs: Switch) -> None:
    answer = theirs.client.capabilities()
    assert {model["version"] for model in answer["supported_models"]} == {VERSION}
    assert "json_ietf" in answer["supported_encodings"]


def test_pygnmi_gets_many_paths_in_one_request(theirs: Switch) -> None:
    answer = theirs.client.get(path=[DESCRIPTION, OCTETS], encoding="json_ietf")
    assert [update["path"] for one in answer["notification"] for update in one["update"]] == [
        DESCRIPTION[1:],
        OCTETS[1:],
    ]


def test_pygnmi_updates_replaces_and_deletes(theirs: Switch) -> None:
    before = theirs.value(DESCRIPTION, "config")
    port = "/interface[name=ethernet-1/1/1]"
    whole = theirs.value(port, "config")
    theirs.set(update=[(DESCRIPTION, '"updated"')])
    assert theirs.value(DESCRIPTION, "config") == "updated"
    theirs.set(replace=[(port, {**whole, "description": "replaced"})])
    assert theirs.value(port, "config") == {**whole, "description": "replaced"}
    theirs.set(delete=[DESCRIPTION])
    assert "description" not in theirs.value(port, "config")
    theirs.set(update=[(DESCRIPTION, f'"{before}"')])


@pytest.mark.parametrize("mode", ["once", "poll", "stream"])
def test_pygnmi_subscribes(theirs: Switch, mode: str) -> None:
    wish = {
        "subscription": [{"path": OCTETS, "mode": "sample", "sample_interval": 200_000_000}],
        "mode": mode,
        "encoding": "json_ietf",
    }
    answers = theirs.client.subscribe2(subscribe=wish)
    first = next(answers)
    assert [update["path"] for update in first["update"]["update"]] == [OCTETS[1:]]
    if mode != "once":
        assert [update["path"] for update in next(answers)["update"]["update"]] == [OCTETS[1:]]
    answers.close()


# gNMI's commit-confirmed extension, which pygnmi cannot send


def test_a_confirmed_commit_stays(twin: Twin) -> None:
    with ours(twin) as client:
        client.set(described("confirmed"), Commit(CommitAction.COMMIT, "d1/ann@host", 30))
        pending = last_commit(client)
        assert (pending["status"], pending["persist-id"]) == ("unconfirmed", "d1/ann@host")
        client.set(SetChanges(), Commit(CommitAction.CONFIRM, "d1/ann@host"))
        assert description(client) == "confirmed"
        ended = last_commit(client)
        assert (ended["status"], ended["started"] < ended["ended"]) == ("complete", True)


def test_a_cancelled_commit_is_undone_at_once(twin: Twin) -> None:
    with ours(twin) as client:
        before = description(client)
        client.set(described("cancelled"), Commit(CommitAction.COMMIT, "d2", 30))
        assert description(client) == "cancelled"
        client.set(SetChanges(), Commit(CommitAction.CANCEL, "d2"))
        assert description(client) == before
        assert last_commit(client)["status"] == "failed"


KILLED = """
import os, signal, sys
from pathlib import Path
from railfab.endpoints import load_endpoints, read_credentials
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import SetChanges
from railfab.gnmi.target import Commit, CommitAction
node = load_endpoints(Path(sys.argv[1])).by_name()[sys.argv[2]]
with BlockingGnmiClient(node, read_credentials(node)) as client:
    changes = SetChanges(update=((sys.argv[3], "killed"),))
    client.set(changes, Commit(CommitAction.COMMIT, sys.argv[4], float(sys.argv[5])))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_client(state: Path, commit: str, seconds: float) -> None:
    """A process that commits, and is killed before it confirms."""
    arguments = [str(state_file(state, "pod64", "twin")), LEAF, DESCRIPTION, commit, str(seconds)]
    done = subprocess.run([sys.executable, "-c", KILLED, *arguments], timeout=120, check=False)
    assert done.returncode == -9


def test_a_commit_of_a_killed_client_is_undone_in_time(twin: Twin, state: Path) -> None:
    with ours(twin) as client:
        before = description(client)
        killed_client(state, "d3", 2)
        assert description(client) == "killed"
        until(lambda: description(client) == before)
        assert last_commit(client)["status"] == "failed"


@pytest.mark.parametrize("action", [CommitAction.CONFIRM, CommitAction.CANCEL])
def test_a_later_client_decides_on_the_commit_of_a_killed_one(twin: Twin, state: Path, action: CommitAction) -> None:
    with ours(twin) as client:
        before = description(client)
    killed_client(state, f"d4-{action}", 60)
    with ours(twin) as client:
        client.set(SetChanges(), Commit(action, f"d4-{action}"))
        assert description(client) == ("killed" if action is CommitAction.CONFIRM else before)


def test_a_rollback_duration_is_changed_while_the_commit_waits(twin: Twin) -> None:
    with ours(twin) as client:
        before = description(client)
        client.set(described("longer"), Commit(CommitAction.COMMIT, "d5", 60))
        client.set(SetChanges(), Commit(CommitAction.SET_ROLLBACK_DURATION, "d5", 0.2))
        until(lambda: description(client) == before)


def test_while_a_commit_waits_nobody_else_changes_the_switch(twin: Twin, theirs: Switch) -> None:
    with ours(twin) as client:
        client.set(described("mine"), Commit(CommitAction.COMMIT, "d6", 60))
        with pytest.raises(NotNow, match=r"commit d6 is not confirmed yet"):
            client.set(described("another"), Commit(CommitAction.COMMIT, "d7", 60))
        with pytest.raises(Exception, match="commit d6 is not confirmed yet"):
            theirs.set(update=[(DESCRIPTION, '"theirs"')])
        with pytest.raises(Refused, match=r"is d6, not d7"):
            client.set(SetChanges(), Commit(CommitAction.CANCEL, "d7"))
        client.set(SetChanges(), Commit(CommitAction.CANCEL, "d6"))
        with pytest.raises(NotNow, match=r"no commit waits for a confirmation"):
            client.set(SetChanges(), Commit(CommitAction.CONFIRM, "d6"))


def test_union_replace_replaces_subtrees_with_the_union_of_its_values(twin: Twin) -> None:
    port = "/interface[name=ethernet-1/1/1]"
    with ours(twin) as client:
        ((_, before),) = client.get((port,), DataType.CONFIG)
        rest = {name: child for name, child in before.items() if name not in ("name", "description", "mtu")}
        client.set(SetChanges(union_replace=((f"{port}/mtu", 9000), (port, rest))))
        ((_, united),) = client.get((port,), DataType.CONFIG)
        assert united == {**rest, "name": "ethernet-1/1/1", "mtu": 9000}
        with pytest.raises(Unimplemented, match="the OpenConfig models are not enabled"):
            client.set(SetChanges(union_replace=(("openconfig:/system/config/hostname", "x"),)))
        client.set(SetChanges(replace=((port, before),)))


def test_a_twin_ends_at_once_while_a_commit_waits(tmp_path: Path) -> None:
    with started(tmp_path) as other:
        with ours(other) as client:
            client.set(described("left"), Commit(CommitAction.COMMIT, "d8", 60))
        began_s = time.monotonic()
    assert time.monotonic() - began_s < 20

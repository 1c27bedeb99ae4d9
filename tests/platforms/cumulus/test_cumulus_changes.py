"""Changes of a Cumulus Linux switch: patches between trees, what of a tree is the operator's, and NVUE's own timer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.device import DeviceModel
from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import CommitRefused
from railfab.fabric.design import design
from railfab.platforms import ChangeName, Session, platform
from railfab.platforms.cumulus import shell
from railfab.platforms.cumulus.parse import tree_of
from railfab.platforms.cumulus.patch import patch_text, unified
from railfab.platforms.cumulus.revisions import NvueRevisions
from railfab.platforms.cumulus.scope import candidate, operators, without
from railfab.platforms.cumulus.shell import CumulusShell
from railfab.platforms.cumulus.spelling import applied
from railfab.platforms.cumulus.switch_changes import words_of
from railfab.platforms.cumulus.tree import read, text
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.virtual_cli import CliGrammar
from railfab.twin import Twin

CUMULUS = platform("cumulus")
CHANGE = ChangeName(deploy="20261129T090000.000Z-1234", user="tester", host="here")
LEAF = "pod1-seg1-leaf1"

PORTS = st.dictionaries(
    st.sampled_from(["swp1", "swp2", "swp10", "eth0"]),
    st.fixed_dictionaries(
        {"type": st.just("swp")},
        optional={
            "description": st.sampled_from(["one", "two words", "9", "it's"]),
            "link": st.fixed_dictionaries({"mtu": st.sampled_from(["1500", "9216"])}),
            "ipv4": st.fixed_dictionaries(
                {"address": st.dictionaries(st.sampled_from(["10.0.0.0/31", "10.0.0.2/31"]), st.just({}), min_size=1)}
            ),
        },
    ),
    min_size=1,
)
TREES = st.fixed_dictionaries(
    {"interface": PORTS},
    optional={
        "system": st.fixed_dictionaries(
            {"hostname": st.sampled_from(["a", "b"])},
            optional={"aaa": st.just({"user": {"cumulus": {"role": "system-admin"}}})},
        ),
        "qos": st.just({"roce": {"state": "enabled"}}),
    },
)


def normal(tree: Json) -> Json:
    """The tree as a switch reads it."""
    return tree_of(text(tree))


@given(before=TREES, after=TREES)
def test_a_patch_turns_one_tree_into_the_other(before: Json, after: Json) -> None:
    before, after = normal(before), normal(after)
    patch = patch_text(before, after)
    assert (patch == "") == (before == after) == (unified(before, after) == "")
    tree, absent = applied((*read(text(before)).operations, *(read(patch).operations if patch else ())))
    assert tree == after
    assert absent == ()


def test_numbers_of_a_patch_are_numbers_and_texts_are_texts() -> None:
    after = normal({"interface": {"swp1": {"description": "9", "link": {"mtu": "1500"}}}})
    patch = patch_text({}, after)
    assert "mtu: 1500\n" in patch
    assert "description: '9'\n" in patch


@given(running=TREES, wanted=TREES)
def test_a_candidate_has_all_of_the_intent_and_of_the_operator_and_nothing_else(running: Json, wanted: Json) -> None:
    running, wanted = normal(running), normal(wanted)
    kept = operators(running, wanted)
    after = candidate(running, wanted)
    assert without(without(after, wanted), kept) == {}
    assert without(wanted, after) == without(kept, after) == {}
    assert candidate(after, wanted) == after


def test_accounts_and_secrets_stay_where_the_intent_states_servers_of_logins() -> None:
    """A secret is in no text of an intent; see `management`."""
    accounts = {"cumulus": {"role": "system-admin"}}
    servers = {"192.0.2.1": {"secret": "s", "priority": "3"}, "192.0.2.2": {"secret": "t"}}
    logins = {"user": accounts, "tacacs": {"server": servers}}
    stated = {"tacacs": {"server": {"192.0.2.1": {"priority": "1"}}}}
    after = candidate({"system": {"aaa": logins}}, {"system": {"aaa": stated}})
    assert after["system"]["aaa"] == {
        "user": accounts,
        "tacacs": {"server": {"192.0.2.1": {"priority": "1", "secret": "s"}}},
    }


def test_secrets_are_in_no_difference() -> None:
    before, after = ({"system": {"aaa": {"tacacs": {"server": {"192.0.2.1": {"secret": it}}}}}} for it in ("x1", "x2"))
    assert "x2" not in unified(before, after)


@pytest.mark.parametrize(
    ("first", "second", "are_equal"),
    [
        ("60 seconds left", "9 seconds left", True),
        ("1 minute 5 seconds left", "5 seconds left", True),
        ("5 seconds left", "nothing waits", False),
        ("", "", True),
    ],
)
def test_the_words_of_a_status_are_those_that_time_does_not_change(first: str, second: str, are_equal: bool) -> None:
    assert (words_of(first) == words_of(second)) is are_equal


@pytest.fixture
def model(repository: Path) -> DeviceModel:
    return design(repository / "tests" / "deploy" / "rack_cumulus.yml").models[LEAF]


@pytest.fixture
def leaf(repository: Path, tmp_path: Path) -> Iterator[Endpoint]:
    """A switch as it leaves the factory."""
    fabric = design(repository / "tests" / "deploy" / "rack_cumulus.yml")
    with Twin(fabric, state=tmp_path, base_port=0) as twin:
        yield twin.endpoints.by_name()[LEAF]


@contextmanager
def opened(endpoint: Endpoint) -> Iterator[Session]:
    with CUMULUS.session_factory(endpoint.name)(endpoint, read_credentials(endpoint)) as session:
        yield session


def rendered(model: DeviceModel) -> str:
    return CUMULUS.text(CUMULUS.render(model))


OTHER_TEXTS = {
    "left": "Rollback of revision 7 is due at 12:00, {seconds} s from now",
    "idle": "",
    "waits": "",
    "created": "",
    "applied": "",
    "applied_and_saved": "",
    "saved": "",
}


def test_a_deploy_depends_on_no_text_of_a_timer(
    leaf: Endpoint, model: DeviceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = shell.grammar()
    said: Callable[..., str] = CumulusShell.text
    monkeypatch.setattr(
        CumulusShell,
        "text",
        lambda login, name, **values: (
            OTHER_TEXTS[name].format(**values) if name in OTHER_TEXTS else said(login, name, **values)
        ),
    )
    assert isinstance(grammar, CliGrammar)
    with opened(leaf) as session:
        factory = session.running().text
        session.commit(session.stage(rendered(model)), CHANGE, 120)
        pending = session.running().pending
        assert pending is not None
        assert pending.reverts_in_s is not None
        session.revert(CHANGE)
        assert session.running().text == factory
        session.commit(session.stage(rendered(model)), CHANGE, 120)
        session.confirm(CHANGE)
        assert session.running().pending is None
        assert session.stage(rendered(model)).diff == ""


def test_a_release_that_applies_without_a_timer_is_refused_and_restored(
    leaf: Endpoint, model: DeviceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing would restore such a switch if the connection were lost; the patch back restores it here."""
    apply = NvueRevisions.apply
    monkeypatch.setattr(
        NvueRevisions,
        "apply",
        lambda revisions, user, named, *, message, within_s: apply(
            revisions, user, named, message=message, within_s=None
        ),
    )
    with opened(leaf) as session:
        factory = session.running().text
        with pytest.raises(CommitRefused, match="applied the change without a timer"):
            session.commit(session.stage(rendered(model)), CHANGE, 120)
        assert session.running().text == factory
        assert session.running().pending is None


def test_a_timer_that_does_not_stop_is_no_confirmation(
    leaf: Endpoint, model: DeviceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NvueRevisions, "confirm", lambda _revisions: False)
    with opened(leaf) as session:
        factory = session.running().text
        session.commit(session.stage(rendered(model)), CHANGE, 120)
        with pytest.raises(CommitRefused, match="did not stop its timer"):
            session.confirm(CHANGE)
        assert session.running().text == factory


def test_a_change_that_somebody_has_edited_is_not_saved(leaf: Endpoint, model: DeviceModel) -> None:
    with opened(leaf) as session:
        session.commit(session.stage(rendered(model)), CHANGE, 120)
        pending = session.running().pending
        assert pending is not None
        assert re.search(r"is reverted in \d+ s unless it is confirmed", pending.description)
        with pytest.raises(CommitRefused, match="has an unconfirmed change"):
            session.stage(rendered(replace(model, name=LEAF, drain=True)))
        session.revert(CHANGE)

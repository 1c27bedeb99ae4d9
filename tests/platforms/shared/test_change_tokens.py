"""Names of changes as switches keep them."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples

from railfab.platforms import ChangeName
from railfab.platforms.shared.change_tokens import change_of_token, change_token

NAMES = st.text(min_size=1, max_size=30).filter(lambda name: not set(name) & set("/@") and name.isprintable())
CHANGES = st.builds(lambda deploy, user, host: ChangeName(deploy=deploy, user=user, host=host), NAMES, NAMES, NAMES)


@given(change=CHANGES)
@settings(max_examples=examples(200))
def test_a_token_has_the_alphabet_of_every_switch_and_is_the_change(change: ChangeName) -> None:
    token = change_token(change)
    assert re.fullmatch(r"[A-Za-z0-9._-]+", token)
    assert change_of_token(token) == change


def test_the_token_of_a_usual_change_can_be_read() -> None:
    change = ChangeName(deploy="20261122T093012.345Z-4f2a", user="eva", host="jump-1.example")
    assert change_token(change) == "railfab.20261122T093012.345Z-4f2a_2Feva_40jump-1.example"


def test_a_name_that_railfab_did_not_give_is_no_change() -> None:
    for name in ("", "acl-change", "railfab", "railfab.", "railfab.a_2Fb", "railfab.a_2fb_40c", "railfab._FF_2Fb_40c"):
        assert change_of_token(name) is None

"""Names that an operator chose, and lines that later lines take back."""

from __future__ import annotations

import pytest

from railfab.platforms import platform
from railfab.platforms.frr.lines import FORMAT, effective

from .switches import LEAF, RICH

FRR = platform("frr")
RENDERED = FRR.text(FRR.render(RICH))


def aligned(text: str) -> tuple[str, tuple[str, ...]]:
    assert FRR.aligned is not None
    return FRR.aligned(text, RENDERED)


def other(kind: str) -> str:
    """A name of this kind in the rendered text."""
    return next(line.split()[1] for line in RENDERED.splitlines() if line.lstrip().startswith(f"{kind} "))


@pytest.mark.parametrize("kind", ["route-map", "profile"])
def test_an_object_with_another_name_gets_that_of_the_intent(kind: str) -> None:
    name = other(kind)
    assert aligned(RENDERED.replace(f"{kind} {name}", f"{kind} mine")) == (RENDERED, (f"{kind} mine",))


def test_the_rendered_text_stays_as_it_is() -> None:
    assert aligned(RENDERED) == (RENDERED, ())


def test_a_list_is_found_by_the_entry_that_uses_it() -> None:
    leaf = FRR.text(FRR.render(LEAF))
    assert FRR.aligned is not None
    renamed = leaf.replace("fabric-import-10", "loopbacks")
    assert FRR.aligned(renamed, leaf) == (leaf, ("prefix-list loopbacks",))


def test_a_name_without_a_definition_is_no_other_name() -> None:
    name = other("profile")
    text = RENDERED.replace(f"bfd profile {name}", "bfd profile missing")
    assert aligned(text) == (text, ())


def test_one_object_in_place_of_two_is_no_other_name() -> None:
    leaf = FRR.text(FRR.render(LEAF))
    both = leaf.replace("route-map fabric-export", "route-map fabric-import")
    assert FRR.aligned is not None
    assert FRR.aligned(both, leaf) == (both, ())


@pytest.mark.parametrize(
    ("text", "remains"),
    [
        ("ip forwarding\nno ip forwarding\n", ""),
        ("no ip forwarding\nip forwarding\n", "ip forwarding\n"),
        ("router bgp 1\n neighbor a bfd\n neighbor a bfd profile b\n no neighbor a bfd\n", "router bgp 1\n"),
        ("interface a\n description b c\n no description\n", "interface a\n"),
        ("router bgp 1\n no neighbor ab\n", "router bgp 1\n no neighbor ab\n"),
        ("interface a\nno interface a\n", ""),
        ("no log stdout\n", "no log stdout\n"),
    ],
)
def test_a_line_that_is_taken_back_has_no_effect(text: str, remains: str) -> None:
    assert effective(FORMAT.tree(text)) == FORMAT.tree(remains)

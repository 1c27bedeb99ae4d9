"""Laws of line trees, for the formats of FRR, EOS and NX-OS: nothing is lost, reordered or merged on the way."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples

from railfab.platforms.frr.lines import FORMAT as FRR
from railfab.platforms.shared.line_tree import Line, LineFormat, Literal, SectionKind

GOLDEN = Path(__file__).parents[2] / "golden" / "lines"

EOS = LineFormat(
    indent=3,
    nested={word: SectionKind(before=True) for word in ("address-family", "vlan", "vrf", "uc-tx-queue")},
    literals=(Literal(start=re.compile(r"banner (login|motd)$"), end="EOF"),),
)
NXOS = LineFormat(
    indent=2,
    separator="",
    ends=False,
    literals=(Literal(start=re.compile(r"banner motd (\S)")),),
)
FORMATS = {"frr": FRR, "eos": EOS, "nxos": NXOS}
TEXTS = {
    "frr": Path(__file__).parents[2] / "golden" / "frr" / "rft-leaf.conf",
    "eos": GOLDEN / "eos.txt",
    "nxos": GOLDEN / "nxos.txt",
}
every_format = pytest.mark.parametrize("name", FORMATS)
every_indented_format = pytest.mark.parametrize("name", ["eos", "nxos"])

words = st.sampled_from(("description", "ip", "neighbor", "match", "no", "10", "a-b", "Ethernet1/1"))
plain = st.lists(words, min_size=1, max_size=4).map(" ".join)


def trees_of(name: str) -> st.SearchStrategy[tuple[Line, ...]]:
    """Any tree that the format can say; equal lines may repeat."""
    lines = st.lists(plain.map(Line), max_size=3).map(tuple)
    if name == "frr":
        family = st.builds(Line, st.just("address-family ipv4 unicast"), lines)
        below = st.lists(plain.map(Line) | family, max_size=4).map(tuple)
        section = st.builds(Line, st.sampled_from(("interface swp1", "router bgp 1", "route-map A permit 10")), below)
    else:
        section = st.recursive(
            plain.map(Line),
            lambda deeper: st.builds(Line, plain, st.lists(deeper, max_size=3).map(tuple)),
            max_leaves=8,
        )
        banner = {"eos": "banner login\n   ! exit\nend\nEOF", "nxos": "banner motd ^exit\n! end\n\n^"}[name]
        section |= st.just(Line(banner))
    return st.lists(section | plain.map(Line), max_size=6).map(tuple)


@every_format
@given(drawn=st.data())
@settings(deadline=None)
def test_a_written_tree_is_read_back(name: str, drawn: st.DataObject) -> None:
    """With its order, its duplicates and its empty sections; writing it again gives the same text."""
    own, tree = FORMATS[name], drawn.draw(trees_of(name))
    text = own.text(tree)
    assert own.tree(text) == tree
    assert own.text(own.tree(text)) == text


@every_format
def test_a_text_as_the_switch_shows_it_is_written_back_byte_by_byte(name: str) -> None:
    text = TEXTS[name].read_text()
    assert FORMATS[name].text(FORMATS[name].tree(text)) == text


@every_format
@given(drawn=st.data())
@settings(deadline=None, max_examples=examples(30))
def test_comments_blank_lines_and_wider_indentation_make_no_difference(name: str, drawn: st.DataObject) -> None:
    own = FORMATS[name]
    tree = tuple(line for line in drawn.draw(trees_of(name)) if "\n" not in line.text)
    remarks = drawn.draw(st.sampled_from(("! remark", "   ! remark", "", "   ")))
    wider = [f"{' ' * (len(line) - len(line.lstrip()))}{line}" for line in own.text(tree).splitlines()]
    assert own.tree(f"\n{remarks}\n".join(["", *wider, ""])) == tree


@every_indented_format
@given(drawn=st.data())
@settings(deadline=None, max_examples=examples(30))
def test_exits_make_no_difference(name: str, drawn: st.DataObject) -> None:
    """A user may write `exit` at the end of each section, as on the CLI."""
    own, tree = FORMATS[name], drawn.draw(trees_of(name))
    assert own.tree("\n".join(_with_exits(tree))) == tree


def _with_exits(tree: tuple[Line, ...], margin: str = "") -> list[str]:
    lines = []
    for line in tree:
        lines += [f"{margin}{line.text}", *_with_exits(line.children, f"{margin}   ")]
        lines += [f"{margin}   exit"] * bool(line.children)
    return lines


def test_a_line_knows_its_number_behind_a_banner() -> None:
    tree = EOS.tree((GOLDEN / "eos.txt").read_text() + "hostname other\n")
    assert (tree[-1].text, tree[-1].number) == ("hostname other", 58)
    assert tree[-2].text.startswith("banner login\n")
    assert tree[-2].text.endswith("\nEOF")


def test_blanks_within_a_line_are_kept_where_they_have_a_meaning() -> None:
    line = "description rail 1  host 1"
    assert EOS.tree(line) == (Line(line),)
    assert replace(EOS, keeps_blanks=False).tree(line) == (Line("description rail 1 host 1"),)


def test_a_banner_may_end_on_its_first_line() -> None:
    assert NXOS.tree("banner motd ^hello^\nhostname a") == (Line("banner motd ^hello^"), Line("hostname a"))


def test_a_section_may_be_empty_and_occur_twice() -> None:
    text = "class-map ROCE\n  match dscp 24\n\nclass-map ROCE\n  match dscp 24\n\nclass-map NONE\n"
    assert NXOS.text(NXOS.tree(text)) == text
    assert [line.text for line in NXOS.tree(text)] == ["class-map ROCE", "class-map ROCE", "class-map NONE"]


def test_the_tree_of_a_text_is_made_once_for_the_steps_of_an_audit() -> None:
    text = "hostname leaf1\n!\nend\n"
    assert FRR.tree(text) is FRR.tree(text)
    assert FRR.tree(text) is not EOS.tree(text)

"""Fuzzing: any file loads or is refused with readable error lines, without a traceback and without a hang."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.intent.intents import FULL, ROOT, SMALL, error_lines
from tests.laws import examples

from railfab.intent import load_intent, load_job

quick = settings(
    max_examples=examples(100),
    deadline=timedelta(seconds=5),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

FABRICS = [FULL, SMALL, *(path.read_text() for path in sorted((ROOT / "inventory" / "fabrics").glob("*.yml")))]
JOBS = [path.read_text() for path in sorted((ROOT / "inventory" / "jobs").glob("*.yml"))]
CATALOGUES = [yaml.safe_dump({"switches": yaml.load(FULL, yaml.CSafeLoader)["switches"]})]

ODD = [
    *(
        "",
        "~",
        "null",
        "yes",
        "off",
        "0",
        "-0",
        "-1",
        "1",
        "2",
        "4096",
        "65536",
        "1e400",
        "-1e9",
        "0.1",
        ".inf",
        "-.inf",
    ),
    *(".nan", "010", "0x10", "0b1", "1_000", "1:30", "190:20:30.15", "2026-11-21", "2026-11-21T17:00:00Z", "9" * 5000),
    *("9" * 39, "1." + "1" * 500, "!!binary aGVsbG8=", "!!python/object:os.system {}", "!!set {a, b}", "!x y", "&a 1"),
    *(
        "*a",
        "*b",
        "&b [1]",
        "<<",
        "? x",
        "- x",
        "[",
        "]",
        "{",
        "}",
        "[[]]",
        "{a: {b: {c: d}}}",
        "{1: [1], x: 2}",
        "'",
        '"',
    ),
    *(
        "'it''s'",
        '"\\0"',
        '"\\ud800"',
        '"\\L"',
        '"a\\nb"',
        "|",
        ">",
        "%",
        "@",
        "`",
        ":",
        ": :",
        "#",
        " # x",
        "\t",
        "a\tb",
    ),
    *(
        "\0",
        "\x7f",
        "\x85",
        "\u2028",
        "\ufeff",
        "\ud7ff",
        "😀",
        "x" * 2000,
        "10.0.0.0/8",
        "10.0.0.1/8",
        "10.0.0.0",
        "::/0",
    ),
    *("fe80::%1/64", "10.0.0.0/99", "0.0.0.0/0", "64kB", "9" * 400 + "GB", "²GB", "1.5.GB", "gpu", "by-rail", "{cage}"),
]


@dataclass(frozen=True)
class Node:
    """A node of YAML as it is written: a scalar, a list, or a mapping whose keys may repeat."""

    word: str = ""
    elements: tuple[Node, ...] | None = None
    entries: tuple[tuple[str, Node], ...] | None = None


def node_of(value: Any) -> Node:
    if isinstance(value, dict):
        return Node(entries=tuple((str(key), node_of(inner)) for key, inner in value.items()))
    if isinstance(value, list):
        return Node(elements=tuple(map(node_of, value)))
    return Node(word=yaml.safe_dump(value).removesuffix("\n...\n").strip())


def written(node: Node) -> str:
    """The node as flow YAML, one element per line where possible."""
    if node.entries is not None:
        return "{" + ",\n ".join(f"{key}: {written(inner)}" for key, inner in node.entries) + "}"
    if node.elements is not None:
        return "[" + ", ".join(map(written, node.elements)) + "]"
    return node.word


def blocks(node: Node) -> str:
    """The top level as block YAML, the rest as flow YAML, so that an error at one place keeps the lines of others."""
    return "".join(f"{key}: {written(inner)}\n" for key, inner in node.entries or ())


def count(node: Node) -> int:
    return 1 + sum(map(count, children(node)))


def children(node: Node) -> Sequence[Node]:
    return [inner for _, inner in node.entries] if node.entries is not None else node.elements or ()


Change = Callable[[Node], Iterator[Node]]
"""A node becomes none, one or several."""


def changed(node: Node, place: int, change: Change) -> list[Node]:
    """The node with its node number `place` (itself is 0) replaced by the result of the change."""
    if place == 0:
        return list(change(node))
    place -= 1
    for number, child in enumerate(children(node)):
        if place < (size := count(child)):
            return [with_child(node, number, changed(child, place, change))]
        place -= size
    return [node]


def with_child(node: Node, number: int, given: Sequence[Node]) -> Node:
    if node.entries is not None:
        key = node.entries[number][0]
        named = tuple((key, inner) for inner in given)
        return replace(node, entries=(*node.entries[:number], *named, *node.entries[number + 1 :]))
    assert node.elements is not None
    return replace(node, elements=(*node.elements[:number], *given, *node.elements[number + 1 :]))


def nth(node: Node, place: int) -> Node:
    found: list[Node] = []
    changed(node, place, lambda inner: iter(found.append(inner) or [inner]))
    return found[0]


def renamed(node: Node, number: int, key: str) -> Node:
    if not node.entries:
        return node
    number %= len(node.entries)
    entries = [(key, inner) if at == number else (name, inner) for at, (name, inner) in enumerate(node.entries)]
    return replace(node, entries=tuple(entries))


@st.composite
def mutants(draw: st.DrawFn, sources: Sequence[str]) -> str:
    """The text of a committed file after one to four random changes."""
    node = node_of(yaml.load(draw(st.sampled_from(sources)), yaml.CSafeLoader))
    words = st.sampled_from(ODD) | st.text(max_size=20)
    for _ in range(draw(st.integers(1, 4))):
        places = st.integers(1, count(node) - 1) if count(node) > 1 else st.just(0)
        other, word, number = nth(node, draw(places)), draw(words), draw(st.integers(0, 50))
        change = draw(
            st.sampled_from(
                [
                    lambda inner: iter(()),
                    lambda inner: iter((inner, inner)),
                    lambda inner, other=other: iter((other,)),
                    lambda inner, word=word: iter((Node(word=word),)),
                    lambda inner: iter((Node(elements=(inner,)),)),
                    lambda inner, word=word: iter((Node(entries=((word, inner),)),)),
                    lambda inner, word=word, number=number: iter((renamed(inner, number, word),)),
                ]
            )
        )
        node = next(iter(changed(node, draw(places), change)), node)
    return draw(st.sampled_from((blocks, written)))(node)


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="replace")


@quick
@given(text=mutants(FABRICS))
def test_a_mutated_fabric_loads_or_is_refused_with_readable_lines(tmp_path: Path, text: str) -> None:
    path = tmp_path / "f.yml"
    path.write_bytes(as_bytes(text))
    error_lines(load_intent, path)


@quick
@given(text=mutants(JOBS))
def test_a_mutated_job_loads_or_is_refused_with_readable_lines(tmp_path: Path, text: str) -> None:
    path = tmp_path / "j.yml"
    path.write_bytes(as_bytes(text))
    error_lines(load_job, path)


@quick
@given(text=mutants(CATALOGUES))
def test_a_mutated_catalogue_loads_or_is_refused_with_readable_lines(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.yml").write_bytes(as_bytes(text))
    path = tmp_path / "f.yml"
    path.write_text(SMALL + "catalogue: c.yml\n")
    error_lines(load_intent, path)


@quick
@given(
    content=st.binary(max_size=400)
    | st.text(alphabet="{}[]:,-?&*!|>'\"%@#\n\t ab01.\0\u2028", max_size=400).map(as_bytes)
)
@pytest.mark.parametrize("load", [load_intent, load_job])
def test_random_bytes_load_or_are_refused_with_readable_lines(
    tmp_path: Path, load: Callable[[Path], Any], content: bytes
) -> None:
    path = tmp_path / "f.yml"
    path.write_bytes(content)
    error_lines(load, path)


@quick
@given(start=st.integers(0, len(FULL)), end=st.integers(0, len(FULL)), between=st.binary(max_size=8))
def test_a_truncated_file_loads_or_is_refused_with_readable_lines(
    tmp_path: Path, start: int, end: int, between: bytes
) -> None:
    path = tmp_path / "f.yml"
    path.write_bytes(FULL[:start].encode() + between + FULL[end:].encode())
    error_lines(load_intent, path)


@quick
@given(name=st.text(max_size=300) | st.sampled_from(["..", ".", "/", "/dev/null", "~", "a\0b", "x" * 300, "f.yml"]))
def test_any_catalogue_name_loads_or_is_refused_with_readable_lines(tmp_path: Path, name: str) -> None:
    path = tmp_path / "f.yml"
    path.write_bytes(as_bytes(SMALL + f"catalogue: {yaml.safe_dump(name, default_style=chr(34), width=10**6)}"))
    assert error_lines(load_intent, path)

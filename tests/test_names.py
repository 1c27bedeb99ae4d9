"""Names in src/railfab: a noun for a value, one meaning for a class, docstrings that begin with a verb or a noun."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import pytest

NO_NOUNS = {"found", "one", "own", "other", "x"}
"""Names that say nothing of the value: `queue`, `neighbor` or `match` does."""
NO_BEGINNINGS = {"How", "Of", "That", "Those", "What", "When", "Where", "Which", "Who", "Whom", "Whose", "Why"}
"""First words of a docstring that are neither verb nor noun."""

HELD = (
    *("*.py", "process/*.py", "text/*.py", "endpoints/*.py"),
    *("device/*.py", "fabric/*.py", "intent/*.py", "platforms/**/*.py", "yaml_reader/*.py"),
    *("compiled/*.py", "gnmi/*.py", "qos/*.py", "ssh/*.py", "workload/*.py"),
)
"""Patterns of the modules whose names and docstrings are held; the others follow. Names of classes are held in all."""

CLASS = re.compile(r"^ *class (\w+)[(:]", re.MULTILINE)
Places = Iterator[tuple[str, int]]


def modules(package: Path, patterns: tuple[str, ...]) -> dict[str, str]:
    """Text of each module that matches a pattern, by path below the package."""
    paths = {str(path.relative_to(package)): path for pattern in patterns for path in package.glob(pattern)}
    return {name: path.read_text() for name, path in sorted(paths.items())}


def defined_names(tree: ast.AST) -> Places:
    """Names that a module gives to variables, parameters, attributes, functions and imports, each with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield name, node.lineno
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name, node.lineno
            case ast.alias(asname=str(name)):
                yield name, node.lineno
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from ((name, node.lineno) for name in names)


def classes(text: str) -> Places:
    """Names of the classes of a module, each with its line."""
    return ((node.name, node.lineno) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef))


def docstrings(tree: ast.AST) -> Places:
    """Docstrings of modules, classes, functions, constants and fields."""
    for node in ast.walk(tree):
        for statement in getattr(node, "body", ()) if not isinstance(node, ast.Lambda | ast.IfExp) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield text, statement.lineno


def names_without_noun(texts: Mapping[str, str]) -> list[str]:
    return [
        f"{path}:{line}: {name}"
        for path, text in texts.items()
        for name, line in defined_names(ast.parse(text))
        if name in NO_NOUNS
    ]


def classes_of_two_meanings(texts: Mapping[str, str]) -> list[str]:
    """Names that several classes of some modules have. A name that a docstring mentions is none of these."""
    written = {path: CLASS.findall(text) for path, text in texts.items()}
    several = {name for name, count in Counter(chain.from_iterable(written.values())).items() if count > 1}
    places: dict[str, list[str]] = defaultdict(list)
    for path, text in texts.items():
        for name, line in classes(text) if several.intersection(written[path]) else ():
            places[name].append(f"{path}:{line}")
    return [f"{name}: {', '.join(places[name])}" for name in sorted(several) if len(places[name]) > 1]


def odd_docstrings(texts: Mapping[str, str]) -> list[str]:
    return [
        f"{path}:{line}: {docstring.strip().splitlines()[0]}"
        for path, text in texts.items()
        for docstring, line in docstrings(ast.parse(text))
        if docstring.split()[0].strip(",:") in NO_BEGINNINGS
    ]


@pytest.fixture(scope="module")
def package(repository: Path) -> Path:
    return repository / "src" / "railfab"


def test_a_name_is_the_noun_of_its_value(package: Path) -> None:
    assert names_without_noun(modules(package, HELD)) == []


def test_a_class_name_has_one_meaning(package: Path) -> None:
    assert classes_of_two_meanings(modules(package, ("**/*.py",))) == []


def test_a_docstring_begins_with_a_verb_or_a_noun(package: Path) -> None:
    assert odd_docstrings(modules(package, HELD)) == []


@pytest.mark.parametrize(
    "text",
    [
        "found = 1",
        "def queues(other): ...",
        "def own(): ...",
        "rates = [one for one in ports]",
        "port.other = 1",
        "match port:\n    case [x, *_]: ...",
        "try: ...\nexcept OSError as found: ...",
        "from ports import queue as one",
        "class Port:\n    own: int",
    ],
)
def test_a_name_without_noun_is_listed(text: str) -> None:
    (line,) = names_without_noun({"qos.py": text})
    assert line.startswith("qos.py:")


def test_a_second_class_of_the_same_name_is_listed() -> None:
    texts = {"qos.py": "class Port: ...\nclass Queue: ...", "sim.py": "class Port: ...", "gnmi.py": "class Queues: ..."}
    assert classes_of_two_meanings(texts) == ["Port: qos.py:1, sim.py:1"]
    assert classes_of_two_meanings(texts | {"sim.py": '"""As in:\n\n    class Port: ...\n"""'}) == []


def test_a_docstring_that_begins_with_neither_is_listed() -> None:
    text = 'LIMIT = 3\n"""What a port takes."""\ndef rate():\n    """Rate of a port."""'
    assert odd_docstrings({"qos.py": text}) == ["qos.py:2: What a port takes."]

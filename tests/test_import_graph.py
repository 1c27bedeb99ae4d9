"""The import graph of the package has no cycle, and its pure packages import nothing with side effects."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp
import pytest

PURE = ("forwarding", "topology")
DATA_READER = "load_data"
"""The only function of the pure packages that reads files: the data of the catalogues."""
READING = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "print", "input"}


def imports() -> Mapping[str, set[str]]:
    """The modules of railfab that each module imports: at its top, in functions and under TYPE_CHECKING."""
    graph = grimp.build_graph("railfab", cache_dir=None)
    return {module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules}


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of more than one module, by Kosaraju's algorithm."""
    order: list[str] = []
    seen: set[str] = set()

    def visit(start: str, edges: Mapping[str, set[str]]) -> Iterator[str]:
        """Modules reachable from one, in postorder."""
        stack = [(start, iter(sorted(edges[start])))]
        seen.add(start)
        while stack:
            module, rest = stack[-1]
            following = next((other for other in rest if other not in seen), None)
            if following is None:
                stack.pop()
                yield module
            else:
                seen.add(following)
                stack.append((following, iter(sorted(edges[following]))))

    for module in sorted(graph):
        if module not in seen:
            order.extend(visit(module, graph))
    reverse: dict[str, set[str]] = {module: set() for module in graph}
    for module, others in graph.items():
        for other in others:
            reverse[other].add(module)
    seen.clear()
    components = [sorted(visit(module, reverse)) for module in reversed(order) if module not in seen]
    return [component for component in components if len(component) > 1]


def test_no_modules_import_each_other() -> None:
    assert cycles(imports()) == []


def test_a_cycle_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}
    assert cycles(graph) == [["b", "c"]]


@pytest.mark.parametrize("package", PURE)
def test_pure_packages_read_only_the_data_of_catalogues(package: str, repository: Path) -> None:
    calls = [
        f"{path.name}:{call.lineno}: {name}"
        for path in sorted((repository / "src" / "railfab" / package).rglob("*.py"))
        for name, call in reading_calls(ast.parse(path.read_text()))
    ]
    assert calls == []


def reading_calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Calls of functions and methods that read or write, outside the reader of data files."""
    allowed = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == DATA_READER
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node not in allowed:
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in READING:
                yield name, node


def test_few_modules_are_outside_of_the_packages(repository: Path) -> None:
    """What starts, what every package raises, finds or counts with; processes and texts have packages of their own."""
    modules = {path.stem for path in (repository / "src" / "railfab").glob("*.py")} - {"__init__", "__main__"}
    assert modules == {
        "bounded_json",
        "errors",
        "findings",
        "import_on_use",
        "metrics",
        "repeated_warnings",
        "startup_cache",
        "units",
    }

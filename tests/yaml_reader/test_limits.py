"""What is outside of the limits of a document is one line, with the line of the file and a remedy."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from railfab.endpoints import load_endpoints
from railfab.errors import RailfabError
from railfab.imports.document import read_tree
from railfab.intent.document import read_document
from railfab.platforms.telemetry_files import telemetry_maps
from railfab.yaml_reader.composer import YamlLimits, compose
from railfab.yaml_reader.files import UnreadableFile, file_text
from railfab.yaml_reader.sections import Faulty, values_in

SMALL_BOMB = "a: &a [1, 2]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "limits", "line", "problem"),
    [
        ("a:\n  b:\n    c: 1\n", YamlLimits(depth=2), 3, "the nesting exceeds 2 levels"),
        ("a: 1\na: 2\n", YamlLimits(depth=2), 2, "key 'a' is duplicate"),
        ("x: {a: 1}\ny: {a: 1,\n a: 2}\n", YamlLimits(depth=2), 3, "key 'a' is duplicate"),
        ("a: &a [1]\nb: *a\n", YamlLimits(depth=9), 2, "an alias of a list or mapping is not supported"),
        (SMALL_BOMB, YamlLimits(depth=9, expanded=10), 3, "its aliases repeat more than 10 values"),
        (
            "m: &m {a: 1, b: 2}\nn:\n- <<: *m\n- <<: *m\n",
            YamlLimits(depth=9, expanded=99, merged_keys=3),
            4,
            "merges more than 3",
        ),
        ("a: &a {b: *a}\n", YamlLimits(depth=9, expanded=99), 1, "alias 'a' has no anchor before it"),
        ("m: {<<: {a: 1}}\n", YamlLimits(depth=9), 1, "`<<` (merge) is not supported"),
        ("a: 1\nb: !!set {}\n", YamlLimits(depth=9), 2, "the tag '!!set' is not supported"),
        ("a: 1\n---\nb: 1\n", YamlLimits(depth=9), 2, "a second document begins"),
        ("a: 1\nb: [\n", YamlLimits(depth=9), 3, "did not find expected node content"),
        ("a: 1\n? [b]\n: 1\n", YamlLimits(depth=9), 2, "a key is not a plain value"),
    ],
)
def test_what_exceeds_a_limit_is_one_fault_with_its_line(
    text: str, limits: YamlLimits, line: int, problem: str
) -> None:
    (fault,) = compose(text, limits).faults
    assert fault.line == line
    assert fault.problem.startswith(problem)
    assert "\n" not in fault.problem + fault.remedy


def test_what_is_within_a_limit_is_taken() -> None:
    assert compose(SMALL_BOMB, YamlLimits(depth=3, expanded=100)).faults == []
    assert compose("a: 1\nb: {c: 1, c: 2}\n", YamlLimits(depth=2, unique_levels=1)).faults == []


def test_a_large_file_is_refused_and_a_small_one_read(tmp_path: Path) -> None:
    path = tmp_path / "f.yml"
    path.write_text("\ufeffa: 1\n")
    assert file_text(path, 8) == "a: 1\n"
    with pytest.raises(UnreadableFile, match="is larger than 7 bytes"):
        file_text(path, 7)


def test_a_bomb_in_an_endpoints_file_is_refused_before_it_is_shown(tmp_path: Path) -> None:
    """`hostname [...] is not a text` would have shown each of its 10^12 values."""
    rows = [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 13)]
    path = tmp_path / "hosts.yml"
    path.write_text("\n".join(["leaf1:", "  a0: &a0 [x]", *rows, "  platform: frr", "  hostname: *a12", ""]))
    with pytest.raises(
        RailfabError, match=r"hosts\.yml:8: invalid YAML \(its aliases repeat more than 1000000 values\)"
    ):
        load_endpoints(path)


def test_a_value_that_pyyaml_cannot_make_is_one_line() -> None:
    with pytest.raises(Faulty, match="'2026-99-99' is not a valid number or date") as refused:
        values_in("a: 1\nb: 2026-99-99\n")
    assert refused.value.fault.line == 2


def test_each_reader_names_the_line_of_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "f.yml"
    path.write_text("\n\nversion: 1\nleaf1: {a: 1, a: 2}\n")
    readers = {
        "intent": lambda: read_document(path),
        "mappings": lambda: telemetry_maps([path]),
        "hosts": lambda: load_endpoints(path),
        "containerlab": lambda: read_tree(str(path), path.read_text()),
    }
    for name, read in readers.items():
        with pytest.raises(RailfabError) as refused:
            read()
        assert str(refused.value).startswith(f"{path}:4: "), name


LOADERS = {"load", "load_all", "safe_load", "safe_load_all", "full_load", "unsafe_load", "parse", "compose", "scan"}


def test_no_other_module_reads_yaml(repository: Path) -> None:
    """Dumping is for any module; a loader has the limits, the lines and the messages of the reader."""
    source = repository / "src" / "railfab"
    for path in sorted(source.rglob("*.py")):
        text = path.read_text()
        if path.is_relative_to(source / "yaml_reader") or "yaml" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            names = {node.attr} if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "yaml" else set()
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "yaml":
                names = {alias.name for alias in node.names}
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) == "getattr"
                and ast.unparse(node.args[0]) == "yaml"
            ):
                names = {ast.literal_eval(node.args[1])}
            used = {name for name in names if name in LOADERS or name.endswith("Loader")}
            assert not used, f"{path}: {used}"

"""What a start computes from a text alone is kept for the next one, and never changes a result."""

from __future__ import annotations

import dataclasses
import marshal
import os
import re
import subprocess
import sys
import typing
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest

from railfab.startup_cache import PATTERNS, StartupCache, keep_generated_code
from railfab.yaml_reader.packaged import packaged


@pytest.fixture(autouse=True)
def bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def lengths(path: Path, *texts: str) -> list[str]:
    """The texts whose length was computed, in a start that needs that of these."""
    computed: list[str] = []

    def length(text: str) -> int:
        computed.append(text)
        return len(text)

    cache = StartupCache(str(path))
    assert [cache.result("length", text, length) for text in texts] == [*map(len, texts)]
    cache.save()
    return computed


def test_a_result_is_computed_once_for_each_text(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    assert lengths(path, "a", "bb") == ["a", "bb"]
    assert lengths(path, "bb", "ccc") == ["ccc"]
    assert lengths(path, "a", "bb", "ccc") == []
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]


def test_a_result_is_computed_once_in_the_start_that_computes_it(tmp_path: Path) -> None:
    assert lengths(tmp_path / "kept", "one text", "another", "one text") == ["one text", "another"]


def test_results_of_two_functions_of_one_text_are_apart(tmp_path: Path) -> None:
    cache = StartupCache(str(tmp_path / "kept"))
    assert [cache.result("length", "ab", len), cache.result("upper", "ab", str.upper)] == [2, "AB"]


@pytest.mark.parametrize("content", [b"", b"\0\0", b"of another version of Python", "cut"])
def test_a_damaged_file_is_as_none(tmp_path: Path, content: bytes | str) -> None:
    path = tmp_path / "kept"
    lengths(path, "a", "b" * 1000)
    path.write_bytes(path.read_bytes()[:-7] if isinstance(content, str) else content)
    assert lengths(path, "a") == ["a"]
    assert lengths(path, "a") == []


def test_nothing_is_kept_where_python_keeps_no_bytecode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lengths(tmp_path / "no such folder" / "kept", "a") == ["a"]
    assert StartupCache(None).result("length", "a", len) == 1
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert lengths(tmp_path / "kept", "a") == ["a"]
    assert [*tmp_path.iterdir()] == []


def test_a_dataclass_is_the_same_with_kept_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "kept")
    monkeypatch.setattr(dataclasses, "exec", exec, raising=False)
    monkeypatch.setattr(typing, "compile", compile, raising=False)

    def made(cache: StartupCache | None) -> str:
        if cache is not None:
            keep_generated_code(cache)

        @dataclasses.dataclass(frozen=True, slots=True, order=True)
        class Port:
            name: str
            rate_gbps: int = 400
            lanes: list[int] = dataclasses.field(default_factory=list, compare=False)

        first, second = Port("a"), Port("b", 100, [1])
        with pytest.raises(dataclasses.FrozenInstanceError):
            first.name = "c"
        if cache is not None:
            cache.save()
        return f"{first!r} {second!r} {first < second} {first == Port('a')} {hash(first) == hash(Port('a'))}"

    assert made(None) == made(StartupCache(path)) == made(StartupCache(path))


MODULE = r"""
import re
NAMED = re.compile(r"(?P<port>\d+)/(\w)?(?P<lane>[a-d])", re.IGNORECASE)
class Names:
    LETTERS = re.compile("[^\u0100-\u2fff]+")
def late():
    return re.compile("late")
"""


def test_a_pattern_of_a_module_is_the_same_with_kept_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PATTERNS, "compile", PATTERNS.compile)
    monkeypatch.setattr(dataclasses, "exec", exec, raising=False)
    monkeypatch.setattr(typing, "compile", compile, raising=False)

    def made(cache: StartupCache | None) -> tuple[list[re.Pattern[str]], list[object]]:
        re.purge()
        if cache is not None:
            keep_generated_code(cache)
        module: dict[str, typing.Any] = {}
        exec(MODULE, module)
        patterns = [module["NAMED"], module["Names"].LETTERS, module["late"]()]
        match = patterns[0].fullmatch("12/xC")
        return patterns, [match.groupdict(), match.groups(), match.lastgroup, patterns[1].split("a\u0100b")]

    path = str(tmp_path / "kept")
    without = made(None)
    first = StartupCache(path)
    assert made(first) == without
    first.save()
    second = StartupCache(path)
    assert made(second) == without
    assert len(marshal.loads((tmp_path / "kept").read_bytes()[len(MAGIC_NUMBER) :])) == 2, "none of a function"


def test_the_content_of_a_yaml_file_of_a_package_may_be_changed_by_its_reader() -> None:
    first = packaged("railfab.qos", "chips.yml")
    wanted = {**first}
    first.clear()
    assert packaged("railfab.qos", "chips.yml") == wanted


COUNTED = """
import sys
compiled = []
sys.addaudithook(lambda event, found: compiled.append(found[1]) if event == "compile" else None)
from railfab.__main__ import main
sys.argv = ["railfab", *sys.argv[1:]]
try:
    main()
finally:
    print(compiled.count("<string>"), file=sys.stderr)
"""


def test_the_second_start_compiles_little_and_writes_the_same(repository: Path, tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}
    intent = repository / "tests" / "deploy" / "rack_eos.yml"
    counts, texts = [], []
    for start in ("first", "second"):
        command = [sys.executable, "-c", COUNTED, "render", str(intent), "-o", str(tmp_path / start)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
        counts.append(int(done.stderr.splitlines()[-1]))
        texts.append({file.name: file.read_text() for file in (tmp_path / start).iterdir()})
    assert texts[0] == texts[1]
    assert counts[0] > 1000 > 100 > counts[1]


def test_a_text_with_half_of_a_character_has_a_result() -> None:
    """As the pattern of surrogates of protobuf's JSON format has."""
    assert StartupCache(None).result("re 0", "[\ud800-\udfff]", len) == 5

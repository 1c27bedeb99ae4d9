"""Files made to hang or crash a parser: each is refused quickly, with readable error lines."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.intent.intents import FULL, ROOT, SMALL, error_lines
from tests.sampled import sampled

from railfab.intent import load_intent, load_job
from railfab.intent.document import read_document
from railfab.yaml_reader import composer

FABRICS = sorted((ROOT / "inventory" / "fabrics").glob("*.yml"))

JOB = "version: 1\njob: j\nphases: [{compute: {ms: 1}}]\n"
CATALOGUE = "switches: {}\n"
MAPPING = "the file contains no mapping. Begin it with `version: 1`."
DEEP = "the nesting exceeds 50 levels. Remove levels."
KNOWN = "unknown key."

LAUGHS = "a: &a0 [lol]\n" + "".join(f"a{n}: &a{n} [{', '.join(10 * [f'*a{n - 1}'])}]\n" for n in range(1, 10))

BOMBS: dict[str, tuple[str | bytes, str]] = {
    "empty": (b"", MAPPING),
    "blank": (b" \n\n  \n", MAPPING),
    "comments only": (b"# version: 1\n# fabric: x\n", MAPPING),
    "document marks only": (b"---\n...\n", MAPPING),
    "a scalar": (b"version\n", MAPPING),
    "a list": (b"- version: 1\n", MAPPING),
    "two documents": (SMALL + "---\n" + SMALL, "f.yml:6: a second document begins. Write one document per file."),
    "integer of 10^5 digits": (
        SMALL + f"x: {'9' * 100_000}\n",
        "f.yml:6: a number has 100000 digits. Use a smaller number.",
    ),
    "negative one": (SMALL + f"x: -{'9' * 5_000}\n", "f.yml:6: a number has 5001 digits. Use a smaller number."),
    "key of many digits": (SMALL + f"{'9' * 500}: 1\n", "f.yml:6: a number has 500 digits. Use a smaller number."),
    "hexadecimal of 10^5 digits": (SMALL + f"x: 0x{'f' * 100_000}\n", KNOWN),
    "float of 10^5 digits": (SMALL + f"x: 1.{'9' * 100_000}\n", KNOWN),
    "float beyond floats": (
        SMALL.replace("count: 1", "count: 1e400"),
        "inf is not an integer. Use 1 to 4096.",
    ),
    "infinity": (SMALL.replace("count: 1", "count: .inf"), "inf is not an integer. Use 1 to 4096."),
    "not a number": (SMALL.replace("count: 1", "count: .NaN"), "nan is not an integer. Use 1 to 4096."),
    "minus nought": (SMALL.replace("count: 1", "count: -0"), "0 is out of range. Use 1 to 4096."),
    "date": (SMALL.replace("count: 1", "count: 2026-11-21"), "'2026-11-21' is not an integer. Use 1 to 4096."),
    "date that is none": (SMALL.replace("count: 1", "count: 2026-99-99"), "'2026-99-99' is not an integer."),
    "sexagesimal": (SMALL.replace("count: 1", "count: 190:20:30"), "'190:20:30' is not an integer."),
    "octal": (SMALL.replace("count: 1", "count: 010"), "'010' is not an integer. Use 1 to 4096."),
    "binary": (SMALL.replace("count: 1", "count: 0b1"), "'0b1' is not an integer. Use 1 to 4096."),
    "tag !!binary": (SMALL + "x: !!binary aGVsbG8=\n", "f.yml:6: the tag '!!binary' is not supported. Remove the tag."),
    "tag !!python": (
        SMALL + "x: !!python/object/apply:os.system [id]\n",
        "f.yml:6: the tag '!!python/object/apply:os.system' is not supported. Remove the tag.",
    ),
    "tag of a key": (SMALL + "!!str x: 1\n", "f.yml:6: the tag '!!str' is not supported. Remove the tag."),
    "tag of a mapping": (SMALL + "x: !!omap {}\n", "f.yml:6: the tag '!!omap' is not supported. Remove the tag."),
    "tag without a handle": (SMALL + "x: !no!such 1\n", "f.yml:6: invalid YAML (found undefined tag handle"),
    "tag of 10^5 letters": (SMALL + f"x: !{'t' * 100_000} 1\n", "f.yml:6: the tag '!ttt"),
    "merge key": (SMALL + "<<: {mtu: 1}\n", "f.yml:6: `<<` (merge) is not supported. Write the keys of the mapping."),
    "merge in a mapping of names": (SMALL + "inventory: {<<: {host: x}}\n", "f.yml:6: `<<` (merge) is not supported."),
    "billion laughs": (SMALL + LAUGHS, "f.yml:7: an alias of a list or mapping is not supported. Write its content."),
    "alias of itself": (
        SMALL + "x: &x {y: *x}\n",
        "f.yml:6: an alias of a list or mapping is not supported. Write its content.",
    ),
    "alias of nothing": (SMALL + "x: *y\n", "f.yml:6: alias 'y' has no anchor before it. Write the value."),
    "alias as a key": (SMALL + "x: &x y\n*x : 1\n", "f.yml:7: a key is not a plain value. Use a word or a number."),
    "a long text many times": (SMALL + f"x: &x {'t' * 100_000}\ny: [{'*x, ' * 30_000}]\n", KNOWN),
    "10^5 open brackets": (SMALL + "x: " + "[" * 100_000, f"f.yml:6: {DEEP}"),
    "10^5 open braces": (SMALL + "x: " + "{a: " * 100_000, f"f.yml:6: {DEEP}"),
    "10^5 braces without keys": (SMALL + "x: " + "{" * 100_000, f"f.yml:6: {DEEP}"),
    "10^5 dashes": (SMALL + "x:\n  " + "- " * 100_000, f"f.yml:7: {DEEP}"),
    "10^5 question marks": ("? " * 100_000, f"f.yml:1: {DEEP}"),
    "a mapping as a key": (SMALL + "? {a: 1}\n: 1\n", "f.yml:6: a key is not a plain value. Use a word or a number."),
    "51 levels": (SMALL + "x: " + "[" * 51 + "]" * 51, f"f.yml:6: {DEEP}"),
    "50 levels": (SMALL + "x: " + "[" * 50 + "]" * 50, KNOWN),
    "a level a line": (SMALL + "".join(f"{' ' * n}a:\n" for n in range(1000)), f"f.yml:57: {DEEP}"),
    "closed too often": (SMALL + "x: " + "]" * 100_000, "f.yml:6: invalid YAML (did not find expected node content"),
    "a text of a million letters": (SMALL.replace("small", "s" * 900_000), "'" + "s" * 36 + "... is not a name."),
    "a key of a million letters": (SMALL + f"{'k' * 900_000}: 1\n", "invalid YAML"),
    "a quoted key of a thousand letters": (SMALL + f"'{'k' * 1000}': 1\n", f"f.yml:6: '{'k' * 36}...: {KNOWN}"),
    "many keys": (SMALL + "".join(f"k{n}: 1\n" for n in range(30_000)), "f.yml: 29970 more faults are not shown."),
    "one key many times": (
        SMALL + "k: 1\n" * 30_000,
        "f.yml: 29969 more faults are not shown. Correct the first ones.",
    ),
    "many tags": (
        SMALL + "x: [" + "!t ,  " * 30_000 + "]",
        "f.yml: 29970 more faults are not shown. Correct the first ones.",
    ),
    "many names": (
        SMALL + "inventory: {" + "".join(f"k{n}: 1, " for n in range(30_000)) + "}",
        "29970 more faults are not shown.",
    ),
    "NUL": (SMALL + "x: \0\n", "f.yml:6: YAML does not allow the character U+0000. Delete it."),
    "escape": (SMALL + "x: \x1b[31m\n", "f.yml:6: YAML does not allow the character U+001B. Delete it."),
    "NUL by escape": (SMALL + 'x: "\\0"\n', KNOWN),
    "surrogate by escape": (SMALL.replace("small", '"\\ud800"'), ""),
    "line separator by escape": (SMALL.replace("small", '"a\\Lb"'), "'a\\u2028b' is not a name."),
    "bell in a key": (SMALL + '"\\a": 1\n', f"f.yml:6: '\\x07': {KNOWN}"),
    "line break in a name": (
        SMALL + 'inventory: {"a\\nb": {}}\n',
        "inventory.'a\\nb': 'a\\nb' contains an unprintable character.",
    ),
    "UTF-16": (SMALL.encode("utf-16"), "f.yml: the file is not UTF-8 text. Save it as UTF-8."),
    "UTF-16 without a mark": (SMALL.encode("utf-16-le"), "f.yml:1: YAML does not allow the character U+0000."),
    "Latin-1": ("x: é\n".encode("latin-1"), "f.yml: the file is not UTF-8 text. Save it as UTF-8."),
    "mark in the middle": (SMALL + "\ufeff: 1\n", "f.yml:6: invalid YAML (did not find expected key"),
    "tabs": (SMALL + "x:\n\t- 1\n", "Indent with spaces, not tabs."),
    "mega tabs": ("\t" * 900_000, "f.yml:1: invalid YAML (found character that cannot start any token"),
    "mega directives": ("%YAML 1.1\n" * 90_000, "invalid YAML (found duplicate %YAML directive)."),
    "mega line breaks in a text": (SMALL + "x: 'a" + "\n" * 900_000 + "'\n", KNOWN),
    "mega words in a text": (SMALL + "x: a" + "\n  b" * 200_000 + "\n", KNOWN),
    "mega commas": (SMALL + "x: [" + "," * 900_000 + "]", "f.yml:6: invalid YAML (did not find expected node content"),
    "mega colons": (
        SMALL + "x: " + ":" * 900_000,
        "f.yml:6: invalid YAML (mapping values are not allowed in this context).",
    ),
    "many anchors": (SMALL + "x: [" + "".join(f"&a{n} 1, " for n in range(30_000)) + "]", KNOWN),
    "mega quotes": (SMALL + "x: " + '"' * 900_000, "invalid YAML"),
    "never closed": (
        SMALL + "x: {y: 'z\n",
        "f.yml:7: invalid YAML (found unexpected end of stream, while scanning a quoted",
    ),
}


def test_a_billion_laughs_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "f.yml"
    path.write_text(SMALL + LAUGHS)
    assert len(error_lines(load_intent, path)) == 1


@pytest.mark.parametrize("name", BOMBS)
def test_a_malicious_intent_is_refused_with_readable_lines(tmp_path: Path, name: str) -> None:
    content, line = BOMBS[name]
    path = tmp_path / "f.yml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    lines = error_lines(load_intent, path)
    assert any(line in found for found in lines), lines


@pytest.mark.parametrize("name", sampled(BOMBS.keys(), few=[*BOMBS][::3]))
def test_a_malicious_job_or_catalogue_is_refused_with_readable_lines(tmp_path: Path, name: str) -> None:
    content = BOMBS[name][0]
    encoded = content if isinstance(content, bytes) else content.encode()
    job, catalogue, fabric = (tmp_path / name for name in ("job.yml", "catalogue.yml", "fabric.yml"))
    job.write_bytes(encoded.replace(SMALL.encode(), JOB.encode()))
    catalogue.write_bytes(encoded.replace(SMALL.encode(), CATALOGUE.encode()))
    fabric.write_text(SMALL + "catalogue: catalogue.yml\n")
    assert error_lines(load_job, job)
    assert all(line.startswith("catalogue.yml") for line in error_lines(load_intent, fabric))


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\xef\xbb\xbf" + SMALL.encode(), "a byte order mark"),
        (SMALL.replace("\n", "\r\n").encode(), "line ends of Windows"),
        (b"---\n" + SMALL.encode() + b"...\n", "marks around the document"),
        (SMALL.encode().rstrip(), "no line end at the end"),
        (
            SMALL.replace("fabric: small", "fabric: &name small").replace("count: 2", "count: &two 2").encode(),
            "anchors",
        ),
        (SMALL.replace("hosts: 2", "hosts: &two 2").replace("count: 2", "count: *two").encode(), "alias of a value"),
        (SMALL.replace("count: 2", "count: +2").replace("rate_gbps: 400", "rate_gbps: 0x190").encode(), "numbers"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_encoding_marks_and_line_ends_of_editors_are_accepted(tmp_path: Path, content: bytes, what: str) -> None:
    plain, path = tmp_path / "plain.yml", tmp_path / "f.yml"
    plain.write_text(SMALL)
    path.write_bytes(content)
    assert load_intent(path) == load_intent(plain), what


@pytest.mark.parametrize("text", [FULL, SMALL, *(path.read_text() for path in FABRICS)])
def test_both_yaml_parsers_give_the_same_document(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.yml"
    path.write_text(text)
    fast = read_document(path)
    monkeypatch.setattr(composer, "PARSER", yaml.SafeLoader)
    assert read_document(path) == fast

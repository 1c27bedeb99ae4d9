"""The keys of a gnmic configuration: where each is, the type of value that gnmic takes, and what becomes of it.

Source: openconfig/gnmic, pkg/config/{config,targets,subscriptions,outputs}.go and mapstructure (August 2026). Keys at
the top of the file are flags, which are read leniently; those of a target, subscription or output are not converted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from railfab.yaml_reader.packaged import packaged
from railfab.yaml_reader.tree import Keyed, Listed, Scalar, Tree, words

DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:h|ms|m|us|µs|ns|s))+|0")
SECTIONS = ("targets", "subscriptions", "outputs", "processors")
BOOLEANS = frozenset(("true", "True", "TRUE", "false", "False", "FALSE"))
"""Booleans of YAML as gnmic's parser resolves them: `yes` is a text."""
LENIENT_BOOLEANS = BOOLEANS | frozenset(("1", "t", "T", "0", "f", "F"))
"""Of Go's strconv.ParseBool."""
NUMBER = re.compile(r"[-+]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|0[xob][0-9a-fA-F_]+|[-+]?\.inf|\.nan", re.I)
Mistake = tuple[str, str]
"""Why gnmic refuses or ignores a value, and the remedy."""
Check = Callable[[Tree], Mistake | None]
MODES = ("once", "poll", "stream")
STREAM_MODES = ("on_change", "sample", "target_defined")


class Verdict(StrEnum):
    """What becomes of a setting. UNKNOWN: neither gnmic's documentation nor railfab has the key."""

    DIFFERS = "differs"
    MISSING = "missing"
    WITHOUT = "without"
    UNKNOWN = "unknown"

    @property
    def words(self) -> str:
        """As tables show it."""
        return {"missing": "not supported", "without": "not needed", "unknown": "not known"}.get(self.value, self.value)


@dataclass(frozen=True, slots=True)
class Meaning:
    """Of a key. type: name of its check, empty for a value that is not read. verdict: None for a converted one."""

    type: str = ""
    verdict: Verdict | None = None
    text: str = ""


UNKNOWN = Meaning(verdict=Verdict.UNKNOWN, text="no key of gnmic that railfab knows; not read")


@dataclass(frozen=True, slots=True)
class GnmicSetting:
    """A key of the file. place: dotted, as in the file. pattern: the same with `*` for names, and the output's type."""

    place: str
    pattern: str
    line: int

    @property
    def meaning(self) -> Meaning:
        return meanings().get(self.pattern, UNKNOWN)


@cache
def meanings() -> Mapping[str, Meaning]:
    """By pattern, from settings.yml."""
    document = packaged(__package__, "settings.yml")
    return {pattern: _meaning(stated) for pattern, stated in document.items()}


def _meaning(stated: str | dict[str, str]) -> Meaning:
    if isinstance(stated, str):
        return Meaning(type=stated)
    kind = stated.get("type", "")
    (verdict, text), *_ = [(word, text) for word, text in stated.items() if word != "type"]
    return Meaning(type=kind, verdict=Verdict(verdict), text=text)


def settings(tree: Keyed) -> Iterator[tuple[GnmicSetting, Tree]]:
    """Every key and its value: of targets, subscriptions, processors and Prometheus outputs one by one, else the
    section as one."""
    for key, entry in tree.entries.items():
        if key not in SECTIONS or not isinstance(entry, Keyed):
            yield GnmicSetting(key, key, tree.lines[key]), entry
            continue
        for name, inner in entry.entries.items():
            yield from _named(key, name, entry.lines[name], inner)


def _named(section: str, name: str, line: int, entry: Tree) -> Iterator[tuple[GnmicSetting, Tree]]:
    """The keys of a target, a subscription, an output or a processor."""
    place = f"{section}.{name}"
    if not isinstance(entry, Keyed):
        yield GnmicSetting(place, f"{section}.*", line), entry
        return
    kind = words(entry.entries).get("type", "none") if section == "outputs" else "*"
    if section == "outputs" and kind != "prometheus":
        yield GnmicSetting(place, f"outputs.{kind}", line), entry
        return
    for key, inner in entry.entries.items():
        if section == "subscriptions" and key == "stream-subscriptions" and isinstance(inner, Listed):
            for part in inner.entries:
                yield from _named(section, f"{name}.{key}", part.line, part)
        else:
            yield GnmicSetting(f"{place}.{key}", f"{section}.{kind}.{key}", entry.lines[key]), inner


def mistake(setting: GnmicSetting, value: Tree) -> Mistake | None:
    """What is wrong with the value of a key; None for a good one, or one that is not read."""
    kind, is_flag = setting.meaning.type, "." not in setting.pattern
    check = (LENIENT.get(kind) if is_flag else None) or CHECKS.get(kind)
    is_empty = isinstance(value, Scalar) and value.is_null and kind != "subscription"
    return None if check is None or is_empty else check(value)


def _scalar(value: Tree) -> Mistake | None:
    return None if isinstance(value, Scalar) else (f"is {_shape(value)}, not a text", "Write one value")


def _text(value: Tree) -> Mistake | None:
    if isinstance(value, Scalar) and value.plain and (value.text in BOOLEANS or NUMBER.fullmatch(value.text)):
        return f"is {_shape(value)}, not a text", "Write it in quotes"
    return _scalar(value)


def _flag(value: Tree) -> Mistake | None:
    is_flag = isinstance(value, Scalar) and value.plain and value.text in BOOLEANS
    return None if is_flag else (f"is {_shape(value)}, not true or false", "Write true or false without quotes")


def _lenient_flag(value: Tree) -> Mistake | None:
    is_flag = isinstance(value, Scalar) and value.text in LENIENT_BOOLEANS
    return None if is_flag else (f"is {_shape(value)}, not true or false", "Write true or false")


def _duration(value: Tree) -> Mistake | None:
    remedy = "Write it as 10s, 1m30s or 500ms"
    if not isinstance(value, Scalar):
        return f"is {_shape(value)}, not a duration", remedy
    is_duration = DURATION.fullmatch(value.text) or (value.plain and value.text.isdecimal())
    return None if is_duration else (f"{value.text!r} is not a duration", remedy)


def _texts(value: Tree) -> Mistake | None:
    if isinstance(value, Listed):
        return next((wrong for entry in value.entries if (wrong := _text(entry))), None)
    return f"is {_shape(value)}, not a list", "Begin each entry with a dash, or write [ENTRY, ENTRY]"


def _lenient_texts(value: Tree) -> Mistake | None:
    entries = value.entries if isinstance(value, Listed) else [value]
    return next((wrong for entry in entries if (wrong := _scalar(entry))), None)


def _labels(value: Tree) -> Mistake | None:
    if not isinstance(value, Keyed):
        return f"is {_shape(value)}, not a mapping", "Write `name: text` for each"
    return next((wrong for entry in value.entries.values() if (wrong := _text(entry))), None)


def _one_of(names: tuple[str, ...]) -> Check:
    remedy = f"Use one of {', '.join(names)}"

    def check(value: Tree) -> Mistake | None:
        if not isinstance(value, Scalar):
            return f"is {_shape(value)}, not a mode", remedy
        is_known = not value.text or value.text.lower().replace("-", "_") in names
        return None if is_known else (f"{value.text!r} is not a mode", remedy)

    return check


def _mapping(value: Tree) -> Mistake | None:
    wrong = f"is {_shape(value)}, not a mapping", "Write its keys below it, indented"
    return None if isinstance(value, Keyed) else wrong


def _targets(value: Tree) -> Mistake | None:
    """A mapping, or addresses with spaces between them."""
    return None if isinstance(value, Scalar) else _mapping(value)


CHECKS: Mapping[str, Check] = {
    "text": _text,
    "flag": _flag,
    "duration": _duration,
    "texts": _texts,
    "labels": _labels,
    "mode": _one_of(MODES),
    "stream-mode": _one_of(STREAM_MODES),
    "mapping": _mapping,
    "subscription": _mapping,
    "targets": _targets,
}
"""Checks of values by the type in settings.yml."""
LENIENT: Mapping[str, Check] = {"text": _scalar, "flag": _lenient_flag, "texts": _lenient_texts}
"""Those of flags that differ."""


def _shape(value: Tree) -> str:
    """What a value is, without its text, which may be a secret."""
    if not isinstance(value, Scalar):
        return "a list" if isinstance(value, Listed) else "a mapping"
    if value.plain and (value.is_null or value.text in BOOLEANS):
        return "empty" if value.is_null else "true or false"
    return "a number" if value.plain and NUMBER.fullmatch(value.text) else "a text"

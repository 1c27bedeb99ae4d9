"""Differences between two models of one switch: one per field, and as short lines to read before a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from railfab.device.model import DeviceModel
from railfab.device.secret_text import without_secrets
from railfab.text.counted import counted, listed


@dataclass(frozen=True, slots=True)
class FieldStep:
    """One step of the path to a field: the name of a field, and the key of an element of a tuple there."""

    field: str
    key: str | None = None

    def __str__(self) -> str:
        return self.field if self.key is None else f"{self.field}[{self.key}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field that differs. before, after: None where a side does not set it. is_order: only the order differs."""

    steps: tuple[FieldStep, ...]
    before: Any
    after: Any
    is_order: bool = False

    @property
    def path(self) -> str:
        """The field as text: `bgp.neighbors[ethernet-1/32].remote_as`."""
        return ".".join(map(str, self.steps)) + (" order" if self.is_order else "")

    def __str__(self) -> str:
        return f"{self.path}: {value_text(self.before)} -> {value_text(self.after)}"

    @property
    def problem(self) -> str:
        """The problem of a switch that has `before` while the intent has `after`."""
        if self.is_order:
            first = next((held, wanted) for held, wanted in zip(self.before, self.after, strict=True) if held != wanted)
            return "has {} where the intent has {}".format(*first)
        if is_dataclass(self.after) and self.before is None:
            return "is missing"
        if is_dataclass(self.before) and self.after is None:
            return "is not in the intent"
        return f"is {value_text(self.before)}, the intent says {value_text(self.after)}"


KEYS = ("key", "vlan_id", "name", "interface", "traffic_class", "cage", "prefix", "address")
"""Attributes that identify an element of a tuple; the first that it has is its key, else its position from 1."""


def changes(before: DeviceModel, after: DeviceModel) -> tuple[Change, ...]:
    """Every difference between two models, by innermost field; empty when the models are equal."""
    return tuple(_changes((), before, after))


def value_text(value: object) -> str:
    """A value of a model as text for a message, for example `on`, `not set`, `empty`, `interval_ms 300, multiplier 3`.

    Of a group of values, one that is optional and not set is left out.
    """
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    if is_dataclass(value):
        held = ((field, getattr(value, field.name)) for field in fields(value))
        stated = (
            f"{field.name} {value_text(content)}"
            for field, content in held
            if content is not None or field.default is not None
        )
        return ", ".join(stated)
    if isinstance(value, tuple):
        return ", ".join(map(value_text, value)) or "none"
    return str(value) or "empty"


def _changes(steps: tuple[FieldStep, ...], before: Any, after: Any) -> Iterator[Change]:
    if before == after:
        return
    if is_dataclass(before) and type(before) is type(after):
        for field in (field for field in fields(before) if field.compare):
            yield from _changes(
                (*steps, FieldStep(field.name)), getattr(before, field.name), getattr(after, field.name)
            )
    elif isinstance(before, tuple) and isinstance(after, tuple) and _keyed(before + after):
        yield from _element_changes(steps, by_key(before), by_key(after))
    else:
        yield Change(steps=steps, before=before, after=after)


def _element_changes(steps: tuple[FieldStep, ...], old: dict[str, Any], new: dict[str, Any]) -> Iterator[Change]:
    *outer, last = steps
    for key in dict.fromkeys([*old, *new]):
        yield from _changes((*outer, FieldStep(last.field, key)), old.get(key), new.get(key))
    if list(old) != list(new) and set(old) == set(new):
        yield Change(steps=steps, before=tuple(old), after=tuple(new), is_order=True)


def _keyed(elements: tuple[Any, ...]) -> bool:
    """Whether the elements are dataclasses, or pairs of a key and its value."""
    return bool(elements) and all(is_dataclass(element) or isinstance(element, tuple) for element in elements)


def by_key(elements: tuple[Any, ...]) -> dict[str, Any]:
    """Each element by its key; the second element with the same key gets `key#2`."""
    by_key: dict[str, Any] = {}
    seen: Counter[str] = Counter()
    for position, element in enumerate(elements, start=1):
        if isinstance(element, tuple):
            key, element = str(element[0]), element[1]
        else:
            key = str(next((getattr(element, key) for key in KEYS if hasattr(element, key)), position))
        seen[key] += 1
        by_key[key if seen[key] == 1 else f"{key}#{seen[key]}"] = element
    return by_key


SECTIONS = {
    ("interfaces",): "interface",
    ("breakouts",): "breakout",
    ("bgp", "neighbors"): "bgp neighbor",
    ("bgp", "aggregates"): "bgp aggregate",
    ("policies",): "policy",
    ("network_instances",): "vrf",
    ("vlans",): "vlan",
    ("qos", "classes"): "traffic class",
    ("qos", "classifiers"): "classifier",
    ("qos", "profiles"): "port profile",
    ("qos", "ports"): "qos of port",
}
"""Parts of a model with elements, by the fields of their path, as a change names them."""

WORDS = {
    "asn": "AS",
    "remote_as": "remote AS",
    "router_id": "router ID",
    "mtu_bytes": "MTU",
    "received_mtu_bytes": "MTU of received packets",
    "rate_gbps": "speed [Gb/s]",
    "fec": "FEC",
    "bfd": "BFD",
    "pfc": "PFC",
    "ecn": "ECN",
    "wred": "WRED",
    "dscp": "DSCP",
    "qos": "QoS",
    "vlans": "VLANs",
    "vni": "VNI",
    "rd": "RD",
    "unnumbered": "IPv6 unnumbered",
    "rules": "rule",
    "prefixes": "prefix",
    "thresholds": "class",
    "kmin_bytes": "Kmin [bytes]",
    "kmax_bytes": "Kmax [bytes]",
    "pmax_percent": "Pmax [%]",
    "interval_ms": "interval [ms]",
    "xoff_bytes": "XOFF [bytes]",
    "xon_offset_bytes": "XON offset [bytes]",
    "headroom_bytes": "headroom [bytes]",
}
"""Names of fields in a line; of others the words of the name."""

NAMED = 3
"""Elements that a line names before it counts the rest: a line fits a terminal."""
ABSENT = "delete "
"""Beginning of an unmodelled line that a configuration lacks."""

DIFF_HEADS = ("+++", "---")
"""Beginnings of the lines of a unified diff that name its sides."""

COUNTED = {
    "bgp": (("neighbors", "neighbor"), ("aggregates", "aggregate")),
    "qos": (("classes", "class"), ("classifiers", "classifier"), ("profiles", "profile"), ("ports", "port")),
}
"""Parts whose elements are counted when the whole part is added or removed."""


def change_lines(before: DeviceModel, after: DeviceModel, diff: str | None = None) -> tuple[str, ...]:
    """Lines of a change from one model to the other: one line for all elements with the same change.

    diff: unified diff of their configurations. A line without a value in the model that is not in it stays as it is,
    though the other model has a value for it.
    `bgp neighbor ethernet-1/32: remote AS 65001 -> 65002`; `interface ethernet-1/1, ethernet-1/2, ethernet-1/3 and 29
    more: added`.
    """
    if diff is not None:
        before, after = (replace(model, unmodelled=_changed(model.unmodelled, diff)) for model in (before, after))
    by_element: dict[tuple[str, str | None], list[str]] = {}
    for change in changes(before, after):
        section, key, rest = _placed(change)
        by_element.setdefault((section, key), []).append(_change_text(change, section, rest))
    by_text: dict[tuple[str, str], list[str]] = {}
    for (section, key), texts in by_element.items():
        by_text.setdefault((section, ", ".join(texts)), []).extend([] if key is None else [key])
    return tuple(f"{f'{section} {listed(keys, NAMED)}'.rstrip()}: {text}" for (section, text), keys in by_text.items())


def _changed(lines: tuple[str, ...], diff: str) -> tuple[str, ...]:
    """The lines that a diff has, there alone or here after their sections, or in part."""
    in_diff = [line[1:].strip() for line in diff.splitlines() if line[:1] in ("+", "-") and line[:3] not in DIFF_HEADS]
    wanted = [(line, without_secrets(line.removeprefix(ABSENT))) for line in lines]
    return tuple(
        line for line, text in wanted if any(text in changed or changed in text for changed in in_diff if changed)
    )


def _placed(change: Change) -> tuple[str, str | None, tuple[FieldStep, ...]]:
    """The section of a change, the key of its element there, and the path inside."""
    names = tuple(step.field for step in change.steps)
    for depth in range(min(2, len(names)), 0, -1):
        section = SECTIONS.get(names[:depth])
        if section is not None and (key := change.steps[depth - 1].key) is not None:
            return section, key, change.steps[depth:]
    if len(names) > 1:
        return _words(change.steps[:1]), None, change.steps[1:]
    return ("switch", None, change.steps) if names[0] not in COUNTED else (_words(change.steps), None, ())


def _words(steps: tuple[FieldStep, ...]) -> str:
    """The path inside an element in words: `rule 1 prefix 10.0.0.0/8 ge`."""
    names = ((WORDS.get(step.field) or step.field.replace("_", " "), step.key) for step in steps)
    return " ".join(name if key is None else f"{name} {key}" for name, key in names)


def _change_text(change: Change, section: str, rest: tuple[FieldStep, ...]) -> str:
    """One change of an element: `added`, `removed`, `MTU 9216 -> 1500`, `order`."""
    name = _words(rest)
    if change.is_order:
        return f"{name} order".strip()
    if name == "unmodelled":
        return ", ".join(_line_counts(change.before, change.after))
    for verb, whole, counterpart in (("added", change.after, change.before), ("removed", change.before, change.after)):
        if counterpart is None and is_dataclass(whole):
            return ", ".join((f"{name} {verb}".strip(), *_counts(section, rest, whole)))
    return f"{name} {value_text(change.before)} -> {value_text(change.after)}"


def _line_counts(before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[str]:
    """The number of lines without a value in the model that are added and removed, with the first of each."""
    new, gone = ([line for line in more if line not in less] for more, less in ((after, before), (before, after)))
    for verb, more, less in (("added", new, gone), ("removed", gone, new)):
        lines = [line for line in more if not line.startswith(ABSENT)]
        lines += [line.removeprefix(ABSENT) for line in less if line.startswith(ABSENT)]
        if lines:
            yield f"{counted(len(lines), 'other line')} {verb} ({without_secrets(lines[0])})"


def _counts(section: str, rest: tuple[FieldStep, ...], whole: object) -> Iterator[str]:
    """The number of elements of a whole part."""
    if not rest:
        for field, noun in COUNTED.get(section.lower(), ()):
            if number := len(getattr(whole, field)):
                yield counted(number, noun)

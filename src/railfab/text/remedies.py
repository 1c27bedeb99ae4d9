"""Remedies that propose other values of the intent: each choice says what it changes, so that it can be tried.

A remedy is text, like every other. `fabric.trial` plans the intent with each of its choices before a user reads it, and
leaves out those that lead to another error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

USE, SET = "use", "set"
DISTRIBUTIONS = {"google": "protobuf", "grpc": "grpcio", "nats": "nats-py", "yaml": "pyyaml"}
"""Distributions that are named otherwise than the packages that they install."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to correct an intent: `VERB TEXT`.

    changes: new values by dotted key of the intent; None removes the key. Without changes it is advice that names no
    value, and is not tried.
    """

    text: str
    changes: Mapping[str, object] = field(default_factory=dict)
    verb: str = USE


class Remedy(str):
    """The text of a remedy with its choices: `Use 1, 2 or 4, or set backend.growth.hosts: 6`."""

    __slots__ = ("choices",)
    choices: tuple[Choice, ...]

    def __new__(cls, text: str, choices: Sequence[Choice] = ()) -> Remedy:
        remedy = super().__new__(cls, text)
        remedy.choices = tuple(choices)
        return remedy


def remedy(*choices: Choice) -> Remedy:
    """A remedy of one or more choices."""
    groups = groupby(choices, key=lambda choice: choice.verb)
    text = ", or ".join(f"{verb} {either([choice.text for choice in group])}" for verb, group in groups)
    return Remedy(text[:1].upper() + text[1:], choices)


def values(key: str, offered: Iterable[object]) -> tuple[Choice, ...]:
    """A choice for each value of a key, which the place of the error names."""
    return tuple(Choice(str(value), {key: value}) for value in offered)


def setting(key: str, value: object, note: str = "") -> Choice:
    """The choice to set a key: `set KEY: VALUE (NOTE)`."""
    shown = str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
    return Choice(f"{key}: {shown}" + (f" ({note})" if note else ""), {key: value}, SET)


def either(texts: Sequence[str]) -> str:
    """A choice of texts: `a, b or c`."""
    *most, last = texts
    return f"{', '.join(most)} or {last}" if most else last


def install(extra: str) -> str:
    """The remedy for a library that is not installed.

    pip takes the railfab that the environment has, whether from a wheel or a clone, and installs the libraries of the
    extra; no index needs to have railfab.
    """
    return f"Install it with: pip install 'railfab[{extra}]'"


def distribution(module: str) -> str:
    """The distribution that installs a module, as pip calls it."""
    package = module.partition(".")[0]
    return DISTRIBUTIONS.get(package, package.replace("_", "-"))

"""The errors that railfab raises on purpose.

RailfabError                   one line: place, problem and remedy (exit code 2)
├── IntentError                invalid YAML of a user: intent, job, catalogue
├── TopologyError              a fabric that cannot be wired
├── UnsupportedFeature         a platform that does not support what the intent needs
│   └── NotRenderedYet         a feature that is planned, and that railfab does not render yet
├── UnknownPlatform
├── ConfigError                configuration text that cannot be parsed
├── DeviceError                a device that refused a request or did not answer
│   ├── Unreachable
│   ├── LoginRefused
│   ├── CommitRefused          the configuration of the device is unchanged
│   ├── ImageRefused           the device boots the software that it booted before
│   └── NotRolledBack          a change failed and the device may run a part of it
├── EndpointError              a missing or invalid endpoints file or credentials
├── LabError
└── Problems                   several of the above, reported together
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from railfab.text.printable import printable
from railfab.text.remedies import Remedy

MOST_CHARACTERS = 4000
"""Length from which on the place, problem or remedy of an error is cut."""
Key = tuple[int | str, ...]
"""A key of a file, with the keys and the numbers of list elements around it."""


class RailfabError(Exception):
    """Root of every error that railfab raises on purpose: place, problem and remedy.

    All three can be printed on one line, whatever a file or a device has written into them: see `printable`.
    key: of the file, that is at fault, dotted, where the place does not name it.
    """

    def __init__(self, where: str, problem: str, remedy: str, *, key: str | None = None) -> None:
        where, problem, remedy = _line(where), _line(problem), _line(remedy)
        super().__init__(f"{where}: {problem}. {remedy}.")
        self.where = where
        self.problem = problem
        self.remedy = remedy
        self.key = key

    def __reduce__(self) -> tuple[object, ...]:
        """Parts from which another process makes the error again."""
        return type(self), (self.where, self.problem, self.remedy), {"key": self.key}

    @property
    def keys(self) -> tuple[Key, ...]:
        """Keys of the file whose line the error may have: the one at fault, and those that its remedy changes."""
        choices = self.remedy.choices if isinstance(self.remedy, Remedy) else ()
        dotted = (self.key or self.where, *(key for choice in choices for key in choice.changes))
        return tuple(tuple(int(part) if part.isdecimal() else part for part in key.split(".")) for key in dotted)

    def changed(self, *, where: str | None = None, remedy: str | None = None) -> Self:
        """The error at another place or with another remedy, about the same key."""
        place = self.where if where is None else where
        advice = self.remedy if remedy is None else remedy
        return type(self)(place, self.problem, advice, key=self.key or self.where)


class IntentError(RailfabError):
    """The YAML of a user (intent, job, catalogue) is invalid."""


class TopologyError(RailfabError):
    """The intent is valid YAML, but its fabric cannot be wired."""


class UnsupportedFeature(RailfabError):
    """The platform of a device does not support a feature that the intent needs."""


class NotRenderedYet(UnsupportedFeature):
    """The intent can be planned, but railfab does not render one of its features yet."""


class UnknownPlatform(RailfabError):
    """No platform has this name."""


class ConfigError(RailfabError):
    """A configuration text cannot be parsed to a device model."""


class DeviceError(RailfabError):
    """A device refused a request or did not answer."""


class Unreachable(DeviceError):
    """No connection to the device."""


class LoginRefused(DeviceError):
    """The device rejected the credentials, or its certificate is not trusted."""


class CommitRefused(DeviceError):
    """The device rejected the configuration; its running configuration is unchanged."""


class ImageRefused(DeviceError):
    """The device does not take a software image; it boots next what it would have booted."""


class NotRolledBack(DeviceError):
    """A change failed and was not undone: the device may run the old configuration, the new one, or a part of it."""


class EndpointError(RailfabError):
    """The address of a device, or its credentials, cannot be determined."""


class LabError(RailfabError):
    """A lab cannot be started, read or removed."""


class Problems(RailfabError):
    """Several errors, reported together; `str()` has one line per error."""

    def __init__(self, errors: Sequence[RailfabError]) -> None:
        self.errors = tuple(errors)
        first = self.errors[0]
        super().__init__(first.where, first.problem, first.remedy)
        self.args = ("\n".join(str(error) for error in self.errors),)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.errors,)


def _line(text: str) -> str:
    """The text as a part of one line, cut where a switch or a file has written more than anybody reads."""
    cut = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}... ({len(text):,} characters)"
    return printable(cut)


def each(error: RailfabError) -> tuple[RailfabError, ...]:
    """The errors inside an error: those of Problems, else the error itself."""
    return error.errors if isinstance(error, Problems) else (error,)


def one_per_problem(errors: Sequence[RailfabError]) -> list[RailfabError]:
    """One error for each problem; where several places have it, the first is named and the others are counted."""
    alike: dict[tuple[type[RailfabError], str, str], list[RailfabError]] = {}
    for error in errors:
        alike.setdefault((type(error), error.problem, error.remedy), []).append(error)
    return [
        first.changed(where=f"{first.where} and {len(more):,} more") if more else first
        for first, *more in alike.values()
    ]


def raise_all(errors: Sequence[RailfabError]) -> None:
    """Raise the error, or Problems for several; nothing for none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise Problems(errors)

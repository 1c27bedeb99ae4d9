"""The errors railfab raises on purpose.

RailfabError                   one clear line: where, what, how to fix it (exit code 2)
├── IntentError                what a user wrote in YAML
├── TopologyError              a fabric that cannot be wired
├── UnsupportedFeature         a platform that cannot do what the intent asks
├── UnknownPlatform
├── ConfigError                configuration text that cannot be parsed
├── DeviceError                a device that refused or did not answer
│   ├── Unreachable
│   ├── LoginRefused
│   ├── CommitRefused          the device is as it was before
│   └── NotRolledBack          a change failed and the device may hold part of it
├── EndpointError              no, or no usable, list of devices
├── LabError
└── Problems                   several of the above, reported together
"""

from collections.abc import Sequence


class RailfabError(Exception):
    """Root of every error railfab raises on purpose: where it is, what it is, and what to do about it."""

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        super().__init__(f"{where}: {problem}. {remedy}.")
        self.where = where
        self.problem = problem
        self.remedy = remedy


class IntentError(RailfabError):
    """A user's YAML (intent, job, inventory) is not valid."""


class TopologyError(RailfabError):
    """The intent is well-formed but its fabric cannot be wired."""


class UnsupportedFeature(RailfabError):
    """The platform of a device cannot do what the intent asks of it."""


class UnknownPlatform(RailfabError):
    """No platform of that name."""


class ConfigError(RailfabError):
    """A configuration text does not parse to a device model."""


class DeviceError(RailfabError):
    """A device refused a request or did not answer."""


class Unreachable(DeviceError):
    """No connection to the device."""


class LoginRefused(DeviceError):
    """The device did not accept the credentials or the certificate was not trusted."""


class CommitRefused(DeviceError):
    """The device did not take the configuration, and is as it was before."""


class NotRolledBack(DeviceError):
    """A change failed and could not be undone: the device may run what was before, what was wanted, or neither."""


class EndpointError(RailfabError):
    """Where the devices are is not known."""


class LabError(RailfabError):
    """A lab cannot be brought up, read or taken down."""


class Problems(RailfabError):
    """Several problems, found before stopping; `str()` gives one line each."""

    def __init__(self, errors: Sequence[RailfabError]) -> None:
        self.errors = tuple(errors)
        first = self.errors[0]
        super().__init__(first.where, first.problem, first.remedy)
        self.args = ("\n".join(str(error) for error in self.errors),)


def each(error: RailfabError) -> tuple[RailfabError, ...]:
    """The errors that an error stands for: those of Problems, else itself."""
    return error.errors if isinstance(error, Problems) else (error,)


def raise_all(errors: Sequence[RailfabError]) -> None:
    """Raise nothing, the one error, or all of them together."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise Problems(errors)

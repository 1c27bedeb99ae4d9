"""The errors that gRPC's statuses mean, for every client of gNMI. Source: gRPC, Status codes and their use in gRPC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from railfab.errors import DeviceError, LoginRefused, Unreachable

CODES = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
"""The names of the status codes, by number."""


class CallFailed(DeviceError):
    """The target answers a call with an error. details: its words."""

    details = ""


class Refused(CallFailed):
    """The target refuses a request; it has changed nothing."""


class Unimplemented(Refused):
    """The target does not support the request, its mode, its encoding or its extension."""


class Absent(Refused):
    """The target has nothing at one of the paths."""


class NotNow(Refused):
    """The target refuses the request in its present state, for example while a commit is unconfirmed."""


class Busy(CallFailed):
    """The target has no room for the request now, beside others."""


class ConnectionLost(Unreachable):
    """A connection that was made and ended before the target had answered."""


class StreamClosed(DeviceError):
    """The target ended a stream after it had started."""


_REFUSALS = {
    "UNIMPLEMENTED": Unimplemented,
    "NOT_FOUND": Absent,
    "FAILED_PRECONDITION": NotNow,
    "INVALID_ARGUMENT": Refused,
}
_REMEDIES = {
    "Get": "Check that the switch serves these paths and this encoding",
    "Set": "Correct what it names",
    "Subscribe": "Check that the target serves gNMI Subscribe with these paths, modes and encoding",
}


class Status(NamedTuple):
    """End of a call. code: a name of CODES. details: the words of the target, or None."""

    code: str
    details: str | None

    def words(self) -> str:
        """The words of the target, as one line."""
        return " ".join((self.details or "no reason given").split()).rstrip(".")


def _is_busy(code: str, words: str) -> bool:
    """Whether a target has no room, and not grpcio refuses a message for its size. Cumulus Linux says CANCELLED."""
    if code == "CANCELLED":
        return "busy" in words.lower()
    return code == "RESOURCE_EXHAUSTED" and "larger than max" not in words


@dataclass(frozen=True, slots=True)
class Callee:
    """Target of a call, for errors. address: host and port. user: name of the login. timeout_s: deadline of a call."""

    name: str
    address: str
    user: str
    timeout_s: float = 0

    def refusal(self, status: Status, method: str) -> DeviceError:
        """The error for a call that ended with this status before any answer."""
        name, code, details = self.name, status.code, status.words()
        if code in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
            problem = f"rejects the login of {self.user} ({details})"
            return LoginRefused(name, problem, "Check the user name and password")
        if _is_busy(code, details):
            return Busy(name, f"is too busy for a gNMI {method} ({details})", "It is asked again")
        if code in ("UNAVAILABLE", "CANCELLED"):
            return self.lost(details.rpartition(": ")[2].strip("[]").lower())
        if code == "DEADLINE_EXCEEDED":
            problem = f"no answer from {self.address} to a gNMI {method} within {self.timeout_s:g} s"
            return Unreachable(name, problem, "Check the switch")
        kind = _REFUSALS.get(code, CallFailed)
        said = details if code in _REFUSALS else f"{code}: {details}"
        failed = kind(name, f"refused a gNMI {method} ({said})", _REMEDIES.get(method, "Check the switch"))
        failed.details = details
        return failed

    def lost(self, reason: str) -> ConnectionLost:
        """The error for a connection that breaks before an answer."""
        return ConnectionLost(self.name, f"lost the connection to {self.address} ({reason})", "Check the switch")

    def broken(self, status: Status) -> StreamClosed:
        """The error for a stream that ended with this status after it had started."""
        problem = f"the stream broke ({status.code}: {status.words()})"
        return StreamClosed(self.name, problem, "It is opened again")

    def ended(self) -> StreamClosed:
        """The error for a stream that the target ended with OK."""
        return StreamClosed(self.name, "the target ended the stream", "It is opened again")

"""The interface between a gNMI server and the device that it serves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, runtime_checkable

from railfab.errors import RailfabError
from railfab.gnmi.paths import Element
from railfab.gnmi.values import ENCODINGS


class RequestRefused(RailfabError):
    """A request that the target does not serve, and why; it has changed nothing."""


class PathNotFound(RequestRefused):
    """A path at which the target has nothing."""


class WrongState(RequestRefused):
    """A request that the target does not serve in its present state, for example while a commit is unconfirmed."""


class DataType(StrEnum):
    """gNMI's DataType: which part of the datastore a Get reads."""

    ALL = "ALL"
    CONFIG = "CONFIG"
    STATE = "STATE"


class Operation(StrEnum):
    """gNMI's operations of a Set."""

    DELETE = "DELETE"
    REPLACE = "REPLACE"
    UPDATE = "UPDATE"


class Edit(NamedTuple):
    """One operation of a Set. value: None for a delete."""

    operation: Operation
    path: tuple[Element, ...]
    value: Any = None


class CommitAction(StrEnum):
    """The actions of gNMI's commit-confirmed extension."""

    COMMIT = "commit"
    CONFIRM = "confirm"
    CANCEL = "cancel"
    SET_ROLLBACK_DURATION = "set_rollback_duration"


class Commit(NamedTuple):
    """The commit-confirmed extension of a Set. rollback_s: time until the target reverts it [s]; None is absent."""

    action: CommitAction
    id: str
    rollback_s: float | None = None


class YangModel(NamedTuple):
    """A YANG module that a target names in its capabilities."""

    name: str
    organization: str
    version: str


class Found(NamedTuple):
    """An answer to a Get: a leaf's value, or a container as JSON (RFC 7951)."""

    path: tuple[Element, ...]
    value: Any


class Leaf(NamedTuple):
    """One leaf of a target, without its value.

    config: whether it is configuration. on_change: whether a TARGET_DEFINED subscription sends its changes instead of
    samples.
    """

    path: tuple[Element, ...]
    config: bool = False
    on_change: bool = False


class Selected(NamedTuple):
    """A leaf that a subscription selects. place: of its value in `TargetView.values`; None for `value`, a constant."""

    leaf: Leaf
    place: int | None
    value: Any = None


class TargetView(Protocol):
    """Everything that a target serves at one moment. It never changes; a later moment is another view."""

    @property
    def timestamp_ns(self) -> int:
        """Time of the reading of the values [ns since 1970]."""
        ...

    @property
    def layout(self) -> object:
        """Another object whenever leaves were added or removed, or a constant of `select` changed."""
        ...

    @property
    def values(self) -> Sequence[Any]:
        """The values of the leaves, at the places that `select` names; valid for views with the same layout."""
        ...

    def select(self, pattern: tuple[Element, ...], data_type: DataType = DataType.ALL) -> list[Selected]:
        """The leaves at or below a path, which may hold wildcards; of a leaf in both parts of the datastore, state."""
        ...

    def get(self, path: tuple[Element, ...], data_type: DataType) -> list[Found]:
        """Answer a Get of this path, wildcards resolved. Raises PathNotFound."""
        ...


class Readable(Protocol):
    """A device, or a part of it, of which views are made.

    change_age_s: the age up to which a view shows all changes of leaves that are `on_change`; `math.inf` if `view`
    returns None after each of them, so that nothing has to be read to find out that nothing has changed.
    """

    change_age_s: float

    def view(self, max_age_s: float) -> TargetView | None:
        """The last view, if it is no older than this and nothing is known to have changed since.

        Called on the server's event loop: it must not wait for anything.
        """
        ...

    def refresh(self) -> TargetView:
        """Read the device and make a new view; called in a worker thread, never twice at the same time."""
        ...


class GnmiTarget(Readable, Protocol):
    """A device that a GnmiServer serves."""

    name: str

    def models(self) -> Sequence[YangModel]: ...

    def set(self, edits: Sequence[Edit]) -> None:
        """Apply all of them or none; called in a worker thread.

        Raises RailfabError with the reason; then nothing has changed.
        """
        ...


@runtime_checkable
class PartialTarget(Protocol):
    """A target of which a part can be read for less than the whole."""

    def part(self, paths: Sequence[tuple[Element, ...]]) -> Readable:
        """The part, or all of it, that is read for the state at and below these paths, none for a Get of configuration.

        The same object whenever it is the same part. Called on the server's event loop.
        """
        ...


@runtime_checkable
class OriginTarget(Protocol):
    """A target whose paths may name an origin; every origin is refused by any other target."""

    @property
    def origins(self) -> Sequence[str]:
        """The origins that name its own models, the usual one first."""
        ...


class GnmiOffer(NamedTuple):
    """Calls and encodings that a server has.

    encodings: those that it takes for its models. announced: those in its Capabilities. get, set:
    whether it has these calls.
    """

    encodings: tuple[int, ...] = ENCODINGS
    announced: tuple[int, ...] = ENCODINGS
    get: bool = True
    set: bool = True


@runtime_checkable
class OfferingTarget(Protocol):
    """A target whose server lacks a call or an encoding; any other has all of them."""

    @property
    def offer(self) -> GnmiOffer: ...


@runtime_checkable
class CommandTarget(Protocol):
    """A target with a CLI, whose commands gNMI has under the origin `cli`."""

    name: str

    @property
    def takes_commands(self) -> bool: ...

    def run_command(self, command: str, *, as_json: bool) -> str:
        """Answer a command that shows something; in a worker thread. Raises RequestRefused."""
        ...

    def configure_lines(self, text: str) -> None:
        """Run lines of configuration, all or none; in a worker thread. Raises RequestRefused."""
        ...


def offer_of(target: GnmiTarget) -> GnmiOffer:
    """The calls and encodings that the server of a target has."""
    return target.offer if isinstance(target, OfferingTarget) else GnmiOffer()


@runtime_checkable
class ModelTarget(Protocol):
    """A target that knows the names in its models; of any other, what is asked for and unknown is not there."""

    def check_asked(self, path: tuple[Element, ...]) -> None:
        """Raise RequestRefused for a path of a Get or Subscribe with an element that its models do not have."""
        ...


@runtime_checkable
class SwitchableTarget(Protocol):
    """A target whose configuration decides whether its gNMI server runs."""

    @property
    def answers(self) -> bool:
        """Whether it runs now; else every call is refused as unavailable."""
        ...


@runtime_checkable
class CommitTarget(Protocol):
    """A target that supports gNMI's commit-confirmed extension; a Set with it is refused by any other target."""

    def set_commit(self, edits: Sequence[Edit], commit: Commit) -> None:
        """Apply the edits and this action as one; called in a worker thread.

        Raises RailfabError as `Target.set`; WrongState when the action does not fit the state of the commits.
        """
        ...


def nest(leaves: Iterable[Found], root: tuple[Element, ...]) -> list[Found]:
    """The leaves below a path as answers to a Get: one for each node that the path matches, containers as JSON."""
    depth = len(root)
    answers: dict[tuple[Element, ...], Any] = {}
    for path, value in leaves:
        at, rest = path[:depth], path[depth:]
        if rest:
            _grow(answers.setdefault(at, dict(at[-1].keys) if at else {}), rest, value)
        else:
            answers[at] = value
    return [Found(at, value) for at, value in answers.items()]


def _grow(node: dict[str, Any], steps: tuple[Element, ...], value: Any) -> None:
    """Put a value into a JSON tree; missing containers and list entries are added."""
    for step in steps[:-1]:
        keys = dict(step.keys)
        node = _entry(node.setdefault(step.name, []), keys) if keys else node.setdefault(step.name, {})
    node[steps[-1].name] = value


def _entry(entries: list[dict[str, Any]], keys: dict[str, str]) -> dict[str, Any]:
    """The list entry with these keys; added if it is missing."""
    if entries and keys.items() <= entries[-1].items():
        return entries[-1]
    for entry in entries:
        if keys.items() <= entry.items():
            return entry
    entries.append(dict(keys))
    return entries[-1]

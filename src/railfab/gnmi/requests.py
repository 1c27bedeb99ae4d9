"""Reading of requests: what every call checks before a target sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet

from railfab.errors import RailfabError
from railfab.gnmi import messages
from railfab.gnmi.paths import Element, proto_elements
from railfab.gnmi.target import GnmiTarget, ModelTarget, OriginTarget, RequestRefused, offer_of

OPENCONFIG = "openconfig"
USE_ALIASES = 3
"""Number of the field `use_aliases` of a SubscriptionList, which gNMI 0.8 removed and older clients may still set."""


class MissingFeature(RailfabError):
    """A request for a feature that this server lacks."""


def check_encoding(target: GnmiTarget, encoding: int) -> None:
    """Raise MissingFeature for an encoding in which the target does not send what its models have."""
    taken = offer_of(target).encodings
    if encoding not in taken:
        name, *names = map(messages.Encoding.Name, (encoding, *taken))
        remedy = f"Use {', '.join(names[:-1])} or {names[-1]}"
        raise MissingFeature(target.name, f"encoding {name} is not supported", remedy)


def steps_of(target: GnmiTarget, prefix: messages.Path, path: messages.Path) -> tuple[Element, ...]:
    """The steps of a path after those of its prefix.

    Raises RequestRefused for a path that is not written in `elem` or has a step without a name, or of an origin that
    the target does not know, and Unimplemented for OpenConfig's origin where the target has none of its models.
    """
    if prefix.element or path.element:
        raise RequestRefused(target.name, "a path is written in the field element of gNMI 0.3", "Use elem")
    _check_origin(target, prefix.origin, path.origin)
    steps = (*proto_elements(prefix), *proto_elements(path))
    if any(not step.name for step in steps):
        raise RequestRefused(target.name, "a path has a step without a name", "Name every step")
    return steps


def asked_steps(target: GnmiTarget, prefix: messages.Path, path: messages.Path) -> tuple[Element, ...]:
    """The steps of a path of a Get or Subscribe.

    Raises what `steps_of` raises, and RequestRefused for an element that the target's models do not have.
    """
    steps = steps_of(target, prefix, path)
    if isinstance(target, ModelTarget):
        target.check_asked(steps)
    return steps


def state_paths(request: messages.GetRequest) -> list[tuple[Element, ...]]:
    """The paths at which a Get asks for state; none where it asks for configuration alone."""
    if request.type == messages.GetRequest.CONFIG:
        return []
    prefix = proto_elements(request.prefix)
    return [(*prefix, *proto_elements(path)) for path in request.path] or [prefix]


def _check_origin(target: GnmiTarget, of_prefix: str, of_path: str) -> None:
    """Refuse a path of another origin than the target's own (OpenConfig, Mixing Schemas in gNMI)."""
    if of_prefix and of_path and of_prefix != of_path:
        problem = f"a path has origin {of_path!r} and its prefix {of_prefix!r}"
        raise RequestRefused(target.name, problem, "Give one of them")
    origin = of_path or of_prefix
    known = target.origins if isinstance(target, OriginTarget) else ()
    if not origin or origin in known:
        return
    remedy = f"Use {' or '.join(known)}, or leave it out" if known else "Leave it out"
    if origin == OPENCONFIG:
        raise MissingFeature(target.name, "the OpenConfig models are not enabled", remedy)
    raise RequestRefused(target.name, f"origin {origin!r} is not known", remedy)


def union_steps(
    target: GnmiTarget, prefix: messages.Path, updates: Iterable[messages.Update]
) -> list[tuple[tuple[Element, ...], messages.Update]]:
    """The values of a union_replace by path, those of a subtree before those below it."""
    pairs = [(steps_of(target, prefix, update.path), update) for update in updates]
    return sorted(pairs, key=lambda pair: len(pair[0]))


def has_aliases(requested: messages.SubscriptionList) -> bool:
    """Whether a SubscriptionList asks for aliases."""
    fields: Any = UnknownFieldSet(requested)
    return any(field.field_number == USE_ALIASES and field.data for field in fields)

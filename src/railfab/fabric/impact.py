"""Effect of a change on forwarding: the kind of each difference between two configurations, and what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from railfab.device import DeviceModel, LoadBalancing, without_secrets
from railfab.device.diff import Change, changes
from railfab.errors import RailfabError
from railfab.platforms import Platform
from railfab.platforms.interruptions import UNKNOWN, Interruptions, change_kinds, kind_of

UNMODELLED = "unmodelled"
NOUNS = {"neighbors": "neighbor ", "policies": "policy ", "profiles": "profile ", "classes": "class ", "vlans": "VLAN "}
"""Words before the name of an element, by the field that has it."""


@dataclass(frozen=True, slots=True)
class Impact:
    """Effect of a change on forwarding. reasons: what interrupts it, in words, `speed of Ethernet1/1 and 7 more`."""

    interrupts: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KindOfDifference:
    """The kind of one difference. name: of what differs, empty for the switch; of an unknown line the line.

    change: of the model; None for a line outside of it.
    """

    code: str
    name: str
    change: Change | None = None


def impact_of(platform: Platform, before: str, after: str) -> Impact:
    """Whether a switch forwards while its configuration changes from one text to the other.

    A difference of which nothing is known counts as interrupting.
    """
    interruptions = platform.interruptions()
    names: dict[str, list[str]] = {}
    for difference in differences_of(platform, before, after):
        if interruptions.interrupts(difference.code):
            names.setdefault(difference.code, []).append(difference.name)
    reasons = tuple(_reason(interruptions, code, names[code]) for code in change_kinds() if code in names)
    return Impact(interrupts=bool(reasons), reasons=reasons)


def differences_of(platform: Platform, before: str, after: str) -> tuple[KindOfDifference, ...]:
    """The kind of every difference between two configurations; none where the switch sees none.

    What the second one does not state because it is the operator's is no difference, as a deploy leaves it.
    """
    if before == after:
        return ()
    try:
        if platform.scoped is not None:
            before = platform.scoped(before, after)
        differing = changes(_model(platform, before), _model(platform, after))
    except RailfabError as error:
        return (KindOfDifference(UNKNOWN, f"{error.where}: {error.problem}"),)
    interruptions = platform.interruptions()
    kinds = tuple(kinds_of(interruptions, differing))
    if kinds and platform.external is None:
        return kinds
    return (*kinds, *_kinds_outside_models(platform, before, after, all_lines=not kinds))


def _model(platform: Platform, text: str) -> DeviceModel:
    """The model of a configuration; one without load balancing has that of every switch by default."""
    model = platform.parse(text)
    return replace(model, load_balancing=model.load_balancing or LoadBalancing())


def kinds_of(interruptions: Interruptions, differing: Iterable[Change]) -> Iterator[KindOfDifference]:
    """The kind of each difference between two models of a switch."""
    for change in differing:
        if change.steps[0].field == UNMODELLED:
            yield from _kinds_of_lines(interruptions, _only_once(change.before, change.after))
        else:
            yield KindOfDifference(kind_of(change), _name(change), change)


def _kinds_outside_models(
    platform: Platform, before: str, after: str, *, all_lines: bool
) -> Iterator[KindOfDifference]:
    """Kinds of the lines that the platform compares beside its models, such as comments for the system below.

    all_lines: whether the models have no difference; else the lines without a pattern are those of the models.
    """
    differences = (*platform.differences(before, after), *platform.differences(after, before))
    lines = dict.fromkeys(difference.text for difference in differences)
    for kind in _kinds_of_lines(platform.interruptions(), lines):
        if all_lines or kind.code != UNKNOWN:
            yield kind


def _kinds_of_lines(interruptions: Interruptions, lines: Iterable[str]) -> Iterator[KindOfDifference]:
    for line in lines:
        code, name = interruptions.kind_of_line(line)
        yield KindOfDifference(code, without_secrets(name))


def _only_once(before: tuple[str, ...], after: tuple[str, ...]) -> Iterator[str]:
    """The lines that one side has and the other lacks."""
    old, new = Counter(before), Counter(after)
    yield from ((old - new) + (new - old)).keys()


def _name(change: Change) -> str:
    """The element whose field changes: `Ethernet1/1`, `neighbor 10.0.0.1`; empty for a setting of the switch."""
    step = next((step for step in change.steps if step.key is not None), None)
    return "" if step is None else f"{NOUNS.get(step.field, '')}{step.key}"


def _reason(interruptions: Interruptions, code: str, names: Iterable[str]) -> str:
    """Words for all differences of a kind: `speed of Ethernet1/1 and 7 more`, `unknown: spanning-tree mode mstp`."""
    first, *more = dict.fromkeys(names)
    words = change_kinds()[code].words
    named = f"{words}: {first}" if code == UNKNOWN else f"{words} of {first}" if first else words
    counted = f"{named} and {len(more):,} more" if more else named
    return counted if code == UNKNOWN or interruptions.of(code) else f"{counted} (effect unknown)"

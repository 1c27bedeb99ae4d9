"""Differences between a configuration and the rendered intent, as hazards and sections of the fabric look for them.

A value stated as it is by default is no difference, and another value of a leaf is one, not two. What has no effect on
the fabric has a path that begins with UNUSED: a spare port, an object that nothing refers to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from railfab.platforms.differences import Difference, Side
from railfab.platforms.junos import defaults, statements
from railfab.platforms.junos.effective import COS, SINGLE_VALUES
from railfab.platforms.junos.filters import passing
from railfab.platforms.junos.names import PORT
from railfab.platforms.shared.brace_text import INACTIVE, Statement, shown

UNUSED = "(unused) "
ANY = "*"
OBJECTS: Sequence[Statement] = (
    *((COS, "classifiers", ANY), (COS, "rewrite-rules", ANY), (COS, "schedulers"), (COS, "scheduler-maps")),
    *((COS, "drop-profiles"), (COS, "congestion-notification-profile"), (COS, "traffic-control-profiles")),
    *(
        (COS, "forwarding-class-sets"),
        ("policy-options", ANY),
        ("forwarding-options", "storm-control-profiles"),
        ("vlans",),
    ),
    *(("firewall", "family", ANY, "filter"), ("firewall", "filter"), ("firewall", "policer"), ("groups",)),
)
"""Places of objects that have an effect where others refer to their names."""
ABOVE = "..."
CONTAINERS: Sequence[Statement] = (
    *(("interfaces", ANY), (COS, "interfaces", ANY), (COS, "schedulers", ANY), (COS, "drop-profiles", ANY)),
    (COS, "shared-buffer"),
    *((COS, "congestion-notification-profile", ANY), (COS, "classifiers", "dscp", ANY), (COS, "scheduler-maps", ANY)),
    *(("policy-options", "policy-statement", ANY), ("protocols", "bgp", "group", ANY)),
    *(("protocols", "bgp", "group", ANY, "neighbor", ANY), ("protocols", "bgp", "group", ANY, "dynamic-neighbor", ANY)),
    *((ABOVE, "pfc-watchdog"), (ABOVE, "bfd-liveness-detection"), (ABOVE, "lacp")),
)
"""Containers that are one missing line where nothing of them is there; ABOVE stands for what is above."""
HASH_KEY = ("forwarding-options", "hash-key", "family")


def _by_first_word(places: Iterable[Statement]) -> Mapping[str, Sequence[Statement]]:
    return {first: tuple(each) for first, each in groupby(sorted(places, key=itemgetter(0)), key=itemgetter(0))}


_OBJECTS, _CONTAINERS = _by_first_word(OBJECTS), _by_first_word(CONTAINERS)


def differences(
    configured: Sequence[Statement], wanted: Sequence[Statement], *, whole: Sequence[Statement]
) -> tuple[Difference, ...]:
    """The differences of a configuration in effect, apart from an operator's names, from a rendered one.

    whole: the configuration with what has such names, which uses objects too.
    """
    hidden = {statement[1:] for statement in configured if statement[0] == INACTIVE}.intersection(wanted)
    stated = [statement for statement in configured if statement[0] != INACTIVE]
    others = [statement for statement in configured if statement[0] == INACTIVE and statement[1:] not in hidden]
    kept = (*stated, *defaults.omitted(wanted, stated), *others)
    expected = (*wanted, *defaults.superfluous(stated, wanted), *_hashed(stated, wanted))
    unused = _Unused(whole, wanted)
    lines = tuple(_with_whole_containers([statement for statement in expected if statement not in hidden], kept))
    compared = statements.differences(kept, lines)
    shown_hidden = (_hidden(statement) for statement in sorted(hidden))
    return (*(_placed(difference, unused) for difference in _each_value_once(compared)), *shown_hidden)


def _hidden(statement: Statement) -> Difference:
    """A rendered statement that is there, but not in effect."""
    text = shown((INACTIVE, *statement))
    return Difference(side=Side.CHANGED, path=text, text=f"set {text}", section=statement[0])


def _hashed(stated: Iterable[Statement], wanted: Sequence[Statement]) -> Iterator[Statement]:
    """Both layers of the hash of a family, where one is stated: of the other one the switch then takes nothing."""
    families = {statement[3] for statement in stated if statement[:3] == HASH_KEY and len(statement) > 3}
    for family in sorted(families):
        for layer in ("layer-3", "layer-4"):
            if (*HASH_KEY, family, layer) not in wanted:
                yield (*HASH_KEY, family, layer)


def _with_whole_containers(wanted: Iterable[Statement], stated: Iterable[Statement]) -> Iterator[Statement]:
    """The rendered statements, with one for all of a container that is missing."""
    present = {statement[:length] for statement in stated for length in range(1, len(statement) + 1)}
    absent: set[Statement] = set()
    for statement in wanted:
        container = next((above for above in _containers(statement) if above not in present), None)
        if container is None:
            yield statement
        elif container not in absent:
            absent.add(container)
            yield container


def _containers(statement: Statement) -> Iterator[Statement]:
    """The containers of a statement, the outermost first."""
    for place in _CONTAINERS.get(statement[0], ()):
        if len(statement) > len(place) and _is_below(statement, place):
            yield statement[: len(place)]
    for _, name in _CONTAINERS[ABOVE]:
        if name in statement[:-1]:
            yield statement[: statement.index(name) + 1]


def _each_value_once(compared: Sequence[Difference]) -> Iterator[Difference]:
    """Leave out the missing value of a leaf that has another one."""
    added = {difference.path.rpartition(" ")[0] for difference in compared if difference.side is Side.ADDED}
    for difference in compared:
        leaf = difference.path.removeprefix("delete ").rpartition(" ")[0]
        is_single = leaf.rpartition(" ")[2] in SINGLE_VALUES
        if difference.side is not Side.MISSING or not is_single or leaf not in added:
            yield difference


def _placed(difference: Difference, unused: _Unused) -> Difference:
    return replace(difference, path=f"{UNUSED}{difference.path}") if unused.has(difference.path) else difference


class _Unused:
    """Spare ports, objects without a use, and filters that drop nothing, of a configuration."""

    def __init__(self, configured: Sequence[Statement], wanted: Sequence[Statement]) -> None:
        self._ports = {statement[1] for statement in wanted if statement[0] == "interfaces"}
        self._objects = frozenset(_without_use(configured))
        self._filters = frozenset(map(shown, passing(configured)))

    def has(self, path: str) -> bool:
        words = path.removeprefix("insert ").split()
        names = words[2:3] if words[:2] == [COS, "interfaces"] else words[1:2] if words[:1] == ["interfaces"] else []
        if "interface" in words[:-1] and words[0] in ("protocols", "routing-instances") and "bgp" not in words:
            names = [words[words.index("interface") + 1].partition(".")[0]]
        if names and PORT.fullmatch(names[0]):
            return names[0] not in self._ports or path in self._filters
        return path in self._filters or any(tuple(words[:length]) in self._objects for length in range(2, 6))


def _without_use(configured: Sequence[Statement]) -> Iterator[Statement]:
    """The objects whose names no statement in use has."""
    objects: dict[Statement, list[Statement]] = defaultdict(list)
    words: set[str] = set()
    for statement in configured:
        name = _object(statement)
        if name is None:
            words.update(statement)
        else:
            objects[name].append(statement[len(name) :])
    by_name: Mapping[str, list[Statement]] = defaultdict(list)
    for name in objects:
        by_name[name[-1]].append(name)
    reached = [name for name in objects if name[-1] in words]
    used: set[Statement] = set()
    while reached:
        name = reached.pop()
        if name not in used:
            used.add(name)
            reached += (user for rest in objects[name] for word in rest for user in by_name.get(word, ()))
    yield from (name for name in objects if name not in used)


def _object(statement: Statement) -> Statement | None:
    """The place and name of the object that a statement is about."""
    for place in _OBJECTS.get(statement[0], ()):
        if len(statement) > len(place) and _is_below(statement, place):
            return statement[: len(place) + 1]
    return None


def _is_below(statement: Statement, place: Statement) -> bool:
    return all(word in (ANY, stated) for word, stated in zip(place, statement, strict=False))

"""Switch selection by `--limit`, names or groups: `leaf`, `leaf&rail_3`, `!spine`, `pod1-spine*,pod1-seg1-leaf1`."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from railfab.errors import RailfabError, raise_all
from railfab.text.counted import listed
from railfab.topology import Node, Topology

LimitFilter = Callable[[str, frozenset[str]], bool]
"""Takes the name and the groups of a switch; returns whether the limit selects it."""


def limited(topology: Topology, expression: str | None) -> tuple[Node, ...]:
    """The switches of a fabric that an expression selects; all of them without one.

    Raises RailfabError when a term matches nothing, or the expression selects no switch.
    """
    switches = topology.switches()
    if expression is None:
        return switches
    is_selected = limit_filter(expression)
    groups = {node.name: frozenset(group_names(topology, node)) for node in switches}
    for term in unmatched_terms(expression, [*groups, *frozenset().union(*groups.values())]):
        problem = f"{term!r} matches no switch and no group"
        raise RailfabError(f"--limit {expression!r}", problem, f"Use {_choice(groups)}")
    selected = tuple(node for node in switches if is_selected(node.name, groups[node.name]))
    if not selected:
        raise RailfabError(f"--limit {expression!r}", "matches no switch", f"Use {_choice(groups)}")
    return selected


def named(topology: Topology, names: Iterable[str]) -> tuple[str, ...]:
    """The switches of a fabric with these names, in its order. Raises RailfabError, or Problems, for unknown names."""
    switches = [node.name for node in topology.switches()]
    chosen = dict.fromkeys(names)
    raise_all([_unknown(name, switches) for name in chosen if name not in switches])
    return tuple(name for name in switches if name in chosen)


def _unknown(name: str, switches: Sequence[str]) -> RailfabError:
    similar = (difflib.get_close_matches(name, switches, n=1) or switches)[0]
    return RailfabError(name, "is no switch of this fabric", f"Use a name such as {similar!r}")


def group_names(topology: Topology, node: Node) -> tuple[str, ...]:
    """Groups of a switch: `leaf`, `pod1`, `pod1-seg1`, `srlinux`, and `rail_3` for each rail that it serves."""
    rails = sorted({port.rail for port, _, _ in topology.ports_of(node.name) if port.rail is not None})
    segment = () if node.segment is None else (f"pod{node.pod}-seg{node.segment}",)
    platform = () if node.platform is None else (node.platform,)
    return (str(node.role), f"pod{node.pod}", *segment, *platform, *(f"rail_{rail}" for rail in rails))


def limit_filter(expression: str) -> LimitFilter:
    """The filter of a limit: `,` is or, `&` is and, `!` is not; a term is a switch or group, with `*`, `?`, `[12]`."""
    alternatives = [[term.strip() for term in part.split("&")] for part in expression.split(",")]
    if not all(term.removeprefix("!") for part in alternatives for term in part):
        raise RailfabError(f"--limit {expression!r}", "has an empty term", "Use for example leaf&rail_1,pod1-spine*")
    return lambda name, groups: any(all(_matches(term, name, groups) for term in part) for part in alternatives)


def unmatched_terms(expression: str, names: Iterable[str]) -> list[str]:
    """Terms that match none of these switches and groups, because they are misspelt."""
    known = set(names)
    terms = [term.strip() for part in expression.split(",") for term in part.split("&") if term.strip()]
    return [term for term in terms if not any(fnmatchcase(word, term.removeprefix("!")) for word in known)]


def _matches(term: str, name: str, groups: frozenset[str]) -> bool:
    pattern = term.removeprefix("!")
    matched = any(fnmatchcase(word, pattern) for word in (name, *groups))
    return matched is not term.startswith("!")


def _choice(groups: Mapping[str, frozenset[str]]) -> str:
    return f"{listed(sorted(frozenset().union(*groups.values())))}, or a switch as {next(iter(groups))}"

"""Puts the route maps and sets of a configuration together to routing policies."""

from __future__ import annotations

from ipaddress import ip_network

from railfab.device import Action, Policy, PolicyRule, PrefixRange
from railfab.errors import RailfabError
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.route_maps import DEFAULT_SEQUENCE, merged
from railfab.platforms.sonic.policy import EXACT
from railfab.platforms.sonic.tables import Tables, nodes, row

CONDITIONS = frozenset(
    {"route_operation", "match_prefix_set", "match_ipv6_prefix_set", "match_community", "match_as_path"}
)
"""Fields of an entry that the model has, without the settings; another `match_` makes its condition unknown."""


class SonicPolicyReader:
    """The policies of a configuration. asn: the own AS number, which alone the model prepends."""

    def __init__(self, tree: Tables, problems: list[RailfabError], asn: int | None) -> None:
        self._tree, self._problems, self._asn = tree, problems, asn
        self._prefixes = self._prefix_sets()

    def policies(self) -> tuple[Policy, ...]:
        entries: dict[str, dict[int, ConfigNode]] = {name: {} for name in self._tree.get("ROUTE_MAP_SET", {})}
        for parts, node in nodes(self._tree, "ROUTE_MAP", self._problems):
            if len(parts) != 2 or not parts[1].isdecimal():
                node.problem("has no number of an entry", "Use NAME|NUMBER as its key")
                continue
            entries.setdefault(parts[0], {})[int(parts[1])] = node
        return tuple(self._policy(name, numbered) for name, numbered in sorted(entries.items()))

    def _policy(self, name: str, entries: dict[int, ConfigNode]) -> Policy:
        last = entries.get(DEFAULT_SEQUENCE)
        states_default = last is not None and last.value.keys() == {"route_operation"}
        numbered = sorted(entries.items())
        rules = merged((number, self._rule(node)) for number, node in numbered[: -1 if states_default else None])
        default = _action(last) if last and states_default else Action.DENY
        return Policy(name=name, rules=tuple(rules), default=default)

    def _rule(self, node: ConfigNode) -> PolicyRule | None:
        """The rule of an entry; None where the model cannot express its condition, or it matches no route."""
        names = [name for leaf in ("match_prefix_set", "match_ipv6_prefix_set") if (name := node.text(leaf))]
        prefixes = [self._prefixes.get(name, ()) for name in names]
        communities = self._communities(node)
        as_paths = self._listed(node, "match_as_path", "AS_PATH_SET", "as_path_set_member")
        unread = any(name.startswith("match_") and name not in CONDITIONS for name in node.value)
        unusable = any(not ranges for ranges in prefixes) or len(names) > 1 or len(as_paths or ()) > 1
        if unread or unusable or communities is None or as_paths is None:
            return None
        return PolicyRule(
            action=_action(node),
            prefixes=prefixes[0] if prefixes else (),
            communities=communities,
            as_path=as_paths[0] if as_paths else None,
            set_communities=node.words("set_community_inline"),
            set_local_preference=node.number("set_local_pref"),
            set_med=node.number("set_med"),
            prepend=self._prepend(node),
        )

    def _prepend(self, node: ConfigNode) -> int:
        """Number of times that the own AS number is prepended; 0 where another one is."""
        repeated = node.number("set_repeat_asn") or 0
        return repeated if self._asn is not None and node.number("set_asn") == self._asn else 0

    def _communities(self, node: ConfigNode) -> tuple[str, ...] | None:
        """Communities of which a route must have any; None for expressions, and where it must have several."""
        communities = self._listed(node, "match_community", "COMMUNITY_SET", "community_member")
        stated = row(self._tree, "COMMUNITY_SET", node.text("match_community") or "")
        all_of = stated.get("match_action") == "ALL" and len(communities or ()) > 1
        return None if all_of or stated.get("set_type") == "EXPANDED" else communities

    def _listed(self, node: ConfigNode, leaf: str, table: str, members: str) -> tuple[str, ...] | None:
        """The members of a set that an entry names; empty when it names none, None for a set without members."""
        name = node.text(leaf)
        if name is None:
            return ()
        values = row(self._tree, table, name).get(members, [])
        return tuple(values if isinstance(values, list) else [values]) or None

    def _prefix_sets(self) -> dict[str, tuple[PrefixRange, ...]]:
        prefix_sets: dict[str, tuple[PrefixRange, ...]] = {}
        for parts, node in nodes(self._tree, "PREFIX", self._problems):
            _name, *_, prefix, lengths = ("", "", *parts)
            entry = _range(prefix, lengths)
            if entry is None or len(parts) not in (3, 4):
                node.problem("is no prefix with lengths", "Use NAME|PREFIX|LEAST..MOST as its key, or exact")
            elif node.text("action") != Action.DENY:
                prefix_sets[parts[0]] = (*prefix_sets.get(parts[0], ()), entry)
        return prefix_sets


def _range(prefix: str, lengths: str) -> PrefixRange | None:
    """Prefixes of these lengths, as `24..32`; None for another text."""
    try:
        network = ip_network(prefix)
        ge, _, le = lengths.partition("..")
        if lengths == EXACT:
            return PrefixRange(prefix=network, ge=network.prefixlen, le=network.prefixlen)
        return PrefixRange(prefix=network, ge=int(ge), le=int(le))
    except ValueError:
        return None


def _action(node: ConfigNode) -> Action:
    """An entry without operation permits (frrcfgd writes none then; its commands need one)."""
    return Action.DENY if node.text("route_operation") == Action.DENY else Action.PERMIT

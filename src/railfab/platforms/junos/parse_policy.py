"""Reads the routing policies of a configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_network

from railfab.device import Action, Policy, PolicyRule, PrefixRange
from railfab.platforms.junos.names import PREPARED, SUMMARY, community_name
from railfab.platforms.junos.render_policy import ACTIONS, DEFAULT_TERM, TERM_STEP
from railfab.platforms.shared.words import Words

FORWARDING = ("routing-options", "forwarding-table", "export")
MATCHES = frozenset({"route-filter", "community"})
DECISIONS = {text: action for action, text in ACTIONS.items()}


def is_prepared(name: str) -> bool:
    """Whether railfab adds a policy of this name by itself."""
    return name in PREPARED or name == SUMMARY or name.startswith(f"{SUMMARY}-")


def policies_of(root: Words) -> tuple[Policy, ...]:
    """Every policy of sessions; a term that the model cannot express is left out, and so unmodelled."""
    communities = _members_of(root)
    return tuple(_policy(name, words, communities) for name, words in _policies(root))


def _policies(root: Words) -> Iterator[tuple[str, Words]]:
    """The policies of sessions, without that of the forwarding table and those that railfab adds."""
    tables = root.texts(*FORWARDING)
    for name, words in root.entries("policy-options", "policy-statement"):
        if not is_prepared(name) and name not in tables:
            yield name, words


def _members_of(root: Words) -> dict[str, tuple[str, ...]]:
    """The members of each community."""
    return {name: words.texts("members") for name, words in root.entries("policy-options", "community")}


def own_communities(root: Words) -> Mapping[str, str]:
    """railfab's name of each community with one member, by its name in the configuration."""
    return {name: community_name(members[0]) for name, members in _members_of(root).items() if len(members) == 1}


def own_terms(root: Words) -> Mapping[tuple[str, str], str]:
    """railfab's name of each term that is a rule, by its policy and its name in the configuration."""
    communities = _members_of(root)
    return {
        (policy, term): f"{TERM_STEP * place}"
        for policy, words in _policies(root)
        for place, (term, _) in enumerate(_rules(words, communities), start=1)
    }


def _policy(name: str, words: Words, communities: dict[str, tuple[str, ...]]) -> Policy:
    return Policy(name=name, rules=tuple(rule for _, rule in _rules(words, communities)), default=_last(words))


def _last(words: Words) -> Action | None:
    """Action of the last term for every route; None without one that does, or where it also sets an attribute."""
    term = words.at("term", DEFAULT_TERM)
    then = term.at("then")
    settles = "from" not in term and set(then.texts()) <= {*DECISIONS}
    return _decision(then) if settles else None


def _rules(words: Words, communities: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, PolicyRule]]:
    """The rule of each term that the model can express, with the name of the term."""
    last = _last(words)
    for name, term in words.entries("term"):
        rule = _rule(term, communities) if name != DEFAULT_TERM or last is None else None
        if rule is not None:
            yield name, rule


def _decision(then: Words) -> Action | None:
    return next((DECISIONS[text] for text in then.texts() if text in DECISIONS), None)


def _rule(term: Words, communities: dict[str, tuple[str, ...]]) -> PolicyRule | None:
    """The rule of a term; None where the model cannot express its conditions or what it decides."""
    action, then, where = _decision(term.at("then")), term.at("then"), term.at("from")
    matched = [communities.get(name, ()) for name in where.texts("community")]
    if action is None or not set(where.texts()) <= MATCHES or not all(len(members) == 1 for members in matched):
        return None
    if any(not text.isdecimal() for name in ("local-preference", "metric") for text in then.texts(name)):
        return None  # a change of the value, or one of the IGP
    names = (*then.texts("community", "set"), *then.texts("community", "add"))
    return PolicyRule(
        action=action,
        prefixes=tuple(_ranges(where)),
        communities=tuple(members[0] for members in matched),
        set_communities=tuple(community for name in names for community in communities.get(name, ())),
        set_local_preference=then.number("local-preference"),
        set_med=then.number("metric"),
        prepend=_prepend(then),
    )


def _prepend(then: Words) -> int:
    """Number of times that the AS number is prepended; 0 where these are several numbers."""
    numbers = (then.text("as-path-prepend") or "").split()
    return len(numbers) if len({*numbers}) == 1 else 0


def _ranges(where: Words) -> Iterator[PrefixRange]:
    """The ranges of a term; a prefix may have several of one kind."""
    for prefix, words in where.entries("route-filter"):
        for kind, lengths in ((kind, text) for kind, below in words.entries() for text in below.texts() or ("",)):
            try:
                yield _range(prefix, kind, lengths)
            except ValueError:
                words.problem("is not a range of prefixes", "Use `exact`, `orlonger`, `upto` or `prefix-length-range`")


def _range(prefix: str, kind: str, lengths: str) -> PrefixRange:
    """Raises ValueError for a kind or lengths that are none."""
    network = ip_network(prefix, strict=False)
    length, longest = network.prefixlen, network.max_prefixlen
    bounds = [int(part.removeprefix("/")) for part in lengths.split("-")] if lengths else []
    ends = {
        ("exact", 0): (length, length),
        ("orlonger", 0): (length, longest),
        ("longer", 0): (length + 1, longest),
        ("upto", 1): (length, *bounds),
        ("prefix-length-range", 2): tuple(bounds),
    }
    if (kind, len(bounds)) not in ends:
        raise ValueError(kind)
    ge, le = ends[kind, len(bounds)]
    if not length <= ge <= le <= longest:
        raise ValueError(lengths)
    return PrefixRange(prefix=network, ge=ge, le=le)

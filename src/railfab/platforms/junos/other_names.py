"""Statements that say what a model has, with an operator's names, or once for several sessions.

An operator names the groups of sessions, the terms of policies, the MAC-VRF, schedulers and profiles, and states in a
group what all of its sessions have; railfab has names of its own and states everything of a session at the session. A
statement whose translation is rendered from the model is modelled. A name on which no other statement depends, of a
group, a term or the MAC-VRF, stays unmodelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from railfab.device import DEFAULT_INSTANCE, BgpNeighbor, BgpSpeaker, DeviceModel
from railfab.platforms.junos.names import (
    LOAD_BALANCE,
    MAC_VRF,
    as_list_name,
    is_unnumbered_group,
    unit_name,
    unnumbered_group,
)
from railfab.platforms.junos.other_cos_names import COS, cos_names, is_step, ramps_in_steps
from railfab.platforms.junos.parse_bgp import speakers_of
from railfab.platforms.junos.parse_policy import FORWARDING, own_communities, own_terms
from railfab.platforms.junos.render_bgp import group_of
from railfab.platforms.shared.brace_text import Statement
from railfab.platforms.shared.words import Words

POLICY, COMMUNITY = ("policy-options", "policy-statement"), ("policy-options", "community")
AS_LISTS = ("policy-options", "as-list")
OVERRIDDEN = ("hold-time", "local-preference", "preference", "peer-as", "import", "export")
"""Statements of BGP that a group states in their place."""
DISCOVERY = ("dynamic-neighbor", "PEER")
INTERFACE = "interface"


@dataclass(frozen=True, slots=True)
class Apart:
    """Remainders of a configuration and of the rendered one. names: groups and terms of which only the name is."""

    configured: tuple[Statement, ...]
    wanted: tuple[Statement, ...]
    names: frozenset[Statement]


def apart(statements: Sequence[Statement], wanted: Sequence[Statement], root: Words, model: DeviceModel) -> Apart:
    """Leave out the statements of both whose translation is rendered. model: the one of `root`, which `wanted` is.

    Each statement of the model is that of one of the configuration: what is stated again is left.
    """
    expected = set(wanted)
    foreign = [statement for statement in statements if statement not in expected]
    open_yet = expected.difference(statements)
    same: dict[Statement, tuple[Statement, ...]] = {}
    for statement, translation in _translated(foreign, wanted, root, model) if foreign else ():
        if open_yet.issuperset(translation) or (_is_of_every_group(translation) and expected.issuperset(translation)):
            open_yet.difference_update(translation)
            same[statement] = translation
    covered = {statement for every in same.values() for statement in every}
    if any(map(is_step, foreign)):
        covered.update(ramps_in_steps(foreign, open_yet, cos_names(root, wanted)))
    kinds = {
        kind
        for statement in covered
        if "group" in statement
        for kind in _kinds(statement[: statement.index("group") + 2])
    }
    stated = {statement[: statement.index("group") + 2] for statement in statements if "group" in statement}
    covered |= {kind for kind in kinds if kind[:-2] not in stated}
    if any(statement[:2] == ("routing-instances", MAC_VRF) for statement in covered):
        covered.add(("routing-instances", MAC_VRF, "instance-type", "mac-vrf"))
    return Apart(
        tuple(statement for statement in statements if statement not in same),
        tuple(statement for statement in wanted if statement not in covered),
        frozenset(
            name for name in _names(same, root) if not any(name == statement[: len(name)] for statement in wanted)
        ),
    )


def _is_of_every_group(translation: Sequence[Statement]) -> bool:
    """Whether a statement is in the model only where each group has it."""
    return any("multipath" in statement for statement in translation)


def _kinds(group: Statement) -> Iterator[Statement]:
    """The type of a group of sessions; that of the operator's group stays, for its name."""
    yield from ((*group, "type", kind) for kind in ("external", "internal"))


def _names(same: Mapping[Statement, tuple[Statement, ...]], root: Words) -> Iterator[Statement]:
    """The terms with another name, and the groups without a statement of their own that is left."""
    for statement, translation in same.items():
        if statement[:2] == POLICY and statement[3] == "term":
            if translation and translation[0][3] == "term" and translation[0][:5] != statement[:5]:
                yield statement[:5]
        elif (
            statement[:2] != POLICY
            and "group" in statement
            and "type" not in root.at(*statement[: statement.index("group") + 2])
        ):
            yield statement[: statement.index("group") + 2]


def _translated(
    statements: Iterable[Statement], wanted: Iterable[Statement], root: Words, model: DeviceModel
) -> Iterator[tuple[Statement, tuple[Statement, ...]]]:
    communities, terms, as_lists = own_communities(root), own_terms(root), own_as_lists(root)
    speakers, cos, tables = _speakers(root, model), cos_names(root, wanted), root.texts(*FORWARDING)
    bridging = [name for name, words in root.entries("routing-instances") if words.text("instance-type") == "mac-vrf"]
    for statement in statements:
        if len(statement) < 3 or statement[-1] == "term":
            continue  # a name is missing
        if statement[:2] == COMMUNITY and statement[2] in communities:
            yield statement, ((*COMMUNITY, communities[statement[2]], *statement[3:]),)
        elif statement[:2] == POLICY and statement[3:4] == ("term",) and (statement[2], statement[4]) in terms:
            tail = statement[5:]
            if tail[1:2] == ("community",):
                tail = (*tail[:-1], communities.get(tail[-1], tail[-1]))
            yield statement, ((*statement[:4], terms[statement[2], statement[4]], *tail),)
        elif statement[:2] == POLICY and statement[2:3] == tables:
            if (translation := _of_forwarding(statement[3:], root.at(*statement[:3]))) is not None:
                yield statement, translation
        elif statement[:2] == AS_LISTS and statement[2] in as_lists:
            yield statement, ((*AS_LISTS, as_lists[statement[2]], *statement[3:]),)
        elif statement[:3] == FORWARDING and statement[3:] == tables:
            yield statement, ((*FORWARDING, LOAD_BALANCE),)
        elif statement[0] == "vlans":
            yield statement, (("routing-instances", MAC_VRF, *statement),)
        elif (
            [*statement[1:2]] == bridging
            and statement[0] == "routing-instances"
            and statement[2:3] != ("instance-type",)
        ):
            yield statement, (("routing-instances", MAC_VRF, *statement[2:]),)
        elif statement[0] == COS and (translation := cos.translated(statement)) is not None:
            yield statement, translation
        for speaker in speakers:
            if statement[: len(speaker.path)] == speaker.path:
                said = speaker.translated(statement[len(speaker.path) :])
                if said is not None:
                    yield statement, said


def _of_forwarding(tail: Statement, policy: Words) -> tuple[Statement, ...] | None:
    """A statement of the policy of the forwarding table, whose only term may have a name where no action follows it."""
    terms = policy.texts("term")
    is_alone = len(terms) == 1 and "then" not in policy and policy.at("term", terms[0]).texts() == ("then",)
    if is_alone and tail[:2] == ("term", terms[0]):
        tail = tail[2:]
    return () if tail == ("then", "accept") else ((*POLICY, LOAD_BALANCE, *tail),)


@dataclass(frozen=True, slots=True)
class JunosSpeaker:
    """The sessions of one network instance. groups: railfab's group of each session, by its peer; an unnumbered one
    has its own. as_lists: railfab's names of lists of AS numbers."""

    path: Statement
    words: Words
    groups: Mapping[str, str]
    as_lists: Mapping[str, str]

    def translated(self, rest: Statement) -> tuple[Statement, ...] | None:
        """The statements of sessions that this one is; None where the model has none."""
        if rest[-2:-1] == ("peer-as-list",):
            rest = (*rest[:-1], self.as_lists.get(rest[-1], rest[-1]))
        if rest[:1] != ("group",):
            peers = tuple(self._peers(rest[:1]))
            is_overridden = not peers and rest[0] in OVERRIDDEN and len(rest) == 2
            return () if is_overridden else self._of_sessions(rest, peers)
        if len(rest) < 3:
            return None
        group, tail = rest[1], rest[2:]
        if tail[:1] == ("neighbor",) and len(tail) > 1:
            known = tail[1] in self.groups
            return (() if len(tail) == 2 else self._of_sessions(tail[2:], (tail[1],))) if known else None
        if tail[:1] == ("multipath",):
            return ((*self.path, *tail),)
        if tail[:1] == ("dynamic-neighbor",) and len(tail) > 3:
            return self._of_discovery(group, tail[1], tail[2:])
        if tail[0] in ("type", "neighbor", "dynamic-neighbor"):
            return None
        return self._of_sessions(tail, (*self._members(group, tail[0]),))

    def _of_discovery(self, group: str, name: str, tail: Statement) -> tuple[Statement, ...] | None:
        """Discovery of the peers of unnumbered sessions, at each of them; of an interface at its own session."""
        peers = tail[2:3] if tail[1:2] == (INTERFACE,) else self._discovered(group, name)
        return self._of_sessions((*DISCOVERY, *tail), [peer for peer in peers if peer in self.groups])

    def _of_sessions(self, tail: Statement, peers: Sequence[str]) -> tuple[Statement, ...] | None:
        if tail[:1] == ("cluster",):
            return tuple((*self.path, "group", group, *tail) for group in {self.groups[peer] for peer in peers}) or None
        return tuple((*self.path, *self._session(peer), *tail) for peer in peers) or None

    def _session(self, peer: str) -> Statement:
        group = ("group", self.groups[peer])
        return group if is_unnumbered_group(group[1]) else (*group, "neighbor", peer)

    def _peers(self, first: Statement) -> Iterator[str]:
        """The sessions with what is stated for all of them."""
        for name, group in self.words.entries("group"):
            if first and first[0] not in group:
                yield from self._members(name, first[0])

    def _members(self, group: str, word: str) -> Iterator[str]:
        """The sessions of a group that do not state this themselves."""
        for peer, words in self.words.entries("group", group, "neighbor"):
            if peer in self.groups and word not in words:
                yield peer
        for name in self.words.texts("group", group, "dynamic-neighbor"):
            yield from (peer for peer in self._discovered(group, name) if peer in self.groups)

    def _discovered(self, group: str, name: str) -> tuple[str, ...]:
        return self.words.texts("group", group, "dynamic-neighbor", name, "peer-auto-discovery", INTERFACE)


def _speakers(root: Words, model: DeviceModel) -> tuple[JunosSpeaker, ...]:
    bgp = model.bgp
    if bgp is None:
        return ()
    return tuple(
        JunosSpeaker(
            ("protocols", "bgp") if name == DEFAULT_INSTANCE else ("routing-instances", name, "protocols", "bgp"),
            words,
            dict(_group(neighbor, bgp) for neighbor in bgp.neighbors if neighbor.network_instance == name),
            own_as_lists(root),
        )
        for name, words in speakers_of(root).items()
    )


def _group(neighbor: BgpNeighbor, bgp: BgpSpeaker) -> tuple[str, str]:
    """A peer as statements name it, and railfab's group of its session."""
    if isinstance(neighbor.peer, str):
        return unit_name(neighbor.peer), unnumbered_group(neighbor.peer)
    return str(neighbor.peer), group_of(neighbor, bgp)


def own_as_lists(root: Words) -> Mapping[str, str]:
    """railfab's name of each list of one AS number, by its name in the configuration."""
    lists = ((name, words.texts("members")) for name, words in root.entries(*AS_LISTS))
    return {
        name: as_list_name(int(members[0]))
        for name, members in lists
        if len(members) == 1 and members[0].isascii() and members[0].isdecimal()
    }

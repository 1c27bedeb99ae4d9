"""Statements that say what a model has, with an operator's names, or once for several sessions.

An operator names the groups of sessions, the terms of policies, the MAC-VRF, schedulers and profiles, and states in a
group what all of its sessions have; railfab has names of its own and states everything of a session at the session. A
statement whose translation is rendered from the model is modelled. A name on which no other statement depends, of a
group, a term or the MAC-VRF, stays unmodelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from railfab.device import DEFAULT_INSTANCE, DeviceModel
from railfab.platforms.junos.names import LOAD_BALANCE, MAC_VRF
from railfab.platforms.junos.other_cos_names import COS, cos_names
from railfab.platforms.junos.parse_bgp import speakers_of
from railfab.platforms.junos.parse_policy import FORWARDING, own_communities, own_terms
from railfab.platforms.junos.render_bgp import group_of
from railfab.platforms.shared.brace_text import Statement
from railfab.platforms.shared.words import Words

POLICY, COMMUNITY = ("policy-options", "policy-statement"), ("policy-options", "community")


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
    covered |= {
        kind
        for statement in covered
        if "neighbor" in statement
        for kind in _kinds(statement[: statement.index("neighbor")])
    }
    if any(statement[:2] == ("routing-instances", MAC_VRF) for statement in covered):
        covered.add(("routing-instances", MAC_VRF, "instance-type", "mac-vrf"))
    return Apart(
        tuple(statement for statement in statements if statement not in same),
        tuple(statement for statement in wanted if statement not in covered),
        frozenset(_names(same, root)),
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
        if statement[:2] == POLICY and statement[3] == "term" and translation[0][:5] != statement[:5]:
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
    communities, terms = own_communities(root), own_terms(root)
    speakers, cos, tables = _speakers(root, model), cos_names(root, wanted), root.texts(*FORWARDING)
    bridging = [name for name, words in root.entries("routing-instances") if words.text("instance-type") == "mac-vrf"]
    for statement in statements:
        if statement[:2] == COMMUNITY and statement[2] in communities:
            yield statement, ((*COMMUNITY, communities[statement[2]], *statement[3:]),)
        elif statement[:2] == POLICY and statement[3:4] == ("term",) and (statement[2], statement[4]) in terms:
            tail = statement[5:]
            if tail[1:2] == ("community",):
                tail = (*tail[:-1], communities.get(tail[-1], tail[-1]))
            yield statement, ((*statement[:4], terms[statement[2], statement[4]], *tail),)
        elif statement[:2] == POLICY and statement[2:3] == tables:
            yield statement, ((*POLICY, LOAD_BALANCE, *statement[3:]),)
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


@dataclass(frozen=True, slots=True)
class JunosSpeaker:
    """The sessions of one network instance. groups: railfab's group of each numbered session, by its peer."""

    path: Statement
    words: Words
    groups: Mapping[str, str]

    def translated(self, rest: Statement) -> tuple[Statement, ...] | None:
        """The statements of sessions that this one is; None where the model has none."""
        if rest[:1] != ("group",):
            return self._of_sessions(rest, (*self._peers(rest[:1]),))
        group, tail = rest[1], rest[2:]
        if tail[:1] == ("neighbor",):
            known = tail[1] in self.groups
            return (() if len(tail) == 2 else self._of_sessions(tail[2:], (tail[1],))) if known else None
        if tail[:1] == ("multipath",):
            return ((*self.path, *tail),)
        if not tail or tail[0] in ("type", "dynamic-neighbor"):
            return None
        return self._of_sessions(tail, (*self._members(group, tail[0]),))

    def _of_sessions(self, tail: Statement, peers: Sequence[str]) -> tuple[Statement, ...] | None:
        if tail[:1] == ("cluster",):
            return tuple((*self.path, "group", group, *tail) for group in {self.groups[peer] for peer in peers}) or None
        return tuple((*self.path, "group", self.groups[peer], "neighbor", peer, *tail) for peer in peers) or None

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


def _speakers(root: Words, model: DeviceModel) -> tuple[JunosSpeaker, ...]:
    bgp = model.bgp
    if bgp is None:
        return ()
    return tuple(
        JunosSpeaker(
            ("protocols", "bgp") if name == DEFAULT_INSTANCE else ("routing-instances", name, "protocols", "bgp"),
            words,
            {
                str(neighbor.peer): group_of(neighbor, bgp)
                for neighbor in bgp.neighbors
                if neighbor.network_instance == name and not neighbor.unnumbered
            },
        )
        for name, words in speakers_of(root).items()
    )

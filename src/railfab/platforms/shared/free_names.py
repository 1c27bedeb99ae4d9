"""Names that a configuration of lines may choose freely, as another configuration has them.

Two objects are the same where both configurations use them in the same place: the profile of a port, the policy of a
session, the list of an entry of a route map. A platform states its kinds of objects as data.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from railfab.platforms.shared.line_tree import END, Line, LineFormat

DEPTH = 4
"""Steps from a line in effect to the last object: session, peer group, route map, prefix list."""


def _patterns(*texts: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class NameKind:
    """One kind of objects with names of their own. word: before the name, for a message.

    definitions: patterns of lines that define one, at the top or, where `settings` has some, below a section. uses: of
    lines that refer to one, and settings: of lines that are part of one by its name. Each has the group `name`. A use
    is in the same place as another where what precedes the name, the group `key`, and the sections around it are equal;
    by_content: and the lines below it, which tell apart several names in one section.
    """

    word: str
    definitions: tuple[re.Pattern[str], ...]
    uses: tuple[re.Pattern[str], ...]
    settings: tuple[re.Pattern[str], ...] = ()
    by_content: bool = False

    @classmethod
    def of(
        cls,
        word: str,
        definitions: Sequence[str],
        uses: Sequence[str],
        settings: Sequence[str] = (),
        *,
        by_content: bool = False,
    ) -> NameKind:
        return cls(
            word=word,
            definitions=_patterns(*definitions),
            uses=_patterns(*uses),
            settings=_patterns(*settings),
            by_content=by_content,
        )


ROUTE_MAPS = (
    NameKind.of(
        "route-map",
        [r"route-map (?P<name>\S+)(?: (?:permit|deny) \d+)?"],
        [r".+ route-map (?P<name>\S+)(?: (?P<key>in|out))?(?: .*)?", r"route-map (?P<name>\S+) (?P<key>in|out)"],
    ),
    NameKind.of(
        "ip prefix-list", [r"ip prefix-list (?P<name>\S+)(?: .*)?"], [r"match ip address prefix-list (?P<name>\S+)"]
    ),
    NameKind.of(
        "ipv6 prefix-list",
        [r"ipv6 prefix-list (?P<name>\S+)(?: .*)?"],
        [r"match ipv6 address prefix-list (?P<name>\S+)"],
    ),
    NameKind.of(
        "ip community-list",
        [r"ip community-list (?:regexp |standard |expanded )?(?P<name>\S+) .*"],
        [r"match community (?P<name>\S+)(?: exact-match)?"],
    ),
    NameKind.of(
        "ip as-path access-list",
        [r"ip as-path access-list (?P<name>\S+) .*"],
        [r"match as-path (?P<name>\S+)"],
    ),
)
"""Kinds of objects of routing policies, as EOS and NX-OS have them."""

_ALIKE = (
    (re.compile(r"router bgp .*"), "router bgp"),
    (re.compile(r"(neighbor \S+) remote-as .*"), r"\1"),
    (re.compile(r"(.*\bpeer)-group "), r"\1 group "),
    (re.compile(r"policy-map type qos (.*)"), r"policy-map \1"),
)
"""Forms of a section, or of what precedes a name, that mean the same."""
_ENTRY = re.compile(r"(route-map \S+ (?:permit|deny)) \d+")

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NameUse:
    """A use of a name. number: of its line."""

    kind: NameKind
    place: Place
    name: str
    number: int | None


@dataclass(slots=True)
class Renaming:
    """New names. primary: of each object, by kind and name; places: of single uses, by the number of the line."""

    primary: dict[tuple[str, str], str] = field(default_factory=dict)
    places: dict[tuple[str, int], str] = field(default_factory=dict)
    copies: dict[tuple[str, str], list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameAlignment:
    """Alignment of the names of a platform. canonical: gives lines in one spelling, for the places of uses."""

    format: LineFormat
    kinds: tuple[NameKind, ...]
    canonical: Callable[[tuple[Line, ...]], tuple[Line, ...]]

    def aligned(self, text: str, rendered: str) -> tuple[str, tuple[str, ...]]:
        """The text with the names that the other one has for the same uses, and every object that has another name.

        A name is replaced where the text defines it, the other one does not, and the new name is free in the text. An
        object that stands for several of the other one becomes several, of which all but the first are at the end.
        """
        renamed: dict[str, None] = {}
        intended = self.format.tree(rendered)
        wanted = {(use.kind.word, use.place): use.name for use in self._uses(intended)}
        wanted_names = self._defined(intended)
        for _ in range(DEPTH):
            stated = self.format.tree(text)
            renaming = _renaming(self._uses(stated), wanted, self._defined(stated), wanted_names)
            if not renaming.primary:
                break
            renamed |= dict.fromkeys(f"{word} {name}" for word, name in renaming.primary)
            text = self._renamed(text, stated, renaming)
        return text, tuple(renamed)

    def _uses(self, lines: tuple[Line, ...]) -> Iterator[NameUse]:
        return _uses(self.canonical(lines), self.kinds, ())

    def _defined(self, lines: Iterable[Line]) -> set[tuple[str, str]]:
        """Kind and name of every object."""
        top = [(line, kind) for line in lines for kind in self.kinds]
        nested = ((child, kind) for line, kind in top if kind.settings for child in line.children)
        return {
            (kind.word, match["name"])
            for line, kind in (*top, *nested)
            for match in _matches(line.text, kind.definitions)
        }

    def _renamed(self, text: str, stated: tuple[Line, ...], renaming: Renaming) -> str:
        """The text with each name replaced in its line, and copies of objects before its end."""
        lines = text.splitlines()
        for line in _every(stated):
            if line.number is not None:
                before = lines[line.number - 1]
                margin = before[: len(before) - len(before.lstrip())]
                lines[line.number - 1] = margin + self._line(before.strip(), line.number, renaming)
        at = len(lines) - (lines[-1:] == [END])
        lines[at:at] = self.format.text(tuple(self._copies(stated, renaming))).removesuffix(f"{END}\n").splitlines()
        return "\n".join(lines) + "\n"

    def _line(self, text: str, number: int, renaming: Renaming) -> str:
        for kind in self.kinds:
            for pattern in (*kind.uses, *kind.definitions, *kind.settings):
                if (match := pattern.fullmatch(text)) and (kind.word, match["name"]) in renaming.primary:
                    name = renaming.primary[kind.word, match["name"]]
                    if pattern in kind.uses:
                        name = renaming.places.get((kind.word, number), name)
                    text = _with_name(match, name)
                    break
        return text

    def _copies(self, stated: tuple[Line, ...], renaming: Renaming) -> Iterator[Line]:
        """The objects that stand for several, with each further name."""
        for kind in self.kinds:
            for line in stated:
                for match in _matches(line.text, kind.definitions):
                    for name in renaming.copies.get((kind.word, match["name"]), ()):
                        yield Line(_with_name(match, name), line.children)


def _matches(text: str, patterns: Iterable[re.Pattern[str]]) -> Iterator[re.Match[str]]:
    yield from (match for pattern in patterns if (match := pattern.fullmatch(text)))


def _with_name(match: re.Match[str], name: str) -> str:
    """The line of a match with another name."""
    text = match.string
    return f"{text[: match.start('name')]}{name}{text[match.end('name') :]}"


def _every(lines: Iterable[Line]) -> Iterator[Line]:
    for line in lines:
        yield line
        yield from _every(line.children)


def _uses(lines: Iterable[Line], kinds: tuple[NameKind, ...], above: Place) -> Iterator[NameUse]:
    """Yield every use, in entries of route maps by their position and not by their number."""
    entries: Counter[str] = Counter()
    for line in lines:
        for kind in kinds:
            for match in _matches(line.text, kind.uses):
                content = sorted(child.text for child in line.children) if kind.by_content else ()
                key = match.groupdict().get("key") or ""
                place = (*above, _alike(line.text[: match.start("name")]), key, *content)
                yield NameUse(kind, place, match["name"], line.number)
        if line.children:
            header = _alike(line.text)
            if entry := _ENTRY.fullmatch(header):
                entries[entry[1]] += 1
                header = f"{entry[1]} {entries[entry[1]]}"
            yield from _uses(line.children, kinds, (*above, header))


def _alike(text: str) -> str:
    for pattern, form in _ALIKE:
        if match := pattern.fullmatch(text):
            text = match.expand(form)
    return text


def _renaming(
    uses: Iterable[NameUse],
    wanted: Mapping[tuple[str, Place], str],
    defined: set[tuple[str, str]],
    intended: set[tuple[str, str]],
) -> Renaming:
    """New names of objects. Of several that stand for one, the most frequent has its name."""
    votes: dict[tuple[str, str], Counter[str]] = {}
    candidates: list[tuple[NameUse, str]] = []
    for use in uses:
        new = wanted.get((use.kind.word, use.place))
        old, free = (use.kind.word, use.name), (use.kind.word, new or "")
        if new is not None and old in defined - intended and free in intended - defined:
            candidates.append((use, new))
            votes.setdefault(free, Counter())[use.name] += 1
    chosen = {free: names.most_common(1)[0][0] for free, names in votes.items()}
    kept = [(use, new) for use, new in candidates if chosen[use.kind.word, new] == use.name]
    renaming = Renaming()
    names: dict[tuple[str, str], Counter[str]] = {}
    for use, new in kept:
        names.setdefault((use.kind.word, use.name), Counter())[new] += 1
    renaming.primary = {old: counter.most_common(1)[0][0] for old, counter in names.items()}
    for use, new in kept:
        if use.kind.settings or new == renaming.primary[use.kind.word, use.name]:
            continue
        if use.number is not None:
            renaming.places[use.kind.word, use.number] = new
        copies = renaming.copies.setdefault((use.kind.word, use.name), [])
        if new not in copies:
            copies.append(new)
    return renaming

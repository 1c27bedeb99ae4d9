"""Composes a YAML text to a tree within limits, and reports what is outside of them with its line.

The tree is built from the events of the parser, without PyYAML's composer: a file can be as large as a fabric, libyaml
has no limit of depth (it ends the process), and aliases and merge keys must not let a small file grow without bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, NamedTuple

import yaml
from yaml import MappingEndEvent, ScalarEvent, SequenceEndEvent

from railfab.text.display import display, one_line
from railfab.yaml_reader.tree import Keyed, Listed, Scalar, Tree

MERGE_KEY = "<<"
CORE = "tag:yaml.org,2002:"
"""Prefix of the tags of YAML itself."""
PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser of libyaml, ten times as fast, where PyYAML was built with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlLimits:
    """Limits of a document.

    depth: levels of nesting below the document. expanded: values that aliases add at most; 0 refuses an alias of a list
    or a mapping, and one in place of a key. merged_keys: keys that merges add at most; 0 refuses merges. unique_levels:
    upper levels in which no key may be there twice; of the others the last one counts. tags: those that are taken; None
    for all.
    """

    depth: int
    expanded: float = 0
    merged_keys: int = 0
    unique_levels: int = 1_000_000
    tags: frozenset[str] | None = frozenset()


class YamlFaultKind(Enum):
    """The kind of a fault, for callers that have other words for it."""

    SYNTAX = auto()
    DEPTH = auto()
    ALIAS = auto()
    DUPLICATE = auto()
    TAG = auto()
    VALUE = auto()
    OTHER = auto()


class YamlFault(NamedTuple):
    """A fault at a line.

    subject: the key or alias that it is about; of wrong syntax, what the parser was reading. parser: its words for
    wrong syntax alone. first_line: of a key that is there twice.
    """

    line: int
    problem: str
    remedy: str
    kind: YamlFaultKind = YamlFaultKind.OTHER
    subject: str = ""
    first_line: int = 0
    parser: str = ""


class ComposedText(NamedTuple):
    """The tree of a text as far as it could be composed, and its faults in the order in which they were met."""

    tree: Tree
    faults: list[YamlFault]


def compose(text: str, limits: YamlLimits) -> ComposedText:
    """The first document in a text; an empty text is an empty value."""
    composer = _Composer(text, limits)
    tree: Tree = Scalar("", 1)
    try:
        tree = composer.document()
    except yaml.YAMLError as error:
        composer.faults.append(_syntax_fault(text, error))
    except _Stopped:
        pass
    return ComposedText(tree, composer.faults)


class _Stopped(Exception):
    """The rest of the document is not read, because a limit of its growth or depth is reached."""


def _syntax_fault(text: str, error: yaml.YAMLError) -> YamlFault:
    mark, context_mark = (getattr(error, name, None) for name in ("problem_mark", "context_mark"))
    line = mark.line if mark else 0
    problem = one_line(getattr(error, "problem", None) or str(error))
    context = one_line(getattr(error, "context", None) or "")
    lines = text.split("\n")
    tabbed = line < len(lines) and lines[line].lstrip(" ").startswith("\t")
    remedy = "Indent with spaces, not tabs" if tabbed else "Correct this line"
    said = problem + (f", {context} from line {context_mark.line + 1}" if context_mark else "")
    return YamlFault(line + 1, said, remedy, YamlFaultKind.SYNTAX, context, parser=problem)


class _Composer:
    """Composes one document. Recurses at most `limits.depth` calls."""

    def __init__(self, text: str, limits: YamlLimits) -> None:
        self.faults: list[YamlFault] = []
        self._events: Iterator[Any] = yaml.parse(text, Loader=PARSER)
        self._limits = limits
        self._anchors: dict[str, Tree | None] = {}
        """Anchored trees; None for one that is not complete."""
        self._sizes: dict[str, int] = {}
        """Values in the list or mapping of an anchor, with those of the aliases in it."""
        self._values = self._expanded = self._merged = 0
        self._refused_alias = False

    def document(self) -> Tree:
        next(self._events)
        if type(next(self._events)) is yaml.StreamEndEvent:
            return Scalar("", 1)
        tree = self._tree(next(self._events), 0)
        next(self._events)
        if type(event := next(self._events)) is yaml.DocumentStartEvent:
            self._report(event, "a second document begins", "Write one document per file")
        return tree

    def _tree(self, event: Any, depth: int) -> Tree:
        if depth > self._limits.depth:
            problem = f"the nesting exceeds {self._limits.depth} levels"
            self._report(event, problem, "Remove levels", YamlFaultKind.DEPTH)
            raise _Stopped
        kind = type(event)
        if kind is ScalarEvent:
            text = Scalar(event.value, event.start_mark.line + 1, event.implicit[0])
            if event.tag is not None or event.anchor is not None:
                self._note(event, text)
            return text
        if kind is yaml.AliasEvent:
            return self._aliased(event)
        return self._collection(event, kind is yaml.SequenceStartEvent, depth)

    def _note(self, event: Any, text: Scalar) -> None:
        """Keep the tag and the anchor of a scalar."""
        text.tag = event.tag
        if event.tag is not None:
            self._check_tag(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = text

    def _collection(self, event: Any, is_list: bool, depth: int) -> Tree:
        anchor, before = event.anchor, self._values + self._expanded
        if event.tag is not None:
            self._check_tag(event)
        if anchor is not None:
            self._anchors[anchor] = None
        line = event.start_mark.line + 1
        tree: Listed | Keyed = self._listed(line, depth) if is_list else self._keyed(line, depth)
        self._values += 1 + len(tree.entries)
        if anchor is not None:
            self._anchors[anchor] = tree
            self._sizes[anchor] = self._values + self._expanded - before
        return tree

    def _listed(self, line: int, depth: int) -> Listed:
        entries: list[Tree] = []
        events, below = self._events, depth + 1
        for event in events:
            if type(event) is SequenceEndEvent:
                break
            entries.append(self._tree(event, below))
        return Listed(entries, line)

    def _keyed(self, line: int, depth: int) -> Keyed:
        keyed = Keyed({}, {}, line)
        merges: list[tuple[Any, Tree]] = []
        events, entries, lines, below = self._events, keyed.entries, keyed.lines, depth + 1
        for event in events:
            if type(event) is MappingEndEvent:
                break
            if type(event) is not ScalarEvent or event.tag is not None or event.anchor is not None:
                event = self._key(event, below)
            text, plain = event.value, event.implicit[0]
            if plain and text == MERGE_KEY:
                if not self._limits.merged_keys:
                    self._report(event, "`<<` (merge) is not supported", "Write the keys of the mapping")
                merges.append((event, self._tree(next(events), below)))
                continue
            if text in entries and depth < self._limits.unique_levels:
                problem = f"key {display(text)} is duplicate"
                self._report(event, problem, "Keep one of them", YamlFaultKind.DUPLICATE, text, lines[text])
            lines[text] = event.start_mark.line + 1
            entries[text] = self._tree(next(events), below)
            if not plain:
                keyed.quoted |= {text}
        for event, value in merges:
            self._merge(event, keyed, value)
        return keyed

    def _key(self, event: Any, depth: int) -> Any:
        """A key with a tag or anchor, or an alias of one, as the event of a scalar; with a fault for any other."""
        is_alias = type(event) is yaml.AliasEvent
        key = self._tree(event, depth)
        if not isinstance(key, Scalar) or (is_alias and not self._limits.expanded):
            self._report(event, "a key is not a plain value", "Use a word or a number")
            key = Scalar("", 1)
        return ScalarEvent(None, None, (key.plain, not key.plain), key.text, event.start_mark, event.end_mark)

    def _merge(self, event: Any, into: Keyed, value: Tree) -> None:
        """Merge mappings: keys of the mapping itself take precedence, then those of earlier merged mappings."""
        if not self._limits.merged_keys:
            return
        for merged in value.entries if isinstance(value, Listed) else [value]:
            if not isinstance(merged, Keyed):
                self._report(event, "merges a value that is not a mapping", "Name the anchor of a mapping")
                return
            self._merged += len(merged.entries)
            if self._merged > self._limits.merged_keys:
                self._report(event, f"merges more than {self._limits.merged_keys} keys", "Write them out")
                raise _Stopped
            for key, entry in merged.entries.items():
                if key not in into.entries:
                    into.entries[key], into.lines[key] = entry, merged.lines[key]

    def _aliased(self, event: Any) -> Tree:
        anchor = event.anchor
        tree = self._anchors.get(anchor)
        if isinstance(tree, Scalar):
            return tree
        if anchor in self._anchors and not self._limits.expanded:
            if not self._refused_alias:  # once: a billion of them has one cause
                self._refused_alias = True
                self._report(event, "an alias of a list or mapping is not supported", "Write its content")
        elif tree is None:
            problem = f"alias {display(anchor)} has no anchor before it"
            self._report(event, problem, "Write the value", YamlFaultKind.ALIAS, anchor)
        else:
            self._expand(event, self._sizes[anchor])
            return tree
        return Scalar("", event.start_mark.line + 1)

    def _expand(self, event: Any, size: int) -> None:
        self._expanded += size
        if self._expanded > self._limits.expanded:
            problem = f"its aliases repeat more than {self._limits.expanded} values"
            self._report(event, problem, "Write them out")
            raise _Stopped

    def _check_tag(self, event: Any) -> None:
        if self._limits.tags is not None and event.tag not in self._limits.tags:
            tag = display(event.tag.replace(CORE, "!!"))
            self._report(event, f"the tag {tag} is not supported", "Remove the tag", YamlFaultKind.TAG)

    def _report(
        self,
        event: Any,
        problem: str,
        remedy: str,
        kind: YamlFaultKind = YamlFaultKind.OTHER,
        subject: str = "",
        first_line: int = 0,
    ) -> None:
        self.faults.append(YamlFault(event.start_mark.line + 1, problem, remedy, kind, subject, first_line))

"""Juniper's YANG as an oracle: which configurations a switch takes. Needs yanglint.

The models are published twice: plain ones for libyang, and with extensions that say how the CLI writes a node without
its keyword. By the latter a configuration becomes XML, which libyang then validates. Leaf types are mostly unions with
free text, so that values are hardly checked.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from tests.oracles.archives import DATA_FILTER
from tests.oracles.yang import DATA, TRANSPARENT, Statement, parsed
from tests.oracles.yanglint import Yanglint

ARCHIVE = "junos-qfx-yang-24.4R1.tar.xz"
SECTIONS = (
    *("interfaces", "protocols", "class-of-service", "policy-options", "routing-options", "forwarding-options"),
    *("chassis", "routing-instances", "system", "vlans"),
)
NAMESPACE = "http://yang.juniper.net/junos-qfx/conf"
NOT_PUBLISHED = re.compile(
    r"chassis fpc \d+ traffic-manager buffer-monitor-enable|interfaces \S+ ether-options fec fec119"
    r"|system services extension-service request-response grpc clear-text port \d+"
)
"""Statements that switches have and the models of this release lack: the first is in Juniper's own validated design,
the last in the configurations with which containerlab starts its images."""
CLI_NAMES = {"802.3ad": "ieee-802.3ad"}
"""Nodes whose name in the CLI is none in XML, which begins with a letter."""
_ESCAPE = re.compile(r'\\(?![nt"\\])')
_DATE = re.compile(r"@[\d-]+\.yang")
Words = Sequence[str]


class NotInModels(Exception):
    """A statement that the models do not have."""


@dataclass
class Node:
    """A data node of the schema, with its nodes when they are asked for."""

    statement: Statement
    module: JunosModule

    @property
    def name(self) -> str:
        return self.statement.argument

    @property
    def kind(self) -> str:
        return self.statement.keyword

    @cached_property
    def children(self) -> dict[str, Node]:
        return {found.name: found for found in self.module.nodes(self.statement.below)}

    @property
    def keys(self) -> list[str]:
        return (self.statement.first("key") or "").split()

    @property
    def is_unnamed(self) -> bool:
        """Whether the CLI leaves its name out."""
        features = (found.argument for found in self.statement.all("junos:cli-feature"))
        return "nokeyword" in features

    @property
    def is_empty(self) -> bool:
        return self.statement.first("type") == "empty"


class JunosModule:
    """One module. Its groupings are its own."""

    def __init__(self, text: str) -> None:
        self._module = parsed(text)
        self._groupings = {found.argument: found for found in self._module.all("grouping")}

    def top(self) -> Iterator[Node]:
        for augment in self._module.all("augment"):
            if augment.argument == "/jc:configuration":
                yield from self.nodes(augment.below)

    def nodes(self, statements: Iterable[Statement]) -> Iterator[Node]:
        """The data nodes of statements, with those of groupings, choices and cases."""
        for found in statements:
            if found.keyword in DATA:
                yield Node(found, self)
            elif found.keyword in TRANSPARENT:
                yield from self.nodes(found.below)
            elif found.keyword == "uses" and found.argument in self._groupings:
                yield from self.nodes(self._groupings[found.argument].below)


Step = tuple[str, tuple[tuple[str, str], ...], str | None]
"""An element: its name, the keys of a list entry, and the value of a leaf."""


def steps(node: Node, words: Words) -> Iterator[Step]:
    """The elements of a statement below a node. Raises NotInModels for a word that is none."""
    if not words:
        return
    child, rest = _child(node, words)
    if child.kind in ("leaf", "leaf-list"):
        if len(rest) != (0 if child.is_empty else 1):
            raise NotInModels(f"{child.name} {' '.join(rest)}")
        yield child.name, (), rest[0] if rest else ""
    elif child.kind == "container":
        yield child.name, (), None
        yield from steps(child, rest)
    else:
        keys, rest = _keys(child, rest)
        yield child.name, keys, None
        yield from steps(child, rest)


def _child(node: Node, words: Words) -> tuple[Node, Words]:
    """The node that the first word names, or the one that has no name in the CLI, and the words after its name."""
    named = node.children.get(CLI_NAMES.get(words[0], words[0]))
    if named is not None:
        return named, words[1:]
    keys = node.keys
    for found in node.children.values():
        if found.is_unnamed and found.name not in keys:
            return found, words
    raise NotInModels(" ".join(words))


def _keys(node: Node, words: Words) -> tuple[tuple[tuple[str, str], ...], Words]:
    """The keys of an entry: each by its name, or without."""
    found: list[tuple[str, str]] = []
    for key in node.keys:
        if not node.children[key].is_unnamed and len(node.keys) > 1 and words[:1] == [key]:
            words = words[1:]
        found.append((key, words[0] if words else ""))
        words = words[1:]
    return tuple(found), words


@dataclass
class Entry:
    """An element while a document is made."""

    element: Element
    below: dict[Step, Entry] = field(default_factory=dict)


class JunosModels:
    """The models of one release, unpacked into a folder."""

    def __init__(self, archive: Path, folder: Path) -> None:
        with tarfile.open(archive) as packed:
            packed.extraction_filter = DATA_FILTER
            packed.extractall(folder / "published")
        self._plain = folder / "plain"
        self._plain.mkdir()
        files = {path: path.read_text() for path in (folder / "published").rglob("*.yang")}
        for path, text in files.items():
            if "conf-with-extensions" not in path.parts:
                (self._plain / _DATE.sub(".yang", path.name)).write_text(_ESCAPE.sub(r"\\\\", text))
        extended = {
            path.name.partition("@")[0]: text for path, text in files.items() if "conf-with-extensions" in path.parts
        }
        modules = {name: JunosModule(extended[f"junos-qfx-conf-{name}"]) for name in SECTIONS}
        self._running: dict[str, Yanglint] = {}
        self._sections = {node.name: (name, node) for name, module in modules.items() for node in module.top()}

    def _documents(self, statements: Iterable[Words]) -> dict[str, bytes]:
        """Return a configuration as XML by section: the models of sections do not refer to each other.

        Raises NotInModels.
        """
        roots: dict[str, Entry] = {}
        for words in statements:
            if NOT_PUBLISHED.fullmatch(" ".join(words)):
                continue
            if words[0] not in self._sections:
                raise NotInModels(words[0])
            module, node = self._sections[words[0]]
            root = roots.setdefault(module, Entry(Element("configuration", xmlns=f"{NAMESPACE}/root")))
            place = self._placed(root, (node.name, (), None), f"{NAMESPACE}/{module}")
            try:
                for step in steps(node, list(words[1:])):
                    place = self._placed(place, step)
            except NotInModels as error:
                raise NotInModels(f"{' '.join(words)}: {error}") from error
        return {module: tostring(root.element) for module, root in roots.items()}

    @staticmethod
    def _placed(above: Entry, step: Step, namespace: str | None = None) -> Entry:
        """The entry of a step below another, which is made when it is not there yet."""
        if step not in above.below:
            name, keys, value = step
            element = SubElement(above.element, name, {"xmlns": namespace} if namespace else {})
            for key, text in keys:
                SubElement(element, key).text = text
            element.text = value
            above.below[step] = Entry(element)
        return above.below[step]

    def refusals(self, statements: Iterable[Words], folder: Path) -> list[str]:
        """What libyang says against a configuration, of each section the first error; nothing when it takes it."""
        try:
            documents = self._documents(statements)
        except NotInModels as error:
            return [f"not in the models: {error}"]
        return [line for module, document in documents.items() for line in self._complaints(module, document, folder)]

    def _complaints(self, module: str, document: bytes, folder: Path) -> list[str]:
        if module not in self._running:
            self._running[module] = Yanglint(self._plain, f"junos-qfx-conf-root junos-qfx-conf-{module}")
        path = folder / f"{module}.xml"
        path.write_bytes(document)
        return self._running[module].complaints(path)

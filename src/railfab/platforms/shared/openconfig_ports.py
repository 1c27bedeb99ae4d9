"""Configuration of ports by OpenConfig's models, on switches that hold it as lines: the leaves that a gNMI client reads
and sets.

Name, description, enabled and mtu of openconfig-interfaces; a Set of anything else is refused, since no source says
which lines it becomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from railfab.device import DeviceModel, Port
from railfab.gnmi.paths import ANY, ANY_DEPTH, Element, to_text_elements
from railfab.gnmi.requests import MissingFeature
from railfab.gnmi.target import Edit, Operation, PathNotFound, RequestRefused
from railfab.platforms.shared.json_names import JsonNames
from railfab.platforms.shared.json_tree import bare
from railfab.platforms.shared.line_tree import Line, LineFormat
from railfab.text.display import display

Path = tuple[Element, ...]

KEY, CONFIG = "name", ("interfaces", "interface", "config")
NAMES = JsonNames(lambda name, _entry: (KEY,) if name == "interface" else ())
"""For trees in which configuration and state of ports meet."""
KINDS: Mapping[str, tuple[type, str]] = {
    "description": (str, "a line of text"),
    "enabled": (bool, "a boolean"),
    "mtu": (int, "a number"),
}
"""Type of each leaf that can be set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenConfigPorts:
    """Leaves of ports on switches of a platform.

    write: sets a leaf of a port in a configuration text, or deletes it (None). mtu_header_bytes: how much more than
    IP packets the MTU of an interface counts; None where no source says which line the leaf `mtu` is.
    """

    write: Callable[[str, str, str, Any], str]
    mtu_header_bytes: int | None = 0

    @property
    def _settable(self) -> tuple[str, ...]:
        return tuple(leaf for leaf in KINDS if leaf != "mtu" or self.mtu_header_bytes is not None)

    def leaves(self, model: DeviceModel | None) -> dict[Path, Any]:
        """The leaves of the ports that a configuration states, with their values."""
        return dict(leaf for port in _ports(model) for leaf in self._leaves_of(port))

    def _leaves_of(self, port: Port) -> Iterator[tuple[Path, Any]]:
        mtu = None
        if port.mtu_bytes is not None and self.mtu_header_bytes is not None:
            mtu = port.mtu_bytes + self.mtu_header_bytes
        stated = {KEY: port.name, "description": port.description or None, "enabled": port.enabled, "mtu": mtu}
        for leaf, value in stated.items():
            if value is not None:
                yield (*_config_of(port.name), Element(leaf, ())), value

    def edited(self, device: str, text: str, model: DeviceModel | None, edits: Sequence[Edit]) -> str:
        """A configuration after a Set. Raises RequestRefused, PathNotFound and MissingFeature."""
        known = {port.name for port in _ports(model)}
        for edit in edits:
            for path, value in self._assigned(device, edit):
                port, leaf = self._place(device, path)
                if port not in known:
                    problem = f"nothing at {to_text_elements(path[:2])}"
                    raise PathNotFound(device, problem, "Use a port of the running configuration")
                self._check(device, path, port, value)
                if leaf != KEY:
                    text = self.write(text, port, leaf, value)
        return text

    def _check(self, device: str, path: Path, port: str, value: Any) -> None:
        """Raise RequestRefused for a value that the leaf cannot have."""
        leaf = path[-1].name
        if leaf == KEY:
            if value not in (None, port):
                raise RequestRefused(device, f"{to_text_elements(path)}: is {display(value)}", f"Use {display(port)}")
            return
        kind, words = KINDS[leaf]
        if value is not None and (type(value) is not kind or not str(value).isprintable() or value == ""):
            problem = f"{to_text_elements(path)}: {display(value)} is not {words}"
            raise RequestRefused(device, problem, f"Use {words}")

    def _assigned(self, device: str, edit: Edit) -> Iterator[tuple[Path, Any]]:
        """The leaves that an edit sets, each with its value; None deletes it."""
        names = tuple(step.name for step in edit.path)
        deletes, whole = edit.operation is Operation.DELETE, edit.operation is not Operation.UPDATE
        if whole and names[: len(CONFIG)] != CONFIG:
            raise self._missing(device, edit.path)
        if whole and names == CONFIG:
            yield from (((*edit.path, Element(leaf, ())), None) for leaf in self._settable)
        for path, value in _spread(edit.path, {} if deletes and names == CONFIG else edit.value):
            if value is None and not deletes:
                raise RequestRefused(device, f"{to_text_elements(path)}: has no value", "Give one, or delete it")
            yield path, value

    def _place(self, device: str, path: Path) -> tuple[str, str]:
        """The port and the leaf of a path. Raises MissingFeature, and RequestRefused where it names no single port."""
        names = tuple(step.name for step in path)
        if names[:-1] != CONFIG or names[-1] not in {KEY, *self._settable}:
            raise self._missing(device, path)
        port = dict(path[1].keys).get(KEY)
        if port is None or port == ANY:
            raise RequestRefused(device, f"{to_text_elements(path)}: names no port", "Give the key name")
        return port, names[-1]

    def _missing(self, device: str, path: Path) -> MissingFeature:
        problem = f"{to_text_elements(path)}: is not configured over gNMI"
        return MissingFeature(device, problem, f"Use its CLI, or {', '.join(self._settable)} of a port")


def _ports(model: DeviceModel | None) -> Iterator[Port]:
    return (each for each in (model.interfaces if model else ()) if isinstance(each, Port))


def _config_of(port: str) -> Path:
    return (Element("interfaces", ()), Element("interface", ((KEY, port),)), Element("config", ()))


def may_hold(pattern: Path) -> bool:
    """Whether leaves of the configuration of ports may be at or below a path."""
    names = [step.name for step in pattern]
    if ANY_DEPTH in names:
        return True
    alike = all(name in (ANY, known) for name, known in zip(names, CONFIG, strict=False))
    return alike and len(names) <= len(CONFIG) + 1


def _spread(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    """The leaves of a value at a path; a key of a list entry is none."""
    if isinstance(value, dict):
        for name, child in value.items():
            if len(path) != 2 or bare(name) != KEY:
                yield from _spread((*path, Element(bare(name), ())), child)
    elif isinstance(value, list) and path and all(isinstance(entry, dict) for entry in value):
        for entry in value:
            keys = tuple((KEY, str(name)) for written, name in entry.items() if bare(written) == KEY)
            yield from _spread((*path[:-1], Element(path[-1].name, keys)), entry)
    else:
        yield path, value


def line_writer(form: LineFormat, *, enabled: str | None) -> Callable[[str, str, str, Any], str]:
    """Sets leaves in lines below `interface NAME`, in the words that EOS and NX-OS have in common.

    enabled: the line of a port that is up; None for no line.
    """

    def write(text: str, port: str, leaf: str, value: Any) -> str:
        line, replaced = None if value is None else f"{leaf} {value}", frozenset({leaf})
        if leaf == "enabled":
            line, replaced = "shutdown" if value is False else enabled, frozenset({"shutdown", "no shutdown"})
        section, tree = f"interface {port}", form.tree(text)
        return form.text(tuple(_with_line(each, line, replaced) if each.text == section else each for each in tree))

    return write


def _with_line(section: Line, line: str | None, replaced: frozenset[str]) -> Line:
    """A section with a line in place of those that are, or begin with, one of the replaced words; else as its first."""
    lines = section.children
    old = [place for place, child in enumerate(lines) if child.text in replaced or child.kind in replaced]
    place = old[0] if old else 0
    kept = [child for number, child in enumerate(lines) if number not in old]
    new = [] if line is None else [Line(line)]
    return Line(section.text, (*kept[:place], *new, *kept[place:]))

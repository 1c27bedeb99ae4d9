"""A place in a configuration that is being read: its value, its path, and the problems found so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any, TypeVar

from railfab.errors import ConfigError, RailfabError

T = TypeVar("T")
ENABLE = "enable"


@dataclass(frozen=True, slots=True)
class Node:
    """A container or list entry. A reader gets a value or None; a value that does not fit becomes a problem."""

    value: Mapping[str, Any]
    path: str
    problems: list[RailfabError]

    def child(self, name: str) -> Node:
        """The container of that name, empty when it is absent."""
        found = self.value.get(name, {})
        if not isinstance(found, dict):
            self.problem("is not a container", "Write an object here", name)
            found = {}
        return Node(found, f"{self.path}/{name}", self.problems)

    def at(self, *names: str) -> Node:
        """The container at this relative path."""
        node = self
        for name in names:
            node = node.child(name)
        return node

    def entries(self, name: str, *keys: str) -> Iterator[Node]:
        """The entries of the list of that name, each with its keys in its path; one without keys is a problem."""
        found = self.value.get(name, [])
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            self.problem("is not a list of objects", "Write an array of objects here", name)
            return
        for entry in found:
            if missing := [key for key in keys if key not in entry]:
                self.problem(f"an entry has no {missing[0]}", "Give each entry its key", name)
                continue
            place = "".join(f"[{key}={_text(entry[key])}]" for key in keys)
            yield Node(entry, f"{self.path}/{name}{place}", self.problems)

    def entry(self, name: str, key: str, wanted: object) -> Node:
        """The entry of a list with this key, empty when there is none."""
        found = [entry for entry in self.entries(name, key) if str(entry.value[key]) == str(wanted)]
        return found[0] if found else Node({}, f"{self.path}/{name}[{key}={wanted}]", self.problems)

    def text(self, leaf: str) -> str | None:
        """A leaf's text."""
        return self._leaf(leaf, str, "a word")

    def number(self, leaf: str) -> int | None:
        """A leaf's number; a 64-bit one travels as a string."""
        return self._leaf(leaf, int, "a whole number")

    def address(self, leaf: str) -> IPv4Address | None:
        return self._leaf(leaf, IPv4Address, "an IPv4 address")

    def interface(self, leaf: str) -> IPv4Interface | None:
        return self._leaf(leaf, IPv4Interface, "an IPv4 address with its prefix length")

    def network(self, leaf: str) -> IPv4Network | None:
        return self._leaf(leaf, IPv4Network, "an IPv4 prefix without host bits")

    def words(self, leaf: str) -> tuple[str, ...]:
        """A leaf-list; one value alone counts as a list of it."""
        found = self.value.get(leaf, [])
        return tuple(str(word) for word in (found if isinstance(found, list) else [found]))

    def flag(self, leaf: str, *, default: bool) -> bool:
        """A boolean leaf, or its default."""
        found = self.value.get(leaf, default)
        if str(found).lower() in ("true", "false"):
            return str(found).lower() == "true"
        self.problem(f"{found!r} is not true or false", "Write true or false", leaf)
        return default

    def enabled(self, *, default: bool) -> bool:
        """Whether `admin-state` is enable, or the model's default for it."""
        state = self.value.get("admin-state", ENABLE if default else "disable")
        if state not in (ENABLE, "disable"):
            self.problem(f"{state!r} is not enable or disable", "Write enable or disable", "admin-state")
        return bool(state == ENABLE)

    def needed(self, leaf: str, found: T | None, remedy: str) -> T | None:
        """The value; its absence is a problem, unless it was one already."""
        if found is None and leaf not in self.value:
            self.problem("is missing", remedy, leaf)
        return found

    def problem(self, what: str, remedy: str, leaf: str = "") -> None:
        """Note a problem here, or at a leaf."""
        place = f"{self.path}/{leaf}" if leaf else self.path
        self.problems.append(ConfigError(place, what, remedy))

    def _leaf(self, leaf: str, kind: Callable[[str], T], meaning: str) -> T | None:
        found = self.value.get(leaf)
        if found is None:
            return None
        try:
            if isinstance(found, (dict, list, bool, float)):
                raise ValueError
            return kind(str(found))
        except ValueError:
            self.problem(f"{found!r} is not {meaning}", f"Write {meaning}", leaf)
            return None


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

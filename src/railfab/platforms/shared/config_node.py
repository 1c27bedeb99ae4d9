"""A node of a configuration being parsed: its value, its path, and the problems found so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Address, ip_address, ip_interface, ip_network
from typing import Any, NamedTuple, TypeVar

from railfab.device import IpAddress, IpInterface, IpNetwork
from railfab.errors import ConfigError, RailfabError
from railfab.platforms.shared.json_tree import leaf_text

T = TypeVar("T")
ENABLE = "enable"


class ConfigNode(NamedTuple):
    """A container or list entry. Readers return the value or None; an invalid value is noted as a problem.

    A named tuple, which is made in half the time of a frozen dataclass: a configuration has thousands of nodes.
    """

    value: Mapping[str, Any]
    path: str
    problems: list[RailfabError]

    def child(self, name: str) -> ConfigNode:
        """The container of that name; empty when absent."""
        node = self.value.get(name, {})
        if not isinstance(node, dict):
            self.problem("is not a JSON object", "Use a JSON object here", name)
            node = {}
        return ConfigNode(node, f"{self.path}/{name}", self.problems)

    def at(self, *names: str) -> ConfigNode:
        """The container at this relative path."""
        node = self
        for name in names:
            node = node.child(name)
        return node

    def entries(self, name: str, *keys: str) -> Iterator[ConfigNode]:
        """The entries of the list of that name, each with its keys in its path; a missing key is a problem."""
        nodes = self.value.get(name, [])
        if not isinstance(nodes, list) or not all(isinstance(entry, dict) for entry in nodes):
            self.problem("is not a list of JSON objects", "Use an array of objects here", name)
            return
        for entry in nodes:
            path = f"{self.path}/{name}"
            for key in keys:
                if key not in entry:
                    self.problem(f"an entry has no key {key}", "Add the key to every entry", name)
                    break
                path = f"{path}[{key}={leaf_text(entry[key])}]"
            else:
                yield ConfigNode(entry, path, self.problems)

    def entry(self, name: str, key: str, wanted: object) -> ConfigNode:
        """The entry of a list with this key; empty when absent."""
        matching = [entry for entry in self.entries(name, key) if str(entry.value[key]) == str(wanted)]
        return matching[0] if matching else ConfigNode({}, f"{self.path}/{name}[{key}={wanted}]", self.problems)

    def text(self, leaf: str) -> str | None:
        """The text of a leaf."""
        return self._leaf(leaf, str, "text")

    def number(self, leaf: str) -> int | None:
        """The number of a leaf; JSON_IETF sends 64-bit numbers as strings."""
        return self._leaf(leaf, int, "a whole number")

    def router_id(self, leaf: str) -> IPv4Address | None:
        """A number, or one written as an IPv4 address; None for one that is written as an IPv6 address."""
        value = self._leaf(leaf, _router_id, "an IPv4 address")
        return value if isinstance(value, IPv4Address) else None

    def address(self, leaf: str) -> IpAddress | None:
        return self._leaf(leaf, ip_address, "an IP address")

    def interface(self, leaf: str) -> IpInterface | None:
        return self._leaf(leaf, ip_interface, "an IP address with prefix length")

    def network(self, leaf: str) -> IpNetwork | None:
        """A prefix, without the host bits that its address may have."""
        return self._leaf(leaf, lambda text: ip_network(text, strict=False), "an IP prefix")

    def words(self, leaf: str) -> tuple[str, ...]:
        """The values of a leaf-list; a single value counts as a list."""
        value = self.value.get(leaf, [])
        return tuple(str(word) for word in (value if isinstance(value, list) else [value]))

    def flag(self, leaf: str, *, default: bool) -> bool:
        """A boolean leaf, or its default."""
        value = self.value.get(leaf, default)
        if str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        self.problem(f"{value!r} is not true or false", "Use true or false", leaf)
        return default

    def enabled(self, *, default: bool) -> bool:
        """Whether `admin-state` is enable; `default` when it is not set."""
        state = self.value.get("admin-state", ENABLE if default else "disable")
        if state not in (ENABLE, "disable"):
            self.problem(f"{state!r} is not enable or disable", "Use enable or disable", "admin-state")
        return bool(state == ENABLE)

    def needed(self, leaf: str, value: T | None, remedy: str) -> T | None:
        """Return the value; note a problem when the leaf is missing."""
        if value is None and leaf not in self.value:
            self.problem("is missing", remedy, leaf)
        return value

    def problem(self, what: str, remedy: str, leaf: str = "") -> None:
        """Note a problem at this node, or at one of its leaves."""
        path = f"{self.path}/{leaf}" if leaf else self.path
        self.problems.append(ConfigError(path, what, remedy))

    def _leaf(self, leaf: str, kind: Callable[[str], T], meaning: str) -> T | None:
        value = self.value.get(leaf)
        if value is None:
            return None
        try:
            if isinstance(value, (dict, list, bool, float)):
                raise ValueError
            return kind(str(value))
        except ValueError:
            self.problem(f"{value!r} is not {meaning}", f"Use {meaning}", leaf)
            return None


def _router_id(text: str) -> IpAddress:
    return IPv4Address(int(text)) if text.isdecimal() else ip_address(text)

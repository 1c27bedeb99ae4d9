"""Texts with which SR Linux refuses names and values, as they are published; for other refusals none was found.

Sources: learn.srlinux.dev (github.com/srl-labs/learn-srlinux at 84c9427), docs/ansible/collection/get.md and config.md,
docs/tutorials/programmability/json-rpc/basics.md, all of the JSON-RPC server, whose paths and values go to the same
management server as those of gNMI. A gNMI Get was seen refused with the first text ("rpc error: code = InvalidArgument
desc = Path not valid - unknown element 'state'. Options are [physical-channel, breakout-mode, ..."), the range of a
number in the CLI ("Must be an integer in range 1280..9486"). The switch's order of the options is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from railfab.gnmi.paths import Element
from railfab.platforms.shared.json_tree import leaf_text


def unknown_element(name: str, options: Iterable[str]) -> str:
    """An element of a path that the configuration does not have; options: those that it has there."""
    listed = ", ".join(options)
    return f"Path not valid - unknown element {name!r}" + (f". Options are [{listed}]" if listed else "")


def unknown_leaf(path: str, name: str, options: Iterable[str]) -> str:
    """A leaf in a value. path: of the container, without keys."""
    return f"Schema {path or '/'!r} has no local leaf with the name {name!r}. Options are [{', '.join(options)}]"


def invalid_value(value: Any, kind: Mapping[str, Any]) -> str:
    """A value out of the one range of a number, or not of the one pattern of a text; nothing for other types."""
    if value is None or isinstance(value, (dict, list)):
        return ""
    text = leaf_text(value)
    if len(ends := kind.get("range", ())) == 1 and text.removeprefix("-").isdecimal():
        return f'Invalid value "{text}": Must be an integer in range {ends[0][0]}..{ends[0][1]}'
    has_length = any(low <= len(text) <= high for low, high in kind.get("length", ((0, len(text)),)))
    if len(patterns := kind.get("pattern", ())) == 1 and has_length and "not" not in kind:
        return f"Invalid value \"{text}\": Must match the pattern '{patterns[0]}'"
    return ""


def invalid_key(value: Any, key: str, name: str, kind: Mapping[str, Any]) -> str:
    """Such a value of a key of a list."""
    text = invalid_value(value, kind)
    return text and f"Failed to parse value '{leaf_text(value)}' for key '{key}' (node '{name}') - {text}"


def unknown_token(word: str, options: Iterable[str] = ()) -> str:
    """A word of the CLI that nothing takes there (learn-srlinux, docs/get-started/cli.md). options: those that fit."""
    listed = ", ".join(f"'{each}'" for each in options)
    return f"Parsing error: Unknown token '{word}'." + (f"\nOptions are [{listed}]" if listed else "")


def nothing_at(place: Iterable[Element]) -> str:
    """A path of the CLI at which there is no object (learn-srlinux, docs/blog/posts/2023/cli-ranges.md)."""
    steps = "".join(f".{name}" + "".join(f"{{.{key}=={value}}}" for key, value in keys) for name, keys in place)
    return f"Error: Path '{steps}' does not specify any existing objects"


def not_authorised(command: str) -> str:
    """A command of a user who may not run it (learn-srlinux, docs/blog/posts/2024/srl-radius.md)."""
    return f"Error: No authorization to execute command: '{command}'"

"""Data of a platform that only the twin needs: factory configuration, keys of lists, and leaves without a metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from railfab.device import DeviceModel
from railfab.errors import UnsupportedFeature
from railfab.forwarding import BgpSession
from railfab.gnmi.target import Model
from railfab.platforms.shared.json_datastore import KeysOf

SERVED = ("srlinux",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """One platform as the twin serves it.

    factory: the configuration of a new switch, by its name.
    configured: whether a configuration has more than the factory configuration.
    keys_of: the names of the keys of a list entry, by the list's name.
    wildcard: the value for a `*` in a key of a telemetry rule, from the device, the key's name, its pattern and the
        labels of a sample; None when the rule does not apply to them.
    session_leaves: leaves of a BGP session that no metric carries, by path, from the device and the session.
    parse: the device model of a configuration tree.
    """

    factory: Callable[[str], dict[str, Any]]
    configured: Callable[[Mapping[str, Any]], bool]
    keys_of: KeysOf
    wildcard: Callable[[str, str, str, Mapping[str, str]], str | None]
    models: tuple[Model, ...]
    session_leaves: Callable[[str, BgpSession], Mapping[str, Any]]
    parse: Callable[[dict[str, Any]], DeviceModel]


def native(platform: str, device: str) -> Native:
    """The platform's entry. Raises UnsupportedFeature for a platform that the twin does not serve."""
    if platform not in SERVED:
        remedy = f"Use a fabric of {' or '.join(SERVED)}, or boot it with railfab lab"
        raise UnsupportedFeature(device, f"the twin does not support {platform}", remedy)
    found: Native = import_module(f"railfab.twin.{platform}").NATIVE
    return found

"""User settings for the containers of a lab: the optional file `containerlab.yml` beside the intent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from railfab.errors import LabError
from railfab.yaml_reader.sections import Faulty, values_in

FILE = "containerlab.yml"
PULL_POLICIES = ("Always", "Never", "IfNotPresent")
KEYS = ("images", "host_image", "image_pull_policy", "privileged", "cap_add", "network", "ipv4_subnet", "ipv6_subnet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """images: by platform, overriding the platform's image. host_image: None is the image of platform frr.

    privileged, cap_add: for every node, overriding those of the platform; None keeps them.
    network: name of the management network in Docker; None is the lab's name. ipv4_subnet: `auto` or a range.
    """

    images: Mapping[str, str] = field(default_factory=dict)
    host_image: str | None = None
    image_pull_policy: str | None = None
    privileged: bool | None = None
    cap_add: tuple[str, ...] | None = None
    network: str | None = None
    ipv4_subnet: str = "auto"
    ipv6_subnet: str | None = None


def load_settings(folder: Path) -> Settings:
    """The settings beside an intent, or the defaults. Raises LabError for an invalid file."""
    path = folder / FILE
    try:
        document, _ = values_in(path.read_text())
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError, Faulty) as error:
        raise LabError(str(path), f"cannot be read ({str(error).splitlines()[0]})", "Correct the file") from None
    if document is None:
        return Settings()
    if not isinstance(document, dict):
        raise LabError(str(path), "is not a mapping", f"Use the keys {', '.join(KEYS)}")
    for key, value in document.items():
        _check(f"{path}: {key}", key, value)
    cap_add = document.pop("cap_add", None)
    return Settings(cap_add=None if cap_add is None else tuple(cap_add), **document)


def _check(where: str, key: Any, value: Any) -> None:
    if key not in KEYS:
        raise LabError(where, "is not a known key", f"Use one of {', '.join(KEYS)}")
    expected = _expected(key, value)
    if expected:
        raise LabError(where, f"{value!r} is not valid", f"Use {expected}")


def _expected(key: str, value: Any) -> str:
    """Description of valid values of a key; empty when this value is valid."""
    if key == "images":
        fits = isinstance(value, dict) and all(isinstance(part, str) for entry in value.items() for part in entry)
        return "" if fits else "a mapping of platform to image"
    if key == "cap_add":
        fits = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
        return "" if fits else "a list of capabilities, for example [NET_ADMIN, NET_RAW]"
    if key == "privileged":
        return "" if isinstance(value, bool) else "true or false"
    if key == "image_pull_policy":
        return "" if value in PULL_POLICIES else f"one of {', '.join(PULL_POLICIES)}"
    if key.endswith("subnet"):
        return "" if value == "auto" or _is_network(value) else "`auto` or a range such as 172.31.255.0/24"
    return "" if isinstance(value, str) and value else "text"


def _is_network(value: Any) -> bool:
    try:
        return isinstance(value, str) and ip_network(value) is not None
    except ValueError:
        return False

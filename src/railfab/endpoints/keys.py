"""The keys of railfab in an endpoints file and in a hosts.yml, and which other keys are typing errors."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import fields

from railfab.endpoints.model import Endpoint

NODE_KEYS = tuple(field.name for field in fields(Endpoint))
"""Keys of a node of an endpoints file."""
METRIC_LABELS = "metric_labels"
"""Key under `data`: names of further keys of `data` that are labels of the target's metrics."""
DATA_KEYS = (*(key for key in NODE_KEYS if key not in ("name", "platform", "host", "ssh_port")), METRIC_LABELS)
"""Keys that a host of a Nornir hosts.yml has under `data`."""
LABEL_KEYS = ("fabric", "site", "rack", "role", "pod", "segment", "rail", "model")
"""Keys under `data` that are labels unless METRIC_LABELS names others."""
SHORTEST = 5
"""Letters from which on words are compared by likeness: `cat` is no misspelt `ca`."""
ALIKE = 0.8
"""Likeness (difflib's ratio) from which on a key is taken for a misspelt one: `skip_verfy` has 0.95."""


def nearest(word: str, known: Collection[str], alike: float = 0.6) -> str | None:
    """The most similar of these words, if one is similar."""
    matches = difflib.get_close_matches(_plain(word), sorted(known), n=1, cutoff=alike)
    return matches[0] if matches else None


def misspelt(key: str) -> str | None:
    """The key of railfab that a key under `data` is meant to be; None for a key of a user.

    It is one with other letter case or hyphens (`skip-verify`), or one with at least 5 letters that is nearly equal.
    """
    if key in DATA_KEYS or key in LABEL_KEYS:
        return None
    if _plain(key) in DATA_KEYS:
        return _plain(key)
    return nearest(key, [known for known in DATA_KEYS if len(known) >= SHORTEST], ALIKE)


def unknown_key(key: str, known: Collection[str]) -> tuple[str, str]:
    """Problem and remedy of a key where only these are known."""
    meant, keys = nearest(key, known), f"The keys here are {', '.join(sorted(known))}"
    return f"unknown key {key!r}", f"Did you mean {meant!r}? {keys}" if meant else keys


def misspelt_key(key: str, meant: str, present: Collection[str]) -> tuple[str, str]:
    """Problem and remedy of a key under `data` that looks like one of railfab's. present: keys that are there."""
    if meant in present:
        return f"unknown key {key!r} beside {meant!r}", "Remove it, or give a key of your own another name"
    return f"unknown key {key!r}", f"Did you mean {meant!r}? A key of your own needs a name that is less like it"


def _plain(word: str) -> str:
    return word.lower().replace("-", "_")

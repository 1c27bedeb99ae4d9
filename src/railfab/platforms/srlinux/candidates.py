"""Candidate configurations of an SR Linux switch: the shared one, private ones by name, and an exclusive one.

A candidate is a list of edits, made again on what runs: a change that another client commits meanwhile stays in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import RLock
from typing import Any

from railfab.gnmi.target import Commit, Edit
from railfab.platforms.shared.json_edits import edited
from railfab.platforms.shared.json_names import JsonNames
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.tree import entry_keys
from railfab.platforms.twin_face import VirtualDevice

SHARED, EXCLUSIVE = "shared default", "exclusive default"


@cache
def json_names() -> JsonNames:
    """The modules and the choices of names, by the schema."""
    return JsonNames(entry_keys, schema().namespaces, schema().rivals, schema().identity_modules)


class Candidate:
    """The running configuration of a switch with edits that are not committed. Thread-safe."""

    def __init__(self, device: VirtualDevice) -> None:
        self._device = device
        self._lock = RLock()
        self._edits: list[Edit] = []
        self._baseline: Any = None
        self._running: Any = None
        self._tree: Json = {}

    @property
    def tree(self) -> Json:
        """The configuration with the edits; not to be changed. Raises RequestRefused where an edit no longer fits."""
        with self._lock:
            running: Json = self._device.configuration
            if not self._edits:
                self._running = self._tree = self._baseline = running
            elif running is not self._running:
                self._tree, self._running = self._edited(running, self._edits), running
            return self._tree

    @property
    def is_changed(self) -> bool:
        """Whether it differs from what runs."""
        return bool(self._edits) and self.tree != self._device.configuration

    @property
    def is_outdated(self) -> bool:
        """Whether another client has changed what runs since the first edit."""
        return bool(self._edits) and self._device.configuration is not self._baseline

    def change(self, edit: Edit) -> None:
        """Add an edit, unless it changes nothing. Raises RequestRefused."""
        with self._lock:
            before = self.tree
            tree = self._edited(before, [edit])
            if tree != before:
                self._edits.append(edit)
                self._tree = tree

    def discard(self) -> None:
        with self._lock:
            self._edits = []

    def commit(self, commit: Commit | None) -> None:
        """Run it, under the timer of the extension where there is one. Raises RailfabError."""
        with self._lock:
            self._device.change(lambda running: self._edited(running, self._edits), commit)
            self._edits = []

    def _edited(self, tree: Json, edits: Sequence[Edit]) -> Json:
        return edited(tree, edits, json_names(), self._device.name, in_turn=True)


@dataclass(slots=True)
class Candidates:
    """The candidates of a switch, which its sessions share; lost with its power.

    readers: the sessions in the shared or the exclusive candidate, by its name.
    """

    device: VirtualDevice
    lock: RLock = field(default_factory=RLock)
    readers: dict[object, str] = field(default_factory=dict)
    _of_name: dict[str, Candidate] = field(default_factory=dict)
    _boots: int = 0

    def enter(self, session: object, name: str) -> Candidate | None:
        """The candidate of this name for a session; None while another session excludes it."""
        with self.lock:
            self._renew()
            self.leave(session)
            others = set(self.readers.values())
            if EXCLUSIVE in others or (name == EXCLUSIVE and (others or self.named(SHARED).is_changed)):
                return None
            if name in (SHARED, EXCLUSIVE):
                self.readers[session] = name
            return self.named(name)

    def leave(self, session: object) -> None:
        """A session leaves its candidate: the edits of an exclusive one end with it."""
        with self.lock:
            if self.readers.pop(session, "") == EXCLUSIVE:
                self._of_name.pop(EXCLUSIVE, None)

    def named(self, name: str) -> Candidate:
        return self._of_name.setdefault(name, Candidate(self.device))

    def _renew(self) -> None:
        if self._boots != self.device.boots:
            self._boots = self.device.boots
            self._of_name.clear()
            self.readers.clear()

"""Edits of a JSON tree (RFC 7951) by gNMI paths: the delete, replace and update of a Set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from railfab.gnmi.paths import ANY, ANY_DEPTH, Element
from railfab.gnmi.target import Edit, Operation, RequestRefused
from railfab.platforms.shared.json_names import JsonNames, Schema
from railfab.platforms.shared.json_paths import has_keys
from railfab.platforms.shared.json_tree import Json, bare, is_list


def edited(root: Json, edits: Sequence[Edit], names: JsonNames, device: str, *, in_turn: bool = False) -> Json:
    """The tree after a Set, which shares the top-level containers that no edit names with the given one.

    in_turn: whether each edit is a Set of its own.
    The given one stays as it is. Raises RequestRefused when an edit does not fit the tree.
    """
    names_edited = {edit.path[0].name if edit.path else ANY for edit in edits}
    everything = bool(names_edited & {ANY, ANY_DEPTH})
    tree = {name: copied(child) if everything or bare(name) in names_edited else child for name, child in root.items()}
    editor = _Editor(names, device)
    for edit in edits:
        editor = _Editor(names, device) if in_turn else editor
        editor.apply(tree, edit)
    return tree


def copied(value: Any) -> Any:
    """A deep copy of a JSON value; five times as fast as `copy.deepcopy`."""
    if isinstance(value, dict):
        return {name: copied(child) for name, child in value.items()}
    return [copied(child) for child in value] if isinstance(value, list) else value


class _Editor:
    """The edits of one Set of a tree, in place.

    A node in a case of a choice removes the nodes of the other cases (RFC 7950, section 7.9), but for those that the
    same Set has made: both stay then, for the check of the whole to refuse.
    """

    def __init__(self, names: JsonNames, device: str) -> None:
        self._names = names
        self._device = device
        self._made: dict[tuple[int, str], Json] = {}

    def apply(self, root: Json, edit: Edit) -> None:
        if edit.operation is Operation.DELETE:
            _delete(root, edit.path)
        elif not edit.path:
            self._at_root(root, edit)
        elif any(ANY in (step.name, *dict(step.keys).values()) for step in edit.path):
            raise self._refused(edit, "has a wildcard", "Name one node in each replace and update")
        else:
            self._put(root, edit)

    def _at_root(self, root: Json, edit: Edit) -> None:
        if not isinstance(edit.value, dict):
            raise self._refused(edit, "takes a container", "Send a JSON object")
        if edit.operation is Operation.REPLACE:
            root.clear()
        self._merge(root, self._names.adopted(edit.value, ()), ())

    def _put(self, root: Json, edit: Edit) -> None:
        node = root
        at: Schema = ()
        for step in edit.path[:-1]:
            node, at = self._descend(node, step, at, edit), (*at, step.name)
        last = edit.path[-1]
        self._exclude(node, last.name, at)
        value = self._names.adopted(edit.value, (*at, last.name))
        name = self._name(node, last, at)
        if last.keys:
            self._put_entry(node, edit, at, value)
        elif edit.operation is Operation.REPLACE or name not in node:
            self._check(node.get(name), value, edit)
            node[name] = value
            self._note(value, (*at, last.name))
        else:
            self._check(node[name], value, edit)
            self._merge(node, {name: value}, at)

    def _put_entry(self, node: Json, edit: Edit, at: Schema, value: Any) -> None:
        if not isinstance(value, dict):
            raise self._refused(edit, "is a list entry", "Send a JSON object")
        step = edit.path[-1]
        entry = self._entry(node, step, at, edit)
        keys = {name: child for name, child in entry.items() if bare(name) in dict(step.keys)}
        if not has_keys({**keys, **value}, step):
            raise self._refused(edit, "names other keys in its value", "Send the keys of the path, or none")
        if edit.operation is Operation.REPLACE:
            entry.clear()
        self._merge(entry, {**keys, **value}, (*at, step.name))

    def _descend(self, node: Json, step: Element, at: Schema, edit: Edit) -> Json:
        """The container or list entry of this step; added if it is missing."""
        self._exclude(node, step.name, at)
        if step.keys:
            return self._entry(node, step, at, edit)
        child = node.setdefault(self._name(node, step, at), {})
        if not isinstance(child, dict):
            problem = f"{step.name} is a {'list' if isinstance(child, list) else 'leaf'} and has no child of this name"
            raise self._refused(edit, problem, "Name the keys of a list, and nothing below a leaf")
        return child

    def _entry(self, node: Json, step: Element, at: Schema, edit: Edit) -> Json:
        entries = node.setdefault(self._name(node, step, at), [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise self._refused(edit, f"{step.name} is not a list and has no keys", "Leave the keys out")
        for entry in entries:
            if has_keys(entry, step):
                existing: Json = entry
                return existing
        place = (*at, step.name)
        made = {self._names.written(place, name): self._names.key(place, name, text) for name, text in step.keys}
        entries.append(made)
        return made

    def _exclude(self, node: Json, name: str, at: Schema) -> None:
        """Remove what a child excludes that is to be set."""
        rivals = self._names.rivals(at, name)
        if not rivals:
            return
        self._made[id(node), name] = node
        for rival in [rival for rival in node if bare(rival) in rivals and (id(node), bare(rival)) not in self._made]:
            del node[rival]

    def _note(self, value: Any, at: Schema) -> None:
        """Remember the nodes in cases that a value contains."""
        if not self._names.has_choices(at):
            return
        for node in value if isinstance(value, list) else [value]:
            for name, child in node.items() if isinstance(node, dict) else ():
                if self._names.rivals(at, bare(name)):
                    self._made[id(node), bare(name)] = node
                self._note(child, (*at, bare(name)))

    def _name(self, node: Json, step: Element, at: Schema) -> str:
        """The stored name of this child, or the learnt one if it is new."""
        return next((name for name in node if bare(name) == step.name), self._names.written(at, step.name))

    def _check(self, old: Any, new: Any, edit: Edit) -> None:
        """Refuse a leaf in place of a container, and a container in place of a leaf."""
        fits = isinstance(old, dict) == isinstance(new, dict) and (isinstance(new, list) or not is_list(old))
        if old is None or fits:
            return
        raise self._refused(edit, "does not take a value of this kind", "Send what the path holds")

    def _merge(self, node: Json, value: Json, at: Schema) -> None:
        """Merge a container into another: leaves are replaced, containers and list entries merged."""
        for given, child in value.items():
            self._exclude(node, bare(given), at)
            name = self._name(node, Element(bare(given)), at)
            old = node.get(name)
            if isinstance(old, dict) and isinstance(child, dict):
                self._merge(old, child, (*at, bare(given)))
            elif is_list(old) and is_list(child):
                self._merge_entries(old, child, (*at, bare(given)))
            else:
                node[name] = copied(child)
                self._note(node[name], (*at, bare(given)))

    def _merge_entries(self, old: Any, new: Any, at: Schema) -> None:
        known = {tuple(sorted(self._names.keys_of(at[-1], entry).items())): entry for entry in old}
        for entry in new:
            keys = tuple(sorted(self._names.keys_of(at[-1], entry).items()))
            if keys and keys in known:
                self._merge(known[keys], entry, at)
            else:
                old.append(copied(entry))
                self._note(old[-1], at)

    def _refused(self, edit: Edit, problem: str, remedy: str) -> RequestRefused:
        path = "/" + "/".join(step.name for step in edit.path)
        return RequestRefused(f"{self._device}: {path}", problem, remedy)


def _delete(node: Any, path: tuple[Element, ...]) -> None:
    """Remove the nodes at a path, if any, and a list that has no entry left."""
    if not isinstance(node, dict):
        return
    if not path:
        node.clear()
        return
    step, rest = path[0], path[1:]
    for name in [name for name in node if step.name in (bare(name), ANY)]:
        child = node[name]
        if is_list(child):
            hit = [entry for entry in child if has_keys(entry, step)]
            if rest:
                for entry in hit:
                    _delete(entry, rest)
            else:
                node[name] = [entry for entry in child if entry not in hit]
                if not node[name]:
                    del node[name]
        elif rest:
            _delete(child, rest)
        elif not step.keys:
            del node[name]

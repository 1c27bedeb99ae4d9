"""A configuration as a JSON tree (RFC 7951) that gNMI edits by paths.

Names match with and without their module prefix. A new name is stored with the prefix that the tree or a learnt tree
has for it, so that requests with and without prefixes give equal trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from railfab.device import DeviceModel
from railfab.gnmi.paths import ANY, ANY_DEPTH, Element
from railfab.gnmi.target import Edit, Found, Operation, RequestRefused
from railfab.platforms.shared import json_tree
from railfab.platforms.shared.json_tree import Json, bare, tree_of

KeysOf = Callable[[str, Json], tuple[str, ...]]
"""Names of the keys of a list entry, from the list's name and the entry; none when the list is not known."""

Schema = tuple[str, ...]


class Names:
    """The module prefixes of names, learnt from trees."""

    def __init__(self, keys_of: KeysOf) -> None:
        self._keys_of = keys_of
        self._written: dict[Schema, str] = {}
        self._numeric: set[Schema] = set()

    def learn(self, tree: Json, at: Schema = ()) -> None:
        """Learn the prefixes of a tree, and which leaves are numbers."""
        for name, child in tree.items():
            place = (*at, bare(name))
            self._written[place] = name
            for entry in child if isinstance(child, list) else [child]:
                if isinstance(entry, dict):
                    self.learn(entry, place)
                elif isinstance(entry, int):
                    self._numeric.add(place)

    def written(self, at: Schema, name: str) -> str:
        return self._written.get((*at, bare(name)), name)

    def adopted(self, value: Any, at: Schema) -> Any:
        """A client's value with the names below `at` as they are stored."""
        if isinstance(value, dict):
            return {self.written(at, name): self.adopted(child, (*at, bare(name))) for name, child in value.items()}
        return [self.adopted(child, at) for child in value] if isinstance(value, list) else value

    def key(self, at: Schema, name: str, value: str) -> Any:
        """A key's value as a JSON value."""
        return int(value) if (*at, name) in self._numeric and value.isdigit() else value

    def keys_of(self, name: str, entry: Json) -> dict[str, str]:
        """The keys of a list entry, as in a path."""
        plain = {bare(key): child for key, child in entry.items()}
        return {key: _identity(_text(plain[key])) for key in self._keys_of(name, plain)}


class JsonDatastore:
    """The configuration of one virtual switch; see `railfab.platforms.contract.Datastore`.

    factory: the configuration of a new switch. rendered: one from which the module prefixes of names are learnt.
    configured: whether a tree has more than the factory configuration. parse: tree to model.
    """

    def __init__(
        self,
        device: str,
        keys_of: KeysOf,
        *,
        factory: Json,
        rendered: Json,
        configured: Callable[[Json], bool],
        parse: Callable[[Json], DeviceModel],
    ) -> None:
        self.running = factory
        self._device = device
        self._names = Names(keys_of)
        self._configured = configured
        self._parse = parse
        for tree in (factory, rendered):
            self._names.learn(tree)

    def merged(self, tree: Json) -> Json:
        """The running configuration with a rendered one laid over it."""
        merged: Json = overlaid(self.running, tree, self._names)
        return merged

    def edited(self, edits: Sequence[Edit]) -> Json:
        return edited(self.running, edits, self._names, self._device)

    def replaced(self, text: str) -> Json:
        return tree_of(text, self._device)

    def text(self) -> str:
        return json_tree.text(self.running)

    def model(self, configuration: Json) -> DeviceModel | None:
        return self._parse(configuration) if self._configured(configuration) else None

    def commit(self, configuration: Json) -> None:
        changed = {name: child for name, child in configuration.items() if self.running.get(name) is not child}
        self._names.learn(changed)
        self.running = configuration

    def get(self, configuration: Json, path: tuple[Element, ...], state: list[Found]) -> list[Found]:
        answers = {answer.path: answer.value for answer in found(configuration, path, self._names)}
        for answer in state:
            held = answers.get(answer.path)
            answers[answer.path] = answer.value if held is None else overlaid(held, answer.value, self._names)
        return [Found(*answer) for answer in answers.items()]

    def selected(self, configuration: Json, pattern: tuple[Element, ...]) -> Iterator[tuple[tuple[Element, ...], Any]]:
        return selected(configuration, pattern, self._names)


def edited(root: Json, edits: Sequence[Edit], names: Names, device: str) -> Json:
    """The tree after a Set, which shares the top-level containers that no edit names with the given one.

    The given one stays as it is. Raises RequestRefused when an edit does not fit the tree.
    """
    names_edited = {edit.path[0].name if edit.path else ANY for edit in edits}
    everything = bool(names_edited & {ANY, ANY_DEPTH})
    tree = {name: copied(child) if everything or bare(name) in names_edited else child for name, child in root.items()}
    for edit in edits:
        _Editor(names, device).apply(tree, edit)
    return tree


def copied(value: Any) -> Any:
    """A deep copy of a JSON value; five times as fast as `copy.deepcopy`."""
    if isinstance(value, dict):
        return {name: copied(child) for name, child in value.items()}
    return [copied(child) for child in value] if isinstance(value, list) else value


def found(root: Json, path: tuple[Element, ...], names: Names) -> list[Found]:
    """The nodes at a path, which may hold wildcards and leave keys out."""
    places: list[tuple[tuple[Element, ...], Any]] = [((), root)]
    for step in path:
        places = [((*at, element), child) for at, node in places for element, child in _children(node, step, names)]
    return [Found(at, value) for at, value in places]


def selected(root: Json, pattern: tuple[Element, ...], names: Names) -> Iterator[tuple[tuple[Element, ...], Any]]:
    """The leaves and leaf-lists at or below a path, which may hold wildcards; an empty container is none.

    One below `...` may be returned more than once.
    """
    yield from _selected(root, (), pattern, names)


def _selected(
    node: Any, at: tuple[Element, ...], pattern: tuple[Element, ...], names: Names
) -> Iterator[tuple[tuple[Element, ...], Any]]:
    if not pattern:
        yield from _walk(node, at, names)
        return
    step, rest = pattern[0], pattern[1:]
    if step.name == ANY_DEPTH:
        yield from _selected(node, at, rest, names)
        step, rest = Element(ANY), pattern
    for element, child in _children(node, step, names):
        yield from _selected(child, (*at, element), rest, names)


def _walk(node: Any, at: tuple[Element, ...], names: Names) -> Iterator[tuple[tuple[Element, ...], Any]]:
    if not isinstance(node, dict):
        yield at, node
        return
    for name, child in node.items():
        if _is_list(child):
            for entry in child:
                yield from _walk(entry, (*at, _element(bare(name), entry, names)), names)
        else:
            yield from _walk(child, (*at, Element(bare(name))), names)


def _children(node: Any, step: Element, names: Names) -> Iterator[tuple[Element, Any]]:
    """The children of a node that match a step of a path."""
    if not isinstance(node, dict):
        return
    for name, child in node.items():
        if step.name not in (bare(name), ANY):
            continue
        if _is_list(child):
            for entry in child:
                if _fits(entry, step):
                    yield _element(bare(name), entry, names), entry
        elif not step.keys:
            yield Element(bare(name)), child


def _element(name: str, entry: Json, names: Names) -> Element:
    return Element(name, tuple(sorted(names.keys_of(name, entry).items())))


def _fits(entry: Json, step: Element) -> bool:
    """Whether a list entry has the keys of a step; an identity matches with and without its module."""
    if not step.keys:
        return True
    plain = {bare(name): _text(child) for name, child in entry.items() if not isinstance(child, (dict, list))}
    return all(key in plain and value in (ANY, plain[key], _identity(plain[key])) for key, value in step.keys)


def _identity(value: str) -> str:
    """An identity without its module; other values unchanged (an IPv6 address has more than one colon)."""
    return bare(value) if value.count(":") == 1 else value


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def overlaid(config: Any, state: Any, names: Names) -> Any:
    """Two trees merged, list entry by list entry; where both have a leaf, that of the second is used.

    Neither is changed, and the result shares their parts.
    """
    if not isinstance(config, dict) or not isinstance(state, dict):
        return state
    written = {bare(name): name for name in config}
    merged = dict(config)
    for name, child in state.items():
        own = written.get(bare(name), name)
        old = merged.get(own)
        if isinstance(old, list) and isinstance(child, list):
            merged[own] = _overlaid_list(bare(name), old, child, names)
        else:
            merged[own] = child if old is None else overlaid(old, child, names)
    return merged


def _overlaid_list(name: str, config: list[Any], state: list[Any], names: Names) -> list[Any]:
    if not all(isinstance(entry, dict) for entry in (*config, *state)):
        return state
    merged = list(config)
    places = {_keys(name, entry, names): index for index, entry in enumerate(config)}
    for entry in state:
        place = places.get(_keys(name, entry, names))
        if place is None:
            merged.append(entry)
        else:
            merged[place] = overlaid(merged[place], entry, names)
    return merged


def _keys(name: str, entry: Json, names: Names) -> frozenset[tuple[str, str]]:
    return frozenset(names.keys_of(name, entry).items())


class _Editor:
    """One edit of a tree, in place."""

    def __init__(self, names: Names, device: str) -> None:
        self._names = names
        self._device = device

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
        value = self._names.adopted(edit.value, (*at, last.name))
        name = self._name(node, last, at)
        if last.keys:
            self._put_entry(node, edit, at, value)
        elif edit.operation is Operation.REPLACE or name not in node:
            self._check(node.get(name), value, edit)
            node[name] = value
        else:
            self._check(node[name], value, edit)
            self._merge(node, {name: value}, at)

    def _put_entry(self, node: Json, edit: Edit, at: Schema, value: Any) -> None:
        if not isinstance(value, dict):
            raise self._refused(edit, "is a list entry", "Send a JSON object")
        step = edit.path[-1]
        entry = self._entry(node, step, at, edit)
        keys = {name: child for name, child in entry.items() if bare(name) in dict(step.keys)}
        if not _fits({**keys, **value}, step):
            raise self._refused(edit, "names other keys in its value", "Send the keys of the path, or none")
        if edit.operation is Operation.REPLACE:
            entry.clear()
        self._merge(entry, {**keys, **value}, (*at, step.name))

    def _descend(self, node: Json, step: Element, at: Schema, edit: Edit) -> Json:
        """The container or list entry of this step; added if it is missing."""
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
            if _fits(entry, step):
                existing: Json = entry
                return existing
        place = (*at, step.name)
        made = {self._names.written(place, name): self._names.key(place, name, text) for name, text in step.keys}
        entries.append(made)
        return made

    def _name(self, node: Json, step: Element, at: Schema) -> str:
        """The stored name of this child, or the learnt one if it is new."""
        return next((name for name in node if bare(name) == step.name), self._names.written(at, step.name))

    def _check(self, old: Any, new: Any, edit: Edit) -> None:
        """Refuse a leaf in place of a container, and a container in place of a leaf."""
        fits = isinstance(old, dict) == isinstance(new, dict) and (isinstance(new, list) or not _is_list(old))
        if old is None or fits:
            return
        raise self._refused(edit, "does not take a value of this kind", "Send what the path holds")

    def _merge(self, node: Json, value: Json, at: Schema) -> None:
        """Merge a container into another: leaves are replaced, containers and list entries merged."""
        for given, child in value.items():
            name = self._name(node, Element(bare(given)), at)
            old = node.get(name)
            if isinstance(old, dict) and isinstance(child, dict):
                self._merge(old, child, (*at, bare(given)))
            elif _is_list(old) and _is_list(child):
                self._merge_entries(old, child, (*at, bare(given)))
            else:
                node[name] = copied(child)

    def _merge_entries(self, old: Any, new: Any, at: Schema) -> None:
        known = {tuple(sorted(self._names.keys_of(at[-1], entry).items())): entry for entry in old}
        for entry in new:
            keys = tuple(sorted(self._names.keys_of(at[-1], entry).items()))
            if keys and keys in known:
                self._merge(known[keys], entry, at)
            else:
                old.append(copied(entry))

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
        if _is_list(child):
            hit = [entry for entry in child if _fits(entry, step)]
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

"""Read a gnmic configuration file: targets, subscriptions, outputs, and the place of every other setting.

Source: openconfig/gnmic, docs/user_guide (targets, subscriptions, outputs) and pkg/config (August 2026). Secrets are
not kept: of a password only its line, its variable and whether two are equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from railfab.endpoints.model import ENCODINGS
from railfab.imports.document import read_text, read_tree
from railfab.imports.existing import SourceError, raise_first
from railfab.imports.gnmic.settings import GnmicSetting, mistake, settings
from railfab.yaml_reader.files import Unread
from railfab.yaml_reader.tree import Keyed, Listed, Scalar, Tree, words

MAX_BYTES = 20_000_000
REMEDIES = {
    Unread.MISSING: "Name a gnmic configuration",
    Unread.REFUSED: "Name a readable file",
    Unread.ENCODING: "Name a gnmic configuration in YAML",
    Unread.SIZE: "Name a gnmic configuration",
}
DEFAULT_PORT = 57400
VARIABLE = re.compile(r"\$(?:\{(?P<name>\w+)\}|(?P<bare>[A-Za-z_]\w*))")
PARTS = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|us|µs|ns|s)")
SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
TRUE = frozenset(("true", "t", "1"))
ORIGIN = re.compile(r"(?P<origin>[^/:\[]*):(?P<path>/.*|)")
"""Of a path (pkg/api/path/path.go, ParsePath): a word before `:/`, or before `:` at the end, and not after a slash."""
GLOBAL_PATHS = "subscribe-path"
GLOBAL_KEYS = (
    *("mode", "stream-mode", "sample-interval", "heartbeat-interval", "suppress-redundant", "updates-only"),
    *("prefix", "target", "set-target"),
)
"""Keys of a subscription that stand at the top of the file as `subscribe-KEY`."""
PROMETHEUS = ("prometheus", "prometheus_write")


@dataclass(frozen=True, slots=True)
class Reference:
    """A user name or a secret of the file. number: equal for equal texts. text: None for a secret.

    variable: the environment variable that it is read from, if it is.
    """

    line: int
    number: int
    variable: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GnmicTarget:
    """A target with what it inherits from the top of the file. hosts: addresses with their ports.

    tags: `event-tags`, labels of all its metrics. encoding: as of a subscription.
    """

    name: str
    line: int
    hosts: tuple[tuple[str, int], ...]
    username: Reference | None
    password: Reference | None
    token: Reference | None
    insecure: bool
    skip_verify: bool
    ca: str | None
    cert: str | None
    key: str | None
    server_name: str | None
    subscriptions: tuple[str, ...]
    tags: Mapping[str, str]
    encoding: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GnmicSubscription:
    """Paths that are subscribed to in one mode. mode: once, poll, sample, on_change or target_defined.

    encoding: as railfab writes it, such as `json_ietf`; empty where the subscription states none. by_default: whether
    the file leaves the mode of the stream to gnmic, which takes target_defined.
    """

    name: str
    line: int
    paths: tuple[str, ...]
    mode: str
    interval_s: float | None
    target: str
    set_target: bool
    heartbeat_s: float | None = None
    suppress_redundant: bool = False
    updates_only: bool = False
    encoding: str = ""
    by_default: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GnmicOutput:
    """An output. prefix, subscription_name: what metric names begin with, of the Prometheus outputs.

    strings: whether texts are exposed, as labels of a metric that is 1.
    """

    name: str
    line: int
    type: str
    prefix: str
    subscription_name: bool
    strings: bool
    listen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GnmicConfig:
    """A gnmic configuration. unset: variables that the file reads and the environment lacks, with their lines."""

    path: Path
    targets: tuple[GnmicTarget, ...]
    subscriptions: tuple[GnmicSubscription, ...]
    outputs: tuple[GnmicOutput, ...]
    settings: tuple[GnmicSetting, ...]
    unset: Mapping[str, int]


def read_gnmic(path: Path, environment: Mapping[str, str]) -> GnmicConfig:
    """Read a file. environment: values of its variables. Raises SourceError for what is no gnmic configuration."""
    tree = read_tree(str(path), read_text(path, MAX_BYTES, REMEDIES))
    if not isinstance(tree, Keyed):
        raise SourceError(f"{path}:{tree.line}", "contains no mapping", "Name a gnmic configuration in YAML")
    if not tree.entries.keys() & {"targets", "address", "subscriptions", "outputs", "loader", "tunnel-server"}:
        problem = "has neither targets nor subscriptions nor outputs"
        raise SourceError(str(path), problem, "Name a gnmic configuration in YAML")
    reader = _ConfigReader(path, tree, environment)
    stated = [*settings(tree)]
    raise_first(str(path), [*reader.mistakes(stated)])
    return reader.config(tuple(setting for setting, _ in stated))


@dataclass(slots=True)
class _ConfigReader:
    path: Path
    tree: Keyed
    environment: Mapping[str, str]
    unset: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def mistakes(self, stated: Iterable[tuple[GnmicSetting, Tree]]) -> Iterator[SourceError]:
        """An error for each value that gnmic refuses or ignores."""
        for setting, value in stated:
            if wrong := mistake(setting, self._with_variables(value)):
                yield SourceError(f"{self.path}:{setting.line}: {setting.place}", *wrong)

    def _with_variables(self, value: Tree) -> Tree:
        """A value as it is checked; a variable that is not set is named where the value is read."""
        if not isinstance(value, Scalar) or "$" not in value.text:
            return value
        text = VARIABLE.sub(lambda match: self.environment.get(match["name"] or match["bare"], ""), value.text)
        return Scalar(text, value.line, plain=False)

    def config(self, stated: tuple[GnmicSetting, ...]) -> GnmicConfig:
        subscriptions = tuple(self._subscriptions())
        return GnmicConfig(
            path=self.path,
            targets=tuple(self._targets()),
            subscriptions=subscriptions,
            outputs=tuple(self._outputs()),
            settings=self._without_targets(stated),
            unset=self.unset,
        )

    def _without_targets(self, stated: tuple[GnmicSetting, ...]) -> tuple[GnmicSetting, ...]:
        """The settings that count: none of the targets where `address` stands beside them."""
        if not _addresses(self.tree.entries.get("address")) or "targets" not in self.tree.entries:
            return stated
        unread = GnmicSetting("targets", "targets beside address", self.tree.lines["targets"])
        return (*(one for one in stated if one.pattern.partition(".")[0] != "targets"), unread)

    def _targets(self) -> Iterator[GnmicTarget]:
        """Those of `address` alone where it is set, as in gnmic."""
        section = self.tree.entries.get("targets")
        addresses = _addresses(self.tree.entries.get("address"))
        if isinstance(section, Keyed) and not addresses:
            for name, entry in section.entries.items():
                yield self._target(name, section.lines[name], entry if isinstance(entry, Keyed) else Keyed({}, {}, 0))
            return
        for address, line in addresses or _addresses(section):
            yield self._target(address, line, Keyed({}, {}, 0))

    def _target(self, key: str, line: int, entry: Keyed) -> GnmicTarget:
        name = self._expanded(words(entry.entries).get("name") or key, line)
        address = self._expanded(words(entry.entries).get("address") or key, line)
        return GnmicTarget(
            name=name,
            line=line,
            hosts=tuple(self._host(text.strip(), line) for text in address.split(",")),
            username=self._reference(entry, "username", secret=False),
            password=self._reference(entry, "password", secret=True),
            token=self._reference(entry, "token", secret=True),
            insecure=self._flag(entry, "insecure"),
            skip_verify=self._flag(entry, "skip-verify"),
            ca=self._inherited(entry, "tls-ca"),
            cert=self._inherited(entry, "tls-cert"),
            key=self._inherited(entry, "tls-key"),
            server_name=self._inherited(entry, "tls-server-name"),
            encoding=_encoding(self._inherited(entry, "encoding")),
            tags=words(tags.entries) if isinstance(tags := entry.entries.get("event-tags"), Keyed) else {},
            subscriptions=tuple(
                self._expanded(text.text, text.line) for text in _texts(entry.entries.get("subscriptions"))
            ),
        )

    def _host(self, address: str, line: int) -> tuple[str, int]:
        """Host and port: `name`, `name:port`, `[::1]:port` or `::1`. Raises SourceError for another port."""
        host, colon, port = address.rpartition(":")
        if not colon or (":" in host.strip("[]") and not host.endswith("]")):
            host, port = address, words(self.tree.entries).get("port", str(DEFAULT_PORT))
        if not port.isdecimal() or not 1 <= int(port) <= 65_535:
            problem = f"target address {address!r} has no port number"
            raise SourceError(f"{self.path}:{line}", problem, "Write HOST:PORT with a port of 1 to 65535")
        return host.strip("[]"), int(port)

    def _entry(self, entry: Keyed, key: str) -> Scalar | None:
        """A plain value of a target, else of the top of the file; None for none, null or an empty text."""
        for level in (entry, self.tree):
            found = level.entries.get(key)
            if isinstance(found, Scalar) and not found.is_null:
                return found if found.text else None
        return None

    def _inherited(self, entry: Keyed, key: str) -> str | None:
        found = self._entry(entry, key)
        return self._expanded(found.text, found.line) if found else None

    def _flag(self, entry: Keyed, key: str) -> bool:
        return (self._inherited(entry, key) or "").lower() in TRUE

    def _reference(self, entry: Keyed, key: str, *, secret: bool) -> Reference | None:
        """gnmic expands a secret only where it begins with `$`."""
        found = self._entry(entry, key)
        if found is None:
            return None
        variable = VARIABLE.fullmatch(found.text)
        number = self.numbers.setdefault(found.text, len(self.numbers))
        return Reference(
            line=found.line,
            number=number,
            variable=(variable["name"] or variable["bare"]) if variable else None,
            text=None if secret or variable else self._expanded(found.text, found.line),
        )

    def _subscriptions(self) -> Iterator[GnmicSubscription]:
        section = self.tree.entries.get("subscriptions")
        if isinstance(section, Keyed):
            for name, entry in section.entries.items():
                if isinstance(entry, Keyed):
                    yield from self._subscribed(self._expanded(name, section.lines[name]), entry, entry)
        if paths := _texts(self.tree.entries.get(GLOBAL_PATHS)):
            entry = Keyed({"paths": Listed(list(paths), paths[0].line)}, {}, paths[0].line)
            for key in GLOBAL_KEYS:
                if stated := self.tree.entries.get(f"subscribe-{key}"):
                    entry.entries[key] = stated
            yield from self._subscribed("default", entry, entry)

    def _subscribed(self, name: str, entry: Keyed, around: Keyed) -> Iterator[GnmicSubscription]:
        """A subscription, and those in its `stream-subscriptions`. around: of the prefix, target and mode."""
        stated, outer = words(entry.entries), words(around.entries)
        paths = [self._expanded(text.text, text.line) for text in _texts(entry.entries.get("paths"))]
        prefix = self._expanded(outer.get("prefix", ""), entry.line)
        if paths:
            mode = self._expanded(outer.get("mode", ""), entry.line).lower() or "stream"
            stream = self._expanded(stated.get("stream-mode", ""), entry.line).lower().replace("-", "_")
            yield GnmicSubscription(
                name=name,
                line=entry.line,
                paths=tuple(_joined(prefix, path) for path in paths),
                mode=(stream or "target_defined") if mode == "stream" else mode,
                interval_s=_seconds(stated.get("sample-interval")),
                target=self._expanded(outer.get("target", ""), entry.line),
                set_target=outer.get("set-target", "").lower() in TRUE,
                heartbeat_s=_seconds(stated.get("heartbeat-interval")),
                suppress_redundant=stated.get("suppress-redundant", "").lower() in TRUE,
                updates_only=outer.get("updates-only", "").lower() in TRUE,
                encoding=_encoding(outer.get("encoding")),
                by_default=mode == "stream" and not stream,
            )
        inner = entry.entries.get("stream-subscriptions")
        for one in inner.entries if isinstance(inner, Listed) else ():
            if isinstance(one, Keyed):
                yield from self._subscribed(name, one, entry)

    def _outputs(self) -> Iterator[GnmicOutput]:
        section = self.tree.entries.get("outputs")
        for name, entry in section.entries.items() if isinstance(section, Keyed) else ():
            stated = words(entry.entries) if isinstance(entry, Keyed) else {}
            yield GnmicOutput(
                name=name,
                line=entry.line,
                type=stated.get("type", ""),
                prefix=stated.get("metric-prefix", ""),
                subscription_name=stated.get("append-subscription-name", "").lower() in TRUE,
                strings=stated.get("strings-as-labels", "").lower() in TRUE,
                listen=self._expanded(stated.get("listen", ""), entry.line),
            )

    def _expanded(self, text: str, line: int) -> str:
        """With variables replaced as Go's os.ExpandEnv does it: one that is not set is empty."""

        def value(match: re.Match[str]) -> str:
            name = match["name"] or match["bare"]
            if name not in self.environment:
                self.unset.setdefault(name, line)
            return self.environment.get(name, "")

        return VARIABLE.sub(value, text)


def _texts(tree: Tree | None) -> list[Scalar]:
    """The texts of a list, or of a single value."""
    entries = tree.entries if isinstance(tree, Listed) else [tree]
    return [entry for entry in entries if isinstance(entry, Scalar) and not entry.is_null]


def _addresses(tree: Tree | None) -> list[tuple[str, int]]:
    """Addresses with commas or spaces between them, and their lines."""
    return [(address, text.line) for text in _texts(tree) for address in text.text.replace(",", " ").split()]


def _joined(prefix: str, path: str) -> str:
    """A path below a prefix; its origin, else that of the prefix, comes first."""
    (outer, above), (inner, rest) = _origin(prefix), _origin(path)
    origin = inner or outer
    below = "/".join(part.strip("/") for part in (above, rest) if part.strip("/"))
    return f"{origin}:/{below}" if origin else f"/{below}"


def _origin(path: str) -> tuple[str, str]:
    """The origin of a path, empty for none, and the path without it."""
    stated = ORIGIN.fullmatch(path)
    return (stated["origin"], stated["path"]) if stated else ("", path)


def _encoding(text: str | None) -> str:
    """The name of an encoding as railfab writes it; empty for none, and for one that it does not know."""
    found = (text or "").lower().replace("-", "_")
    return found if found in ENCODINGS else ""


def _seconds(text: str | None) -> float | None:
    """A duration of Go [s], such as `1m30s`; a number alone is nanoseconds. None for none and for zero."""
    if text is None:
        return None
    if text.isdecimal():
        return int(text) * 1e-9 or None
    return sum(float(number) * SECONDS[unit] for number, unit in PARTS.findall(text)) or None

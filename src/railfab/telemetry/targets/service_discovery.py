"""The format of Prometheus' HTTP service discovery, read for targets and written for our own endpoints.

A list of `{"targets": ["host:port"], "labels": {...}}`. Labels that begin with `__` do not reach metrics, as in
Prometheus; some of them are read, such as those of NetBox's plug-in (`__meta_netbox_platform_slug`).
Source: Prometheus, Writing HTTP Service Discovery; FlxPeters/netbox-plugin-prometheus-sd, `api/utils.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from railfab.endpoints import Endpoint
from railfab.endpoints.keys import unknown_key
from railfab.endpoints.model import faults
from railfab.telemetry.targets.known import TelemetryOf, on_known_platform, telemetry_of
from railfab.telemetry.targets.loader import LoadFailed, PartlyFailed
from railfab.telemetry.targets.spec import TargetSpec

SUBSCRIBED = ("gnmi_interval_s", "gnmi_mode", "gnmi_encoding", "gnmi_heartbeat_s", "gnmi_suppress_redundant")
"""Settings that an entry may have for its targets, by default in the label of this name after `__`."""
OWN = "__gnmi_"
"""Begin of our labels."""
MOST_TARGETS = 100_000
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
TARGET = re.compile(
    r"\[(?P<v6>[^\]\s/]+(?:/\d{1,3})?)\](?::(?P<p6>\d{1,5}))?|(?P<host>[^:\s/]+(?:/\d{1,3})?)(?::(?P<p>\d{1,5}))?"
)
REMEDY = 'Serve a list of {"targets": ["HOST:PORT"], "labels": {"platform": "..."}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """How an entry becomes a target.

    settings: what holds for all targets and is never taken from the list, because the list is not ours: CA, client
    certificate, credentials, skip_verify, plaintext; its gnmi_port and platform hold where an entry has none.
    name_labels, platform_labels: the first of these labels that an entry has; without one, the name is the host.
    subscribed_labels: the label of each setting of SUBSCRIBED, where it is not that one.
    address_label: has the host in place of the target's text, such as `__meta_netbox_primary_ip`. platforms: names of
    platforms elsewhere to railfab's, such as a slug of NetBox.
    """

    settings: Endpoint = field(default_factory=lambda: Endpoint(name="", platform="", host="", gnmi_port=57400))
    name_labels: Sequence[str] = ("device", "__meta_netbox_name")
    platform_labels: Sequence[str] = ("platform", "__meta_netbox_platform_slug")
    subscribed_labels: Mapping[str, str] = field(default_factory=dict)
    address_label: str | None = None
    platforms: Mapping[str, str] = field(default_factory=dict)
    telemetry: TelemetryOf = telemetry_of


def parse_targets(where: str, body: bytes, discovery: Discovery) -> tuple[TargetSpec, ...]:
    """The targets in a document; one that is there twice with the same content counts once.

    Raises PartlyFailed for wrong entries beside good ones, and LoadFailed for a list without a good one.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise LoadFailed(where, f"is not JSON ({str(error).splitlines()[0]})", REMEDY) from None
    if not isinstance(document, list):
        raise LoadFailed(where, "is not a list", REMEDY)
    parser = _Parser(discovery)
    for number, entry in enumerate(document, 1):
        parser.read(f"{where}: entry {number}", entry)
        if len(parser.found) > MOST_TARGETS:
            raise LoadFailed(where, f"has more than {MOST_TARGETS} targets", "Serve a part of them")
    return parser.result()


def sd_document(
    shards: Mapping[str, str], *, path: str = "/metrics", labels: Mapping[str, str] | None = None, parent: str = ""
) -> str:
    """A document with one Prometheus target for each shard. shards: `host:port` or `host:port/path`, by their number.

    Each has the label `shard`, its number. parent: of what starts the shards, which has metrics of its own; another
    target, without that label.
    """
    found = [(address, {"shard": number}) for number, address in shards.items()]
    return json.dumps([_entry(*one, path, labels or {}) for one in found + [(parent, {})] * bool(parent)], indent=2)


def _entry(shard: str, own: Mapping[str, str], path: str, labels: Mapping[str, str]) -> dict[str, object]:
    address, slash, rest = shard.partition("/")
    return {"targets": [address], "labels": {**labels, "__metrics_path__": f"/{rest}" if slash else path, **own}}


@dataclass(slots=True)
class _Parser:
    """Entries of a list, one after the other. failures: of those that are left out, with the names of their targets."""

    discovery: Discovery
    found: dict[str, TargetSpec] = field(default_factory=dict)
    failures: list[LoadFailed] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)

    def read(self, where: str, entry: Any) -> None:
        try:
            targets, labels = _entry_parts(where, entry)
        except LoadFailed as failure:
            self.failures.append(failure)
            return
        for target in targets:
            try:
                self._add(where, _target(where, target, labels, self.discovery))
            except LoadFailed as failure:
                self.failures.append(failure)
                self.left_out.add(_first(labels, self.discovery.name_labels) or target.partition("/")[0])

    def _add(self, where: str, spec: TargetSpec) -> None:
        if self.found.setdefault(spec.name, spec) != spec:
            problem = f"target {spec.name!r} has another content in an entry before"
            raise LoadFailed(where, problem, "Keep one of them")

    def result(self) -> tuple[TargetSpec, ...]:
        specs = tuple(self.found.values())
        if self.failures and specs:
            raise PartlyFailed(self.failures, specs, frozenset(self.left_out))
        if self.failures:
            raise self.failures[0]
        return specs


def _entry_parts(where: str, entry: Any) -> tuple[list[str], dict[str, str]]:
    """Targets and labels of an entry."""
    if not isinstance(entry, dict):
        raise LoadFailed(where, "is not a mapping", REMEDY)
    targets, labels = entry.get("targets"), entry.get("labels") or {}
    if not isinstance(targets, list) or not all(isinstance(target, str) and target for target in targets):
        raise LoadFailed(where, "targets is not a list of texts", REMEDY)
    if not isinstance(labels, dict) or not all(isinstance(value, str) for value in labels.values()):
        raise LoadFailed(where, "labels is not a mapping of texts", REMEDY)
    if wrong := [name for name in labels if not LABEL.fullmatch(name)]:
        raise LoadFailed(where, f"{wrong[0]!r} is not the name of a label", REMEDY)
    return targets, labels


def _target(where: str, target: str, labels: Mapping[str, str], discovery: Discovery) -> TargetSpec:
    host, port = _address(where, target, discovery.settings.gnmi_port)
    said = _first(labels, discovery.platform_labels)
    named = discovery.platforms.get(said, said) or discovery.settings.platform
    endpoint = replace(
        discovery.settings,
        name=_first(labels, discovery.name_labels) or host,
        platform=named or "unknown",
        host=labels.get(discovery.address_label or "") or host,
        gnmi_port=port,
        **_subscribed(f"{where}: {target}", labels, discovery.subscribed_labels),
    )
    for fault in faults(endpoint):
        raise LoadFailed(f"{where}: {target}", fault.problem, fault.remedy)
    endpoint, telemetry = on_known_platform(endpoint, discovery.telemetry)
    shown = {name: value for name, value in labels.items() if not name.startswith("__") and name != "device"}
    return TargetSpec(
        name=endpoint.name,
        platform=endpoint.platform,
        endpoint=endpoint,
        telemetry=telemetry,
        labels={**shown, "platform": endpoint.platform},
    )


def _subscribed(where: str, labels: Mapping[str, str], named: Mapping[str, str]) -> dict[str, Any]:
    """The settings of SUBSCRIBED that the labels have, in which all values are texts."""
    known = {named.get(key, f"__{key}"): key for key in SUBSCRIBED}
    for label in labels:
        if label.startswith(OWN) and label not in known:
            raise LoadFailed(where, *unknown_key(label, known))
    return {key: _value(labels[label]) for label, key in known.items() if labels.get(label)}


def _value(text: str) -> str | float | bool:
    """A number or a truth value where the text is one."""
    with suppress(ValueError):
        return float(text)
    return {"true": True, "false": False}.get(text.lower(), text)


def _first(labels: Mapping[str, str], names: Sequence[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def _address(where: str, target: str, port: int | None) -> tuple[str, int | None]:
    """Host and port of `host`, `host:port`, `[address]:port` or an IPv6 address; a mask stays with the host."""
    found = TARGET.fullmatch(target)
    if found is None and re.fullmatch(r"[0-9a-fA-F:.]+(?:/\d{1,3})?", target):
        return target, port
    if found is None:
        raise LoadFailed(f"{where}: {target!r}", "is not of the form host:port", REMEDY)
    digits = found["p6"] or found["p"]
    return found["v6"] or found["host"], int(digits) if digits else port

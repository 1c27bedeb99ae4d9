"""The files that a conversion writes: hosts.yml and mappings.yml."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from railfab.endpoints.keys import DATA_KEYS
from railfab.gnmi.paths import elements
from railfab.imports.gnmic.conversion import Conversion, Subscribed, Target
from railfab.imports.gnmic.names import OTHERS

HOSTS, MAPPINGS = "hosts.yml", "mappings.yml"
PLAIN = re.compile(r"[A-Za-z][\w-]*")
OWN_LABELS = ("device", "platform", "groups")
WORDS = frozenset(("yes", "no", "on", "off", "true", "false", "null", "y", "n"))
"""What YAML reads as another kind of value."""
EXAMPLE = """#   leaf1:
#     hostname: 192.0.2.1
#     platform: srlinux
#     data: {gnmi_port: 57400, credentials: "env:RAILFAB"}
"""


def hosts_text(conversion: Conversion) -> str:
    """The targets as a Nornir SimpleInventory; credentials are references."""
    name = conversion.config.path.name
    if not conversion.targets:
        return f"# {name} lists no targets: it finds them elsewhere. Add each, as in\n{EXAMPLE}"
    lines = [f"# Targets of {name}. Credentials are references: nothing here is secret."]
    for target in conversion.targets:
        (host, port), *_ = target.source.hosts
        lines += [
            f"{_text(target.source.name)}:",
            f"  hostname: {_text(host)}",
            f"  platform: {_text(target.platform)}",
            "  data:",
            f"    gnmi_port: {port}",
            *(f"    {key}: {_text(value)}" for key, value in _settings(target)),
            *_labels_of(target),
        ]
    return "\n".join((*lines, ""))


def _settings(target: Target) -> Iterator[tuple[str, str | bool]]:
    source = target.source
    yield "credentials", target.credentials
    if target.gnmi_target:
        yield "gnmi_target", target.gnmi_target
    if source.insecure:
        yield "plaintext", True
        return
    if source.skip_verify:
        yield "skip_verify", True
    named = {"ca": source.ca, "client_cert": source.cert, "client_key": source.key, "tls_name": source.server_name}
    yield from ((key, value) for key, value in named.items() if value)


def _labels_of(target: Target) -> Iterator[str]:
    """The tags of a target as labels of its metrics, by names that Prometheus allows."""
    tags = {OTHERS.sub("_", name): value for name, value in target.source.tags.items()}
    free = {name: value for name, value in tags.items() if name not in (*DATA_KEYS, *OWN_LABELS)}
    if free:
        yield f"    metric_labels: [{', '.join(map(_text, free))}]"
        yield from (f"    {_text(name)}: {_text(value)}" for name, value in free.items())


def mappings_text(conversion: Conversion) -> str:
    """A mapping file with a template for each path that railfab's maps do not have.

    The templates are comments: gnmic's file names paths, and a metric needs a leaf, a name, a kind and labels.
    """
    without = [one for one in conversion.subscribed if one.platform and not one.rules]
    if not without:
        return f"# railfab's maps have every path of {conversion.config.path.name}.\nversion: 1\n"
    lines = [
        f"# Paths of {conversion.config.path.name} that railfab's maps do not have. For each leaf that you want:",
        "# remove the marks, put the leaf in place of LEAF, and say what it is. docs/telemetry.md has the format.",
        "version: 1",
        "# metrics:",
        *(line for number, one in enumerate(without, 1) for line in _metric(number, one)),
        "# platforms:",
    ]
    for name in dict.fromkeys(one.platform for one in without):
        mine = [(number, one) for number, one in enumerate(without, 1) if one.platform == name]
        lines += [f"#   {name}:", "#     subscriptions:", *(_subscription(one) for _, one in mine), "#     rules:"]
        lines += [_rule(number, one) for number, one in mine]
    return "\n".join((*lines, ""))


def _metric(number: int, one: Subscribed) -> Iterator[str]:
    labels = ", ".join(_labels(one.path).values())
    yield f"#   acme_metric_{number}: {{kind: gauge, help: Say what it is., labels: [{labels}]}}"


def _subscription(one: Subscribed) -> str:
    sampled = one.subscription.mode != "on_change"
    interval = f", interval_s: {one.subscription.interval_s:g}" if sampled and one.subscription.interval_s else ""
    target = f", target: {_text(one.subscription.target)}" if one.subscription.target else ""
    mode = "sample" if sampled else "on_change"
    return f"#       - {{path: {_text(one.path)}, mode: {mode}{interval}{target}}}"


def _rule(number: int, one: Subscribed) -> str:
    labels = _labels(one.path)
    steps = [
        step.name
        + "".join(f"[{key}={{{labels[step.name, key]}}}]" for key, text in step.keys if text == "*")
        + "".join(f"[{key}={text}]" for key, text in step.keys if text != "*")
        for step in elements(one.path)
    ]
    path = "/" + "/".join((*steps, "LEAF"))
    return f"#       - {{path: {_text(path)}, metric: acme_metric_{number}}}"


def _labels(path: str) -> dict[tuple[str, str], str]:
    """A label for each key with a wildcard: the name of its list, as railfab names them."""
    found = [(step.name, key) for step in elements(path) for key, text in step.keys if text == "*"]
    return {(name, key): "".join(c if c.isalnum() else "_" for c in name.lower()) for name, key in found}


def _text(value: str | bool) -> str:
    """A YAML scalar; a text in quotes where it could be read as something else."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if PLAIN.fullmatch(value) and value.lower() not in WORDS else json.dumps(value)

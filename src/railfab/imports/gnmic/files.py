"""The files that a conversion writes: hosts.yml and mappings.yml."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.endpoints.keys import DATA_KEYS
from railfab.gnmi.paths import elements
from railfab.imports.gnmic.conversion import Conversion, HostsTarget, Subscribed
from railfab.imports.gnmic.modes import asked_subscriptions, mode_keys, scalar
from railfab.imports.gnmic.names import OTHERS

HOSTS, MAPPINGS = "hosts.yml", "mappings.yml"
OWN_LABELS = ("device", "platform", "groups")
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
            f"{scalar(target.source.name)}:",
            f"  hostname: {scalar(host)}",
            f"  platform: {scalar(target.platform)}",
            "  data:",
            f"    gnmi_port: {port}",
            *(f"    {key}: {scalar(value)}" for key, value in _settings(target)),
            *_labels_of(target),
        ]
    return "\n".join((*lines, ""))


def _settings(target: HostsTarget) -> Iterator[tuple[str, str | bool | float]]:
    source = target.source
    yield "credentials", target.credentials
    if target.gnmi_target:
        yield "gnmi_target", target.gnmi_target
    if target.mode:
        yield "gnmi_mode", target.mode
    if target.encoding:
        yield "gnmi_encoding", target.encoding
    if target.interval_s:
        yield "gnmi_interval_s", target.interval_s
    if source.insecure:
        yield "plaintext", True
        return
    if source.skip_verify:
        yield "skip_verify", True
    named = {"ca": source.ca, "client_cert": source.cert, "client_key": source.key, "tls_name": source.server_name}
    yield from ((key, value) for key, value in named.items() if value)


def _labels_of(target: HostsTarget) -> Iterator[str]:
    """The tags of a target as labels of its metrics, by names that Prometheus allows."""
    tags = {OTHERS.sub("_", name): value for name, value in target.source.tags.items()}
    free = {name: value for name, value in tags.items() if name not in (*DATA_KEYS, *OWN_LABELS)}
    if free:
        yield f"    metric_labels: [{', '.join(map(scalar, free))}]"
        yield from (f"    {scalar(name)}: {scalar(value)}" for name, value in free.items())


def mappings_text(conversion: Conversion) -> str:
    """A mapping file: subscriptions of railfab's maps as gnmic's file asks for them, and templates of further paths.

    The templates are comments: gnmic's file names paths, and a metric needs a leaf, a name, a kind and labels.
    """
    without = [one for one in conversion.subscribed if one.platform and not one.rules]
    asked = asked_subscriptions(conversion)
    name = conversion.config.path.name
    if not without:
        lines = [f"# railfab's maps have every path of {name}."]
    else:
        lines = [
            f"# Paths of {name} that railfab's maps do not have. For each leaf that you want:",
            "# remove the marks, put the leaf in place of LEAF, and say what it is. docs/telemetry.md has the format.",
        ]
    if asked:
        lines.append("# Without marks: paths of railfab's maps, in the mode and encoding of that file.")
    lines.append("version: 1")
    if without:
        lines += ["# metrics:", *(line for number, one in enumerate(without, 1) for line in _metric(number, one))]
    names = dict.fromkeys((*asked, *(one.platform for one in without)))
    if names:
        lines.append(_marked("platforms:", marked=not asked))
    for platform in names:
        mine = [(number, one) for number, one in enumerate(without, 1) if one.platform == platform]
        lines += _platform_lines(platform, asked.get(platform, []), mine)
    return "\n".join((*lines, ""))


def _platform_lines(name: str, asked: list[str], without: list[tuple[int, Subscribed]]) -> Iterator[str]:
    yield from (_marked(line, marked=not asked) for line in (f"  {name}:", "    subscriptions:"))
    yield from (f"      - {entry}" for entry in asked)
    yield from (_subscription(one) for _, one in without)
    if without:
        yield "#     rules:"
        yield from (_rule(number, one) for number, one in without)


def _marked(line: str, *, marked: bool) -> str:
    return f"# {line}" if marked else line


def _metric(number: int, one: Subscribed) -> Iterator[str]:
    labels = ", ".join(_labels(one.path).values())
    yield f"#   acme_metric_{number}: {{kind: gauge, help: Say what it is., labels: [{labels}]}}"


def _subscription(one: Subscribed) -> str:
    target = f", target: {scalar(one.subscription.target)}" if one.subscription.target else ""
    return f"#       - {{path: {scalar(one.path)}, {mode_keys(one.subscription)}{target}}}"


def _rule(number: int, one: Subscribed) -> str:
    labels = _labels(one.path)
    steps = [
        step.name
        + "".join(f"[{key}={{{labels[step.name, key]}}}]" for key, text in step.keys if text == "*")
        + "".join(f"[{key}={text}]" for key, text in step.keys if text != "*")
        for step in elements(one.path)
    ]
    path = "/" + "/".join((*steps, "LEAF"))
    return f"#       - {{path: {scalar(path)}, metric: acme_metric_{number}}}"


def _labels(path: str) -> dict[tuple[str, str], str]:
    """A label for each key with a wildcard: the name of its list, as railfab names them."""
    found = [(step.name, key) for step in elements(path) for key, text in step.keys if text == "*"]
    return {(name, key): "".join(c if c.isalnum() else "_" for c in name.lower()) for name, key in found}

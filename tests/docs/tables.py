"""Tables of the pages that follow from the code.

python -m tests.docs.tables      writes them anew
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.docs.pages import TABLE

from railfab.dashboards.alerts import ALERTS
from railfab.intent import json_schema
from railfab.metrics import CATALOGUE
from railfab.platforms import platform, platform_names

DOCS = Path(__file__).parents[2] / "docs"
Schema = Mapping[str, Any]

UNSAID = {
    "version": "of this format",
    "fabric": "name of the fabric: of files, labels and the state folder",
    "profile": "what holds for the whole fabric",
    "profile.control_plane": "routing protocol",
    "profile.ecmp": "what is spread over equal paths",
    "profile.transport": "what the GPUs speak",
    "profile.bfd.interval_ms": "transmit and receive interval [ms]",
    "hosts": "the GPU servers",
    "hosts.nic_per": "what has a NIC of its own",
    "backend": "the scale-out network",
    "backend.segments": "hosts that share one set of rail switches",
    "backend.spines": "the spines of a pod",
    "inventory.NAME.ssh_port": "port of SSH",
    "inventory.NAME.gnmi_port": "port of gNMI",
    "inventory.NAME.known_hosts": "OpenSSH known_hosts file; by default your own",
}
"""Meanings of keys that the schema does not describe."""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = f"{_row(columns)}|{'---|' * len(columns)}\n"
    return head + "".join(map(_row, rows))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def intent() -> str:
    schema = json_schema()
    return table(("key", "meaning", "values", "default"), _keys(schema, schema["$defs"], ""))


def _keys(node: Schema, definitions: Schema, prefix: str) -> Iterator[tuple[str, str, str, str]]:
    for name, entry in node["properties"].items():
        key = f"{prefix}{name}"
        choices = [entry, *entry.get("anyOf", [])]
        inner = next((choice["$ref"] for choice in choices if "$ref" in choice), None)
        named = next((choice["additionalProperties"]["$ref"] for choice in choices if _by_name(choice)), None)
        values = "" if inner or named else ", ".join(filter(None, map(_values, choices)))
        yield f"`{key}`", entry.get("description") or UNSAID[key], values, _default(name, node, entry)
        for reference, below in ((inner, f"{key}."), (named, f"{key}.NAME.")):
            if reference:
                yield from _keys(definitions[reference.rpartition("/")[2]], definitions, below)


def _by_name(choice: Schema) -> bool:
    return isinstance(choice.get("additionalProperties"), dict)


def _values(choice: Schema) -> str:
    if "const" in choice:
        return f"`{choice['const']}`"
    if "enum" in choice:
        return ", ".join(f"`{value}`" for value in choice["enum"])
    if "pattern" in choice:
        return "lower-case letters, digits, inner hyphens; up to 32"
    if "minimum" in choice:
        least, most = choice["minimum"], choice["maximum"]
        return f"{least} to {most}" if least != most else f"`{least}`"
    if "exclusiveMinimum" in choice:
        return f"above {choice['exclusiveMinimum']}, to {choice['maximum']}"
    return {"string": "text", "boolean": "`true`, `false`"}.get(choice.get("type", ""), "")


def _default(name: str, node: Schema, entry: Schema) -> str:
    if name in node.get("required", ()):
        return "required"
    value = entry.get("default")
    if value is None or isinstance(value, dict):
        return ""
    return f"`{json.dumps(value).strip(chr(34))}`"


def feeds() -> str:
    """Which platform feeds which metric. The twin of a platform feeds what its telemetry map has."""
    names = platform_names()
    confidence = {
        name: {rule.metric: str(rule.confidence) for rule in platform(name).telemetry.rules} for name in names
    }
    rows = [
        (f"`{metric}`", *(confidence[name].get(metric, "") for name in names))
        for metric in CATALOGUE
        if any(metric in confidence[name] for name in names)
    ]
    return table(("metric", *names), rows)


def features() -> str:
    names = platform_names()
    known = {name: platform(name).capabilities.features for name in names}
    rows = [(f"`{feature}`", *(str(known[name][feature]) for name in names)) for feature in known[names[0]]]
    return table(("feature", *names), rows)


def limits() -> str:
    names = platform_names()
    known = {name: platform(name).capabilities.limits for name in names}
    every = dict.fromkeys(limit for name in names for limit in known[name])
    return table(
        ("limit", *names), [(f"`{limit}`", *(str(known[name].get(limit, "")) for name in names)) for limit in every]
    )


def alerts() -> str:
    rows = [
        (f"`{one.alert}`", str(one.severity), one.lasting or "", _first_sentence(one.description)) for one in ALERTS
    ]
    return table(("alert", "severity", "for", "means"), rows)


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".") + "."


TABLES: dict[str, Callable[[], str]] = {
    "intent": intent,
    "feeds": feeds,
    "features": features,
    "limits": limits,
    "alerts": alerts,
}


def written(page: str) -> str:
    """A page with its tables as the code gives them."""
    return TABLE.sub(lambda found: f"<!-- table: {found['name']} -->\n{TABLES[found['name']]()}<!-- end -->", page)


if __name__ == "__main__":
    for path in DOCS.glob("*.md"):
        path.write_text(written(path.read_text()))

"""Tables of the pages that follow from the code.

python -m tests.docs.tables      writes them anew
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.docs import catalogue_tables
from tests.docs.design_tables import tables
from tests.docs.pages import TABLE
from tests.fabric.design_pairs import Pair
from tests.fabric.design_pairs import pairs as design_pairs
from tests.integration.pushes import GATES, HARMFUL, HARMLESS, gates_against

from railfab.dashboards import ALERTS, BOARDS
from railfab.diagnosis.catalogue import KnownCause, causes
from railfab.diagnosis.model import SymptomKind
from railfab.findings import HazardCode
from railfab.intent import json_schema
from railfab.intent.model import NAME_PATTERN
from railfab.metrics import CATALOGUE
from railfab.platforms import Confidence, TelemetryRule, platform, platform_names
from railfab.platforms.admission import support_of
from railfab.platforms.features import FEATURES
from railfab.platforms.hazard_kinds import hazard_kinds
from railfab.platforms.hazards import Hazard, HazardGap
from railfab.platforms.interruptions import ChangeKind, change_kinds
from railfab.topology.grouping import grouped

DOCS = Path(__file__).parents[2] / "docs"
DOCTOR_RESULTS = Path(__file__).parents[1] / "diagnosis" / "results"
Schema = Mapping[str, Any]

SHARED = {"AccessLeaves": "leaves", "AccessSpines": "spines"}
"""Models that several networks have alike, shown once."""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = f"{_row(columns)}|{'---|' * len(columns)}\n"
    return head + "".join(map(_row, rows))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


COLUMNS = ("key", "meaning", "values", "default")


@cache
def schema() -> dict[str, Any]:
    """The schema of an intent, with the parts of a job that tables show."""
    intent, job = json_schema(), json_schema(job=True)
    intent["$defs"] |= {name: job["$defs"][name] for name in ("Checkpoint", "Straggler", "FactorRange")}
    return intent


def intent() -> str:
    """The sections of an intent."""
    return table(COLUMNS, _keys(schema(), "", deep=False))


def section(*names: str) -> Callable[[], str]:
    """Every key of some sections."""

    def rows() -> Iterator[Sequence[str]]:
        for name in names:
            first, *below = _key(schema(), name, "", deep=True)
            yield from below or (first,)

    return lambda: table(COLUMNS, rows())


def of_job(definition: str, key: str) -> Callable[[], str]:
    """The keys of a part of a job."""
    return lambda: table(COLUMNS, _keys(schema()["$defs"][definition], f"{key}."))


def access() -> str:
    """The keys that the leaves and spines of every network but the backend have."""
    return table(COLUMNS, [row for name, key in SHARED.items() for row in _keys(schema()["$defs"][name], f"{key}.")])


def _keys(node: Schema, prefix: str, *, deep: bool = True) -> Iterator[Sequence[str]]:
    for name in node["properties"]:
        yield from _key(node, name, prefix, deep=deep)


def _key(node: Schema, name: str, prefix: str, *, deep: bool) -> Iterator[Sequence[str]]:
    """The row of a key, and those of the keys below it."""
    entry = node["properties"][name]
    members = list(_members(entry))
    values = ", ".join(dict.fromkeys(filter(None, map(_values, members))))
    yield f"`{prefix}{name}`", entry["description"], values, _default(name, node, entry)
    for member in members if deep else ():
        if "properties" in member and member["title"] not in SHARED:
            yield from _keys(member, f"{prefix}{name}.")
        if (below := _by_name(member)) and "properties" in below:
            yield from _keys(below, f"{prefix}{name}.{_key_word(member)}.")


def _key_word(member: Schema) -> str:
    """The word for the keys of a mapping: those that are texts have a least or greatest length."""
    names = member.get("propertyNames")
    return "NAME" if names is None or {"maxLength", "minLength", "format"} & names.keys() else "NUMBER"


def _members(entry: Schema) -> Iterator[Schema]:
    """What an entry may be: the members of a union, definitions in place of references to them."""
    if "anyOf" in entry:
        for choice in entry["anyOf"]:
            yield from _members(choice)
    else:
        yield schema()["$defs"][entry["$ref"].rpartition("/")[2]] if "$ref" in entry else entry


def _by_name(member: Schema) -> Schema | None:
    """What a mapping of names or numbers holds under each."""
    named = next(iter(member.get("patternProperties", {}).values()), member.get("additionalProperties"))
    return next(_members(named)) if isinstance(named, dict) else None


def _values(member: Schema) -> str:
    """What may stand there, in words; empty for keys that have rows of their own."""
    if "const" in member:
        return "`off`" if member["const"] is False else f"`{member['const']}`"
    if "enum" in member:
        return ", ".join(f"`{value}`" for value in member["enum"])
    if member.get("type") in ("integer", "number"):
        return _range(member)
    if member.get("type") == "array":
        return f"list of {_values(member['items'])}"
    if "format" in member:
        return {"ipv4network": "IPv4 prefix", "ipv6network": "IPv6 prefix", "ipv4": "IPv4 addresses"}[member["format"]]
    if (below := _by_name(member)) and "properties" not in below:
        return f"by number, {_values(below)}"
    if member.get("pattern") == NAME_PATTERN:
        return "lower-case letters, digits, inner hyphens; up to 32"
    if "kB" in member.get("pattern", ""):
        return "a number with a unit"
    return {"string": "text", "boolean": "`true`, `false`"}.get(member.get("type", ""), "")


def _range(member: Schema) -> str:
    if "exclusiveMinimum" in member:
        return f"above {member['exclusiveMinimum']}, to {_number(member['maximum'])}"
    return f"{member['minimum']} to {_number(member['maximum'])}"


def _number(value: float) -> str:
    return f"{int(value)}" if value == int(value) else f"{value}"


def _default(name: str, node: Schema, entry: Schema) -> str:
    if name in node.get("required", ()):
        return "required"
    value = entry.get("default")
    if value is None or value == "" or isinstance(value, dict):
        return ""
    if isinstance(value, list):
        return f"`[{', '.join(map(str, value))}]`"
    return f"`{json.dumps(value).strip(chr(34))}`"


def own_platforms() -> tuple[str, ...]:
    """Those of railfab, without those of other packages that happen to be installed."""
    return tuple(name for name in platform_names() if find_spec(f"railfab.platforms.{name}") is not None)


def metrics() -> str:
    """The catalogue of metrics."""
    rows = ((f"`{one.name}`", one.kind.value, one.unit, ", ".join(one.labels), one.help) for one in CATALOGUE.values())
    return table(("name", "kind", "unit", "labels", "meaning"), rows)


def feeds() -> str:
    """Which platform feeds which metric. The twin of a platform feeds what its telemetry map has."""
    names = own_platforms()
    evidence = {name: _evidence(platform(name).telemetry.rules) for name in names}
    rows = [
        (f"`{metric}`", *(evidence[name].get(metric, "") for name in names))
        for metric in CATALOGUE
        if any(metric in evidence[name] for name in names)
    ]
    return table(("metric", *names), rows)


def _evidence(rules: Iterable[TelemetryRule]) -> dict[str, str]:
    """The confidence of each metric: the least of its paths."""
    order = list(Confidence)
    ranked = sorted(rules, key=lambda rule: order.index(rule.confidence))
    return {rule.metric: str(rule.confidence) for rule in ranked}


def features() -> str:
    names = own_platforms()
    known = {name: platform(name).capabilities for name in names}
    rows = [
        (f"`{name}`", feature.meaning, *(str(support_of(known[own], name)) for own in names))
        for name, feature in FEATURES.items()
    ]
    return table(("feature", "meaning", *names), rows)


def chip_features() -> str:
    """The features whose support differs on a chip, by platform and the first words of the chip."""
    known = {name: platform(name).capabilities for name in own_platforms()}
    rows = [
        (name, chip, f"`{feature}`", str(support))
        for name, own in known.items()
        for chip, found in own.chips.items()
        for feature, support in found.items()
    ]
    return table(("platform", "chips", "feature", "support"), rows)


def limits() -> str:
    names = own_platforms()
    known = {name: platform(name).capabilities.limits for name in names}
    every = dict.fromkeys(limit for name in names for limit in known[name])
    return table(
        ("limit", *names), [(f"`{limit}`", *(str(known[name].get(limit, "")) for name in names)) for limit in every]
    )


def labs() -> str:
    """How containerlab boots each platform, and what its image does not enforce."""
    rows = []
    for name in own_platforms():
        lab, virtual = platform(name).lab, platform(name).capabilities.virtual
        startup = f"`{lab.startup}`" + (f", bound to `{lab.mount}`" if lab.mount else "")
        ports = ", ".join(f"`{own}` as `{theirs}`" for own, theirs in lab.interfaces.named.items())
        rows.append(
            (name, f"`{lab.kind}`", f"`{lab.image}`", startup, ports, "; ".join(one.rstrip(".") for one in virtual))
        )
    return table(("platform", "kind", "image", "startup", "ports", "not enforced"), rows)


def pairs() -> str:
    """Other switches of each design, and what their platform refuses."""

    def said(pair: Pair) -> str:
        refused = ", ".join(f"`{name}`" for name in pair.refused)
        return f"`{pair.model}` ({pair.platform})" + (f": refused, {refused}" if refused else "")

    by_design = groupby(design_pairs(), key=lambda pair: pair.design)
    return table(("design", "also rendered for", "and for"), [(name, *map(said, found)) for name, found in by_design])


def hazards() -> str:
    """The kinds of hazards, and by how many patterns each platform finds them."""
    names = own_platforms()
    numbers = {name: Counter(hazard.kind for hazard in platform(name).hazards()) for name in names}
    rows = [
        (
            f"`{kind.code}`",
            kind.severity,
            *(str(numbers[name][kind.code] or _gap(name, kind.code)) for name in names),
            kind.consequence,
            kind.standard,
        )
        for kind in hazard_kinds().values()
    ]
    return table(("kind", "class", *names, "consequence", "standard"), rows)


def _gap(name: str, kind: HazardCode) -> str:
    return _sign(platform(name).hazard_gaps()[kind])


def _sign(gap: HazardGap) -> str:
    return "=" if gap.instead else "–"


def gaps(name: str) -> str:
    """The kinds without a pattern of a platform, and why."""
    rows = [
        (
            _codes(kind for kind, _ in same),
            " ".join(filter(None, (_sign(gap), _codes(gap.instead)))),
            gap.reason,
            gap.source,
        )
        for same in grouped(platform(name).hazard_gaps().items(), lambda pair: pair[1])
        for gap in (same[0][1],)
    ]
    return table(("kinds", "", "why", "source"), rows)


def _codes(kinds: Iterable[HazardCode]) -> str:
    return ", ".join(f"`{kind}`" for kind in kinds)


def patterns(name: str) -> str:
    """The patterns of a platform, with what their conditions look at, by kind."""
    order = list(hazard_kinds())
    rows = [
        (f"`{hazard.kind}`", hazard.severity, _looked_at(hazard), _own_consequence(hazard))
        for hazard in sorted(platform(name).hazards(), key=lambda hazard: order.index(hazard.kind))
    ]
    return table(("kind", "class", "looks at", "consequence here, where it is another one"), rows)


def _own_consequence(hazard: Hazard) -> str:
    return "" if hazard.consequence == hazard_kinds()[hazard.kind].consequence else hazard.consequence


def _looked_at(hazard: Hazard) -> str:
    """The first place or line of a hazard, and how many more there are."""
    first, *more = hazard.paths or tuple(readable(pattern.pattern) for pattern in hazard.lines)
    return f"`{first}`" + (f" and {len(more)} more" if more else "")


def readable(pattern: str) -> str:
    """A pattern of lines as a person writes it: `<a|b>` one of these, `[a]` perhaps, capitals and dots a value."""
    pattern = re.sub(r"\(\?P<(\w+)>[^()]*(?:\([^()]*\)[^()]*)*\)", lambda found: found[1].upper(), pattern)
    pattern = re.sub(r"\(\?[=!][^()]*(?:\([^()]*\)[^()]*)*\)", "", pattern)
    pattern = re.sub(r"\.\*|\\S\+|\\d\+", "...", pattern).replace(" +", " ")
    while (plain := re.sub(r"\(\?:([^()]*)\)(\??)", _bracketed, pattern)) != pattern:
        pattern = plain
    return pattern.replace("[ ...]", " ...")


def _bracketed(found: re.Match[str]) -> str:
    return f"[{found[1]}]" if found[2] else f"<{found[1]}>"


def interruptions() -> str:
    """The kinds of changes, and whether they interrupt forwarding on each platform."""
    names = own_platforms()
    rows = [
        (f"`{kind.code}`", f"{kind.words}{_of_what(kind)}", *(_interrupts(name, kind.code) for name in names))
        for kind in change_kinds().values()
    ]
    return table(("kind", "what changes", *names), rows)


def _of_what(kind: ChangeKind) -> str:
    """The part of a switch that a kind is about, where its words do not say it."""
    nouns = {"interfaces": "interface", "loopbacks": "loopback", "policies": "policy"}
    first = kind.fields[0].partition(".")[0] if kind.fields else ""
    noun = "session" if ".neighbors" in "".join(kind.fields[:1]) else nouns.get(first, "")
    return f" of a {noun}".replace("a interface", "an interface") if noun and noun not in kind.words else ""


def _interrupts(name: str, code: str) -> str:
    known = platform(name).interruptions().of(code)
    return "" if known is None else "yes" if known.interrupts else "no"


def interruption_standards() -> str:
    """The kinds that interrupt forwarding by a standard."""
    kinds = [kind for kind in change_kinds().values() if kind.standard]
    return table(("kind", "why"), [(f"`{kind.code}`", kind.standard) for kind in kinds])


def interruption_sources() -> str:
    """Who says what of the kinds on each platform."""
    rows = [
        (name, ", ".join(f"`{code}`" for code, _ in same), "yes" if known.interrupts else "no", known.source)
        for name in own_platforms()
        for same in grouped(platform(name).interruptions().by_kind.items(), lambda pair: pair[1])
        for known in (same[0][1],)
    ]
    return table(("platform", "kinds", "interrupts", "source"), rows)


def boards() -> str:
    """Every board with its question, and where its answer leads."""
    rows = (
        (
            f"[{board.title}](../dashboards/boards/{name}.json)",
            board.question,
            ", ".join(BOARDS[other].title for other in board.next),
        )
        for name, board in BOARDS.items()
    )
    return table(("board", "question", "leads to"), rows)


def alerts() -> str:
    rows = [
        (f"[{one.alert}](alerts/{one.alert}.md)", str(one.severity), one.lasting or "", _meaning(one.alert))
        for one in ALERTS
    ]
    return table(("alert", "severity", "for", "means"), rows)


def _meaning(alert: str) -> str:
    """The first sentence of the runbook of an alert."""
    return _first_sentence(
        (DOCS / "alerts" / f"{alert}.md").read_text().partition("## Meaning\n\n")[2].partition("\n")[0]
    )


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".") + "."


def harmful_pushes() -> str:
    """The pushes that break RoCE, and the gates that stop each."""
    rows = ((name, *("x" if gate in gates_against(name) else "" for gate in GATES)) for name in HARMFUL)
    return table(("push", *GATES), rows)


def harmless_pushes() -> str:
    """The pushes that pass every gate."""
    return table(("push",), ((name,) for name in HARMLESS))


def doctor_causes() -> str:
    """The causes that the doctor knows beside differences of configurations."""
    listed = (cause for code, cause in causes().items() if code not in change_kinds())
    rows = ((f"`{cause.code}`", cause.title.format(where="…", words="…"), _effects(cause)) for cause in listed)
    return table(("code", "cause", "accounts for"), rows)


def doctor_results() -> str:
    """What the doctor named of the faults that were made on a twin, by platform."""
    columns = (
        "platform",
        "faults",
        "first",
        "causes named",
        "right",
        "pairs",
        "both in the first three",
        "healthy",
        "nothing named",
    )
    return table(columns, (_doctor_row(path) for path in sorted(DOCTOR_RESULTS.glob("*.json"))))


def _doctor_row(path: Path) -> Sequence[str]:
    results = json.loads(path.read_text()).values()
    single = [result for result in results if "rank" in result]
    pairs = [result for result in results if "named" in result]
    healthy = [result for result in results if result.keys() == {"causes"}]
    counts = (
        len(single),
        sum(result["rank"] == 1 for result in single),
        sum(len(result["causes"]) for result in single),
        sum(result["rank"] > 0 for result in single),
        len(pairs),
        sum(result["named"] == 2 for result in pairs),
        len(healthy),
        sum(not result["causes"] for result in healthy),
    )
    return path.stem, *map(str, counts)


def _effects(cause: KnownCause) -> str:
    return ", ".join(f"`{kind}`" for kind in SymptomKind if kind in cause.effects)


TABLES: dict[str, Callable[[], str]] = {
    "switches": partial(catalogue_tables.switches, table),
    "chips": partial(catalogue_tables.chips, table),
    "host-models": partial(catalogue_tables.hosts, table),
    "nics": partial(catalogue_tables.nics, table),
    "nic-mlx5": partial(catalogue_tables.nic_commands, "mlx5", table),
    "nic-bnxt": partial(catalogue_tables.nic_commands, "bnxt", table),
    "nic-ionic": partial(catalogue_tables.nic_commands, "ionic", table),
    "cables": partial(catalogue_tables.cables, table),
    "intent": intent,
    "intent-names": section("names"),
    "intent-profile": section("profile"),
    "intent-hosts": section("hosts", "models"),
    "intent-backend": section("backend"),
    "intent-frontend": section("frontend"),
    "intent-storage": section("storage"),
    "intent-management": section("management"),
    "intent-access": access,
    "job-checkpoint": of_job("Checkpoint", "checkpoint"),
    "job-stragglers": of_job("Straggler", "stragglers[]"),
    "intent-switches": section("catalogue", "switches"),
    "intent-change": section("change"),
    "intent-inventory": section("inventory"),
    "doctor-causes": doctor_causes,
    "doctor-results": doctor_results,
    "labs": labs,
    "pairs": pairs,
    "metrics": metrics,
    "feeds": feeds,
    "features": features,
    "chip_features": chip_features,
    "limits": limits,
    "alerts": alerts,
    "boards": boards,
    "harmful-pushes": harmful_pushes,
    "harmless-pushes": harmless_pushes,
    "interruptions": interruptions,
    "interruption-standards": interruption_standards,
    "interruption-sources": interruption_sources,
    "hazards": hazards,
    **{f"hazards-{name}": partial(patterns, name) for name in own_platforms()},
    **{f"hazard-gaps-{name}": partial(gaps, name) for name in own_platforms()},
    **tables(table),
}


def written(page: str) -> str:
    """A page with its tables as the code gives them."""
    return TABLE.sub(lambda found: f"<!-- table: {found['name']} -->\n{TABLES[found['name']]()}<!-- end -->", page)


if __name__ == "__main__":
    for path in DOCS.glob("*.md"):
        path.write_text(written(path.read_text()))

"""The verdict on every mistake, as a matrix and as the pages of docs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from tests.faults.held_out import SOURCE, held_out
from tests.faults.judge import SYMPTOM
from tests.faults.mistakes import Mistake, Omitted, mistakes, nothing, omitted
from tests.faults.translation import LISTED, inexpressible, translated
from tests.faults.trial import Trial
from tests.faults.verdict import VERDICTS, Verdict, Verdicts

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "faults.md"
NEEDED_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class Row:
    """A mistake, and what came of it."""

    mistake: Mistake
    verdict: Verdict

    @property
    def problem(self) -> str:
        """Why the verdict is not what the list says; empty when it is."""
        return self.verdict.problem(self.mistake)


@dataclass(frozen=True, slots=True)
class Result:
    """What was tried on a platform, and what was not.

    rows: in the order of the list. untried: mistakes without a verdict. reasons: why switches cannot have or show a
    mistake, by its title.
    """

    platform: str
    machine: str
    rows: Sequence[Row]
    untried: Sequence[str]
    reasons: Mapping[str, str]

    @property
    def listed(self) -> list[Row]:
        """The mistakes of the list."""
        return [row for row in self.rows if row.mistake.alert and row.mistake.source != SOURCE]

    @property
    def held_out(self) -> list[Row]:
        """Those of the platform's own lines."""
        return [row for row in self.rows if row.mistake.source == SOURCE]

    @property
    def healthy(self) -> list[Row]:
        """Jobs without a mistake."""
        return [row for row in self.rows if not row.mistake.alert]


def listed_on(served: str) -> list[Mistake]:
    """Each mistake that switches of a platform can have and show, held-out mistakes included, in order."""
    there = [translated(mistake, served) for mistake in mistakes() if not inexpressible(mistake, served)]
    return [*there, *held_out(served)]


def result(served: str, folder: Path = VERDICTS) -> Result:
    """What the verdicts of a platform say of its mistakes."""
    verdicts = Verdicts.read(served, folder)
    healthy = [nothing(name.removeprefix("healthy-")) for name in verdicts.by_mistake if name.startswith("healthy-")]
    tried = [*listed_on(served), *healthy]
    rows = [Row(mistake, verdicts.by_mistake[mistake.id]) for mistake in tried if mistake.id in verdicts.by_mistake]
    untried = [mistake.id for mistake in tried if mistake.id not in verdicts.by_mistake]
    reasons = {mistake.title: why for mistake in mistakes() if (why := inexpressible(mistake, served))}
    return Result(served, verdicts.machine, rows, untried, reasons)


def problems(trials: Sequence[Trial], fired: Mapping[str, Mapping[str, float]]) -> Mapping[str, str]:
    """By mistake, why a trial in which these fired is not what the list says; without those that are."""
    rows = [Row(trial.mistake, Verdict.of(trial, fired[trial.mistake.id], date.today(), "")) for trial in trials]
    return {row.mistake.id: row.problem for row in rows if row.problem}


def faulty(rows: Sequence[Row]) -> list[str]:
    """What a run has to be failed for: too few right alerts, an unexplained one, or an alert on a healthy fabric."""
    wrong = {row.mistake.id for row in rows if row.problem}
    explained = {row.mistake.id for row in rows if row.mistake.unmet}
    tried = [row for row in rows if row.mistake.alert]
    few = tried and len(wrong) > (1 - NEEDED_SHARE) * len(tried)
    return sorted(wrong if few else wrong - explained)


def matrix(rows: Sequence[Row]) -> str:
    """One line a mistake: what fired, and after how many seconds."""
    return "\n".join(map(_line, rows)) + f"\n{_sum(rows)}\n"


def _line(row: Row) -> str:
    alerts = ", ".join(
        f"{_short(name)} {'?' if after_s is None else f'{after_s:.0f}'}"
        for name, after_s in sorted(row.verdict.fired.items(), key=lambda fired: fired[1] or 0.0)
    )
    verdict = "WRONG" if row.problem else "ok   "
    return f"{verdict} {row.mistake.id:22} {_short(row.mistake.alert):24} {alerts}  {row.problem}"


def _sum(rows: Sequence[Row]) -> str:
    tried = [row for row in rows if row.mistake.alert]
    right = sum(not row.problem for row in tried)
    return f"{right} of {len(tried)} mistakes raise the right alert and no unrelated one"


def _short(alert: str) -> str:
    return alert.removeprefix("Fabric")


def page_of(served: str) -> Path:
    """The page of a platform."""
    return PAGE if served == LISTED else DOCS / f"faults-{served}.md"


def platforms(folder: Path = VERDICTS) -> list[str]:
    """Those with verdicts, sorted."""
    return sorted(path.stem for path in folder.glob("*.json"))


def platform_page(shown: Result) -> str:
    """The page of a platform other than that of the list."""
    return "\n".join(_platform_page(shown)) + "\n"


def _platform_page(shown: Result) -> Iterator[str]:
    yield from (*ELSEWHERE.format(platform=shown.platform).splitlines(), "", *_origin(shown), "")
    yield from (f"{_sum(shown.listed)}.", "", *_table(shown.listed), "", "## Not as wanted", "", *_wrong(shown.listed))
    if shown.held_out:
        yield from ("", *HELD.splitlines(), "", f"{_sum(shown.held_out)}.", "", *_table(shown.held_out))
        yield from ("", *_wrong(shown.held_out))
    if shown.untried:
        yield from ("", "## Not tried yet", "", f"{', '.join(f'`{name}`' for name in shown.untried)}.")
    yield from ("", "## Mistakes that these switches cannot have or show", "", "| mistake | why |", "|---|---|")
    yield from (f"| {title} | {reason} |" for title, reason in shown.reasons.items())


def page(shown: Result, elsewhere: Sequence[Result]) -> str:
    """docs/faults.md, with the figures of other platforms."""
    return "\n".join(_page(shown, elsewhere)) + "\n"


def _page(shown: Result, elsewhere: Sequence[Result]) -> Iterator[str]:
    yield from (*HEAD.splitlines(), "", *_origin(shown), "", f"{_sum(shown.listed)}.", "")
    yield from ("## On other platforms", "", *_figures(elsewhere), "", "## Each mistake", "")
    yield from (*_table(shown.listed), "", "## Not as wanted", "", *_wrong(shown.listed), "", "## Healthy", "")
    for row in shown.healthy:
        fired = ", ".join(row.verdict.fired) or "no alert"
        yield f"- {row.verdict.lasted_s / 60:.0f} simulated minutes of {row.mistake.title}: {fired}"
    yield from ("", *_omitted())


def _origin(shown: Result) -> Iterator[str]:
    """Where and when the trials were made."""
    if shown.rows:
        days = sorted({row.verdict.made for row in shown.rows})
        span = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
        yield f"The trials were made {span}, the last of them on {shown.machine}."
        yield f"The day and commit of each are in `tests/faults/verdicts/{shown.platform}.json`."


def _figures(elsewhere: Sequence[Result]) -> Iterator[str]:
    yield "| platform | tried | right | not tried | cannot have or show |"
    yield "|---|---|---|---|---|"
    for shown in elsewhere:
        right = sum(not row.problem for row in shown.listed)
        link = f"[{shown.platform}](faults-{shown.platform}.md)"
        yield f"| {link} | {len(shown.listed)} | {right} | {len(shown.untried)} | {len(shown.reasons)} |"


def _table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| mistake or fault | source | symptom seen | alert | after | other alerts |"
    yield "|---|---|---|---|---|---|"
    yield from (_cells(row.mistake, row.verdict.fired) for row in rows)


def _wrong(rows: Sequence[Row]) -> Iterator[str]:
    wrong = [row for row in rows if row.problem]
    for row in wrong:
        yield f"- {row.mistake.title}: {row.problem}. {row.mistake.unmet}".rstrip()
    if not wrong:
        yield "Nothing."


def _omitted() -> Iterator[str]:
    titles = {mistake.id: mistake.title for mistake in mistakes()}
    yield from (
        "## Incidents that are not in the list, and why",
        "",
        "| incident | what it is | why |",
        "|---|---|---|",
    )
    for incident in omitted():
        yield f"| {incident.id} | {incident.title} | {_why(incident, titles)} |"


def _why(incident: Omitted, titles: Mapping[str, str]) -> str:
    same = f'symptom and alert are those of "{titles[incident.same]}"' if incident.same else ""
    quoted = {name: f'"{title}"' for name, title in titles.items()}
    return "; ".join(part for part in (same, incident.reason.format_map(quoted)) if part)


def _cells(mistake: Mistake, fired: Mapping[str, float | None]) -> str:
    others = sorted(set(fired) - {mistake.alert, SYMPTOM})
    links = ", ".join(f"[{_short(name)}](alerts/{name}.md)" for name in others)
    alert = f"[{_short(mistake.alert)}](alerts/{mistake.alert}.md)"
    after = "not" if mistake.alert not in fired else f"{fired[mistake.alert]:.0f} s"
    return f"| {mistake.title} | {mistake.source} | {_symptom(mistake, fired)} | {alert} | {after} | {links} |"


def _symptom(mistake: Mistake, fired: Mapping[str, float | None]) -> str:
    if not mistake.symptom:
        return mistake.silence
    seen = f"{fired[SYMPTOM]:.0f} s" if SYMPTOM in fired else "not seen"
    expression = mistake.symptom.replace("|", r"\|")
    return f"`{expression}`: {seen}"


HEAD = """# Mistakes, faults and their alerts

This page shows which alert says what is wrong with a fabric, for each mistake and fault of `tests/faults/mistakes.yml`.
`make faults` writes it; do not edit it.

Each mistake is made over gNMI, or as a fault of a link, an optic or a host, on a twin of 16 GPUs and SR Linux
([tests/faults/rack.yml](../tests/faults/rack.yml)) that runs a job and has been healthy for 75 s. The collector's
metrics are scraped every 5 s of simulated time and given to a real Prometheus as blocks with their simulated times;
rules and their `for` are those of [dashboards/rules](../dashboards/rules), unscaled. Times are simulated seconds from
the mistake until the symptom, an expression over the metrics, first holds, and until the alert fires, at most 120 s.
Other alerts are consequences, and the comparison of the configuration with the intent. A number as source is a row of
a list of mistakes that were pushed to a twin before, I and a number an incident of the published record. The last table
has the incidents that are not in the list. `make soak-twin` tries the healthy jobs on each platform that the twin
serves, after a deploy where railfab has sessions of the platform; no alert may fire that is not true."""

ELSEWHERE = """# Mistakes, faults and their alerts: {platform}

The mistakes of [faults.md](faults.md) on switches with {platform}. `make faults ON={platform}` writes this page; do not
edit it. A mistake is the same change of the device model as on SR Linux, rendered for {platform}, and pushed over SSH
by a session of a deploy; jobs, times and judgement are those of faults.md. An incast sends so much that the queue
reaches the length at which these switches pause."""

HELD = """## Held-out mistakes

Mistakes in the platform's own lines (`tests/faults/held_out.yml`), made up beside the list. Each was tried once before
anything was changed for it. Since then FabricPrefixesLost counts the prefixes that import policies accept, a disabled
unit of Junos and redistribution on SONiC are part of the model, and FabricTwinUnmodelled is expected where the twin has
no word for a line: what concerns these was tried again.
"""

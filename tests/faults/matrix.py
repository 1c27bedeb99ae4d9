"""The verdict on every mistake, as a matrix and as the page docs/faults.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from tests.faults.held_out import SOURCE
from tests.faults.judge import SYMPTOM
from tests.faults.mistakes import Mistake, Omitted, mistakes, omitted
from tests.faults.trial import Trial

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "faults.md"
Verdicts = Mapping[str, Mapping[str, float]]
CONFIGURED = ("FabricConfigurationDrift", "FabricConfigurationHazard")
"""Alerts that every changed configuration may raise."""
NEEDED_SHARE = 0.95
FIGURES = "## On other platforms"
REFUSED = "## Mistakes that these switches cannot have or show"
"""Headings of sections; figures.py fills that of the first, and counts the rows of the second."""


def unrelated(mistake: Mistake, fired: Mapping[str, float]) -> list[str]:
    """Alerts that neither say what the mistake is nor follow from it."""
    related = {SYMPTOM, mistake.alert, *mistake.also, *(CONFIGURED if mistake.edits or mistake.texts else ())}
    return sorted(set(fired) - related)


def problem(trial: Trial, fired: Mapping[str, float]) -> str:
    """Why a verdict is not what the list says; empty when it is."""
    mistake = trial.mistake
    if trial.refused:
        return f"refused: {trial.refused[-160:]}"
    early = [name for name, after_s in fired.items() if after_s < 0]
    if early:
        return f"fired before: {', '.join(early)}"
    if mistake.alert and mistake.alert not in fired:
        return "did not fire"
    if mistake.symptom and SYMPTOM not in fired:
        return "no symptom"
    others = unrelated(mistake, fired)
    return f"unrelated: {', '.join(others)}" if others else ""


def faulty(trials: Sequence[Trial], found: Verdicts) -> list[str]:
    """What a run has to be failed for: too few right alerts, an unexplained one, or an alert on a healthy fabric."""
    wrong = {trial.mistake.id: problem(trial, found[trial.mistake.id]) for trial in trials}
    wrong = {name: text for name, text in wrong.items() if text}
    explained = {trial.mistake.id for trial in trials if trial.mistake.unmet}
    tried = [trial for trial in trials if trial.mistake.alert]
    few = tried and len(wrong) > (1 - NEEDED_SHARE) * len(tried)
    return sorted(wrong if few else wrong.keys() - explained)


def matrix(trials: Sequence[Trial], found: Verdicts) -> str:
    """One line a mistake: what fired, and after how many seconds."""
    return "\n".join(_line(trial, found[trial.mistake.id]) for trial in trials) + f"\n{_sum(of_list(trials), found)}\n"


def _line(trial: Trial, fired: Mapping[str, float]) -> str:
    text = problem(trial, fired)
    alerts = ", ".join(
        f"{_short(name)} {after_s:.0f}" for name, after_s in sorted(fired.items(), key=lambda one: one[1])
    )
    return f"{'ok   ' if not text else 'WRONG'} {trial.mistake.id:22} {_short(trial.mistake.alert):24} {alerts}  {text}"


def _sum(trials: Sequence[Trial], found: Verdicts) -> str:
    tried = [trial for trial in trials if trial.mistake.alert]
    right = sum(not problem(trial, found[trial.mistake.id]) for trial in tried)
    return f"{right} of {len(tried)} mistakes raise the right alert and no unrelated one"


def _short(alert: str) -> str:
    return alert.removeprefix("Fabric")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a result is from. first, last: of the days on which the trials were made. commit: of the clone.

    machine: its processors and the versions that matter.
    """

    first: date
    last: date
    commit: str
    machine: str

    def __str__(self) -> str:
        days = f"on {self.first}" if self.first == self.last else f"from {self.first} to {self.last}"
        return (
            f"The trials were made {days} and judged at commit {self.commit}, on {self.machine}.\n"
            "Those that an interrupted run had kept are of commits before it."
        )


def page_of(served: str) -> Path:
    """The page of another platform than that of the list."""
    return DOCS / f"faults-{served}.md"


def platform_page(
    served: str,
    trials: Sequence[Trial],
    found: Verdicts,
    origin: Origin,
    reasons: Mapping[str, str],
    untried: Sequence[str] = (),
) -> str:
    """The page of a platform. reasons: why its switches cannot have or show a mistake, by the title of that.

    untried: names of mistakes of which no trial was kept.
    """
    return "\n".join(_platform_page(served, trials, found, origin, reasons, untried)) + "\n"


def _platform_page(
    served: str,
    trials: Sequence[Trial],
    found: Verdicts,
    origin: Origin,
    reasons: Mapping[str, str],
    untried: Sequence[str],
) -> Iterator[str]:
    listed, held = of_list(trials), [trial for trial in trials if trial.mistake.source == SOURCE]
    yield from (*ELSEWHERE.format(platform=served).splitlines(), "", str(origin), "", f"{_sum(listed, found)}.", "")
    yield from _table(listed, found)
    yield from ("", "## Not as wanted", "", *_wrong(listed, found))
    if held:
        yield from ("", *HELD.splitlines(), "", f"{_sum(held, found)}.", "", *_table(held, found))
        yield from ("", *_wrong(held, found))
    if untried:
        yield from ("", "## Not tried yet", "", f"{', '.join(f'`{name}`' for name in untried)}.")
    yield from ("", REFUSED, "", "| mistake | why |", "|---|---|")
    yield from (f"| {title} | {reason} |" for title, reason in reasons.items())


def of_list(trials: Sequence[Trial]) -> list[Trial]:
    """The trials that are not held-out."""
    return [trial for trial in trials if trial.mistake.source != SOURCE]


def page(trials: Sequence[Trial], found: Verdicts, origin: Origin) -> str:
    """docs/faults.md."""
    return "\n".join(_page(trials, found, origin)) + "\n"


def _page(trials: Sequence[Trial], found: Verdicts, origin: Origin) -> Iterator[str]:
    tried = [trial for trial in trials if trial.mistake.alert]
    yield from (*HEAD.splitlines(), str(origin), "", f"{_sum(trials, found)}.", "")
    yield from (FIGURES, "", "## Each mistake", "")
    yield from _table(tried, found)
    yield from ("", "## Not as wanted", "")
    yield from _wrong(tried, found)
    yield from ("", "## Healthy", "")
    for trial in trials:
        if not trial.mistake.alert:
            fired = ", ".join(found[trial.mistake.id]) or "no alert"
            yield f"- {trial.ended_s / 60:.0f} simulated minutes of {trial.mistake.title}: {fired}"
    yield from ("", *_omitted())


def _table(tried: Sequence[Trial], found: Verdicts) -> Iterator[str]:
    yield "| mistake or fault | source | symptom seen | alert | after | other alerts |"
    yield "|---|---|---|---|---|---|"
    for trial in tried:
        yield _row(trial.mistake, found[trial.mistake.id])


def _wrong(tried: Sequence[Trial], found: Verdicts) -> Iterator[str]:
    wrong = [(trial.mistake, text) for trial in tried if (text := problem(trial, found[trial.mistake.id]))]
    for mistake, text in wrong:
        yield f"- {mistake.title}: {text}. {mistake.unmet}".rstrip()
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


def _row(mistake: Mistake, fired: Mapping[str, float]) -> str:
    others = sorted(set(fired) - {mistake.alert, SYMPTOM})
    links = ", ".join(f"[{_short(name)}](alerts/{name}.md)" for name in others)
    alert = f"[{_short(mistake.alert)}](alerts/{mistake.alert}.md)"
    after = "not" if mistake.alert not in fired else f"{fired[mistake.alert]:.0f} s"
    return f"| {mistake.title} | {mistake.source} | {_symptom(mistake, fired)} | {alert} | {after} | {links} |"


def _symptom(mistake: Mistake, fired: Mapping[str, float]) -> str:
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
serves, after a deploy where railfab has sessions of the platform; no alert may fire that is not true.

"""

ELSEWHERE = """# Mistakes, faults and their alerts: {platform}

The mistakes of [faults.md](faults.md) on switches with {platform}. `make faults ON={platform}` writes this page; do not
edit it. A mistake is the same change of the device model as on SR Linux, rendered for {platform}, and pushed over SSH
by a session of a deploy; jobs, times and judgement are those of faults.md. An incast sends so much that the queue
reaches the length at which these switches pause."""

HELD = """## Held-out mistakes

Mistakes in the platform's own lines (`tests/faults/held_out.yml`), made up beside the list. Each was tried once, and
nothing was changed for it, except that FabricPrefixesLost came to count received prefixes after most had been tried.
"""

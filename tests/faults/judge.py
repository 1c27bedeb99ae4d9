"""What a real Prometheus makes of trials: their scrapes as blocks, the recording rules over them, and every alert.

Each trial has a slot of its own in the past, at the simulated times at which it was scraped; nothing is scaled. Rules
are evaluated at the interval of prometheus.yml; an alert fires once its expression has held for its `for`.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.dashboards.promql_labels import metrics_of
from tests.faults.trial import Scrape, Series, Trial
from tests.ports import free_port

from railfab.dashboards import ALERTS, RECORDING, Alert, RecordingRule
from railfab.metrics import CATALOGUE

STEP_S = 15
"""Evaluation interval [s]."""
SLOT_S = 7200
"""From one trial to the next: longer than every window of a rule, and the time of one block of Prometheus [s]."""
LOOKBACK = "25s"
"""A series that is not in a scrape is gone: the next one is at most this much later."""
SYMPTOM = "symptom"
"""Stands in a verdict for the symptom that was seen."""
NAME = re.compile(r"[a-z_:][\w:]*")
"""A name in an expression."""
Sample = tuple[float, Series, float]
"""Time in a trial [s], series, and its value."""


def wanted_metrics(extra: Iterable[str] = ()) -> frozenset[str]:
    """The exposed names that rules, and these expressions, look at."""
    texts = (*(alert.expr for alert in ALERTS), *(rule.expr for rule in RECORDING), *extra)
    names = frozenset().union(*(metrics_of(text) for text in texts))
    return frozenset(exposed for name in names for exposed in CATALOGUE[name].exposed_names())


class Judge:
    """A Prometheus with the scrapes of these trials, and what recording rules make of them."""

    def __init__(
        self, folder: Path, trials: Sequence[Sequence[Scrape]], rules: Sequence[RecordingRule] = RECORDING
    ) -> None:
        self._folder = folder
        end_s = int(time.time()) // SLOT_S * SLOT_S
        self._begins_s = [end_s - SLOT_S * (len(trials) - place) for place in range(len(trials))]
        self._lasts_s = [max((at_s for at_s, _ in scrapes), default=0.0) for scrapes in trials]
        for place, scrapes in enumerate(trials):
            self._write_blocks(place, samples(scrapes))
        for level in levels(rules):
            with self._running():
                recorded = [list(self._recorded(place, level)) for place in range(len(trials))]
            for place, found in enumerate(recorded):
                if found:
                    self._write_blocks(place, found)
        self._context = self._running()

    def __enter__(self) -> Judge:
        self._context.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._context.__exit__(None, None, None)

    def holds(self, place: int, expr: str, until_s: float) -> float | None:
        """When an expression first has a result in a trial; None when it never has."""
        return min(self.results(place, expr, until_s), default=None)

    def results(self, place: int, expr: str, until_s: float) -> list[float]:
        """When an expression has a result in a trial, in simulated time since its beginning."""
        return sorted(at_s for times in self._evaluated(place, expr, until_s) for at_s in times)

    def fires(self, place: int, alert: Alert, until_s: float) -> float | None:
        """When an alert first fires in a trial, in simulated time since its beginning; None when it does not."""
        lasting_s = seconds(alert.lasting or "0s")
        found = [at_s for times in self._evaluated(place, alert.expr, until_s) for at_s in held(times, lasting_s)]
        return min(found, default=None)

    def _evaluated(self, place: int, expr: str, until_s: float) -> Iterator[list[float]]:
        for series in self._range(place, expr, until_s):
            yield [at_s - self._begins_s[place] for at_s, _ in series["values"]]

    def _recorded(self, place: int, rules: Sequence[RecordingRule]) -> Iterator[Sample]:
        """What recording rules make of a trial."""
        for rule in rules:
            for found in self._range(place, rule.expr, self._lasts_s[place]):
                labels = {name: text for name, text in found["metric"].items() if name != "__name__"}
                series = rule.record, tuple(sorted(labels.items()))
                yield from ((at_s - self._begins_s[place], series, float(value)) for at_s, value in found["values"])

    def _range(self, place: int, expr: str, until_s: float) -> Any:
        begin_s = self._begins_s[place]
        end_s = begin_s + int(until_s) // STEP_S * STEP_S
        return self._ask("query_range", query=expr, start=begin_s, end=end_s, step=STEP_S)["result"]

    def _write_blocks(self, place: int, found: Iterable[Sample]) -> None:
        """Add samples of a trial. One call for each: promtool reads all of its input again for every two hours."""
        text = self._folder / "samples.txt"
        with text.open("w") as file:
            file.writelines(openmetrics(found, self._begins_s[place]))
        self._promtool("tsdb", "create-blocks-from", "openmetrics", str(text), str(self._folder / "data"))
        text.unlink()

    def _promtool(self, *arguments: str) -> None:
        done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stdout[-2000:] + done.stderr[-2000:])

    @contextmanager
    def _running(self) -> Iterator[None]:
        self._address = f"127.0.0.1:{free_port()}"
        config = self._folder / "empty.yml"
        config.write_text("{}\n")
        command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self._folder / 'data'}"]
        command += [f"--web.listen-address={self._address}", f"--query.lookback-delta={LOOKBACK}"]
        command += ["--storage.tsdb.retention.time=60d", "--log.level=error", "--storage.tsdb.allow-overlapping-blocks"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=(self._folder / "log").open("a"))
        try:
            self._wait(process)
            yield
        finally:
            process.terminate()
            process.wait(30)

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        until_s = time.monotonic() + 60
        while time.monotonic() < until_s and process.poll() is None:
            try:
                urllib.request.urlopen(f"http://{self._address}/-/ready", timeout=5).close()
                return
            except (OSError, urllib.error.URLError):
                time.sleep(0.1)
        raise RuntimeError((self._folder / "log").read_text()[-2000:])

    def _ask(self, path: str, **query: object) -> Any:
        body = urllib.parse.urlencode(query).encode()
        try:
            with urllib.request.urlopen(f"http://{self._address}/api/v1/{path}", body, timeout=120) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{query}: {error.read().decode()}") from error


def held(times: Sequence[float], lasting_s: float) -> list[float]:
    """The evaluations at which an alert fires whose expression has a result at these."""
    firing, since_s = [], None
    for before_s, at_s in zip([None, *times], times, strict=False):
        if before_s is None or since_s is None or at_s - before_s > STEP_S:
            since_s = at_s
        if at_s - since_s >= lasting_s:
            firing.append(at_s)
    return firing


def seconds(duration: str) -> float:
    """A duration of Prometheus, such as 1m30s."""
    units = {"s": 1, "m": 60, "h": 3600}
    return float(sum(int(number) * units[unit] for number, unit in re.findall(r"(\d+)([smh])", duration)))


def levels(rules: Sequence[RecordingRule]) -> Iterator[list[RecordingRule]]:
    """The recording rules, those first that use no other, then those that use only these, and so on."""
    left = list(rules)
    while left:
        missing = {rule.record for rule in left}
        ready = [rule for rule in left if not missing.intersection(NAME.findall(rule.expr))]
        yield ready
        left = [rule for rule in left if rule not in ready]


def samples(scrapes: Sequence[Scrape]) -> Iterator[Sample]:
    """Every value of the scrapes."""
    return ((at_s, series, value) for at_s, values in scrapes for series, value in values.items())


def openmetrics(found: Iterable[Sample], begin_s: float) -> Iterator[str]:
    """Samples in the text format, by metric, from this time on."""
    lines: dict[str, list[str]] = {}
    for at_s, (name, labels), value in found:
        text = ",".join(f'{key}="{_escaped(word)}"' for key, word in labels)
        moved = begin_s if name.endswith("_timestamp_seconds") else 0.0
        lines.setdefault(name, []).append(f"{name}{{{text}}} {value + moved!r} {begin_s + at_s:.3f}\n")
    for name, own in sorted(lines.items()):
        yield f"# TYPE {name} unknown\n"
        yield from own
    yield "# EOF\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def verdicts(judge: Judge, trials: Sequence[Trial]) -> Mapping[str, Mapping[str, float]]:
    """By mistake, the alerts that fired within its time, and how many simulated seconds after it."""
    found: dict[str, dict[str, float]] = {}
    for place, trial in enumerate(trials):
        fired = {alert.alert: judge.fires(place, alert, trial.ended_s) for alert in ALERTS}
        if trial.mistake.symptom:
            fired[SYMPTOM] = judge.holds(place, trial.mistake.symptom, trial.ended_s)
        found[trial.mistake.id] = {name: at_s - trial.made_s for name, at_s in fired.items() if at_s is not None}
    return found

"""Try mistakes of the list, judge them with a real Prometheus, and write the pages of docs: `make faults`.

python -m tests.faults [ID ...]                  these only
python -m tests.faults --on PLATFORM [ID ...]    on switches of this platform
python -m tests.faults --untried --on PLATFORM   only those that have no verdict there
python -m tests.faults --pages                   try none, and write the pages
"""

from __future__ import annotations

import logging
import os
import pickle
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tests.faults.healthy import JOBS, SECONDS
from tests.faults.held_out import SOURCE, held_out
from tests.faults.judge import Judge, verdicts, wanted_metrics
from tests.faults.matrix import PAGE, Row, faulty, listed_on, matrix, page, page_of, platform_page, platforms, result
from tests.faults.mistakes import Mistake, jobs, mistakes, nothing
from tests.faults.translation import LISTED, translated
from tests.faults.trial import Rack, Refused, Trial, rack_of
from tests.faults.verdict import Verdict, Verdicts

TRIALS = "RAILFAB_FAULT_TRIALS"
"""Folder that keeps trials, so that an interrupted run continues."""
WORKERS = 2
ATTEMPTS = 2
"""A mistake whose trial fails as often is left out."""


def _try(folder: Path, served: str, names: list[str]) -> None:
    """Make these mistakes on a twin of our own; a twin that does not become healthy again is replaced."""
    waiting = [name for name in names if not (folder / name).exists()]
    failures: Counter[str] = Counter()
    while waiting:
        with (
            tempfile.TemporaryDirectory() as state,
            Rack(rack_of(served), Path(state), wanted_metrics(_symptoms(served))) as rack,
        ):
            try:
                while waiting:
                    (folder / waiting[0]).write_bytes(pickle.dumps(_trial(rack, served, waiting[0])))
                    print(waiting.pop(0), flush=True)
            except (TimeoutError, ConnectionError, RuntimeError, Refused) as error:
                print(f"{waiting[0]}: {error}", flush=True)
                failures[waiting[0]] += 1
                if failures[waiting[0]] == ATTEMPTS:
                    waiting.pop(0)


def _trial(rack: Rack, served: str, name: str) -> Trial:
    mistake = _mistake(name, served)
    return rack.tried(mistake) if mistake.alert else rack.healthy(jobs()[mistake.job], SECONDS)


def _mistake(name: str, served: str) -> Mistake:
    """What the lists have under this name, on switches of a platform; a healthy job is the mistake of none."""
    listed = next((translated(mistake, served) for mistake in mistakes() if mistake.id == name), None)
    held = next((mistake for mistake in held_out(served) if mistake.id == name), None)
    return listed or held or nothing(name.removeprefix("healthy-"))


def _trials(folder: Path, served: str, names: Sequence[str]) -> list[Trial]:
    """Make these mistakes on twins of several processes, as many as there are WORKERS.

    Raises CalledProcessError when such a process fails.
    """
    command = [sys.executable, "-m", "tests.faults", "--try", str(folder), served]
    running = [subprocess.Popen([*command, *names[place::WORKERS]]) for place in range(WORKERS)]
    for process in running:
        if code := process.wait():
            raise subprocess.CalledProcessError(code, process.args)
    return [_kept(folder / name, served) for name in names]


def _kept(path: Path, served: str) -> Trial:
    """A trial of a file, judged by what the list says of its mistake now; one that says so where there is none."""
    mistake = _mistake(path.name, served)
    if not path.exists():
        return Trial(mistake, refused="the trial failed")
    trial: Trial = pickle.loads(path.read_bytes())
    return replace(trial, mistake=mistake)


def _symptoms(served: str) -> list[str]:
    return [mistake.symptom for mistake in (*mistakes(), *held_out(served)) if mistake.symptom]


def _machine() -> str:
    """Processors, and the versions that a verdict depends on."""
    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    prometheus = re.search(r"version (\S+)", _said("prometheus", "--version"))
    versions = f"Python {platform.python_version()}, Prometheus {prometheus[1] if prometheus else 'unknown'}"
    return f"{os.cpu_count()} cores ({processor[1] if processor else platform.machine()}), {versions}"


def _rows(trials: Sequence[Trial], data: Path) -> list[Row]:
    """The verdict on each trial. data: folder of the Prometheus."""
    made, commit = datetime.now(UTC).date(), _said("git", "rev-parse", "--short=8", "HEAD")
    with Judge(data, [trial.scrapes for trial in trials]) as judge:
        judged = verdicts(judge, trials)
    return [Row(trial.mistake, Verdict.of(trial, judged[trial.mistake.id], made, commit)) for trial in trials]


def write_pages() -> None:
    """Write the page of every platform with verdicts."""
    elsewhere = [result(served) for served in platforms() if served != LISTED]
    PAGE.write_text(page(result(LISTED), elsewhere))
    for shown in elsewhere:
        page_of(shown.platform).write_text(platform_page(shown))


def _said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main(arguments: list[str]) -> int:
    logging.disable(logging.CRITICAL)
    if arguments[:1] == ["--try"]:
        _try(Path(arguments[1]), arguments[2], arguments[3:])
        return 0
    if arguments == ["--pages"]:
        write_pages()
        return 0
    is_untried = arguments[:1] == ["--untried"]
    arguments = arguments[is_untried:]
    served = LISTED
    if arguments[:1] == ["--on"]:
        served, *arguments = arguments[1:]
    healthy = [f"healthy-{job}" for job in JOBS] if served == LISTED else []
    names = arguments or [mistake.id for mistake in listed_on(served)] + healthy
    before = Verdicts.read(served)
    if is_untried:
        names = [name for name in names if name not in before.by_mistake]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(os.environ.get(TRIALS) or temporary)
        folder.mkdir(exist_ok=True)
        (data := Path(temporary) / "prometheus").mkdir()
        rows = _rows(_trials(folder, served, names), data)
    print(matrix(rows))
    by_mistake = {**before.by_mistake, **{row.mistake.id: row.verdict for row in rows}}
    Verdicts(_machine(), by_mistake).write(served)
    write_pages()
    return int(bool(faulty([row for row in rows if row.mistake.source != SOURCE])))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

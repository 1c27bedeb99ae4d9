"""Try every mistake of the list, judge them with a real Prometheus, and write docs/faults.md: `make faults`.

python -m tests.faults [ID ...]                  these only, and write no page
python -m tests.faults --on PLATFORM [ID ...]    on switches of this platform; all of them write docs/faults-PLATFORM.md
                                                 and the table of docs/faults.md
python -m tests.faults --kept --on PLATFORM      try none: the page is of the trials that are kept, and lists the others
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

from tests.faults.figures import figures, with_figures
from tests.faults.healthy import JOBS, SECONDS
from tests.faults.held_out import held_out
from tests.faults.judge import Judge, verdicts, wanted_metrics
from tests.faults.matrix import PAGE, Origin, faulty, matrix, of_list, page, page_of, platform_page
from tests.faults.mistakes import Mistake, jobs, mistakes, nothing
from tests.faults.translation import LISTED, expressible, inexpressible, translated
from tests.faults.trial import Rack, Refused, Trial, rack_of

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


def _kept(path: Path, served: str) -> Trial:
    """A trial of a file, judged by what the list says of its mistake now; one that says so where there is none."""
    mistake = _mistake(path.name, served)
    if not path.exists():
        return Trial(mistake, refused="the trial failed")
    trial: Trial = pickle.loads(path.read_bytes())
    return replace(trial, mistake=mistake)


def _symptoms(served: str) -> list[str]:
    return [mistake.symptom for mistake in (*mistakes(), *held_out(served)) if mistake.symptom]


def _origin(made_s: Sequence[float]) -> Origin:
    """Where and when trials were made that ended at these times; Unix time."""
    first, last = (datetime.fromtimestamp(at_s, UTC).date() for at_s in (min(made_s), max(made_s)))
    commit = _said("git", "rev-parse", "--short", "HEAD")
    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    machine = f"{os.cpu_count()} cores ({processor[1] if processor else platform.machine()})"
    prometheus = re.search(r"version (\S+)", _said("prometheus", "--version"))
    versions = f"Python {platform.python_version()}, Prometheus {prometheus[1] if prometheus else 'unknown'}"
    return Origin(first, last, commit, f"{machine}, {versions}")


def _said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main(arguments: list[str]) -> int:
    logging.disable(logging.CRITICAL)
    if arguments[:1] == ["--try"]:
        _try(Path(arguments[1]), arguments[2], arguments[3:])
        return 0
    is_kept = arguments[:1] == ["--kept"]
    arguments = arguments[is_kept:]
    served = LISTED
    if arguments[:1] == ["--on"]:
        served, *arguments = arguments[1:]
    healthy = [f"healthy-{job}" for job in JOBS] if served == LISTED else []
    names = arguments or expressible(served) + [mistake.id for mistake in held_out(served)] + healthy
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(os.environ.get(TRIALS) or temporary)
        folder.mkdir(exist_ok=True)
        untried = [name for name in names if not (folder / name).exists()] if is_kept else []
        names = [name for name in names if name not in untried]
        command = [sys.executable, "-m", "tests.faults", "--try", str(folder), served]
        workers = 0 if is_kept else WORKERS
        running = [subprocess.Popen([*command, *names[place::WORKERS]]) for place in range(workers)]
        codes = [process.wait() for process in running]
        if any(codes):
            return 1
        trials = [_kept(folder / name, served) for name in names]
        (data := Path(temporary) / "prometheus").mkdir()
        with Judge(data, [trial.scrapes for trial in trials]) as judge:
            found = verdicts(judge, trials)
        made_s = [(folder / name).stat().st_mtime for name in names if (folder / name).exists()]
    print(matrix(trials, found))
    if not arguments and served == LISTED:
        PAGE.write_text(with_figures(page(trials, found, _origin(made_s)), figures()))
    elif not arguments:
        reasons = {mistake.title: why for mistake in mistakes() if (why := inexpressible(mistake, served))}
        page_of(served).write_text(platform_page(served, trials, found, _origin(made_s), reasons, untried))
        PAGE.write_text(with_figures(PAGE.read_text(), figures()))
    return int(bool(faulty(of_list(trials), found)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

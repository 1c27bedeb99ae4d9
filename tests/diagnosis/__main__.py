"""Make faults on a twin, diagnose each, and write what is named to docs/doctor.md: `make doctor`.

python -m tests.diagnosis [--on PLATFORM] [--pairs] [--healthy] [ID ...]
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

from tests.diagnosis.trials import AFTER_S, DiagnosisRack, both, expected_codes, expected_of
from tests.faults.mistakes import Mistake, jobs, mistakes
from tests.faults.translation import LISTED, inexpressible, rack, translated
from tests.faults.trial import Refused, rack_of

from railfab.diagnosis import FabricDiagnosis
from railfab.fabric import Design

RESULTS = Path(__file__).parent / "results"
HEALTHY = ("ring", "incast", "allreduce", "light", "mixed")
TRIALS_OF_JOB = 4
PAIRS = 20
SEED = 33
FIRST_THREE = 3


def faults(served: str) -> list[Mistake]:
    """The faults that switches of a platform can have and a diagnosis names."""
    return [
        translated(mistake, served)
        for mistake in mistakes()
        if mistake.id in expected_codes() and not inexpressible(mistake, served)
    ]


def pairs(served: str) -> list[tuple[Mistake, Mistake]]:
    """Two faults of different causes that do not change one switch's configuration both, in a fixed random order."""
    listed = faults(served)
    fabric = rack(served)
    candidates = [pair for pair in combinations(listed, 2) if _are_apart(*pair, fabric)]
    return Random(SEED).sample(candidates, PAIRS)


def _are_apart(first: Mistake, second: Mistake, fabric: Design) -> bool:
    expected = [expected_of(mistake, fabric) for mistake in (first, second)]
    codes, places = ({*expected[0].codes} & expected[1].codes, {*expected[0].places} & expected[1].places)
    return not codes and not places and not (first.flaps or second.flaps)


def _single(rack: DiagnosisRack, mistake: Mistake) -> dict[str, Any]:
    expected, found = expected_of(mistake, rack.fabric), rack.diagnosis(mistake)
    ranks = [rank for rank in range(1, len(found.causes) + 1) if expected.is_named(found, rank)]
    return {"rank": min(ranks, default=0), "causes": _codes(found), "window_s": round(found.window_s, 1)}


def _pair(rack: DiagnosisRack, first: Mistake, second: Mistake) -> dict[str, Any]:
    found = rack.diagnosis(both(first, second))
    named = [expected_of(each, rack.fabric).is_named(found, FIRST_THREE) for each in (first, second)]
    return {"named": sum(named), "causes": _codes(found), "window_s": round(found.window_s, 1)}


def _codes(found: FabricDiagnosis) -> list[str]:
    return [cause.code for cause in found.causes]


def _tried(rack: DiagnosisRack, served: str, arguments: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    names = [name for name in arguments if not name.startswith("--")]
    if "--healthy" in arguments:
        for number in range(TRIALS_OF_JOB):
            for job in HEALTHY:
                yield f"healthy-{job}-{number}", {"causes": _codes(rack.healthy_diagnosis(jobs()[job], AFTER_S))}
    elif "--pairs" in arguments:
        for first, second in pairs(served):
            try:
                yield f"{first.id}+{second.id}", _pair(rack, first, second)
            except (Refused, TimeoutError, RuntimeError) as error:
                yield f"{first.id}+{second.id}", {"failed": str(error)[:200]}
    else:
        for mistake in faults(served):
            if not names or mistake.id in names:
                try:
                    yield mistake.id, _single(rack, mistake)
                except (Refused, TimeoutError, RuntimeError) as error:
                    yield mistake.id, {"failed": str(error)[:200]}


def main(arguments: list[str]) -> int:
    logging.disable(logging.CRITICAL)
    served = LISTED
    if arguments[:1] == ["--on"]:
        served, arguments = arguments[1], arguments[2:]
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{served}.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    with tempfile.TemporaryDirectory() as state, DiagnosisRack(rack_of(served), Path(state)) as rack:
        for name, result in _tried(rack, served, arguments):
            sys.stdout.write(f"{name} {json.dumps(result)}\n")
            sys.stdout.flush()
            results[name] = result
            path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Forms of what a virtual switch with NX-OS shows: lines, JSON, times."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

from railfab.platforms.nxos.show_rows import Json
from railfab.platforms.shared.virtual_cli import CliRefusal

RULE = "-" * 80
NO_TEXT = "% Unavailable command (a virtual switch has it with | json)"
NO_JSON = "% Unavailable command (a virtual switch has it without | json)"
DAY_S, WEEK_S, YEAR_S = 86_400, 604_800, 31_536_000


def is_json(form: str) -> bool:
    return form in ("json", "json-pretty")


def require_json(form: str) -> None:
    """Raise CliRefusal for a command whose text is not known."""
    if not is_json(form):
        raise CliRefusal(NO_TEXT)


def require_text(form: str) -> None:
    """Raise CliRefusal for a command whose JSON is not known."""
    if is_json(form):
        raise CliRefusal(NO_JSON)


def as_json(value: Json) -> str:
    return json.dumps(value) + "\n"


def as_lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def ruled(*header: str) -> list[str]:
    """The header of a table between two rules, after an empty line."""
    return ["", RULE, *header, RULE]


def since(timestamp_s: float | None) -> str:
    """Time that has passed, as BGP shows it: `00:01:02`, `1d04h`, `3w2d`, `1y10w`."""
    if timestamp_s is None:
        return "never"
    passed_s = max(0, int(time.time() - timestamp_s))
    if passed_s < DAY_S:
        return f"{passed_s // 3600:02d}:{passed_s // 60 % 60:02d}:{passed_s % 60:02d}"
    if passed_s < WEEK_S:
        return f"{passed_s // DAY_S}d{passed_s % DAY_S // 3600:02d}h"
    if passed_s < YEAR_S:
        return f"{passed_s // WEEK_S}w{passed_s % WEEK_S // DAY_S}d"
    return f"{passed_s // YEAR_S}y{passed_s % YEAR_S // WEEK_S}w"


def duration(timestamp_s: float | None) -> str:
    """Time that has passed, as the JSON of BGP has it: `P1DT4H28M45S` (ISO 8601)."""
    if timestamp_s is None:
        return "never"
    passed_s = max(0, int(time.time() - timestamp_s))
    days = f"{passed_s // DAY_S}D" if passed_s >= DAY_S else ""
    return f"P{days}T{passed_s % DAY_S // 3600}H{passed_s // 60 % 60}M{passed_s % 60}S"

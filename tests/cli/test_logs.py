"""The log on stderr, for people and for log stores."""

from __future__ import annotations

import json
import logging

from railfab.cli.logs import JsonLine


def record(message: str, *arguments: object, **more: object) -> dict[str, str]:
    made = logging.LogRecord("railfab.test", logging.WARNING, __file__, 1, message, arguments, None)
    made.created, made.msecs = 1_795_000_000.25, 250.0
    vars(made).update(more)
    return json.loads(JsonLine().format(made))


def test_a_record_is_one_json_object_with_its_device() -> None:
    expected = {"time": "2026-11-18T11:06:40.250Z", "level": "warning", "logger": "railfab.test"}
    assert record("%s: no\nanswer", "leaf1", device="leaf1") == expected | {
        "message": "leaf1: no\nanswer",
        "device": "leaf1",
    }
    assert record("late") == expected | {"message": "late"}

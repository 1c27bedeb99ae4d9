"""The log on stderr: lines for people, or one JSON object a line for a log store."""

from __future__ import annotations

import logging
import sys
import time
from enum import StrEnum

from railfab.cli.echo import echo
from railfab.text.printable import json_text, printable, printable_lines

LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class LogFormat(StrEnum):
    """Formats of the log."""

    TEXT = "text"
    JSON = "json"


class JsonLine(logging.Formatter):
    """A record as one JSON object: `time` (UTC, RFC 3339), `level`, `logger`, `message`; `device` and `exception` where
    there is one."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        found = {
            "time": f"{moment}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if device := getattr(record, "device", ""):
            found["device"] = device
        if record.exc_info:
            found["exception"] = self.formatException(record.exc_info)
        return json_text(found)


class TextLine(logging.Formatter):
    """A record as one line, and the lines of its traceback."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return printable(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        return printable_lines(super().format(record))


def configure(form: LogFormat, *, verbose: bool) -> None:
    """Write what is logged to stderr: errors, or with verbose everything but what is for debugging."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLine() if form is LogFormat.JSON else TextLine(LINE))
    logging.basicConfig(level=logging.INFO if verbose else logging.ERROR, handlers=[handler])


def announce(text: str) -> None:
    """Write a line of a service to stderr, such as its address: bare, or as a record where the log is JSON."""
    root = logging.getLogger()
    if any(isinstance(handler.formatter, JsonLine) for handler in root.handlers):
        logging.getLogger("railfab").info("%s", text)
        return
    echo(text, err=True)

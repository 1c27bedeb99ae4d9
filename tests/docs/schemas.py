"""The schemas of `--output json` in docs/schemas: `python -m tests.docs.schemas` writes them again."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from railfab.cli.records import RECORDS, json_schema

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "schemas"


def schema_text(name: str) -> str:
    return json.dumps(json_schema(name), indent=2) + "\n"


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((FOLDER / f"{name}.json").read_text()))


def conforming(name: str, text: str) -> Any:
    """The document in a text that `--output json` printed, which obeys the schema of that name."""
    document = json.loads(text)
    wrong = [f"{error.json_path}: {error.message}"[:300] for error in _validator(name).iter_errors(document)]
    assert wrong == []
    return document


def write() -> None:
    """Write every schema, and remove those of documents that are no more."""
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for name in RECORDS:
        (FOLDER / f"{name}.json").write_text(schema_text(name))


if __name__ == "__main__":
    write()

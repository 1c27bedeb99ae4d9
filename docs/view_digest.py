"""Digest of the modules that draw the live view, without their comments and docstrings; `make record` keeps it.

python docs/view_digest.py
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from pathlib import Path

MODULES = tuple(f"railfab.app.{name}" for name in ("cells", "escaped", "fabric_tables", "sparkline", "view"))


def view_digest() -> str:
    """The same for modules that draw the same."""
    return hashlib.sha256("\n".join(map(_code, MODULES)).encode()).hexdigest()


def _code(name: str) -> str:
    """The code of a module; a string that stands alone is documentation."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse(Path(spec.origin).read_text())
    for node in ast.walk(tree):
        for body in (value for _, value in ast.iter_fields(node) if isinstance(value, list)):
            body[:] = [part for part in body if not _is_text(part)]
    return ast.dump(tree)


def _is_text(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


if __name__ == "__main__":
    print(view_digest())  # noqa: T201 - a command

"""JUnit XML, which CI servers show: a suite of test cases, each passed, failed, in error or skipped.

One root `testsuite`, with what the schemas of Jenkins (junit-10.xsd) and of Maven Surefire both want.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML 1.0 document can have, not even as a reference (section 2.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JunitCase:
    """A test case. failures: what is wrong, a line each. error: why it could not be checked. skipped: why it was not.

    group: the class name, by which servers group cases.
    """

    name: str
    group: str
    failures: tuple[str, ...] = ()
    error: str = ""
    skipped: str = ""


def junit_text(suite: str, cases: Sequence[JunitCase], took_s: float) -> str:
    """The document of a suite. took_s: of all of it, which is read as a whole; a case takes no time of its own."""
    from xml.etree.ElementTree import Element, indent, tostring  # on use: commands that write no such file need none

    counts = {
        "tests": len(cases),
        "failures": sum(bool(case.failures) and not case.error for case in cases),
        "errors": sum(bool(case.error) for case in cases),
        "skipped": sum(_is_skipped(case) for case in cases),
    }
    attributes = {"name": _xml(suite), "time": f"{took_s:.3f}", **{key: str(count) for key, count in counts.items()}}
    root = Element("testsuite", attributes)
    for case in cases:
        _add(root, case)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _add(root: Element, case: JunitCase) -> None:
    """A case has one outcome: an error, else its failures, else that it was skipped."""
    from xml.etree.ElementTree import SubElement

    added = SubElement(root, "testcase", {"name": _xml(case.name), "classname": _xml(case.group), "time": "0.000"})
    if case.error:
        _outcome(added, "error", (case.error,))
    elif case.failures:
        _outcome(added, "failure", case.failures)
    elif case.skipped:
        SubElement(added, "skipped", {"message": _xml(case.skipped)})


def _outcome(case: Element, kind: str, lines: Sequence[str]) -> None:
    """message: the first line; the text has all."""
    from xml.etree.ElementTree import SubElement

    element = SubElement(case, kind, {"message": _xml(lines[0]), "type": kind})
    element.text = _xml("\n".join(lines))


def _is_skipped(case: JunitCase) -> bool:
    return bool(case.skipped) and not case.failures and not case.error


def _xml(text: str) -> str:
    """The text with `\\x1b` and the like in the place of characters that XML cannot have."""
    return NOT_XML.sub(lambda match: repr(match[0])[1:-1], text)

"""JUnit XML: what the schemas of Jenkins and of Maven Surefire both want, for whatever a switch or a file says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from tests.laws import examples

from railfab.cli.junit import JunitReport, outcome_cases, switch_cases
from railfab.deploy import Outcome
from railfab.errors import Unreachable
from railfab.findings import DifferenceCode, error, note, warning
from railfab.text.junit import JunitCase, junit_text

RULES = """
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:simpleType name="seconds">
    <xs:restriction base="xs:string"><xs:pattern value="[0-9]{1,3}([0-9]{3})*[.][0-9]{3}"/></xs:restriction>
  </xs:simpleType>
  <xs:complexType name="outcome"><xs:simpleContent><xs:extension base="xs:string">
    <xs:attribute name="message" type="xs:string"/><xs:attribute name="type" type="xs:string" use="required"/>
  </xs:extension></xs:simpleContent></xs:complexType>
  <xs:complexType name="skipped"><xs:simpleContent><xs:extension base="xs:string">
    <xs:attribute name="message" type="xs:string"/>
  </xs:extension></xs:simpleContent></xs:complexType>
  <xs:element name="testsuite"><xs:complexType>
    <xs:sequence><xs:element name="testcase" minOccurs="0" maxOccurs="unbounded"><xs:complexType>
      <xs:choice minOccurs="0">
        <xs:element name="failure" type="outcome"/>
        <xs:element name="error" type="outcome"/>
        <xs:element name="skipped" type="skipped"/>
      </xs:choice>
      <xs:attribute name="name" type="xs:string" use="required"/>
      <xs:attribute name="classname" type="xs:string" use="required"/>
      <xs:attribute name="time" type="seconds" use="required"/>
    </xs:complexType></xs:element></xs:sequence>
    <xs:attribute name="name" type="xs:string" use="required"/>
    <xs:attribute name="time" type="seconds" use="required"/>
    <xs:attribute name="tests" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="failures" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="errors" type="xs:nonNegativeInteger" use="required"/>
    <xs:attribute name="skipped" type="xs:nonNegativeInteger" use="required"/>
  </xs:complexType></xs:element>
</xs:schema>
"""
"""A document that both schemas allow: a root `testsuite` with these attributes, one outcome a case."""
SCHEMA = etree.XMLSchema(etree.fromstring(RULES))
TEXTS = st.text(st.characters(codec=None, categories=None), max_size=30)


def parsed(text: str) -> etree._Element:
    """The root of a document that obeys the rules."""
    root = etree.fromstring(text.encode())
    SCHEMA.assertValid(root)
    return root


@settings(max_examples=examples(200))
@given(suite=TEXTS, name=TEXTS, line=TEXTS)
def test_any_text_is_escaped_and_read_as_it_was(suite: str, name: str, line: str) -> None:
    cases = [
        JunitCase(name=name, group=name, failures=(line, "second")),
        JunitCase(name=name, group=name, error=line or "e"),
        JunitCase(name=name, group=name, skipped=line or "s"),
    ]
    root = parsed(junit_text(suite, cases, 1.5))
    legal = all(character in "\t\n" or 0x20 <= ord(character) < 0xD800 for character in suite + name + line)
    if legal:
        assert root.get("name") == suite
        assert [case.get("name") for case in root] == [name] * 3
        assert root[0][0].text == f"{line}\nsecond"
        assert root[1][0].get("message") == (line or "e")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('<a & "b">]]>', '<a & "b">]]>'),
        ("\x1b[31mred\x00", "\\x1b[31mred\\x00"),
        ("\ud800 \ufffe", "\\ud800 \\ufffe"),
        ("two\nlines\ttab", "two\nlines\ttab"),
    ],
)
def test_what_xml_cannot_have_is_written_out(text: str, shown: str) -> None:
    root = parsed(junit_text("suite", [JunitCase(name=text, group="g", failures=(text,))], 0.0))
    assert (root[0].get("name"), root[0][0].get("message"), root[0][0].text) == (shown, shown, shown)


def test_a_case_has_one_outcome_and_the_suite_counts_them() -> None:
    cases = [
        JunitCase(name="passed", group="g"),
        JunitCase(name="both", group="g", failures=("f",), error="e", skipped="s"),
        JunitCase(name="failed", group="g", failures=("f", "more"), skipped="s"),
        JunitCase(name="skipped", group="g", skipped="s"),
    ]
    root = parsed(junit_text("suite", cases, 61.23456))
    assert [[outcome.tag for outcome in case] for case in root] == [[], ["error"], ["failure"], ["skipped"]]
    counts = {key: root.get(key) for key in ("tests", "failures", "errors", "skipped", "time")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1", "time": "61.235"}


def test_a_switch_fails_by_its_errors_and_warnings_and_not_by_notes() -> None:
    differs = DifferenceCode.CONFIGURATION_DIFFERS
    findings = [
        error(differs, "leaf1: mtu", "is 1500", "Deploy"),
        warning(differs, "leaf1: name", "is x", "Deploy"),
        note(differs, "leaf2: description", "is y", "Deploy"),
        error(differs, "fabric", "is odd", "Look"),
    ]
    unread = {"leaf3": Unreachable("leaf3", "does not answer", "Check it")}
    cases = list(switch_cases("audit", ["leaf1", "leaf2", "leaf3"], findings, unread))
    assert [(case.name, len(case.failures), bool(case.error)) for case in cases] == [
        ("leaf1", 2, False),
        ("leaf2", 0, False),
        ("leaf3", 0, True),
        ("fabric", 1, False),
    ]


def test_a_switch_of_a_change_fails_and_is_in_error_where_a_part_may_run() -> None:
    outcomes = [
        Outcome(name="one", changed=True, failed=False, diff="x"),
        Outcome(name="two", changed=False, failed=True, diff="", error="two: refused"),
        Outcome(name="three", changed=False, failed=True, diff="", error="three: lost", unsettled=True),
    ]
    cases = [(case.name, case.failures, case.error) for case in outcome_cases("deploy", outcomes)]
    assert cases == [("one", (), ""), ("two", ("two: refused",), ""), ("three", (), "three: lost")]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no"):
        JunitReport("drift", tmp_path / "no" / "file.xml").write("pod", [])
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        JunitReport("drift", tmp_path / "taken").write("pod", [])
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    JunitReport("drift", None).write("pod", [])

"""Report of a fabric, or of two side by side, for a design review: one HTML file without links to other files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files

from markdown_it import MarkdownIt

from railfab.documents.explain import explained
from railfab.documents.markdown import table_lines
from railfab.documents.overview import ROLES
from railfab.documents.plan import Plan
from railfab.documents.sentences import description, headline
from railfab.documents.summary import summary
from railfab.draw import topology_svg
from railfab.findings import findings_text
from railfab.text.counted import counted
from railfab.text.folding import folded
from railfab.topology.grouping import grouped

LEFT_OUT = frozenset(("Files", "Findings"))
"""Sections of the summary that are none of a report: files are not with it, and findings have a place of their own."""
PICTURE, FINDINGS, CONFIGURATIONS = "Picture", "Findings", "Configurations"


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A section of a report. markdown: its text; html: what follows it, such as a picture."""

    title: str
    markdown: str = ""
    html: str = ""


def report(plans: Sequence[Plan], version: str, further: Sequence[ReportSection] = ()) -> str:
    """The whole page. Deterministic: the same intents and results give the same text.

    plans: one fabric, or two that are compared: a section that is the same of both is shown once. version: of railfab.
    further: results and states that were given.
    """
    sections = [_sections(plan) for plan in plans]
    titles = dict.fromkeys(title for of_plan in sections for title in of_plan)
    body = "".join(_compared(title, [of_plan.get(title) for of_plan in sections]) for title in titles)
    body += "".join(_section(each.title, _content(each)) for each in further)
    heads = "".join(map(_head, plans))
    contents = "".join(
        f'<li><a href="#{_anchor(title)}">{escape(title)}</a></li>' for title in _titles(titles, further)
    )
    names = " and ".join(plan.topology.fabric for plan in plans)
    style = files("railfab.documents").joinpath("report.css").read_text()
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(names)}: design report</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>\n{style}</style></head>\n'
        f'<body class="of-{len(plans)}"><header><h1>{escape(names)}</h1><div class="columns">{heads}</div></header>\n'
        f"<nav><ol>{contents}</ol></nav>\n<main>{body}</main>\n"
        f"<footer>railfab {escape(version)}. Numbers follow from the intent; each statement names its reason.</footer>"
        "</body></html>\n"
    )


def _titles(titles: Iterable[str], further: Iterable[ReportSection]) -> Iterator[str]:
    yield from titles
    yield from (each.title for each in further)


def _head(plan: Plan) -> str:
    digest = sha256(plan.path.read_bytes()).hexdigest()[:12] if plan.path.is_file() else "standard input"
    text = f"{headline(plan)}. {description(plan.intent)}"
    verdict = findings_text(plan.findings) if plan.findings else "no findings"
    return (
        f"<div><p><strong>{escape(plan.topology.fabric)}</strong>: {escape(text)}</p>"
        f'<p class="facts">{escape(verdict)} · {escape(plan.path.name)} {digest}</p></div>'
    )


def _sections(plan: Plan) -> Mapping[str, ReportSection]:
    """The sections of one fabric by their titles, in the order of a review."""
    picture = topology_svg(plan.topology, plan.intent.hosts, plan.findings)
    findings = "\n".join(f"- {finding.line}" for finding in plan.findings) or "The checks of the design find nothing."
    words = (
        ReportSection(each.section, "\n".join(f"- {line}" for line in each.statements)) for each in explained(plan)
    )
    made = (
        ReportSection(PICTURE, html=f"<figure>{picture}</figure>"),
        ReportSection(FINDINGS, findings),
        *(section for section in words if section.title not in LEFT_OUT),
        *_of_summary(plan),
        _configurations(plan),
    )
    by_title: dict[str, ReportSection] = {}
    for section in made:
        known = by_title.get(section.title)
        text = f"{known.markdown}\n\n{section.markdown}" if known else section.markdown
        by_title[section.title] = ReportSection(section.title, text, section.html)
    return by_title


def _of_summary(plan: Plan) -> Iterator[ReportSection]:
    """The tables of the summary."""
    _, *parts = summary(plan).split("\n## ")
    for part in parts:
        title, _, text = part.partition("\n")
        if title not in LEFT_OUT:
            yield ReportSection(title, text)


def _configurations(plan: Plan) -> ReportSection:
    """What each kind of switch is configured with: number of lines and settings, and one configuration as a whole."""
    configurations = plan.texts
    groups = grouped(plan.topology.switches(), lambda node: (node.net, node.role, node.platform))
    rows, examples = [], []
    for group in (each for each in groups if each[0].name in configurations):
        first = group[0]
        text = configurations[first.name]
        names = folded([node.name for node in group])
        rows.append((names, first.platform, ROLES[first.role], len(group), text.count("\n")))
        examples.append(
            f"<details><summary>{escape(first.name)} ({escape(first.platform or '')}, "
            f"{counted(text.count(chr(10)), 'line')})</summary><pre>{escape(text)}</pre></details>"
        )
    table = table_lines(("switches", "platform", "tier", "count", "lines of the first"), rows)
    return ReportSection(CONFIGURATIONS, "\n".join(table), "".join(examples))


def _compared(title: str, sections: Sequence[ReportSection | None]) -> str:
    """A section of all fabrics: once where it is the same of all, else in columns."""
    contents = [_content(section) if section else "<p>None.</p>" for section in sections]
    if len(set(contents)) == 1:
        same = '<p class="same">The same in both.</p>' if len(contents) > 1 else ""
        return _section(title, same + contents[0])
    columns = "".join(f"<div>{content}</div>" for content in contents)
    return _section(title, f'<div class="columns">{columns}</div>')


def _section(title: str, content: str) -> str:
    return f'<section id="{_anchor(title)}"><h2>{escape(title)}</h2>{content}</section>\n'


def _anchor(title: str) -> str:
    return "-".join(title.lower().split())


def _content(section: ReportSection) -> str:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    return (
        str(markdown.render(section.markdown))
        .replace("<table>", '<div class="scroll"><table>')
        .replace("</table>", "</table></div>")
        + section.html
    )

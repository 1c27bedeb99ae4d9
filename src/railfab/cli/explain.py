"""`railfab explain`: a description of a fabric and of its numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from railfab.cli.common import IntentFile, Output, OutputOption, print_json, print_text, uncollected

if TYPE_CHECKING:
    from railfab.documents.explain import Section


@uncollected()
def explain(intent: IntentFile, output: OutputOption = Output.TABLE) -> None:
    """Describe a fabric in plain words, with the reason for each of its numbers, and its findings."""
    from railfab.documents import planned
    from railfab.documents.explain import explained

    sections = explained(planned(intent))
    if output is Output.JSON:
        print_json([asdict(section) for section in sections])
    else:
        _print(sections)


def _print(sections: tuple[Section, ...]) -> None:
    """Print the title of each section, and one line per statement."""
    for section in sections:
        print_text((section.section, "bold"))
        for statement in section.statements:
            print_text(statement)
        print_text("")

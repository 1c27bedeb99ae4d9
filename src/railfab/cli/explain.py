"""`railfab explain`: a fabric in plain words."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from railfab.cli.common import IntentFile, Output, OutputOption, print_json, stdout, uncollected

if TYPE_CHECKING:
    from railfab.documents.explain import Section


@uncollected()
def explain(intent: IntentFile, output: OutputOption = Output.TABLE) -> None:
    """Say in plain words what a fabric is, and why each of its numbers came out as it did. Findings are said too."""
    from railfab.documents import planned
    from railfab.documents.explain import explained

    sections = explained(planned(intent))
    if output is Output.JSON:
        print_json([asdict(section) for section in sections])
    else:
        _print(sections)


def _print(sections: tuple[Section, ...]) -> None:
    """A title, and a line a statement, which a terminal wraps."""
    console = stdout()
    for section in sections:
        console.print(section.section, style="bold", markup=False)
        for statement in section.statements:
            console.print(statement, markup=False, soft_wrap=not console.is_terminal)
        console.print()

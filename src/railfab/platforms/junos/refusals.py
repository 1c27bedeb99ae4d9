"""Commands of a text of Junos that name nothing, of which the switch warns."""

from __future__ import annotations

from railfab.platforms.contract import Refusal
from railfab.platforms.junos import statements
from railfab.platforms.shared.brace_text import shown
from railfab.platforms.shared.edit_commands import WITHOUT_EFFECT


def refusals(text: str) -> tuple[Refusal, ...]:
    """Commands of a text that have no effect. Raises ConfigError for one that is no configuration."""
    idle = (statement for statement in statements.read(text) if statement[0] in WITHOUT_EFFECT)
    problem = "names nothing that the lines before it state, so it has no effect"
    return tuple(
        Refusal(where=shown((WITHOUT_EFFECT[verb], *path)), problem=problem, is_unknown=True) for verb, *path in idle
    )

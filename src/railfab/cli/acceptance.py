"""`--accept`: codes of findings that a command is to report and not to stop at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated

import typer
from typer.models import OptionInfo

from railfab.cli import completion
from railfab.cli.completion import CUT
from railfab.cli.echo import echo
from railfab.errors import RailfabError
from railfab.findings import Code, DesignCode, Finding, HazardCode
from railfab.text.counted import listed

OLD_NAMES_UNTIL = "0.2"
"""Release that no longer reads the names that hazards had before their kinds."""


def design_code(word: str) -> DesignCode:
    """The code of a finding about a design. Raises RailfabError, with the nearest one, for another word."""
    if word in set(DesignCode):
        return DesignCode(word)
    raise _hazard(word) or _unknown(word, DesignCode)


def finding_code(word: str) -> Code:
    """The code of a finding about a design, or of a kind of hazard; a name that a hazard had before is one with a note.

    Raises RailfabError for another word, with the nearest code, and for an old name with several meanings.
    """
    from railfab.platforms.hazard_kinds import hazard_kinds, old_hazard_names

    if word in set(DesignCode):
        return DesignCode(word)
    if word in hazard_kinds():
        return hazard_kinds()[word].code
    if word in old_hazard_names():
        return _renamed(word)
    raise _unknown(word, (*DesignCode, *hazard_kinds()))


def _renamed(word: str) -> HazardCode:
    from railfab.platforms.hazard_kinds import old_hazard_names

    kinds = old_hazard_names()[word]
    code, *others = dict.fromkeys(kinds.values())
    if others:
        meanings = listed([f"{kind} on {platform}" for platform, kind in kinds.items()])
        raise RailfabError(f"--accept {word}", f"is now {meanings}", f"Write one of them, such as {code}")
    echo(f"railfab: --accept {word}: is now {code}; the old name is read until {OLD_NAMES_UNTIL}.", err=True)
    return code


def _hazard(word: str) -> RailfabError | None:
    """The error of a kind of hazard where only codes of designs are known; None for another word."""
    from railfab.platforms.hazard_kinds import hazard_kinds, old_hazard_names

    if word not in hazard_kinds() and word not in old_hazard_names():
        return None
    problem = "is a kind of hazard, and this command looks for none in configurations"
    return RailfabError(f"--accept {word}", problem, "Leave it out; railfab audit and railfab verify take it")


def _unknown(word: str, codes: Iterable[str]) -> RailfabError:
    from difflib import get_close_matches

    nearest = next(iter(get_close_matches(word, [str(code) for code in codes], n=1)), None)
    remedy = f"Write {nearest}, which is the nearest one" if nearest else "Write one that a finding has in brackets"
    return RailfabError(f"--accept {word}", "is no code that can be accepted", remedy)


def print_accepted(accepted: Iterable[Finding]) -> None:
    """Name the accepted findings on stderr, a line each."""
    for finding in accepted:
        echo(f"accepted: {finding.line}", err=True)


def accepted_count(accepted: Sequence[Finding]) -> str:
    """`, 2 accepted`; nothing without one."""
    return f", {len(accepted)} accepted" if accepted else ""


def _option(parser: Callable[[str], object], words: Callable[[str], Iterable[str]], text: str) -> OptionInfo:
    """The option `--accept`. words: completes it. text: of the help."""
    accept: OptionInfo = typer.Option(
        "--accept", metavar="CODE", parser=parser, autocompletion=words, help=text, show_default=False
    )
    return accept


AcceptOption = Annotated[
    list[DesignCode] | None,
    _option(
        design_code,
        completion.design_codes,
        "Continue although the design has errors with this code; repeatable.",
    ),
]


def design_code_or_cut(word: str) -> DesignCode | str:
    """The code of a finding about a design, or `cut`. Raises RailfabError as `design_code` does."""
    return CUT if word == CUT else design_code(word)


def cut(word: str) -> str:
    """The word `cut`. Raises RailfabError for another one."""
    if word == CUT:
        return CUT
    raise RailfabError(f"--accept {word}", "is nothing that this command asks about", f"Write --accept {CUT}")


def design_codes(accept: Iterable[str] | None) -> list[DesignCode]:
    """The codes of designs among the words of `AcceptOrCutOption`."""
    return [word for word in accept or () if isinstance(word, DesignCode)]


AcceptOrCutOption = Annotated[
    list[str] | None,
    _option(
        design_code_or_cut,
        completion.design_codes_or_cut,
        "Continue although the design has errors with this code, or a change cuts hosts off (cut); repeatable.",
    ),
]
AcceptCutOption = Annotated[
    list[str] | None,
    _option(cut, completion.cut, "Continue although a change cuts hosts off (cut)."),
]
AcceptFindingsOption = Annotated[
    list[str] | None,
    _option(
        finding_code,
        completion.finding_codes,
        "Report findings with this code, of the design or of a kind of hazard, as accepted; repeatable.",
    ),
]

"""A YAML or JSON file that is a mapping, with the line of each key."""

from __future__ import annotations

from pathlib import Path

from railfab.errors import EndpointError
from railfab.yaml_reader.composer import YamlFaultKind, YamlLimits
from railfab.yaml_reader.files import Unread, UnreadableFile, file_text
from railfab.yaml_reader.sections import Faulty, YamlSection, values_in
from railfab.yaml_reader.tree import Keyed
from railfab.yaml_reader.values import CORE_TAGS

MAX_BYTES = 50_000_000
"""Limit of what is read of an endpoints file: more than any fabric needs, and an end for endless files."""
LEVELS = 3
"""Levels whose keys are names: hosts, their keys, and the keys of `data`."""
LIMITS = YamlLimits(depth=60, expanded=1_000_000, merged_keys=1_000_000, unique_levels=LEVELS, tags=CORE_TAGS)
"""An endpoints file has four levels."""
OTHER_FILE = "Name an endpoints file or a Nornir hosts.yml"
WITHOUT_VALUE = {
    YamlFaultKind.ALIAS: "an alias has no anchor before it",
    YamlFaultKind.TAG: "a tag is not supported",
    YamlFaultKind.VALUE: "a value is not a valid number or date",
}
"""Problems that the reader states with the text of a value, which may be a password."""
REMEDIES = {
    Unread.MISSING: "Start the lab or the twin first, or name a file",
    Unread.REFUSED: "Check its permissions",
    Unread.ENCODING: OTHER_FILE,
    Unread.SIZE: OTHER_FILE,
}


def read_text(path: Path) -> str:
    """The text of a file. Raises EndpointError."""
    try:
        return file_text(path, MAX_BYTES)
    except UnreadableFile as error:
        problem = error.problem if error.why is Unread.MISSING else f"the file {error.problem}"
        raise EndpointError(str(path), problem, REMEDIES[error.why]) from None


def parse_mapping(path: Path, text: str) -> YamlSection:
    """The mapping in the text of a file. Raises EndpointError for anything else, and for a key that is there twice."""
    try:
        values, tree = values_in(text, LIMITS, text_levels=LEVELS)
    except Faulty as error:
        raise EndpointError(f"{path}:{error.fault.line}", *_words(error)) from None
    if not isinstance(values, dict) or not isinstance(tree, Keyed):
        raise EndpointError(str(path), "the file contains no mapping", OTHER_FILE)
    return YamlSection(values, tree)


def _words(error: Faulty) -> tuple[str, str]:
    """The problem and the remedy."""
    fault = error.fault
    if fault.kind is YamlFaultKind.DUPLICATE:
        return f"{fault.subject!r} is on line {fault.first_line} already", fault.remedy
    if fault.kind in WITHOUT_VALUE:
        return f"invalid YAML ({WITHOUT_VALUE[fault.kind]})", "Put the value in quotes"
    return f"invalid YAML ({error})", "Correct its syntax"

"""Files of railfab on `bootflash:`: those of a change, whose names tell which one it is, and those of a comparison.

NX-OS does not say which change waits for `configure replace commit`, and no source has the text of its status. So a
change is two files: `CHANGE.END.new`, which was made the running configuration, and `CHANGE.END.old`, a checkpoint of
the one before. CHANGE is the token of its name, END the Unix time at which its timer ends by the clock of the deploy.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from secrets import token_hex
from socket import gethostname
from zlib import crc32

from railfab.platforms.session import ChangeName
from railfab.platforms.shared.change_tokens import change_of_token, change_token

STAGED_S = 600
"""Time for which a file that is only compared may be in use [s]."""
MARGIN_S = 5
"""Time between the naming of a change's files and the start of its timer [s]."""
DRAINED = "railfab-drained"
"""File that says that a verb has drained the switch."""
_LISTED = re.compile(r"^ *(?P<size>\d+) .* (?P<name>railfab\S*)$", re.MULTILINE)
_CHANGE = re.compile(r"(?P<token>railfab\..+)\.(?P<end_s>\d{1,12})\.(?:new|old)")
_STAGED = re.compile(r"railfab-stage\.(?P<end_s>\d{1,12})\.(?P<machine>\w+)\.(?P<process>\d{1,9})\.\w+")


@dataclass(frozen=True, slots=True)
class ChangeFiles:
    """The files of a change. end_s: Unix time at which its timer ends [s]."""

    change: ChangeName
    end_s: int

    @classmethod
    def named(cls, change: ChangeName, within_s: int) -> ChangeFiles:
        """Name the files of a change that is made now."""
        return cls(change, int(time.time()) + within_s + MARGIN_S)

    @property
    def new(self) -> str:
        return f"{change_token(self.change)}.{self.end_s}.new"

    @property
    def old(self) -> str:
        return f"{change_token(self.change)}.{self.end_s}.old"

    @property
    def left_s(self) -> float:
        """Time until the timer ends [s]; 0 after that."""
        return max(0.0, self.end_s - time.time())


@dataclass(frozen=True, slots=True)
class SwitchFiles:
    """railfab's files on a switch: their sizes by name [bytes]."""

    sizes_bytes: dict[str, int]

    @classmethod
    def of(cls, listing: str) -> SwitchFiles:
        """From the lines of `dir bootflash:`."""
        return cls({match["name"]: int(match["size"]) for match in _LISTED.finditer(listing)})

    def changes(self) -> tuple[ChangeFiles, ...]:
        """The changes that have a file, the last one first; one that was interrupted before it began has one only."""
        changes = {files for name in self.sizes_bytes if (files := _files(name))}
        return tuple(sorted(changes, key=lambda each: -each.end_s))

    def has(self, files: ChangeFiles) -> bool:
        """Whether both files of a change are there."""
        return files.new in self.sizes_bytes and files.old in self.sizes_bytes

    def leftovers(self, kept: ChangeFiles | None, staged: str = "") -> Iterator[str]:
        """Names of the files that no change and no comparison uses any more.

        kept: the change that is pending. staged: the file that this session compares; another one of this process is
        that of a session that was lost.
        """
        for name in self.sizes_bytes:
            timed = _STAGED.fullmatch(name) or _CHANGE.fullmatch(name)
            runs = timed is not None and int(timed["end_s"]) >= time.time()
            is_used = runs and not (timed and _has_lost_its_session(timed, staged))
            if name != DRAINED and not is_used and (kept is None or name not in (kept.new, kept.old)):
                yield name


def staged_name() -> str:
    """A name of a new file that is only compared, with the machine and the process that compare it."""
    return f"railfab-stage.{int(time.time()) + STAGED_S}.{_machine()}.{os.getpid()}.{token_hex(4)}"


def _machine() -> str:
    return f"{crc32(gethostname().encode()):08x}"


def _has_lost_its_session(name: re.Match[str], staged: str) -> bool:
    """Whether a name of a compared file is that of a process of this machine that has ended, or of this one."""
    if name.re is not _STAGED or name["machine"] != _machine():
        return False
    if int(name["process"]) == os.getpid():
        return name[0] != staged
    try:
        os.kill(int(name["process"]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _files(name: str) -> ChangeFiles | None:
    match = _CHANGE.fullmatch(name)
    change = change_of_token(match["token"]) if match else None
    return ChangeFiles(change, int(match["end_s"])) if match and change else None

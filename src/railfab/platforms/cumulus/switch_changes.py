"""The pending change of a Cumulus Linux switch: NVUE's timer, and a record of it in the memory of the switch.

NVUE restores its former revision unless a timed `apply` is confirmed. No source has the text in which it says that it
waits, so the record holds the words of `--confirm-status` as they were once the timer ran: the timer runs while they
are the same. The record's folder is the lock of the switch. A reboot ends the timer and the record.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from railfab.errors import DeviceError
from railfab.platforms.session import ChangeName, Pending
from railfab.platforms.shared.change_records import described, ends_of, number
from railfab.platforms.shared.change_tokens import change_of_token

FOLDER = "/run/railfab"
CHANGE, ENDED, STAGED = f"{FOLDER}/change", f"{FOLDER}/ended", f"{FOLDER}/staged.yaml"
MARK = "--- railfab ---"
"""Line between the outputs of two commands."""
APPLY_WITHIN_S = 300.0
"""Time after which a change that is still being applied was interrupted [s]."""
APPLYING, APPLIED, CONFIRMING = "applying", "applied", "confirming"
CONFIRMED, REVERTED = "confirmed", "reverted"
_FILES = ("name", "state", "before", "after", "begun", "within", "armed")
_WORD = re.compile(r"[A-Za-z]+")
_UNITS = frozenset(
    ("s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes", "h", "hour", "hours")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NvueChange:
    """The record of a change. before, after: digests of both configurations.

    begun_s, uptime_s: time since boot when it began, and now [s]. within_s: time of its timer [s]. waits: whether that
    runs. present: digest of the running configuration.
    """

    name: ChangeName | None
    state: str
    before: str
    after: str
    begun_s: float
    within_s: float
    uptime_s: float
    waits: bool
    present: str

    @property
    def left_s(self) -> float:
        return max(self.begun_s + self.within_s - self.uptime_s, 0.0)

    @property
    def is_over(self) -> bool:
        """Whether only its record is left: the switch has reverted it, or it was interrupted before it began."""
        if self.waits:
            return False
        if self.state == APPLYING and self.uptime_s - self.begun_s < APPLY_WITHIN_S:
            return False
        return self.present != self.after

    def described(self) -> str:
        """One line: whose change it is, since when, and how it will end."""
        return described(self.name, self.uptime_s - self.begun_s, self._ending())

    def _ending(self) -> str:
        if self.waits:
            return f"is reverted in {self.left_s:.0f} s unless it is confirmed"
        if self.state == APPLYING:
            return "is being applied"
        if self.state == CONFIRMING:
            return "is being confirmed"
        return "is not reverted by the switch, because its timer has ended"

    def pending(self) -> Pending:
        return Pending(change=self.name, description=self.described(), reverts_in_s=self.left_s if self.waits else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NvueReading:
    """The state of a switch by one reading.

    configuration: output of `nv config show`. status: words of `--confirm-status`.
    record: values of the record by name; empty without one. ends: how changes ended, by token. edits: what root's
    pending revision would change. is_ours: whether an interrupted check or change has left that.
    """

    configuration: str
    status: str
    record: Mapping[str, str]
    uptime_s: float
    ends: Mapping[str, str]
    edits: str
    is_ours: bool
    hostname: str

    def change(self, present: str) -> NvueChange | None:
        """The record of a change. present: digest of the running configuration."""
        if not self.record:
            return None
        armed = self.record["armed"]
        return NvueChange(
            name=change_of_token(self.record["name"]),
            state=self.record["state"] or APPLYING,
            before=self.record["before"],
            after=self.record["after"],
            begun_s=number(self.record["begun"], 0.0),
            within_s=number(self.record["within"], 0.0),
            uptime_s=self.uptime_s,
            waits=bool(armed) and armed == self.status,
            present=present,
        )


def words_of(status: str) -> str:
    """The words of `--confirm-status`, without numbers and units of time."""
    return " ".join(word for word in _WORD.findall(status) if word.lower() not in _UNITS)


def joined(*commands: str) -> str:
    """Commands whose outputs `parts_of` tells apart."""
    return f"; echo; echo {shlex.quote(MARK)}; ".join(commands)


def parts_of(output: str) -> list[str]:
    """The outputs of commands."""
    return [part.strip("\n") for part in f"{output}\n".split(f"\n{MARK}\n")]


def reading_script(commands: Mapping[str, str]) -> str:
    """Shell commands whose output `reading` reads."""
    return joined(
        commands["configuration"],
        f"{commands['status']} 2>&1 < /dev/null",
        f"test -d {CHANGE} && echo pending",
        *(f"cat {CHANGE}/{name} 2> /dev/null" for name in _FILES),
        "cat /proc/uptime",
        f"cat {ENDED} 2> /dev/null",
        commands["difference"],
        f"test -e {STAGED} && echo staged",
        "hostname",
    )


def reading(where: str, output: str) -> NvueReading:
    """The reading in the output of `reading_script`. Raises DeviceError for one that is not whole."""
    parts = parts_of(output)
    if len(parts) != 8 + len(_FILES):
        raise DeviceError(where, "did not answer in full", "Check its load and the connection")
    configuration, status, pending, *rest = parts
    uptime, ended, edits, staged, hostname = rest[len(_FILES) :]
    record = {name: value.strip() for name, value in zip(_FILES, rest, strict=False)} if pending.strip() else {}
    return NvueReading(
        configuration=configuration,
        status=words_of(status),
        record=record,
        uptime_s=number(uptime, 0.0),
        ends=ends_of(ended.splitlines()),
        edits=edits.strip(),
        is_ours=bool(staged.strip()) or record.get("state") == APPLYING,
        hostname=hostname.strip(),
    )


def checking_script(commands: Mapping[str, str]) -> str:
    """Shell commands that load the patch on their standard input, show what it changes, and discard it."""
    return joined(
        f"umask 077; mkdir -p {FOLDER}; cat > {STAGED}; {commands['detach']} > /dev/null 2>&1; "
        f"{commands['patch'].format(file=STAGED)} 2>&1",
        commands["difference"],
        f"{commands['detach']} > /dev/null 2>&1; rm -f {STAGED}",
    )


def locking_script(token: str, before: str, after: str, within_s: int) -> str:
    """Shell commands that begin the record of a change, with the patch that undoes it on their standard input."""
    values = {"name": token, "before": before, "after": after, "within": str(within_s), "state": APPLYING}
    steps = [
        "umask 077",
        f"mkdir -p {FOLDER}",
        f"mkdir {CHANGE}",
        f"cat /proc/uptime > {CHANGE}/begun",
        *(f"echo {value} > {CHANGE}/{name}" for name, value in values.items()),
        f"cat > {CHANGE}/back.yaml",
        "echo locked",
    ]
    return " && ".join(steps)


def applying_script(token: str, within_s: int, commands: Mapping[str, str]) -> str:
    """Shell commands that apply the patch on their standard input under a timer; then its status and what runs."""
    file = f"{CHANGE}/patch.yaml"
    return joined(
        f"cat > {file}; {commands['detach']} > /dev/null 2>&1; {commands['patch'].format(file=file)} 2>&1",
        f"cat /proc/uptime > {CHANGE}/begun; "
        f"{commands['apply'].format(within_s=within_s, token=token)} 2>&1 < /dev/null",
        f"{commands['status']} 2>&1 < /dev/null",
        commands["configuration"],
    )


def keeping_script(armed: str) -> str:
    """Shell commands that note that the timer runs, with the words of its status then."""
    return f"echo {shlex.quote(armed)} > {CHANGE}/armed && echo {APPLIED} > {CHANGE}/state"


def confirming_script(commands: Mapping[str, str]) -> str:
    """Shell commands that stop the timer and save; then its status and what runs."""
    return joined(
        f"echo {CONFIRMING} > {CHANGE}/state; {commands['confirm']} 2>&1 < /dev/null",
        f"{commands['save']} 2>&1 < /dev/null",
        f"{commands['status']} 2>&1 < /dev/null",
        commands["configuration"],
    )


def undoing_script(commands: Mapping[str, str]) -> str:
    """Shell commands that apply the patch back, for where NVUE did not restore its former revision."""
    patch = commands["patch"].format(file=f"{CHANGE}/back.yaml")
    return f"{commands['detach']} > /dev/null 2>&1; {patch} 2>&1; {commands['keep']} 2>&1 < /dev/null"


def ending_script(how: str, token: str) -> str:
    """Shell commands that note the end of a change and remove its record."""
    return f"echo {how} {token} >> {ENDED} && rm -rf {CHANGE}"

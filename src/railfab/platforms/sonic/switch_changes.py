"""The pending change of a SONiC switch: files in its memory, a checkpoint, and a transient timer that restores it.

All of it is on the switch, so any later process can finish a change. The folder of the change is its lock. A reboot
ends the timer and the files, and boots the configuration that was saved last.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from railfab.bounded_json import load_json
from railfab.errors import DeviceError
from railfab.platforms.session import ChangeName, Pending
from railfab.platforms.shared.change_records import described, ends_of, number
from railfab.platforms.shared.change_tokens import change_of_token

FOLDER = "/run/railfab"
CHANGE, ENDED = f"{FOLDER}/change", f"{FOLDER}/ended"
CHECKPOINTS, SUFFIX = "/etc/sonic/checkpoints", ".cp.json"
MAKE_FOLDER = f"mkdir -p -m 700 {FOLDER}"
RELEASE = "/etc/sonic/sonic_version.yml"
UNIT, GUARD = "railfab-revert", "railfab-apply"
"""Units of the timer of a change, and of the one while its patch is applied. Two names, because systemd may still have
the first of a name when the second begins."""
MARK = "--- railfab ---"
"""Line between the outputs of two commands."""
DONE = "--- done ---"
"""Line that a script says when all its commands have succeeded."""
APPLY_WITHIN_S = 600
"""Time for which the timer is longer while a patch is applied [s]."""
APPLYING, APPLIED, CONFIRMING = "applying", "applied", "confirming"
CONFIRMED, REVERTED = "confirmed", "reverted"

_FILES = ("name", "revision", "state", "begun", "within")


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchChange:
    """The record of a change. begun, within_s: uptime of the switch when it began, and the time until its revert [s].

    waits: whether the timer runs. reverting: whether the job that it started does.
    """

    name: ChangeName | None
    revision: str
    state: str
    begun_s: float
    within_s: float
    uptime_s: float
    waits: bool
    reverting: bool

    @property
    def left_s(self) -> float:
        return max(self.begun_s + self.within_s - self.uptime_s, 0.0)

    def described(self) -> str:
        """One line: whose change it is, since when, and how it will end."""
        return described(self.name, self.uptime_s - self.begun_s, self._ending())

    def _ending(self) -> str:
        if self.reverting:
            return "is being reverted"
        if self.waits:
            return f"is reverted in {self.left_s:.0f} s unless it is confirmed"
        if self.state == CONFIRMING:
            return "is being confirmed"
        return "is not reverted by the switch, because its timer has ended"

    def pending(self) -> Pending:
        return Pending(change=self.name, description=self.described(), reverts_in_s=self.left_s if self.waits else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchReading:
    """Output of one reading. configuration: JSON of CONFIG_DB. ends: how changes ended, by token.

    checkpoints: names of those of railfab, the pending change's too.
    """

    configuration: str
    change: SwitchChange | None
    ends: Mapping[str, str]
    checkpoints: tuple[str, ...]
    release: str


def reading_script(configuration: str) -> str:
    """Shell commands whose output `reading` reads. configuration: the command that shows CONFIG_DB."""
    quoted = shlex.quote(MARK)
    files = [f"cat {CHANGE}/{name} 2>/dev/null" for name in _FILES]
    active = [f"systemctl is-active {unit}" for unit in (f"{UNIT}.timer", f"{GUARD}.timer", f"{UNIT}.service")]
    parts = (
        configuration,
        f"test -d {CHANGE} && echo pending",
        *files,
        *active,
        "cat /proc/uptime",
        f"cat {ENDED} 2>/dev/null",
        f"ls {CHECKPOINTS} 2>/dev/null",
        f"cat {RELEASE} 2>/dev/null",
    )
    return f"; echo; echo {quoted}; ".join(parts)


def reading(where: str, output: str) -> SwitchReading:
    """Values in the output of `reading_script`. Raises DeviceError for one that is not whole."""
    parts = [part.strip() for part in output.split(f"\n{MARK}\n")]
    if len(parts) != 9 + len(_FILES):
        raise DeviceError(where, "did not answer in full", "Check its load and the connection")
    configuration, pending, *rest = parts
    values = dict(zip(_FILES, rest, strict=False))
    timer, guard, service, uptime, ended, checkpoints, release = rest[len(_FILES) :]
    change = None
    if pending:
        change = SwitchChange(
            name=change_of_token(values["name"]),
            revision=values["revision"],
            state=values["state"] or APPLYING,
            begun_s=number(values["begun"], number(uptime, 0.0)),
            within_s=number(values["within"], 0.0),
            uptime_s=number(uptime, 0.0),
            waits="active" in (timer, guard),
            reverting=service in ("active", "activating"),
        )
    return SwitchReading(
        configuration=configuration,
        change=change,
        ends=ends_of(ended.splitlines()),
        checkpoints=tuple(_ours(checkpoints.split())),
        release=_release(release),
    )


def _ours(names: Sequence[str]) -> list[str]:
    tokens = [name.removesuffix(SUFFIX) for name in names]
    return [token for token in tokens if change_of_token(token) is not None]


def _release(text: str) -> str:
    """The value of `build_version`."""
    line = next((each for each in text.splitlines() if each.startswith("build_version:")), "")
    return line.partition(":")[2].strip().strip("'\"")


def reverting_script(token: str, commands: Mapping[str, str], *, saves: bool = False) -> str:
    """Shell commands that restore the checkpoint of a change and remove what it has left on the switch.

    A change that was interrupted before its checkpoint has changed nothing. saves: also for the next boot.
    """
    rollback, forget = (commands[verb].format(name=token) for verb in ("rollback", "forget"))
    without = f"test ! -e {CHECKPOINTS}/{token}{SUFFIX}"
    steps = (without, *((commands["save"],) if saves else ()), ending_script(REVERTED, token), forget)
    return f"{rollback} || {rollback} || {' && '.join(steps)}"


def applying_script(token: str, revision: str, within_s: int, commands: Mapping[str, str]) -> str:
    """Shell commands that lock the switch, and apply the patch on their standard input under a timer; then CONFIG_DB.

    The timer is longer while the patch is applied: a revert in the middle of that would mix both.
    """
    record = {"name": token, "revision": revision, "within": str(within_s), "state": APPLYING}
    job = shlex.quote(reverting_script(token, commands))
    received = f"{FOLDER}/{token}.json"
    steps = [
        f"{MAKE_FOLDER} && cat > {received} && mkdir {CHANGE} && mv {received} {CHANGE}/patch.json",
        *(f"echo {value} > {CHANGE}/{name}" for name, value in record.items()),
        f"cat /proc/uptime > {CHANGE}/begun",
        commands["checkpoint"].format(name=token),
        commands["arm"].format(unit=GUARD, within_s=within_s + APPLY_WITHIN_S, job=job),
        commands["patch"].format(file=f"{CHANGE}/patch.json"),
        commands["arm"].format(unit=UNIT, within_s=within_s, job=job),
        commands["disarm"].format(unit=GUARD),
        f"cat /proc/uptime > {CHANGE}/begun",
        f"echo {APPLIED} > {CHANGE}/state",
        f"echo && echo {shlex.quote(DONE)}",
    ]
    shown = f"echo; echo {shlex.quote(MARK)}; {commands['configuration']}"
    return f"{' && '.join(steps)}; rm -f {received}; {shown}"


def confirming_script(token: str, commands: Mapping[str, str], *, waits: bool) -> str:
    """Shell commands that stop the timer where it waits, save, and remove what the change has left on the switch."""
    steps = [
        f"echo {CONFIRMING} > {CHANGE}/state",
        *([commands["disarm"].format(unit=UNIT)] if waits else []),
        commands["save"],
        ending_script(CONFIRMED, token),
        f"echo && echo {shlex.quote(DONE)}",
        commands["forget"].format(name=token),
    ]
    return " && ".join(steps)


def ending_script(how: str, token: str) -> str:
    """Shell commands that note the end of a change and remove its folder."""
    return f"echo {how} {token} >> {ENDED} && rm -rf {CHANGE}"


def is_done(output: str) -> bool:
    """Whether all commands of a script have succeeded."""
    return DONE in output.splitlines()


def failure(output: str) -> str:
    """The reason in the output of a command that failed, as click and the generic config updater give it."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    reasons = [line.removeprefix("Error: ") for line in lines if line.startswith("Error: ")]
    return reasons[-1] if reasons else lines[-1] if lines else "no reason given"


def tables_of(where: str, text: str) -> object:
    """The JSON of CONFIG_DB. Raises DeviceError."""
    try:
        return load_json(text)
    except ValueError:
        shown = (text.splitlines() or ["nothing"])[0][:80]
        raise DeviceError(where, f"shows {shown!r} in place of CONFIG_DB", "Check that it runs SONiC") from None

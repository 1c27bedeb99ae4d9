"""Commands of Linux for users, shells and units of systemd, on a virtual switch. Texts: sudo, systemd."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from railfab.errors import DeviceError
from railfab.platforms.shared.linux_files import (
    FILE_COMMANDS,
    USAGE,
    CommandFailed,
    LinuxCommand,
    Stdin,
    options,
    text_result,
)
from railfab.platforms.shared.root_shell import CommandResult
from railfab.platforms.shared.virtual_host import LinuxLogin

INACTIVE = 3
"""Exit status of `systemctl is-active` for a unit that is not."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_SPAN = re.compile(r"(?P<count>\d+(?:\.\d+)?)(?P<unit>s|sec|m|min|h)?")
SECONDS = {None: 1, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}


def identity(shell: LinuxLogin, words: Sequence[str], _stdin: Stdin) -> CommandResult:
    """Answer `id`."""
    number, name = (0, "root") if shell.is_root else (1000, shell.user.name)
    letters, _ = options(words)
    if "u" in letters:
        return text_result(f"{name if 'n' in letters else number}\n")
    return text_result(f"uid={number}({name}) gid={number}({name}) groups={number}({name})\n")


def whoami(shell: LinuxLogin, _words: Sequence[str], _stdin: Stdin) -> CommandResult:
    return text_result(f"{'root' if shell.is_root else shell.user.name}\n")


def hostname(shell: LinuxLogin, _words: Sequence[str], _stdin: Stdin) -> CommandResult:
    return text_result(f"{shell.host.device.name}\n")


def sudo(shell: LinuxLogin, words: Sequence[str], stdin: Stdin) -> CommandResult:
    """Run a command as root, or with `-s` and `-i` what follows. A user who only reads is not in the sudoers file."""
    if not shell.user.writes and not shell.is_root:
        if "-n" in words[:1]:
            raise CommandFailed("sudo: a password is required")
        raise CommandFailed(f"{shell.user.name} is not in the sudoers file.")
    words = words[1:] if words[:1] == ["-n"] else words
    if words in (["-s"], ["-i"], ["su"], ["su", "-"]):
        shell.begin_root()
        return text_result()
    if not words or words[0].startswith("-"):
        raise CommandFailed("usage: sudo -h | -K | -k | -V", 1)
    with shell.as_root():
        return shell.run_words(words, stdin)


def env(shell: LinuxLogin, words: Sequence[str], stdin: Stdin) -> CommandResult:
    words = list(words)
    while words and _ASSIGNMENT.fullmatch(words[0]):
        name, _, value = words.pop(0).partition("=")
        shell.variables[name] = value
    return shell.run_words(words, stdin)


def sh(shell: LinuxLogin, words: Sequence[str], stdin: Stdin) -> CommandResult:
    if len(words) != 2 or words[0] != "-c":
        raise CommandFailed("sh: only `sh -c COMMAND` is available on this virtual switch", USAGE)
    return shell.run(words[1], stdin)


def leave(shell: LinuxLogin, _words: Sequence[str], _stdin: Stdin) -> CommandResult:
    """End a shell of root, or the session."""
    shell.end_shell()
    return text_result()


def succeed(_shell: LinuxLogin, _words: Sequence[str], _stdin: Stdin) -> CommandResult:
    return text_result()


def fail(_shell: LinuxLogin, _words: Sequence[str], _stdin: Stdin) -> CommandResult:
    return CommandResult(1, "", "")


def systemd_run(shell: LinuxLogin, words: Sequence[str], _stdin: Stdin) -> CommandResult:
    """Start a transient timer: `systemd-run --unit=NAME --on-active=TIME COMMAND`."""
    _check_root(shell, "Failed to start transient timer unit: Interactive authentication required.")
    unit, within_s, command = _timer(words)
    job = shell.root_login()
    try:
        shell.host.units.start(unit, within_s, lambda: job.run_words(command, str))
    except DeviceError as error:
        raise CommandFailed(f"Failed to start transient timer unit: {error.problem}.") from None
    return CommandResult(0, "", f"Running timer as unit: {unit}.timer\nWill run service as unit: {unit}.service\n")


def _timer(words: Sequence[str]) -> tuple[str, float, list[str]]:
    """Unit, time [s] and command of systemd-run."""
    options: dict[str, str] = {}
    words = list(words)
    while words and words[0].startswith("-"):
        name, equals, value = words.pop(0).partition("=")
        if name in ("--unit", "--on-active", "--description", "--timer-property") and not equals and words:
            value = words.pop(0)
        options[name] = value
    span = _SPAN.fullmatch(options.get("--on-active", ""))
    if span is None or "--unit" not in options or not words:
        raise CommandFailed("systemd-run: only timers with --unit and --on-active are available on this virtual switch")
    return options["--unit"], float(span["count"]) * SECONDS[span["unit"]], words


def systemctl(shell: LinuxLogin, words: Sequence[str], _stdin: Stdin) -> CommandResult:
    """Stop a unit, or say whether it is active."""
    operands = options(words)[1]
    units = shell.host.units
    match operands:
        case ["is-active", unit]:
            active = units.is_active(unit)
            shown = "" if "--quiet" in words or "-q" in words else "active\n" if active else "inactive\n"
            return CommandResult(0 if active else INACTIVE, shown, "")
        case ["stop", *names]:
            _check_root(shell, f"Failed to stop {' '.join(names)}: Interactive authentication required.")
            missing = [name for name in names if not units.is_active(name)]
            for name in names:
                units.stop(name)
            errors = "".join(f"Failed to stop {name}: Unit {name} not loaded.\n" for name in missing)
            return CommandResult(5 if errors else 0, "", errors)
        case ["reset-failed", *_]:
            return text_result()
    raise CommandFailed(f"Unknown command verb {operands[0] if operands else ''}.")


def _check_root(shell: LinuxLogin, text: str) -> None:
    if not shell.is_root:
        raise CommandFailed(text)


COMMANDS: Mapping[str, LinuxCommand] = {
    **FILE_COMMANDS,
    **{"env": env, "exit": leave, "false": fail, "hostname": hostname, "id": identity, "logout": leave, "sh": sh},
    **{"bash": sh, "sudo": sudo, "sync": succeed, "systemctl": systemctl, "systemd-run": systemd_run},
    **{"true": succeed, "whoami": whoami, ":": succeed},
}
"""Commands by name. They go before those of a platform's table."""

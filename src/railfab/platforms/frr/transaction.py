"""Shell scripts of a transaction on an FRR switch, which has no commit, no timer and no lock.

`/run/frr/railfab` holds the candidate, the former configuration, and `armed`: the name of the unconfirmed change. A
detached job counts down and restores the former configuration, unless `armed` no longer names its change. Changes of
`armed` and of the running configuration hold a lock, so that either the job or the confirmation wins.
The job is an argument of `sh -c`, never a file that another user could write.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

FOLDER = "/var/run/frr/railfab"
"""Separate for each switch even on a shared file system; lost on reboot, as unsaved changes are."""

CHANGED_IN_TRANSIT = 90
BUSY = 91
NOT_READ = 92
TOO_LATE = 93
NOT_SAVED = 94

_BEGIN = f"umask 077; mkdir -p {FOLDER} && cd {FOLDER} || exit {NOT_READ}\n"
_LOCK = "exec 9>lock; flock 9\n"
_RECEIVE = f'cat > "$new"; [ "$(wc -c < "$new")" -eq "$1" ] || exit {CHANGED_IN_TRANSIT}\n'


def check_script(verbs: Mapping[str, str]) -> str:
    """Arguments: length. Reads the candidate on standard input; output and exit status are frr-reload.py's."""
    return (
        _BEGIN
        + f"""new=$(mktemp candidate.XXXXXX); trap 'rm -f "$new"' EXIT
{_RECEIVE}{verbs["diff"].format(file='"$new"')}
"""
    )


def arm_script(verbs: Mapping[str, str]) -> str:
    """Arguments: length, change, seconds. Stores candidate and running configuration, and starts the rollback job."""
    job = shlex.quote(_job(verbs))
    return (
        _BEGIN
        + _LOCK
        + f"""pid=$(cat job 2>/dev/null)
if [ -s armed ] && [ -n "$pid" ] && grep -qs railfab "/proc/$pid/cmdline"; then exit {BUSY}; fi
rm -f before.* candidate.* armed
new=candidate.$2
{_RECEIVE}{verbs["load"]} > "before.$2" && [ -s "before.$2" ] || exit {NOT_READ}
echo "$2" > armed
setsid sh -c {job} railfab "$2" "$3" </dev/null >/dev/null 2>&1 9>&- &
echo $! > job
"""
    )


def _job(verbs: Mapping[str, str]) -> str:
    """The rollback job. Arguments: change, seconds. Ends within a second of the change's confirmation.

    A second pass applies what the first could not (see FrrSession._apply), or finds nothing to do.
    """
    restore = verbs["replace"].format(file='"before.$1"')
    return f"""cd {FOLDER} || exit
left=$2
while [ "$left" -gt 0 ]; do sleep 1; [ "$(cat armed 2>/dev/null)" = "$1" ] || exit 0; left=$((left - 1)); done
{_LOCK}[ "$(cat armed 2>/dev/null)" = "$1" ] || exit 0
{restore}
{restore}
rm -f armed "before.$1" "candidate.$1"
"""


def apply_script(verbs: Mapping[str, str]) -> str:
    """Arguments: change. Holds the lock, so the rollback job waits until it is done."""
    return (
        _BEGIN
        + _LOCK
        + f"""[ "$(cat armed 2>/dev/null)" = "$1" ] || exit {TOO_LATE}
{verbs["replace"].format(file='"candidate.$1"')}
"""
    )


def confirm_script(verbs: Mapping[str, str]) -> str:
    """Arguments: change. Saves and cancels the rollback job; writes in place where frr.conf is a mount point."""
    return (
        _BEGIN
        + _LOCK
        + f"""[ "$(cat armed 2>/dev/null)" = "$1" ] || exit {TOO_LATE}
{verbs["save"]} || {{ {verbs["load"]} > saved && cat saved > /etc/frr/frr.conf; }} || exit {NOT_SAVED}
rm -f armed saved "before.$1" "candidate.$1"
"""
    )


def restore_script(verbs: Mapping[str, str]) -> str:
    """Arguments: change. Restores the former configuration and prints remaining differences; the job stays armed."""
    return (
        _BEGIN
        + _LOCK
        + f"""[ -s "before.$1" ] || exit {TOO_LATE}
for pass in 1 2; do {verbs["replace"].format(file='"before.$1"')} >/dev/null 2>&1; done
{verbs["diff"].format(file='"before.$1"')}
"""
    )


def cancel_script() -> str:
    """Arguments: change. Cancels the rollback job and removes its files."""
    return (
        _BEGIN
        + _LOCK
        + """[ "$(cat armed 2>/dev/null)" = "$1" ] && rm -f armed
rm -f "before.$1" "candidate.$1"
"""
    )


def command(script: str, *arguments: str) -> str:
    """The command line that runs a script with its arguments."""
    return shlex.join(["sh", "-c", script, "railfab", *arguments])

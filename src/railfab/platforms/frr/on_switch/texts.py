"""Configurations on the switch, with settings of Linux's ports: read, stored, compared, made the running one."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from railfab.platforms.frr.on_switch.commands import first_line, run
from railfab.platforms.frr.on_switch.daemons import check_daemons, startup_text
from railfab.platforms.frr.on_switch.places import ETC, RELOAD_WITHIN_S, SHOW_WITHIN_S, TEST_WITHIN_S, ChangeRefused
from railfab.platforms.frr.reload_output import pending, refusal, with_new_definitions, with_sorted_prefix_lists
from railfab.platforms.frr.system import pending_commands, settings_in, with_running_settings

PASSES = 3


def running_text(commands: dict[str, str]) -> str:
    """The running configuration as FRR shows it, with its prefix lists sorted by name."""
    status, out, errors = run(commands["load"], SHOW_WITHIN_S)
    if status != 0 or not out.strip():
        problem = f"FRR does not answer ({first_line(out, errors, status)})"
        raise ChangeRefused("device", problem, "Check that it is running")
    return with_sorted_prefix_lists(out)


def revision(text: str) -> str:
    """A digest of a configuration text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def checked_text(commands: dict[str, str], *texts: str) -> str:
    """The running configuration, of a switch on which all daemons answer that it needs."""
    check_daemons((startup_text(), *texts))
    return running_text(commands)


def former_text(commands: dict[str, str], running: str, candidate: str) -> str:
    """The text that restores a running configuration after a candidate: with the settings of the candidate's ports."""
    return with_running_settings(running, links(commands), like=candidate) if settings_in(candidate) else running


def links(commands: dict[str, str]) -> str:
    """The ports that Linux has, as JSON."""
    status, out, errors = run(commands["links"], SHOW_WITHIN_S)
    if status != 0:
        problem = f"does not show its ports ({first_line(out, errors, status)})"
        raise ChangeRefused("device", problem, "Install iproute2 on the switch")
    return out


def store(folder: Path, text: str) -> None:
    """A configuration as `frr.conf` in a folder of its own.

    Given that folder as --confdir, frr-reload.py takes the file for the startup file and does not write the other.
    """
    folder.mkdir()
    (folder / "frr.conf").write_text(text)
    try:
        shutil.copyfile(str(ETC / "vtysh.conf"), str(folder / "vtysh.conf"))
    except OSError:
        (folder / "vtysh.conf").write_text("")


def differences(commands: dict[str, str], folder: Path, running: str) -> tuple[str, ...]:
    """Lines that frr-reload.py would change in the running configuration, and commands for Linux's ports.

    The exit status of frr-reload.py counts too: it lists changes for a bad file as well. It is not needed where the
    lines are equal, and starts vtysh three times.
    """
    if configuration_lines((folder / "frr.conf").read_text()) == configuration_lines(running):
        return tuple(port_commands(commands, folder))
    status, out, errors = run(commands["diff"].format(folder=folder), TEST_WITHIN_S)
    if status == 127:
        raise ChangeRefused("device", "has no frr-reload.py", "Install frr-pythontools on the switch")
    if status != 0:
        problem = "rejects " + refusal(out + "\n" + errors)
        raise ChangeRefused("commit", problem, "Correct it; the switch is unchanged")
    return (*pending(out), *port_commands(commands, folder))


def configuration_lines(text: str) -> list[str]:
    """The lines of a configuration that FRR takes; it ignores comments, and the version of the FRR that wrote them."""
    return [line for line in text.splitlines() if line.strip() and not line.startswith(("!", "frr version "))]


def port_commands(commands: dict[str, str], folder: Path) -> list[str]:
    """Commands that give Linux's ports the settings of a stored configuration."""
    text = (folder / "frr.conf").read_text()
    return pending_commands(text, links(commands)) if settings_in(text) else []


def replace_running(commands: dict[str, str], folder: Path) -> tuple[str, str]:
    """Make a stored configuration the running one; return what runs then, and why that failed, empty on success.

    Success means that no difference is left. The exit status of frr-reload.py is not used: it is also 1 after it
    removed a neighbour and then fails to remove the lines of that neighbour. Another pass is needed where the order of
    its lines reverts one of them (`no neighbor X bfd`, then `no neighbor X bfd profile Y`, which enables BFD again).
    New route maps come first, so that a session never has the name of one that does not exist.
    """
    running, why = running_text(commands), ""
    define(commands, folder / "definitions", running, (folder / "frr.conf").read_text())
    for _ in range(PASSES):
        status, out, errors = run(commands["replace"].format(folder=folder), RELOAD_WITHIN_S)
        for command in port_commands(commands, folder):
            run(command, SHOW_WITHIN_S)
        running = running_text(commands)
        left = differences(commands, folder, running)
        if not left:
            return running, ""
        why = refusal(out + "\n" + errors) if status else f"did not accept `{left[0]}`"
    return running, why


def define(commands: dict[str, str], folder: Path, running: str, candidate: str) -> None:
    """Add the route maps and lists of a candidate that are new; what fails is left to the change itself.

    Not where BGP is new too, and has no session yet: frr-reload.py starts vtysh eight times.
    """
    text = with_new_definitions(running, candidate) if "\nrouter bgp " in running else running
    if text != running:
        shutil.rmtree(str(folder), ignore_errors=True)
        store(folder, text)
        run(commands["replace"].format(folder=folder), RELOAD_WITHIN_S)
        shutil.rmtree(str(folder))

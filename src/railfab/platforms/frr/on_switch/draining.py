"""The drain of a switch by a verb: lines in the running configuration, and a file that says that a verb made them.

The lines alone could be those of a deploy. The file stays over a restart, since what is saved has the lines too; where
the running configuration has none of them it says nothing, and the next change removes it.
"""

from __future__ import annotations

import contextlib
import re

from railfab.platforms.frr.on_switch.commands import first_line, run
from railfab.platforms.frr.on_switch.places import ETC, SHOW_WITHIN_S, ChangeRefused

DRAINED = ETC / "railfab.drained"
DRAIN_LINE = " bgp graceful-shutdown"

_ROUTER = re.compile(r"^(?P<header>router bgp (?P<instance>\d+(?: vrf \S+)?))\n(?P<body>(?: .*\n)*)", re.MULTILINE)


def is_drained(text: str) -> bool:
    """Whether a verb has drained the switch that runs this configuration."""
    return DRAINED.exists() and has_drain(text)


def has_drain(text: str) -> bool:
    return any(DRAIN_LINE in router["body"].splitlines() for router in _ROUTER.finditer(text))


def with_drain(candidate: str, running: str) -> str:
    """A candidate with the drain of the running configuration, at the place that FRR shows it."""
    leading = {router["header"]: _leading(router["body"].splitlines()) for router in _ROUTER.finditer(running)}

    def drained(router: re.Match[str]) -> str:
        lines = router["body"].splitlines()
        if DRAIN_LINE not in lines:
            above = leading.get(router["header"], [])
            place = max((number for number, line in enumerate(lines, 1) if line in above), default=0)
            lines.insert(place, DRAIN_LINE)
        return "\n".join([router["header"], *lines, ""])

    return _ROUTER.sub(drained, candidate)


def without_drain(text: str) -> str:
    """A configuration without the drain of a verb."""
    return text.replace(DRAIN_LINE + "\n", "")


def _leading(lines: list[str]) -> list[str]:
    """The lines of a router above that of its drain; none where it has no such line."""
    return lines[: lines.index(DRAIN_LINE)] if DRAIN_LINE in lines else []


def set_drain(commands: dict[str, str], verb: str, text: str) -> None:
    """Run `drain` or `undrain` of the dialect in each BGP instance of the running configuration."""
    instances = [router["instance"] for router in _ROUTER.finditer(text)]
    if not instances:
        raise ChangeRefused("device", f"has no BGP to {verb}", "Deploy its configuration first")
    if verb == "drain":
        DRAINED.touch()
    for instance in instances:
        status, out, errors = run(commands[verb].format(instance=instance), SHOW_WITHIN_S)
        if status != 0:
            problem = f"refuses to {verb} ({first_line(out, errors, status)})"
            raise ChangeRefused("device", problem, "Check its running configuration")
    if verb == "undrain":
        end_drain()


def forget_ended_drain(running: str) -> None:
    """Remove the file of a drain that a restart or an operator has ended."""
    if not has_drain(running):
        end_drain()


def end_drain() -> None:
    with contextlib.suppress(FileNotFoundError):
        DRAINED.unlink()

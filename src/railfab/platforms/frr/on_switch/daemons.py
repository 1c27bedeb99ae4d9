"""FRR's daemons: those that must run, and whether they answer."""

from __future__ import annotations

import contextlib
import re
import socket

from railfab.platforms.frr.on_switch.places import ETC, RUN, STARTUP, ChangeRefused

DAEMON_WITHIN_S = 5
ENABLED_ALWAYS = ("zebra", "staticd")
"""Daemons that FRR's start scripts start whatever `/etc/frr/daemons` says (frrcommon.sh)."""
OPTIONAL = (
    *("bgpd", "bfdd", "ospfd", "ospf6d", "isisd", "ripd", "ripngd", "pimd", "pim6d"),
    *("ldpd", "nhrpd", "eigrpd", "babeld", "sharpd", "pbrd", "fabricd", "vrrpd", "pathd"),
)
NEEDED_BY = (("bgpd", r"router bgp "), ("bfdd", r"bfd$| neighbor \S+ bfd\b"))
"""Daemons and the lines that need them."""


def daemon_state(name: str) -> str:
    """Reason why a daemon cannot be configured; empty when it answers on its socket.

    A command on a daemon's socket ends in a zero byte, its answer in three and the status (FRR, lib/vty.c: vtysh_read).
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(DAEMON_WITHIN_S)
        try:
            client.connect(str(RUN / (name + ".vty")))
            client.sendall(b"enable\0")
            return "" if client.recv(4) else "does not run"
        except socket.timeout:  # noqa: UP041 (another class before Python 3.10)
            return "does not answer"
        except OSError:
            return "does not run"


def expected_daemons(*texts: str) -> list[str]:
    """Daemons that must run: those that FRR starts, those that have run and were not stopped, those that texts need."""
    expected = set(ENABLED_ALWAYS)
    with contextlib.suppress(OSError):
        enabled = (ETC / "daemons").read_text(errors="replace")
        expected |= {name for name in OPTIONAL if re.search(rf"(?m)^\s*{name}=[\"']?(?!no\b|0\b)\w", enabled)}
    expected |= {name for name in OPTIONAL if (RUN / (name + ".pid")).exists()}
    for name, pattern in NEEDED_BY:
        if any(re.search("(?m)^" + pattern, text) for text in texts):
            expected.add(name)
    return [name for name in ENABLED_ALWAYS + OPTIONAL if name in expected]


def startup_text() -> str:
    try:
        return STARTUP.read_text(errors="replace")
    except OSError:
        return ""


def check_daemons(texts: tuple[str, ...]) -> None:
    """Raise ChangeRefused, naming the daemons that do not run or do not answer."""
    states = [(name, daemon_state(name)) for name in expected_daemons(*texts)]
    for state in ("does not run", "does not answer"):
        names = [name for name, shown in states if shown == state]
        if names:
            verb, it = (state, "it") if len(names) == 1 else (state.replace("does", "do"), "them")
            remedy = f"Start {it}, or check /etc/frr/daemons" if state == "does not run" else "Check the switch's load"
            raise ChangeRefused("device", f"{' and '.join(names)} {verb}", remedy)

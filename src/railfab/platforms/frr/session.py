"""The session with one FRR switch over SSH. A program on the switch makes the changes: see `on_switch`."""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Mapping
from functools import partial
from ipaddress import ip_address, ip_network
from types import TracebackType
from typing import Any, Self

from railfab.bounded_json import load_json
from railfab.device import Observed, without_secrets
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, DeviceError, UnsupportedFeature
from railfab.platforms.frr.names import interface_name
from railfab.platforms.frr.on_switch import PYTHON, program
from railfab.platforms.frr.on_switch.records import APPLIED, APPLYING, CONFIRMING, REVERTING
from railfab.platforms.frr.system import without_settings
from railfab.platforms.image import Image
from railfab.platforms.session import ChangeName, Identity, Pending, Running, Staged, Verb
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.frr_state import ROUTES, observed_state, with_next_hop_widths
from railfab.platforms.shared.hostnames import check_hostname
from railfab.platforms.shared.root_shell import CommandResult, RootShell

CONTEXT_LINES = 3
WITHIN_S = {"revert": 450.0, "stage": 100.0, "reload": 150.0}
"""Limits of the verbs that take long; the program's own limits of commands are shorter and give better messages [s]."""
COMMIT_MARGIN_S = 90.0
"""Time that a commit has after its timer, at which the switch begins to revert it [s]."""
OTHERS_WITHIN_S = 60.0
READING = ("running", "observe")
NO_PYTHON = 127
_HOSTNAME = re.compile(r"^hostname (\S+)", re.MULTILINE)
_VERSION = re.compile(r"^frr version (\S+)\n", re.MULTILINE)
_ADDRESS = re.compile(r"^- interface (?P<interface>\S+)(?: vrf \S+)?: no (?P<line>ip(?:v6)? address (?P<prefix>\S+))")
_ROUTE = re.compile(r"^[-+] (?:vrf \S+: )?no (?P<line>ip(?:v6)? route (?P<prefix>\S+) .*)$")
_SHUTDOWN = re.compile(r"^\+ interface (?P<interface>\S+)(?: vrf \S+)?: shutdown$")
_DOWN = re.compile(r"^ip link set dev (?P<interface>\S+) mtu \d+ down$")


class FrrSession:
    """A platforms.Session for FRR. read_within_s: limit of verbs that only read; None is OTHERS_WITHIN_S [s]."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials, *, read_within_s: float | None = None) -> None:
        self._read_within_s = read_within_s or OTHERS_WITHIN_S
        self._name = endpoint.name
        self._owns_system = endpoint.owns_system
        self._shell = RootShell(endpoint, credentials)
        self._commands = dict(yaml_files.dialect(__package__ or "").verbs)

    def __enter__(self) -> Self:
        self._shell.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shell.close()

    def running(self) -> Running:
        """The running configuration as FRR shows it, with its prefix lists sorted by name."""
        answer = self._ask("running")
        text, change = str(answer["text"]), answer["pending"]
        version = _VERSION.search(text)
        return Running(
            text=text,
            revision=answer["revision"],
            identity=Identity(hostname=answer["hostname"], version=version[1] if version else "", model="FRR on Linux"),
            pending=None if change is None else _pending(change),
            drained=answer["drained"],
        )

    def stage(self, text: str, change: ChangeName | None = None) -> Staged:  # noqa: ARG002
        """Compare; the diff is empty when frr-reload.py finds nothing to do, and Linux's ports have its settings.

        Those are compared, and set by `commit`, where `Endpoint.owns_system` is true; see `system`.
        Raises CommitRefused for a text that FRR rejects, one of another switch, and one without the address or the
        route over which this session reaches the switch.
        """
        text = text if self._owns_system else without_settings(text)
        answer = self._ask("stage", text=text)
        text, former, changes = str(answer["text"]), str(answer["former"]), tuple(answer["changes"])
        self._check_hostname(former, text)
        self._check_management(changes, answer["management"])
        diff = unified(former, text, changes)
        return Staged(text=text, diff=diff, former=str(answer["kept"]), revision=answer["revision"])

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        """Replace the running configuration; the switch restores it unless `confirm` comes within the time."""
        self._ask("commit", text=staged.text, revision=staged.revision, change=str(change), within_s=within_s)

    def confirm(self, change: ChangeName) -> None:
        """Save for the next boot and cancel the rollback."""
        self._ask("confirm", change=str(change))

    def revert(self, change: ChangeName) -> None:
        """Restore the configuration that ran before the change; the startup configuration was never another."""
        self._ask("revert", change=str(change))

    def observe(self, *, resolved: bool = True, routes: bool = False) -> Observed:
        """The live state. Raises DeviceError, naming a daemon that does not run."""
        answer = self._ask("observe", resolved=resolved, routes=routes)
        read = {name: answer[name] for name in ("neighbors", "addresses", "resolved", "bridged", "vnis")}
        read |= {"hashing": answer["hash"]} | ({verb: answer[verb] for verb in ROUTES} if routes else {})
        return with_next_hop_widths(partial(observed_state, interface_name=interface_name), self._name, read)

    def install(self, image: Image) -> None:
        """Refuse it: FRR is a package of the switch's own sources, and a node of a lab runs that of its machine."""
        problem = f"railfab cannot install {image.file}: FRR comes from the package sources of the switch"
        remedy = "Run `apt-get install frr=VERSION` on it, between railfab drain and railfab undrain"
        raise UnsupportedFeature(self._name, problem, remedy)

    def operate(self, verb: Verb) -> None:
        """Do this now. Refused while a change is pending, which would save, revert or mix it.

        Raises UnsupportedFeature for a RELOAD where neither systemd nor FRR's start scripts can restart its daemons.
        """
        self._ask(str(verb))

    def _ask(self, verb: str, **arguments: Any) -> dict[str, Any]:
        """Run the program on the switch; raise its refusals."""
        request = json.dumps({"verb": verb, "commands": self._commands, **arguments})
        command = shlex.join([*PYTHON, program()])
        within_s = self._read_within_s if verb in READING else WITHIN_S.get(verb, OTHERS_WITHIN_S)
        if verb == "commit":
            within_s = arguments["within_s"] + COMMIT_MARGIN_S
        answer = self._shell.run(command, stdin=request, within_s=within_s)
        if answer.status == NO_PYTHON:
            raise DeviceError(self._name, "has no python3", "Install frr-pythontools on the switch")
        try:
            result: dict[str, Any] = load_json(answer.out)
        except ValueError:
            problem = f"cannot run commands ({_last_line(answer)})"
            raise DeviceError(self._name, problem, "Check its load, memory and Python") from None
        if "refused" in result:
            self._refuse(*result["refused"])
        return result

    def _refuse(self, kind: str, problem: str, remedy: str) -> None:
        if kind == "pending":
            change = json.loads(problem)
            raise CommitRefused(
                self._name, f"has an unconfirmed change: {_description(change)}", "Confirm or revert it first"
            )
        error = {"commit": CommitRefused, "unsupported": UnsupportedFeature}.get(kind, DeviceError)
        raise error(self._name, problem, remedy)

    def _check_hostname(self, running: str, text: str) -> None:
        """Refuse another hostname: FRR uses the system's, so it is probably another switch's configuration."""
        current, wanted = _HOSTNAME.search(running), _HOSTNAME.search(text)
        if current and wanted:
            check_hostname(self._name, current[1], wanted[1], remedy="set the system's hostname")

    def _check_management(self, changes: tuple[str, ...], management: Mapping[str, str]) -> None:
        """Refuse a candidate that would cut this session's own connection."""
        for change in changes:
            if line := _cuts_off(change, management):
                problem = f"would lose this SSH session without `{line}`"
                if line == "shutdown":
                    problem = f"would lose this SSH session with `interface {management['interface']}` shut down"
                remedy = "Move it from FRR to the system's network configuration, or log in over another address"
                raise CommitRefused(self._name, problem, remedy)


def _cuts_off(change: str, management: Mapping[str, str]) -> str:
    """The line of a change (see `differences` on the switch) that carries this session; empty for any other."""
    if not management:
        return ""
    if match := _ADDRESS.match(change):
        return match["line"] if match["prefix"].partition("/")[0] == management["address"] else ""
    if match := _SHUTDOWN.match(change) or _DOWN.match(change):
        return "shutdown" if match["interface"] == management["interface"] else ""
    if (match := _ROUTE.match(change)) and management["route"]:
        return match["line"] if _network(match["prefix"]) == _network(management["route"], management["client"]) else ""
    return ""


def _network(prefix: str, client: str = "0.0.0.0") -> object:
    """A prefix as a value; `default` is that of the client's family."""
    if prefix == "default":
        prefix = "0.0.0.0/0" if ip_address(client).version == 4 else "::/0"
    return ip_network(prefix, strict=False)


def unified(running: str, text: str, changes: tuple[str, ...]) -> str:
    """The difference of two configurations as it is shown; the commands that make it where their texts are equal."""
    if not changes:
        return ""
    before, after = (_VERSION.sub("", side).splitlines() for side in (running, text))
    lines = difflib.unified_diff(before, after, "running", "candidate", lineterm="", n=CONTEXT_LINES)
    return "\n".join(map(without_secrets, lines)) or "\n".join(map(without_secrets, changes))


def _pending(change: Mapping[str, Any]) -> Pending:
    counts = change["job_runs"] and change["state"] in (APPLYING, APPLIED)
    return Pending(
        change=ChangeName.parse(change["change"]),
        description=_description(change),
        reverts_in_s=max(change["left_s"], 0.0) if counts else None,
    )


def _description(change: Mapping[str, Any]) -> str:
    """One line: whose change it is, since when, and how it will end."""
    name = ChangeName.parse(change["change"])
    whose = f"{name.deploy} of {name.user}@{name.host}" if name else change["change"]
    return f"{whose}, made {change['since_s']:.0f} s ago, {_ending(change)}"


def _ending(change: Mapping[str, Any]) -> str:
    if not change["job_runs"]:
        return "is not reverted by the switch, because its rollback job was killed"
    if change["failure"]:
        return f"cannot be reverted yet ({change['failure']})"
    if change["state"] == CONFIRMING:
        return "is being confirmed"
    if change["state"] == REVERTING or change["left_s"] <= 0:
        return "is being reverted"
    return f"is reverted in {change['left_s']:.0f} s unless it is confirmed"


def _last_line(answer: CommandResult) -> str:
    return next(iter(reversed(answer.output().splitlines())), f"status {answer.status}")

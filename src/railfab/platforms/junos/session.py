"""The session with one Junos switch over its CLI.

A change is one commit that the switch rolls back unless it is confirmed; its comment is the name of the change. `commit
confirmed` counts minutes, so the time of a change is rounded up to them.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Self

from railfab.device import (
    DEFAULT_INSTANCE,
    IpAddress,
    Observed,
    ObservedBgpSession,
    ObservedInterface,
    without_secrets,
)
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, DeviceError, RailfabError, Unreachable
from railfab.platforms.image import Image
from railfab.platforms.junos.commit_list import ListedCommit, commits_of
from railfab.platforms.junos.cos_in_effect import PortQosInEffect, qos_in_effect
from railfab.platforms.junos.flat_lines import digest, is_same
from railfab.platforms.junos.hierarchy import Hierarchy
from railfab.platforms.junos.images import JunosImages
from railfab.platforms.junos.names import TABLES
from railfab.platforms.junos.scope import former_text, has_all_of, with_operators
from railfab.platforms.junos.statements import read
from railfab.platforms.session import ChangeName, Identity, Pending, Running, Staged, Verb
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.brace_text import Statement, shown
from railfab.platforms.shared.change_tokens import change_token
from railfab.platforms.shared.cli_connection import CliConnection
from railfab.platforms.shared.hostnames import check_hostname
from railfab.platforms.shared.login import ANSWER_WITHIN_S
from railfab.ssh import END_OF_TEXT

COMMIT_WITHIN_S = 180.0
"""Limit of loading, checking and committing a configuration [s]."""
MINUTE_S = 60
REVERTED = "railfab-reverted"
"""Comment of the commit that undoes a change."""
DRAIN: Statement = ("protocols", "bgp", "graceful-shutdown", "sender")
DRAINED: Statement = ("apply-macro", "railfab-drain")
"""Statement without an effect that tells a drain by a verb from one by a configuration."""
QUESTION = "[yes,no] (no)"
"""End of the question that `request system reboot` asks."""
FACTORY_NAME = "Amnesiac"
"""Name in the prompt of a switch without a configuration (Juniper, Configuring Junos OS for the First Time)."""
_HOSTNAME = re.compile(r"^    host-name (\S+);$", re.MULTILINE)
_COMMENTS = re.compile(r"^(?:##.*|version [^\n]*)\n", re.MULTILINE)
_IDENTITY = re.compile(r"^(Hostname|Model|Junos): (.*)$", re.MULTILINE)
_PLACE = re.compile(r"\n*^\[edit.*\]\s*\Z", re.MULTILINE)
"""Line before the prompt of the configuration mode."""
_LOCKED = re.compile(r"configuration database (?:locked|modified)")
_HOLDER = re.compile(r"^\s+(?P<user>\S+) terminal .* on since (?P<since>[^,\n]+)", re.MULTILINE)


class JunosSession:
    """A platforms.Session for Junos. read_within_s: limit of commands that only read; None is that of a CLI [s]."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials, *, read_within_s: float | None = None) -> None:
        dialect = yaml_files.dialect(__package__ or "")
        self._name = endpoint.name
        self._login = (endpoint, credentials, dialect)
        self._user = credentials.username
        self._read_within_s = read_within_s or ANSWER_WITHIN_S
        self._verbs = dialect.verbs
        self._cli = CliConnection(endpoint, credentials, dialect)
        self._has_committed = False
        self._made: tuple[tuple[str, str], str] | None = None
        self._seen: str | None = None
        self._loaded: Staged | None = None
        self._is_editing = False

    def __enter__(self) -> Self:
        self._cli.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._cli.is_idle:
            with suppress(RailfabError):
                self._unload()
        self._cli.close()

    def running(self) -> Running:
        self._seen = text = self._text()
        names = dict(_IDENTITY.findall(self._read("version")))
        return Running(
            text=text,
            revision=digest(text),
            identity=Identity(
                hostname=names.get("Hostname", ""), version=names.get("Junos", ""), model=names.get("Model", "")
            ),
            pending=_pending(self._commits(self._cli)),
            drained=_is_drained(text),
        )

    def stage(self, text: str, change: ChangeName | None = None) -> Staged:
        """Have the switch check a candidate, and compare; a candidate without a difference is not sent.

        It stays loaded for `commit` when it is given the name of the change; the switch is then locked for others.
        Raises CommitRefused, also while another session holds the configuration, and while a change is pending, which
        `commit check` would confirm (Juniper, Commit the Configuration, commit confirmed).
        """
        self._unload()
        running, self._seen = self._seen or self._text(), None
        wanted = self._with_drain(text, running)
        if has_all_of(running, wanted):
            return Staged(text=wanted, diff="", former=text, revision=digest(running))
        self._check_hostname(running, wanted)
        candidate = self._candidate(wanted, running)
        stays = change is not None
        diff = "" if is_same(candidate, running) else self._checked(candidate, stays=stays)
        lines = (without_secrets(line) for line in diff.splitlines())
        staged = Staged(
            text=wanted,
            diff="\n".join(lines).strip(),
            former=former_text(_undrained(running), wanted),
            revision=digest(running),
        )
        self._loaded = staged if self._is_editing else None
        return staged

    def _check_hostname(self, running: str, wanted: str) -> None:
        """Refuse the configuration of another switch."""
        present, named = (_HOSTNAME.search(text) for text in (running, wanted))
        if present and named:
            remedy = "set the hostname of the switch first"
            check_hostname(self._name, present[1], named[1], factory=FACTORY_NAME, remedy=remedy)

    def _checked(self, candidate: str, *, stays: bool) -> str:
        """Differences that the switch finds in a candidate, which it accepts. stays: whether it stays loaded."""
        self._refuse_pending()
        with self._editing(self._cli, stays=stays):
            self._load(candidate)
            diff = self._edit(self._cli, "compare")
            self._edit(self._cli, "check")
        return diff

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        """Load the candidate and commit it for this time, rounded up to minutes; read it back once."""
        running = self._text()
        if digest(running) != staged.revision:
            raise CommitRefused(self._name, "has changed since its differences were read", "Review them again")
        candidate = self._candidate(staged.text, running)
        minutes = max(1, math.ceil(within_s / MINUTE_S))
        if self._loaded is not staged:
            self._unload()
            self._refuse_pending()
        with self._editing(self._cli):
            if self._loaded is not staged:
                self._load(candidate)
            self._edit(self._cli, "commit", minutes=minutes, change=change_token(change))
        self._has_committed = True
        if not is_same(self._text(), candidate):
            self.revert(change)
            raise CommitRefused(
                self._name, "did not accept all of the candidate", "Compare its release with the intent"
            )

    def _candidate(self, text: str, running: str) -> str:
        """A text with what is the operator's on the switch; that of the last call for the same texts."""
        key = (text, running)
        if self._made is None or self._made[0] != key:
            self._made = key, with_operators(text, running, user=self._user)
        return self._made[1]

    def confirm(self, change: ChangeName) -> None:
        """Keep a change, from a new connection where this one made it: so the switch can still be reached."""
        self._unload()
        with self._another() as cli:
            commits = self._commits(cli)
            newest = commits[0] if commits else None
            if newest is None or newest.change != change or not newest.is_pending:
                if any(commit.change == change and not commit.is_timed for commit in commits):
                    return
                raise CommitRefused(self._name, f"no longer has the change {change}, which it reverted", "Deploy again")
            with self._editing(cli):
                self._edit(cli, "keep", change=change_token(change))

    def revert(self, change: ChangeName) -> None:
        """Load the configuration before a change that is pending, and commit it."""
        self._unload()
        commits = self._commits(self._cli)
        if not commits or commits[0].change != change or not commits[0].is_pending:
            return
        with self._editing(self._cli):
            self._edit(self._cli, "previous")
            self._edit(self._cli, "keep", change=REVERTED)

    def observe(self, *, resolved: bool = True, routes: bool = False) -> Observed:
        interfaces = self._entries("interfaces", "interface-information", "physical-interface")
        heard = {
            _data(entry, "lldp-local-port-id"): entry
            for entry in self._entries("neighbors", "lldp-neighbors-information", "lldp-neighbor-information")
        }
        bfd = {
            _data(entry, "session-neighbor"): _data(entry, "session-state") == "Up"
            for entry in self._entries("bfd", "bfd-session-information", "bfd-session")
        }
        addresses = self._resolved() if resolved else {}
        in_effect = self._qos_in_effect()
        return Observed(
            interfaces=tuple(
                _interface(
                    entry,
                    heard.get(name),
                    addresses.get(name, frozenset()) if resolved else None,
                    in_effect.get(name),
                )
                for entry in interfaces
                for name in (_data(entry, "name"),)
            ),
            sessions=tuple(_session(entry, bfd) for entry in self._entries("sessions", "bgp-information", "bgp-peer")),
            next_hop_widths=_widths(self._entries("routes", "route-information", "route-table")) if routes else None,
        )

    def _qos_in_effect(self) -> Mapping[str, PortQosInEffect]:
        """QoS of the ports; of none where the switch has no class of service, or does not tell."""
        try:
            return qos_in_effect(self._read("cos"), self._read("cos_interfaces"))
        except Unreachable:
            raise
        except DeviceError:
            return {}

    def _resolved(self) -> dict[str, frozenset[IpAddress]]:
        """Addresses that ARP and neighbor discovery have resolved, by interface without its unit."""
        rows = [
            (_data(entry, "interface-name"), _data(entry, "ip-address"))
            for entry in self._entries("arp", "arp-table-information", "arp-table-entry")
        ]
        rows += [
            (_data(entry, "ipv6-nd-interface-name"), _data(entry, "ipv6-nd-neighbor-address"))
            for entry in self._entries("nd", "ipv6-nd-information", "ipv6-nd-entry")
        ]
        by_port: dict[str, set[IpAddress]] = {}
        for interface, address in rows:
            by_port.setdefault(interface.partition(".")[0], set()).add(ip_address(address))
        return {name: frozenset(addresses) for name, addresses in by_port.items()}

    def install(self, image: Image) -> None:
        self._unload()
        self._refuse_pending()
        JunosImages(self._name, self._cli, self._verbs).install(image)

    def operate(self, verb: Verb) -> None:
        """Drain or undrain by a commit; SAVE does nothing, because Junos saves each commit."""
        self._unload()
        self._refuse_pending()
        if verb is Verb.RELOAD:
            self._reload()
        elif verb in (Verb.DRAIN, Verb.UNDRAIN):
            self._set_drain(on=verb is Verb.DRAIN)

    def _reload(self) -> None:
        self._cli.send(self._verbs["reload"], until=re.escape(QUESTION))
        self._cli.end_with("yes")

    def _set_drain(self, *, on: bool) -> None:
        stated = read(self._text())
        changes = [statement for statement in (DRAIN, DRAINED) if (statement in stated) is not on]
        if changes:
            with self._editing(self._cli):
                for statement in changes:
                    self._edit(self._cli, "set" if on else "delete", statement=shown(statement))
                self._edit(self._cli, "keep", change="railfab-drain" if on else "railfab-undrain")

    def _with_drain(self, text: str, running: str) -> str:
        """A text with the drain by a verb, where the switch has one."""
        if not _is_drained(running):
            return text
        drained = Hierarchy.read(text)
        for statement in (DRAIN, DRAINED):
            drained.set(statement)
        return drained.text()

    def _load(self, candidate: str) -> None:
        """Replace the candidate of the switch by this one. Raises CommitRefused for a text that it cannot read."""
        self._cli.send(self._verbs["load"], until=r"\^D[^\n]*\n")
        self._refusing(lambda: self._cli.send_text(candidate + END_OF_TEXT, within_s=COMMIT_WITHIN_S))

    @contextmanager
    def _editing(self, cli: CliConnection, *, stays: bool = False) -> Iterator[None]:
        """The configuration for this session alone; what is not committed is discarded, unless it stays loaded."""
        if not self._is_editing:
            self._enter(cli)
        try:
            yield
            if stays:
                self._is_editing = True
            else:
                self._leave(cli)
        except Unreachable:
            raise
        except RailfabError:
            cli.run(self._verbs["discard"])
            self._leave(cli)
            raise

    def _enter(self, cli: CliConnection) -> None:
        try:
            cli.run(self._verbs["enter"])
        except Unreachable:
            raise
        except DeviceError as error:
            raise self._held(cli, error) from None

    def _leave(self, cli: CliConnection) -> None:
        self._is_editing, self._loaded = False, None
        cli.run(self._verbs["leave"])

    def _unload(self) -> None:
        """Discard a candidate that is loaded, and let others change the configuration."""
        if self._is_editing:
            self._cli.run(self._verbs["discard"])
            self._leave(self._cli)

    def _held(self, cli: CliConnection, error: DeviceError) -> CommitRefused:
        holder = _HOLDER.search(cli.last_output)
        if not _LOCKED.search(cli.last_output):
            return CommitRefused(self._name, error.problem, error.remedy)
        by = f" by {holder['user']} since {holder['since'].strip()}" if holder else ""
        problem = f"is being configured{by}"
        return CommitRefused(self._name, problem, "Wait until that session has committed or left, then deploy again")

    def _edit(self, cli: CliConnection, verb: str, **values: object) -> str:
        """Run a command of the configuration mode. Raises CommitRefused."""
        command = self._verbs[verb].format(**values)
        return self._refusing(lambda: cli.run(command, within_s=COMMIT_WITHIN_S))

    def _refusing(self, act: Any) -> str:
        try:
            return str(act())
        except Unreachable:
            raise
        except DeviceError as error:
            raise CommitRefused(self._name, error.problem, error.remedy) from None

    def _refuse_pending(self) -> None:
        pending = _pending(self._commits(self._cli))
        if pending is not None:
            raise CommitRefused(self._name, f"has an unconfirmed change: {pending.description}", "Confirm or revert it")

    @contextmanager
    def _another(self) -> Iterator[CliConnection]:
        """A new connection after a commit of this session; else its own."""
        if not self._has_committed:
            yield self._cli
            return
        cli = CliConnection(*self._login)
        cli.open()
        try:
            yield cli
        finally:
            cli.close()

    def _text(self) -> str:
        return _COMMENTS.sub("", self._read("running")).strip("\n") + "\n"

    def _read(self, verb: str) -> str:
        return self._shown(self._cli, verb)

    def _shown(self, cli: CliConnection, verb: str) -> str:
        """The output of a command that reads, also beside a candidate that is loaded."""
        command = self._verbs[verb]
        if not self._is_editing:
            return cli.run(command, within_s=self._read_within_s)
        output = cli.run(self._verbs["beside"].format(command=command), within_s=self._read_within_s)
        return _PLACE.sub("", output)

    def _commits(self, cli: CliConnection) -> list[ListedCommit]:
        return commits_of(self._shown(cli, "commits"))

    def _entries(self, verb: str, root: str, name: str) -> list[dict[str, Any]]:
        answer = self._read(verb)
        try:
            document = json.loads(answer[answer.index("{") : answer.rindex("}") + 1])
            return [entry for part in document.get(root, []) for entry in part.get(name, [])]
        except (ValueError, AttributeError):
            problem = f"answers {self._verbs[verb]!r} with something else than JSON"
            raise DeviceError(self._name, problem, "Check its release") from None


def _is_drained(running: str) -> bool:
    """Whether a verb has drained the switch."""
    return DRAINED[-1] in running and DRAINED in read(running)


def _undrained(running: str) -> str:
    """A configuration without a drain by a verb."""
    if not _is_drained(running):
        return running
    left = Hierarchy.read(running)
    for statement in (DRAIN, DRAINED):
        left.delete(statement)
    return left.text()


def _pending(commits: list[ListedCommit]) -> Pending | None:
    if not commits or not commits[0].is_pending:
        return None
    newest = commits[0]
    name = newest.change
    whose = f"{name.deploy} of {name.user}@{name.host}" if name else f"a commit of {newest.user}"
    return Pending(
        change=name,
        description=f"{whose}, made at {newest.date}, is rolled back within {newest.minutes_left} min unless confirmed",
        reverts_in_s=float(newest.minutes_left * MINUTE_S),
    )


def _widths(tables: Iterable[dict[str, Any]]) -> Counter[int]:
    """Number of active routes by the number of their next hops, in the tables of the default instance."""
    routes = (
        route for table in tables if _data(table, "table-name") in TABLES.values() for route in table.get("rt", [])
    )
    entries = (entry for route in routes for entry in route.get("rt-entry", []))
    return Counter(len(entry.get("nh", ())) for entry in entries)


def _data(entry: dict[str, Any], name: str) -> str:
    values = entry.get(name) or [{}]
    return str(values[0].get("data", ""))


def _interface(
    entry: dict[str, Any],
    heard: dict[str, Any] | None,
    resolved: frozenset[IpAddress] | None,
    in_effect: PortQosInEffect | None,
) -> ObservedInterface:
    units = [family for unit in entry.get("logical-interface", ()) for family in unit.get("address-family", ())]
    sizes = [int(size) for family in units if (size := _data(family, "mtu")).isdecimal()]
    return ObservedInterface(
        name=_data(entry, "name"),
        oper_up=_data(entry, "oper-status") == "up",
        enabled=_data(entry, "admin-status") == "up",
        mtu_bytes=min(sizes, default=None),
        neighbor_device=_data(heard, "lldp-remote-system-name") if heard else None,
        neighbor_interface=(_data(heard, "lldp-remote-port-id") or None) if heard else None,
        resolved_addresses=resolved,
        **_qos(units, in_effect),
    )


def _qos(units: list[dict[str, Any]], in_effect: PortQosInEffect | None) -> Mapping[str, Any]:
    """QoS of a port; a member of a bundle has that of the bundle, which is not reported beside it."""
    if in_effect is None or any(_data(family, "address-family-name") == "aenet" for family in units):
        return {}
    return {"pfc": in_effect.pfc, "ecn": in_effect.ecn, "dscp": in_effect.dscp}


def _session(entry: dict[str, Any], bfd: dict[str, bool]) -> ObservedBgpSession:
    address = _data(entry, "peer-address").partition("+")[0]
    instance = _data(entry, "peer-cfg-rti")
    return ObservedBgpSession(
        peer=_peer(address),
        state=_data(entry, "peer-state").lower(),
        network_instance=DEFAULT_INSTANCE if instance in ("", "master") else instance,
        remote_as=int(_data(entry, "peer-as") or 0) or None,
        bfd_up=bfd.get(address),
    )


def _peer(address: str) -> IpAddress | str:
    """The peer of a session; the interface of one with a link-local address, without its unit."""
    plain, _, interface = address.partition("%")
    return interface.rpartition(".")[0] if interface else ip_address(plain)

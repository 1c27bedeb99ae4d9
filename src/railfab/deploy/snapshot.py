"""Snapshots of a fabric: what its switches run and see at one moment, in a private file or folder.

A file has configurations without their secrets, and is for comparing. A folder has that file, `snapshot.json`, and
beside it in `configurations/` what each switch ran as a whole, as the journal keeps it, for a rollback.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nornir.core import Nornir

from railfab.deploy.run import OnDone, readings_of
from railfab.deploy.tasks import inspect
from railfab.device import Observed, configuration_without_secrets
from railfab.endpoints import PART, make_folder, write_private
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.platforms import Running

if TYPE_CHECKING:
    from pydantic import TypeAdapter

FORMAT = "railfab snapshot 1"
DOCUMENT, CONFIGURATIONS = "snapshot.json", "configurations"
SUFFIX = ".json"
"""Of a snapshot that is a file; any other name is that of a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortSnapshot:
    """A port. neighbor: device and port at its far end by LLDP; empty where none is heard."""

    name: str
    up: bool
    mtu_bytes: int | None
    neighbor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshot:
    """A BGP session, by network instance and peer."""

    instance: str
    peer: str
    established: bool
    bfd_up: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSnapshot:
    """A switch. configuration: without its secrets. digest: SHA-256 of all of it, where the snapshot is a folder.

    version: of its software; drained: by `railfab drain`; pending: a change that was neither confirmed nor reverted.
    """

    platform: str
    version: str
    model: str
    drained: bool
    pending: str | None
    ports: tuple[PortSnapshot, ...]
    sessions: tuple[SessionSnapshot, ...]
    configuration: str
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricSnapshot:
    """A fabric. taken: UTC, by the clock of who took it. unread: switches that could not be read, and why."""

    format: str
    fabric: str
    taken: str
    switches: Mapping[str, SwitchSnapshot] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenSnapshot:
    """A snapshot that has been taken. texts: what each switch runs, secrets included. unread: by switch."""

    snapshot: FabricSnapshot
    texts: Mapping[str, str] = field(repr=False)
    unread: Mapping[str, RailfabError]


def take_snapshot(
    nornir: Nornir,
    fabric: Design,
    *,
    without_address: Sequence[RailfabError] = (),
    on_done: OnDone = lambda _name: None,
) -> TakenSnapshot:
    """Read every switch. without_address: the error of each that no endpoint has, by its place."""
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    read = readings_of(nornir, inspect, on_done)
    unread = {**{error.where: error for error in without_address}, **read.unread}
    texts = {name: running.text for name, (running, _) in read.answers.items()}
    switches = {
        name: _switch(fabric.models[name].platform, running, observed)
        for name, (running, observed) in sorted(read.answers.items())
    }
    snapshot = FabricSnapshot(
        format=FORMAT,
        fabric=fabric.intent.fabric,
        taken=taken,
        switches=switches,
        unread={name: error.problem for name, error in sorted(unread.items())},
    )
    return TakenSnapshot(snapshot=snapshot, texts=texts, unread=unread)


def _switch(platform: str, running: Running, observed: Observed) -> SwitchSnapshot:
    ports = (
        PortSnapshot(
            name=port.name,
            up=port.oper_up,
            mtu_bytes=port.mtu_bytes,
            neighbor=" ".join(filter(None, (port.neighbor_device, port.neighbor_interface))),
        )
        for port in observed.interfaces
    )
    sessions = (
        SessionSnapshot(
            instance=session.network_instance,
            peer=str(session.peer),
            established=session.established,
            bfd_up=session.bfd_up,
        )
        for session in observed.sessions
    )
    return SwitchSnapshot(
        platform=platform,
        version=running.identity.version,
        model=running.identity.model,
        drained=running.drained,
        pending=None if running.pending is None else str(running.pending.change or running.pending.description),
        ports=tuple(sorted(ports, key=lambda port: port.name)),
        sessions=tuple(sorted(sessions, key=lambda session: (session.instance, session.peer))),
        configuration=configuration_without_secrets(running.text),
    )


def check_writable(path: Path) -> None:
    """Raise RailfabError where a snapshot cannot be written, before any switch is read."""
    remedy = "Name a new folder with -o, or a file that ends in .json"
    if path.is_dir() and (path.suffix == SUFFIX or any(path.iterdir())):
        raise RailfabError(str(path), "is a folder that exists", remedy)
    if path.suffix != SUFFIX and path.exists() and not path.is_dir():
        raise RailfabError(str(path), "is a file, not a new folder", remedy)


def write_snapshot(path: Path, taken: TakenSnapshot) -> None:
    """Write a file, or a folder, whole or not at all; nobody but the owner can read it. Raises RailfabError."""
    try:
        if path.suffix == SUFFIX:
            write_private(path, _text(taken.snapshot))
        else:
            _write_folder(path, taken)
    except OSError as error:
        problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
        raise RailfabError(str(path), problem, "Name another place with -o") from None


def _write_folder(path: Path, taken: TakenSnapshot) -> None:
    """Write the folder beside its place, and move it there."""
    part = path.with_name(path.name + PART)
    shutil.rmtree(part, ignore_errors=True)
    make_folder(part)
    try:
        part.chmod(0o700)
        digests = {name: sha256(text.encode()).hexdigest() for name, text in taken.texts.items()}
        switches = {name: replace(one, digest=digests[name]) for name, one in taken.snapshot.switches.items()}
        for name, text in taken.texts.items():
            write_private(part / CONFIGURATIONS / name, text)
        write_private(part / DOCUMENT, _text(replace(taken.snapshot, switches=switches)))
        part.replace(path)
    except OSError:
        shutil.rmtree(part, ignore_errors=True)
        raise


def read_snapshot(path: Path, fabric: str | None = None) -> FabricSnapshot:
    """Read a snapshot, a file or a folder. fabric: that it is to be of. Raises RailfabError for any other file."""
    document = path / DOCUMENT if path.is_dir() else path
    try:
        text = document.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot be read ({(getattr(error, 'strerror', None) or 'not UTF-8 text').lower()})"
        raise RailfabError(str(document), problem, "Name a snapshot that railfab snapshot has written") from None
    try:
        snapshot: FabricSnapshot = _adapter().validate_json(text)
    except ValueError as error:
        problem = f"is no snapshot, or a damaged one ({_first(error)})"
        raise RailfabError(str(document), problem, "Name a snapshot that railfab snapshot has written") from None
    if snapshot.format != FORMAT:
        problem = f"has the format {snapshot.format!r}, this release reads {FORMAT!r}"
        raise RailfabError(str(document), problem, "Take it again with this release")
    if fabric not in (None, snapshot.fabric):
        problem = f"is of fabric {snapshot.fabric}, not of {fabric}"
        raise RailfabError(str(document), problem, "Name a snapshot of this fabric")
    return snapshot


def whole_configurations(path: Path, snapshot: FabricSnapshot, names: Collection[str]) -> dict[str, str]:
    """What these switches of a snapshot ran, for a rollback. Raises RailfabError where the snapshot has that no more.

    Switches that it does not have are left out.
    """
    if not path.is_dir():
        problem = "has configurations without their secrets, to which no switch can return"
        raise RailfabError(str(path), problem, "Name a folder that railfab snapshot -o DIR has written")
    return {
        name: _whole(path / CONFIGURATIONS / name, switch)
        for name, switch in snapshot.switches.items()
        if name in names
    }


def _whole(path: Path, switch: SwitchSnapshot) -> str:
    remedy = "Restore the snapshot, or leave the switch out with --limit"
    try:
        content = path.read_bytes()
    except OSError as error:
        problem = f"cannot be read ({(error.strerror or str(error)).lower()})"
        raise RailfabError(str(path), problem, remedy) from None
    if sha256(content).hexdigest() != switch.digest:
        raise RailfabError(str(path), "is not what the switch ran when the snapshot was taken", remedy)
    return content.decode()


def _text(snapshot: FabricSnapshot) -> str:
    return str(_adapter().dump_json(snapshot, indent=1).decode()) + "\n"


def _adapter() -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(FabricSnapshot)


def _first(error: ValueError) -> str:
    """The first fault that was found, and its place."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else str(first["msg"])

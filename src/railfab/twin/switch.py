"""A virtual switch as a gNMI target: a configuration that clients edit, and the state of its fabric."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

from railfab.device import DeviceModel, Observed, without_secrets
from railfab.errors import raise_all
from railfab.forwarding import BgpSession, uncomputed
from railfab.gnmi.confirmed import CommitRecord, ConfirmedCommits
from railfab.gnmi.extensions import ExtensionUnsupported
from railfab.gnmi.paths import Element
from railfab.gnmi.target import Commit, DataType, Edit, Found, GnmiOffer, Readable, YangModel
from railfab.platforms import (
    Platform,
    Tree,
    TwinFace,
    VirtualChassis,
    VirtualLag,
    VirtualPort,
    VirtualReading,
    VirtualRoute,
    VirtualSession,
)
from railfab.platforms.shared.virtual_images import VirtualImages
from railfab.ssh import Cli, CliUser, NewCli
from railfab.twin.encoder import Encoded, Encoder
from railfab.twin.observed import observed_state
from railfab.twin.samples import ObservedDevice, ObservedSwitch
from railfab.twin.secrets import USERNAME
from railfab.twin.switch_reader import TIME, LeafSource, StateReading, SwitchReader, SwitchView
from railfab.twin.switch_timers import SwitchTimers
from railfab.twin.virtual_routes import virtual_routes

logger = logging.getLogger(__name__)

_PARSING = threading.Lock()
"""Held by the Set that is being parsed: Sets that are parsed at the same time would slow down each other and the event
loop of the servers. Only worker threads of Sets wait for it."""

Apply = Callable[[str, DeviceModel | None], None]
"""Hands a switch's model to the fabric and returns when it has taken effect; None is a switch without configuration.
Raises RailfabError."""


Observe = Callable[[str], ObservedSwitch]
"""Reads the state of a switch without waiting for a lock."""

Stamp = Callable[[int], int]
"""The time stamp of what had been counted at a simulated time; both in ns."""


class Configuration(NamedTuple):
    """A configuration in the datastore's own type, its device model, None for the factory's, and what boots with it."""

    stored: Any
    model: DeviceModel | None
    startup: Any


class VirtualSwitch:
    """A gNMI target. Clients edit its configuration; each candidate is parsed before it takes effect.

    Streams and Gets work from views, which are read in a worker thread and published by replacing one reference.
    The fabric calls `touch` after each change of a state; only counters have to be read to see them change.
    announced: announces to the fabric that a configuration is being parsed.
    observe_device: reads the switch as a device alone, for less. cages: names of its ports without breakout.
    restart: switches the power of the switch of a name off and on.
    boots: how often it has had power. timers: jobs that run at a later time. unit: number of the device in this place.
    model: the configuration as a device model; None while the switch has nothing but its factory configuration.
    """

    change_age_s = math.inf

    def __init__(
        self,
        name: str,
        platform: Platform,
        face: TwinFace,
        rendered: Tree,
        *,
        announced: Callable[[], AbstractContextManager[None]],
        apply: Apply,
        observe: Observe,
        observe_device: Callable[[str], ObservedDevice],
        stamp: Stamp,
        cages: Sequence[str],
        restart: Callable[[str], None],
    ) -> None:
        self.name = name
        self.boots = 1
        self.unit = 1
        self.images = VirtualImages(platform.name, face.release)
        self.timers = SwitchTimers(name)
        self._restart = restart
        self._face = face
        self._cages = cages
        self._announced, self._apply = announced, apply
        self._observe = observe
        self._observe_device = observe_device
        self._store = face.datastore(name, rendered)
        self._telemetry = platform.telemetry
        self._uncounted = face.uncounted(self._store.running)
        self._encoder = self._new_encoder()
        self._sessions = LeafSource(partial(_leaves_of_sessions, face, name))
        self._ports = LeafSource(partial(_leaves_of_ports, face, name))
        self._lags = LeafSource(partial(_leaves_of_lags, face, name))
        self._whole_device, self._device = _DeviceLeaves(face), _DeviceLeaves(face)
        self._whole = SwitchReader(name, self._store, stamp, self._read_all)
        self._part = SwitchReader(name, self._store, stamp, self._read_device)
        self._commits = ConfirmedCommits(name, self._run, self.touch)
        self._answers = True
        self._factory = self._startup = self._store.running
        self.model: DeviceModel | None = None

    def models(self) -> Sequence[YangModel]:
        return self._face.models

    @property
    def offer(self) -> GnmiOffer:
        """The calls and encodings of its gNMI server."""
        return self._face.offer or GnmiOffer()

    @property
    def takes_commands(self) -> bool:
        """Whether gNMI takes the commands of its CLI."""
        return self._face.commands is not None

    def run_command(self, command: str, *, as_json: bool) -> str:
        """Answer a command that shows something, of a gNMI client."""
        assert self._face.commands is not None
        return self._face.commands.answer(self.name, self._new_session(), command, as_json=as_json)

    def configure_lines(self, text: str) -> None:
        """Run lines of configuration of a gNMI client."""
        assert self._face.commands is not None
        self._face.commands.configure(self.name, self._new_session(), text)

    def _new_session(self) -> Cli:
        assert self.new_cli is not None
        return self.new_cli(CliUser(name=USERNAME))

    @cached_property
    def new_cli(self) -> NewCli | None:
        """Makes the CLIs of its sessions, which share what the switch keeps of them; None without a CLI."""
        return None if self._face.cli is None else self._face.cli(self)

    @property
    def origins(self) -> Sequence[str]:
        """The origins of gNMI paths that name the platform's own models."""
        return self._face.origins

    @property
    def answers(self) -> bool:
        """Whether the running configuration has a gNMI server."""
        return self._answers

    def check_asked(self, path: tuple[Element, ...]) -> None:
        if path[:1] != TIME.path[:1]:
            self._face.check_asked(self.name, path)

    @property
    def boots_answering(self) -> bool:
        """Whether the startup configuration has one."""
        return self._face.serves_gnmi(self._startup)

    def load(self, rendered: Tree) -> DeviceModel | None:
        """Merge a rendered configuration into the factory's and save it; its model, for the caller to apply.

        Raises RailfabError when it is not valid.
        """
        merged = self._store.merged(rendered)
        self._take(Configuration(merged, self._model_of(merged), merged))
        return self.model

    def hang(self) -> None:
        """Let a commit that is not confirmed in time stay until `resume`."""
        self._commits.hang()
        self.timers.hang()

    def resume(self) -> None:
        """Undo a commit whose time is over by now."""
        self._commits.resume()
        self.timers.resume()

    def lose_power(self) -> bool:
        """Lose what is not in the startup configuration: a commit that is not confirmed, and what was not saved.

        The next boot runs the image that is to be booted; returns whether the switch comes up with it.
        """
        comes_up = self.images.boot()
        self.timers.clear()
        self.boots += 1
        former = self._commits.forget()
        startup = self._face.booted(self._startup if former is None else former.startup, self.images.release)
        self._take(Configuration(startup, self._in_effect(startup), startup))
        return comes_up

    def become_new(self, release: str) -> None:
        """Become another device of the same model, as it leaves the factory, with this release or that of the twin."""
        self.unit += 1
        self.images = VirtualImages(self.images.platform, release or self._face.release)
        self._startup = self._face.booted(self._factory, self.images.release)
        self._commits.forget()
        self.__dict__.pop("new_cli", None)
        self.lose_power()

    def set(self, edits: Sequence[Edit]) -> None:
        self._commits.plain(partial(self._change_to, partial(self._store.edited, edits)))

    def set_commit(self, edits: Sequence[Edit], commit: Commit) -> None:
        if self._face.commits is None:
            raise ExtensionUnsupported(self.name, "the extension commit is not supported", "Leave it out")
        change = partial(self._change_to, partial(self._store.edited, edits))
        self._commits.act(commit, change if edits else None)

    def change(self, candidate_of: Callable[[Any], Any], commit: Commit | None = None) -> None:
        """Run what a function makes of the running configuration, under a timer where there is a commit extension."""
        change = partial(self._change_to, lambda: candidate_of(self._store.running))
        if commit is None:
            self._commits.plain(change)
        else:
            self._commits.act(commit, change)

    def decide(self, commit: Commit) -> None:
        """Confirm or cancel the change that waits."""
        self._commits.act(commit, None)

    @property
    def unmodelled(self) -> tuple[str, ...]:
        """What of the running configuration has no effect on the twin: lines that the model has no word for, and parts
        of the model that convergence does not compute."""
        if self.model is None:
            return ()
        return (*map(without_secrets, self.model.unmodelled), *map(str, uncomputed(self.model)))

    def close(self) -> None:
        """Stop the timers of a commit that is not confirmed, and of jobs."""
        self._commits.close()
        self.timers.clear()

    def commits(self) -> Sequence[CommitRecord]:
        """The last commits under a timer, oldest first."""
        return self._commits.records()

    def get(self, path: tuple[Element, ...], data_type: DataType) -> Sequence[Found]:
        """The present answer to a Get. Raises PathNotFound."""
        return self.part(() if data_type is DataType.CONFIG else (path,)).refresh().get(path, data_type)

    @property
    def configuration(self) -> Any:
        """The running configuration as the datastore has it."""
        return self._store.running

    @property
    def saved(self) -> bool:
        """Whether the next boot has the running configuration."""
        return bool(self._startup is self._store.running or self._startup == self._store.running)

    def running(self) -> str:
        """The running configuration as text."""
        return self._store.text(self._store.running)

    def startup(self) -> str:
        """The configuration of the next boot as text."""
        return self._store.text(self._startup)

    def save(self) -> None:
        """Make the running configuration that of the next boot."""
        self._startup = self._store.running

    def restart(self) -> None:
        """Boot the startup configuration; returns before the switch loses its power."""
        self._restart(self.name)

    def readings(self) -> list[VirtualReading]:
        """The present values of the metrics."""
        observed = self._observe(self.name)
        series = zip(observed.series, observed.values, strict=True)
        return [VirtualReading(metric, labels, value) for (metric, labels), value in series]

    def ports(self) -> tuple[VirtualPort, ...]:
        """The front-panel ports."""
        return tuple(self._observe(self.name).ports)

    def sessions(self) -> tuple[VirtualSession, ...]:
        """The BGP sessions."""
        return tuple(map(_shown, self._observe(self.name).sessions))

    def chassis(self) -> VirtualChassis:
        """The switch as a device."""
        return self._observe_device(self.name).chassis

    def routes(self) -> tuple[VirtualRoute, ...]:
        """The active routes."""
        return tuple(virtual_routes(self._observe(self.name).state, self.name))

    def check(self, text: str) -> None:
        """Parse a configuration. Raises RailfabError when it is not valid."""
        with _PARSING:
            self._model_of(self._store.replaced(text))

    def replace(self, text: str) -> None:
        """Make this text the running configuration. Raises RailfabError; then nothing has changed."""
        self._commits.plain(partial(self._change_to, partial(self._store.replaced, text)))

    def observe(self) -> Observed:
        """The live state as a session reads it from a switch."""
        return observed_state(self._observe(self.name), self.model)

    def _change_to(self, candidate_of: Callable[[], Any]) -> Configuration:
        """Parse a candidate and run it; the configuration before it."""
        before = Configuration(self._store.running, self.model, self._startup)
        with self._announced():
            with _PARSING:
                candidate = candidate_of()
                model = self._model_of(candidate)
            self._run(Configuration(candidate, model, candidate if self._face.saves(candidate) else self._startup))
        return before

    def _model_of(self, candidate: Any) -> DeviceModel | None:
        """The model of a candidate. Raises RailfabError when the switch would not accept it."""
        model = self._in_effect(candidate)
        raise_all(self._face.foreign_ports(candidate, self._cages))
        return model

    def _in_effect(self, configuration: Any) -> DeviceModel | None:
        """The model by which the switch acts; None for the factory's configuration."""
        model = self._store.model(configuration)
        return None if model is None else self._face.in_effect(model, configuration)

    def _run(self, configuration: Configuration) -> None:
        """Have the fabric apply a configuration's model, and make it the running one."""
        self._apply(self.name, configuration.model)
        self._take(configuration)
        logger.info("%s: configuration changed", self.name)

    def _take(self, configuration: Configuration) -> None:
        self._store.commit(configuration.stored)
        self._answers = self._face.serves_gnmi(configuration.stored)
        if (uncounted := self._face.uncounted(configuration.stored)) != self._uncounted:
            self._uncounted = uncounted
            self._encoder = self._new_encoder()
        self.model, self._startup = configuration.model, configuration.startup
        self.touch()

    def _new_encoder(self) -> Encoder:
        """An encoder of what the switch counts."""
        rules = tuple(rule for rule in self._telemetry.rules if rule.metric not in self._uncounted)
        return Encoder(replace(self._telemetry, rules=rules), partial(self._face.wildcard, self.name))

    def touch(self) -> None:
        """Mark the last views as outdated: the fabric is read again before the next answer."""
        self._whole.touch()
        self._part.touch()

    def view(self, max_age_s: float) -> SwitchView | None:
        return self._whole.view(max_age_s)

    def refresh(self) -> SwitchView:
        return self._whole.refresh()

    def part(self, paths: Sequence[tuple[Element, ...]]) -> Readable:
        """The device alone where all leaves at and below these paths are its own, else the whole switch."""
        return self._part if all(map(self._is_of_device, paths)) else self

    def _is_of_device(self, path: tuple[Element, ...]) -> bool:
        names = tuple([step.name for step in path])
        return any(names[: len(own)] == own for own in self._face.device_paths)

    def _read_all(self) -> StateReading:
        observed = self._observe(self.name)
        parts = (
            self._encoder.encode(observed.series, observed.values),
            self._sessions.encode(observed.sessions),
            self._ports.encode(observed.ports),
            self._lags.encode(observed.lags),
            *self._whole_device.encode(observed.chassis, self.commits()),
        )
        return StateReading(observed.simulated_ns, parts)

    def _read_device(self) -> StateReading:
        observed = self._observe_device(self.name)
        return StateReading(observed.simulated_ns, self._device.encode(observed.chassis, self.commits()))


class _DeviceLeaves:
    """The leaves of the switch itself that no metric carries, and of its commits."""

    def __init__(self, face: TwinFace) -> None:
        self._chassis = LeafSource(partial(_leaves_of_device, face))
        self._commits = LeafSource(face.commits or (lambda _: {}))

    def encode(self, chassis: VirtualChassis, commits: Sequence[CommitRecord]) -> tuple[Encoded, Encoded]:
        return self._chassis.encode((chassis,)), self._commits.encode(commits)


def _leaves_of_sessions(face: TwinFace, device: str, sessions: Sequence[BgpSession]) -> dict[str, Any]:
    """The leaves of BGP sessions that no metric carries."""
    shown = map(_shown, sessions)
    return {path: value for session in shown for path, value in face.session_leaves(device, session).items()}


def _leaves_of_ports(face: TwinFace, device: str, ports: Sequence[VirtualPort]) -> dict[str, Any]:
    """The leaves of ports that no metric carries."""
    return {path: value for port in ports for path, value in face.port_leaves(device, port).items()}


def _leaves_of_lags(face: TwinFace, device: str, lags: Sequence[VirtualLag]) -> dict[str, Any]:
    """The leaves of LAGs that no metric carries."""
    leaves = face.lag_leaves or (lambda _device, _lag: {})
    return {path: value for lag in lags for path, value in leaves(device, lag).items()}


def _leaves_of_device(face: TwinFace, chassis: Sequence[VirtualChassis]) -> Mapping[str, Any]:
    """The leaves of the switch itself that no metric carries."""
    (found,) = chassis
    return face.device_leaves(found)


def _shown(session: BgpSession) -> VirtualSession:
    timing = session.bfd
    return VirtualSession(
        interface=session.interface,
        peer=session.peer,
        remote_as=session.remote_as,
        established=session.established,
        peer_router_id=str(session.peer_router_id) if session.peer_router_id else None,
        bfd_up=session.bfd_up,
        bfd_transmit_ms=timing.transmit_ms if timing else None,
        bfd_receive_ms=timing.receive_ms if timing else None,
        bfd_remote_receive_ms=timing.remote_receive_ms if timing else None,
        bfd_remote_multiplier=timing.remote_multiplier if timing else None,
        enabled=session.enabled,
    )

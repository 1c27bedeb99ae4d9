"""Replacement of a switch by a new device: check what it is, configure it drained, verify, end the drain.

The drain is that of the intent (`drain`), in the configuration that the device gets first: its neighbours send it
nothing before it has been verified.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from nornir.core import Nornir

from railfab.deploy.cabling import CablingState, cabling_of
from railfab.deploy.journal import Journal
from railfab.deploy.peer_checks import PeerChecks
from railfab.deploy.run import apply_all, nornir_of, preview_all, readings_of
from railfab.deploy.tasks import inspect
from railfab.device import Observed
from railfab.endpoints import Endpoint, Endpoints
from railfab.errors import DeviceError, LoginRefused, RailfabError, raise_all
from railfab.fabric import Design
from railfab.platforms import Identity
from railfab.topology import Node
from railfab.topology.catalogue import catalogue

VERIFIED_WITHIN_S = 180.0
"""Time for sessions to come up [s]."""
SSH_PORT = 22
VERB = "replace"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """What became of the switch. model, version: as the device reports them. result: `replaced`, `no change` or
    `failed`. changed: whether it has been configured. drained: by its configuration, when the run ended."""

    name: str
    model: str
    version: str
    result: str
    changed: bool = False
    drained: bool = False
    error: str | None = None

    @property
    def failed(self) -> bool:
        return self.result == "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A new device in the place of the switch `name`. endpoints: of it and of its neighbours, as far as they have any.

    on_step: called with what begins. stop_requested: when set, nothing further is changed.
    """

    fabric: Design
    endpoints: Endpoints
    journal: Journal
    name: str
    verified_s: float = VERIFIED_WITHIN_S
    on_step: Callable[[str], None] = lambda _step: None
    stop_requested: threading.Event = field(default_factory=threading.Event)

    def check(self) -> Identity:
        """The device, when it is one for this place. Raises RailfabError, or Problems."""
        self.on_step("reading")
        read = readings_of(self._nornir(), inspect)
        for error in read.unread.values():
            raise with_key_remedy(error, self.endpoints.by_name()[self.name])
        running, observed = read.answers[self.name]
        device: Identity = running.identity
        raise_all(list(wrong_device(self.fabric, self.name, device, observed)))
        return device

    def replace(self, device: Identity) -> Replaced:
        """Configure the device drained, verify it, and end the drain; one that has its configuration is verified."""
        done = Replaced(name=self.name, model=device.model, version=device.version, result="no change")
        if not self._has_changes():
            return self._judged(done, self.fabric)
        drained = drained_design(self.fabric, self.name)
        if drained is not self.fabric:
            done = self._judged(self._configured(done, drained, "configuring, drained"), drained)
            if not done.failed and self.stop_requested.is_set():
                error = f"{self.name}: was left drained when the run was stopped. Run railfab replace again for it."
                done = replace(done, result="failed", error=error)
            if done.failed:
                return done
            return self._configured(done, self.fabric, "ending the drain")
        return self._judged(self._configured(done, self.fabric, "configuring"), self.fabric)

    def _has_changes(self) -> bool:
        previews = preview_all(self._nornir(), self.fabric.texts, lambda _name: None, is_own=self.journal.is_own)
        return any(preview.changed for preview in previews)

    def _configured(self, done: Replaced, design: Design, step: str) -> Replaced:
        """Bring the device to its configuration in a design."""
        self.on_step(step)
        with self.journal.open(VERB) as entry:
            (outcome,) = apply_all(
                self._nornir(),
                design.texts,
                entry.change,
                lambda _outcome: None,
                keep=entry.keep,
                stop_requested=self.stop_requested,
                abandoned=self.stop_requested,
            )
            entry.finish({self.name: outcome.result})
        if outcome.failed:
            changed = done.changed or outcome.unsettled
            return replace(done, result="failed", error=outcome.error, changed=changed)
        return replace(done, result="replaced", changed=True, drained=design is not self.fabric)

    def _judged(self, done: Replaced, design: Design) -> Replaced:
        """Verify the device and the ports of its neighbours to it."""
        if done.failed:
            return done
        self.on_step("verifying")
        checks = PeerChecks(design, self.endpoints, (self.name,))
        error = checks.failures((self.name,), self.verified_s, self.stop_requested).get(self.name)
        return done if error is None else replace(done, result="failed", error=error)

    def _nornir(self) -> Nornir:
        nodes = tuple(node for node in self.endpoints.nodes if node.name == self.name)
        return nornir_of(self.fabric, replace(self.endpoints, nodes=nodes), self.stop_requested)


def drained_design(fabric: Design, name: str) -> Design:
    """The fabric with this switch in `drain`; the fabric itself where that is so, or no session can move traffic."""
    if name in fabric.intent.drain or not fabric.models[name].neighbors:
        return fabric
    intent = fabric.intent.model_copy(update={"drain": (*fabric.intent.drain, name)})
    return Design(document=fabric.document, intent=intent, topology=fabric.topology)


def wrong_device(fabric: Design, name: str, device: Identity, observed: Observed) -> Iterator[RailfabError]:
    """Why a device is none for the place of a switch: its model, its ports, its cables as far as they can be seen."""
    topology = fabric.topology
    node = topology.node(name)
    reported = _plain(device.model)
    known = [model for model in catalogue() if _plain(model) in reported]
    if known and node.model is not None and _plain(node.model) not in reported:
        problem = f"is a {device.model}, and the intent has a {node.model} in its place"
        yield DeviceError(name, problem, "Check the address, or change the model in the intent")
    lacking = _lacking_ports(fabric, node, observed)
    if lacking:
        problem = f"has no port {lacking[0]}{f' and {len(lacking) - 1} more' if len(lacking) > 1 else ''} of the plan"
        yield DeviceError(name, problem, "Check the address, and the model and the line cards of the device")
    for link in cabling_of(topology, (name,), {name: observed}).of(CablingState.WRONG):
        problem = f"is cabled to {link.seen}, the intent says {link.peer} {link.peer_interface}"
        yield DeviceError(f"{name} {link.interface}", problem, "Correct the cable, then run railfab replace again")


def _lacking_ports(fabric: Design, node: Node, observed: Observed) -> list[str]:
    """Ports of the plan that the device has neither as they are, nor as the cage that a breakout splits."""
    present = {interface.name for interface in observed.interfaces}
    cages = fabric.topology.model_of(node).interface_names(str(node.platform), 1)
    ports = [port for port, _, _ in fabric.topology.ports_of(node.name) if port.cage]
    return [port.name for port in ports if port.name not in present and cages[port.cage - 1] not in present]


def _plain(model: str) -> str:
    """`7220 IXR-D5` and `7220-ixr-d5` are the same model."""
    return re.sub(r"[^a-z0-9]", "", model.lower())


def with_key_remedy(error: RailfabError, endpoint: Endpoint) -> RailfabError:
    """An error that a new device has another host key than the old one: how to accept it."""
    if not isinstance(error, LoginRefused) or "host key" not in error.problem:
        return error
    known, port = endpoint.known_hosts or "~/.ssh/known_hosts", endpoint.ssh_port or SSH_PORT
    name = endpoint.host if port == SSH_PORT else f"[{endpoint.host}]:{port}"
    accept = f"ssh-keygen -R '{name}' -f {known}; ssh-keyscan -t ed25519 -p {port} {endpoint.host} >> {known}"
    return error.changed(remedy=f"Compare the key with that on its console, then accept it: {accept}")

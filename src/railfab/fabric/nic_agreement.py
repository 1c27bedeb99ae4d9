"""Agreement of NICs with the switch ports that they are cabled to, by cable: each mismatch and who should change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from railfab.bounded_json import load_json
from railfab.device import DeviceModel, Fec, Lag, Port, PortOperation, operations
from railfab.errors import RailfabError, raise_all
from railfab.fabric.design import Design
from railfab.fabric.host_names import short_name
from railfab.findings import DifferenceCode, Finding, error, warning
from railfab.hosts.nic_states import NicDocumentError, NicFec, NicState, states_of
from railfab.hosts.ports import RocePort, every_roce_port
from railfab.intent import Lossless, StorageClass
from railfab.text.counted import listed
from railfab.topology.catalogue import nearest
from railfab.yaml_reader.files import UnreadableFile, file_text

MAX_BYTES = 50_000_000
WRITE_IT = "Write it on the host with railfab agent --once --output json"
FECS = {Fec.OFF: NicFec.OFF, Fec.BASE_R: NicFec.BASE_R, Fec.RS_528: NicFec.RS, Fec.RS_544: NicFec.RS}
NO_OPERATION = PortOperation(pfc=frozenset(), ecn=frozenset(), dscp={})
"""Operation of a port without QoS."""
NicKey = tuple[str, str]
"""Names of a host and of a port of its NICs in the plan."""


@dataclass(frozen=True, slots=True)
class NicStates:
    """States of the NICs of hosts. hosts: those of which there is a document."""

    ports: Mapping[NicKey, NicState]
    hosts: frozenset[str]


def read_nic_states(fabric: Design, folder: Path) -> NicStates:
    """The NICs in each *.json of a folder, a document a host.

    Raises RailfabError, or Problems, for a file that is none, of a host that the intent lacks, or of one that another
    file has too.
    """
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except OSError:
        raise RailfabError(str(folder), "cannot be read", "Name a folder with HOST.json for each host") from None
    if not paths:
        raise RailfabError(str(folder), "has no *.json, one for each host", WRITE_IT)
    planned = {node.name for node in fabric.topology.hosts()}
    ports: dict[NicKey, NicState] = {}
    files: dict[str, Path] = {}
    problems: list[RailfabError] = []
    for path in paths:
        try:
            states = _states(path, fabric.intent.fabric)
            host = _host(path, states, planned)
            if (first := files.setdefault(host, path)) is not path:
                raise RailfabError(str(path), f"is of the same host as {first.name}", "Keep the newer file")
            ports.update({(host, state.nic): state for state in states})
        except RailfabError as refusal:
            problems.append(refusal)
    raise_all(problems)
    return NicStates(ports, frozenset(files))


def _states(path: Path, fabric: str) -> list[NicState]:
    try:
        document = load_json(file_text(path, MAX_BYTES))
        states = [*states_of(document)]
    except UnreadableFile as refusal:
        raise RailfabError(str(path), refusal.problem, WRITE_IT) from None
    except NicDocumentError as refusal:
        raise RailfabError(str(path), str(refusal), WRITE_IT) from None
    except ValueError as refusal:
        raise RailfabError(str(path), f"is not JSON ({refusal})", WRITE_IT) from None
    if document.get("fabric", fabric) != fabric:
        problem = f"is of fabric {document['fabric']}, not of {fabric}"
        raise RailfabError(str(path), problem, "Use the intent of its plan")
    return states


def _host(path: Path, states: list[NicState], planned: set[str]) -> str:
    """The host of a document, without its domain; the name of the file where it has no NIC."""
    host = short_name(states[0].host if states else path.stem)
    if host not in planned:
        remedy = nearest(host, dict.fromkeys(planned))
        raise RailfabError(str(path), f"is of {host}, which the intent lacks", remedy)
    return host


@dataclass(frozen=True, slots=True)
class NicCoverage:
    """NIC ports with RoCE that were compared with their switch ports, and those of the intent."""

    compared: int
    ports: int


@dataclass(frozen=True)
class NicAgreement:
    """The NICs of a fabric against its switches. models: of running configurations, by the names of switches read."""

    fabric: Design
    states: NicStates
    models: Mapping[str, DeviceModel]

    @cached_property
    def links(self) -> tuple[RocePort, ...]:
        """The cables of NICs with RoCE to switches that were read."""
        links = every_roce_port(self.fabric.topology, self.fabric.intent)
        return tuple(link for link in links if link.switch in self.models)

    @property
    def coverage(self) -> NicCoverage:
        """Number of NICs that were compared in all settings, of those of the intent."""
        every = every_roce_port(self.fabric.topology, self.fabric.intent)
        states = (self.states.ports.get((link.host, link.name)) for link in self.links)
        compared = sum(state is not None and not state.unread for state in states)
        return NicCoverage(compared, sum(1 for _ in every))

    def findings(self) -> Iterator[Finding]:
        """Mismatches, cables that lead elsewhere, and NICs that are not known."""
        if self.fabric.intent.profile.lossless is None:
            return
        for host in self.without_document:
            problem = "NICs are not compared with their switch ports: there is no document of it"
            yield warning(DifferenceCode.NIC_UNREAD, host, problem, WRITE_IT)
        cables = {cable.link: cable for cable in self._cables}
        for link in self.links:
            if link in cables:
                yield from cables[link].findings()
            elif link.host in self.states.hosts:
                problem = "is not compared with its switch port: the document of its host lacks it"
                remedy = "Look at the faults in the document, and write it again"
                yield warning(DifferenceCode.NIC_UNREAD, f"{link.host} {link.name}", problem, remedy)

    def mismatches(self) -> Iterator[NicMismatch]:
        """The mismatches alone, of NICs that are cabled as the intent says."""
        for cable in self._cables:
            if not cable.is_elsewhere:
                yield from cable.mismatches()

    @property
    def without_document(self) -> list[str]:
        """Hosts of the intent of which there is no document, sorted."""
        return sorted({link.host for link in self.links} - self.states.hosts)

    @cached_property
    def _cables(self) -> tuple[_Cable, ...]:
        """The cables of which both ends are known."""
        lossless = self.fabric.intent.profile.lossless
        if lossless is None:
            return ()
        running = {name: _switch_ports(model) for name, model in self.models.items()}
        planned = {name: _switch_ports(self.fabric.models[name]) for name in self.models}
        cables, storage = [], self.fabric.intent.profile.storage_class
        for link in self.links:
            state = self.states.ports.get((link.host, link.name))
            if state is not None:
                port, wanted = (ports[link.switch].get(link.switch_port, _SwitchPort()) for ports in (running, planned))
                elsewhere = _is_elsewhere(link, state, planned[link.switch])
                cables.append(_Cable(link, state, lossless, storage, port, wanted, elsewhere))
        return tuple(cables)


@dataclass(frozen=True, slots=True)
class NicMismatch:
    """A value in which both ends of a cable differ. said: both values. nic_is_planned, switch_is_planned: whether each
    end has that of the intent."""

    link: RocePort
    code: DifferenceCode
    said: str
    nic_is_planned: bool
    switch_is_planned: bool

    @property
    def finding(self) -> Finding:
        """The mismatch as a line; its remedy says which end is not as the intent wants it."""
        link = self.link
        nic, switch = "the NIC with nic.py --apply", "the switch: deploy the intent"
        if self.switch_is_planned:
            remedy = f"Change {nic}"
        else:
            remedy = f"Change {switch}" if self.nic_is_planned else f"Change {nic}, and {switch}"
        where = f"{link.host} {link.name} to {link.switch} {link.switch_port}"
        return error(self.code, where, self.said, remedy)


@dataclass(frozen=True, slots=True)
class _SwitchPort:
    """A port of a switch as a configuration has it; None where it does not state a value."""

    operation: PortOperation = NO_OPERATION
    mtu_bytes: int | None = None
    rate_gbps: int | None = None
    fec: NicFec | None = None
    cable_m: int | None = None

    @property
    def is_classified(self) -> bool:
        """Whether the DSCP of a packet decides its queue."""
        return len(set(self.operation.dscp.values())) > 1

    def dscps(self, queue: int) -> frozenset[int]:
        """The code points that it puts into a queue."""
        return frozenset(dscp for dscp, chosen in self.operation.dscp.items() if chosen == queue)


def _switch_ports(model: DeviceModel) -> Mapping[str, _SwitchPort]:
    """The ports of a switch; a member of a LAG has the MTU and the profile of the LAG."""
    doing, qos = operations(model), model.qos
    profiles = {port.interface: qos.profile(port.profile or "") for port in qos.ports} if qos else {}
    lags = {member: lag for lag in model.interfaces if isinstance(lag, Lag) for member in lag.members}
    return {
        port.name: _SwitchPort(
            doing.get(port.name, NO_OPERATION),
            routed.mtu_bytes,
            port.rate_gbps,
            None if port.fec is None else FECS[port.fec],
            None if (profile := profiles.get(routed.name)) is None else profile.cable_m,
        )
        for port, routed in ((port, lags.get(port.name, port)) for port in model.interfaces)
        if isinstance(port, Port)
    }


def _is_elsewhere(link: RocePort, nic: NicState, ports: Collection[str]) -> bool:
    """Whether LLDP names another port than the plan. A name that no port of the switch has, as its description,
    says nothing. ports: names of the switch of the plan."""
    if nic.neighbor is None:
        return False
    switch, port = short_name(nic.neighbor[0]), nic.neighbor[1]
    return switch != link.switch or (port != link.switch_port and port in ports)


def _miscabled(link: RocePort, nic: NicState) -> Finding:
    """The only finding about a cable that leads elsewhere."""
    problem = f"is cabled to {' '.join(nic.neighbor or ())}, the intent says {link.switch} {link.switch_port}"
    return error(DifferenceCode.MISCABLED, f"{link.host} {link.name}", problem, "Correct the cabling")


@dataclass(frozen=True, slots=True)
class _Cable:
    """Both ends of a cable. port, wanted: of the switch, as it runs and as the intent has it. is_elsewhere: whether the
    NIC hears another port than that of the plan."""

    link: RocePort
    nic: NicState
    lossless: Lossless
    storage: StorageClass | None
    port: _SwitchPort
    wanted: _SwitchPort
    is_elsewhere: bool

    def findings(self) -> Iterator[Finding]:
        """The mismatches of the cable, and what is not known of its NIC; of one that leads elsewhere that alone."""
        link, nic = self.link, self.nic
        if self.is_elsewhere:
            yield _miscabled(link, nic)
            return
        if nic.unread:
            problem = f"{listed(nic.unread)} cannot be read, and is not compared with its switch port"
            remedy = "Look at the problems in the document of the host, and write it again"
            yield warning(DifferenceCode.NIC_UNREAD, f"{link.host} {link.name}", problem, remedy)
        yield from (mismatch.finding for mismatch in self.mismatches())

    def mismatches(self) -> Iterator[NicMismatch]:
        """The values in which both ends differ."""
        for compare in (self._pfc, self._trust, self._dscp, self._ecn, self._cnp, self._mtu, self._speed, self._fec):
            yield from compare()
        yield from self._cable_length()

    def _pfc(self) -> Iterator[NicMismatch]:
        nic, switch, wanted = self.nic.pfc, self.port.operation.pfc, self.wanted.operation.pfc
        if nic is not None and nic != switch:
            said = f"the NIC has PFC on {_priorities(nic)}, the switch port on {_priorities(switch)}"
            yield self._mismatch(DifferenceCode.NIC_PFC_MISMATCH, said, nic == wanted, switch == wanted)

    def _trust(self) -> Iterator[NicMismatch]:
        if self.nic.trusts_dscp is False and self.port.is_classified:
            said = "the NIC trusts the priority of a VLAN tag, the switch port DSCP"
            yield self._mismatch(DifferenceCode.NIC_TRUST_MISMATCH, said, False, True)
        elif self.nic.trusts_dscp is not False and self.wanted.is_classified and not self.port.is_classified:
            said = "the NIC trusts DSCP, the switch port puts every DSCP into one queue"
            yield self._mismatch(DifferenceCode.NIC_TRUST_MISMATCH, said, True, False)

    def _dscp(self) -> Iterator[NicMismatch]:
        """The code points of RoCE that the NIC receives, and those that it sends.

        What it sends is named where it is not the intent's, or where the map of what it receives does not say already
        that the switch port has another one.
        """
        nic, queue = self.nic, self.lossless.priority
        if not self.port.is_classified:
            return
        yield from self._received(nic.roce_dscps, queue)
        if self.storage is not None:
            yield from self._received(nic.storage_dscps, self.storage.priority)
        switch, wanted = self.port.dscps(queue), self.wanted.dscps(queue)
        is_said = nic.trusts_dscp is not False and nic.roce_dscps is not None and switch != wanted
        for dscp in sorted(nic.sent_dscps - switch - (wanted if is_said else frozenset())):
            chosen = self.port.operation.dscp.get(dscp, "none")
            said = f"the NIC sends RoCE with DSCP {dscp}, which the switch port puts into queue {chosen}"
            yield self._mismatch(DifferenceCode.NIC_DSCP_MISMATCH, said, dscp in wanted, switch == wanted)

    def _received(self, nic: frozenset[int] | None, priority: int) -> Iterator[NicMismatch]:
        """The code points of a lossless priority. A NIC that does not trust DSCPs has none in any."""
        switch, wanted = self.port.dscps(priority), self.wanted.dscps(priority)
        if nic is not None and nic != switch and self.nic.trusts_dscp is not False:
            said = f"the NIC has DSCP {_numbers(nic)} in priority {priority}, the switch port {_numbers(switch)}"
            yield self._mismatch(DifferenceCode.NIC_DSCP_MISMATCH, said, nic == wanted, switch == wanted)

    def _ecn(self) -> Iterator[NicMismatch]:
        nic, marked = self.nic.ecn, self.lossless.priority
        switch, wanted = marked in self.port.operation.ecn, marked in self.wanted.operation.ecn
        if nic is not None and nic != switch:
            reacts = "reacts to marks" if nic else "does not react to marks"
            said = f"the NIC {reacts}, the switch port {'marks' if switch else 'does not mark'}"
            yield self._mismatch(DifferenceCode.NIC_ECN_MISMATCH, said, nic == wanted, switch == wanted)

    def _cnp(self) -> Iterator[NicMismatch]:
        dscp, queue = self.nic.cnp_dscp, self.lossless.cnp_queue
        switch, wanted = self.port.dscps(queue), self.wanted.dscps(queue)
        if dscp is not None and dscp not in switch and self.port.is_classified:
            chosen = self.port.operation.dscp.get(dscp, "none")
            said = f"the NIC sends CNPs with DSCP {dscp}, which the switch port puts into queue {chosen}, not {queue}"
            yield self._mismatch(DifferenceCode.NIC_CNP_MISMATCH, said, dscp in wanted, switch == wanted)

    def _mtu(self) -> Iterator[NicMismatch]:
        """The MTU; behind VXLAN the NIC has less than its port."""
        nic, switch, wanted = self.nic.mtu_bytes, self.port.mtu_bytes, self.wanted.mtu_bytes
        if nic is None or switch is None or wanted is None:
            return
        if nic - switch != self.link.mtu - wanted:
            said = f"the NIC has MTU {nic}, the switch port {switch}"
            yield self._mismatch(DifferenceCode.NIC_MTU_MISMATCH, said, nic == self.link.mtu, switch == wanted)

    def _speed(self) -> Iterator[NicMismatch]:
        nic, wanted = self.nic.rate_gbps, self.link.rate_gbps
        switch = self.port.rate_gbps or wanted
        if nic is not None and nic != switch:
            said = f"the link of the NIC has {nic:g} Gb/s, the switch port {switch} Gb/s"
            yield self._mismatch(DifferenceCode.NIC_SPEED_MISMATCH, said, nic == wanted, switch == wanted)

    def _fec(self) -> Iterator[NicMismatch]:
        nic, switch, wanted = self.nic.fec, self.port.fec, self.wanted.fec
        if nic is not None and switch is not None and nic != switch:
            said = f"the NIC has FEC {nic}, the switch port {switch}"
            yield self._mismatch(DifferenceCode.NIC_FEC_MISMATCH, said, nic == wanted, switch == wanted)

    def _cable_length(self) -> Iterator[NicMismatch]:
        nic, wanted = self.nic.cable_m, self.link.cable_m
        switch = wanted if self.port.cable_m is None else self.port.cable_m
        if nic is not None and nic != switch:
            said = f"the NIC has its buffer for a cable of {nic} m, the switch port for {switch} m"
            yield self._mismatch(DifferenceCode.NIC_CABLE_MISMATCH, said, nic == wanted, switch == wanted)

    def _mismatch(self, code: DifferenceCode, said: str, nic_is_planned: bool, switch_is_planned: bool) -> NicMismatch:
        return NicMismatch(self.link, code, said, nic_is_planned, switch_is_planned)


def _priorities(priorities: frozenset[int]) -> str:
    return f"priority {_numbers(priorities)}" if priorities else "no priority"


def _numbers(values: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(values))) or "none"

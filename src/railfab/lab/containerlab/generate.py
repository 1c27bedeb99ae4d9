"""Generates the files of a lab: containerlab topology and startup configurations. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from railfab.device import DeviceModel
from railfab.endpoints import give_to_caller
from railfab.errors import LabError, raise_all
from railfab.lab.containerlab.model import DockerNetwork, End, LabTopology, NodeDefinition, VethLink
from railfab.lab.containerlab.names import topology_file, topology_name
from railfab.lab.containerlab.ports import port_errors
from railfab.lab.containerlab.settings import Settings
from railfab.lab.contract import LabPlan
from railfab.lab.netns.ip_commands import device_commands, mtu_bytes, node_commands, uncabled_commands
from railfab.lab.netns.lifecycle import ANY_NODE, SWITCH
from railfab.platforms import LabFacts, platform
from railfab.topology import CabledPort, Node, Topology
from railfab.yaml_reader.sections import values_in

CONFIGS = PurePosixPath("configs")
HOST_GROUP = "host"
HOST_COMMAND = "sleep infinity"
HOST_CAPABILITIES = ("NET_ADMIN", "NET_RAW")
GROUP_LABEL = "nornir-group"
"""Prefix of labels that become groups in the Nornir inventory that containerlab writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerlabFiles:
    """Files of a lab. files: content by path relative to the directory of the topology."""

    topology: LabTopology
    files: Mapping[str, str]

    @property
    def name(self) -> str:
        return topology_file(self.topology.name)

    def all(self) -> dict[str, str]:
        """Every file with its content, including the topology."""
        return {self.name: self.topology.dump(), **self.files}

    def write(self, folder: Path) -> Path:
        """Write every file; return the path of the topology."""
        for relative, content in self.all().items():
            path = folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            give_to_caller(path)
        return folder / self.name


def without_startup(topology: str) -> Any:
    """The document of a topology file without startup configurations, which change nothing once a lab runs."""
    document, _ = values_in(topology)
    for node in document["topology"]["nodes"].values():
        node.pop("startup-config", None)
    return document


def lab_files(plan: LabPlan, settings: Settings) -> ContainerlabFiles:
    """The files of a lab. Raises LabError for ports that the images of its platforms do not have."""
    topology = plan.topology
    raise_all(list(port_errors(topology)))
    groups = {name: _switch_group(name, settings) for name in _platforms(topology)}
    if len(topology.switches()) < len(topology.nodes):
        groups[HOST_GROUP] = _host_group(settings)
    lab = LabTopology(
        name=topology.fabric,
        management=DockerNetwork(
            network=settings.network or topology.fabric,
            ipv4_subnet=settings.ipv4_subnet,
            ipv6_subnet=settings.ipv6_subnet,
        ),
        groups=groups,
        nodes={node.name: _node(plan, node) for node in topology.nodes},
        links=tuple(_link(plan, link.a, link.z) for link in topology.links),
    )
    return ContainerlabFiles(topology=lab, files=dict(_files(plan)))


def facts_of(node: Node) -> LabFacts:
    """Containerlab settings of the platform of a switch."""
    return platform(str(node.platform)).lab


def _platforms(topology: Topology) -> list[str]:
    return sorted({str(node.platform) for node in topology.switches()})


def _switch_group(name: str, settings: Settings) -> NodeDefinition:
    facts = platform(name).lab
    return NodeDefinition(
        kind=facts.kind,
        image=settings.images.get(name, facts.image),
        image_pull_policy=settings.image_pull_policy,
        type=facts.type,
        privileged=facts.privileged if settings.privileged is None else settings.privileged,
        cap_add=facts.cap_add if settings.cap_add is None else settings.cap_add,
        sysctls=_sysctls(SWITCH) if facts.kind == "linux" else {},
        binds=tuple(_bind(shared_file(name, path), path) for path in facts.files),
        env=facts.env,
        exec=facts.exec,
    )


def _host_group(settings: Settings) -> NodeDefinition:
    """Hosts need only iproute2; by default they use the image of FRR."""
    return NodeDefinition(
        kind="linux",
        image=settings.host_image or settings.images.get("frr", platform("frr").lab.image),
        image_pull_policy=settings.image_pull_policy,
        cmd=HOST_COMMAND,
        privileged=bool(settings.privileged),
        cap_add=HOST_CAPABILITIES if settings.cap_add is None else settings.cap_add,
        sysctls=_sysctls(ANY_NODE),
    )


def _sysctls(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"net.{name.replace('/', '.')}": value for name, value in settings.items()}


def _node(plan: LabPlan, node: Node) -> NodeDefinition:
    labels = {f"{GROUP_LABEL}-{index}": group for index, group in enumerate(_groups(plan.topology, node), start=1)}
    if not node.is_switch:
        return NodeDefinition(group=HOST_GROUP, exec=tuple(_host_commands(plan.topology, node)), labels=labels)
    mount, model = facts_of(node).mount, plan.models.get(node.name)
    startup = startup_file(node) if _startup(plan, node) is not None else None
    return NodeDefinition(
        group=str(node.platform),
        startup_config=startup if mount is None else None,
        binds=(_bind(startup, mount),) if startup and mount else (),
        exec=tuple(f"ip {command}" for command in _device_commands(plan.topology, model)) if mount and model else (),
        labels=labels,
    )


def _device_commands(topology: Topology, model: DeviceModel) -> list[str]:
    return [*uncabled_commands(topology, model), *device_commands(model)]


def _host_commands(topology: Topology, node: Node) -> Iterator[str]:
    """Commands for addresses and routes of a host; its default route replaces that of the management network."""
    for version, lines in node_commands(topology, node.name, None).items():
        program = "ip -6" if version == 6 else "ip"
        yield from (f"{program} {line.replace('route add ', 'route replace ')}" for line in lines)


def _groups(topology: Topology, node: Node) -> Iterator[str]:
    """`leaf`, `pod1`, `pod1-seg1`, `frr`, and `rail_1` for each rail that the switch serves."""
    yield str(node.role)
    yield f"pod{node.pod}"
    if node.segment is not None:
        yield f"pod{node.pod}-seg{node.segment}"
    if node.platform is not None:
        yield node.platform
        rails = {port.rail for port, _, _ in topology.ports_of(node.name) if port.rail is not None}
        yield from (f"rail_{rail}" for rail in sorted(rails))


def startup_file(node: Node) -> str:
    """Path of the startup configuration of a switch, relative to the topology."""
    return str(CONFIGS / node.name / facts_of(node).startup)


def shared_file(platform_name: str, path: str) -> str:
    """Path of a file common to all switches of a platform, relative to the topology."""
    return str(CONFIGS / platform_name / PurePosixPath(path).name)


def _bind(file: str, path: str) -> str:
    """Bind a file into a container, read-only: a container never changes a file of the lab, nor its owner."""
    return f"{file}:{path}:ro"


def _files(plan: LabPlan) -> Iterator[tuple[str, str]]:
    for name in _platforms(plan.topology):
        for path, content in platform(name).lab.files.items():
            yield shared_file(name, path), content
    for node in plan.topology.switches():
        startup = _startup(plan, node)
        if startup is not None:
            yield startup_file(node), startup


def _startup(plan: LabPlan, node: Node) -> str | None:
    """Startup configuration of a switch; None for its factory configuration.

    Where it is merged into that, the management access is the one that containerlab gives the node.
    """
    configuration = plan.configurations.get(node.name)
    if configuration is None:
        empty = facts_of(node).empty
        return None if empty is None else empty.replace("{name}", node.name)
    own = platform(str(node.platform))
    if own.startup is None:
        return own.lab.preface + configuration
    return own.startup(own.render(replace(own.parse(configuration), management=None)))


def _link(plan: LabPlan, a: CabledPort, z: CabledPort) -> VethLink:
    mtus = {mtu_bytes(a, z, plan.models), mtu_bytes(z, a, plan.models)}
    return VethLink(a=_end(plan.topology, a), z=_end(plan.topology, z), mtu_bytes=max(mtus))


def _end(topology: Topology, port: CabledPort) -> End:
    node = topology.node(port.node)
    if not node.is_switch:
        return End(port.node, port.name)
    try:
        return End(port.node, topology_name(str(node.platform), port.name))
    except LabError as error:
        raise LabError(f"{port.node}: {error.where}", error.problem, error.remedy) from None

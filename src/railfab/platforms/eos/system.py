"""Management access, MLAG and load balancing of EOS.

No secret is in a text: the key of a server is the operator's, and a parsed line has none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from ipaddress import ip_address

from railfab.device import (
    DEFAULT_INSTANCE,
    AaaServer,
    BalancingMode,
    DeviceModel,
    GnmiService,
    HashField,
    IpAddress,
    IpInterface,
    LoadBalancing,
    ManagementAccess,
    Mlag,
    MlagKeepalive,
    Port,
    SyslogServer,
    interfaces_of_peers,
)
from railfab.platforms.balancing_features import QUEUE_PAIR_FIELDS
from railfab.platforms.eos.bgp import NATIVE_INTERFACE
from railfab.platforms.eos.names import SEVERITIES
from railfab.platforms.eos.peer_link import PEER_SVI, addresses_of, derived_addresses
from railfab.platforms.shared.statements import (
    REST,
    WORD,
    Word,
    below,
    choice,
    flag,
    integer,
    line,
    lines,
    sections,
)

PORT = integer(1, 65535)
SYSLOG_PORT, GNMI_PORT = 514, 6030
IP: Word[IpAddress] = Word(r"[\d.:a-fA-F]+", ip_address)


# Management


@dataclass(slots=True, kw_only=True)
class EosSyslog:
    """level: of all servers. servers: VRF, address, port and protocol of each."""

    level: str = line("logging trap {}", choice(SEVERITIES), default="informational")
    servers: list[tuple[str | None, str, int | None, str | None]] = lines(
        "logging[ vrf {}] host {}[ {}][ protocol {}]", WORD, WORD, PORT, Word("tcp|udp", str)
    )


@dataclass(slots=True, kw_only=True)
class EosAaa:
    """Servers by protocol: address and VRF. login: they are asked before local users, who remain when none answers."""

    radius: list[tuple[str, str | None]] = lines("radius-server host {}[ vrf {}]", WORD, WORD)
    tacacs: list[tuple[str, str | None]] = lines("tacacs-server host {}[ vrf {}]", WORD, WORD)
    login: str | None = line("aaa authentication login default {} local", REST)


@dataclass(slots=True, kw_only=True)
class EosTransport:
    """The gNMI server. Its TLS profile, of `management security`, and the certificate are the operator's."""

    tls_profile: str | None = line("ssl profile {}", WORD)
    port: int | None = line("port {}", PORT)
    vrf: str = line("vrf {}", WORD, default=DEFAULT_INSTANCE)


@dataclass(slots=True, kw_only=True)
class EosGnmi:
    """The provider serves the paths of EOS itself besides those of OpenConfig."""

    transport: EosTransport | None = below("transport grpc default", EosTransport)
    provider: bool = flag("provider eos-native")


@dataclass(slots=True, kw_only=True)
class Enabled:
    enabled: bool = flag("no shutdown")


@dataclass(slots=True, kw_only=True)
class Ssh:
    """By itself EOS serves SSH in the default VRF alone."""

    vrfs: dict[str, Enabled] = sections("vrf {}", WORD, kind=Enabled)


def native_syslog(management: ManagementAccess) -> EosSyslog:
    vrf = vrf_of(management)
    return EosSyslog(
        level=management.syslog[0].level if management.syslog else "informational",
        servers=[
            (
                vrf,
                server.address,
                None if server.port == SYSLOG_PORT else server.port,
                "tcp" if server.protocol == "tcp" else None,
            )
            for server in management.syslog
        ],
    )


def native_aaa(management: ManagementAccess) -> EosAaa:
    vrf = vrf_of(management)
    radius = [(server.address, vrf) for server in management.aaa if server.protocol == "radius"]
    tacacs = [(server.address, vrf) for server in management.aaa if server.protocol == "tacacs"]
    groups = ["group tacacs+"] * bool(tacacs) + ["group radius"] * bool(radius)
    return EosAaa(radius=radius, tacacs=tacacs, login=" ".join(groups) or None)


def native_gnmi(management: ManagementAccess) -> EosGnmi | None:
    if management.gnmi is None:
        return None
    gnmi, vrf = management.gnmi, management.network_instance
    return EosGnmi(transport=EosTransport(tls_profile=gnmi.tls_profile, port=gnmi.port, vrf=vrf), provider=True)


def native_ssh(management: ManagementAccess) -> Ssh | None:
    """SSH in the VRF of the servers."""
    served = management.ntp or management.syslog or management.aaa or management.gnmi
    vrf = vrf_of(management)
    return Ssh(vrfs={vrf: Enabled(enabled=True)}) if served and vrf else None


def vrf_of(management: ManagementAccess) -> str | None:
    return None if management.network_instance == DEFAULT_INSTANCE else management.network_instance


def management_of(
    syslog: EosSyslog, gnmi: EosGnmi | None, aaa: EosAaa, ntp: list[tuple[str | None, str]], banner: str | None
) -> ManagementAccess | None:
    """Management access, in the VRF that most of its lines name."""
    transport = gnmi.transport if gnmi else None
    vrfs = [server[0] for server in syslog.servers] + ([transport.vrf] if transport else [])
    vrfs += [vrf for _, vrf in (*aaa.radius, *aaa.tacacs)] + [vrf for vrf, _ in ntp]
    ((instance, _),) = Counter(vrf or DEFAULT_INSTANCE for vrf in vrfs or [None]).most_common(1)
    return ManagementAccess(
        network_instance=instance,
        ntp=tuple(server for _, server in ntp),
        syslog=tuple(
            SyslogServer(address=address, port=port or SYSLOG_PORT, protocol=protocol or "udp", level=syslog.level)
            for _, address, port, protocol in syslog.servers
        ),
        aaa=(
            *(AaaServer(address=address, protocol="radius") for address, _ in aaa.radius),
            *(AaaServer(address=address, protocol="tacacs") for address, _ in aaa.tacacs),
        ),
        gnmi=GnmiService(port=transport.port or GNMI_PORT, tls_profile=transport.tls_profile) if transport else None,
        banner=banner,
    ).stated()


# MLAG


@dataclass(slots=True, kw_only=True)
class MlagConfiguration:
    """A pair.

    detection: with a heartbeat, when the peer link alone fails, one of the two primaries shuts its interfaces (EOS User
    Manual, MLAG, dual primary detection; the delay [s] is that of its example). reload_delays: how long ports stay down
    after a restart [s]: those of MLAGs until the peer link is up, the others until routes are there (reload-delay; the
    values of Arista's designs).
    """

    domain: str = line("domain-id {}", REST, default="")
    local: str | None = line("local-interface {}", WORD)
    peer: IpAddress | None = line("peer-address {}", IP)
    heartbeat: tuple[IpAddress, str | None] | None = line(
        "peer-address heartbeat {}[ vrf {}]", Word(r"\S+", ip_address), WORD
    )
    peer_link: str = line("peer-link {}", NATIVE_INTERFACE, default="")
    detection: bool = flag("dual-primary detection delay 10 action errdisable all-interfaces")
    reload_delays: bool = flag("reload-delay mlag 300", beside=("reload-delay non-mlag 330",))


def native_mlag(model: DeviceModel) -> MlagConfiguration | None:
    mlag = model.mlag
    if mlag is None:
        return None
    _, peer = addresses_of(model, mlag)
    keepalive = mlag.keepalive
    vrf = keepalive.network_instance if keepalive else DEFAULT_INSTANCE
    return MlagConfiguration(
        domain=mlag.domain,
        local=PEER_SVI,
        peer=peer,
        heartbeat=(keepalive.peer, None if vrf == DEFAULT_INSTANCE else vrf) if keepalive else None,
        peer_link=mlag.peer_link,
        detection=keepalive is not None,
        reload_delays=True,
    )


def mlag_of(native: MlagConfiguration, address: IpInterface | None, loopback: IpAddress | None) -> Mlag:
    """The pair; addresses of the peer link that follow from the keepalive are not stated."""
    heartbeat, vrf = native.heartbeat or (None, None)
    derived_address, derived_peer = derived_addresses(heartbeat, loopback)
    return Mlag(
        domain=native.domain,
        peer_link=native.peer_link,
        address=None if address == derived_address else address,
        peer=None if native.peer == derived_peer else native.peer,
        keepalive=MlagKeepalive(peer=heartbeat, network_instance=vrf or DEFAULT_INSTANCE) if heartbeat else None,
    )


# Load balancing


@dataclass(slots=True, kw_only=True)
class Learning:
    aging: bool = flag("aging timeout 30 seconds")


@dataclass(slots=True, kw_only=True)
class EosPortGroup:
    interface: str | None = line("interface {}", WORD)


@dataclass(slots=True, kw_only=True)
class Cluster:
    """Flows of hosts are learned and dealt out to the uplinks in turn (EOS 4.32.2F, Cluster Load Balancing).

    Each host port is a group of its own. Over VXLAN flows are grouped by the VTEP that they go to.
    """

    forwarding: str | None = line("forwarding type {}", REST)
    grouping: str | None = line("destination grouping {}", REST)
    round_robin: bool = flag("load-balance method flow round-robin")
    learning: Learning | None = below("flow source learning", Learning)
    groups: dict[str, EosPortGroup] = sections("port group host {}", WORD, kind=EosPortGroup)


@dataclass(slots=True, kw_only=True)
class Payload:
    """The destination queue pair in the payload of UDP: bytes 5 to 7 of the base transport header (InfiniBand, BTH)."""

    queue_pair: bool = flag("payload bytes 5-7")


@dataclass(slots=True, kw_only=True)
class SandProfile:
    roce: Payload | None = below("fields udp dst-port 4791", Payload)


@dataclass(slots=True, kw_only=True)
class HashPolicies:
    """The queue pair of RoCEv2 packets in the hash (PyAVD, load_balance.policies.sand_profiles; EOS 4.33.1F, Jericho).

    It is added to the profile of the whole switch, which has the other fields (`show load-balance profile` of a 7280SR:
    `default (global)`, with both addresses, the protocol and both ports on).
    """

    profile: SandProfile | None = below("load-balance sand profile default", SandProfile)


def native_cluster(model: DeviceModel) -> Cluster | None:
    if model.load_balancing is None or model.load_balancing.mode is not BalancingMode.COLLECTIVE:
        return None
    overlay = model.vtep is not None
    return Cluster(
        forwarding="bridged encapsulation vxlan ipv4" if overlay else "routed ipv4",
        grouping="vtep" if overlay else "prefix length 32",
        round_robin=True,
        learning=Learning(aging=True),
        groups={name.replace("/", "-"): EosPortGroup(interface=name) for name in _host_ports(model)},
    )


def _host_ports(model: DeviceModel) -> list[str]:
    """Ports to hosts: bridged, or with addresses and without a session."""
    peers = set(interfaces_of_peers(model).values())
    ports = (port for port in model.interfaces if isinstance(port, Port) and port.name not in peers)
    return [port.name for port in ports if port.vlans is not None or port.addresses]


def native_hash(model: DeviceModel) -> HashPolicies | None:
    if model.load_balancing is None or {*model.load_balancing.fields} != QUEUE_PAIR_FIELDS:
        return None
    return HashPolicies(profile=SandProfile(roce=Payload(queue_pair=True)))


def balancing_of(cluster: Cluster | None, policies: HashPolicies | None, *, dynamic: bool) -> LoadBalancing | None:
    """None where everything is the default."""
    roce = policies and policies.profile and policies.profile.roce
    balancing = LoadBalancing()
    if dynamic:
        balancing = replace(balancing, mode=BalancingMode.FLOWLET)
    if cluster is not None:
        balancing = replace(balancing, mode=BalancingMode.COLLECTIVE)
    if roce and roce.queue_pair:
        fields = tuple(field for field in HashField if field in QUEUE_PAIR_FIELDS)
        balancing = replace(balancing, fields=fields)
    return None if balancing == LoadBalancing() else balancing

"""Findings of checks, and the catalogue of their codes; `docs/findings.md` gives the meaning and remedy of each."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import NewType

from railfab.text.counted import counted


class Severity(StrEnum):
    """ERROR: the design or the fabric is broken. WARNING: it is weaker than it could be. NOTE: nothing is known to be
    wrong; a configuration has something that railfab does not model."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@unique
class DesignCode(StrEnum):
    """Findings about a design: its intent, topology and buffers. `--accept` takes these."""

    OVERSUBSCRIPTION = "oversubscription"
    POD_OVERSUBSCRIPTION = "pod-oversubscription"
    OVERBUILT = "overbuilt"
    EMPTY_CAGES = "empty-cages"
    PORT_BUDGET = "port-budget"
    TABLE_SIZE = "table-size"
    MISSING_UPLINK = "missing-uplink"
    UNEVEN_UPLINKS = "uneven-uplinks"
    UNEVEN_DOWNLINKS = "uneven-downlinks"
    CROSSED_RAIL = "crossed-rail"
    JOINED_PLANES = "joined-planes"
    WRONG_PLANE = "wrong-plane"
    NO_PATH = "no-path"
    NO_SWITCH = "no-switch"

    REDUNDANCY = "redundancy"
    SINGLE_HOMED_NIC = "single-homed-nic"
    ONE_PORT_LAG = "one-port-lag"
    ONE_SWITCH_LAG = "one-switch-lag"
    LAG_WITHOUT_PEER_LINK = "lag-without-peer-link"
    MLAG_WITHOUT_BACKUP = "mlag-without-backup"
    ONE_MANAGEMENT_LEAF = "one-management-leaf"

    DUPLICATE_NAME = "duplicate-name"
    DUPLICATE_PORT = "duplicate-port"
    DUPLICATE_ASN = "duplicate-asn"
    DUPLICATE_ADDRESS = "duplicate-address"
    UNKNOWN_SWITCH = "unknown-switch"
    DRAIN_WITHOUT_EFFECT = "drain-without-effect"
    DRAIN_OF_ROUTES_ONLY = "drain-of-routes-only"

    OVERLAPPING_POOLS = "overlapping-pools"
    OVERLAPPING_TENANTS = "overlapping-tenants"
    OVERLAPPING_SUBNETS = "overlapping-subnets"
    OVERLAPPING_SUMMARIES = "overlapping-summaries"
    SHARED_SUBNET = "shared-subnet"
    ADDRESS_OUTSIDE_POOL = "address-outside-pool"
    VLAN_REUSED = "vlan-reused"
    VNI_REUSED = "vni-reused"

    UNKNOWN_NETWORK = "unknown-network"
    BACKEND_ISOLATION = "backend-isolation"
    MANAGEMENT_ISOLATION = "management-isolation"
    MANAGEMENT_REACHABLE = "management-reachable"
    CROSSING_LINK = "crossing-link"
    SERVICE_ADDRESS = "service-address"
    NO_TIME_SERVERS = "no-time-servers"
    MANAGEMENT_VLAN = "management-vlan"
    TENANT_VLAN = "tenant-vlan"

    LINK_MEDIA = "link-media"
    OPTICS_ONLY = "optics-only"
    RACK_SPACE = "rack-space"
    PCIE = "pcie"
    HOST_MODEL = "host-model"
    BFD_TIMERS = "bfd-timers"
    HOST_MTU = "host-mtu"
    NIC_MODEL = "nic-model"
    NIC_SPEED = "nic-speed"
    NIC_CLASSES = "nic-classes"
    ROCE_MTU = "roce-mtu"
    UET_PFC = "uet-pfc"
    WATCHDOG_ROUNDED = "watchdog-rounded"

    HEADROOM = "headroom"
    HEADROOM_SHARE = "headroom-share"
    ECN_TOO_LATE = "ecn-too-late"
    ECN_TOO_EARLY = "ecn-too-early"
    ECN_UNUSED = "ecn-unused"
    PFC_WITHOUT_ECN = "pfc-without-ecn"
    NO_CONGESTION_CONTROL = "no-congestion-control"
    PACKET_SIZE = "packet-size"
    SMALL_PACKETS = "small-packets"


@unique
class DifferenceCode(StrEnum):
    """Findings about what exists: configurations, live state, or a topology from elsewhere."""

    CONFIGURATION_MISSING = "configuration-missing"
    CONFIGURATION_INVALID = "configuration-invalid"
    CONFIGURATION_DIFFERS = "configuration-differs"
    CONFIGURATION_REFUSED = "configuration-refused"
    UNKNOWN_SETTING = "unknown-setting"
    UNMODELLED_DIFFERENCE = "unmodelled-difference"
    UNMODELLED_IN_FABRIC = "unmodelled-in-fabric"
    UNMODELLED = "unmodelled"
    CHANGE_PENDING = "change-pending"
    OPERATOR_DRAIN = "operator-drain"

    INTERFACE_MISSING = "interface-missing"
    INTERFACE_DISABLED = "interface-disabled"
    INTERFACE_DOWN = "interface-down"
    LLDP_SILENT = "lldp-silent"
    HASH_WITHOUT_PORT = "hash-without-port"
    HASH_POLARISED = "hash-polarised"
    VNI_MISSING = "vni-missing"
    MTU_MISMATCH = "mtu-mismatch"
    SPEED_MISMATCH = "speed-mismatch"
    FEC_MISMATCH = "fec-mismatch"
    LAG_MISMATCH = "lag-mismatch"
    UNNUMBERED_MISMATCH = "unnumbered-mismatch"
    SUBNET_MISMATCH = "subnet-mismatch"
    LOOPBACK_WITHOUT_ADDRESS = "loopback-without-address"
    ADDRESS_SHARED = "address-shared"
    BGP_MISSING = "bgp-missing"
    BGP_NEIGHBOR_MISSING = "bgp-neighbor-missing"
    REMOTE_AS_MISMATCH = "remote-as-mismatch"
    PEER_ADDRESS_MISMATCH = "peer-address-mismatch"
    FAMILY_MISMATCH = "family-mismatch"
    NEXT_HOP_MISMATCH = "next-hop-mismatch"
    BGP_TIMERS_MISMATCH = "bgp-timers-mismatch"
    BGP_PASSWORD_MISMATCH = "bgp-password-mismatch"
    BGP_DOWN = "bgp-down"
    BGP_WRONG_PEER = "bgp-wrong-peer"
    BFD_MISMATCH = "bfd-mismatch"
    BFD_DOWN = "bfd-down"
    PFC_INACTIVE = "pfc-inactive"
    ECN_INACTIVE = "ecn-inactive"
    DSCP_INACTIVE = "dscp-inactive"
    PFC_MISMATCH = "pfc-mismatch"
    PFC_PRIORITY_MISMATCH = "pfc-priority-mismatch"
    WATCHDOG_MISMATCH = "watchdog-mismatch"
    ECN_MISMATCH = "ecn-mismatch"
    ECN_ORDER = "ecn-order"
    DSCP_TRUST_MISMATCH = "dscp-trust-mismatch"
    DSCP_MAP_MISMATCH = "dscp-map-mismatch"
    THRESHOLD_MISMATCH = "threshold-mismatch"

    NIC_UNREAD = "nic-unread"
    NIC_PFC_MISMATCH = "nic-pfc-mismatch"
    NIC_TRUST_MISMATCH = "nic-trust-mismatch"
    NIC_DSCP_MISMATCH = "nic-dscp-mismatch"
    NIC_ECN_MISMATCH = "nic-ecn-mismatch"
    NIC_CNP_MISMATCH = "nic-cnp-mismatch"
    NIC_MTU_MISMATCH = "nic-mtu-mismatch"
    NIC_SPEED_MISMATCH = "nic-speed-mismatch"
    NIC_FEC_MISMATCH = "nic-fec-mismatch"
    NIC_CABLE_MISMATCH = "nic-cable-mismatch"

    NODE_MISSING = "node-missing"
    NODE_RENAMED = "node-renamed"
    NODE_UNEXPECTED = "node-unexpected"
    ROLE_DIFFERS = "role-differs"
    MODEL_DIFFERS = "model-differs"
    PLATFORM_DIFFERS = "platform-differs"
    LOOPBACK_DIFFERS = "loopback-differs"
    ASN_DIFFERS = "asn-differs"
    ASN_UNREGISTERED = "asn-unregistered"
    SEGMENT_DIFFERS = "segment-differs"
    POD_DIFFERS = "pod-differs"
    CABLES_SWAPPED = "cables-swapped"
    MISCABLED = "miscabled"
    NIC_ORDER_DIFFERS = "nic-order-differs"
    LLDP_CONFLICT = "lldp-conflict"
    UNCABLED = "uncabled"
    CABLE_UNEXPECTED = "cable-unexpected"
    RATE_DIFFERS = "rate-differs"
    ADDRESS_DIFFERS = "address-differs"


OF_NICS = frozenset(code for code in DifferenceCode if code.startswith("nic-") and code != "nic-order-differs")
"""Findings that name a host first, and not a switch."""

HazardCode = NewType("HazardCode", str)
"""Findings about configuration that harms RoCE: a kind of `platforms/hazard_kinds.yml`. `--accept` of `audit` and
`verify` takes these too; no code of another finding is one of them."""

Code = DesignCode | DifferenceCode | HazardCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One result of a check: what is wrong or worth knowing, where, and what to do about it.

    more: further lines of the same configuration that are wrong in the same way.
    """

    severity: Severity
    code: Code
    where: str
    problem: str
    remedy: str
    more: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The finding as commands print it: severity, text, and its code in brackets."""
        return f"{self.severity} {self} [{self.code}]"

    @property
    def is_hazard(self) -> bool:
        """Whether it is about configuration that harms RoCE."""
        return not isinstance(self.code, DesignCode | DifferenceCode)

    @property
    def switch(self) -> str:
        """The switch that it is about, the first one of several: what `where` begins with."""
        return self.where.partition(" ")[0].removesuffix(":")

    def __str__(self) -> str:
        more = f" (and {counted(len(self.more), 'line')} more)" if self.more else ""
        return f"{self.where}: {self.problem}{more}. {self.remedy}."


def error(code: Code, where: str, problem: str, remedy: str) -> Finding:
    """A finding that stops a change until it is accepted."""
    return Finding(severity=Severity.ERROR, code=code, where=where, problem=problem, remedy=remedy)


def warning(code: Code, where: str, problem: str, remedy: str) -> Finding:
    """A finding that stops nothing."""
    return Finding(severity=Severity.WARNING, code=code, where=where, problem=problem, remedy=remedy)


def note(code: Code, where: str, problem: str, remedy: str) -> Finding:
    """Something that is not known to be wrong; the exit code of a command is that of no finding."""
    return Finding(severity=Severity.NOTE, code=code, where=where, problem=problem, remedy=remedy)


def by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings, then notes."""
    order = list(Severity)
    return tuple(sorted(findings, key=lambda finding: order.index(finding.severity)))


def without_accepted(
    findings: Iterable[Finding], accept: Collection[str]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings without those of the codes that are accepted, and these."""
    parts: tuple[list[Finding], list[Finding]] = ([], [])
    for finding in findings:
        parts[finding.code in accept].append(finding)
    return tuple(parts[0]), tuple(parts[1])


def worst_switches(findings: Iterable[Finding]) -> tuple[tuple[str, tuple[Finding, ...]], ...]:
    """Errors and warnings by switch: the switch with most errors first, of equal ones that with most warnings."""
    by_switch: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.severity is not Severity.NOTE:
            by_switch.setdefault(finding.switch, []).append(finding)

    def harm(switch: str) -> tuple[int, int]:
        errors = sum(finding.severity is Severity.ERROR for finding in by_switch[switch])
        return -errors, -len(by_switch[switch])

    return tuple((switch, tuple(by_switch[switch])) for switch in sorted(by_switch, key=harm))


def findings_text(findings: Collection[Finding]) -> str:
    """Number of findings of each severity: `1 error, 2 warnings`; `no finding`."""
    counts = {severity: sum(finding.severity is severity for finding in findings) for severity in Severity}
    return ", ".join(counted(count, severity) for severity, count in counts.items() if count) or "no finding"

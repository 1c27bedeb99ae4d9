"""The documents of `--output json`, as types. docs/schemas has a JSON Schema of each, generated from here.

A part that a command prints as it is in the package has the package's own dataclass. No command imports this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from railfab.app.summary import JobSummary
from railfab.deploy import ChangePlan, DeployRecord, DriftState, LinkCabling, SwitchDifference
from railfab.diagnosis import FabricDiagnosis
from railfab.documents.equipment import Equipment
from railfab.documents.explain import Section
from railfab.documents.growth import Room
from railfab.endpoints import Endpoints
from railfab.exports.netbox_push import PushedKind
from railfab.fabric.nic_agreement import NicCoverage
from railfab.findings import DesignCode, DifferenceCode, HazardCode, Severity
from railfab.hostagent.document import HostDocument
from railfab.imports.gnmic.conversion import Renamed
from railfab.imports.gnmic.notes import Note
from railfab.lab.contract import NodeStatus
from railfab.platforms.hazard_kinds import hazard_kinds
from railfab.sim.replay.results import SeedResult
from railfab.sim.replay.why import CountedPort, Ecn, Pfc, Sender
from railfab.simulate import Contention, OperationDifference, OperationWait, SharedCall, VaryingStep
from railfab.simulate.measured import CauseCeiling, SizeCeiling
from railfab.simulate.sweeps import SweepResult
from railfab.topology import Bond, CabledPort, Gateway, Node, PortKey, Summary
from railfab.twin.detached import FoundTwin
from railfab.twin.status import PassingFlow
from railfab.workload import JobEstimate

KindCode = Annotated[HazardCode, Field(json_schema_extra={"enum": list(hazard_kinds())})]
"""The code of a hazard kind: one of the catalogue."""


@dataclass(frozen=True, slots=True)
class PlanFinding:
    """A finding about a design, or about a topology from elsewhere. more: empty."""

    severity: Severity
    code: DesignCode | DifferenceCode
    where: str
    problem: str
    remedy: str
    more: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SwitchFinding:
    """A finding about a switch. more: further lines of its configuration that are wrong in the same way."""

    class_: Annotated[Severity, Field(alias="class")]
    code: DesignCode | DifferenceCode | KindCode
    switch: str
    where: str
    problem: str
    remedy: str
    more: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """`audit`. checked: the switches whose configuration was read. not_checked: what configurations do not show.

    accepted: findings with a code of `--accept`, which are not among the others.
    """

    fabric: str
    checked: tuple[str, ...]
    not_checked: tuple[str, ...]
    findings: tuple[SwitchFinding, ...]
    accepted: tuple[SwitchFinding, ...]


@dataclass(frozen=True, slots=True)
class CablingRecord:
    """The number of links by what is known of their cabling, and each link of the switches that were to be read.

    unknown: no source says which port is at the far end; it is no finding, and not known to be right.
    """

    proved: int
    wrong: int
    unknown: int
    links: tuple[LinkCabling, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """`verify`. checked: the switches whose state was read. accepted: as of `audit`. nics: null without --hosts."""

    fabric: str
    checked: tuple[str, ...]
    findings: tuple[SwitchFinding, ...]
    accepted: tuple[SwitchFinding, ...]
    cabling: CablingRecord
    nics: NicCoverage | None


@dataclass(frozen=True, slots=True)
class Plug:
    """One of two plugs to swap. seen: the port at the other end of its cable."""

    switch: str
    interface: str
    seen: str


@dataclass(frozen=True, slots=True)
class UnreadSwitch:
    """A switch that could not be read, and why."""

    name: str
    error: str


@dataclass(frozen=True, slots=True)
class CablingReport:
    """`cabling`: findings, pairs of plugs to swap, switches that could not be read, and links as of `verify`."""

    fabric: str
    findings: tuple[SwitchFinding, ...]
    swaps: tuple[tuple[Plug, Plug], ...]
    unread: tuple[UnreadSwitch, ...]
    proved: int
    wrong: int
    unknown: int
    links: tuple[LinkCabling, ...]


@dataclass(frozen=True, slots=True)
class SnapshotSwitch:
    """A switch of `snapshot`. sessions: those that are established."""

    name: str
    version: str
    sessions: int
    ports_up: int


@dataclass(frozen=True, slots=True)
class SnapshotReport:
    """`snapshot`. path: where it was written."""

    fabric: str
    path: str
    switches: tuple[SnapshotSwitch, ...]
    unread: tuple[UnreadSwitch, ...]


@dataclass(frozen=True, slots=True)
class SnapshotComparison:
    """`diff`. before, after: times at which they were taken. unknown: switches that one of them lacks."""

    fabric: str
    before: str
    after: str
    switches: tuple[SwitchDifference, ...]
    unknown: tuple[UnreadSwitch, ...]


@dataclass(frozen=True, slots=True)
class DriftedSwitch:
    """A switch of `drift`. findings: errors and warnings. accepted: as of `audit`. error: why it is unknown.

    drained: by `railfab drain`, which is no drift.
    """

    name: str
    state: DriftState
    findings: tuple[SwitchFinding, ...]
    accepted: tuple[SwitchFinding, ...]
    drained: bool
    error: str | None


@dataclass(frozen=True, slots=True)
class DriftReport:
    """`drift`: every switch that was to be read, in the order of the intent."""

    fabric: str
    switches: tuple[DriftedSwitch, ...]


@dataclass(frozen=True, slots=True)
class DesignErrors:
    """Errors of a design that stop a command before it does anything; with exit code 1."""

    fabric: str
    findings: tuple[PlanFinding, ...]


@dataclass(frozen=True, slots=True)
class ErrorMessage:
    """An error of the command line has a message only."""

    message: str
    where: str | None
    problem: str | None
    remedy: str | None


@dataclass(frozen=True, slots=True)
class CommandErrors:
    """What a command with exit code 2 or 1 writes on stderr."""

    errors: tuple[ErrorMessage, ...]


@dataclass(frozen=True, slots=True)
class PlannedLink:
    """A cable. rate_gbps: of the link. cable_m: length. media: empty where none is known."""

    a: CabledPort
    z: CabledPort
    rate_gbps: int
    cable_m: float
    media: str | None
    label: str


@dataclass(frozen=True, slots=True)
class SwitchCapacity:
    """ratio: oversubscription, downlink to uplink capacity; null without uplinks."""

    node: str
    down_gbps: int
    up_gbps: int
    ratio: float | None


@dataclass(frozen=True, slots=True)
class RackPlace:
    """Position of a node in a rack. unit: the lowest one, from 1. units: height."""

    node: str
    rack: str
    unit: int
    units: int


@dataclass(frozen=True, slots=True)
class Subnet:
    """A row of subnets.csv."""

    prefix: str
    what: str
    network: str
    switches: str | None
    rail: int | None
    vlan: int | None
    vni: int | None
    gateway: str | None
    tenant: str | None


@dataclass(frozen=True, slots=True)
class BillRow:
    """A row of bill-of-materials.csv."""

    item: str
    part: str
    length_m: float | None
    quantity: int
    serves: int | None
    used_as: str


@dataclass(frozen=True, slots=True)
class RackPower:
    """A row of power.csv."""

    rack: str
    hosts: int
    servers: int
    switches: int
    hosts_w: float
    servers_w: float
    switches_w: float
    optics_w: float
    power_w: float


@dataclass(frozen=True, slots=True)
class ModelGpus:
    """A row of gpu-count.csv."""

    model: str
    parameters_billion: float
    bytes_per_parameter: float
    memory_gb: float
    gpu_memory_gb: float
    gpus: int
    hosts: int
    copies_in_fabric: int


@dataclass(frozen=True, slots=True)
class FailureRow:
    """A row of failure-domains.csv."""

    network: str
    what_fails: str
    example: str
    count: int
    affected: int
    unit: str
    lost_percent: float
    cut_off: int
    slowest_flow_percent: float | None
    service: str


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Of the lossless queue of equal ports; a value is null where the switch is not configured with it."""

    name: str
    cable_m: int | None
    kmin_bytes: int | None
    kmax_bytes: int | None
    pmax_percent: int | None
    xoff_bytes: int | None
    xon_offset_bytes: int | None
    headroom_percent: int | None
    headroom_bytes: int | None


@dataclass(frozen=True, slots=True)
class PlanDocument:
    """`plan`. thresholds: by switch, one entry for each kind of port."""

    fabric: str
    gpus: int
    nodes: tuple[Node, ...]
    links: tuple[PlannedLink, ...]
    gateways: tuple[Gateway, ...]
    summaries: tuple[Summary, ...]
    bonds: tuple[Bond, ...]
    capacity: tuple[SwitchCapacity, ...]
    racks: tuple[RackPlace, ...]
    subnets: tuple[Subnet, ...]
    bill_of_materials: tuple[BillRow, ...]
    power: tuple[RackPower, ...]
    gpu_count: tuple[ModelGpus, ...]
    failure_domains: tuple[FailureRow, ...]
    growth: tuple[Room, ...]
    findings: tuple[PlanFinding, ...]
    thresholds: Mapping[str, tuple[Thresholds, ...]]


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file of `export`. name: below the folder. file: where it was written, and text: its content; one is null."""

    name: str
    file: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class RenderedFile:
    """A configuration that was written."""

    name: str
    file: str
    lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """`compare`. nodes, links: numbers of those in the source, `with`."""

    fabric: str
    source: Annotated[str, Field(alias="with")]
    nodes: int
    links: int
    not_compared: tuple[str, ...]
    findings: tuple[PlanFinding, ...]


@dataclass(frozen=True, slots=True)
class DesignChoice:
    """A design, and when to choose it."""

    design: str
    when: str


@dataclass(frozen=True, slots=True)
class Starter:
    """A starter intent. file: where it was written; null for one that was only printed."""

    design: str
    fabric: str
    file: str | None
    schema: str
    intent: str


@dataclass(frozen=True, slots=True)
class ChangedSwitch:
    """A switch of `deploy` and `rollback`. changes: the settings that change. unsettled: failed, and may run a part.

    drained: `railfab drain` has drained it, and it stays so. wave: in which it is, 0 where it does not change.
    reverted: changed, and returned to what it ran before. begun: whether its wave has begun.
    """

    name: str
    changed: bool
    failed: bool
    diff: str
    error: str | None
    unsettled: bool
    drained: bool
    wave: int
    reverted: bool
    begun: bool
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPlan(ChangePlan):
    """A plan of a change, as `deploy --plan -o` writes it. version: of its format."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedDeploy(DeployRecord):
    """A deploy of `history`, with its plan; None for one without."""

    plan: SavedPlan | None


@dataclass(frozen=True, slots=True)
class DrainedSwitch:
    """A switch of `drain` and `undrain`. drained: by `drain`, when the command ended; false where that is not known.

    unsettled: failed, and may or may not be drained.
    """

    name: str
    changed: bool
    failed: bool
    error: str | None
    unsettled: bool
    drained: bool


@dataclass(frozen=True, slots=True)
class UpgradedSwitch:
    """A switch of `upgrade`. domain: number of its failure domain. before, after: versions, empty where not read.

    result: `upgraded`, `undrained`, `installed`, `no change`, `failed` or `not begun`. changed: whether it runs, or
    boots next, something else than before. drained: by a verb, when the command ended.
    """

    name: str
    domain: int
    before: str
    after: str
    result: str
    changed: bool
    drained: bool
    error: str | None


@dataclass(frozen=True, slots=True)
class UpgradeReport:
    """`upgrade`. image: as it was named. findings: traffic that stays on switches while they are drained."""

    fabric: str
    image: str
    findings: tuple[PlanFinding, ...]
    switches: tuple[UpgradedSwitch, ...]


@dataclass(frozen=True, slots=True)
class ReplaceReport:
    """`replace`. model, version: as the device reports them. result: `replaced`, `no change` or `failed`.

    changed: whether it was configured. drained: by its configuration, when the command ended.
    """

    fabric: str
    name: str
    model: str
    version: str
    result: str
    changed: bool
    drained: bool
    error: str | None


@dataclass(frozen=True, slots=True)
class DrainReport:
    """`drain` and `undrain`. findings: traffic that stays on the switches."""

    fabric: str
    findings: tuple[PlanFinding, ...]
    switches: tuple[DrainedSwitch, ...]


@dataclass(frozen=True, slots=True)
class PathData:
    """A path of a target. leaves: numbers of mapped leaves that arrived."""

    path: str
    mode: str
    optional: bool
    needed: bool
    leaves: int
    unmapped: int
    encoding: str | None
    error: str | None


@dataclass(frozen=True, slots=True)
class CheckedTarget:
    """A target of `targets check`. tls_until: end of its certificate. skew_s: its clock before ours."""

    target: str
    address: str | None
    reachable: bool
    logged_in: bool | None
    tls_verified: bool
    tls_until: str | None
    gnmi_version: str | None
    encodings: tuple[str, ...] | None
    skew_s: float | None
    interval_s: float | None
    paths: tuple[PathData, ...]


@dataclass(frozen=True, slots=True)
class TargetProblem:
    """A finding about a target."""

    target: str
    problem: str


@dataclass(frozen=True, slots=True)
class TargetChecks:
    """`targets check`."""

    targets: tuple[CheckedTarget, ...]
    findings: tuple[TargetProblem, ...]


@dataclass(frozen=True, slots=True)
class GnmicTargetRecord:
    """A target of gnmic. platforms: those that have its paths; platform is empty unless that is one."""

    name: str
    address: str
    platform: str
    tls: str
    credentials: str
    platforms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GnmicPath:
    """A path of a subscription on a platform, which is empty where none has it."""

    subscription: str
    path: str
    mode: str
    interval_s: float | None
    platform: str
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GnmicExport:
    """A variable that the collector reads: from the variable of gnmic, or to be typed from a line of its file."""

    name: str
    variable: str | None
    line: int


@dataclass(frozen=True, slots=True)
class GnmicReport:
    """`import gnmic`. written: the files of `--write`."""

    file: str
    targets: tuple[GnmicTargetRecord, ...]
    subscriptions: tuple[GnmicPath, ...]
    metrics: tuple[Renamed, ...]
    settings: tuple[Note, ...]
    exports: tuple[GnmicExport, ...]
    written: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UpSummary:
    """`up`. ready_s: null for a fabric that never was. pace: simulated seconds a second. overloaded_s: how long
    the collector was late, so that what is not up may be no fault of a switch.
    """

    fabric: str
    interval_s: float
    ready_s: float | None
    sessions_up: int
    sessions: int
    targets_up: int
    targets: int
    pace: float
    overloaded_s: float
    series: int
    jobs: tuple[JobSummary, ...]
    healthy: bool


@dataclass(frozen=True, slots=True)
class LabState:
    """`lab status`. state: `running`, `degraded` or `down`."""

    fabric: str
    backend: str
    nodes: tuple[NodeStatus, ...]
    state: str


@dataclass(frozen=True, slots=True)
class LabRemoval:
    """`lab down`. removed: whether there was something to remove."""

    fabric: str
    removed: bool


@dataclass(frozen=True, slots=True)
class LabRestart:
    """`lab restart`. daemon: null for the whole node."""

    fabric: str
    node: str
    daemon: str | None


@dataclass(frozen=True, slots=True)
class LabRequirement:
    """A requirement of a lab. fatal: whether no lab runs without it."""

    subject: str
    problem: str
    remedy: str
    fatal: bool
    ok: bool


@dataclass(frozen=True, slots=True)
class LabFiles:
    """`lab render`. not_enforced: by node, settings that its image accepts and that have no effect."""

    topology: str
    files: tuple[str, ...]
    not_enforced: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PortFlows:
    """`twin flows`. flows: that are under way and leave by the port."""

    fabric: str
    port: PortKey
    flows: tuple[PassingFlow, ...]


@dataclass(frozen=True, slots=True)
class StoppedTwin:
    """`twin stop`."""

    fabric: str
    stopped: bool


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """A file of `dashboards build`."""

    path: str
    changed: bool


@dataclass(frozen=True, slots=True)
class PushedObject:
    """A folder, datasource, board, group of alerts or annotation of `dashboards push`."""

    kind: str
    name: str
    changed: bool


@dataclass(frozen=True, slots=True)
class SeedMeans:
    """Means over the seeds that have a value."""

    jct_ns: float | None
    fct_mean_ns: float | None
    fct_p99_ns: float | None
    ecn_marked: float | None
    pause_rx: float | None
    paused_ns: float | None
    q_max_bytes: float | None
    drops: float | None


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Why flows of a seed are left."""

    seed: int
    reason: str


@dataclass(frozen=True, slots=True)
class Replay:
    """`sim replay`."""

    seeds: tuple[SeedResult, ...]
    mean: SeedMeans
    unfinished: tuple[Unfinished, ...]


@dataclass(frozen=True, slots=True)
class FabricRun:
    """A run on the links of a fabric. seed: of its hashes. unfollowed: operations in closed form, and why. slow_links:
    cables that the job states to be slow. balancing: how switches choose links. reorders: NICs take packets in any
    order."""

    seed: int
    step_s: float
    contentions: tuple[Contention, ...]
    unfollowed: tuple[str, ...]
    slow_links: int
    balancing: tuple[str, ...]
    reorders: bool


@dataclass(frozen=True, slots=True)
class EstimatedDesign:
    """A job on a design. exposed_s: by group, as in docs/jobs.md. why: reason for the tier. runs: none in closed form.

    estimate: the run with the median step. waits: of the run with the longest step; empty without `--why`.
    equipment: of the design, where there are several.
    """

    fabric: str
    why: str
    estimate: JobEstimate
    runs: tuple[FabricRun, ...]
    waits: tuple[OperationWait, ...]
    equipment: Equipment | None


@dataclass(frozen=True, slots=True)
class Estimated:
    """`simulate`. differences: why designs are slower than the fastest one."""

    job: str
    designs: tuple[EstimatedDesign, ...]
    differences: tuple[OperationDifference, ...]


@dataclass(frozen=True, slots=True)
class SharedStep:
    """A job beside others: its step alone, expected and at worst. calls: what the others add to a step first.

    unfollowed: operations in closed form, and why. varying: where the expected step does not settle.
    """

    job: str
    hosts: tuple[str, ...]
    alone: JobEstimate
    expected: JobEstimate
    worst: JobEstimate
    calls: tuple[SharedCall, ...]
    unfollowed: tuple[str, ...]
    varying: VaryingStep | None


@dataclass(frozen=True, slots=True)
class SharedRun:
    """Jobs on a fabric with a seed of its hashes."""

    seed: int
    jobs: tuple[SharedStep, ...]


@dataclass(frozen=True, slots=True)
class SharedDesign:
    """`simulate` of several jobs on a design. why: reason for max-min fair rates, where packets were asked for."""

    fabric: str
    why: str
    runs: tuple[SharedRun, ...]


@dataclass(frozen=True, slots=True)
class PausedPort:
    """Pauses of a port."""

    reason: str
    xoff_received: int
    paused_ns: float
    caused_by: tuple[CountedPort, ...]


@dataclass(frozen=True, slots=True)
class PauseTree:
    """A port, and those that its queue paused."""

    port: str
    xoffs: int
    paused_ns: float
    first_ns: float
    pauses: tuple[PauseTree, ...]


@dataclass(frozen=True, slots=True)
class PortExplanation:
    """`sim why`. port, peer: as NODE:PORT."""

    port: str
    peer: str
    rate_gbps: float
    ecn: Ecn
    pfc: Pfc
    feeders: tuple[Pfc, ...]
    paused: PausedPort
    pauses: tuple[CountedPort, ...]
    senders: tuple[Sender, ...]
    storms: tuple[PauseTree, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasuredFile:
    """A run of nccl-tests. ranks, hosts: of a group. hosts_assumed: the plan names none of its hosts. sizes from
    bandwidth_from_bytes on are limited by bandwidth; null: none is."""

    file: str
    op: str
    groups: int
    ranks: int
    hosts: int
    hosts_assumed: bool
    bandwidth_from_bytes: int | None
    sizes: tuple[SizeCeiling, ...]
    causes: tuple[CauseCeiling, ...]


@dataclass(frozen=True, slots=True)
class ComparedSize:
    """A size of two runs. ratio: of the bandwidths, after over before. noise: factor by which it may differ from 1
    without meaning; null: not known."""

    size_bytes: int
    before_bytes_per_s: float
    after_bytes_per_s: float
    ratio: float
    noise: float | None
    differs: bool


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """Two runs. ratio: of the sizes that bandwidth limits, with its interval of confidence; null: fewer than two."""

    before: str
    after: str
    sizes: tuple[ComparedSize, ...]
    ratio: float | None
    least: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class MeasuredDocument:
    """`measured`. not_simulated: why not; empty where the collective was simulated."""

    fabric: str
    not_simulated: str
    runs: tuple[MeasuredFile, ...]
    differences: tuple[ComparedRuns, ...]


RECORDS: Mapping[str, Any] = {
    "agent": HostDocument,
    "audit": Checked,
    "targets-check": TargetChecks,
    "import-gnmic": GnmicReport,
    "cabling": CablingReport,
    "compare": Comparison,
    "dashboards-build": tuple[BuiltFile, ...],
    "dashboards-push": tuple[PushedObject, ...],
    "deploy": tuple[ChangedSwitch, ...],
    "deploy-waves": ChangePlan,
    "design-errors": DesignErrors,
    "diff": SnapshotComparison,
    "doctor": FabricDiagnosis,
    "drain": DrainReport,
    "drift": DriftReport,
    "errors": CommandErrors,
    "export": tuple[ExportedFile, ...],
    "export-netbox": tuple[PushedKind, ...],
    "explain": tuple[Section, ...],
    "history": tuple[DeployRecord, ...],
    "history-deploy": PlannedDeploy,
    "lab-doctor": tuple[LabRequirement, ...],
    "lab-down": LabRemoval,
    "lab-render": LabFiles,
    "lab-restart": LabRestart,
    "lab-status": LabState,
    "lab-up": Endpoints,
    "measured": MeasuredDocument,
    "new": Starter,
    "new-list": tuple[DesignChoice, ...],
    "plan": PlanDocument,
    "reconcile": tuple[ChangedSwitch, ...],
    "render": tuple[RenderedFile, ...],
    "replace": ReplaceReport,
    "rollback": tuple[ChangedSwitch, ...],
    "sim-replay": Replay,
    "sim-why": PortExplanation,
    "simulate": Estimated,
    "simulate-jobs": tuple[SharedDesign, ...],
    "snapshot": SnapshotReport,
    "sweep": tuple[SweepResult, ...],
    "twin-flows": PortFlows,
    "twin-status": tuple[FoundTwin, ...],
    "twin-stop": StoppedTwin,
    "undrain": DrainReport,
    "up": UpSummary,
    "upgrade": UpgradeReport,
    "verify": Verified,
}
"""The document of each command, and of an option that gives another one."""


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a document: every key is there, and no other."""
    schema = TypeAdapter(RECORDS[name]).json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": name, **_complete(schema)}


def _complete(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_complete(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = {key: _complete(part) for key, part in schema.items() if key not in ("default", "title")}
    if isinstance(properties := schema.get("properties"), dict):
        parts["properties"] = {key: _complete(part) for key, part in properties.items()}
        parts |= {"required": list(properties), "additionalProperties": False}
    return parts

"""The summary of a fabric as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from railfab.device import SwitchBuffers
from railfab.documents.growth import growth, largest_gpus
from railfab.documents.markdown import table_lines
from railfab.documents.overview import ROLES, SwitchPorts
from railfab.documents.pause import headroom_text, ramp_texts, xoff_text
from railfab.documents.plan import Plan
from railfab.documents.sentences import HOST_ROUTES, between, description, division, headline, heat, uneven, watts
from railfab.findings import findings_text
from railfab.hosts import needs_settings
from railfab.text.counted import counted
from railfab.topology.grouping import grouped

FILES = (
    ("topology.svg", "the picture above"),
    ("cabling.csv", "every cable, from rack, unit and port to rack, unit and port, with the label of both ends"),
    ("addresses.csv", "every address, with its network, VLAN and gateway"),
    ("subnets.csv", "pools, summaries and VLANs"),
    ("as-numbers.csv", "AS number of each switch, and which are route reflectors"),
    ("bill-of-materials.csv", "quantities of hosts, switches, optics and cables by length"),
    ("power.csv", "power of each rack"),
    ("gpu-count.csv", "GPUs that a model needs"),
    ("failure-domains.csv", "effect of each single failure"),
)


def summary(plan: Plan, further: Iterable[str] = ()) -> str:
    """The whole page. Deterministic: the same intent gives the same text.

    further: what to say of files that are written with it, as `slurm/: topology.conf`.
    """
    sections = (
        _head(plan),
        _switches(plan),
        _cables(plan),
        _capacity(plan),
        _buffers(plan.buffers),
        _power_and_bill(plan),
        _failures(plan),
        _findings(plan),
        _growth(plan),
        _files(plan),
        (f"- {files}" for files in further),
    )
    return "\n".join(line for section in sections for line in section) + "\n"


def _head(plan: Plan) -> Iterator[str]:
    name = plan.topology.fabric
    yield f"# {name}"
    yield ""
    yield f"{headline(plan)}. {description(plan.intent)}"
    yield ""
    if plan.findings:
        yield f"**The design has {findings_text(plan.findings)}: see [Findings](#findings).**"
        yield ""
    yield f"![Topology of {name}](topology.svg)"


def _section(title: str) -> tuple[str, str, str]:
    return "", f"## {title}", ""


def _tier(switch: SwitchPorts) -> tuple[object, ...]:
    node = switch.node
    return node.net, node.plane, node.role, node.model, node.platform, switch.hosts, switch.fabric


def _switches(plan: Plan) -> Iterator[str]:
    yield from _section("Switches")
    columns = ("network", "plane", "tier", "model", "platform", "host ports", "fabric ports", "switches", "example")
    groups = grouped(plan.overview.switches, _tier)
    yield from table_lines(columns, ((*_tier(group[0]), f"{len(group):,}", group[0].node.name) for group in groups))


def _cables(plan: Plan) -> Iterator[str]:
    yield from _section("Cables")
    rows = (
        (kind.net, between(kind), kind.rate_gbps, f"{kind.cable_m:g}", f"{count:,}")
        for kind, count in plan.overview.cables.items()
    )
    yield from table_lines(("network", "between", "Gb/s", "metres", "cables"), rows)


def _capacity(plan: Plan) -> Iterator[str]:
    """Downlink and uplink capacity of the switches of each tier."""
    yield from _section("Capacity")
    rows = []
    for group in grouped(plan.overview.switches, lambda switch: (*_tier(switch)[:3], switch.down_gbps, switch.up_gbps)):
        node, down, up = group[0].node, group[0].down_gbps / 1000, group[0].up_gbps / 1000
        above = (f"{up:g}", f"{down / up:.2f}:1") if up else (None, None)
        rows.append((node.net, node.plane, ROLES[node.role], f"{len(group):,}", f"{down:g}", *above))
    yield from table_lines(("network", "plane", "tier", "switches", "Tb/s down each", "Tb/s up each", "ratio"), rows)
    yield ""
    yield f"The limit is {plan.intent.backend.oversubscription:g}:1 on the backend. Links are full duplex."


def _buffers(buffers: Sequence[SwitchBuffers]) -> Iterator[str]:
    yield from _section("Buffers of the lossless class")
    if not buffers:
        yield "No class is lossless."
        return
    columns = ("switches", "ports", "Kmin kB", "Kmax kB", "Pmax", "XOFF kB", "most headroom kB")
    yield from table_lines(columns, (row for kind in buffers for row in _threshold_rows(kind)))
    yield ""
    for kind in buffers:
        yield f"- {kind.where}: {division(kind)}"


def _threshold_rows(kind: SwitchBuffers) -> Iterator[tuple[object, ...]]:
    for load, found in zip(kind.plan.uncut.ports, kind.thresholds, strict=True):
        limits = xoff_text(kind, found), headroom_text(kind, f"{found.headroom_bytes / 1000:.1f}")
        yield kind.where, f"{load.load.count} x {found.name}", *ramp_texts(kind, found), *limits


def _power_and_bill(plan: Plan) -> Iterator[str]:
    yield from _section("Power")
    total_w, racks, hottest, hottest_w = heat(plan)
    yield (
        f"At most {watts(total_w)} in {racks:,} racks; at most {watts(hottest_w)} in one rack, for example {hottest}."
    )
    yield from _section("Bill of materials")
    columns = ("item", "part", "metres", "quantity", "used as")
    rows = ((item, part, metres, f"{quantity:,}", used) for item, part, metres, quantity, _, used in plan.bill.rows)
    yield from table_lines(columns, rows)


def _failures(plan: Plan) -> Iterator[str]:
    yield from _section("Failure domains")
    columns = (
        "network",
        "failure",
        "example",
        "count",
        "affected",
        "lost",
        "of",
        "cut off",
        "slowest flow",
    )
    rows = (
        (
            domain.net,
            domain.kind,
            domain.example,
            f"{domain.count:,}",
            counted(domain.affected, domain.unit),
            f"{domain.lost_percent:g} %",
            domain.service,
            f"{domain.cut_off:,}",
            None if domain.slowest_percent is None else f"{domain.slowest_percent:g} %",
        )
        for domain in plan.failure_domains
    )
    yield from table_lines(columns, rows)
    for sentence in uneven(plan.failure_domains):
        yield ""
        yield sentence


def _findings(plan: Plan) -> Iterator[str]:
    yield from _section("Findings")
    if not plan.findings:
        yield "None."
    yield from (f"- **{finding.severity}** {finding} `{finding.code}`" for finding in plan.findings)


def _growth(plan: Plan) -> Iterator[str]:
    yield from _section("Growth")
    others = " Other networks may need more leaves." if len({kind.net for kind in plan.overview.cables}) > 1 else ""
    largest = f"{largest_gpus(plan.intent):,}"
    yield f"Up to {largest} GPUs, without a change of any name, port, address or AS number.{others}"
    yield ""
    rows = ((room.what, f"{room.now:,}", f"{room.room:,}") for room in growth(plan.intent))
    yield from table_lines(("dimension", "now", "largest"), rows)


def _files(plan: Plan) -> Iterator[str]:
    yield from _section("Files")
    yield from (f"- [{name}]({name}): {what}" for name, what in FILES)
    yield f"- hosts/: {HOST_ROUTES[plan.intent.hosts.attach]}"
    if needs_settings(plan.intent):
        yield "- hosts/nic.py, hosts/nic.json: settings of the NICs of all hosts"

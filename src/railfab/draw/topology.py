"""Picture of a cluster: the backend, and its other networks as panels below.

Equivalent parts are drawn once, with one box for the others; so the picture of a hundred thousand GPUs is as large as
that of a few hundred.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from railfab.draw.backend import BackendPicture
from railfab.draw.cables import LineWidths
from railfab.draw.graph import network_graphs
from railfab.draw.layout import HEADER, MARGIN, TITLE_HEIGHT
from railfab.draw.legend import Legend
from railfab.draw.network_panels import PANEL_WIDTH, NetworkPanel, network_panels
from railfab.draw.palette import style
from railfab.draw.svg import Box, document, element, rectangle, text_line, title
from railfab.draw.text_width import truncated, width_of
from railfab.findings import Finding, findings_text
from railfab.intent import Hosts
from railfab.text.counted import counted
from railfab.topology import Net, Role, Topology

MARK_SIZE = 12


def topology_svg(topology: Topology, hosts: Hosts | None = None, findings: Collection[Finding] = ()) -> str:
    """Picture of a cluster as SVG for light and dark pages. Deterministic.

    hosts: from the intent, to show GPUs. findings: of the checks of the design, marked in the upper right corner.
    """
    graphs = network_graphs(topology)
    others = [net for net in Net if net is not Net.BACKEND and any(node.net is net for node in topology.nodes)]
    least = len(others) * (PANEL_WIDTH + MARGIN) + MARGIN if others else 0
    backend = BackendPicture(topology, graphs[Net.BACKEND], hosts, named=bool(others), least_width=least)
    size = backend.layout.size
    below = network_panels(topology, [(net, graphs[net]) for net in others], top=size.height, width=size.width)
    bottom = max([size.height, *(panel.box.bottom + MARGIN for panel in below)])
    cablings = [backend.cabling, *(panel.cabling for panel in below)]
    widths = LineWidths(thin=any(cabling.many_lines for cabling in cablings))
    legend = Legend(cablings, widths, size.width - 2 * MARGIN)
    whole = Box(0, 0, size.width, bottom + legend.height)
    body = (
        rectangle(whole, "page", radius=8),
        *_name(topology.fabric, findings, whole.width),
        *_heading(topology, hosts, backend, below, whole.width),
        *backend.body(widths),
        *(part for panel in below for part in panel.body(widths)),
        *legend.svg(MARGIN, bottom - MARGIN / 2),
    )
    return document(whole, f"Topology of the fabric {topology.fabric}", style(findings=bool(findings)), body)


def _name(fabric: str, findings: Collection[Finding], width: float) -> Iterator[str]:
    """The fabric's name; on its right how many errors and warnings its design has, with a tooltip that lists them."""
    room = width - 2 * MARGIN
    if findings:
        mark = findings_text(findings)
        lines = "\n".join(finding.line for finding in findings)
        yield element("text", mark, title(lines), x=width - MARGIN, y=32, class_="mark")
        room -= width_of(mark, MARK_SIZE, bold=True) + MARGIN
    yield text_line(MARGIN, 32, truncated(fabric, room, 18, bold=True), "head")


def _heading(
    topology: Topology, hosts: Hosts | None, backend: BackendPicture, below: Sequence[NetworkPanel], width: float
) -> Iterator[str]:
    room = width - 2 * MARGIN
    if not below:
        yield text_line(MARGIN, 50, truncated(backend.summary() or "no nodes", room, 12), "")
        return
    count = len(topology.hosts())
    gpus = [f"{count * hosts.gpus:,} GPUs"] if hosts else []
    servers = sum(node.role is Role.SERVER for node in topology.nodes)
    parts = [
        *gpus,
        counted(count, "host"),
        *([counted(servers, "storage server")] if servers else []),
        counted(len(topology.switches()), "switch"),
        counted(len(topology.links), "cable"),
        f"{len(below) + 1} networks",
    ]
    yield text_line(MARGIN, 50, truncated(" · ".join(parts), room, 12), "")
    yield text_line(MARGIN, TITLE_HEIGHT + HEADER / 2 + 2, "Backend", "title")
    yield text_line(MARGIN + 66, TITLE_HEIGHT + HEADER / 2 + 2, truncated(backend.summary(), room - 66, 11), "side")

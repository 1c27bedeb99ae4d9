"""The cabling plan: one line a cable, as the people who pull it read it."""

from __future__ import annotations

import csv
import io

from railfab.topology.model import Topology

COLUMNS = ("from_node", "from_port", "to_node", "to_port", "speed_gbps", "length_m", "rail", "label")


def cabling_csv(topology: Topology) -> str:
    """Every cable as CSV, with a header line; the label is what both ends carry."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for link in topology.links:
        a, z = link.a, link.z
        label = f"{a.node}:{a.name}--{z.node}:{z.name}"
        writer.writerow((a.node, a.name, z.node, z.name, link.rate_gbps, f"{link.cable_m:g}", a.rail or "", label))
    return out.getvalue()

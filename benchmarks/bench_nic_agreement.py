"""What it costs to compare the NICs of 10,240 hosts with their switch ports, beside what verify reads of switches.

    python benchmarks/bench_nic_agreement.py              # a minute or two
    python benchmarks/bench_nic_agreement.py 4            # a tenth: 4 pods of 256 hosts

The fabric is `gpu131072.yml` with as many pods. Each host has a document as `railfab agent --once --output json` prints
it, all settings included; in one of a hundred the NICs have no PFC. The switches run what the intent says. CPU is that
of this process, the garbage collector included.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measured import machine

from railfab.fabric import Design, design
from railfab.fabric.audit import folded
from railfab.fabric.nic_agreement import NicAgreement, read_nic_states
from railfab.hosts.files import nic_settings
from railfab.hosts.nic import filled
from railfab.hosts.ports import roce_ports

ROOT = Path(__file__).resolve().parents[1]
FABRIC = ROOT / "inventory" / "fabrics" / "gpu131072.yml"
PODS, WRONG = 40, 100


def main() -> None:
    pods = int(sys.argv[1]) if len(sys.argv) > 1 else PODS
    fabric = design(FABRIC, settings=[f"backend.pods={pods}"])
    models = fabric.models
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        hosts, size = written(fabric, folder)
        before = time.process_time()
        states = read_nic_states(fabric, folder)
        read = time.process_time()
        agreement = NicAgreement(fabric, states, models)
        findings, coverage = [*agreement.findings()], agreement.coverage
        compared = time.process_time()
        lines = folded(findings)
        end = time.process_time()
    print(f"{machine()}: {hosts:,} hosts, {coverage.compared:,} of {coverage.ports:,} NICs, {size / 1e6:,.0f} MB")
    print(f"read {read - before:.1f} s, compared {compared - read:.1f} s, folded {end - compared:.2f} s of CPU")
    print(f"{len(findings):,} findings in {len(lines)} lines: {lines[0]}")
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB, the design included")


def written(fabric: Design, folder: Path) -> tuple[int, int]:
    """Write the document of each host; their number, and the size of all of them."""
    hosts, size = 0, 0
    texts = [json.dumps(document(fabric, pfc)) for pfc in ("0 0 0 1 0 0 0 0", "0 0 0 0 0 0 0 0")]
    for hosts, node in enumerate(fabric.topology.hosts(), start=1):
        text = texts[hosts % WRONG == 0].replace("HOST", node.name)
        (folder / f"{node.name}.json").write_text(text)
        size += len(text)
    return hosts, size


def document(fabric: Design, pfc: str) -> dict[str, Any]:
    """The document of a host, whose name is HOST, and whose NICs have these priorities with PFC."""
    nics = [
        {
            "nic": port.name,
            "interface": f"enp{place}s0np0",
            "rdma": f"mlx5_{place}",
            "model": "connectx-7",
            "family": "mlx5",
            "rail": port.rail,
            "plane": port.plane,
            "neighbor": None,
            "link": {"up": True, "rate_gbps": float(port.rate_gbps), "fec": "RS"},
            "pcie": {"speed_gtps": 32.0, "lanes": 16, "rate_gbps": 504.12, "max_speed_gtps": 32.0, "max_lanes": 16},
            "gids": [{"index": index, "kind": "RoCE v2", "gid": "fe80::690:81ff:fe30:a7a0"} for index in range(4)],
            "settings": list(settings(fabric, {"mtu": str(port.mtu), "cable_m": str(port.cable_m)}, pfc)),
        }
        for place, port in enumerate(roce_ports(fabric.topology, fabric.intent))
    ]
    head = {"version": 1, "fabric": fabric.intent.fabric, "host": "HOST", "checked": "2026-12-01T12:00:00Z"}
    return {**head, "nics": nics, "settings": [], "faults": []}


def settings(fabric: Design, values: dict[str, str], pfc: str) -> Iterator[dict[str, Any]]:
    """The settings of a NIC as they are read back."""
    lossless = fabric.intent.profile.lossless
    assert lossless is not None
    for setting in nic_settings("mlx5", lossless):
        if not setting.whole_host:
            wanted = filled(setting.wanted, values)
            read = pfc if setting.name == "pfc" else wanted
            yield {"setting": setting.name, "wanted": wanted, "read": read, "ok": read == wanted, "problem": None}


if __name__ == "__main__":
    main()

"""Two switches of real FRR, cabled to each other and reached over SSH: a leaf that boots empty and a spine at work."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.frr.bench import SPINE, Bench, Node, eventually, run
from tests.platforms.frr.switches import PORTS, text

from railfab.lab.netns.runtime import RUNTIME


@pytest.fixture(scope="package")
def switches() -> Iterator[tuple[Node, Node]]:
    """Leaf and spine."""
    RUNTIME.mkdir(mode=0o755, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=RUNTIME))  # pytest's own is for root alone, and the daemons run as user frr
    folder.chmod(0o755)
    bench = Bench(folder)
    try:
        booted = [bench.boot("rft-leaf", ""), bench.boot("rft-spine", text(SPINE))]
        for port in PORTS:
            leaf, spine = (("nsenter", "-t", str(pid), "-n", "ip", "link") for _, pid in booted)
            run(*leaf, "add", port, "type", "veth", "peer", "name", port, "netns", str(booted[1][1]))
            for end in (leaf, spine):
                run(*end, "set", port, "mtu", "9000", "up")
        nodes = []
        for place, (root, pid) in enumerate(booted):
            shutil.chown(root, "frr", "frr")
            (root / "wired").touch()
            nodes.append(Node(root.name, root, pid, bench.manage(root.name, root, pid, place)))
            assert eventually((root / "ready").exists), (root / "log").read_text()
        yield nodes[0], nodes[1]
    finally:
        bench.close()
        shutil.rmtree(folder)

"""The host of docs/agent.md: `python -m tests.hostagent.example` writes its tree again."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests.hostagent.trees import host_tree

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "examples" / "gpu-host"
PFC = ("enabled     0   0   0   1", "enabled     0   0   0   0")


def write_example(folder: Path) -> None:
    """A host with two ConnectX-7: PFC of the second is off, and its PCIe link has half of its lanes."""
    with tempfile.TemporaryDirectory() as made:
        tree = host_tree(Path(made), "connectx-7")
        captured = tree.captured("mlnx_qos", "-i", "enp2s0")
        captured.write_text(captured.read_text().replace(*PFC))
        (tree.device("enp2s0") / "current_link_width").write_text("8\n")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tree.root, folder, symlinks=True)


if __name__ == "__main__":
    write_example(FOLDER / "tree")

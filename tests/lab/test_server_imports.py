"""The servers of a lab start without what designs a fabric."""

from __future__ import annotations

import subprocess
import sys

import pytest

DESIGN = {"pydantic", "railfab.intent", "railfab.topology", "railfab.fabric"}


@pytest.mark.parametrize(
    "module", ["railfab.lab.agent.__main__", "railfab.lab.containerlab.gateway", "railfab.lab.netns.ssh_servers"]
)
def test_a_server_of_a_lab_imports_no_design(module: str) -> None:
    program = f"import sys, {module}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert module in done.stdout.split()
    assert DESIGN.isdisjoint(done.stdout.split())

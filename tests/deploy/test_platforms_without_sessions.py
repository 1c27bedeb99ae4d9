"""Platforms that railfab renders but cannot connect to yet: every command that connects says so before it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.deploy import nornir_of
from railfab.endpoints import Endpoint, Endpoints
from railfab.errors import UnsupportedFeature
from railfab.fabric import design
from railfab.platforms import platform

ROOT = Path(__file__).parents[2]


def test_a_run_over_switches_without_sessions_is_refused_in_one_line_with_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAILFAB_USERNAME", "admin")
    monkeypatch.setenv("RAILFAB_PASSWORD", "of a test")
    fabric = design(ROOT / "inventory" / "fabrics" / "dual-rail.yml")
    nodes = tuple(
        Endpoint(name=node.name, platform="junos", host="192.0.2.1", ssh_port=22) for node in fabric.topology.switches()
    )
    with pytest.raises(UnsupportedFeature) as refused:
        nornir_of(fabric, Endpoints(fabric="dual-rail", backend="file", nodes=nodes))
    assert str(refused.value) == (
        "pod1-seg1-leaf1 and 15 more: railfab cannot connect to switches of platform junos yet. "
        "Write their files with `railfab render INTENT -o DIR`, and load them with the tools of the vendor."
    )


def test_a_platform_has_a_session_and_a_dialect_or_neither() -> None:
    for name in ("frr", "srlinux", "junos"):
        own = platform(name)
        assert (own.session is None) == (own.dialect is None) == (name == "junos")

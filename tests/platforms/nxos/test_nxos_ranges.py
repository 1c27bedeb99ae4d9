"""The ranges in the table of NX-OS's lines are those of Cisco's native model, of NX-OS 9.3(2)."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.oracles.telemetry_paths import CISCO

from railfab.platforms.nxos.known_lines import KnownLine, sections

pytestmark = pytest.mark.oracle

NATIVE = "Cisco-NX-OS-device.yang"
TYPEDEF = re.compile(r"\n    typedef (\w+) \{(.*?)\n    \}", re.DOTALL)
RANGE = re.compile(r'range "(\d+)\.\.(\d+)"')
SAME: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("interface", "mtu <", ("l1_Mtu",)),
    ("interface", "bfd interval", ("bfd_MinTxIntvl", "bfd_MinRxIntvl", "bfd_DetectMult")),
    ("interface", "vpc (", ("vpc_Id",)),
    ("top", "vpc domain", ("vpc_DomId",)),
    ("top", "lldp reinit", ("lldp_InitDelayTime",)),
    ("vpc", "system-priority", ("vpc_SysPrio",)),
    ("vpc", "role priority", ("vpc_RolePrio",)),
    ("vpc", "delay restore", ("vpc_DelayRestoreVPC",)),
    ("bgp", "reconnect-interval", ("bgp_ReConnectIntvl",)),
    ("bgp", "timers bestpath-limit", ("bgp_BestPathIntvl",)),
    ("bgp", "timers prefix-peer", ("bgp_PfxPeerWaitTime",)),
    ("bgp", "(?:no )?graceful-restart(?", ("bgp_GrIntvl", "bgp_GrStaleIntvl")),
    ("bgp family", "maximum-paths <", ("bgp_MaxEcmp",)),
    ("bgp family", "maximum-paths (?:ibgp", ("bgp_MaxEcmp",)),
    ("bgp family", "distance", ("bgp_Distance",) * 3),
    ("top", "route-map", ("rtmap_Order",)),
    ("policy-map network-qos class", "pause pfc-cos", ("ipqos_Cos",)),
    ("policy-map queuing class", "bandwidth", ("ipqos_Percent",)),
    ("policy-map queuing class", "random-detect minimum", ("ipqos_Percent", "ipqos_Weight")),
    ("policy-map queuing class", "queue-limit (?:percent", ("ipqos_QueueLimitPercent", "ipqos_QueueLimitDynamic")),
)
"""Lines by section and beginning, and the type of each of their numbers; one that the model lacks is not compared."""
NARROWER: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("top", "lldp timer", ("lldp_TxFreq",)),
    ("top", "lldp holdtime", ("lldp_HoldTime",)),
    ("neighbor", "ebgp-multihop <", ("bgp_TtlVal",)),
    ("interface", "priority-flow-control watch-dog", ("ipqos_PriorFlowCtrlWdIntfMulti",)),
    ("policy-map queuing class", "priority", ("ipqos_PriorityLevel",)),
)
"""Likewise, of which the CLI takes fewer numbers than the model: Cisco's guides for 10.5(x)."""


@pytest.fixture(scope="module")
def ranges(oracles: Path) -> Mapping[str, tuple[int, int]]:
    """The numbers of each type of the native model."""
    archive = oracles / CISCO
    if not archive.exists():
        pytest.skip(f"needs {CISCO} in {oracles}; tests/README.md says where to get it")
    with tarfile.open(archive) as packed:
        native = next(member for member in packed if member.name.endswith(NATIVE))
        file = packed.extractfile(native)
        assert file is not None
        types = TYPEDEF.findall(file.read().decode())
    bounds = {name: RANGE.search(body) for name, body in types}
    return {name: (int(found[1]), int(found[2])) for name, found in bounds.items() if found}


def line(section: str, beginning: str) -> KnownLine:
    (known,) = (known for known in sections()[section].lines if known.text.startswith(beginning))
    return known


@pytest.mark.parametrize(
    ("section", "beginning", "types"), SAME, ids=lambda part: part if isinstance(part, str) else ""
)
def test_numbers_of_a_line_are_those_of_the_native_model(
    section: str, beginning: str, types: tuple[str, ...], ranges: Mapping[str, tuple[int, int]]
) -> None:
    known = line(section, beginning).ranges
    assert len(known) == len(types)
    assert [
        (stated, name) for stated, name in zip(known, types, strict=True) if stated != ranges.get(name, stated)
    ] == []


@pytest.mark.parametrize(
    ("section", "beginning", "types"), NARROWER, ids=lambda part: part if isinstance(part, str) else ""
)
def test_numbers_of_a_line_are_within_those_of_the_native_model(
    section: str, beginning: str, types: tuple[str, ...], ranges: Mapping[str, tuple[int, int]]
) -> None:
    for (low, high), name in zip(line(section, beginning).ranges, types, strict=True):
        assert ranges[name][0] <= low <= high <= ranges[name][1]


def test_every_type_is_in_the_model(ranges: Mapping[str, tuple[int, int]]) -> None:
    named = {name for _, _, types in (*SAME, *NARROWER) for name in types}
    assert named - ranges.keys() == {"ipqos_QueueLimitPercent"}

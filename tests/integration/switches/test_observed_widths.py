"""Switches of each platform on a twin report how many equal next hops their routes have."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.device.planned import with_bgp
from tests.integration.switches.racks import LEAF, SYSTEMS, deployed, opened, rendered
from tests.sampled import sampled

from railfab.endpoints import Endpoint
from railfab.fabric import design
from railfab.twin import Twin

CASES = [(system, family) for system in SYSTEMS for family in ("ipv4", "ipv6")]
FEW = [("eos", "ipv6"), ("nxos", "ipv6")]


def widths(endpoint: Endpoint) -> dict[int, int]:
    with opened(endpoint) as session:
        return dict(session.observe(resolved=False, routes=True).next_hop_widths or {})


@pytest.mark.parametrize(("system", "family"), sampled(CASES, FEW))
def test_routes_over_two_spines_have_two_next_hops_and_one_where_one_is_used(
    repository: Path, tmp_path: Path, system: str, family: str
) -> None:
    path = tmp_path / "two.yml"
    intent = (repository / "tests" / "deploy" / f"rack_{system}.yml").read_text()
    path.write_text(f"{intent.replace('spines: {count: 1', 'spines: {count: 2')}profile: {{family: {family}}}\n")
    fabric = design(path)
    with Twin(fabric, state=tmp_path, base_port=0, configured=True) as twin:
        leaf = twin.endpoints.by_name()[LEAF]
        before = widths(leaf)
        deployed(leaf, rendered(with_bgp(fabric.models[LEAF], max_paths=1)), "one")
        after = widths(leaf)
    assert set(before) == {1, 2}
    assert set(after) == {1}
    assert system == "srlinux" or sum(before.values()) == sum(after.values()) > 2

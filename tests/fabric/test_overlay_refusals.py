"""A refusal names the key of the network that asks for the feature."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from railfab.errors import RailfabError, each
from railfab.fabric import design
from railfab.fabric.refusals import OVERLAYS
from railfab.platforms import Support, admit, platform
from railfab.topology import Net


def test_the_remedy_for_an_overlay_of_the_frontend_leads_to_a_fabric_without_it(
    repository: Path, tmp_path: Path
) -> None:
    cluster = repository / "inventory" / "fabrics" / "cluster.yml"
    own = platform("srlinux")
    features = {**own.capabilities.features, "evpn": Support.LATER, "next_hop_unchanged": Support.LATER}
    without = replace(own, capabilities=replace(own.capabilities, features=features))
    with pytest.raises(RailfabError) as refused:
        admit(design(cluster).models["front-spine1"], without, OVERLAYS[Net.FRONTEND])
    assert {error.remedy for error in each(refused.value)} == {
        "`railfab plan` documents it; to render, change frontend.attach to routed and remove frontend.tenants"
    }
    before, _, rest = cluster.read_text().partition("  tenants:\n")
    after = rest[rest.index("  leaves:") :]
    changed = tmp_path / "cluster.yml"
    changed.write_text((before + after).replace("attach: esi", "attach: routed"))
    assert all(admit(model, without) for model in design(changed).models.values())

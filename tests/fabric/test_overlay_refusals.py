"""A refusal names the key of the network that asks for the feature."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.errors import RailfabError, each
from railfab.fabric import design


def test_the_remedy_for_an_overlay_of_the_frontend_leads_to_a_fabric_that_is_rendered(
    repository: Path, tmp_path: Path
) -> None:
    cluster = repository / "inventory" / "fabrics" / "cluster.yml"
    with pytest.raises(RailfabError) as refused:
        _ = design(cluster).models
    assert {error.remedy for error in each(refused.value)} == {
        "`railfab plan` documents it; to render, change frontend.attach to routed and remove frontend.tenants"
    }
    before, _, rest = cluster.read_text().partition("  tenants:\n")
    after = rest[rest.index("  leaves:") :]
    changed = tmp_path / "cluster.yml"
    changed.write_text((before + after).replace("attach: esi", "attach: routed"))
    assert design(changed).models

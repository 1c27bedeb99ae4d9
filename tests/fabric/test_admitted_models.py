"""The models of a design are what their platforms can configure."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.device import Port
from railfab.errors import RailfabError
from railfab.fabric import design


def test_a_model_leaves_out_what_the_operating_system_below_the_platform_sets(repository: Path) -> None:
    """Linux sets MTU and speed of the ports of an FRR switch, not FRR."""
    fabric = design(repository / "labs" / "frr-pod" / "intent.yml")
    ports = [port for model in fabric.models.values() for port in model.interfaces if isinstance(port, Port)]
    assert {(port.mtu_bytes, port.rate_gbps) for port in ports} == {(None, None)}


def test_a_feature_that_a_platform_lacks_is_refused_with_the_switch_and_the_platform(
    repository: Path, tmp_path: Path
) -> None:
    lossy = (repository / "labs" / "frr-pod" / "intent.yml").read_text()
    path = tmp_path / "lossless.yml"
    path.write_text(lossy.replace("lossless: off", "lossless: {dscp: 26}"))
    assert path.read_text() != lossy
    with pytest.raises(RailfabError, match=r"pod1-seg1-leaf1: platform frr does not support pfc\. "):
        _ = design(path).models

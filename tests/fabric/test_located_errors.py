"""The line of an error of a design is that of the key that the error has; no text of it is searched for keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.endpoints import InventoryEndpoints, load_endpoints
from railfab.errors import RailfabError, TopologyError, one_per_problem
from railfab.fabric import design
from railfab.intent.document import Document, read_document
from railfab.text.remedies import remedy, setting

TEXT = "version: 1\nfabric: f\nprofile:\n  mtu: 9216\n  bfd: {interval_ms: 300}\nhosts: {gpus: 8}\n"


@pytest.fixture
def document(tmp_path: Path) -> Document:
    path = tmp_path / "f.yml"
    path.write_text(TEXT)
    return read_document(path)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (TopologyError("profile.mtu", "p", "r"), ":4"),
        (TopologyError("profile.bfd.multiplier", "p", "r"), ":5"),
        (TopologyError("backend.pods", "p", remedy(setting("hosts.gpus", 4))), ":6"),
        (TopologyError("pod1-seg1-leaf1", "p", "r", key="profile.mtu"), ":4"),
        (TopologyError("pod1-seg1-leaf1", "p", "Do not look at profile.mtu or hosts.gpus"), ""),
        (TopologyError("switch hosts.gpus", "p", "r"), ""),
    ],
)
def test_the_line_is_that_of_the_key_of_the_error(document: Document, error: RailfabError, line: str) -> None:
    located = document.located(error)
    assert located.where == f"{document.path}{line}: {error.where}"
    assert (type(located), located.problem, located.remedy) == (TopologyError, "p", error.remedy)


def test_errors_of_one_problem_keep_the_key_of_the_first(document: Document) -> None:
    errors = [TopologyError(name, "p", "r", key="profile.mtu") for name in ("leaf1", "leaf2")]
    (error,) = one_per_problem(errors)
    assert document.located(error).where == f"{document.path}:4: leaf1 and 1 more"


def test_an_error_of_a_design_has_its_line_after_the_file_is_gone(repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "wide.yml"
    text = (repository / "tests" / "deploy" / "rack_eos.yml").read_text()
    path.write_text(text + "profile: {bgp: {max_paths: 1000}}\n")
    fabric = design(path)
    path.unlink()
    with pytest.raises(
        RailfabError, match=rf"^{path}:{text.count(chr(10)) + 1}: pod1-seg1-leaf1 and 2 more: max_paths"
    ):
        fabric.check()


def test_endpoints_of_an_inventory_have_the_place_of_each_platform(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text("leaf1: {hostname: h, platform: frr}\nleaf2:\n  hostname: h\n  groups: [racks]\n")
    (tmp_path / "groups.yml").write_text("racks:\n  platform: eos\n")
    endpoints = load_endpoints(path)
    assert isinstance(endpoints, InventoryEndpoints)
    assert endpoints.platform_places == {"leaf1": f"{path}:1", "leaf2": f"{tmp_path / 'groups.yml'}:2"}

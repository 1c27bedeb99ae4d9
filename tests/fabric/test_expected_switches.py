"""The expected switches come from the intent: one without an endpoint is an error, unless `--limit` leaves it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.deploy import RailfabInventory
from railfab.endpoints import Endpoint, Endpoints, save_endpoints
from railfab.errors import EndpointError
from railfab.fabric import Design, design, limited, present_endpoints, resolve_endpoints


@pytest.fixture(scope="module")
def fabric(repository: Path) -> Design:
    return design(repository / "labs" / "srl-pod" / "intent.yml")


def names(fabric: Design) -> list[str]:
    return [node.name for node in fabric.topology.switches()]


def saved(path: Path, fabric: Design, switches: list[str]) -> Path:
    nodes = tuple(Endpoint(name=name, platform="srlinux", host="127.0.0.1", gnmi_port=1) for name in switches)
    save_endpoints(path, Endpoints(fabric=fabric.intent.fabric, backend="twin", nodes=nodes))
    return path


def test_a_switch_that_the_endpoints_file_lacks_is_named(fabric: Design, tmp_path: Path) -> None:
    *present, missing = names(fabric)
    path = saved(tmp_path / "e.json", fabric, present)
    with pytest.raises(EndpointError) as caught:
        resolve_endpoints(fabric, str(path), tmp_path)
    assert str(caught.value) == (
        f"{path}: lacks 1 switch of srl-pod: {missing}. Add what is missing, or leave it out with --limit '!{missing}'."
    )


def test_the_limit_that_the_error_names_leaves_out_what_is_missing(fabric: Design, tmp_path: Path) -> None:
    first, second, *present = names(fabric)
    path = saved(tmp_path / "e.json", fabric, present)
    with pytest.raises(EndpointError, match=f"leave them out with --limit '!{first}&!{second}'"):
        resolve_endpoints(fabric, str(path), tmp_path)
    found = resolve_endpoints(fabric, str(path), tmp_path, f"!{first}&!{second}")
    assert [node.name for node in found.nodes] == present


def test_the_limit_that_the_error_names_stays_within_the_one_that_was_given(fabric: Design, tmp_path: Path) -> None:
    path = saved(tmp_path / "e.json", fabric, ["pod1-spine1"])
    with pytest.raises(EndpointError, match=r"leave it out with --limit 'spine&!pod1-spine2'\.$"):
        resolve_endpoints(fabric, str(path), tmp_path, "spine")
    found = resolve_endpoints(fabric, str(path), tmp_path, "spine&!pod1-spine2")
    assert [node.name for node in found.nodes] == ["pod1-spine1"]


def test_no_limit_is_named_that_would_select_no_switch(fabric: Design, tmp_path: Path) -> None:
    path = saved(tmp_path / "e.json", fabric, ["pod1-spine1"])
    with pytest.raises(EndpointError, match=r"Add what is missing\.$"):
        resolve_endpoints(fabric, str(path), tmp_path, "pod1-spine2")


def test_a_limit_asks_for_the_switches_that_it_selects(fabric: Design, tmp_path: Path) -> None:
    path = saved(tmp_path / "e.json", fabric, ["pod1-spine1", "pod1-spine2"])
    found = resolve_endpoints(fabric, str(path), tmp_path, "spine")
    assert [node.name for node in found.nodes] == ["pod1-spine1", "pod1-spine2"]
    with pytest.raises(EndpointError, match=r"lacks 1 switch of srl-pod: pod1-seg1-leaf1\."):
        resolve_endpoints(fabric, str(path), tmp_path, "spine,pod1-seg1-leaf1")


def test_a_switch_that_hosts_yml_lacks_is_named(fabric: Design, tmp_path: Path) -> None:
    *present, missing = names(fabric)
    hosts = tmp_path / "hosts.yml"
    hosts.write_text("".join(f"{name}: {{hostname: 192.0.2.1, platform: nokia_srlinux}}\n" for name in present))
    with pytest.raises(EndpointError, match=rf"hosts\.yml: lacks 1 switch of srl-pod: {missing}\."):
        resolve_endpoints(fabric, str(hosts), tmp_path)


def test_a_switch_that_the_inventory_of_the_intent_lacks_is_named(repository: Path, tmp_path: Path) -> None:
    text = (repository / "labs" / "srl-pod" / "intent.yml").read_text()
    path = tmp_path / "intent.yml"
    path.write_text(f"{text}\ninventory: {{pod1-spine1: {{host: 192.0.2.1, gnmi_port: 57400}}}}\n")
    fabric = design(path)
    missing = ", ".join(name for name in names(fabric) if name != "pod1-spine1")
    with pytest.raises(EndpointError, match=rf"intent\.yml: inventory: lacks \d switches of srl-pod: {missing}\."):
        resolve_endpoints(fabric, None, tmp_path)


@pytest.mark.parametrize("kind", ["twin", "lab"])
def test_a_twin_or_lab_of_an_older_intent_is_to_be_started_again(fabric: Design, tmp_path: Path, kind: str) -> None:
    *present, missing = names(fabric)
    if kind == "twin":
        import socket

        with socket.create_server(("127.0.0.1", 0)) as answering:
            nodes = tuple(
                Endpoint(name=name, platform="srlinux", host="127.0.0.1", gnmi_port=answering.getsockname()[1])
                for name in present
            )
            endpoints = Endpoints(fabric=fabric.intent.fabric, backend="twin", nodes=nodes)
            save_endpoints(tmp_path / "srl-pod.twin.json", endpoints)
            with pytest.raises(EndpointError, match=f"{missing}. Stop the twin and start it again with railfab twin "):
                resolve_endpoints(fabric, "twin", tmp_path)
    else:
        saved(tmp_path / "srl-pod.lab.json", fabric, present)
        with pytest.raises(EndpointError, match=f"{missing}. Stop the lab and start it again with railfab lab up "):
            resolve_endpoints(fabric, "lab", tmp_path)


def test_a_rollback_asks_only_for_the_switches_that_were_changed(fabric: Design, tmp_path: Path) -> None:
    path = saved(tmp_path / "e.json", fabric, ["pod1-spine1", "pod1-spine2"])
    found = resolve_endpoints(fabric, str(path), tmp_path, among=["pod1-spine2"])
    assert [node.name for node in found.nodes] == ["pod1-spine2"]


def test_the_nornir_inventory_names_a_missing_switch_too(
    fabric: Design, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAILFAB_USERNAME", "a")
    monkeypatch.setenv("RAILFAB_PASSWORD", "b")
    path = saved(tmp_path / "e.json", fabric, ["pod1-spine1", "pod1-spine2"])
    with pytest.raises(EndpointError, match=r"lacks \d switches of srl-pod: pod1-seg1-leaf1"):
        RailfabInventory(str(fabric.path), on=str(path)).load()
    hosts = RailfabInventory(str(fabric.path), on=str(path), limit="spine").load().hosts
    assert list(hosts) == ["pod1-spine1", "pod1-spine2"]


def test_no_limit_selects_every_switch(fabric: Design) -> None:
    assert limited(fabric.topology, None) == fabric.topology.switches()


def hosts_file(folder: Path, switches: list[str]) -> str:
    hosts = "".join(f"{name}: {{hostname: 192.0.2.1, platform: nokia_srlinux}}\n" for name in switches)
    (folder / "hosts.yml").write_text(hosts)
    return str(folder / "hosts.yml")


def test_a_misspelt_host_is_named_with_the_switch_that_it_is_meant_to_be(fabric: Design, tmp_path: Path) -> None:
    first, *others = names(fabric)
    on = hosts_file(tmp_path, [first.replace("leaf", "leef").replace("spine", "spnie"), *others])
    for limit in (None, others[0]):
        with pytest.raises(EndpointError, match=rf"is no switch of srl-pod, which lacks {first}\. Write '{first}', or"):
            present_endpoints(fabric, on, tmp_path, limit)


def test_hosts_of_other_fabrics_are_no_mistake(fabric: Design, tmp_path: Path) -> None:
    *present, missing = names(fabric)
    on = hosts_file(tmp_path, [*present, *(name.replace("pod1", "pod7") for name in present), "h1", "firewall"])
    found, expected = present_endpoints(fabric, on, tmp_path)
    assert [node.name for node in found.nodes] == present
    assert [node.name for node in expected] == [*present, missing]

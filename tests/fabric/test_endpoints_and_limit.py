"""`--limit`, endpoints files and credentials."""

from pathlib import Path

import pytest

from railfab.endpoints import Credentials, Endpoint, Endpoints, load_endpoints, read_credentials, save_endpoints
from railfab.errors import EndpointError, RailfabError
from railfab.fabric import design, resolve_endpoints
from railfab.fabric.limit import limit_filter, unmatched_terms

GROUPS = {
    "pod1-seg1-leaf1": frozenset({"leaf", "pod1", "pod1-seg1", "rail_1"}),
    "pod1-seg2-leaf1": frozenset({"leaf", "pod1", "pod1-seg2", "rail_1"}),
    "pod1-spine1": frozenset({"spine", "pod1"}),
}


@pytest.mark.parametrize(
    ("expression", "meant"),
    [
        ("leaf", ["pod1-seg1-leaf1", "pod1-seg2-leaf1"]),
        ("!leaf", ["pod1-spine1"]),
        ("leaf & pod1-seg1", ["pod1-seg1-leaf1"]),
        ("pod1-seg2-*,spine", ["pod1-seg2-leaf1", "pod1-spine1"]),
        ("rail_1&!pod1-seg1", ["pod1-seg2-leaf1"]),
        ("pod1-seg[12]-leaf1", ["pod1-seg1-leaf1", "pod1-seg2-leaf1"]),
        ("nothing", []),
    ],
)
def test_a_limit_selects_switches_by_name_and_group(expression: str, meant: list[str]) -> None:
    chosen = limit_filter(expression)
    assert [name for name, groups in GROUPS.items() if chosen(name, groups)] == meant


def test_an_empty_term_is_refused() -> None:
    with pytest.raises(RailfabError, match=r"--limit 'leaf,': has an empty term. Use for example leaf&rail_1"):
        limit_filter("leaf,")


ONE = Endpoint(name="leaf1", platform="frr", host="192.0.2.1", ssh_port=22, credentials="env:RF_TEST")


def test_endpoints_are_loaded_as_saved_and_readable_by_their_owner_only(tmp_path: Path) -> None:
    endpoints = Endpoints(fabric="f", backend="netns", nodes=(ONE,))
    save_endpoints(tmp_path / "f.lab.json", endpoints)
    assert load_endpoints(tmp_path / "f.lab.json") == endpoints
    assert (tmp_path / "f.lab.json").stat().st_mode & 0o777 == 0o600


def test_a_nornir_hosts_file_is_a_list_of_endpoints(tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text(
        "leaf1: {hostname: 192.0.2.1, port: 22, platform: frr, data: {credentials: 'env:RF_TEST', site: x}}\n"
    )
    assert load_endpoints(tmp_path / "hosts.yml").nodes == (ONE,)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[]", "the file contains no mapping. Name an endpoints file or a Nornir hosts.yml."),
        ("leaf1: {platform: frr}", "f:1: leaf1: has no hostname. Add its hostname."),
        ("leaf1: {hostname: h}", "f:1: leaf1: has no platform. Add its platform."),
        ('{"version": 9, "nodes": []}', "is not a list of endpoints (version is 9, not 1)"),
        ("a: [", "invalid YAML (while parsing a flow node). Correct its syntax."),
        ("a: " + 5_000 * "[", "invalid YAML (the nesting exceeds 60 levels). Correct its syntax."),
        ("leaf1: x", "is not a list of endpoints (leaf1 is not a mapping)"),
        ("leaf1: {hostname: h, platform: frr, port: 0}", "leaf1: port 0 is not a port number. Use 1 to 65535."),
        ("leaf1: {hostname: h, platform: frr, data: {gnmi_port: a}}", "leaf1: gnmi_port 'a' is not a port number."),
        ("leaf1: {hostname: [1], platform: frr}", "leaf1: hostname [1] is not a text. Write a text."),
        ("leaf1: {hostname: h, platform: frr, data: {ca: 7}}", "leaf1: ca 7 is not a path. Name a file."),
        (
            "leaf1: {hostname: h, platform: frr, data: {skip_verify: yes please}}",
            "skip_verify 'yes please' is not a boolean. Use true or false.",
        ),
    ],
)
def test_a_file_without_endpoints_is_an_error(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "f").write_text(text)
    with pytest.raises(EndpointError) as caught:
        load_endpoints(tmp_path / "f")
    assert line in str(caught.value)


def test_a_duplicate_switch_is_an_error(tmp_path: Path) -> None:
    save_endpoints(tmp_path / "f.json", Endpoints(fabric="f", backend="netns", nodes=(ONE, ONE)))
    with pytest.raises(EndpointError, match=r"f\.json: duplicate names: leaf1\. Keep one entry of each\."):
        load_endpoints(tmp_path / "f.json")


def test_a_list_without_switches_is_an_error(repository: Path, tmp_path: Path) -> None:
    save_endpoints(tmp_path / "f.json", Endpoints(fabric="pod64", backend="twin", nodes=()))
    with pytest.raises(EndpointError, match=r"f\.json: lists no switch\. Name a file with switches in it\."):
        resolve_endpoints(
            design(repository / "inventory" / "fabrics" / "pod64.yml"), str(tmp_path / "f.json"), tmp_path
        )


def test_switches_of_another_fabric_are_not_touched_though_their_names_are_ours(
    repository: Path, tmp_path: Path
) -> None:
    node = Endpoint(name="pod1-spine1", platform="srlinux", host="127.0.0.1", gnmi_port=1)
    save_endpoints(tmp_path / "f.json", Endpoints(fabric="pod64", backend="twin", nodes=(node,)))
    with pytest.raises(EndpointError, match=r"f\.json: is of fabric pod64, not of frr-pod\. Name the file of this fab"):
        resolve_endpoints(design(repository / "labs" / "frr-pod" / "intent.yml"), str(tmp_path / "f.json"), tmp_path)


def test_the_state_file_of_a_killed_twin_is_an_error(repository: Path, tmp_path: Path) -> None:
    node = Endpoint(name="pod1-spine1", platform="srlinux", host="127.0.0.1", gnmi_port=1)
    save_endpoints(tmp_path / "pod64.twin.json", Endpoints(fabric="pod64", backend="twin", nodes=(node,)))
    with pytest.raises(
        EndpointError,
        match=r"no switch of the twin answers; its state file is stale\. Start the twin",
    ):
        resolve_endpoints(design(repository / "inventory" / "fabrics" / "pod64.yml"), "twin", tmp_path)


def test_a_misspelt_term_is_refused_also_behind_an_exclamation_mark() -> None:
    words = ["leaf", "pod1-seg1-leaf1"]
    assert unmatched_terms("leaf&!pod1-seg1-leaf1,pod1-*", words) == []
    assert unmatched_terms("leaf&!pod1-seg1-leaf9, spin*", words) == ["!pod1-seg1-leaf9", "spin*"]


def test_credentials_come_from_the_environment_or_a_file_and_never_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EndpointError, match="leaf1: the environment lacks RF_TEST_USERNAME and RF_TEST_PASSWORD"):
        read_credentials(ONE)
    monkeypatch.setenv("RF_TEST_USERNAME", "u")
    monkeypatch.setenv("RF_TEST_PASSWORD", "sesame")
    assert read_credentials(ONE) == Credentials("u", "sesame")
    assert "sesame" not in repr(read_credentials(ONE))
    (tmp_path / "c.yml").write_text("username: u\npassword: sesame\n")
    from dataclasses import replace

    assert read_credentials(replace(ONE, credentials=str(tmp_path / "c.yml"))) == Credentials("u", "sesame")
    absent = r"none\.yml contains no credentials \(no such file or directory\)\. Write username and password into it"
    with pytest.raises(EndpointError, match=absent):
        read_credentials(replace(ONE, credentials=str(tmp_path / "none.yml")))
    (tmp_path / "empty.yml").touch()
    with pytest.raises(EndpointError, match=r"empty\.yml contains no credentials\. Write username and password"):
        read_credentials(replace(ONE, credentials=str(tmp_path / "empty.yml")))


def test_of_a_longer_list_only_this_fabrics_switches_count_on_the_platforms_that_the_intent_names(
    repository: Path, tmp_path: Path
) -> None:
    fabric = design(repository / "labs" / "srl-pod" / "intent.yml")
    (tmp_path / "hosts.yml").write_text(
        "pod1-spine1: {hostname: 192.0.2.1, platform: nokia_srlinux, data: {credentials: 'env:RF_TEST'}}\n"
        "elsewhere: {hostname: 192.0.2.2, platform: nokia_srlinux, data: {credentials: 'env:RF_TEST'}}\n"
    )
    found = resolve_endpoints(fabric, str(tmp_path / "hosts.yml"), tmp_path, "pod1-spine1").nodes
    assert [(node.name, node.platform) for node in found] == [("pod1-spine1", "srlinux")]


@pytest.mark.parametrize(
    ("files", "place", "written"),
    [
        ({"hosts.yml": "pod1-spine1: {hostname: h, platform: srlunix}\n"}, "hosts.yml:1", "srlunix"),
        ({"hosts.yml": "pod1-spine1:\n  hostname: h\n  platform: eos\n"}, "hosts.yml:3", "eos"),
        (
            {"hosts.yml": "pod1-spine1: {hostname: h, groups: [g]}\n", "groups.yml": "g:\n  platform: arista_eos\n"},
            "groups.yml:2",
            "arista_eos",
        ),
        (
            {"hosts.yml": "pod1-spine1: {hostname: h}\n", "defaults.yml": "port: 22\nplatform: linux\n"},
            "defaults.yml:2",
            "linux",
        ),
        (
            {
                "hosts.yml": "{version: 1, fabric: srl-pod, backend: inventory, "
                "nodes: [{name: pod1-spine1, platform: frr, host: h}]}\n"
            },
            "hosts.yml",
            "frr",
        ),
    ],
)
def test_a_platform_that_is_not_that_of_the_intent_is_an_error_at_its_place(
    repository: Path, tmp_path: Path, files: dict[str, str], place: str, written: str
) -> None:
    fabric = design(repository / "labs" / "srl-pod" / "intent.yml")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(EndpointError) as refused:
        resolve_endpoints(fabric, str(tmp_path / "hosts.yml"), tmp_path, "pod1-spine1")
    assert str(refused.value) == (
        f"{tmp_path / place}: pod1-spine1: platform {written!r} is not srlinux, that of the intent. "
        "Write srlinux, or correct the intent."
    )


def test_a_name_that_another_tool_has_for_several_platforms_is_taken_for_that_of_the_intent(
    repository: Path, tmp_path: Path
) -> None:
    fabric = design(repository / "labs" / "frr-pod" / "intent.yml")
    (tmp_path / "hosts.yml").write_text("pod1-spine1: {hostname: h, platform: linux}\n")
    (node,) = resolve_endpoints(fabric, str(tmp_path / "hosts.yml"), tmp_path, "pod1-spine1").nodes
    assert node.platform == "frr"

"""Names of hosts in a cluster: each GPU server of the plan once, else one line for each fault with file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.documents.designs import topology

from railfab.errors import RailfabError
from railfab.exports import read_host_names

PLAN = topology("single-switch")
HOSTS = [node.name for node in PLAN.hosts()]
GIVEN = {host: f"gpu{number:02}" for number, host in enumerate(HOSTS, start=1)}


def file_of(folder: Path, suffix: str, lines: list[str]) -> Path:
    path = folder / f"names{suffix}"
    path.write_text("\n".join((*lines, "")))
    return path


@pytest.mark.parametrize("heading", [[], ["plan,cluster"], ["# the first rack", ""]])
def test_a_csv_file_gives_a_name_to_each_host(heading: list[str], tmp_path: Path) -> None:
    lines = [*heading, *(f"{host}, {name}" for host, name in GIVEN.items())]
    names = read_host_names(file_of(tmp_path, ".csv", lines), PLAN)
    assert names.of(HOSTS) == list(GIVEN.values())


@pytest.mark.parametrize("suffix", [".yml", ".json", ""])
def test_another_file_is_yaml(suffix: str, tmp_path: Path) -> None:
    content = json.dumps(GIVEN) if suffix == ".json" else "\n".join(f"{host}: {name}" for host, name in GIVEN.items())
    names = read_host_names(file_of(tmp_path, suffix, [content]), PLAN)
    assert names.of(HOSTS) == list(GIVEN.values())


def test_names_are_as_they_are_written(tmp_path: Path) -> None:
    written = ["007", "on", "1e3"]
    lines = [f"{host}: {name}" for host, name in zip(HOSTS, written, strict=True)]
    assert read_host_names(file_of(tmp_path, ".yml", lines), PLAN).of(HOSTS) == written


FAULTS = {
    "a host with an empty name": (
        [f"{host}:" for host in HOSTS[:1]] + [f"{host}: {name}" for host, name in list(GIVEN.items())[1:]],
        "names.yml:1: '' is no host name. Use letters, digits, hyphens and dots.",
    ),
    "a host with a list": (
        [f"{HOSTS[0]}: [a]"] + [f"{host}: {name}" for host, name in list(GIVEN.items())[1:]],
        "names.yml:1: '' is no host name. Use letters, digits, hyphens and dots.",
    ),
    "a host that the plan does not have": (
        [*(f"{host}: {name}" for host, name in GIVEN.items()), "pod9-seg1-host1: gpu99"],
        f"names.yml:{len(HOSTS) + 1}: the plan has no GPU server 'pod9-seg1-host1'. Use its name in the plan",
    ),
    "a host without a name": (
        [f"{host}: {name}" for host, name in list(GIVEN.items())[1:]],
        f"names.yml: 1 GPU server of the plan has no name ({HOSTS[0]}). Give a name to each, or leave out the file.",
    ),
    "a name of two hosts": (
        [f"{host}: gpu1" for host in HOSTS],
        "names.yml:2: 'gpu1' is on line 1 already. Name each host once.",
    ),
    "a host that is there twice": (
        [f"{host}: {name}" for host, name in GIVEN.items()] + [f"{HOSTS[0]}: gpu77"],
        f"names.yml:{len(HOSTS) + 1}: invalid YAML",
    ),
    "no host name": (
        [f"{host}: gpu_{number}!" for number, host in enumerate(HOSTS)],
        "names.yml:1: 'gpu_0!' is no host name. Use letters, digits, hyphens and dots.",
    ),
    "no mapping": (["- gpu1"], "names.yml: the file contains no mapping. Give a line `PLAN: CLUSTER` for each host."),
    "no YAML": (["a: [1"], "names.yml:2: invalid YAML"),
}
"""Files of names, and how the first line about them begins."""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_one_line_with_its_place(fault: str, tmp_path: Path) -> None:
    lines, expected = FAULTS[fault]
    with pytest.raises(RailfabError) as refused:
        read_host_names(file_of(tmp_path, ".yml", lines), PLAN)
    assert str(refused.value).splitlines()[0].startswith(f"{tmp_path}/{expected}")


def test_a_row_that_is_no_pair_is_named_by_its_line(tmp_path: Path) -> None:
    lines = [f"{host},{name}" for host, name in GIVEN.items()]
    path = file_of(tmp_path, ".csv", [lines[0], f"{lines[1]},rack 7", *lines[2:]])
    with pytest.raises(RailfabError, match=r"names\.csv:2: 3 columns are no pair of names\. Give the name in the plan"):
        read_host_names(path, PLAN)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RailfabError, match=r"names\.yml: no such file\. Name a YAML or CSV file of host names\.$"):
        read_host_names(tmp_path / "names.yml", PLAN)

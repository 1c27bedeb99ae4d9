"""A plan's folder: complete, the same every time, and nothing of anybody else's touched."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from railfab.documents import Plan, planned
from railfab.documents.folder import write_documents
from railfab.documents.plan_json import document
from railfab.errors import Problems, RailfabError, TopologyError, UnsupportedFeature

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
POD64 = FABRICS / "pod64.yml"
TABLES = (
    "addresses.csv",
    "as-numbers.csv",
    "bill-of-materials.csv",
    "cabling.csv",
    "failure-domains.csv",
    "gpu-count.csv",
    "power.csv",
    "subnets.csv",
)
NICS = ("hosts/nic.py", "hosts/nic.json", "hosts/railfab-nic.service")


def files(folder: Path) -> dict[str, str]:
    """Every file below a folder, with its text."""
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def changed(tmp_path: Path, *edits: tuple[str, str]) -> Path:
    """pod64 with some words changed."""
    text = POD64.read_text()
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "changed.yml"
    path.write_text(text)
    return path


def test_a_folder_holds_summary_picture_tables_and_a_batch_a_host(tmp_path: Path) -> None:
    told: list[str] = []
    written = write_documents(planned(POD64), tmp_path / "out", told.append)
    hosts = {f"hosts/pod1-seg{segment}-host{host}.batch" for segment in (1, 2) for host in (1, 2, 3, 4)}
    assert set(files(tmp_path / "out")) == {"summary.md", "topology.svg", *TABLES, *hosts, *NICS}
    assert set(written) == {path for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert told[0] == "summary.md"
    assert told[-1] == "hosts/"
    for name in TABLES:
        rows = list(csv.reader((tmp_path / "out" / name).open()))
        assert len(rows) > 1, name
        assert {len(row) for row in rows} == {len(rows[0])}, name


@pytest.mark.parametrize("name", ["pod64", "dual-esi", "dual-plane", "cluster"])
def test_the_same_intent_gives_the_same_bytes(tmp_path: Path, name: str) -> None:
    for folder in ("first", "second"):
        write_documents(planned(FABRICS / f"{name}.yml"), tmp_path / folder)
    assert files(tmp_path / "first") == files(tmp_path / "second")


def test_others_files_stay_and_batches_of_hosts_that_are_gone_go(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_documents(planned(POD64), out)
    (out / "notes.txt").write_text("mine\n")
    (out / "hosts" / "mine.batch").write_text("# mine: written by hand\n")
    (out / "cabling.csv").write_text("of yesterday\n")
    smaller = planned(changed(tmp_path, ("    hosts: 4", "    hosts: 3")))
    write_documents(smaller, out)
    found = files(out)
    assert found["notes.txt"] == "mine\n"
    assert "hosts/mine.batch" in found
    assert "hosts/pod1-seg1-host4.batch" not in found
    assert "hosts/pod1-seg1-host3.batch" in found
    assert len(found["cabling.csv"].splitlines()) == 1 + len(smaller.topology.links)


def test_nic_settings_of_an_earlier_plan_go_with_the_lossless_class(tmp_path: Path) -> None:
    """Files of these names that `plan` did not write stay; one that it wrote once goes."""
    out = tmp_path / "out"
    write_documents(planned(POD64), out)
    assert set(NICS) <= set(files(out))
    (out / "hosts" / "nic.json").write_text("{}\n")
    (out / "hosts" / "nccl.env").write_text("# NCCL and RCCL on every host\n")
    lossy = changed(tmp_path, ("  lossless: {dscp: 26, priority: 3, cnp_dscp: 48}", "  lossless: off"))
    write_documents(planned(lossy), out)
    assert set(NICS) & set(files(out)) == {"hosts/nic.json"}
    assert "hosts/nccl.env" not in files(out)
    assert "nic.py" not in files(out)["summary.md"]


@pytest.mark.parametrize("name", ["topology.svg", "hosts/nic.json"])
def test_what_cannot_be_written_leaves_the_folder_as_it_was(tmp_path: Path, name: str) -> None:
    """A folder stands where one of the last documents belongs."""
    out, plan = tmp_path / "out", planned(POD64)
    (out / name).mkdir(parents=True)
    (out / "cabling.csv").write_text("of yesterday\n")
    with pytest.raises(
        RailfabError, match=rf"^{re.escape(str(out))}: the folder cannot be written \(is a directory\)\. Use "
    ):
        write_documents(plan, out)
    assert files(out) == {"cabling.csv": "of yesterday\n"}
    assert {path.name for path in out.iterdir()} == {"cabling.csv", Path(name).parts[0]}
    beside = tmp_path / "file"
    beside.touch()
    with pytest.raises(RailfabError, match=r"cannot be written \(not a directory\)"):
        write_documents(plan, beside / "below")
    with pytest.raises(RailfabError, match=r"cannot be written \(file exists\)"):
        write_documents(plan, beside)


def test_the_summary_says_what_it_is_and_links_to_what_is_there(tmp_path: Path) -> None:
    write_documents(planned(POD64), tmp_path)
    text = (tmp_path / "summary.md").read_text()
    assert text.startswith("# pod64\n\n64 GPUs on 8 hosts, 8 switches, 160 cables, 8 rails. A pod of 2 tiers; ")
    linked = set(re.findall(r"\]\(([^)]+)\)", text))
    assert linked == {"topology.svg", *TABLES}
    for line in (
        "| backend | 1 | leaf | 4 | 3.2 | 3.2 | 1.00:1 |",
        "| pod1-seg1-leaf1 and 3 more | 8 x 400g-40m | 540 | 1620 | 10 % | 2160 | 775.3 |",
        "At most 89.5 kW in 5 racks; at most 40.9 kW in one rack, for example pod1-seg1-r1.",
        "None.",
        "Up to 768 GPUs, without a change of any name, port, address or AS number.",
    ):
        assert line in text.splitlines()


def test_the_summary_says_what_stated_traffic_saves(tmp_path: Path) -> None:
    lossless = "lossless: {dscp: 26, traffic: {packet_bytes: 4096, message_bytes: 64kB}"
    plan = planned(changed(tmp_path, ("lossless: {dscp: 26", lossless)))
    write_documents(plan, tmp_path / "out")
    assert plan.buffers[0].plan.saved_bytes > 0
    summary = (tmp_path / "out/summary.md").read_text()
    assert f"lossless, which saves {plan.buffers[0].plan.saved_bytes / 1e6:,.1f} MB" in summary


def test_a_fabric_without_a_lossless_class_has_no_thresholds(tmp_path: Path) -> None:
    plan = planned(changed(tmp_path, ("  lossless: {dscp: 26, priority: 3, cnp_dscp: 48}", "  lossless: off")))
    write_documents(plan, tmp_path / "out")
    assert plan.buffers == ()
    assert "No class is lossless.\n" in (tmp_path / "out/summary.md").read_text()
    assert load(plan)["thresholds"] == {}


def load(plan: Plan) -> dict[str, object]:
    found: dict[str, object] = json.loads("".join(document(plan)))
    return found


def test_json_holds_nodes_links_and_what_the_documents_say() -> None:
    found = json.loads("".join(document(planned(POD64))))
    assert (found["fabric"], found["gpus"], len(found["nodes"]), len(found["links"])) == ("pod64", 64, 16, 160)
    link = found["links"][0]
    assert (link["a"]["node"], link["a"]["address"], link["rate_gbps"]) == ("pod1-seg1-host1", "10.17.0.1/31", 100)
    assert (link["media"], link["label"]) == (
        "100G AEC 2 x 50G",
        "pod1-seg1-host1:rail1-p0--pod1-seg1-leaf1:ethernet-1/1/1",
    )
    leaf = found["nodes"][8]
    assert (leaf["name"], leaf["role"], leaf["loopback"], len(leaf["breakouts"])) == (
        "pod1-seg1-leaf1",
        "leaf",
        "10.255.1.1",
        8,
    )
    assert found["thresholds"]["pod1-spine4"][0]["kmin_bytes"] == 540_000
    assert found["racks"][0] == {"node": "pod1-seg1-host1", "rack": "pod1-seg1-r1", "unit": 1, "units": 8}
    assert found["power"][0]["power_w"] == 40_928
    assert found["gpu_count"][2]["gpus"] == 11
    assert found["growth"][0] == {"what": "hosts of a segment", "now": 4, "room": 12}
    assert found["findings"] == []


@pytest.mark.parametrize("path", sorted(FABRICS.glob("[!g]*.yml")), ids=lambda path: path.stem)
def test_every_design_is_documented_and_read_back(tmp_path: Path, path: Path) -> None:
    """Also those whose platforms are not rendered yet."""
    plan = planned(path)
    write_documents(plan, tmp_path)
    found = load(plan)
    assert len(found["nodes"]) == len(plan.topology.nodes)  # type: ignore[arg-type]
    assert (tmp_path / "hosts" / f"{plan.topology.hosts()[0].name}.batch").is_file()


def test_all_reasons_why_a_fabric_cannot_be_built_name_the_file(tmp_path: Path) -> None:
    path = changed(tmp_path, ("count: 4", "count: 6"))
    with pytest.raises(TopologyError, match=rf"^{re.escape(str(path))}:24: backend\.spines\.count: the 16 uplinks of"):
        planned(path)


def test_what_a_known_platform_cannot_do_is_said_though_nothing_is_rendered(tmp_path: Path) -> None:
    path = changed(tmp_path, ("7220-ixr-d5", "linux-64"), ("srlinux", "frr"))
    with pytest.raises(Problems) as caught:
        planned(path)
    assert {type(error) for error in caught.value.errors} == {UnsupportedFeature}
    assert str(caught.value).splitlines()[0] == (
        f"{path}:12: pod1-seg1-leaf1: platform frr does not support pfc. "
        f"Choose another platform, or change profile.lossless.pfc in the intent."
    )


def test_an_unknown_host_model_is_said(tmp_path: Path) -> None:
    path = changed(tmp_path, ("hosts: {gpus: 8", "hosts: {model: dgx-h1000, gpus: 8"))
    with pytest.raises(TopologyError, match=rf"^{re.escape(str(path))}:13: hosts\.model: 'dgx-h1000' is not in the"):
        planned(path)


def test_an_unknown_nic_is_said_with_similar_names(tmp_path: Path) -> None:
    path = changed(tmp_path, ("nic: connectx-6-dx", "nic: connectx7"))
    with pytest.raises(
        TopologyError, match=r":13: hosts\.nic: 'connectx7' is not in the catalogue of NICs\. Did you mean 'connectx-7'"
    ):
        planned(path)


def test_without_a_nic_model_there_is_a_note_that_names_the_key(tmp_path: Path) -> None:
    (finding,) = planned(changed(tmp_path, (", nic: connectx-6-dx", ""))).findings
    assert finding.line == (
        "note hosts.nic: no NIC model is stated, so hosts/nic.py configures every NIC that it knows. "
        "State the model, for example nic: connectx-6, so that others are refused. [nic-model]"
    )


def test_ports_faster_than_the_nic_are_an_error(tmp_path: Path) -> None:
    text = (FABRICS / "single-switch.yml").read_text().replace("rate_gbps: 200", "rate_gbps: 400")
    path = tmp_path / "fast.yml"
    path.write_text(text.replace("nic: connectx-7", "nic: connectx-6"))
    found = [finding.line for finding in planned(path).findings if finding.code == "nic-speed"]
    assert found == [
        "error hosts.nic: a port of a ConnectX-6 has at most 200 Gb/s, not 400. "
        "Use another NIC or another hosts.rate_gbps. [nic-speed]"
    ]


def test_findings_of_all_rooms_are_said_together(tmp_path: Path) -> None:
    """Oversubscribed, ECN off, and racks that are too full."""
    path = changed(
        tmp_path,
        ("links_per_leaf: 2", "links_per_leaf: 1"),
        ("lossless: {dscp: 26", "lossless: {ecn: false, dscp: 26"),
        ("hosts: {gpus: 8", "hosts: {model: dgx-b200, per_rack: 8, gpus: 8"),
        ("    hosts: 4", "    hosts: 8"),
    )
    found = planned(path).findings
    severities = [finding.severity for finding in found]
    assert severities == sorted(severities, key=["error", "warning"].index)
    said = [str(finding) for finding in found]
    assert any("share" in line and ":1)" in line for line in said)
    assert sum("the lossless class has PFC without ECN" in line for line in said) == 1
    assert any(line.startswith("hosts.per_rack: 8 hosts of 10 U need 80 U, and a rack has 48 U.") for line in said)

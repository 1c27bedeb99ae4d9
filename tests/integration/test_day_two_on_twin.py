"""Drift, reconcile, cabling and snapshots on the twin: what a user sees, also where half of it does not answer."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import commands
from tests.docs.schemas import conforming
from tests.integration.day_two import Configurations, Railfab, cases, configurations_of, half_unreachable, runner
from tests.twin.small_fabric import (
    DOWNLINK,
    INTENT,
    LEAF,
    OTHER_LEAF,
    OTHER_SPINE,
    OTHER_UPLINK,
    SPINE,
    UPLINK,
)
from tests.twin.twins import until

from railfab.endpoints import load_endpoints
from railfab.fabric import design
from railfab.twin import Twin, connect

SWITCHES = [LEAF, OTHER_LEAF, SPINE, OTHER_SPINE]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("day-two")
    (folder / "intent.yml").write_text(INTENT)
    (folder / ".railfab").symlink_to(folder)
    return folder


@pytest.fixture(scope="module")
def twin(folder: Path) -> Iterator[Twin]:
    with Twin(design(folder / "intent.yml"), state=folder, base_port=0, configured=True) as running:
        yield running


@pytest.fixture(scope="module")
def configured(twin: Twin, folder: Path) -> Configurations:
    return configurations_of(twin, folder)


@pytest.fixture
def railfab(configured: Configurations, folder: Path) -> Iterator[Railfab]:
    """Runs a command on the twin; brings it to the intent after the test."""
    yield runner(folder)
    configured.restore()


def states(railfab: Railfab, *arguments: str | Path) -> dict[str, str]:
    document = conforming("drift", railfab("drift", "--output", "json", *arguments).stdout)
    return {switch["name"]: switch["state"] for switch in document["switches"]}


def test_a_switch_that_drifted_is_named_and_reconcile_changes_it_and_no_other(
    railfab: Railfab, folder: Path, configured: Configurations
) -> None:
    in_step = railfab("drift")
    assert (in_step.returncode, in_step.stderr) == (0, "")
    assert in_step.stdout.endswith("4 of 4 switches read: 4 in step\n")
    configured.drift(SPINE)
    found = railfab("drift", "--junit", folder / "drift.xml")
    assert (found.returncode, found.stderr) == (1, "")
    first, *table = found.stdout.splitlines()
    assert first.startswith(f"error {SPINE}: interfaces[ethernet-1/1].mtu_bytes: is 9000, the intent says 9216")
    assert table[-1] == "4 of 4 switches read: 3 in step, 1 drifted"
    assert max(map(len, table)) <= 80
    assert cases(folder / "drift.xml") == {**dict.fromkeys(SWITCHES, "passed"), SPINE: "failure"}
    assert states(railfab) == {**dict.fromkeys(SWITCHES, "in step"), SPINE: "drifted"}
    planned = conforming("reconcile", railfab("reconcile", "--plan", "--output", "json").stdout)
    assert [(switch["name"], switch["changed"]) for switch in planned] == [(SPINE, True)]
    done = conforming("reconcile", railfab("reconcile", "--yes", "--output", "json").stdout)
    assert [(switch["name"], switch["changed"], switch["failed"]) for switch in done] == [(SPINE, True, False)]
    again = railfab("reconcile", "--yes", "--junit", folder / "again.xml")
    assert cases(folder / "again.xml") == dict.fromkeys(SWITCHES, "passed")
    assert (again.returncode, again.stdout) == (0, "4 of 4 switches read: 4 in step\n")
    assert railfab("reconcile", "--yes", "--output", "json").stdout == "[]\n"


def test_a_switch_that_does_not_answer_is_unknown_and_never_in_step(
    railfab: Railfab, folder: Path, configured: Configurations
) -> None:
    half = ("--on", half_unreachable(folder, OTHER_LEAF, OTHER_SPINE))
    quiet = railfab("drift", *half, "--junit", folder / "half.xml")
    assert quiet.returncode == 2
    assert quiet.stdout.endswith("2 of 4 switches read: 2 in step, 2 unknown\n")
    lines = quiet.stderr.splitlines()
    assert [line.split(": ")[1] for line in lines] == [OTHER_LEAF, OTHER_SPINE]
    assert all("no answer from" in line for line in lines)
    assert cases(folder / "half.xml") == {
        **dict.fromkeys(SWITCHES, "passed"),
        **dict.fromkeys((OTHER_LEAF, OTHER_SPINE), "error"),
    }
    configured.drift(SPINE, OTHER_SPINE)
    found = railfab("drift", *half)
    assert (found.returncode, len(found.stderr.splitlines())) == (1, 2)
    assert states(railfab, *half) == {
        LEAF: "in step",
        OTHER_LEAF: "unknown",
        SPINE: "drifted",
        OTHER_SPINE: "unknown",
    }
    partly = railfab("reconcile", *half, "--yes", "--junit", folder / "partly.xml")
    assert cases(folder / "partly.xml") == cases(folder / "half.xml")
    assert partly.returncode == 1
    assert all(f"railfab: {name}: no answer from " in partly.stderr for name in (OTHER_LEAF, OTHER_SPINE))
    assert states(railfab) == {**dict.fromkeys(SWITCHES, "in step"), OTHER_SPINE: "drifted"}
    nobody = railfab("reconcile", *half, "--yes")
    assert (nobody.returncode, nobody.stdout) == (2, "2 of 4 switches read: 2 in step, 2 unknown\n")


def test_a_switch_without_an_address_counts_and_is_unknown(railfab: Railfab, folder: Path) -> None:
    inventory = folder / "hosts.yml"
    by_name = load_endpoints(folder / "small.twin.json").by_name()
    inventory.write_text(
        "\n".join(
            f"{name}: {{hostname: 127.0.0.1, platform: srlinux, data: {{gnmi_port: {node.gnmi_port}, "
            f"ca: {node.ca}, credentials: {node.credentials}}}}}"
            for name, node in by_name.items()
            if name != LEAF
        )
    )
    found = railfab("drift", "--on", inventory)
    assert found.returncode == 2
    assert found.stdout.endswith("3 of 4 switches read: 3 in step, 1 unknown\n")
    assert found.stderr == f"railfab: {LEAF}: has no address. Add what is missing.\n"


def test_a_drain_by_a_verb_is_named_and_no_drift(railfab: Railfab) -> None:
    assert railfab("drain", SPINE).returncode == 0
    found = railfab("drift")
    assert railfab("undrain", SPINE).returncode == 0
    assert (found.returncode, found.stderr) == (0, "")
    assert f"\n{SPINE}: is drained by railfab drain, which is no drift\n" in found.stdout


def test_two_exchanged_cables_are_one_pair_of_plugs_to_swap(railfab: Railfab, twin: Twin, folder: Path) -> None:
    right = railfab("cabling")
    assert (right.returncode, right.stderr) == (0, "")
    twin.exchange_cables((SPINE, DOWNLINK), (SPINE, "ethernet-1/2"))
    try:
        found = railfab("cabling", "--junit", folder / "cabling.xml")
        half = railfab("cabling", "--on", half_unreachable(folder, SPINE, OTHER_SPINE), "--output", "json")
        quarter = railfab("cabling", "--on", half_unreachable(folder, LEAF, SPINE))
        verified = conforming("verify", railfab("verify", "--wait", "0", "--output", "json").stdout)
    finally:
        twin.exchange_cables((SPINE, DOWNLINK), (SPINE, "ethernet-1/2"))
    swap = (
        f"error {SPINE} {DOWNLINK} and {SPINE} ethernet-1/2: are swapped: the first is cabled to "
        f"{OTHER_LEAF} {UPLINK}, the other to {LEAF} {UPLINK}. Swap the two plugs. [cables-swapped]"
    )
    assert found.returncode == 1
    assert found.stdout.splitlines()[0] == swap
    assert [line for line in found.stdout.splitlines() if "error" in line] == [swap]
    judged = cases(folder / "cabling.xml")
    failing = {name for name, outcome in judged.items() if outcome == "failure"}
    assert failing == {f"{LEAF} {UPLINK} - {SPINE} {DOWNLINK}", f"{OTHER_LEAF} {UPLINK} - {SPINE} ethernet-1/2"}
    document = conforming("cabling", half.stdout)
    assert half.returncode == 1
    assert [[plug["interface"] for plug in pair] for pair in document["swaps"]] == [[DOWNLINK, "ethernet-1/2"]]
    assert [switch["name"] for switch in document["unread"]] == [SPINE, OTHER_SPINE]
    assert document["proved"] + document["wrong"] + document["unknown"] == len(document["links"])
    assert verified["cabling"]["wrong"] == document["wrong"] == 2
    assert f"is cabled to {SPINE} {DOWNLINK}, the intent says {SPINE} ethernet-1/2. Move the cable." in quarter.stdout
    assert f"switches not read: {LEAF} " in quarter.stdout


def test_cabling_of_which_half_is_not_read_is_unknown(railfab: Railfab, folder: Path) -> None:
    half = railfab("cabling", "--on", half_unreachable(folder, LEAF, SPINE, OTHER_SPINE), "--junit", folder / "c.xml")
    assert half.returncode == 2
    assert [line.split(": ")[1] for line in half.stderr.splitlines()] == [LEAF, SPINE, OTHER_SPINE]
    outcomes = cases(folder / "c.xml")
    assert outcomes[f"{OTHER_LEAF} {UPLINK} - {SPINE} ethernet-1/2"] == "passed"
    assert outcomes[f"{LEAF} {UPLINK} - {SPINE} {DOWNLINK}"] == "error"


def test_audit_and_verify_write_junit_too(railfab: Railfab, folder: Path, configured: Configurations) -> None:
    configured.drift(SPINE)
    for verb, *options in (("audit",), ("verify", "--wait", "0")):
        assert railfab(verb, *options, "--junit", folder / f"{verb}.xml").returncode == 1
        assert cases(folder / f"{verb}.xml")[SPINE] == "failure"
        assert cases(folder / f"{verb}.xml").keys() >= set(SWITCHES)


def test_changes_write_junit_and_their_previews_none(
    railfab: Railfab, folder: Path, configured: Configurations
) -> None:
    configured.drift(SPINE)
    for verb in ("deploy", "rollback"):
        assert railfab(verb, "--yes", "--junit", folder / f"{verb}.xml").returncode == 0
        assert cases(folder / f"{verb}.xml")[SPINE] == "passed"
    refused = railfab("deploy", "--plan", "--junit", folder / "plan.xml")
    assert (refused.returncode, (folder / "plan.xml").exists()) == (2, False)
    assert "--plan changes nothing: leave out --junit." in refused.stderr


@pytest.mark.parametrize("verb", ["drift", "cabling", "reconcile"])
def test_the_playbook_does_the_same(
    railfab: Railfab, folder: Path, repository: Path, verb: str, configured: Configurations
) -> None:
    configured.drift(SPINE)
    yes = ("--yes",) if verb == "reconcile" else ()
    words = ("intent.yml", "--on", "twin", *yes)
    done = commands.run(*words, cwd=folder, timeout_s=120, program=repository / "playbooks" / f"{verb}.py")
    code, last = {
        "drift": (1, "4 of 4 switches read, 1 drifted"),
        "cabling": (0, ""),
        "reconcile": (0, "4 switches: 1 drifted, 1 changed"),
    }[verb]
    assert (done.returncode, done.stderr) == (code, "")
    assert last in done.stdout.splitlines()[-1]


def compared(railfab: Railfab, before: str, *arguments: str | Path) -> Any:
    """What `diff` says of a snapshot and the switches now."""
    done = railfab("diff", "intent.yml", *arguments, "--output", "json", intent=before)
    assert done.returncode in (0, 1, 2), done.stderr
    return conforming("diff", done.stdout)


def ends_lost(document: Any) -> set[str]:
    """The switches that have lost a session."""
    return {switch["name"] for switch in document["switches"] if any("lost" in line for line in switch["sessions"])}


def test_a_snapshot_says_what_is_different_and_a_rollback_returns_to_it(
    railfab: Railfab, twin: Twin, folder: Path, configured: Configurations
) -> None:
    until(lambda: railfab("verify", "--wait", "0").returncode == 0)  # sessions come back after what tests did before
    taken = railfab("snapshot", "-o", "before")
    assert (taken.returncode, taken.stderr) == (0, "")
    assert taken.stdout.endswith("4 of 4 switches in before\n")
    files = [path for path in (folder / "before").rglob("*") if path.is_file()]
    assert len(files) == 5
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert (folder / "before").stat().st_mode & 0o777 == 0o700
    texts = {name: twin._switches[name].running() for name in SWITCHES}
    equal = railfab("diff", "intent.yml", intent="before")
    assert (equal.returncode, equal.stderr) == (0, "")
    assert equal.stdout.endswith("4 of 4 switches compared: none different\n")
    configured.drift(SPINE)
    control = connect(folder, "small")
    control.set_link(OTHER_SPINE, DOWNLINK, up=False)
    try:
        until(lambda: ends_lost(compared(railfab, "before")) == {LEAF, OTHER_SPINE})
        found = {switch["name"]: switch for switch in compared(railfab, "before")["switches"]}
        shown = railfab("diff", "intent.yml", "--full", intent="before")
    finally:
        control.set_link(OTHER_SPINE, DOWNLINK, up=True)
    assert found[SPINE]["settings"] == ["interface ethernet-1/1, ethernet-1/2: MTU 9216 -> 9000"]
    assert found[LEAF]["links"] == [f"link {OTHER_UPLINK}: up -> down ({OTHER_SPINE} {DOWNLINK})"]
    assert not any(found[OTHER_LEAF][part] for part in ("settings", "sessions", "links", "software", "diff"))
    assert (shown.returncode, shown.stderr) == (1, "")
    assert f"{SPINE}: interface ethernet-1/1, ethernet-1/2: MTU 9216 -> 9000\n" in shown.stdout
    assert found[SPINE]["diff"] in shown.stdout
    assert shown.stdout.endswith("4 of 4 switches compared: 3 different\n")
    back = railfab("rollback", "--to", "before", "--yes")
    assert (back.returncode, back.stderr) == (0, "")
    assert back.stdout.endswith("4 of 4 switches: 1 changed\n")
    assert {name: twin._switches[name].running() for name in SWITCHES} == texts


def test_a_snapshot_without_some_switches_names_them_and_leaves_them_alone(
    railfab: Railfab, folder: Path, configured: Configurations
) -> None:
    half = ("--on", half_unreachable(folder, OTHER_LEAF, OTHER_SPINE))
    taken = railfab("snapshot", "-o", "partly", *half, "--output", "json")
    document = conforming("snapshot", taken.stdout)
    assert taken.returncode == 1
    assert [switch["name"] for switch in document["switches"]] == [LEAF, SPINE]
    assert [switch["name"] for switch in document["unread"]] == [OTHER_LEAF, OTHER_SPINE]
    quiet = railfab("diff", "intent.yml", intent="partly")
    assert quiet.returncode == 2
    assert quiet.stdout.endswith("2 of 4 switches compared: none different\n")
    lines = quiet.stderr.splitlines()
    assert [line.split(": ")[1] for line in lines] == [OTHER_LEAF, OTHER_SPINE]
    assert all("cannot be compared (before: no answer from " in line for line in lines)
    configured.drift(SPINE, OTHER_SPINE)
    back = railfab("rollback", "--to", "partly", "--yes")
    assert back.returncode == 0
    assert [line.partition(": is left as it is: ")[0] for line in back.stderr.splitlines()] == [OTHER_LEAF, OTHER_SPINE]
    assert states(railfab)[SPINE] == "in step"
    assert states(railfab)[OTHER_SPINE] == "drifted"
    nobody = railfab("snapshot", "-o", "nobody", "--on", half_unreachable(folder, *SWITCHES))
    assert (nobody.returncode, nobody.stdout, (folder / "nobody").exists()) == (2, "", False)
    assert len(nobody.stderr.splitlines()) == 4


def test_two_snapshots_are_compared_without_switches_and_a_drain_is_named(
    railfab: Railfab, folder: Path, configured: Configurations
) -> None:
    assert railfab("snapshot", "-o", "one.json").returncode == 0
    assert railfab("drain", SPINE).returncode == 0
    assert railfab("snapshot", "-o", "drained").returncode == 0
    assert railfab("undrain", SPINE).returncode == 0
    found = commands.run("diff", "one.json", "drained", cwd=folder)
    assert (found.returncode, found.stderr) == (1, "")
    assert f"{SPINE}: is drained by railfab drain\n" in found.stdout
    refused = railfab("rollback", "--to", "drained", "--yes")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"railfab: {SPINE}: was drained by railfab drain when the snapshot was taken, and its configuration has the "
        "drain. Drain it first with railfab drain, or leave it out with --limit.\n"
    )
    configured.drift(LEAF)
    assert railfab("drain", SPINE).returncode == 0
    back = railfab("rollback", "--to", "drained", "--yes")
    assert (back.returncode, back.stderr) == (0, "")
    assert states(railfab) == dict.fromkeys(SWITCHES, "in step")
    assert railfab("undrain", SPINE).stdout.endswith("1 undrained\n")
    assert states(railfab) == dict.fromkeys(SWITCHES, "in step")


def spoiled(folder: Path, kind: str) -> tuple[str, str]:
    """A target that no rollback can use, and what is said of it."""
    shutil.copytree(folder / "whole", folder / kind)
    document = folder / kind / "snapshot.json"
    if kind == "cut":
        document.write_text(document.read_text()[:1000])
        return f"{kind}/snapshot.json", "is no snapshot, or a damaged one (Invalid JSON: EOF while parsing "
    if kind == "foreign":
        document.write_text('{"version": 1, "fabric": "small"}')
        return f"{kind}/snapshot.json", "is no snapshot, or a damaged one (format: Field required)."
    if kind == "newer":
        document.write_text(document.read_text().replace("railfab snapshot 1", "railfab snapshot 9"))
        return f"{kind}/snapshot.json", "has the format 'railfab snapshot 9', this release reads 'railfab snapshot 1'."
    if kind == "other":
        document.write_text(document.read_text().replace('"fabric": "small"', '"fabric": "large"'))
        return f"{kind}/snapshot.json", "is of fabric large, not of small."
    if kind == "empty":
        document.unlink()
        return f"{kind}/snapshot.json", "cannot be read (no such file or directory)."
    edited = folder / kind / "configurations" / SPINE
    if kind == "edited":
        edited.write_text(edited.read_text().replace("9216", "9000"))
        return f"{kind}/configurations/{SPINE}", "is not what the switch ran when the snapshot was taken."
    edited.unlink()
    return f"{kind}/configurations/{SPINE}", "cannot be read (no such file or directory)."


def test_a_snapshot_that_is_damaged_or_of_something_else_is_one_line(railfab: Railfab, folder: Path) -> None:
    assert railfab("snapshot", "-o", "whole").returncode == 0
    for kind in ("cut", "foreign", "newer", "other", "empty", "edited", "incomplete"):
        place, problem = spoiled(folder, kind)
        refused = railfab("rollback", "--to", kind, "--plan")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.startswith(f"railfab: {place}: {problem}"), kind
        assert len(refused.stderr.splitlines()) == 1
    assert railfab("rollback", "--to", "edited", "--plan", "--limit", OTHER_SPINE).returncode == 0
    assert railfab("snapshot", "-o", "whole.json").returncode == 0
    refused = railfab("rollback", "--to", "whole.json", "--plan")
    assert refused.stderr == (
        "railfab: whole.json: has configurations without their secrets, to which no switch can return. "
        "Name a folder that railfab snapshot -o DIR has written.\n"
    )
    assert railfab("rollback", "--to", "gone/", "--plan").stderr.startswith("railfab: gone: cannot be read (no such ")
    assert railfab("diff", "whole", intent="whole").stderr == (
        "railfab: whole: is a folder, and with --on the second is the intent of the switches. "
        "Name the intent, or leave out --on.\n"
    )
    taken = railfab("snapshot", "-o", "whole")
    assert (taken.returncode, taken.stdout) == (2, "")
    assert taken.stderr.startswith("railfab: whole: is a folder that exists. Name a new folder with -o, or a file ")
    for place in ("/proc/none/file.json", "/proc/none/folder"):
        unwritten = railfab("snapshot", "-o", place)
        assert (unwritten.returncode, unwritten.stdout) == (2, "")
        assert unwritten.stderr.startswith(f"railfab: {place}: cannot be written (no such file or directory).")


@pytest.mark.parametrize("verb", ["snapshot", "diff"])
def test_the_playbooks_of_snapshots_do_the_same(
    railfab: Railfab, folder: Path, repository: Path, verb: str, configured: Configurations
) -> None:
    program = repository / "playbooks" / "snapshot.py"
    words = ("intent.yml", "--on", "twin", *(("-o", f"by-{verb}") if verb == "snapshot" else ("--since", "since.json")))
    assert railfab("snapshot", "-o", "since.json").returncode == 0
    assert railfab("snapshot", "-o", f"whole-{verb}").returncode == 0
    configured.drift(SPINE)
    done = commands.run(*words, cwd=folder, timeout_s=120, program=program)
    back = ("intent.yml", "--on", "twin", "--to", f"whole-{verb}", "--yes")
    returned = commands.run(*back, cwd=folder, timeout_s=120, program=repository / "playbooks" / "rollback.py")
    assert (returned.returncode, returned.stderr, f"{SPINE}: changed" in returned.stdout) == (0, "", True)
    assert states(railfab)[SPINE] == "in step"
    code, last = {"snapshot": (0, f"4 switches in by-{verb}"), "diff": (1, "4 switches, 1 different")}[verb]
    assert (done.returncode, done.stderr, done.stdout.splitlines()[-1]) == (code, "", last)

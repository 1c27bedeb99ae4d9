"""Deploys in waves on the twin, as an operator lives them: plan, saved plan, pause, resume, abort, history."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from tests import commands
from tests.docs.schemas import conforming
from tests.twin.small_fabric import INTENT, LEAF, OTHER_LEAF, OTHER_SPINE, SPINE
from tests.twin.twins import configurations, configure

from railfab.deploy import Journal
from railfab.deploy.steps import StepKind, StepState
from railfab.endpoints import read_credentials
from railfab.fabric import design
from railfab.platforms import platform
from railfab.twin import Twin

Railfab = Callable[..., subprocess.CompletedProcess[str]]
DUAL_HOMED = INTENT.replace("nic_per: gpu,", "nic_per: gpu, nic_ports: 2,").replace(
    "rail_switches: 1", "rail_switches: 2"
)
THRESHOLDS = DUAL_HOMED.replace("cnp_dscp: 48}", "cnp_dscp: 48, ecn: {400: {kmin_bytes: 400000, kmax_bytes: 1600000}}}")
MTU = DUAL_HOMED.replace("  underlay: unnumbered\n", "  underlay: unnumbered\n  mtu: 9000\n")
PFC_OFF = '"pfc-enable": false'
INTENTS = {"small": DUAL_HOMED, "thresholds": THRESHOLDS, "mtu": MTU}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("waves")
    for name, text in INTENTS.items():
        (folder / f"{name}.yml").write_text(text)
    return folder


@pytest.fixture(scope="module")
def twin(folder: Path) -> Iterator[Twin]:
    with Twin(design(folder / "small.yml"), state=folder, base_port=0, configured=True) as running:
        yield running


@pytest.fixture(scope="module")
def first(twin: Twin) -> Mapping[str, str]:
    """What the switches run with the first intent."""
    return configurations(twin)


@pytest.fixture
def railfab(twin: Twin, first: Mapping[str, str], folder: Path) -> Iterator[Railfab]:
    """Runs a command on the twin; brings the switches back to the first intent after the test.

    Deploys accept that hosts lose a port: the two of a NIC have an address each.
    """

    def run(verb: str, *arguments: str, intent: str = "thresholds") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
        on = () if verb == "history" else ("--on", "twin")
        accepted = ("--accept", "cut") if verb == "deploy" and "off" not in arguments else ()
        words = (verb, f"{intent}.yml", *arguments, *accepted, *on, "--state", str(folder))
        return commands.run(*words, cwd=folder, environment=environment, timeout_s=120)

    yield run
    configure(twin, first)


def assert_run(twin: Twin, texts: Mapping[str, str]) -> None:
    """Each switch runs its text, but for empty containers."""
    differences = platform("srlinux").differences
    for name, text in configurations(twin).items():
        assert [*differences(text, texts[name]), *differences(texts[name], text)] == [], name


def test_the_waves_are_shown_and_nothing_is_changed(railfab: Railfab, twin: Twin) -> None:
    before = configurations(twin)
    shown = railfab("deploy", "--waves", "show", intent="mtu")
    assert shown.returncode == 0, shown.stderr
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert rows[0][:3] == ["wave", "switches", "drained"]
    assert [row[0] for row in rows[1:4]] == ["1", "2", "3"]
    assert "interrupts forwarding (MTU of" in shown.stdout
    assert shown.stdout.endswith("checked after each wave: state\n")
    unchecked = railfab("deploy", "--waves", "show", "--no-gates", intent="mtu")
    assert unchecked.stdout.endswith("checked after each wave: nothing (--no-gates)\n")
    document = conforming("deploy-waves", railfab("deploy", "--waves", "show", "--output", "json", intent="mtu").stdout)
    first = document["waves"][0]
    assert (first["switches"], first["canary"]) == ([LEAF, SPINE], True)
    for name, change in document["changes"].items():
        hosts = [f"{name.rpartition('-')[0]}-host{number}" for number in (1, 2)] if "leaf" in name else []
        assert (change["drains"], change["cut_off"]) == ("spine" in name, hosts)
    assert configurations(twin) == before


def test_what_interrupts_is_drained_changed_and_undrained(railfab: Railfab, twin: Twin, folder: Path) -> None:
    done = railfab("deploy", "--yes", "--no-gates", intent="mtu")
    assert done.returncode == 0, done.stderr
    record = Journal(folder, "small").deploys()[-1]
    steps = (folder / "small.deploys" / record.folder / "steps").read_text()
    for name in twin._switches:
        changes = [line for line in steps.splitlines() if f'"{name}"' in line]
        kinds = [json.loads(line.partition(" ")[2])["kind"] for line in changes]
        expected = ["drain", "change", "change", "undrain"] if "spine" in name else ["change", "change"]
        assert kinds == expected, name
    assert "drained" not in done.stdout


def assert_no_login(twin: Twin, folder: Path, plan: Path, runs: Sequence[subprocess.CompletedProcess[str]]) -> None:
    """The password is in no output, in no saved plan and in no file of the journal, which only its user may read."""
    password = read_credentials(twin.endpoints.nodes[0]).password
    assert len(password) >= 8
    files = [path for path in (folder / "small.deploys").rglob("*") if path.is_file()]
    assert {"plan.json", "steps", "gates.json"} <= {path.name for path in files}
    texts = [text for run in runs for text in (run.stdout, run.stderr)]
    for text in (*texts, *(path.read_text() for path in (*files, plan))):
        assert password not in text
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)


def test_a_saved_plan_is_applied_and_refused_once_a_switch_or_the_intent_has_changed_and_no_file_has_the_login(
    railfab: Railfab, twin: Twin, folder: Path
) -> None:
    plan = folder / "plan.json"
    planned = railfab("deploy", "--plan", "-o", str(plan), "--full")
    assert (planned.returncode, planned.stderr) == (0, f"wrote {plan}\n")
    assert plan.stat().st_mode & 0o777 == 0o600
    another = railfab("deploy", "--apply", str(plan), "--yes", intent="mtu")
    assert another.returncode == 2
    assert f"{LEAF}: has another change than the plan, because it or the intent has changed since: " in another.stderr
    before = configurations(twin)
    fewer = railfab("deploy", "--apply", str(plan), "--yes", "--limit", SPINE)
    assert (fewer.returncode, configurations(twin)) == (2, before)
    assert "is in the plan, and not among the switches of this run. Use the same --limit." in fewer.stderr
    applied = railfab("deploy", "--apply", str(plan), "--yes", "--output", "json")
    outcomes = conforming("deploy", applied.stdout)
    waves = {outcome["name"]: outcome["wave"] for outcome in outcomes}
    assert waves[LEAF] == waves[SPINE] == 1
    assert all(outcome["changed"] for outcome in outcomes)
    history = railfab("history", Journal(folder, "small").deploys()[-1].deploy)
    assert_no_login(twin, folder, plan, (planned, applied, history))
    again = railfab("deploy", "--apply", str(plan), "--yes")
    assert again.returncode == 2
    assert "has another change than the plan" in again.stderr
    (folder / "broken.json").write_text("{}")
    broken = railfab("deploy", "--apply", str(folder / "broken.json"), "--yes")
    assert "broken.json: is not a saved plan" in broken.stderr


def test_a_paused_deploy_is_resumed_without_the_waves_that_are_done(railfab: Railfab, twin: Twin, folder: Path) -> None:
    old = configurations(twin)
    paused = railfab("deploy", "--yes", "--pause-after", "1")
    assert paused.returncode == 0
    assert ": paused after wave 1. Continue with railfab deploy --resume, or return to what ran " in paused.stderr
    assert ", 4 not begun" in paused.stdout
    half = configurations(twin)
    assert {name for name in half if half[name] != old[name]} == {LEAF, SPINE}
    (newest, *_) = conforming("history", railfab("history", "--output", "json").stdout)
    assert (newest["waves_done"], newest["waves"], newest["stopped"]) == (1, 4, "paused after wave 1")
    resumed = railfab("deploy", "--resume", "--yes")
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stderr.splitlines()[0] == f"deploy {newest['deploy']}: 1 of 4 waves done before"
    assert "wave 1 of 4" not in resumed.stderr
    assert "6 of 6 switches: 6 changed" in resumed.stdout
    nothing = railfab("deploy", "--resume", "--yes")
    assert nothing.returncode == 2
    assert nothing.stderr.endswith("has nothing to continue or to abort. Begin a new deploy.\n")
    shown = railfab("history", newest["deploy"])
    assert f"deploy {newest['deploy']} by" in shown.stdout
    document = conforming("history-deploy", railfab("history", newest["deploy"], "--output", "json").stdout)
    assert [wave["number"] for wave in document["plan"]["waves"]] == [1, 2, 3, 4]
    unknown = railfab("history", "20261122T093012.345Z-4f2a")
    assert (unknown.returncode, "is not in the journal. Name one of" in unknown.stderr) == (2, True)


def test_an_aborted_deploy_leaves_every_switch_as_it_was(railfab: Railfab, twin: Twin) -> None:
    old = configurations(twin)
    assert railfab("deploy", "--yes", "--pause-after", "2", "--no-gates").returncode == 0
    aborted = railfab("deploy", "--abort", "--yes")
    assert aborted.returncode == 0, aborted.stderr
    assert "4 reverted" in aborted.stdout
    assert_run(twin, old)
    (newest, *_) = conforming("history", railfab("history", "--output", "json").stdout)
    assert sorted(newest["results"].values()) == ["reverted"] * 4
    assert "4 reverted" in railfab("history").stdout


def test_a_switch_that_somebody_changes_meanwhile_stops_the_resume(railfab: Railfab, twin: Twin, folder: Path) -> None:
    assert railfab("deploy", "--yes", "--pause-after", "1", "--no-gates").returncode == 0
    by_hand = railfab("deploy", "--yes", "--waves", "off", "--limit", OTHER_SPINE, intent="mtu")
    assert by_hand.returncode == 0, by_hand.stderr
    record = Journal(folder, "small").deploys()[-2]
    assert record.is_unfinished
    stopped = railfab("deploy", "--resume", "--yes")
    assert stopped.returncode == 2
    assert f"{OTHER_SPINE}: has been changed by somebody else since the deploy began. " in stopped.stderr
    assert railfab("deploy", "--abort", "--yes").returncode == 0


def test_a_journal_with_damaged_lines_is_used_as_far_as_it_goes(railfab: Railfab, folder: Path) -> None:
    assert railfab("deploy", "--yes", "--pause-after", "1").returncode == 0
    record = Journal(folder, "small").deploys()[-1]
    path = folder / "small.deploys" / record.folder / "steps"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], lines[-1][:20]]))
    assert (
        f"{path}: line {len(lines)} is damaged; the rest of deploy {record.deploy} is used."
        in railfab("history").stderr
    )
    resumed = railfab("deploy", "--resume", "--yes")
    assert resumed.returncode == 0, resumed.stderr
    assert f"its steps have damaged lines ({len(lines)}), which are left out" in resumed.stderr
    assert "6 of 6 switches: 6 changed" in resumed.stdout


def test_edited_files_are_deployed_and_those_that_break_roce_are_reverted(
    railfab: Railfab, twin: Twin, folder: Path
) -> None:
    configs = folder / "configs"
    written = commands.run("render", "small.yml", "-o", str(configs), cwd=folder, timeout_s=60)
    assert written.returncode == 0, written.stderr
    files = {name: configs / f"{name}.json" for name in (LEAF, OTHER_LEAF)}

    def edit(before: str, after: str) -> None:
        for path in files.values():
            text = path.read_text()
            assert before in text
            path.write_text(text.replace(before, after))

    edit('"description": "', '"description": "cluster a ')
    harmless = railfab("deploy", "--configs", str(configs), "--yes", intent="small")
    assert harmless.returncode == 0, harmless.stderr
    assert {name for name, text in configurations(twin).items() if "cluster a" in text} == set(files)
    edit('"pfc-enable": true', PFC_OFF)
    harmful = railfab("deploy", "--configs", str(configs), "--yes", intent="small")
    assert (harmful.returncode, [name for name, text in configurations(twin).items() if PFC_OFF in text]) == (3, [])
    assert f"gate configuration: {LEAF}: set / qos interfaces interface" in harmful.stderr
    assert "(before in order, after pfc-off, limit no new error)" in harmful.stderr
    assert "1 reverted, 1 not begun" in harmful.stdout
    files[LEAF].unlink()
    missing = railfab("deploy", "--configs", str(configs), "--yes", intent="small")
    remedy = "Render them as well, or name the others with --limit."
    assert (missing.returncode, missing.stderr) == (
        2,
        f"railfab: {configs}: contains no configuration of {LEAF}. {remedy}\n",
    )
    limited = railfab("deploy", "--configs", str(configs), "--plan", "--limit", OTHER_LEAF, intent="small")
    assert (limited.returncode, "pfc-enable" in limited.stdout) == (0, True)


def test_a_deploy_of_files_that_is_resumed_is_held_to_their_errors(railfab: Railfab, twin: Twin, folder: Path) -> None:
    configs = folder / "broken"
    assert commands.run("render", "small.yml", "-o", str(configs), cwd=folder, timeout_s=60).returncode == 0
    first, second = configs / f"{LEAF}.json", configs / f"{OTHER_LEAF}.json"
    second.write_text(second.read_text().replace('"pfc-enable": true', PFC_OFF))
    first.write_text(first.read_text().replace('"description": "', '"description": "cluster a '))
    files, before = ("--configs", str(configs)), configurations(twin)
    shown = railfab("deploy", *files, "--waves", "show", "--output", "json", intent="small")
    assert conforming("deploy-waves", shown.stdout)["from_files"]
    assert railfab("deploy", *files, "--yes", "--pause-after", "1", intent="small").returncode == 0
    resumed = railfab("deploy", "--resume", "--yes", "--revert", "all", intent="small")
    assert resumed.returncode == 3, resumed.stderr
    assert f"gate configuration: {OTHER_LEAF}: " in resumed.stderr
    assert "2 reverted" in resumed.stdout
    assert_run(twin, before)


def test_without_drains_the_switches_that_lose_packets_are_named(railfab: Railfab, folder: Path) -> None:
    done = railfab("deploy", "--yes", "--no-drain", "--no-gates", "--limit", "spine", intent="mtu")
    assert done.returncode == 0, done.stderr
    share = "up to 50% of spines of pod1 at a time"
    first = f"not drained: pod1-spine[1-2]; jobs lose what these carry while they change, {share}"
    assert done.stderr.splitlines()[0] == first
    record = Journal(folder, "small").deploys()[-1]
    assert "drain" not in (folder / "small.deploys" / record.folder / "steps").read_text()


def test_a_change_that_cuts_hosts_off_is_refused_unless_accepted(tmp_path: Path) -> None:
    """The hosts have two ports a NIC, each with an address of its own, that one leaf reaches."""
    (tmp_path / "intent.yml").write_text(DUAL_HOMED)
    (tmp_path / "mtu.yml").write_text(MTU)
    with Twin(design(tmp_path / "intent.yml"), state=tmp_path, base_port=0, configured=True):
        words = ("deploy", "mtu.yml", "--on", "twin", "--state", str(tmp_path), "--yes")
        shown = commands.run(*words[:-1], "--waves", "show", cwd=tmp_path, timeout_s=60)
        cuts = [line for line in shown.stdout.splitlines() if line.endswith(", and cuts off pod1-seg1-host[1-2]")]
        assert [line.partition(":")[0] for line in cuts] == ["pod1-seg1-leaf[1-2]"]
        refused = commands.run(*words, cwd=tmp_path, timeout_s=60)
        assert refused.returncode == 2
        lines = refused.stderr.splitlines()
        assert len(lines) == 4
        assert lines[0].startswith(f"railfab: {LEAF}: its change interrupts forwarding (MTU of ")
        assert "and cuts off pod1-seg1-host[1-2]. End their jobs and add --accept" in lines[0]
        assert lines[2].startswith(f"railfab: {OTHER_LEAF}: ")
        done = commands.run(*words, "--accept", "cut", "--no-gates", cwd=tmp_path, timeout_s=120)
        assert done.returncode == 0, done.stderr
        back = ("rollback", "intent.yml", *words[2:], "--limit", LEAF, "--waves", "on")
        assert f"railfab: {LEAF}: its change interrupts" in commands.run(*back, cwd=tmp_path, timeout_s=60).stderr
        undone = commands.run(*back, "--accept", "cut", cwd=tmp_path, timeout_s=120)
        assert undone.returncode == 0, undone.stderr


def test_the_steps_of_a_deploy_name_every_kind(folder: Path) -> None:
    """What a journal of these tests has; the words are those of the documentation."""
    assert [str(kind) for kind in StepKind] == [
        *("attempt", "wave", "hold", "drain", "change", "gate", "revert", "undrain", "release"),
    ]
    assert [str(state) for state in StepState] == ["begins", "done", "failed"]

"""The commands as a user types them: results on stdout, one clear line for each fault on stderr, exit codes."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.commands import run

from railfab.deploy import Journal

ROOT = Path(__file__).parents[2]
POD64 = ROOT / "inventory" / "fabrics" / "pod64.yml"
RING = ROOT / "inventory" / "jobs" / "ring.yml"


def railfab(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user would."""
    return run(*arguments, cwd=cwd, environment={**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **environment})


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that a refusal is, with exit code 2 and no traceback."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """pod64 with one thing changed."""
    path = tmp_path / "pod.yml"
    text = POD64.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    return path


def test_plan_prints_tables_a_person_can_read(tmp_path: Path) -> None:
    done = railfab("plan", POD64, cwd=tmp_path)
    assert done.returncode == 0
    assert "pod64: 64 GPUs on 8 hosts, 8 switches, 160 cables, 8 rails" in done.stdout
    for words in ("3.2 / 3.2 Tb/s, non-blocking", "4200001001", "10.255.1.1", "10.17.0.0/24-10.24.3.0/24"):
        assert words in done.stdout


def test_plan_for_machines_holds_the_same_and_the_cabling_plan_is_csv(tmp_path: Path) -> None:
    done = railfab("plan", POD64, "--output", "json", "-o", tmp_path / "out", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert (document["gpus"], len(document["nodes"]), len(document["links"])) == (64, 16, 160)
    assert document["findings"] == []
    with (tmp_path / "out" / "cabling.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 160


def test_a_blocking_fabric_is_planned_and_exits_with_1(tmp_path: Path) -> None:
    done = railfab("plan", changed(tmp_path, "links_per_leaf: 2", "links_per_leaf: 1"), cwd=tmp_path)
    assert done.returncode == 1
    assert "warning pod1-seg1-leaf1 and 3 more: 3200 Gb/s of hosts share 1600 Gb/s of uplinks (2.00:1)." in done.stdout


def test_bad_input_is_one_clear_line_and_exit_code_2(tmp_path: Path) -> None:
    assert refused(railfab("plan", "none.yml", cwd=tmp_path)) == "railfab: none.yml: no such file. Check the path."
    unknown = railfab("plan", changed(tmp_path, "gpus:", "gpu:"), cwd=tmp_path)
    assert "hosts.gpu: unknown key. Did you mean 'gpus'?" in refused(unknown)
    spines = railfab("plan", changed(tmp_path, "count: 4", "count: 6"), cwd=tmp_path)
    assert refused(spines).endswith(
        "pod.yml:24: backend.spines.count: the 16 uplinks of a full rail switch do not divide evenly among 6 "
        "spines. Use 1, 2, 4 or 8."
    )
    platform = railfab("render", changed(tmp_path, "platform: srlinux", "platform: ios"), "-o", "x", cwd=tmp_path)
    assert "7220-ixr-d5 does not run platform 'ios'. Use srlinux." in refused(platform)
    assert not (tmp_path / "x").exists()


def test_render_writes_a_file_a_switch_and_audit_finds_nothing_in_them(tmp_path: Path) -> None:
    assert railfab("render", POD64, "-o", "out", cwd=tmp_path).returncode == 0
    assert len(list((tmp_path / "out").iterdir())) == 8
    done = railfab("audit", POD64, "--configs", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (
        0,
        "8 of 8 switches checked, no finding\n"
        "cabling: not checked, as configurations do not show it (railfab verify does)\n",
    )
    assert railfab("audit", POD64, cwd=tmp_path).returncode == 0


def test_findings_keep_the_brackets_that_name_their_place(tmp_path: Path) -> None:
    railfab("render", POD64, "-o", "out", cwd=tmp_path)
    spine = next((tmp_path / "out").glob("pod1-spine1.*"))
    spine.write_text(spine.read_text().replace("4200001001", "4200001009"))
    said = railfab("audit", POD64, "--configs", "out", cwd=tmp_path).stdout
    assert "dynamic-neighbors interface ethernet-1/1.0 allowed-peer-as [ 4200001009 ]: the session is down" in said


def test_audit_names_what_was_changed_by_hand_and_both_ends_that_no_longer_agree(tmp_path: Path) -> None:
    railfab("render", POD64, "-o", "out", cwd=tmp_path)
    spine = next((tmp_path / "out").glob("pod1-spine1.*"))
    spine.write_text(spine.read_text().replace("4200001001", "4200001009"))
    (tmp_path / "out" / next((tmp_path / "out").glob("pod1-spine2.*")).name).unlink()
    done = railfab("audit", POD64, "--configs", "out", "--output", "json", cwd=tmp_path)
    assert done.returncode == 1
    found = json.loads(done.stdout)["findings"]
    assert {name: value for name, value in found[0].items() if name != "where"} == {
        "class": "error",
        "code": "configuration-missing",
        "switch": "pod1-spine2",
        "problem": "has no configuration here",
        "remedy": "Render or read it as well",
        "more": [],
    }
    said = [f"{finding['where']}: {finding['problem']}" for finding in found]
    assert "pod1-spine2: has no configuration here" in said
    interface = "set / network-instance default protocols bgp dynamic-neighbors interface ethernet-1/1.0"
    assert any(text.startswith(f"pod1-spine1: {interface} allowed-peer-as [ 4200001009 ]: ") for text in said)
    assert "pod1-spine1 ethernet-1/1: expects AS 4200001009, but pod1-seg1-leaf1 is in AS 4200001001" in said


def test_audit_warns_of_lines_of_the_fabric_that_the_model_has_no_word_for(tmp_path: Path) -> None:
    railfab("render", POD64, "-o", "out", cwd=tmp_path)
    leaf = next((tmp_path / "out").glob("pod1-seg1-leaf1.*"))
    tree = json.loads(leaf.read_text())
    port = next(port for port in tree["srl_nokia-interfaces:interface"] if port["name"] == "ethernet-1/32")
    port.setdefault("ethernet", {})["dac-link-training"] = True
    leaf.write_text(json.dumps(tree))
    done = railfab("audit", POD64, "--configs", "out", cwd=tmp_path)
    assert done.returncode == 1
    line = "set / interface ethernet-1/32 ethernet dac-link-training true"
    assert f"warning pod1-seg1-leaf1: {line}: railfab does not model this setting of the fabric. Check" in done.stdout
    assert "8 of 8 switches checked, 1 warning\n" in done.stdout


def test_audit_ends_with_1_for_a_hazard_and_with_0_for_a_banner(tmp_path: Path) -> None:
    railfab("render", POD64, "-o", "out", cwd=tmp_path)
    leaf = next((tmp_path / "out").glob("pod1-seg1-leaf1.*"))
    rendered = json.loads(leaf.read_text())
    system = rendered["srl_nokia-system:system"]
    banner = {**system, "srl_nokia-system-banner:banner": {"login-banner": "hands off"}}
    leaf.write_text(json.dumps({**rendered, "srl_nokia-system:system": banner}))
    done = railfab("audit", POD64, "--configs", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout.partition(" ")[0]) == (0, "note")
    dropping = {"sequence-id": 10, "match": {"ipv4": {"protocol": "udp"}}, "action": {"drop": {}}}
    port = {"interface-id": "ethernet-1/32.0", "input": {"acl-filter": [{"name": "drops", "type": "ipv4"}]}}
    acl = {"acl-filter": [{"name": "drops", "type": "ipv4", "entry": [dropping]}], "interface": [port]}
    leaf.write_text(json.dumps({**rendered, "srl_nokia-acl:acl": acl}))
    done = railfab("audit", POD64, "--configs", "out", "--output", "json", cwd=tmp_path)
    found = json.loads(done.stdout)["findings"]
    assert (done.returncode, [one["class"] for one in found]) == (1, ["error", "note"])
    assert found[0]["where"] == "pod1-seg1-leaf1: set / acl acl-filter drops type ipv4 entry 10 action drop"
    assert found[0]["problem"] == (
        "the first entry that matches RoCE, BGP, BFD or neighbor discovery drops it on the ports that have the filter"
    )
    assert found[0]["code"] == "packet-filter"


@pytest.mark.parametrize("command", ["deploy", "verify", "rollback", "drift", "reconcile", "cabling"])
def test_commands_that_speak_to_switches_say_when_there_are_none(tmp_path: Path, command: str) -> None:
    with Journal(tmp_path / ".railfab", "pod64").open("deploy") as entry:
        entry.keep("pod1-spine1", "")
    assert refused(railfab(command, POD64, cwd=tmp_path)).endswith(
        "pod64.yml: contains no addresses of switches. Add `inventory` to it, or use --on twin, --on lab or --on FILE."
    )
    twin = refused(railfab(command, POD64, "--on", "twin", cwd=tmp_path))
    assert twin.startswith("railfab: .railfab/pod64.twin.json: no twin of pod64 is running. Start it: railfab twin ")
    other = tmp_path / "other.yml"
    other.write_text("leaf9: {hostname: 127.0.0.1, platform: srlinux}\n")
    assert "contains no switch of pod64" in refused(railfab(command, POD64, "--on", other, cwd=tmp_path))


def test_an_unreachable_switch_is_one_line_and_nothing_is_changed(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.yml"
    hosts.write_text("pod1-spine1: {hostname: 127.0.0.1, platform: srlinux, data: {gnmi_port: 1}}\n")
    secrets = {"RAILFAB_USERNAME": "admin", "RAILFAB_PASSWORD": "secret-word"}
    done = railfab("deploy", POD64, "--on", hosts, "--limit", "pod1-spine1", "--yes", cwd=tmp_path, **secrets)
    line = refused(done)
    assert line.startswith("railfab: pod1-spine1:")
    assert "secret-word" not in done.stdout + done.stderr


@pytest.mark.parametrize("output", ["table", "json"])
@pytest.mark.parametrize("verb", ["deploy", "rollback"])
def test_without_a_terminal_nothing_is_changed_unless_yes_is_stated(tmp_path: Path, verb: str, output: str) -> None:
    """FORCE_COLOR makes no terminal. No switch is contacted: the error is not that the address does not answer."""
    hosts = tmp_path / "hosts.yml"
    hosts.write_text("pod1-spine1: {hostname: 127.0.0.1, platform: srlinux, data: {gnmi_port: 1}}\n")
    with Journal(tmp_path / ".railfab", "pod64").open("deploy") as entry:
        entry.keep("pod1-spine1", "")
    words = (verb, POD64, "--on", hosts, "--limit", "pod1-spine1", "--output", output)
    secrets = {"RAILFAB_USERNAME": "admin", "RAILFAB_PASSWORD": "p", "FORCE_COLOR": "1"}
    why = {
        "table": "asks before it changes switches, and standard input or output is not a terminal",
        "json": "--output json leaves no room for the question before a change",
    }
    said = f"{verb}: {why[output]}. Show the differences with --plan, then add --yes."
    line = refused(railfab(*words, cwd=tmp_path, **secrets))
    assert line == f"railfab: {said}" if output == "table" else json.loads(line)["errors"][0]["message"] == said
    for answered in ("--yes", "--plan"):
        assert "pod1-spine1: " in railfab(*words, answered, cwd=tmp_path, **secrets).stderr


def test_the_playbooks_that_change_switches_need_plan_or_yes(tmp_path: Path) -> None:
    for name in ("deploy", "rollback"):
        command = [sys.executable, str(ROOT / "playbooks" / f"{name}.py"), str(POD64)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        assert done.stderr.endswith(f"{name}.py: error: one of the arguments --plan --yes is required\n")


def test_rollback_names_both_times_where_a_clock_contradicts_the_order_of_deploys(tmp_path: Path) -> None:
    journal = Journal(tmp_path / ".railfab", "pod64")
    for _ in range(2):
        with journal.open("deploy") as entry:
            entry.keep("pod1-spine1", "")
            entry.finish({"pod1-spine1": "changed"})
    ahead, last = journal.deploys()
    record = journal.folder / ahead.folder / "deploy.json"
    record.write_text(record.read_text().replace(ahead.began, "2036-11-22T09:30:12+00:00"))
    done = railfab("rollback", POD64, "--plan", cwd=tmp_path)
    assert done.stderr.splitlines()[0] == (
        f"rollback: undoes deploy {last.deploy} (number 2, {last.began[:19]}Z); number 1 was before it, "
        f"although the clock of {ahead.host} then said 2036-11-22T09:30:12Z"
    )


def test_missing_credentials_and_a_limit_that_means_nothing_are_said(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.yml"
    hosts.write_text("pod1-spine1: {hostname: 127.0.0.1, platform: srlinux, data: {gnmi_port: 1}}\n")
    assert "the environment lacks RAILFAB_USERNAME and RAILFAB_PASSWORD" in refused(
        railfab("verify", POD64, "--on", hosts, "--limit", "pod1-spine1", cwd=tmp_path)
    )
    assert refused(railfab("verify", POD64, "--on", hosts, "--limit", "lef", cwd=tmp_path)) == (
        "railfab: --limit 'lef': 'lef' matches no switch and no group. Use leaf, pod1, pod1-seg1, pod1-seg2, rail_1, "
        "rail_2, rail_3, rail_4 and 6 more, or a switch as pod1-seg1-leaf1."
    )


def test_the_help_says_what_still_arrives_over_a_link_that_loses_everything(tmp_path: Path) -> None:
    assert "acknowledgements" in railfab("twin", "link", "--help", cwd=tmp_path).stdout


@pytest.mark.parametrize("command", [(), ("plan",), ("twin",), ("twin", "cable"), ("collect",)])
def test_the_help_shows_no_type_of_an_option_without_a_value(tmp_path: Path, command: tuple[str, ...]) -> None:
    helped = railfab(*command, "--help", cwd=tmp_path).stdout
    assert "Show this message and exit." in helped
    assert "<bool>" not in helped


def test_the_version_and_the_help_answer_at_once(tmp_path: Path) -> None:
    assert railfab("--version", cwd=tmp_path).stdout.startswith("railfab 0.")
    helped = railfab("--help", cwd=tmp_path).stdout
    for verb in (
        "plan",
        "render",
        "audit",
        "deploy",
        "verify",
        "rollback",
        "lab",
        "twin",
        "collect",
        "up",
        "dashboards",
    ):
        assert verb in helped


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("deploy", POD64, "--resume", "--limit", "leaf"), "--resume has its plan: leave out --limit."),
        (("deploy", POD64, "--abort", "--resume", "--plan"), "--abort has its plan: leave out --plan, --resume."),
        (("deploy", POD64, "--waves", "off", "--no-drain"), "--waves off has no waves: leave out --no-drain."),
        (("deploy", POD64, "--plan", "--apply", "p.json"), "--plan changes nothing: leave out --apply."),
        (("deploy", POD64, "--waves", "show", "--yes"), "--waves show changes nothing: leave out --yes."),
        (("rollback", POD64, "--plan", "--yes"), "--plan changes nothing: leave out --yes."),
        (("deploy", POD64, "--plan", "--yes"), "--plan changes nothing: leave out --yes."),
        (("deploy", POD64, "--yes", "--stat"), "--yes shows no differences before the change: leave out --stat."),
        (
            ("deploy", POD64, "--plan", "--full", "--output", "json"),
            "--output json has the differences of each switch: leave out --full.",
        ),
        (("audit", POD64, "--state", "x"), "Add --on twin or --on lab, or leave out --state."),
        (("verify", POD64, "--on", "hosts.yml", "--state", "x"), "Add --on twin or --on lab, or leave out --state."),
        (("up", POD64, "--job", RING, "--turn", "20"), "A single job has no turns: add another --job, or leave out"),
        (("new", "pod64", "--list", "-o", "x.yml"), "--list writes no intent: leave out DESIGN, -o."),
        (("lab", "doctor", "--state", "x"), "Name the intent, or leave out --state."),
        (
            ("compare", POD64, "--with", "https://h", "--ca", "ca.pem", "--skip-verify"),
            "--skip-verify checks no certificate: leave out --ca.",
        ),
        (
            ("twin", "link", "pod1-spine1", "ethernet-1/1", "up", "--undetected"),
            "A link that works loses nothing: leave out --undetected.",
        ),
        (
            ("dashboards", "push", "--url", "http://127.0.0.1:9", "--interval", "5"),
            "Add --prometheus, or leave out --interval.",
        ),
    ],
)
def test_an_option_without_effect_is_refused(arguments: tuple[str | Path, ...], said: str, tmp_path: Path) -> None:
    done = railfab(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_audit_ends_with_the_findings_of_each_switch_the_worst_first(tmp_path: Path) -> None:
    railfab("render", POD64, "-o", "out", cwd=tmp_path)
    for name, text, change in (
        ("pod1-seg1-leaf1", '"ip-mtu": 9216', '"ip-mtu": 4000'),
        ("pod1-spine1", '"enable-ecn": true', '"enable-ecn": false'),
    ):
        file = next((tmp_path / "out").glob(f"{name}.*"))
        assert text in file.read_text()
        file.write_text(file.read_text().replace(text, change))
    done = railfab("audit", POD64, "--configs", "out", cwd=tmp_path)
    summary, *_ = re.findall(r"^switch .*\n(?:.+\n)*?\n?(?=\d+ of 8 switches checked)", done.stdout, re.MULTILINE)
    switches = re.findall(r"^(pod\S+) +(\d+) errors?", summary, re.MULTILINE)
    errors = [int(number) for _, number in switches]
    assert {"pod1-seg1-leaf1", "pod1-spine1"} <= {name for name, _ in switches}
    assert errors == sorted(errors, reverse=True)
    assert sum(errors) == int(re.findall(r"checked, (\d+) errors", done.stdout)[0])

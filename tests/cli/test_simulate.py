"""`railfab simulate` as a user types it: tables, JSON, designs side by side, and what is refused."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests import commands
from tests.docs.schemas import conforming

from railfab.cli.common import Output
from railfab.cli.simulate_several import JobFiles, print_several
from railfab.fabric import design
from railfab.simulate import several_jobs

ROOT = Path(__file__).resolve().parents[2]
FABRICS, JOBS = ROOT / "inventory" / "fabrics", ROOT / "inventory" / "jobs"
CUT_OFF = ("--fault", "switch=pod1-seg1-leaf1", "--fault", "switch=pod1-seg1-leaf2")
SLOW_HOST = "slow-host=pod1-seg1-host1:25"
POD64, TRAINING, RING = FABRICS / "pod64.yml", JOBS / "llama3-70b.yml", JOBS / "ring.yml"


def simulate(*arguments: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    done = commands.run("simulate", *map(str, arguments), environment=environment, timeout_s=120)
    assert done.returncode == code, done.stderr
    return done


@pytest.mark.parametrize(
    ("tier", "unseen"),
    [
        ("closed-form", "collisions of ECMP hashes"),
        ("max-min", "queues, ECN"),
        ("packets", "collectives of different groups"),
    ],
)
def test_the_tables_have_the_parts_of_a_step_in_80_columns(tier: str, unseen: str) -> None:
    lines = simulate(POD64, "--job", TRAINING, "--tier", tier).stdout.splitlines()
    assert lines[0] == f"llama3-70b on pod64: 64 GPUs, {tier.replace('form', ' form').replace('- ', ' ')}"
    parts = {line[:12].strip(): float(line[12:].split()[0]) for line in lines[2 : lines.index("")]}
    assert list(parts) == ["compute", "exposed tp", "exposed pp", "exposed dp", "bubble", "step"]
    assert parts["step"] == pytest.approx(sum(parts.values()) - parts["step"], abs=1e-3)
    assert any(f"does not see: {unseen}" in line for line in lines)
    assert any(line.startswith("dp     reducescatter") for line in lines)
    assert max(map(len, lines)) <= 80


def test_json_has_the_tier_and_what_it_does_not_see() -> None:
    arguments = (POD64, FABRICS / "dual-rail.yml", "--job", JOBS / "alltoall.yml", "--output", "json")
    document = conforming("simulate", simulate(*arguments).stdout)
    assert [design["estimate"]["tier"] for design in document["designs"]] == ["max-min", "closed form"]
    routed, bridged = document["designs"]
    assert (document["job"], routed["fabric"], routed["why"]) == ("alltoall", "pod64", "default")
    assert "other jobs" in routed["estimate"]["not_seen"]
    assert [contention["op"] for contention in routed["runs"][0]["contentions"]] == ["alltoall"]
    assert bridged["why"] == "no routes are computed for VLANs and SVIs (pod1-seg1-leaf1 et-0/0/0)"
    assert bridged["runs"] == []


@pytest.mark.matrix
def test_an_operation_of_too_many_transfers_is_in_closed_form_and_named() -> None:
    """The sample is in tests/simulate, with a lower limit; a design of so many GPUs takes a minute."""
    lines = simulate(FABRICS / "gpu16384.yml", "--job", JOBS / "alltoall.yml").stdout
    text = " ".join(lines.split())
    assert "all alltoall is in closed form: 268,419,072 transfers are more than the 8,388,608" in text


def test_faults_and_seeds_show_the_link_on_which_the_slowest_group_waits() -> None:
    faults = [word for number in (1, 2, 3) for word in ("--fault", f"switch=pod1-spine{number}")]
    lines = simulate(POD64, "--job", JOBS / "alltoall.yml", *faults, "--seeds", 2).stdout.splitlines()
    (row,) = (line.split() for line in lines if line.startswith("all    alltoall") and line.split()[2] == "1")
    assert float(row[-1]) > 1.8
    text = " ".join(lines)
    assert "step of 2 seeds: " in text
    assert "pod1-spine4" in text
    assert "the links are too few" in text


def test_why_has_the_ranks_the_links_and_the_flows_that_wait_in_80_columns() -> None:
    faults = [word for number in (1, 2, 3) for word in ("--fault", f"switch=pod1-spine{number}")]
    lines = simulate(POD64, "--job", JOBS / "alltoall.yml", *faults, "--why").stdout.splitlines()
    heads = [line.split() for line in lines]
    ranks, links, flows = (
        heads.index(head.split())
        for head in ("slowest ranks ms ideal ms ratio", "link flows GB/s ranks", "from to flows GB/s alone")
    )
    assert heads[ranks + 1][1] == "GPU"
    assert float(heads[ranks + 1][-1]) > 1.8
    assert heads[links + 1][-4:] == ["ethernet-1/25", "1224", "49.0", "64"]
    count, rate, alone = heads[flows + 1][-3:]
    assert (count, alone) == ("16", "12.3")
    assert float(rate) == pytest.approx(49.0 / 1224, rel=0.01)
    assert max(map(len, lines)) <= 80
    free = " ".join(simulate(POD64, "--job", JOBS / "alltoall.yml", "--why").stdout.split())
    assert "Only NICs and hosts limit all alltoall." in free


def test_why_in_json_is_of_the_slowest_run_and_empty_unless_it_is_asked_for() -> None:
    arguments = (POD64, "--job", RING, "--fault", "slow-host=pod1-seg1-host1:25", "--output", "json")
    plain, asked = (
        conforming("simulate", simulate(*arguments, *more).stdout)["designs"][0] for more in ((), ("--why",))
    )
    assert plain["waits"] == []
    assert {name: part for name, part in asked.items() if name != "waits"} == {
        name: part for name, part in plain.items() if name != "waits"
    }
    (wait,) = asked["waits"]
    assert wait["links"][0]["reason"] == "it carries 3.1 of 12.3 GB/s"
    assert len(wait["ranks"]) == 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--tier", "closed-form", "--fault", "switch=x"),
            "--fault: a closed form sees neither faults nor hashes nor links.",
        ),
        (("--tier", "closed-form", "--why"), "--why: a closed form sees neither faults nor hashes nor links."),
        (("--fault", "switch=x"), "--fault switch=x: the fabric has no switch x. Use a name such as pod1-seg1-leaf1"),
        (CUT_OFF, "no path: pod1-seg1-leaf1 has no power. Leave the fault out"),
    ],
)
def test_what_cannot_run_on_the_links_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    assert message in " ".join(simulate(POD64, "--job", RING, *arguments, code=2).stderr.split())


def test_a_design_without_computed_routes_is_refused_with_a_tier_that_works() -> None:
    fabric = FABRICS / "dual-rail.yml"
    stderr = " ".join(simulate(fabric, "--job", RING, "--tier", "max-min", code=2).stderr.split())
    assert "no collective can run on its links: no routes are computed for VLANs and SVIs" in stderr
    assert stderr.endswith("Use simulate --tier closed-form.")
    simulate(fabric, "--job", RING, "--tier", "closed-form")


@pytest.fixture
def two_jobs(tmp_path: Path) -> list[object]:
    """Options of two jobs on four hosts each, half of them in each segment."""
    for name, numbers in (("first", (1, 2)), ("second", (3, 4))):
        hosts = ", ".join(f"pod1-seg{segment}-host{number}" for segment in (1, 2) for number in numbers)
        phases = "phases:\n  - collective: {op: alltoall, bytes: 64MB, group: all}\n"
        (tmp_path / f"{name}.yml").write_text(f"version: 1\njob: {name}\nhosts: [{hosts}]\n{phases}")
    return ["--job", tmp_path / "first.yml", "--job", tmp_path / "second.yml"]


SHARED_SPINE = [word for number in (1, 2, 3) for word in ("--fault", f"switch=pod1-spine{number}")]


def test_jobs_that_share_a_fabric_have_their_steps_side_by_side(two_jobs: list[object]) -> None:
    lines = simulate(POD64, *two_jobs, *SHARED_SPINE, "--why", "--tier", "packets").stdout.splitlines()
    assert lines[0] == "2 jobs on pod64, max-min"
    ratios = {line.split()[0]: [float(line.split()[place]) for place in (4, 6)] for line in lines[2:4]}
    assert list(ratios) == ["first", "second"]
    assert all(1.3 < expected <= worst < 3.0 for expected, worst in ratios.values())
    text = " ".join(" ".join(lines).split())
    assert re.search(r"first: all alltoall takes .* pod1-spine4 .* flows of it and \d+ of second all alltoall: ", text)
    assert "A max-min run of several jobs does not see: queues" in text
    assert text.endswith("It was used because packets of several jobs are not simulated.")
    assert max(map(len, lines)) <= 80


def test_json_of_several_jobs_has_each_seed_and_why_packets_are_not_simulated(two_jobs: list[object]) -> None:
    options = (*SHARED_SPINE, "--seeds", 2, "--tier", "packets", "--output", "json")
    (document,) = conforming("simulate-jobs", simulate(POD64, *two_jobs, *options).stdout)
    assert document["why"] == "packets of several jobs are not simulated"
    first, second = document["runs"]
    assert (first["seed"], second["seed"]) == (1, 2)
    for job in (*first["jobs"], *second["jobs"]):
        assert job["alone"]["step_s"] < job["expected"]["step_s"] <= job["worst"]["step_s"]
        assert job["varying"] is None
        assert (job["alone"]["tier"], len(job["hosts"]), job["calls"][0]["beside"] != job["job"]) == (
            "max-min",
            4,
            True,
        )


def test_a_step_that_does_not_settle_is_a_line(
    two_jobs: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(several_jobs, "MOST_TURNS", 1)
    monkeypatch.setattr(several_jobs, "AGREED", -1.0)
    fabric = design(POD64)
    result = JobFiles.read([two_jobs[1], two_jobs[3]], None, None).on(fabric, (), 1)
    print_several([result], Output.TABLE, why=False)
    text = " ".join(capsys.readouterr().out.split())
    step = r"[\d.e-]+ to [\d.e-]+ s in the last 1 turn"
    assert re.search(rf"first: the expected step does not settle, {step}; all alltoall takes [\d.]+ to [\d.]+ ms", text)
    print_several([result], Output.JSON, why=False)
    (document,) = conforming("simulate-jobs", capsys.readouterr().out)
    varying = document["runs"][0]["jobs"][0]["varying"]
    assert (varying["turns"], varying["group"], varying["op"]) == (1, "all", "alltoall")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tier", "closed-form"), "--tier: a closed form sees no other jobs. Use --tier max-min, or name one --job."),
        (("-o", "run"), "--out: pictures and tables are of one job. Leave it out, or name one --job."),
    ],
)
def test_options_of_a_single_job_are_refused_for_several(
    two_jobs: list[object], options: tuple[str, ...], message: str
) -> None:
    assert message in " ".join(simulate(POD64, *two_jobs, *options, code=2).stderr.split())


def test_jobs_cannot_share_the_links_of_a_design_without_computed_routes(two_jobs: list[object]) -> None:
    message = " ".join(simulate(FABRICS / "dual-rail.yml", *two_jobs, code=2).stderr.split())
    assert "jobs cannot share its links: no routes are computed for VLANs" in message
    assert message.endswith("Name one --job.")


def test_a_job_of_phases_has_no_tokens() -> None:
    document = conforming("simulate", simulate(POD64, "--job", RING, "--output", "json").stdout)
    estimate = document["designs"][0]["estimate"]
    assert (estimate["tokens_per_s"], list(estimate["exposed_s"])) == (None, ["rail"])


def test_designs_are_compared_side_by_side_with_what_they_take_and_why_one_is_slower() -> None:
    lines = simulate(FABRICS / "pod64-800g.yml", POD64, "--job", RING, "--fault", SLOW_HOST).stdout.splitlines()
    ratios = {line.split()[0]: float(line.split()[-1]) for line in lines[2:4]}
    assert ratios == {"pod64-800g": 1.0, "pod64": 1.0}
    takes = lines.index("Switches, optics, cables, and the most that these take")
    assert lines[takes + 1].split() == ["fabric", "leaf", "spine", "optics", "cables", "kW"]
    assert lines[takes + 3].split()[:3] == ["pod64", "4", "4"]
    per_gpu = next(line for line in lines[takes + 4 :] if line.startswith("pod64 ")).split()
    assert per_gpu[1] == "0.125"
    assert float(per_gpu[4]) == pytest.approx(float(lines[takes + 3].split()[-1]) * 1000 / 64, rel=0.01)
    assert max(map(len, lines)) <= 80


def test_json_of_designs_has_what_they_take_and_the_differences_that_links_make(tmp_path: Path) -> None:
    """Half of the links to each spine are left in the second design."""
    narrow = tmp_path / "narrow.yml"
    text = (
        POD64.read_text().replace("fabric: pod64", "fabric: narrow").replace("links_per_leaf: 2", "links_per_leaf: 1")
    )
    narrow.write_text(text)
    arguments = (POD64, narrow, "--job", JOBS / "alltoall.yml", "--accept", "oversubscription", "--output", "json")
    document = conforming("simulate", simulate(*arguments).stdout)
    wide, other = document["designs"]
    assert (wide["equipment"]["switches"], other["equipment"]["gpus"]) == ({"leaf": 4, "spine": 4}, 64)
    assert other["equipment"]["cables"] == wide["equipment"]["cables"] - 16
    (difference,) = document["differences"]
    assert (difference["fabric"], difference["than"], difference["op"]) == ("narrow", "pod64", "alltoall")
    assert difference["link"] == other["runs"][0]["contentions"][0]["link"] != ""
    alone = conforming("simulate", simulate(POD64, "--job", RING, "--output", "json").stdout)
    assert (alone["designs"][0]["equipment"], alone["differences"]) == (None, [])


def test_files_of_a_run_are_written_and_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("matplotlib")
    done = simulate(POD64, "--job", JOBS / "alltoall.yml", "-o", tmp_path / "run")
    lines = "pod64: no picture of queues, only --tier packets has them", f"wrote 9 files to {tmp_path / 'run'}"
    assert done.stderr.splitlines()[-2:] == list(lines)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "links.parquet",
        "operations.parquet",
        "pod64-loads.png",
        "pod64-loads.svg",
        "pod64-rails.png",
        "pod64-rails.svg",
        "pod64-step.png",
        "pod64-step.svg",
        "ranks.parquet",
    ]


def test_a_run_on_a_terminal_shows_the_operation_that_it_follows() -> None:
    ours, theirs = pty.openpty()
    words = ("simulate", POD64, "--job", JOBS / "alltoall.yml")
    environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    shown, command = b"", [sys.executable, "-m", "railfab", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
        os.close(theirs)
        with suppress(OSError):  # the terminal has gone when the process ends
            while part := os.read(ours, 65_536):
                shown += part
    os.close(ours)
    assert process.returncode == 0
    assert b"seeds: all alltoall of 1 group" in shown


def test_libraries_that_are_missing_are_named_before_the_run(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['matplotlib'] = sys.modules['pyarrow'] = None; "
        "from railfab.__main__ import main; main()"
    )
    words = ("simulate", POD64, "--job", RING, "-o", tmp_path / "run")
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (
        2,
        "railfab: --out: matplotlib and pyarrow are not installed. "
        "Install it with: pip install 'railfab[plot,parquet]'.\n",
    )
    assert not (tmp_path / "run").exists()


def job(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "job.yml"
    path.write_text(f"version: 1\njob: made\n{text}")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "model: llama3-70b\nparallelism:\n  tp: 8\n  pp: 3\n",
            "job.yml:6: parallelism.pp: tp 8 x cp 1 x pp 3 = 24 does not divide the 64 GPUs of the job. "
            "Use tp 8, cp 1, pp 2.",
        ),
        (
            "model: llama3-405b\nparallelism: {tp: 8}\n",
            "job.yml:4: parallelism: a GPU of stage 1 needs 448 GB, and has 80. "
            "Spread the model over more GPUs, with a larger tp or pp.",
        ),
        (
            "hosts: 9\nmodel: llama3-8b\n",
            "job.yml:3: job made: hosts: 9 is more than the 8 hosts of the fabric. Use 8 or less.",
        ),
        ("model: llama3-7b\n", "job.yml:3: model: no preset is named 'llama3-7b'. Use llama3-70b."),
        (
            "model: llama3-8b\ngpu: {tflops: .nan}\n",
            "job.yml:4: gpu.tflops: nan is not a number. Use a number above 0, up to 1000000.",
        ),
        (
            "hosts: 3\nphases:\n  - collective: {op: allreduce, algorithm: halving-doubling, bytes: 8}\n",
            "job.yml:5: job made: phases.0.collective.algorithm: halving-doubling needs a power of two ranks, and "
            "there are 3. Use ring.",
        ),
    ],
)
def test_a_job_that_does_not_fit_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    refused = simulate(POD64, "--job", job(tmp_path, text), code=2)
    assert refused.stderr.replace(f"{tmp_path}/", "") == f"railfab: {message}\n"
    assert refused.stdout == ""


def test_two_fabrics_of_a_name_are_refused() -> None:
    refused = simulate(POD64, POD64, "--job", RING, code=2)
    assert refused.stderr == f"railfab: {POD64}: a second fabric is named pod64. Rename one of them.\n"


def test_the_remedy_for_a_job_makes_it_run(tmp_path: Path) -> None:
    text = "model: llama3-70b\nparallelism: {{tp: 8, micro_batch: 4{more}}}\n"
    refused = simulate(POD64, "--job", job(tmp_path, text.format(more="")), code=2)
    assert refused.stderr.endswith("Use recompute: true.\n")
    simulate(POD64, "--job", job(tmp_path, text.format(more=", recompute: true")))


@pytest.mark.parametrize("command", [("twin",), ("twin", "--detach"), ("up",), ("up", "--job", str(RING))])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "model: llama3-8b\n",
            " parallelism: a GPU of stage 1 needs 90 GB, and has 80. Use recompute: true.",
        ),
        (
            "phases:\n  - compute: {ms: 1}\n  - traffic:\n      pattern: incast\n      senders: 57\n      bytes: 1MB\n",
            "7: job made: phases.1.traffic.senders: 57 senders and 1 receiver are too many for 64 GPUs. "
            "Use at most 56 senders; GPUs on the hosts of the receivers use the scale-up network.",
        ),
    ],
)
def test_a_job_that_does_not_fit_is_refused_before_a_twin_starts(
    command: tuple[str, ...], text: str, message: str, tmp_path: Path
) -> None:
    path = job(tmp_path, text)
    words = (command[0], str(POD64), *command[1:], "--job", str(path))
    done = commands.run(*words, cwd=tmp_path, environment={**os.environ}, timeout_s=60)
    assert (done.returncode, done.stderr) == (2, f"railfab: {path}:{message}\n")
    assert list(tmp_path.iterdir()) == [path]

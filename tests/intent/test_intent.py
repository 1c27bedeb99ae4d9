"""What a user may write, and what is said when it is wrong."""

from pathlib import Path

import pytest
from tests.intent.intents import ROOT, SMALL, refused

from railfab.errors import IntentError, Problems
from railfab.intent import FabricIntent, Lossless, load_intent, load_job

FABRICS = ROOT / "inventory" / "fabrics"
JOBS = ROOT / "inventory" / "jobs"


def test_pod64_fits_a_page_and_says_what_the_defaults_would_say(tmp_path: Path) -> None:
    path = FABRICS / "pod64.yml"
    assert len(path.read_text().splitlines()) <= 40
    intent = load_intent(path)
    assert intent.profile.lossless == Lossless()
    assert intent.profile == FabricIntent.model_validate({**intent.model_dump(exclude={"profile"})}).profile


def test_a_common_pod_needs_few_lines(tmp_path: Path) -> None:
    path = tmp_path / "small.yml"
    path.write_text(SMALL)
    intent = load_intent(path)
    assert intent.hosts.gpus == 8
    assert intent.profile.mtu == 9216


def test_all_faults_are_reported_together_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = SMALL.replace("version: 1", "version: 2").replace("hosts: 2", "hosts: 0").replace("rate_gbps", "rate")
    assert refused(tmp_path, text + "extra: 1\n") == [
        "f.yml:1: version: 2 is not a choice. Use 1.",
        "f.yml:4: backend.segments.hosts: 0 does not do. It should be greater than or equal to 1.",
        "f.yml:5: backend.spines.rate: is not a key railfab knows. Did you mean 'rate_gbps'? "
        "Known here: breakout, bundle, cable_m, count, links_per_leaf, model, platform, rate_gbps.",
        "f.yml:5: backend.spines.rate_gbps: is missing. Add it.",
        "f.yml:6: extra: is not a key railfab knows. Known here: backend, catalogue, fabric, frontend, hosts, "
        "inventory, management, models, profile, storage, switches, version.",
    ]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            ("fabric: small", "fabric: Small!"),
            "'Small!' is not a name. Use up to 32 lower-case letters, digits and inner",
        ),
        (("count: 1", "count: '1'"), "f.yml:4: backend.segments.count: '1' does not do. It should be a valid integer."),
        (("count: 1", "count: 1, count: 2"), "f.yml:4: key 'count' is given twice. Keep one of them."),
        (("count: 1", "count: [1"), ", while parsing a flow sequence from line 4). Mend the syntax there."),
        (
            ("fabric: small", "fabric: &a small\nhosts: *a"),
            "hosts: 'small' does not do. Write its keys below it, indented.",
        ),
        (
            ("backend:", "profile: {lossless: {dscp: 48}}\nbackend:"),
            "f.yml:3: profile.lossless.cnp_dscp: dscp and cnp_dscp are both 48. Give each its own code point.",
        ),
        (
            ("backend:", "profile: {lossless: {priority: 6}}\nbackend:"),
            "profile.lossless.priority: 6 does not do. It should be less than or equal to 5.",
        ),
        (
            ("backend:", "profile: {lossless: {priority: 0}}\nbackend:"),
            "profile.lossless.priority: 0 does not do. It should be greater than or equal to 1.",
        ),
        (
            ("backend:", "profile: {ecmp: spray}\nbackend:"),
            "profile.ecmp: 'spray' is not a choice. Use 'flow', 'flowlet' or 'packet'.",
        ),
        (("backend:", "? [a]\n: 1\nbackend:"), "a key is not a word. Use plain keys."),
        (("backend:", "a: &x [*x]\nbackend:"), "an alias repeats a part of the file. Write it out."),
    ],
)
def test_a_fault_is_one_line_that_says_where_what_and_how_to_mend_it(
    tmp_path: Path, change: tuple[str, str], line: str
) -> None:
    lines = refused(tmp_path, SMALL.replace(*change))
    assert line in lines[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "f.yml: holds no mapping. Begin with `version: 1`."),
        ("- a\n", "f.yml: holds no mapping."),
        ("\0", "is not YAML"),
    ],
)
def test_a_file_that_is_no_intent_is_said_so(tmp_path: Path, text: str, line: str) -> None:
    assert line in refused(tmp_path, text)[0]


def test_a_missing_or_unreadable_file_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(IntentError, match=r"none\.yml: no such file\. Check the path\."):
        load_intent(tmp_path / "none.yml")
    (tmp_path / "latin.yml").write_bytes(b"version: 1 # \xff\n")
    with pytest.raises(IntentError, match=r"latin\.yml: is no UTF-8 text\. Name a text file\."):
        load_intent(tmp_path / "latin.yml")
    with pytest.raises(IntentError, match=r": cannot be read \(is a directory\)\. Name a readable text file\.$"):
        load_intent(tmp_path)
    with pytest.raises(IntentError, match="/dev/zero: is larger than 1000000 bytes"):
        load_intent(Path("/dev/zero"))
    (tmp_path / "huge.yml").write_text("#" * 1_000_001)
    with pytest.raises(IntentError, match="is larger than 1000000 bytes"):
        load_intent(tmp_path / "huge.yml")


def test_a_job_for_a_fabric_and_a_fabric_for_a_job_are_one_fault_each(tmp_path: Path) -> None:
    fabric, job = tmp_path / "f.yml", tmp_path / "j.yml"
    fabric.write_text(SMALL)
    job.write_text("version: 1\njob: rest\nphases: [{compute: {ms: 1}}]\n")
    with pytest.raises(IntentError, match=r"j\.yml: is a job, not a fabric\. Name a fabric\.$"):
        load_intent(job)
    with pytest.raises(IntentError, match=r"f\.yml: is a fabric, not a job\. Name a job\.$"):
        load_job(fabric)


def test_off_switches_a_feature_off(tmp_path: Path) -> None:
    path = tmp_path / "f.yml"
    path.write_text(SMALL + "profile: {bfd: off, lossless: off}\n")
    intent = load_intent(path)
    assert intent.profile.bfd is None
    assert intent.profile.lossless is None


@pytest.mark.parametrize("job", sorted(JOBS.glob("*.yml")), ids=lambda path: path.stem)
def test_every_committed_job_loads(job: Path) -> None:
    assert load_job(job).job == job.stem


def job_refused(tmp_path: Path, text: str) -> str:
    path = tmp_path / "j.yml"
    path.write_text(text)
    with pytest.raises((IntentError, Problems)) as caught:
        load_job(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("phase", "line"),
    [
        ("compute: {ms: 1}, traffic: {pattern: incast, senders: 2, bytes: 1MB}", "here compute and traffic"),
        ("collective: {op: allreduce, bytes: 3XB}", "'3XB' is not a size. Write bytes, or a number with kB, MB, GB"),
        ("traffic: {pattern: storm, senders: 2, bytes: 1}", "'storm' is not a choice. Use 'incast'."),
        ("", "j.yml:4: phases.0: a phase is one of compute, collective and traffic, here none. Write one a phase."),
        (
            "colective: {}",
            "phases.0.colective: is not a key railfab knows. Did you mean 'collective'? Known here: coll",
        ),
        ("compute: {ms: 0}", "j.yml:4: phases.0.compute.ms: 0 does not do. It should be greater than 0."),
        ("compute: 5", "j.yml:4: phases.0.compute: 5 does not do. Write its keys below it, indented."),
    ],
)
def test_faults_of_a_job_are_said(tmp_path: Path, phase: str, line: str) -> None:
    assert line in job_refused(tmp_path, f"version: 1\njob: j\nphases:\n  - {{{phase}}}\n")


def test_sizes_read_as_people_write_them(tmp_path: Path) -> None:
    path = tmp_path / "j.yml"
    path.write_text("version: 1\njob: j\nphases:\n  - collective: {op: allreduce, bytes: 1.5 GB}\n")
    collective = load_job(path).phases[0].collective
    assert collective is not None
    assert collective.bytes == 1_500_000_000


@pytest.mark.parametrize(
    ("hosts", "line"),
    [
        ("some", "j.yml:3: hosts: 'some' is not a choice. Use 'all', a valid integer or a list."),
        ("0", "j.yml:3: hosts: 0 does not do. It should be greater than or equal to 1."),
        ("[a, 1]", "j.yml:3: hosts.1: 1 is not a text. Put it in quotes."),
    ],
)
def test_what_hosts_of_a_job_may_be_is_said(tmp_path: Path, hosts: str, line: str) -> None:
    assert job_refused(tmp_path, f"version: 1\njob: j\nhosts: {hosts}\nphases: [{{compute: {{ms: 1}}}}]\n").endswith(
        line
    )


def test_a_job_without_phases_is_refused(tmp_path: Path) -> None:
    refusal = job_refused(tmp_path, "version: 1\njob: j\nphases: []\n")
    assert refusal.endswith("j.yml:3: phases: is empty. Give at least one.")

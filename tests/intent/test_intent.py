"""Valid and invalid intents and jobs, and the error messages of the invalid ones."""

from pathlib import Path

import pytest
from tests.intent.intents import ROOT, SMALL, refused

from railfab.errors import IntentError, Problems
from railfab.intent import FabricIntent, Lossless, load_intent, load_job

FABRICS = ROOT / "inventory" / "fabrics"
JOBS = ROOT / "inventory" / "jobs"


def test_pod64_has_at_most_40_lines_and_equals_the_defaults(tmp_path: Path) -> None:
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


def test_all_faults_are_reported_together_in_file_order(tmp_path: Path) -> None:
    text = SMALL.replace("version: 1", "version: 2").replace("hosts: 2", "hosts: 0").replace("rate_gbps", "rate")
    assert refused(tmp_path, text + "extra: 1\n") == [
        "f.yml:1: version: 2 is not a choice. Use 1.",
        "f.yml:4: backend.segments.hosts: 0 is out of range. Use 1 to 4096.",
        "f.yml:5: backend.spines.rate: unknown key. Did you mean 'rate_gbps'? "
        "The keys here are breakout, bundle, cable_m, count, links_per_leaf, model, platform, rate_gbps.",
        "f.yml:5: backend.spines.rate_gbps: the key is missing. Add it.",
        "f.yml:6: extra: unknown key. The keys here are backend, catalogue, change, drain, fabric, frontend, hosts, "
        "inventory, management, models, names, profile, storage, switches, version.",
    ]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            ("fabric: small", "fabric: Small!"),
            "'Small!' is not a name. Use up to 32 lower-case letters, digits and inner",
        ),
        (
            ("count: 1", "count: '1'"),
            "f.yml:4: backend.segments.count: '1' in quotes is a text. Write the number without quotes.",
        ),
        (("count: 1", "count: 1, count: 2"), "f.yml:4: key 'count' is duplicate. Keep one of them."),
        (("count: 1", "count: [1"), ", while parsing a flow sequence from line 4). Correct this line."),
        (
            ("fabric: small", "fabric: &a small\nhosts: *a"),
            "hosts: 'small' is not a mapping. Write the keys below, indented.",
        ),
        (
            ("backend:", "profile: {lossless: {dscp: 48}}\nbackend:"),
            "f.yml:3: profile.lossless.cnp_dscp: dscp and cnp_dscp are both 48. Use two different code points.",
        ),
        (
            ("backend:", "profile: {lossless: {priority: 6}}\nbackend:"),
            "profile.lossless.priority: 6 is out of range. Use 1 to 5.",
        ),
        (
            ("backend:", "profile: {lossless: {priority: 0}}\nbackend:"),
            "profile.lossless.priority: 0 is out of range. Use 1 to 5.",
        ),
        (
            ("backend:", "profile: {ecmp: spray}\nbackend:"),
            "profile.ecmp: 'spray' is not a choice. Use 'flow', 'flowlet', 'packet', 'adaptive' or 'collective'.",
        ),
        (("backend:", "? [a]\n: 1\nbackend:"), "a key is not a plain value. Use a word or a number."),
        (("backend:", "a: &x [*x]\nbackend:"), "an alias of a list or mapping is not supported. Write its content."),
    ],
)
def test_a_fault_is_one_line_with_place_problem_and_remedy(tmp_path: Path, change: tuple[str, str], line: str) -> None:
    lines = refused(tmp_path, SMALL.replace(*change))
    assert line in lines[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "f.yml: the file contains no mapping. Begin it with `version: 1`."),
        ("- a\n", "f.yml: the file contains no mapping."),
        ("\0", "YAML does not allow the character U+0000. Delete it."),
    ],
)
def test_a_file_that_is_not_an_intent_is_an_error(tmp_path: Path, text: str, line: str) -> None:
    assert line in refused(tmp_path, text)[0]


def test_a_missing_or_unreadable_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IntentError, match=r"none\.yml: no such file\. Check the path\."):
        load_intent(tmp_path / "none.yml")
    (tmp_path / "latin.yml").write_bytes(b"version: 1 # \xff\n")
    with pytest.raises(IntentError, match=r"latin\.yml: the file is not UTF-8 text\. Save it as UTF-8\."):
        load_intent(tmp_path / "latin.yml")
    with pytest.raises(
        IntentError, match=r": the file cannot be read \(is a directory\)\. Name a readable text file\.$"
    ):
        load_intent(tmp_path)
    with pytest.raises(IntentError, match="/dev/zero: the file is larger than 1000000 bytes"):
        load_intent(Path("/dev/zero"))
    (tmp_path / "huge.yml").write_text("#" * 1_000_001)
    with pytest.raises(IntentError, match="is larger than 1000000 bytes"):
        load_intent(tmp_path / "huge.yml")


def test_a_job_for_a_fabric_and_a_fabric_for_a_job_are_one_fault_each(tmp_path: Path) -> None:
    fabric, job = tmp_path / "f.yml", tmp_path / "j.yml"
    fabric.write_text(SMALL)
    job.write_text("version: 1\njob: rest\nphases: [{compute: {ms: 1}}]\n")
    with pytest.raises(
        IntentError, match=r"j\.yml: the file describes a job, not a fabric\. Name a file with a fabric\.$"
    ):
        load_intent(job)
    with pytest.raises(
        IntentError, match=r"f\.yml: the file describes a fabric, not a job\. Name a file with a job\.$"
    ):
        load_job(fabric)


def test_off_disables_a_feature(tmp_path: Path) -> None:
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
        ("compute: {ms: 1}, traffic: {pattern: incast, senders: 2, bytes: 1MB}", "the phase has compute and traffic"),
        (
            "collective: {op: allreduce, bytes: 3XB}",
            "'3XB' is not a size. Write a number of bytes, or a number with one of kB, MB, GB",
        ),
        ("traffic: {pattern: storm, senders: 2, bytes: 1}", "'storm' is not a choice. Use 'incast'."),
        (
            "",
            "j.yml:4: phases.0: the phase has no key. Write exactly one of compute, collective and traffic per phase.",
        ),
        (
            "colective: {}",
            "phases.0.colective: unknown key. Did you mean 'collective'? The keys here are coll",
        ),
        ("compute: {ms: 0}", "j.yml:4: phases.0.compute.ms: 0 is out of range. Use a number above 0, up to 3600000."),
        ("compute: 5", "j.yml:4: phases.0.compute: 5 is not a mapping. Write the keys below, indented."),
    ],
)
def test_faults_of_a_job_are_reported(tmp_path: Path, phase: str, line: str) -> None:
    assert line in job_refused(tmp_path, f"version: 1\njob: j\nphases:\n  - {{{phase}}}\n")


def test_a_size_may_have_a_decimal_and_a_space_before_its_unit(tmp_path: Path) -> None:
    path = tmp_path / "j.yml"
    path.write_text("version: 1\njob: j\nphases:\n  - collective: {op: allreduce, bytes: 1.5 GB}\n")
    collective = load_job(path).phases[0].collective
    assert collective is not None
    assert collective.bytes == 1_500_000_000


@pytest.mark.parametrize(
    ("hosts", "line"),
    [
        ("some", "j.yml:3: hosts: 'some' is not a choice. Use 'all', an integer or a list."),
        ("0", "j.yml:3: hosts: 0 is out of range. Use 1 to 4096."),
        ("[a, 1]", "j.yml:3: hosts.1: 1 is not a text. Put it in quotes."),
    ],
)
def test_invalid_hosts_of_a_job_are_reported(tmp_path: Path, hosts: str, line: str) -> None:
    assert job_refused(tmp_path, f"version: 1\njob: j\nhosts: {hosts}\nphases: [{{compute: {{ms: 1}}}}]\n").endswith(
        line
    )


@pytest.mark.parametrize(
    ("background", "line"),
    [
        ("storage: 5", "background.storage: 'storage' is not a choice. Use 'default', 'cnp' or 'roce'."),
        ("default: 101", "background.default: 101 is out of range. Use a number above 0, up to 100."),
        ("default: 0", "background.default: 0 is out of range. Use a number above 0, up to 100."),
    ],
)
def test_invalid_background_traffic_is_reported(tmp_path: Path, background: str, line: str) -> None:
    refusal = job_refused(
        tmp_path, f"version: 1\njob: j\nphases: [{{compute: {{ms: 1}}}}]\nbackground: {{{background}}}\n"
    )
    assert refusal.endswith(f"j.yml:4: {line}")


def test_a_job_without_phases_is_refused(tmp_path: Path) -> None:
    refusal = job_refused(tmp_path, "version: 1\njob: j\nphases: []\n")
    assert refusal.endswith("j.yml:3: phases: the list is empty. Add at least one element.")

"""Chakra traces: files of Chakra's own tools, schedules with known ends, and files that are wrong."""

from __future__ import annotations

import gzip
import struct
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.workload.references import REFERENCE

from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.intent import Job
from railfab.workload import JobEstimate, estimate
from railfab.workload.closed_form import ClosedForm
from railfab.workload.rates import CallTime
from railfab.workload.recorded import job_files, load_any_job
from railfab.workload.recorded.trace import RankTraces

TRACES = REFERENCE / "traces"
COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
ALL_REDUCE, REDUCE, ALL_GATHER = 0, 1, 2
MS = 1e-3


@pytest.fixture(scope="module")
def pod64() -> Design:
    return design(Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml")


def varint(value: int) -> bytes:
    octets = bytearray()
    while value > 127:
        octets.append(value & 127 | 128)
        value >>= 7
    return bytes([*octets, value])


def field(number: int, value: int | float | str | bytes) -> bytes:
    """A field of a protobuf message, on the wire."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    octets = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(octets)) + octets


def attribute(name: str, value: int | float | str | bool) -> bytes:
    """An AttributeProto: int64_val 9, double_val 3, string_val 29, bool_val 27."""
    number = 27 if isinstance(value, bool) else 9 if isinstance(value, int) else 3 if isinstance(value, float) else 29
    return field(10, field(1, name) + field(number, value if isinstance(value, float | str) else int(value)))


def node(number: int, kind: int, *after: int, us: int = 0, name: str = "n", **attributes: int | float | str) -> bytes:
    body = field(1, number) + field(2, name) + field(3, kind)
    body += b"".join(field(5, before) for before in after) + field(7, us)
    return body + b"".join(attribute(key, value) for key, value in attributes.items())


def collective(number: int, *after: int, size: float = 10**6, kind: float = ALL_REDUCE, **more: str) -> bytes:
    return node(number, COLLECTIVE, *after, comm_type=kind, comm_size=size, **more)


def delimited(*messages: bytes) -> bytes:
    return b"".join(varint(len(message)) + message for message in messages)


METADATA = field(1, "0.0.4")


def traced(folder: Path, *ranks: Sequence[bytes]) -> Path:
    for rank, nodes in enumerate(ranks):
        (folder / f"job.{rank}.et").write_bytes(delimited(METADATA, *nodes))
    return folder / "job"


class Fixed(ClosedForm):
    """A millisecond for every operation."""

    def call(
        self, rates: object, group: str, op: str, size_bytes: float, span: object, algorithm: object = None
    ) -> CallTime:
        return CallTime(algorithm="fixed", seconds=MS, latency_s=MS, nic_bytes=size_bytes)


def step_of(path: Path, fabric: Design) -> JobEstimate:
    return estimate(load_any_job(path)[0], fabric.intent, fabric.topology, Fixed())


def test_a_trace_of_chakra_is_the_collective_that_it_names(pod64: Design) -> None:
    """Four ranks of a host, as four ranks of a job with a model: a closed form of the same group and bytes."""
    step = estimate(load_any_job(TRACES / "chakra_allreduce_4x1MB")[0], pod64.intent, pod64.topology)
    (turn,) = step.collectives
    assert (turn.group, turn.op, turn.ranks, turn.hosts, turn.calls, turn.size_bytes) == (
        "all",
        "allreduce",
        4,
        1,
        1,
        2**20,
    )
    assert step.step_s == turn.call_s == step.exposed_s["all"]
    by_file = load_any_job(TRACES / "chakra_allreduce_4x1MB.2.et")[0]
    assert by_file.job == "chakra_allreduce_4x1MB"
    assert job_files(TRACES / "layers") == tuple(TRACES / f"layers.{rank}.et" for rank in range(4))


def test_traces_that_chakra_converts_have_the_operations_of_their_text(pod64: Design) -> None:
    """Chakra turns NONE into an AllReduce of 0 bytes, and a broadcast into an AllReduce; an AllGather has pieces."""
    job, _ = load_any_job(TRACES / "layers")
    step = estimate(job, pod64.intent, pod64.topology)
    counts = Counter({(turn.op, turn.size_bytes): turn.calls for turn in step.collectives})
    lines = [line.split() for line in (TRACES / "layers.txt").read_text().splitlines()[2:]]
    expected: Counter[tuple[str, int]] = Counter()
    for number, line in enumerate(lines):
        for first in (2, 5, 8):
            op, size_bytes = line[first + 1].lower().replace("broadcast", "allreduce"), int(line[first + 2])
            if size_bytes and not (number == 0 and first == 5):
                expected[op, size_bytes * (4 if op == "allgather" else 1)] += 1
    assert counts == expected
    assert step.not_modelled == {"allreduce of 0 bytes": 4 * 2}
    assert step.compute_s == pytest.approx(1e-6 * sum(int(line[field]) for line in lines for field in (2, 5, 8)))


def test_operations_are_hidden_beside_computation_and_exposed_after_it(tmp_path: Path, pod64: Design) -> None:
    """1 ms of an operation beside 3 ms of computation, then 1 ms that waits, then 2 ms of computation."""
    rank = [node(1, COMPUTE, us=3000), collective(2), collective(3, 1, 2), node(4, COMPUTE, 3, us=2000)]
    step = step_of(traced(tmp_path, rank, rank), pod64)
    assert (step.step_s, step.compute_s, step.bubble_s) == pytest.approx((6 * MS, 5 * MS, 0.0))
    assert step.exposed_s == pytest.approx({"all": MS})
    assert sorted((turn.calls, turn.hidden) for turn in step.collectives) == [(1, False), (1, True)]


def test_a_rank_that_waits_for_a_later_one_has_a_bubble(tmp_path: Path, pod64: Design) -> None:
    ranks = [[node(1, COMPUTE, us=us), collective(2, 1), node(3, COMPUTE, 2, us=us)] for us in (1000, 4000)]
    late = step_of(traced(tmp_path, *ranks), pod64)
    assert (late.step_s, late.compute_s, late.bubble_s) == pytest.approx((9 * MS, 8 * MS, 0.0))
    ranks[0][2] = node(3, COMPUTE, 2, us=9000)
    early = step_of(traced(tmp_path, *ranks), pod64)
    assert (early.step_s, early.compute_s, early.bubble_s) == pytest.approx((14 * MS, 10 * MS, 3 * MS))


def test_a_pipeline_sends_without_waiting_and_receives_what_was_sent(tmp_path: Path, pod64: Design) -> None:
    """Two micro-batches of 2 ms through two stages, with 1 ms between: 2 + 1 + 2 x 2 ms."""
    first = [node(1, COMPUTE, us=2000), node(2, SEND, 1, comm_dst=1, comm_size=8, comm_tag=1)]
    first += [node(3, COMPUTE, 1, us=2000), node(4, SEND, 3, comm_dst=1, comm_size=8, comm_tag=2)]
    second = [node(2, RECEIVE, comm_src=0, comm_size=8, comm_tag=2), node(4, COMPUTE, 2, us=2000)]
    second += [node(1, RECEIVE, comm_src=0, comm_size=8, comm_tag=1), node(3, COMPUTE, 1, us=2000)]
    step = step_of(traced(tmp_path, first, second), pod64)
    assert (step.step_s, step.compute_s) == pytest.approx((7 * MS, 4 * MS))
    assert step.exposed_s == pytest.approx({"0>1": MS})
    assert step.bubble_s == pytest.approx(2 * MS)


def test_process_groups_are_the_ranks_that_name_them_and_alike_groups_run_at_once(
    tmp_path: Path, pod64: Design
) -> None:
    ranks = [[collective(1, pg_name=f"{rank // 2}"), collective(2, 1, pg_name=f"{2 + rank % 2}")] for rank in range(4)]
    job, _ = load_any_job(traced(tmp_path, *ranks))
    assert isinstance(job, RankTraces)
    assert job.groups(4) == {"pg 0": [(0, 1), (2, 3)], "pg 2": [(0, 2), (1, 3)]}
    assert step_of(tmp_path / "job", pod64).exposed_s == pytest.approx({"pg 0": MS, "pg 2": MS})


def test_work_of_the_processor_is_beside_that_of_the_gpu(tmp_path: Path, pod64: Design) -> None:
    rank = [node(1, COMPUTE, us=2000, is_cpu_op=True), node(2, COMPUTE, us=3000), node(3, COMPUTE, us=1000)]
    step = step_of(traced(tmp_path, rank), pod64)
    assert (step.step_s, step.compute_s, step.bubble_s) == pytest.approx((4 * MS, 4 * MS, 0.0))


def test_what_takes_no_time_is_named_with_its_count(tmp_path: Path, pod64: Design) -> None:
    """Others still wait for it."""
    rank = [
        node(1, 2, tensor_size=5),
        node(2, COMPUTE, 1, num_ops=100),
        collective(3, 2, kind=REDUCE),
        node(4, SEND, 3, comm_size=8),
        collective(5, 4, size=0),
        node(6, 1, 5),
        node(7, COMPUTE, 6, us=1000),
    ]
    step = step_of(traced(tmp_path, rank, rank), pod64)
    assert step.step_s == pytest.approx(MS)
    assert step.not_modelled == {
        "loads of memory": 2,
        "computations without a duration": 2,
        "reduce operations": 2,
        "sends without comm_dst": 2,
        "allreduce of 0 bytes": 2,
    }


def test_sizes_of_any_integer_type_and_packed_files_are_read(tmp_path: Path, pod64: Design) -> None:
    uint64 = node(1, COLLECTIVE, comm_type=0) + field(10, field(1, "comm_size") + field(13, 7))
    path = traced(tmp_path, [uint64], [uint64])
    held = (tmp_path / "job.1.et").read_bytes()
    (tmp_path / "job.1.et").write_bytes(gzip.compress(held))
    assert [turn.size_bytes for turn in step_of(path, pod64).collectives] == [7]


PAIR = [node(1, COMPUTE, us=5), collective(2, 1)]
Wrong = dict[int, bytes | None] | list[bytes]
"""Files of ranks in place of those that are there, or the nodes of rank 1."""
FAULTS: dict[str, tuple[Wrong, str]] = {
    "a file without bytes": ({1: b""}, "job.1.et: the file is empty. Record or convert the trace again"),
    "a missing rank": (
        {2: delimited(METADATA, *PAIR), 1: None},
        "job.1.et: there is no trace of rank 1, and one of rank 2",
    ),
    "cut off": (
        {1: delimited(METADATA, *PAIR)[:-3]},
        "job.1.et: byte 18: no message is here, or it is cut off; 1 nodes",
    ),
    "no protobuf": ({1: b"\x05hello"}, "job.1.et: byte 0: no message is here"),
    "no metadata": ({1: delimited(*PAIR)}, "job.1.et: the first message is a node, and metadata is expected"),
    "damaged gzip": ({1: gzip.compress(delimited(METADATA, *PAIR))[:-9]}, "job.1.et: it is cut off, or no gzip"),
    "an unknown type": ([node(7, 12, name="x")], "job.1.et: node 7 (x): 12 is not a type of nodes"),
    "no type": ([node(7, 0)], "job.1.et: node 7 (n): 0 is not a type of nodes"),
    "a circle": (
        [node(1, 4, 3), node(2, 4, 1), node(3, 4, 2), node(4, 4)],
        "job.1.et: the nodes 1, 3, 2 wait for each",
    ),
    "itself": ([node(1, 4, 1)], "job.1.et: the nodes 1 wait for each other"),
    "an unknown node": ([node(1, 4, 9)], "job.1.et: node 1 (n): it waits for node 9, which the file does not have"),
    "two of one id": ([node(1, 4), node(1, 4)], "job.1.et: node 1 (n): another node has the same id"),
    "NaN": ([PAIR[0], collective(2, size=float("nan"))], "job.1.et: node 2 (n): comm_size is nan, which is no whole"),
    "negative": ([PAIR[0], collective(2, size=2**64 - 5)], "job.1.et: node 2 (n): comm_size is -5, which is no whole"),
    "a kind": ([collective(2, kind=23)], "job.1.et: node 2 (n): 23 is not a comm_type. Convert the trace again"),
    "no kind": ([node(2, 7)], "job.1.et: node 2 (n): it has no comm_type"),
    "dimensions": (
        [collective(2) + field(10, field(1, "involved_dim") + field(28, field(1, 1) + field(1, 0)))],
        "job.1.et: node 2 (n): it is among some dimensions of a topology (involved_dim), and no ranks are named",
    ),
    "another operation": (
        [collective(2, kind=2)],
        "job: rank 1: node 2 (n): rank 0 has another operation in its place",
    ),
    "a collective less": ([PAIR[0]], "job: rank 0 has 1 collective of the group of all, and rank 1 has 0"),
    "no such rank": ([*PAIR, node(3, SEND, comm_dst=2, comm_size=1)], "job.1.et: node 3 (n): comm_dst is 2, and it is"),
    "nobody receives": (
        [*PAIR, node(3, SEND, comm_dst=0, comm_size=1)],
        "job: with tag 0 rank 1 sends 1 time to rank 0",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_traces_that_are_wrong_are_one_line(
    name: str, tmp_path: Path, pod64: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two ranks; rank 1, or the files that are named, are wrong."""
    change, message = FAULTS[name]
    monkeypatch.chdir(tmp_path)
    traced(tmp_path, PAIR, PAIR if isinstance(change, dict) else change)
    for rank, octets in change.items() if isinstance(change, dict) else ():
        file = tmp_path / f"job.{rank}.et"
        file.unlink(missing_ok=True)
        if octets is not None:
            file.write_bytes(octets)
    with pytest.raises(RailfabError) as raised:
        step_of(Path("job"), pod64)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_ranks_that_wait_for_each_other_for_ever_are_named(tmp_path: Path, pod64: Design) -> None:
    """Two groups of the same two ranks, which each begins with the other one."""
    ranks = [[collective(1, pg_name=names[0]), collective(2, 1, pg_name=names[1])] for names in ("ab", "ba")]
    with pytest.raises(RailfabError, match=r"job: rank 0: node 1 \(n\): it waits for rank 1, which waits for another"):
        step_of(traced(tmp_path, *ranks), pod64)


def test_more_ranks_than_gpus_and_no_work_are_one_line(tmp_path: Path, pod64: Design) -> None:
    with pytest.raises(
        RailfabError, match=r"job: there are traces of 65 ranks, and the fabric has 64 GPUs\. Use a des"
    ):
        step_of(traced(tmp_path, *[PAIR] * 65), pod64)
    idle = tmp_path / "idle"
    idle.mkdir()
    with pytest.raises(RailfabError, match="nothing takes any time, 1 loads of memory"):
        step_of(traced(idle, [node(1, 2)]), pod64)


def test_a_job_file_is_still_one(tmp_path: Path) -> None:
    path = tmp_path / "job.yml"
    path.write_text("version: 1\njob: a\nphases:\n  - compute: {ms: 1}\n")
    assert isinstance(load_any_job(path)[0], Job)
    assert isinstance(load_any_job(TRACES / "layers")[0], RankTraces)


def test_operations_of_a_group_follow_each_other_and_those_of_two_groups_do_not(tmp_path: Path, pod64: Design) -> None:
    one, two = ([collective(1, pg_name="a"), collective(2, pg_name=name)] for name in ("a", "b"))
    assert step_of(traced(tmp_path, one, one), pod64).step_s == pytest.approx(2 * MS)
    step = step_of(traced(tmp_path, two, two), pod64)
    assert step.step_s == sum(step.exposed_s.values()) == pytest.approx(MS)


def test_collectives_are_counted_in_the_order_of_their_numbers_and_as_long_as_the_largest_part(
    tmp_path: Path, pod64: Design
) -> None:
    """The order of a file means nothing; parts of an uneven operation have several sizes."""
    reduce_scatter = collective(2, 1, kind=8, size=300)
    ranks = [[collective(1, size=100), reduce_scatter], [reduce_scatter, collective(1, size=200)]]
    step = step_of(traced(tmp_path, *ranks), pod64)
    assert sorted((turn.op, turn.size_bytes) for turn in step.collectives) == [
        ("allreduce", 200),
        ("reducescatter", 300),
    ]


def test_a_late_receiver_has_at_once_what_was_sent(tmp_path: Path, pod64: Design) -> None:
    first = [node(1, SEND, comm_dst=1, comm_size=8)]
    second = [node(1, COMPUTE, us=5000), node(2, RECEIVE, 1, comm_src=0), node(3, COMPUTE, 2, us=2000)]
    assert step_of(traced(tmp_path, first, second), pod64).step_s == pytest.approx(7 * MS)


def test_control_dependencies_are_waited_for_as_those_of_data(tmp_path: Path, pod64: Design) -> None:
    rank = [node(1, COMPUTE, us=3000), collective(2) + field(4, 1)]
    assert step_of(traced(tmp_path, rank, rank), pod64).step_s == pytest.approx(4 * MS)


def test_groups_that_share_a_rank_and_pairs_that_send_do_not_run_at_once(tmp_path: Path) -> None:
    chain = [[collective(1, pg_name="a")], [collective(1, pg_name="a"), collective(2, pg_name="b")]]
    chain += [[collective(2, pg_name="b"), node(3, SEND, comm_dst=3, comm_size=8)], [node(3, RECEIVE, comm_src=2)]]
    job, _ = load_any_job(traced(tmp_path, *chain))
    assert isinstance(job, RankTraces)
    assert job.groups(4) == {"pg a": [(0, 1)], "pg b": [(1, 2)], "2>3": [(2, 3)]}

"""The laws of sharding by rendezvous hash."""

from __future__ import annotations

from collections import Counter

import pytest

from railfab.errors import RailfabError
from railfab.telemetry.targets import Shard, Share, owner, parse_shard, parse_share, process_shard

NAMES = [f"pod{pod}-seg{segment}-leaf{leaf}" for pod in range(25) for segment in range(20) for leaf in range(20)]


def test_every_target_is_in_exactly_one_shard() -> None:
    for count in (1, 2, 5):
        shards = [Shard(index, count) for index in range(count)]
        assert all(sum(shard.owns(name) for shard in shards) == 1 for name in NAMES[:200])


def test_a_further_shard_takes_targets_and_moves_none_between_the_others() -> None:
    for count in (1, 2, 7):
        for name in NAMES[:1_000]:
            assert owner(name, count + 1) in (owner(name, count), count)


def test_shards_are_balanced() -> None:
    """10,000 targets on 8 shards: a binomial share, 1,250 and a standard deviation of 33."""
    found = Counter(owner(name, 8) for name in NAMES)
    assert len(NAMES) == 10_000
    assert all(abs(found[shard] - 1_250) < 5 * 33 for shard in range(8))


@pytest.mark.parametrize(("collectors", "processes"), [(1, 4), (4, 4), (3, 5), (2, 1)])
def test_the_processes_of_all_collectors_have_each_target_once(collectors: int, processes: int) -> None:
    shares = [
        Share(Shard(collector, collectors), process_shard(process, processes))
        for collector in range(collectors)
        for process in range(processes)
    ]
    for name in NAMES[:500]:
        assert sum(share.owns(name) for share in shares) == 1


def test_as_many_processes_as_collectors_share_the_targets_of_each_evenly() -> None:
    mine = [name for name in NAMES if Shard(2, 4).owns(name)]
    found = Counter(next(index for index in range(4) if process_shard(index, 4).owns(name)) for name in mine)
    assert all(abs(found[index] - len(mine) / 4) < 5 * 22 for index in range(4))


def test_a_share_is_read_as_it_is_written() -> None:
    share = parse_share("1/3", "0/4")
    assert (share, share.label) == (Share(Shard(1, 3), process_shard(0, 4)), "1.0")
    assert (parse_share(None, "3/4").label, parse_share("2/3", None).label) == ("3", "2")
    assert (parse_share(None, None).owns("leaf1"), parse_share(None, None).label) == (True, "")
    with pytest.raises(RailfabError, match=r"^--process 4/4: there is no shard 4 of 4"):
        parse_share(None, "4/4")


def test_owners_do_not_depend_on_the_process() -> None:
    assert [owner(name, 16) for name in ("pod1-seg1-leaf1", "pod1-spine1", "super1")] == [6, 8, 6]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "--shard : is not of the form i/n. Write for example 0/3 for the first of three."),
        ("1", "--shard 1: is not of the form i/n."),
        ("a/3", "is not of the form i/n."),
        ("-1/3", "is not of the form i/n."),
        ("1/0", "--shard 1/0: 0 is no number of shards. Use 1 to 4096."),
        ("1/5000", "5000 is no number of shards. Use 1 to 4096."),
        ("3/3", "--shard 3/3: there is no shard 3 of 3; they are numbered from 0. Use 0/3 to 2/3."),
        ("1/99999999999999", "is not of the form i/n."),
        ("\u0661/3", "is not of the form i/n."),
    ],
)
def test_what_is_no_shard_is_told_in_one_line(text: str, said: str) -> None:
    with pytest.raises(RailfabError) as caught:
        parse_shard(text)
    assert said in str(caught.value)


def test_shards_are_numbered_from_0() -> None:
    assert parse_shard("2/3") == Shard(2, 3)
    assert parse_shard(" 0/1 ") == Shard(0, 1)

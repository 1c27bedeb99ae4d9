"""A statement stands once and works in both directions: what `written` gives, `Reading` stores."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.statements import (
    REST,
    WORD,
    Reading,
    Word,
    below,
    choice,
    flag,
    inline,
    integer,
    line,
    lines,
    over,
    prefixed,
    sections,
    table,
    taken,
    unread,
    written,
)

SHARE = integer(1, 100)


@dataclass(slots=True, kw_only=True)
class Queue:
    strict: bool = flag("no priority", default=True)
    weight: int | None = line("bandwidth percent {}", SHARE)


@dataclass(slots=True, kw_only=True)
class Neighbor:
    asn: int | None = line("remote-as {}", integer(1, 2**32 - 1))
    enabled: bool = flag("shutdown", default=True)
    policies: list[tuple[str, str]] = lines("route-map {} {}", WORD, Word("in|out", str))


@dataclass(slots=True, kw_only=True)
class Times:
    timers_s: tuple[int, int] | None = line("timers {} {}", SHARE, SHARE, means={"fast timers": (1, 3)})


@dataclass(slots=True, kw_only=True)
class Switch:
    """One field of each kind."""

    name: str = line("hostname {}", WORD, default="")
    text: str = line("description {}", REST, default="")
    routing: bool = flag("no ip routing", default=True, beside=("no ipv6 routing",))
    code: str | None = line("{}", choice({"off": "no error-correction", "rs": "error-correction rs"}))
    matches: bool = taken(r"match .*")
    redistributes: bool = unread("redistribute connected")
    times: Times = inline(Times)
    servers: list[tuple[str | None, str, int | None]] = lines("logging[ vrf {}] host {}[ {}]", WORD, WORD, SHARE)
    addresses: list[str] = lines("ip address {}", WORD, further="ip address {} secondary")
    thresholds: dict[int, int] = table("queue {} threshold {}", SHARE, SHARE)
    queue: Queue | None = below("default queue", Queue)
    queues: dict[int, Queue] = sections("tx-queue {}", SHARE, kind=Queue)
    routers: dict[tuple[str, int], Times] = sections("router {} {}", WORD, SHARE, kind=Times)
    neighbors: dict[str, Neighbor] = prefixed("neighbor", WORD, Neighbor)


names = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True).filter(lambda name: name != "vrf")
shares = st.integers(1, 100)
queues = st.builds(Queue, strict=st.booleans(), weight=st.none() | shares)
times = st.builds(Times, timers_s=st.none() | st.tuples(shares, shares))
neighbors = st.builds(
    Neighbor,
    asn=shares,
    enabled=st.booleans(),
    policies=st.lists(st.tuples(names, st.sampled_from(["in", "out"])), max_size=2),
)
switches = st.builds(
    Switch,
    name=names,
    text=st.sampled_from(["", "to spine 1", "{} [x]"]),
    routing=st.booleans(),
    code=st.sampled_from([None, "off", "rs"]),
    matches=st.just(False),
    times=times,
    servers=st.lists(st.tuples(st.none() | names, names, st.none() | shares), max_size=3),
    addresses=st.lists(names, max_size=3),
    thresholds=st.dictionaries(shares, shares, max_size=3),
    queue=st.none() | queues,
    queues=st.dictionaries(shares, queues, max_size=3),
    routers=st.dictionaries(st.tuples(names, shares), times, max_size=2),
    neighbors=st.dictionaries(names, neighbors, max_size=2),
)


def read(*stated: Line) -> tuple[Switch, list[str]]:
    switch, reading = Switch(), Reading()
    reading.read(switch, stated)
    return switch, [str(error) for error in reading.errors]


@given(switch=switches)
def test_what_is_written_is_read_back(switch: Switch) -> None:
    assert read(*written(switch)) == (switch, [])


def test_the_order_is_that_of_the_fields_and_defaults_are_not_written() -> None:
    switch = Switch(name="leaf1", routing=False, addresses=["a", "b", "c"], queues={3: Queue(), 1: Queue(weight=60)})
    assert written(switch) == (
        Line("hostname leaf1"),
        Line("no ip routing"),
        Line("no ipv6 routing"),
        Line("ip address a"),
        Line("ip address b secondary"),
        Line("ip address c secondary"),
        Line("tx-queue 3"),
        Line("tx-queue 1", (Line("bandwidth percent 60"),)),
    )
    assert written(Switch()) == ()
    assert written(Switch(redistributes=True)) == (Line("redistribute connected"),)


def test_lines_with_a_prefix_are_those_of_one_entry_wherever_they_stand() -> None:
    stated = ("neighbor a remote-as 1", "neighbor b shutdown", "neighbor a route-map x in", "neighbor c send-community")
    switch, _ = read(*map(Line, stated))
    assert switch.neighbors == {"a": Neighbor(asn=1, policies=[("x", "in")]), "b": Neighbor(enabled=False)}


def test_other_spellings_are_read_and_never_written() -> None:
    switch, _ = read(
        Line("fast timers"), Line("match anything"), Line("ip address a secondary"), Line("redistribute connected")
    )
    assert (switch.times.timers_s, switch.matches, switch.addresses) == ((1, 3), True, ["a"])
    assert written(switch) == (Line("timers 1 3"), Line("ip address a"))


def test_a_line_that_no_statement_takes_is_skipped_with_those_below() -> None:
    assert read(Line("unknown", (Line("hostname leaf2"),)), Line("hostname leaf1"))[0] == Switch(name="leaf1")


def test_every_bad_value_is_an_error_of_its_line_and_section() -> None:
    queue = Line("tx-queue 7", (Line("bandwidth percent 101", (), 3),), 2)
    switch, errors = read(Line("tx-queue 200", (), 1), queue, Line("hostname leaf1", (), 4))
    assert errors == [
        "line 1: 'tx-queue 200' has a bad value (200 is not within 1 to 100). Correct the value.",
        "line 3, in tx-queue 7: 'bandwidth percent 101' has a bad value (101 is not within 1 to 100). "
        "Correct the value.",
    ]
    assert switch == Switch(name="leaf1", queues={7: Queue()})


def test_a_specific_section_over_a_general_one_keeps_what_it_does_not_state() -> None:
    group = Neighbor(asn=65000, policies=[("x", "in")])
    assert over(group, Neighbor(enabled=False)) == Neighbor(asn=65000, enabled=False, policies=[("x", "in")])
    assert over(group, Neighbor(asn=1)).asn == 1


def test_a_template_has_as_many_words_as_places() -> None:
    with pytest.raises(ValueError, match="has not 1 words"):
        line("timers {} {}", WORD)

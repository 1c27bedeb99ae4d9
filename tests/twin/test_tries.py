"""Tries of refused sessions, which are followed from one state of the fabric to the next."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.forwarding.fabrics import deployed, model, planned
from tests.laws import examples

from railfab.device import BgpSpeaker, DeviceModel
from railfab.twin.tries import Tries
from railfab.units import NS_PER_S


def with_retry(name: str, connect_retry_s: int | None, asn: int) -> DeviceModel:
    """A switch that tries in this interval, and says that it is in another AS."""
    found = model(name)
    assert isinstance(found.bgp, BgpSpeaker)
    neighbors = tuple(
        replace(held, timers=replace(held.timers, connect_retry_s=connect_retry_s)) for held in found.bgp.neighbors
    )
    return replace(found, bgp=replace(found.bgp, asn=found.bgp.asn + asn, neighbors=neighbors))


Change = tuple[str, int | None, int]

changes = st.tuples(st.sampled_from(sorted(planned()[1])), st.sampled_from([None, 7, 11]), st.sampled_from([0, 1000]))


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.none() | changes, min_size=1, max_size=5))
def test_tries_that_follow_from_earlier_ones_are_those_of_the_state(
    steps: list[tuple[str, int | None, int] | None],
) -> None:
    running = deployed()
    followed = Tries(running.state())
    for step in steps:
        name = step[0] if step else min(planned()[1])
        running.configure(name, step and with_retry(*step))
        running.advance(NS_PER_S)
        followed = Tries(running.state(), followed)
        fresh = Tries(running.state())
        for seconds in (0, 7, 11, 77, 120):
            assert followed.at(seconds * NS_PER_S) == fresh.at(seconds * NS_PER_S)


def test_a_session_that_is_refused_is_tried_in_the_interval_of_either_end() -> None:
    running, name = deployed(), min(planned()[1])
    before = Tries(running.state())
    running.configure(name, with_retry(name, 7, 1000))
    running.advance(NS_PER_S)
    tries = Tries(running.state(), before)
    assert before.at(7 * NS_PER_S) == {}
    assert name in tries.at(7 * NS_PER_S)
    assert len(tries.at(7 * NS_PER_S)) > 1

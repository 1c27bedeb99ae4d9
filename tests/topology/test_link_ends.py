"""Both ends of a link share a network; nothing else tells them from interfaces made one by one."""

from __future__ import annotations

import pickle
from ipaddress import IPv4Interface

from hypothesis import given
from hypothesis import strategies as st

from railfab.topology.addresses import _pair_v4


@given(st.integers(0, 2**31 - 1))
def test_both_ends_of_a_link_are_what_the_library_makes(half: int) -> None:
    even = 2 * half
    lower, upper = _pair_v4(even)
    for end, number in ((lower, even + 1), (upper, even)):
        made = IPv4Interface((number, 31))
        assert (end, hash(end), str(end), repr(end)) == (made, hash(made), str(made), repr(made))
        assert (int(end), end.network, end.netmask, end.hostmask) == (number, made.network, made.netmask, made.hostmask)
        assert pickle.loads(pickle.dumps(end)) == made
    assert lower != upper

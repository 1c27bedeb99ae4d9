"""Addresses are made by a short way; they are what the standard library's long way makes."""

import pickle
from ipaddress import IPv4Address, IPv4Interface, IPv6Interface

from hypothesis import given
from hypothesis import strategies as st
from tests.topology.fabric_intents import fabric

from railfab.topology.addresses import address_plan
from railfab.topology.dimensions import Dimensions

V4, V6 = address_plan(Dimensions(fabric())), address_plan(Dimensions(fabric(profile__family="ipv6")))


@given(st.integers(0, 2**31 - 1).map(lambda half: 2 * half))
def test_a_pair_is_both_ends_of_a_31(even: int) -> None:
    lower, upper = V4.pair(even)
    assert (lower, upper) == (IPv4Interface((even + 1, 31)), IPv4Interface((even, 31)))
    assert {lower, upper} == {IPv4Interface((even + 1, 31)), IPv4Interface((even, 31))}
    assert lower.network == upper.network == IPv4Interface((even, 31)).network
    assert (str(upper), upper.ip, lower.with_prefixlen) == (
        f"{IPv4Address(even)}/31",
        IPv4Address(even),
        f"{IPv4Address(even + 1)}/31",
    )
    assert pickle.loads(pickle.dumps(lower)) == lower


@given(st.integers(0, 2**127 - 1).map(lambda half: 2 * half))
def test_a_pair_is_both_ends_of_a_127(even: int) -> None:
    lower, upper = V6.pair(even)
    assert (lower, upper) == (IPv6Interface((even + 1, 127)), IPv6Interface((even, 127)))
    assert lower.network == upper.network

"""Words, numbers and addresses that the models of the laws are made of."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

from hypothesis import strategies as st

LETTERS = "abcdefghijklmnopqrstuvwxyz"
words = st.text(LETTERS, min_size=1, max_size=12)
descriptions = st.lists(words, min_size=1, max_size=3).map(" ".join)
asns = st.integers(1, 4294967294)
ipv4_addresses = st.integers(0x0A000000, 0x0AFFFFFF).map(IPv4Address)
ipv6_addresses = st.integers(0, 0xFFFF_FFFF).map(lambda low: IPv6Address((0xFD00_0010 << 96) + low))

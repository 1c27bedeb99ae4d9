"""A configuration is read as FRR runs it: other spellings of lines, loaded into the real daemons and read back."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.integration.frr.bench import Node, settle
from tests.platforms.frr.switches import LEAF, text

from railfab.platforms import platform

pytestmark = pytest.mark.lab

FRR = platform("frr")
assert LEAF.bgp is not None
ROUTER = f"router bgp {LEAF.bgp.asn}\n"
SPELLINGS = f"""{ROUTER} neighbor G peer-group
 neighbor G remote-as external
 neighbor G timers 1 3
 neighbor G bfd
 neighbor 10.8.0.1 peer-group G
 neighbor 10.8.0.3 peer-group G
 neighbor 10.8.0.3 timers 10 30
 neighbor swp9 interface v6only
 neighbor swp9 remote-as 65009
 neighbor 10.8.0.5 remote-as 65005
 neighbor 10.8.0.5 timers 9 9
 neighbor 10.8.0.7 remote-as 65007
 neighbor 10.8.0.7 bfd profile FABRIC-1000X6
 bgp fast-external-failover
 address-family ipv4 unicast
  neighbor G route-map fabric-import in
  neighbor G activate
  neighbor 10.8.0.5 activate
 exit-address-family
exit
ip prefix-list S permit 10.17.2.3/12 ge 31
ip prefix-list S permit 10.40.0.0/16
ip prefix-list S permit 10.40.0.0/16
bfd
 profile P
  receive-interval 300
  detect-multiplier 3
 exit
exit
"""
"""A peer group, whose member has timers of its own · the interface and the AS number of a session on two lines · a
keepalive time above a third of the hold time · a BFD profile without the plain line · defaults · entries without
numbers, with bits of the host, and twice · sections that the configuration has already."""


def test_what_frr_runs_is_what_the_text_is_read_as(switches: tuple[Node, Node]) -> None:
    node = settle(switches[0], LEAF)
    file = node.root / "tmp" / "spelling.conf"
    file.write_text(SPELLINGS)
    node.inside("vtysh", "-f", str(file))
    running, written = node.running(), text(LEAF).replace("end\n", SPELLINGS)
    settle(node, LEAF)
    assert FRR.differences(written, running) == ()
    read, run = (replace(FRR.parse(configuration), unmodelled=()) for configuration in (written, running))
    assert read == run

"""A configuration is read as FRR runs it: other spellings of lines, loaded into the real daemons and read back."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.integration.frr.bench import Node, settle
from tests.platforms.frr.switches import LEAF, text
from tests.sampled import sampled

from railfab.platforms import platform
from railfab.platforms.frr.defaults import BFD, BGP, PROFILE, SHOWN, TOP
from railfab.platforms.frr.reload_output import with_sorted_prefix_lists

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


PEER = "neighbor 10.8.0.5"
SHOW = "vtysh -c 'show running-config no-header'"
MARK = "end-of-configuration"
SESSION = f"""{ROUTER} {PEER} remote-as 65005
 address-family ipv4 unicast
  {PEER} activate
 exit-address-family
exit
bfd
 profile PROBE
  transmit-interval 500
 exit
exit
"""
OFF = (
    *("bgp always-compare-med", "bgp bestpath compare-routerid", "bgp bestpath med missing-as-worst", "bgp shutdown"),
    *("bgp graceful-shutdown", "bgp graceful-restart", "bgp confederation identifier", "bgp cluster-id"),
    *("bgp fast-convergence", "bgp reject-as-sets", f"{PEER} shutdown", f"{PEER} passive", f"{PEER} enforce-first-as"),
    *(f"{PEER} override-capability", f"{PEER} dont-capability-negotiate", f"{PEER} password", f"{PEER} update-source"),
    *(f"{PEER} ebgp-multihop", f"{PEER} disable-connected-check", f"{PEER} strict-capability-match", f"{PEER} solo"),
    *(f"{PEER} local-as", f"{PEER} tcp-mss", f"{PEER} graceful-restart", f"{PEER} capability dynamic"),
)
OFF_IN_FAMILY = (
    *("bgp dampening", f"{PEER} next-hop-self", f"{PEER} allowas-in", f"{PEER} as-override"),
    *(f"{PEER} soft-reconfiguration inbound", f"{PEER} remove-private-AS", f"{PEER} default-originate"),
    *(f"{PEER} weight", f"{PEER} route-reflector-client", f"{PEER} route-server-client", f"{PEER} maximum-prefix"),
    *(f"{PEER} addpath-tx-all-paths", f"{PEER} attribute-unchanged"),
)
IN_FAMILY = {"distance bgp 20 200 200"}
DEFAULTS = (
    *(f"{ROUTER} {line}\nexit\n" for line in (*sorted(BGP - IN_FAMILY), *(f"no {line}" for line in OFF))),
    *(
        f"{ROUTER} address-family ipv4 unicast\n  {line}\n exit-address-family\nexit\n"
        for line in (*sorted(IN_FAMILY), *(f"no {line}" for line in OFF_IN_FAMILY))
    ),
    *(f"bfd\n profile PROBE\n  {line}\n exit\nexit\n" for line in sorted(BFD)),
    *(f"{line}\n" for line in sorted(TOP)),
)


def loaded(node: Node, configuration: str) -> str:
    """The running configuration after lines were loaded; some that switch off what is off are refused."""
    return all_loaded(node, [configuration])[0]


def all_loaded(node: Node, configurations: Sequence[str]) -> list[str]:
    """The running configuration after each of them was loaded after those before it."""
    folder = Path(tempfile.mkdtemp(dir=node.root / "tmp"))
    for number, configuration in enumerate(configurations):
        (folder / str(number)).write_text(configuration)
    load = (
        f"for file in $(ls {folder} | sort -n); do vtysh -f {folder}/$file >/dev/null 2>&1; {SHOW}; echo {MARK}; done"
    )
    *shown, _ = node.inside("sh", "-c", load).split(f"{MARK}\n")
    return [with_sorted_prefix_lists(text) for text in shown]


def test_a_default_that_is_stated_is_no_difference_and_frr_hides_it(switches: tuple[Node, Node]) -> None:
    node = settle(switches[0], LEAF)
    before = loaded(node, SESSION)
    assert f"frr defaults {PROFILE}" in before
    shown = [line for line, after in zip(DEFAULTS, all_loaded(node, DEFAULTS), strict=True) if after != before]
    settle(node, LEAF)
    assert shown == []
    written = text(LEAF).replace("end\n", SESSION)
    assert [line for line in DEFAULTS if FRR.differences(written + line, written)] == []


@pytest.mark.parametrize(
    "line",
    sampled(
        [
            "bgp default local-preference 101",
            "no bgp network import-check",
            f"{PEER} shutdown",
            "bgp graceful-shutdown",
        ],
        few=[f"{PEER} shutdown"],
    ),
)
def test_another_value_is_a_difference_and_frr_shows_it(switches: tuple[Node, Node], line: str) -> None:
    node = settle(switches[0], LEAF)
    before = loaded(node, SESSION)
    after = loaded(node, f"{ROUTER} {line}\nexit\n")
    settle(node, LEAF)
    written = text(LEAF).replace("end\n", SESSION)
    assert after != before
    assert FRR.differences(f"{written}{ROUTER} {line}\nexit\n", written) != ()


def test_a_default_that_frr_shows_is_stated_where_the_other_configuration_does(switches: tuple[Node, Node]) -> None:
    """FRR runs the same timers with and without it."""
    node = settle(switches[0], LEAF)
    without = text(LEAF).replace("end\n", SESSION)
    loaded(node, SESSION)
    for setting, value in SHOWN.items():
        line = f"{PEER} {setting} {value}"
        stated = without.replace(f" {PEER} remote-as 65005\n", f" {PEER} remote-as 65005\n {line}\n")
        assert line in loaded(node, f"{ROUTER} {line}\nexit\n")
        assert FRR.aligned is not None
        assert FRR.aligned(stated, without) == (without, ())
        assert FRR.parse(FRR.aligned(without, stated)[0]) == FRR.parse(stated)
        assert FRR.aligned(stated.replace(f"{setting} {value}", f"{setting} 77"), without)[0] != without
    timers = node.show(f"bgp neighbors {PEER.split()[1]}")[PEER.split()[1]]
    settle(node, LEAF)
    assert timers["connectRetryTimer"] == int(SHOWN["timers connect"])


@pytest.mark.parametrize(
    ("again", "left", "refused"), [("10.50.0.0/16", 1, 0), ("10.50.0.1/16", 0, 1), ("10.51.0.0/16", 2, 0)]
)
def test_a_prefix_that_stands_twice_is_judged_as_frr_takes_it(
    switches: tuple[Node, Node], again: str, left: int, refused: int
) -> None:
    """FRR keeps one of two that are written alike, and rejects both, with vtysh ending well, where host bits differ."""
    node = settle(switches[0], LEAF)
    lines = f"ip prefix-list D seq 5 permit 10.50.0.0/16\nip prefix-list D seq 10 permit {again}\n"
    running = loaded(node, lines)
    settle(node, LEAF)
    assert running.count("ip prefix-list D ") == left
    assert FRR.refusals is not None
    assert len(FRR.refusals(text(LEAF).replace("end\n", lines))) == refused

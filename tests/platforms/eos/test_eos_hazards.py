"""Each hazard of EOS is found in a configuration that has it, and none in a rendered one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from railfab.device import DeviceModel
from railfab.fabric import design
from railfab.platforms import platform
from railfab.platforms.hazards import harms

EOS = platform("eos")
FABRICS = Path(__file__).parents[3] / "inventory" / "fabrics"

ADDED = {
    "flow-control": ("interface Ethernet1/1", "flowcontrol receive on"),
    "pfc-off-on-port": ("interface Ethernet1/1", "no priority-flow-control on"),
    "pfc-all-off": ("", "priority-flow-control all off"),
    "priority-set-to-drop": ("qos profile 400g-40m", "priority-flow-control priority 3 drop"),
    "unplanned-lossless-priority": ("qos profile 400g-40m", "priority-flow-control priority 4 no-drop"),
    "watchdog-only-reports": ("", "priority-flow-control pause watchdog action notify-only"),
    "watchdog-disables-port": ("", "priority-flow-control pause watchdog action errdisable"),
    "watchdog-time": ("", "priority-flow-control pause watchdog default timeout 200"),
    "watchdog-polling": ("", "priority-flow-control pause watchdog default polling-interval 5"),
    "watchdog-forced-recovery": (
        "qos profile 400g-40m",
        "priority-flow-control pause watchdog port timer timeout 1 polling-interval 1 recovery-time 1 forced",
    ),
    "dcbx": ("interface Ethernet1/1", "dcbx mode ieee"),
    "ecn-unit": (
        "qos profile 400g-40m: uc-tx-queue 3",
        "random-detect ecn minimum-threshold 500 segments maximum-threshold 1500 segments",
    ),
    "ecn-average": (
        "qos profile 400g-40m: uc-tx-queue 3",
        "random-detect ecn minimum-threshold 5 bytes maximum-threshold 9 bytes max-mark-probability 10 weight 4",
    ),
    "ecn-probability": (
        "qos profile 400g-40m: uc-tx-queue 3",
        "random-detect ecn minimum-threshold 5 bytes maximum-threshold 9 bytes max-mark-probability 1 weight 0",
    ),
    "drop-wred": (
        "qos profile 400g-40m: uc-tx-queue 3",
        "random-detect drop minimum-threshold 5 bytes maximum-threshold 9 bytes drop-probability 9",
    ),
    "global-ecn": ("", "qos random-detect ecn global-buffer minimum-threshold 1 kbytes maximum-threshold 2 kbytes"),
    "non-ect": ("", "qos random-detect ecn allow non-ect"),
    "trust": ("interface Ethernet1/1", "qos trust cos"),
    "port-policy": ("interface Ethernet1/1", "service-policy type qos input MARK"),
    "rewrite": ("", "qos rewrite dscp"),
    "queue-map": ("", "qos map traffic-class 3 to tx-queue 1"),
    "shaper": ("interface Ethernet1/1", "shape rate 100000 kbps"),
    "strict-data-queue": ("qos profile 400g-40m: uc-tx-queue 0", "priority strict"),
    "small-share": ("qos profile 400g-40m: uc-tx-queue 3", "bandwidth percent 5"),
    "mtu": ("interface Ethernet1/1", "mtu 1500"),
    "fec": ("interface Ethernet1/1", "no error-correction encoding"),
    "speed": ("interface Ethernet1/1", "speed 100g-4"),
    "shutdown": ("interface Ethernet1/1", "shutdown"),
    "link-debounce-down": ("interface Ethernet1/1", "link-debounce time 1000 1000"),
    "min-links": ("interface Port-Channel9", "port-channel min-links 2"),
    "storm-control": ("interface Ethernet1/1", "storm-control all level 10"),
    "sampling": ("", "sflow sample dangerous 100"),
    "filter": ("interface Ethernet1/1", "ip access-group HOSTS in"),
    "mirror": ("", "monitor session A source Ethernet1/1"),
    "no-multipath-relax": ("router bgp", "no bgp bestpath as-path multipath-relax"),
    "paths": ("router bgp", "maximum-paths 2"),
    "route-limit": ("router bgp", "neighbor FABRIC maximum-routes 12000"),
    "hold-time": ("router bgp", "neighbor FABRIC timers 60 180"),
    "router-advertisements-off": ("interface Ethernet1/1", "ipv6 nd ra disabled"),
    "static-route": ("", "ip route 10.0.0.0/24 Null0"),
    "maintenance": ("maintenance: unit System", "quiesce"),
    "dynamic-balancing": ("", "ip hardware fib load-balance distribution dynamic"),
    "cluster-balancing": ("", "load-balance cluster"),
    "queue-pair-hash": ("", "load-balance policies"),
    "hash-fields": ("", "ip load-sharing trident fields ip destination-ip"),
    "link-flap-detection": ("", "no errdisable recovery cause link-flap"),
}
"""A line of each hazard, and the sections that it is in."""

MISSING = {
    "pfc-off": "   priority-flow-control on\n",
    "priority-dropped": "   priority-flow-control priority 3 no-drop\n",
    "watchdog-off": "   priority-flow-control pause watchdog\n",
    "watchdog-disables-port": "priority-flow-control pause watchdog action drop\n",
    "ecn-off": "      random-detect ecn minimum-threshold ",
    "trust": "   qos trust dscp\n",
    "dscp-map": "qos map dscp 0 ",
    "other-profile": "   service-profile 400g-40m\n",
    "headroom": "   ingress headroom ",
    "buffer-profile-not-applied": "platform trident mmu queue profile FABRIC apply\n",
    "headroom-pool": "platform trident mmu headroom-pool limit ",
    "paths": "   maximum-paths ",
    "no-bfd": "   neighbor FABRIC bfd\n",
    "policy-not-required": "   bgp missing-policy direction in action deny\n",
    "no-ipv6-next-hops": "      neighbor FABRIC next-hop address-family ipv6 originate\n",
    "no-ipv6-routing": "ipv6 unicast-routing\n",
    "route-limit": "   neighbor FABRIC maximum-routes 0\n",
    "tunnel-ecn": "   vxlan qos ecn propagation\n",
    "tunnel-dscp": "   vxlan qos dscp propagation encapsulation\n",
}
"""The beginning of a line of each hazard that is one less."""


@cache
def leaf(fabric: str) -> tuple[DeviceModel, str]:
    model = design(FABRICS / f"{fabric}.yml").models["pod1-seg1-leaf1"]
    return model, EOS.text(EOS.render(model))


def named(changed: str, fabric: str) -> set[str]:
    model, text = leaf(fabric)
    return {hazard.name for hazard, _ in harms(EOS.hazards(), EOS.differences(changed, text), model)}


def with_line(text: str, sections: str, line: str) -> str:
    """The text with a line more, in sections of their own, which EOS joins with those that are there."""
    above = [found.strip() for found in sections.split(":")] if sections else []
    number = next(one for one in text.splitlines() if one.startswith("router bgp"))
    above = [number if one == "router bgp" else one for one in above]
    return text + "".join(f"{'   ' * depth}{one}\n" for depth, one in enumerate([*above, line]))


def test_a_rendered_configuration_has_no_hazard() -> None:
    for fabric in ("multi-rail", "dual-esi"):
        assert named(leaf(fabric)[1], fabric) == set()


@pytest.mark.parametrize("name", ADDED)
def test_a_line_more_is_a_hazard(name: str) -> None:
    sections, line = ADDED[name]
    assert name in named(with_line(leaf("multi-rail")[1], sections, line), "multi-rail")


@pytest.mark.parametrize("name", MISSING)
def test_a_line_less_is_a_hazard(name: str) -> None:
    fabric = "dual-esi" if name.startswith("tunnel") else "multi-rail"
    _, text = leaf(fabric)
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(MISSING[name])]
    assert len(kept) < len(lines)
    assert name in named("".join(kept), fabric)


def test_every_hazard_is_tried() -> None:
    assert {hazard.name for hazard in EOS.hazards()} == ADDED.keys() | MISSING.keys()

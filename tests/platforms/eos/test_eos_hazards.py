"""Each hazard of EOS is found in a configuration that has it, and none in a rendered one."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import pytest
from tests.audit.cases import Case, cases
from tests.platforms.hazards import kinds, patterns, without_edit

from railfab.device import DeviceModel
from railfab.fabric import design
from railfab.platforms import platform
from railfab.platforms.hazards import Hazard

EOS = platform("eos")
FABRICS = Path(__file__).parents[3] / "inventory" / "fabrics"

ADDED: tuple[tuple[str, tuple[str, str]], ...] = (
    ("link-pause", ("interface Ethernet1/1", "flowcontrol receive on")),
    ("pfc-off", ("interface Ethernet1/1", "no priority-flow-control on")),
    ("pfc-off", ("", "priority-flow-control all off")),
    ("wrong-pfc-priority", ("qos profile 400g-40m", "priority-flow-control priority 3 drop")),
    ("pfc-on-lossy-class", ("qos profile 400g-40m", "priority-flow-control priority 4 no-drop")),
    ("watchdog-action", ("", "priority-flow-control pause watchdog action notify-only")),
    ("watchdog-action", ("", "priority-flow-control pause watchdog action errdisable")),
    ("watchdog-timers", ("", "priority-flow-control pause watchdog default timeout 200")),
    ("watchdog-timers", ("", "priority-flow-control pause watchdog default polling-interval 5")),
    (
        "watchdog-timers",
        (
            "qos profile 400g-40m",
            "priority-flow-control pause watchdog port timer timeout 1 polling-interval 1 recovery-time 1 forced",
        ),
    ),
    ("pfc-negotiated", ("interface Ethernet1/1", "dcbx mode ieee")),
    (
        "ecn-thresholds",
        (
            "qos profile 400g-40m: uc-tx-queue 3",
            "random-detect ecn minimum-threshold 500 segments maximum-threshold 1500 segments",
        ),
    ),
    (
        "ecn-average",
        (
            "qos profile 400g-40m: uc-tx-queue 3",
            "random-detect ecn minimum-threshold 5 bytes maximum-threshold 9 bytes max-mark-probability 10 weight 4",
        ),
    ),
    (
        "ecn-probability",
        (
            "qos profile 400g-40m: uc-tx-queue 3",
            "random-detect ecn minimum-threshold 5 bytes maximum-threshold 9 bytes max-mark-probability 1 weight 0",
        ),
    ),
    (
        "random-drops",
        (
            "qos profile 400g-40m: uc-tx-queue 3",
            "random-detect drop minimum-threshold 5 bytes maximum-threshold 9 bytes drop-probability 9",
        ),
    ),
    (
        "unplanned-ecn",
        ("", "qos random-detect ecn global-buffer minimum-threshold 1 kbytes maximum-threshold 2 kbytes"),
    ),
    ("unplanned-ecn", ("", "qos random-detect ecn allow non-ect")),
    ("wrong-classifier", ("interface Ethernet1/1", "qos trust cos")),
    ("dscp-rewrite", ("", "qos rewrite dscp")),
    ("wrong-queue", ("", "qos map traffic-class 3 to tx-queue 1")),
    ("rate-limit", ("interface Ethernet1/1", "shape rate 100000 kbps")),
    ("wrong-strict-queue", ("qos profile 400g-40m: uc-tx-queue 0", "priority strict")),
    ("bandwidth-share", ("qos profile 400g-40m: uc-tx-queue 3", "bandwidth percent 5")),
    ("small-mtu", ("interface Ethernet1/1", "mtu 1500")),
    ("wrong-fec", ("interface Ethernet1/1", "no error-correction encoding")),
    ("wrong-speed", ("interface Ethernet1/1", "speed 100g-4")),
    ("port-disabled", ("interface Ethernet1/1", "shutdown")),
    ("dead-link-used", ("interface Ethernet1/1", "link-debounce time 1000 1000")),
    ("storm-control", ("interface Ethernet1/1", "storm-control all level 10")),
    ("sflow-rate", ("", "sflow sample dangerous 100")),
    ("packet-filter", ("interface Ethernet1/1", "ip access-group HOSTS in")),
    ("port-mirroring", ("", "monitor session A source Ethernet1/1")),
    ("no-multipath-relax", ("router bgp", "no bgp bestpath as-path multipath-relax")),
    ("fewer-paths", ("router bgp", "maximum-paths 2")),
    ("prefix-limit", ("router bgp", "neighbor FABRIC maximum-routes 12000")),
    ("slow-hold-time", ("router bgp", "neighbor FABRIC timers 60 180")),
    ("router-advertisements-off", ("interface Ethernet57/1", "ipv6 nd ra disabled")),
    ("static-route", ("", "ip route 10.0.0.0/24 192.0.2.1")),
    ("drained", ("maintenance: unit System", "quiesce")),
    ("dynamic-load-balancing", ("", "ip hardware fib load-balance distribution dynamic")),
    ("load-balancing-mode", ("", "load-balance cluster")),
    ("hash-fields", ("", "load-balance policies")),
    ("hash-fields", ("", "ip load-sharing trident fields ip destination-ip")),
    ("slow-link-up", ("", "no errdisable recovery cause link-flap")),
)
"""Lines that are hazards of a kind: the sections that each is in, and the line."""

MISSING: tuple[tuple[str, str], ...] = (
    ("pfc-off", "   priority-flow-control on\n"),
    ("wrong-pfc-priority", "   priority-flow-control priority 3 no-drop\n"),
    ("watchdog-off", "   priority-flow-control pause watchdog\n"),
    ("watchdog-action", "priority-flow-control pause watchdog action drop\n"),
    ("ecn-off", "      random-detect ecn minimum-threshold "),
    ("wrong-classifier", "   qos trust dscp\n"),
    ("lossy-in-lossless-class", "qos map dscp 0 "),
    ("wrong-qos-profile", "   service-profile 400g-40m\n"),
    ("small-headroom", "   ingress headroom "),
    ("small-headroom", "platform trident mmu queue profile FABRIC apply\n"),
    ("small-headroom-pool", "platform trident mmu headroom-pool limit "),
    ("fewer-paths", "   maximum-paths "),
    ("bfd-off", "   neighbor FABRIC bfd\n"),
    ("wrong-route-policy", "   bgp missing-policy direction in action deny\n"),
    ("no-extended-next-hop", "      neighbor FABRIC next-hop address-family ipv6 originate\n"),
    ("router-advertisements-off", "ipv6 unicast-routing\n"),
    ("prefix-limit", "   neighbor FABRIC maximum-routes 0\n"),
    ("tunnel-qos", "   vxlan qos ecn propagation\n"),
    ("tunnel-qos", "   vxlan qos dscp propagation encapsulation\n"),
)
"""The beginnings of lines without which there is a hazard of a kind."""


@cache
def leaf(fabric: str) -> tuple[DeviceModel, str]:
    model = design(FABRICS / f"{fabric}.yml").models["pod1-seg1-leaf1"]
    return model, EOS.text(EOS.render(model))


def matched(changed: str, fabric: str) -> list[Hazard]:
    model, text = leaf(fabric)
    return patterns(EOS, changed, text, model)


@cache
def with_more(sections: str, line: str) -> list[Hazard]:
    return matched(with_line(leaf("multi-rail")[1], sections, line), "multi-rail")


@cache
def with_less(beginning: str) -> list[Hazard]:
    fabric = "dual-esi" if "vxlan" in beginning else "multi-rail"
    lines = leaf(fabric)[1].splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(beginning)]
    assert len(kept) < len(lines)
    return matched("".join(kept), fabric)


def with_line(text: str, sections: str, line: str) -> str:
    """The text with a line more, in sections of their own, which EOS joins with those that are there."""
    above = [found.strip() for found in sections.split(":")] if sections else []
    number = next(one for one in text.splitlines() if one.startswith("router bgp"))
    above = [number if one == "router bgp" else one for one in above]
    return text + "".join(f"{'   ' * depth}{one}\n" for depth, one in enumerate([*above, line]))


def test_a_rendered_configuration_has_no_hazard() -> None:
    for fabric in ("multi-rail", "dual-esi"):
        assert matched(leaf(fabric)[1], fabric) == []


@pytest.mark.parametrize(("kind", "place"), ADDED)
def test_a_line_more_is_a_hazard(kind: str, place: tuple[str, str]) -> None:
    assert kind in kinds(with_more(*place))


@pytest.mark.parametrize(("kind", "beginning"), MISSING)
def test_a_line_less_is_a_hazard(kind: str, beginning: str) -> None:
    assert kind in kinds(with_less(beginning))


def audited(case: Case) -> list[Hazard]:
    model, rendered = case.design.models[case.name], case.design.texts[case.name]
    return patterns(EOS, case.text, rendered, model, EOS.parse(case.text))


def test_every_pattern_is_found_by_a_line_of_its_kind() -> None:
    edits = [(kind, partial(with_more, *place)) for kind, place in ADDED]
    edits += [(case.said["kind"], partial(audited, case)) for case in cases("mistakes", ["eos"])]
    edits += [(kind, partial(with_less, beginning)) for kind, beginning in MISSING]
    assert without_edit(EOS, edits) == []

"""Links between every two platforms: their configurations agree, and one broken end is found in the parsed text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from ipaddress import IPv4Address, IPv4Interface
from itertools import product
from typing import Any

import pytest
from tests.device.planned import with_bgp, with_qos
from tests.platforms.small_fabrics import design_of
from tests.sampled import sampled

from railfab.device import DeviceModel, EcnRamp, Fec, Port, Qos, in_order
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.audit import SwitchAudit, findings_of_audits, switch_audit
from railfab.fabric.design import render_text
from railfab.findings import DifferenceCode, Finding, Severity
from railfab.platforms import Support, admit, platform, platform_names
from railfab.platforms.admission import support_of

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
Model = DeviceModel
PAIRS = tuple(product(platform_names(), platform_names()))


def with_ports(model: Model, **fields: Any) -> Model:
    """With these values on every port."""
    return replace(
        model,
        interfaces=tuple(replace(one, **fields) if isinstance(one, Port) else one for one in model.interfaces),
    )


def qos_of(model: Model) -> Qos:
    assert model.qos is not None
    return model.qos


def other_dscp(model: Model) -> Model:
    """RoCE at another code point."""
    (own,) = qos_of(model).classifiers
    points = tuple(sorted((25 if point == 26 else point, name) for point, name in own.dscp))
    return with_qos(model, classifiers=(replace(own, dscp=points),))


def other_ramp(model: Model) -> Model:
    """Marking that begins earlier by much more than platforms round."""

    def earlier(ramp: EcnRamp | None) -> EcnRamp | None:
        return ramp and replace(ramp, kmin_bytes=ramp.kmin_bytes // 2)

    profiles = (
        replace(found, thresholds=tuple(replace(one, ecn=earlier(one.ecn)) for one in found.thresholds))
        for found in qos_of(model).profiles
    )
    return with_qos(model, profiles=tuple(profiles))


def on_qos_ports(model: Model, **fields: Any) -> Model:
    return with_qos(model, ports=tuple(replace(port, **fields) for port in qos_of(model).ports))


def other_as(model: Model) -> Model:
    first, *others = model.neighbors
    return with_bgp(model, neighbors=(replace(first, remote_as=65009), *others))


def other_address(model: Model) -> Model:
    """The first port and its session in another subnet."""
    first, *others = model.interfaces
    own, peer = IPv4Interface("10.99.0.0/31"), IPv4Address("10.99.0.1")
    subnet = first.subnets[0]
    neighbors = (
        replace(one, peer=peer) if not isinstance(one.peer, str) and one.peer in subnet else one
        for one in model.neighbors
    )
    moved = replace(model, interfaces=(replace(first, addresses=(own,)), *others))
    return with_bgp(moved, neighbors=tuple(neighbors))


@dataclass(frozen=True, slots=True)
class Breaking:
    """One kind of setting. features: that both platforms must state. codes: of which one is found.

    changes: of the spine, the first of which its platform takes is made.
    """

    features: tuple[str, ...]
    codes: tuple[DifferenceCode, ...]
    changes: tuple[Callable[[Model], Model], ...]
    numbered: bool = False


BREAKINGS = {
    "DSCP map": Breaking(("pfc",), (DifferenceCode.DSCP_MAP_MISMATCH,), (other_dscp,)),
    "PFC priority": Breaking(("pfc",), (DifferenceCode.PFC_MISMATCH,), (lambda model: on_qos_ports(model, pfc=()),)),
    "MTU": Breaking(("mtu",), (DifferenceCode.MTU_MISMATCH,), (lambda model: with_ports(model, mtu_bytes=4000),)),
    "FEC": Breaking(
        ("fec",),
        (DifferenceCode.FEC_MISMATCH,),
        tuple(lambda model, fec=fec: with_ports(model, fec=fec) for fec in (Fec.OFF, Fec.BASE_R, Fec.RS_528)),
    ),
    "speed": Breaking(
        ("port_speed",),
        (DifferenceCode.SPEED_MISMATCH,),
        tuple(lambda model, rate=rate: with_ports(model, rate_gbps=rate) for rate in (200, 100)),
    ),
    "AS": Breaking((), (DifferenceCode.REMOTE_AS_MISMATCH,), (other_as,)),
    "address": Breaking(("numbered",), (DifferenceCode.SUBNET_MISMATCH,), (other_address,), numbered=True),
    "ECN": Breaking(("ecn",), (DifferenceCode.ECN_MISMATCH,), (lambda model: on_qos_ports(model, ecn=()),)),
    "ECN ramp": Breaking(("ecn",), (DifferenceCode.THRESHOLD_MISMATCH,), (other_ramp,)),
    "watchdog": Breaking(
        ("pfc", "pfc_watchdog"),
        (DifferenceCode.WATCHDOG_MISMATCH,),
        (lambda model: with_qos(model, watchdog=None),),
    ),
}


def states(name: str, *features: str) -> bool:
    capabilities = platform(name).capabilities
    return all(support_of(capabilities, feature) is Support.YES for feature in features)


@cache
def designed(leaf: str, spine: str, *, numbered: bool) -> Design:
    return design_of(leaf, spine, numbered=numbered)


@cache
def audited_leaf(leaf: str, spine: str, *, numbered: bool) -> SwitchAudit:
    design = designed(leaf, spine, numbered=numbered)
    return switch_audit(design, LEAF, design.texts[LEAF] + "\n")


def audited(leaf: str, spine: str, model: Model, *, numbered: bool) -> tuple[Finding, ...]:
    """The errors about a leaf and a spine, both of which are parsed: a text that is the rendered one would not be."""
    design = designed(leaf, spine, numbered=numbered)
    audits = {
        LEAF: audited_leaf(leaf, spine, numbered=numbered),
        SPINE: switch_audit(design, SPINE, render_text(model) + "\n"),
    }
    return tuple(one for one in findings_of_audits(design, audits) if one.severity is Severity.ERROR)


def broken(design: Design, spine: str, breaking: Breaking) -> Iterator[Model]:
    """The spine with each of the changes that its platform takes, and reads back."""
    own = platform(spine)
    for change in breaking.changes:
        changed = change(design.models[SPINE])
        try:
            admitted = admit(in_order(changed), own)
        except RailfabError:
            continue
        if own.parse(own.text(own.render(admitted))) == admitted != design.models[SPINE]:
            yield admitted


NEXT = dict(zip(platform_names(), (*platform_names()[1:], platform_names()[0]), strict=True))
"""Of each platform another one."""


@pytest.mark.parametrize(
    ("leaf", "spine", "numbered"),
    sampled(
        [(*pair, numbered) for numbered in (False, True) for pair in PAIRS],
        few=[*((*pair, False) for pair in PAIRS), *((*pair, True) for pair in NEXT.items())],
    ),
)
def test_the_configurations_of_two_platforms_agree(leaf: str, spine: str, numbered: bool) -> None:
    design = designed(leaf, spine, numbered=numbered)
    assert audited(leaf, spine, design.models[SPINE], numbered=numbered) == ()


def stated(leaf: str, spine: str, kind: str) -> bool:
    """Whether both platforms state a setting."""
    return all(states(name, *BREAKINGS[kind].features) for name in (leaf, spine))


def one_of_each_pair() -> list[tuple[str, str, str]]:
    """A setting that both platforms of a pair state, another one for the next pair, and each for some pair."""
    kinds = [*BREAKINGS]
    turned = (kinds[place % len(kinds) :] + kinds[: place % len(kinds)] for place in range(len(PAIRS)))
    return [
        (*pair, next(kind for kind in order if stated(*pair, kind))) for pair, order in zip(PAIRS, turned, strict=True)
    ]


@pytest.mark.parametrize(
    ("leaf", "spine", "kind"),
    sampled([(*pair, kind) for pair in PAIRS for kind in BREAKINGS], few=one_of_each_pair()),
)
def test_a_broken_end_is_found_by_the_audit_of_the_parsed_text(leaf: str, spine: str, kind: str) -> None:
    assert_found(leaf, spine, BREAKINGS[kind])


def assert_found(leaf: str, spine: str, breaking: Breaking) -> None:
    """Break the spine, and audit both."""
    if not (states(leaf, *breaking.features) and states(spine, *breaking.features)):
        lacking = leaf if not states(leaf, *breaking.features) else spine
        pytest.skip(f"{lacking} does not state this setting")
    design = designed(leaf, spine, numbered=breaking.numbered)
    model = next(broken(design, spine, breaking), None)
    if model is None:
        pytest.skip(f"{spine} takes no other value")
    found = audited(leaf, spine, model, numbered=breaking.numbered)
    assert {one.code for one in found} & {*breaking.codes}, found


def other_order(model: Model) -> Model:
    """Marking that begins where it is to be at its most."""

    def swapped(ramp: EcnRamp | None) -> EcnRamp | None:
        return ramp and replace(ramp, kmin_bytes=ramp.kmax_bytes, kmax_bytes=ramp.kmin_bytes)

    profiles = (
        replace(found, thresholds=tuple(replace(one, ecn=swapped(one.ecn)) for one in found.thresholds))
        for found in qos_of(model).profiles
    )
    return with_qos(model, profiles=tuple(profiles))


def other_peer(model: Model) -> Model:
    """The own address as that of the first neighbour."""
    first, *others = model.neighbors
    port = next(one for one in model.interfaces if any(first.peer in net for net in one.subnets))
    return with_bgp(model, neighbors=(replace(first, peer=port.addresses[0].ip), *others))


def other_priority(model: Model) -> Model:
    """The lossless class with another priority, of its pause frames and of those that it obeys."""
    (roce,) = qos_of(model).lossless()
    moved = replace(roce, pfc_priority=4, obeyed_priority=4, queue=4)
    classes = tuple(sorted((moved if one is roce else one for one in qos_of(model).classes), key=lambda one: one.queue))
    changed = with_qos(model, classes=classes)
    return on_qos_ports(changed, pfc=(4,))


ONE_END = {
    "ECN order": Breaking(("ecn",), (DifferenceCode.ECN_ORDER,), (other_order,)),
    "peer address": Breaking(("numbered",), (DifferenceCode.PEER_ADDRESS_MISMATCH,), (other_peer,), numbered=True),
    "another PFC priority": Breaking(("pfc",), (DifferenceCode.PFC_MISMATCH,), (other_priority,)),
}
"""Mistakes of which one end says enough, whatever the platform of the other one."""


@pytest.mark.parametrize("kind", ONE_END)
@pytest.mark.parametrize("name", platform_names())
def test_a_mistake_at_one_end_is_found_in_the_parsed_text(name: str, kind: str) -> None:
    assert_found(name, name, ONE_END[kind])

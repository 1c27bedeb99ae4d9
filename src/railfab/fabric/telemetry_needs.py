"""The telemetry that the switches of a design can have: a path of BFD carries nothing where no session uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.device import DeviceModel, Lag
from railfab.fabric.design import Design
from railfab.platforms import TelemetryRule, TelemetrySubscription
from railfab.platforms.telemetry_checks import covers
from railfab.telemetry.targets import TargetSpec
from railfab.topology import Link
from railfab.topology.signals import LinkMatch, LinkMatcher, SignalFec


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchUse:
    """The features that a switch uses. peers: whether a switch is its neighbour. optics, fec: of one of its ports."""

    model: DeviceModel
    peers: bool
    optics: bool
    fec: bool


Need = Callable[[SwitchUse, Mapping[str, str]], bool]
"""Whether a switch can have a metric, with these fixed labels."""


def _bgp(use: SwitchUse, labels: Mapping[str, str]) -> bool:
    family = labels.get("afi_safi")
    return any(neighbor.enabled and (family is None or family in neighbor.families) for neighbor in use.model.neighbors)


def _pfc(use: SwitchUse, _: Mapping[str, str]) -> bool:
    return use.model.qos is not None and any(port.pfc for port in use.model.qos.ports)


def _trimming(use: SwitchUse, _: Mapping[str, str]) -> bool:
    return use.model.qos is not None and use.model.qos.trimming is not None


NEEDS: Mapping[str, Need] = {
    "fabric_bfd_": lambda use, _: any(neighbor.bfd for neighbor in use.model.neighbors),
    "fabric_bgp_": _bgp,
    "fabric_buffer_headroom_": _pfc,
    "fabric_pfc_watchdog_": lambda use, _: use.model.qos is not None and use.model.qos.watchdog is not None,
    "fabric_pfc_": _pfc,
    "fabric_queue_trimmed_": _trimming,
    "fabric_device_trimmed_": _trimming,
    "fabric_queue_": lambda use, _: use.model.qos is not None,
    "fabric_lldp_": lambda use, _: use.model.lldp.enabled and use.peers,
    "fabric_optic_": lambda use, _: use.optics,
    "fabric_interface_fec_": lambda use, _: use.fec,
    "fabric_interface_pre_fec_": lambda use, _: use.fec,
}
"""By the begin of the metric's name, the first that fits; every switch has a metric that is not here."""
OF_LAGS = "/lag/"
"""Container of leaves that only LAGs have."""


class TelemetryNeeds:
    """Subscriptions that bring something from the switches of a design, as it is intended."""

    def __init__(self, design: Design) -> None:
        self._design = design

    def needed(self, target: TargetSpec, subscription: TelemetrySubscription) -> bool:
        """Whether a path should have data: also of a target that is not in the design, and a path without rules."""
        use = self._uses.get(target.name)
        rules = [rule for rule in target.telemetry.rules if _feeds(subscription, rule)]
        return use is None or not rules or any(_has(use, rule) for rule in rules)

    @cached_property
    def _uses(self) -> dict[str, SwitchUse]:
        """By switch; of a design that no device model can express, none is known."""
        topology, models = self._design.topology, self._design.expressible_models
        signals = LinkMatcher(topology, self._design.intent)
        return {
            name: SwitchUse(
                model=model,
                peers=any(peer.node in models for _, peer, _ in topology.ports_of(name)),
                optics=any(_has_optics(signals, link) for _, _, link in topology.ports_of(name)),
                fec=any(_has_fec(signals, link) for _, _, link in topology.ports_of(name)),
            )
            for name, model in models.items()
        }


def _feeds(subscription: TelemetrySubscription, rule: TelemetryRule) -> bool:
    """Whether a path brings the leaf of a rule, or one beside it that carries labels."""
    labels = (f"{rule.path.rpartition('/')[0]}/{leaf}" for leaf in rule.from_leaf or ())
    return any(covers(subscription.path, leaf) for leaf in (rule.path, *labels))


def _has(use: SwitchUse, rule: TelemetryRule) -> bool:
    if OF_LAGS in rule.path and not any(isinstance(interface, Lag) for interface in use.model.interfaces):
        return False
    need = next((need for begin, need in NEEDS.items() if rule.metric.startswith(begin)), None)
    return need is None or need(use, rule.labels)


def _has_optics(signals: LinkMatcher, link: Link) -> bool:
    match = signals.of(link)
    return not isinstance(match, LinkMatch) or bool(match.media.pluggables_per_end)


def _has_fec(signals: LinkMatcher, link: Link) -> bool:
    match = signals.of(link)
    return not isinstance(match, LinkMatch) or SignalFec.NONE not in (match.a.fec, match.z.fec)

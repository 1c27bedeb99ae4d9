"""Convergence: the next state of a fabric, from the present one and what has changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from math import inf

from railfab.device import DEFAULT_INSTANCE, DeviceModel, LoadBalancing
from railfab.forwarding.config import SwitchConfig, switch_config
from railfab.forwarding.faults import Fibre, Fibres, SwitchFault, SwitchFaults, silent_faults, switches_that_are_off
from railfab.forwarding.lags import InterfaceLinks, LagInputs, connected_lags, lag_states
from railfab.forwarding.links import LinkTable
from railfab.forwarding.optics import LOSS_OF_SIGNAL_DB
from railfab.forwarding.policies import Policies
from railfab.forwarding.port_rows import no_rows, port_rows
from railfab.forwarding.ports import Configs, own_states, port_states
from railfab.forwarding.qos import SwitchEffect, switch_effect
from railfab.forwarding.route_table import no_routes
from railfab.forwarding.routes import RoutingInputs, routes
from railfab.forwarding.sessions import SessionInputs, sessions
from railfab.forwarding.state import ForwardingState, Marking
from railfab.sim import Framing
from railfab.topology import PortKey

ETHERNET_BYTES = 18
"""Header and frame check sequence: what a frame has beyond its IP packet."""


@dataclass(frozen=True, slots=True)
class FabricChange:
    """Changes at one moment. models: new configurations by switch, None for one that is removed.

    cut, restored: ports whose cable breaks, and ports whose cable works again; either end names the cable.
    slow: host ports whose host takes packets from its NIC at this rate [Gb/s] from now on; infinite: at once.
    reduced: cables that carry at most this rate from now on [Gb/s], by either port; infinite: that of their ports.
    dirt: light that ports miss from now on [dB], 0 for a clean one. flapped: ports that have no lock on their signal
    from now on, if that changes. exchanged: two ports whose far ends change places.
    fibres: those to these ports, from now on. switch_faults: of these switches, from now on; a switch that is off has
    no configuration, whatever `models` gives it, and one that gets power has the one of `models`.
    """

    models: Mapping[str, DeviceModel | None]
    cut: frozenset[PortKey] = frozenset()
    restored: frozenset[PortKey] = frozenset()
    slow: Mapping[PortKey, float] = field(default_factory=dict)
    reduced: Mapping[PortKey, float] = field(default_factory=dict)
    dirt: Mapping[PortKey, float] = field(default_factory=dict)
    flapped: frozenset[PortKey] | None = None
    exchanged: tuple[PortKey, PortKey] | None = None
    fibres: Fibres = field(default_factory=dict)
    switch_faults: SwitchFaults = field(default_factory=dict)


def unconfigured(links: LinkTable, *, framing: Framing, marking: Marking) -> ForwardingState:
    """The state of a fabric whose switches have no configuration and whose cables all work."""
    return _unconfigured(links, marking, framing.frame_bytes - ETHERNET_BYTES)


def _unconfigured(links: LinkTable, marking: Marking, packet_bytes: int) -> ForwardingState:
    state = ForwardingState(
        links=links,
        configs={},
        cut=frozenset(),
        dirt={},
        flapped=frozenset(),
        fibres={},
        switch_faults={},
        own_ports={name: own_states(links, {}, name) for name in links.nodes},
        ports={},
        lags={},
        sessions={},
        routes=no_routes(links),
        effects={name: switch_effect(None, size) for name, size in links.buffer_bytes.items()},
        balancing={},
        narrow={},
        rows=no_rows(links, marking.priority),
        slow={},
        reduced={},
        marking=marking,
        packet_bytes=packet_bytes,
    )
    ports = port_states(links, state.own_ports, (), links.keys, {})
    rows = port_rows(links, ports, state.effects, marking.classes, links.keys, state.rows)
    return replace(state, ports=ports, rows=rows)


def converge(state: ForwardingState, change: FabricChange) -> ForwardingState:
    """The state that follows in the end. Computes what the change concerns; the rest is shared with the state before.

    state: one in which nothing is pending. Never raises for a configuration: of what is not computed, `limits` says the
    effect.
    """
    if change.exchanged is not None:
        state, change = _recabled(state, change, change.exchanged)
    after, nodes = with_sessions(state, change)
    inputs = RoutingInputs(after.interface_links, after.configs, after.sessions, after.silent.hung)
    return replace(after, routes=routes(inputs, nodes, state.routes, state.configs, resumed(state, after)))


def resumed(before: ForwardingState, after: ForwardingState) -> frozenset[str]:
    """The switches whose control plane works again."""
    return before.silent.hung - after.silent.hung


def with_sessions(state: ForwardingState, change: FabricChange) -> tuple[ForwardingState, set[str]]:
    """The state that follows but for its routes, and the switches with another configuration, port or session."""
    fibres, faults = _fibres(state, change), _switch_faults(state, change)
    silent, off = silent_faults(fibres, faults), switches_that_are_off(faults)
    without_power = dict.fromkeys(off & (change.models.keys() | change.switch_faults.keys()))
    links, models = state.links, {**change.models, **without_power}
    changed = models.keys()
    configs = _configs(state.configs, models, state.routes.tables.policies)
    cut = _cut(state, change)
    dirt = _dirt(state, change)
    flapped = state.flapped if change.flapped is None else change.flapped
    dark = cut | _dark(fibres, dirt, flapped)
    flipped = (state.cut | _dark(state.fibres, state.dirt, state.flapped)) ^ dark
    flipped |= state.silent.losing ^ silent.losing
    hanging = state.silent.hung ^ silent.hung
    flipped |= {links.keys[link] for name in hanging for link in links.links_of[name]}
    touched = _touched(links, changed, flipped)
    own = {**state.own_ports, **{name: own_states(links, configs, name, off) for name in changed}}
    ports = port_states(links, own, dark, touched, state.ports)
    lag_inputs = LagInputs(links, configs, ports, silent)
    bundles = connected_lags(lag_inputs, touched)
    lags = lag_states(lag_inputs, bundles, changed, state.lags)
    inputs = SessionInputs(InterfaceLinks(links, ports, lags), configs, silent)
    found = sessions(inputs, (*touched, *bundles), changed, state.sessions)
    parts = ((ports, state.ports), (lags, state.lags), (found, state.sessions))
    nodes = {node for node, _ in (*touched, *bundles) if any(_differs(node, *part) for part in parts)}
    nodes = (nodes | changed | hanging) - links.hosts
    effects = _effects(links, configs, changed, state.effects)
    after = replace(
        state,
        configs=configs,
        cut=cut,
        dirt=dirt,
        flapped=flapped,
        fibres=fibres,
        switch_faults=faults,
        own_ports=own,
        ports=ports,
        lags=lags,
        sessions=found,
        effects=effects,
        balancing=_balancing(configs, changed, state.balancing),
        narrow=_narrow(links, configs, changed, state),
        rows=port_rows(links, ports, effects, state.marking.classes, touched, state.rows),
        slow=_limited(state.slow, change.slow),
        reduced=_limited(state.reduced, _of_both_ends(state.links, change.reduced)),
    )
    return after, nodes


def _recabled(
    state: ForwardingState, change: FabricChange, ports: tuple[PortKey, PortKey]
) -> tuple[ForwardingState, FabricChange]:
    """A fabric on the links after an exchange, and the change to what is now: everything, but with a switch that hangs
    only that it does, as otherwise it would have no routes to keep."""
    links = state.links.exchanged(*ports)
    models = {name: config.model for name, config in state.configs.items()}
    fresh = _unconfigured(links, state.marking, state.packet_bytes)
    plugged = _both_ends(links, change.restored)
    faults = {**state.switch_faults, **change.switch_faults}
    hung = {name: fault for name, fault in faults.items() if fault is SwitchFault.HUNG}
    everything = FabricChange(
        models={**models, **change.models},
        cut=state.cut | change.cut,
        restored=change.restored,
        slow={**state.slow, **change.slow},
        reduced={**state.reduced, **change.reduced},
        dirt={**state.dirt, **change.dirt},
        flapped=state.flapped if change.flapped is None else change.flapped,
        fibres={**{key: fibre for key, fibre in state.fibres.items() if key not in plugged}, **change.fibres},
        switch_faults={name: fault for name, fault in faults.items() if name not in hung},
    )
    return (converge(fresh, everything), FabricChange({}, switch_faults=hung)) if hung else (fresh, everything)


def _of_both_ends(links: LinkTable, rates: Mapping[PortKey, float]) -> dict[PortKey, float]:
    return {end: rate for key, rate in rates.items() for end in (key, links.far_key(links.egress[key]))}


def _limited(before: Mapping[PortKey, float], change: Mapping[PortKey, float]) -> Mapping[PortKey, float]:
    """The ports with a limit of their rate. The same object when nothing differs."""
    found = {key: rate_gbps for key, rate_gbps in {**before, **change}.items() if rate_gbps != inf}
    return before if found == before else found


def _differs(name: str, now: Mapping[str, object], before: Mapping[str, object]) -> bool:
    return now.get(name) is not before.get(name)


def _configs(before: Configs, models: Mapping[str, DeviceModel | None], policies: Policies) -> dict[str, SwitchConfig]:
    removed = {name for name, model in models.items() if model is None}
    kept = {name: held for name, held in before.items() if name not in removed} if removed else before
    return {**kept, **{name: switch_config(model, policies) for name, model in models.items() if model is not None}}


def _cut(state: ForwardingState, change: FabricChange) -> frozenset[PortKey]:
    """Both ends of every cable that is broken."""
    return (state.cut | _both_ends(state.links, change.cut)) - _both_ends(state.links, change.restored)


def _dirt(state: ForwardingState, change: FabricChange) -> Mapping[PortKey, float]:
    """The light that ports miss [dB]. The same object when nothing differs."""
    found = {key: loss_db for key, loss_db in {**state.dirt, **change.dirt}.items() if loss_db > 0}
    return state.dirt if found == state.dirt else found


def _fibres(state: ForwardingState, change: FabricChange) -> Fibres:
    """The fibres that do not work. The same object when nothing differs."""
    restored = _both_ends(state.links, change.restored)
    held = {key: fibre for key, fibre in state.fibres.items() if key not in restored}
    found = {key: fibre for key, fibre in {**held, **change.fibres}.items() if fibre is not Fibre.WORKING}
    return state.fibres if found == state.fibres else found


def _switch_faults(state: ForwardingState, change: FabricChange) -> SwitchFaults:
    held = {**state.switch_faults, **change.switch_faults}
    return {name: fault for name, fault in held.items() if fault is not SwitchFault.NONE}


def _dark(fibres: Fibres, dirt: Mapping[PortKey, float], flapped: Collection[PortKey]) -> frozenset[PortKey]:
    """The ports whose receiver has no signal."""
    dark = (key for key, fibre in fibres.items() if fibre is Fibre.DARK)
    return frozenset((*flapped, *dark, *(key for key, loss_db in dirt.items() if loss_db >= LOSS_OF_SIGNAL_DB)))


def _both_ends(links: LinkTable, keys: Collection[PortKey]) -> frozenset[PortKey]:
    return frozenset(end for key in keys for end in (key, links.far_key(links.egress[key])))


def _touched(links: LinkTable, changed: Collection[str], flipped: Collection[PortKey]) -> tuple[PortKey, ...]:
    """Ports whose state may be another: those of changed switches, the ends of flipped cables, and all their peers."""
    found = dict.fromkeys(links.keys[link] for name in changed for link in links.links_of[name])
    found |= dict.fromkeys(flipped)
    return tuple(found | dict.fromkeys(links.far_key(links.egress[key]) for key in found))


def _effects(
    links: LinkTable, configs: Configs, changed: Collection[str], before: Mapping[str, SwitchEffect]
) -> Mapping[str, SwitchEffect]:
    effects: dict[str, SwitchEffect] = {}
    for name in changed:
        config = configs.get(name)
        effect = switch_effect(config.model if config else None, links.buffer_bytes[name])
        if effect != before[name]:
            effects[name] = effect
    return {**before, **effects} if effects else before


def _balancing(
    configs: Configs, changed: Collection[str], before: Mapping[str, LoadBalancing]
) -> Mapping[str, LoadBalancing]:
    found = {name: held for name, held in before.items() if name not in changed}
    found |= {
        name: balancing
        for name in changed
        if name in configs and (balancing := configs[name].model.load_balancing) is not None
    }
    return before if found == before else found


def _narrow(
    links: LinkTable, configs: Configs, changed: Collection[str], state: ForwardingState
) -> Mapping[str, Mapping[int, str]]:
    """By switch, the egress links of ports that full packets do not pass, each with the reason."""
    narrow = dict(state.narrow)
    for name in changed:
        found = narrow_ports(links, configs[name], state.packet_bytes) if name in configs else {}
        if found != narrow.get(name, {}):
            narrow[name] = found
    return state.narrow if narrow == state.narrow else narrow


def narrow_ports(links: LinkTable, config: SwitchConfig, packet_bytes: int) -> dict[int, str]:
    """The egress links of the ports whose MTU is below this packet, and of those that do not route, with the reason."""
    found, name = {}, config.model.name
    for port in config.model.interfaces:
        link = links.egress.get((name, port.name))
        if link is None or not port.enabled:
            continue
        interface = config.routing_interface(port.name)
        where, mtu_bytes = f"{name} {interface.name}", interface.mtu_bytes
        if interface.network_instance is None:
            found[link] = f"{where} does not route: its subinterface is disabled, or in no network instance"
        elif interface.network_instance != DEFAULT_INSTANCE:
            found[link] = f"{where} routes in {interface.network_instance}, which the twin does not compute"
        elif mtu_bytes is not None and mtu_bytes < packet_bytes:
            found[link] = f"{where} has MTU {mtu_bytes}, packets have {packet_bytes} bytes"
    return found

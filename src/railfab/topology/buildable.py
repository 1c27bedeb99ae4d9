"""Check that a fabric can be built with its switches, before its topology is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from railfab.errors import TopologyError, raise_all
from railfab.intent import Subnets
from railfab.text.counted import counted
from railfab.text.remedies import SET, Choice, remedy, setting, values
from railfab.topology.addresses import Fields, WidePlan, address_plan
from railfab.topology.attachment import Attachment
from railfab.topology.catalogue import SwitchModel, models_of, no_platform, no_speed
from railfab.topology.dimensions import MAX_UNCONNECTED, Dimensions
from railfab.topology.networks import network_errors
from railfab.topology.numbering import AsPlan
from railfab.topology.port_budget import ports_suffice
from railfab.topology.shape import SHAPE, Errors, divisors, listed

LAST_VLAN = 4094
NEAREST = 4
"""Numbers of spines that a remedy proposes."""
SHORTEST_SWITCH_PREFIX = 16
SHORTEST_POOL = 8
"""Length of the largest pool that a remedy proposes."""
LONGEST_SUBNET = 30
"""Longest prefix of a rail: a gateway and a host, in addition to network and broadcast address."""


def check_buildable(plan: Dimensions) -> None:
    """Raise TopologyError, or Problems, with every reason why this fabric cannot be built."""
    raise_all([error for check in SHAPE for error in check(plan.intent)])
    raise_all([error for check in CHECKS for error in check(plan)] + network_errors(plan.intent))


Tier = tuple[str, SwitchModel, str | None]


def _tiers(plan: Dimensions) -> Iterator[Tier]:
    """Place in the intent, model and platform of each tier."""
    yield "backend.segments", plan.leaf_model, plan.segments.platform
    if plan.spines and plan.spine_model:
        yield "backend.spines", plan.spine_model, plan.spines.platform
    if plan.supers and plan.super_model:
        yield "backend.super_spines", plan.super_model, plan.supers.platform


def _models_run_their_platforms(plan: Dimensions) -> Errors:
    models = models_of(plan.intent)
    keys: dict[tuple[str, str], list[str]] = {}
    for place, model, platform in _tiers(plan):
        if platform is not None and platform not in model.names:
            keys.setdefault((model.name, platform), []).append(f"{place}.platform")
    for (name, platform), stated in keys.items():  # the same fault in two tiers is one error
        yield no_platform(stated, models[name], platform, models)


def _ports_have_their_speed(plan: Dimensions) -> Errors:
    host_gbps, whole = plan.intent.hosts.rate_gbps, not plan.segments.breakout
    if not _runs(plan.leaf_model, host_gbps, breakout=not whole):
        yield no_speed("hosts.rate_gbps", plan.leaf_model, host_gbps, whole=whole)
    for place, tier, models in (
        ("backend.spines", plan.spines, (plan.leaf_model, plan.spine_model)),
        ("backend.super_spines", plan.supers, (plan.spine_model, plan.super_model)),
    ):
        if tier is not None:
            named = {model.name: model for model in models if model}
            yield from (
                no_speed(f"{place}.rate_gbps", model, tier.rate_gbps, whole=not tier.breakout)
                for model in named.values()
                if not _runs(model, tier.rate_gbps, breakout=tier.breakout)
            )


def _runs(model: SwitchModel, rate_gbps: int, *, breakout: bool) -> bool:
    """Whether a switch has ports of a speed. breakout: whether its cages may be split for it."""
    return rate_gbps in model.speeds_gbps or (breakout and model.lanes_for(rate_gbps) is not None)


def _spines_share_uplinks(plan: Dimensions) -> Errors:
    """Check that spines divide the uplinks of a full rail switch, if hosts and uplinks use exactly all of its ports.

    Otherwise the uplinks are rounded up. Links that the intent states always divide; they are an error only if there
    are more than the current hosts need, and spines divide neither the needed number nor that of a full rail switch.
    """
    if plan.spines is None:
        return
    full, spines = plan.exact_uplinks_without_peers, plan.spines.count
    uneven = full == int(full) and full > spines and int(full) % spines
    spare = plan.uplinks > plan.exact_uplinks_of_today
    if uneven and (plan.spines.links_per_leaf is None or (spare and _uneven_now(plan))):
        yield TopologyError(
            "backend.spines.count",
            f"the {int(full)} uplinks of a full rail switch do not divide evenly among {spines} spines",
            remedy(*values("backend.spines.count", _spines_to_use(spines, int(full))), *_no_growth(plan)),
        )


def _spines_to_use(spines: int, uplinks: int) -> list[int]:
    """The divisors of a number of uplinks that are nearest to the stated number of spines."""
    return sorted(sorted(divisors(uplinks), key=lambda count: abs(count - spines))[:NEAREST])


def _uneven_now(plan: Dimensions) -> bool:
    """Whether spines do not divide the uplinks that the current hosts need."""
    assert plan.spines is not None
    needed, spines = plan.exact_uplinks_of_today, plan.spines.count
    return needed > spines and needed % spines != 0


def _no_growth(plan: Dimensions) -> Iterator[Choice]:
    """The choice of no growth, if spines divide the uplinks that the current hosts need."""
    if plan.intent.backend.growth.hosts is None and not _uneven_now(plan):
        yield setting("backend.growth.hosts", plan.segments.hosts, "if segments will not grow")


def _explicit_ports_exist(plan: Dimensions) -> Errors:
    ports, where = plan.segments.ports, "backend.segments.ports"
    if isinstance(ports, str):
        return
    if beyond := sorted({cage for cages in ports.values() for cage in cages if cage > plan.leaf_model.cages}):
        problem = f"{plan.leaf_model.name} has ports 1 to {plan.leaf_model.cages}, and no {listed('port', beyond)}"
        yield TopologyError(where, problem, "Use ports that it has")
    for switch, rails in plan.rails_of.items():
        cages = Counter(cage for rail in rails for cage in ports[rail])
        if doubled := sorted(cage for cage, count in cages.items() if count > 1):
            problem = f"rail switch {switch} has more than one use of {listed('port', doubled)}"
            yield TopologyError(where, problem, "Assign each port to one rail")


def _hosts_have_room(plan: Dimensions) -> Errors:
    """Check the hosts of a segment, if each rail has its own ports; other layouts are checked by cages."""
    hosts, room, by_rail = plan.segments.hosts, plan.host_room, plan.segments.ports != "by-host"
    if by_rail and hosts > room:
        problem = f"the ports of a rail are enough for {room} hosts, and a segment has {hosts}"
        fewer = Choice(f"at most {counted(room, 'host')}", {"backend.segments.hosts": room} if room else {})
        yield TopologyError("backend.segments.hosts", problem, remedy(fewer, Choice("more ports per rail")))


COUNTS = {"hosts": "backend.segments.hosts", "segments": "backend.segments.count", "pods": "backend.pods"}
"""The keys of the intent with the current numbers."""


def _growth_is_enough(plan: Dimensions) -> Errors:
    growth, backend = plan.intent.backend.growth, plan.intent.backend
    unjoined = MAX_UNCONNECTED if plan.leaf_room is None else None
    for what, bound, present in (
        ("hosts", growth.hosts, backend.segments.hosts),
        ("segments", growth.segments or unjoined, backend.segments.count),
        ("pods", growth.pods, backend.pods),
    ):
        if bound is not None and present > bound:
            stated = getattr(growth, what) is not None
            problem = f"{present} {what} exceed the limit of {bound} {what} that the fabric may grow to"
            note = "this changes addresses and ports" if stated else ""
            enough = setting(f"backend.growth.{what}", present, note)
            yield TopologyError(f"backend.growth.{what}" if stated else COUNTS[what], problem, remedy(enough))


def _growth_has_ports(plan: Dimensions) -> Errors:
    """Check that the switches have ports for `growth`; parts that are not connected have no limit."""
    growth, leaf_room = plan.intent.backend.growth, plan.leaf_room
    segment_room = None if leaf_room is None else leaf_room // plan.segments.rail_switches
    for what, bound, room in (
        ("hosts", growth.hosts, plan.host_room),
        ("segments", growth.segments, segment_room),
        ("pods", growth.pods, plan.pod_room),
    ):
        if bound is not None and room is not None and bound > room:
            problem = f"the fabric cannot grow to {bound} {what}: its switches have ports for {room}"
            key = f"backend.growth.{what}"
            lower = values(key, [room] if room else [])
            yield TopologyError(key, problem, remedy(*lower, Choice("larger switches")))


def _pools_are_used(plan: Dimensions) -> Errors:
    if plan.intent.profile.addresses.hosts is not None and plan.intent.hosts.attach != "routed":
        problem = f"hosts with attach: {plan.intent.hosts.attach} use backend.subnets.pool, not this pool"
        pool = str(plan.intent.profile.addresses.hosts)
        move = {"profile.addresses.hosts": None, "backend.subnets.pool": pool}
        choice = Choice(f"backend.subnets.pool: {pool} in its place", move, SET)
        yield TopologyError("profile.addresses.hosts", problem, remedy(choice))


def _pools_suffice(plan: Dimensions) -> Errors:
    addresses = address_plan(plan)
    if not isinstance(addresses, WidePlan):
        return
    if plan.intent.hosts.attach == "routed":
        yield from _exhausted("hosts", addresses.host_fields)
    yield from _exhausted("loopbacks", addresses.loopback_fields)
    if plan.intent.profile.underlay == "numbered":
        yield from _exhausted("fabric_links", addresses.link_fields)


def _exhausted(pool: str, fields: Fields) -> Errors:
    if not fields.fits():
        room = fields.pool.max_prefixlen - fields.pool.prefixlen
        problem = f"{fields.pool} has {room} bits for addresses, and the largest size of the fabric needs {fields.bits}"
        default = Choice("it, since the default is large enough", {f"profile.addresses.{pool}": None}, "remove")
        choices = default, Choice("backend.growth", verb="limit"), Choice("a larger pool")
        yield TopologyError(f"profile.addresses.{pool}", problem, remedy(*choices))


def _as_numbers_suffice(plan: Dimensions) -> Errors:
    if not AsPlan(plan).suffices:
        problem = "the largest size of the fabric has more leaves than there are private AS numbers"
        choices = Choice("it", verb="limit"), setting("profile.control_plane", "ibgp")
        yield TopologyError("backend.growth", problem, remedy(*choices))


def _subnets_suffice(plan: Dimensions) -> Errors:
    if plan.intent.hosts.attach == "routed":
        return
    attachment, where = Attachment(plan), "backend.subnets"
    last_rail = attachment.subnets.first_vlan + plan.intent.hosts.nics - 1
    beyond = last_rail + (0 if attachment.paired else 100 * max(port.slot for port in plan.nic_ports)) - LAST_VLAN
    if beyond > 0:
        key, most = f"{where}.first_vlan", attachment.subnets.first_vlan - beyond
        lower = Choice(f"at most {most}", {key: most})
        yield TopologyError(key, f"the VLAN of the last rail exceeds {LAST_VLAN}", remedy(lower))
    if attachment.rail_prefix > LONGEST_SUBNET:
        problem = f"a /{attachment.subnets.switch_prefix} is too small for the rails of a switch"
        yield TopologyError(f"{where}.switch_prefix", problem, remedy(_shorter(f"{where}.switch_prefix", plan)))
    elif plan.segments.hosts > attachment.hosts_of_subnet():
        problem = f"a /{attachment.rail_prefix} has addresses for {max(0, attachment.hosts_of_subnet())} hosts, "
        problem += f"and a segment has {plan.segments.hosts}"
        yield TopologyError(f"{where}.rail_prefix", problem, remedy(_shorter(f"{where}.rail_prefix", plan)))
    if attachment.rail_bits < attachment.rail_bits_needed:
        problem = f"a /{attachment.subnets.switch_prefix} does not contain a /{attachment.rail_prefix} per rail"
        longer = attachment.subnets.switch_prefix + attachment.rail_bits_needed
        shorter = attachment.rail_prefix - attachment.rail_bits_needed
        key, other = f"{where}.rail_prefix", f"{where}.switch_prefix"
        yield TopologyError(key, problem, remedy(Choice(f"a /{longer}", {key: longer}), setting(other, shorter)))
    if attachment.pool_used > attachment.subnets.pool.num_addresses:
        problem = f"{attachment.subnets.pool} has no prefix left for the last rail switch"
        yield TopologyError(f"{where}.pool", problem, remedy(_larger_pool(f"{where}.pool", attachment)))


def _shorter(key: str, plan: Dimensions) -> Choice:
    """The longest prefix of a rail, or of a switch, with addresses for the present hosts; advice if there is none."""
    subnets = plan.intent.backend.subnets or Subnets()
    at_rail = key.endswith("rail_prefix")
    for length in range(LONGEST_SUBNET, subnets.switch_prefix if at_rail else SHORTEST_SWITCH_PREFIX, -1):
        update: dict[str, object] = {"rail_prefix": length} if at_rail else {"switch_prefix": length}
        trial = plan.intent.backend.model_copy(update={"subnets": subnets.model_copy(update=update)})
        attachment = Attachment(Dimensions(plan.intent.model_copy(update={"backend": trial})))
        if attachment.rail_prefix <= LONGEST_SUBNET and attachment.hosts_of_subnet() >= plan.segments.hosts:
            return Choice(f"a /{length}", {key: length})
    return Choice("fewer hosts, or a shorter switch_prefix")


def _larger_pool(key: str, attachment: Attachment) -> Choice:
    """The smallest pool around the stated one with a prefix for every rail switch; advice if there is none."""
    pool = attachment.subnets.pool
    length = pool.max_prefixlen - (attachment.pool_used - 1).bit_length()
    if length < SHORTEST_POOL:
        return Choice("a longer switch_prefix")
    larger = str(pool.supernet(new_prefix=length))
    return Choice(larger, {key: larger})


CHECKS: tuple[Callable[[Dimensions], Errors], ...] = (
    _models_run_their_platforms,
    _ports_have_their_speed,
    _spines_share_uplinks,
    ports_suffice,
    _explicit_ports_exist,
    _hosts_have_room,
    _growth_is_enough,
    _growth_has_ports,
    _pools_are_used,
    _pools_suffice,
    _as_numbers_suffice,
    _subnets_suffice,
)

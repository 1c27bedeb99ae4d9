"""BGP and routing policies of a switch, from its topology."""

from __future__ import annotations

from railfab import intent
from railfab.device.plan_switch import Connection, PlannedSwitch
from railfab.device.routing import Action, BfdTimers, Bgp, BgpNeighbor, BgpTimers, Policy, PolicyRule, PrefixRange
from railfab.topology import Network

IMPORT, EXPORT = "fabric-import", "fabric-export"


def planned_policies(switch: PlannedSwitch) -> tuple[Policy, ...]:
    """What a switch accepts and announces: loopbacks and host links, and nothing else."""
    pools = switch.topology.pools
    assert pools is not None
    ranges = (
        _exactly(pools.loopbacks, pools.loopbacks.max_prefixlen),
        _exactly(pools.hosts, pools.hosts.max_prefixlen - 1),
    )
    rules = tuple(PolicyRule(action=Action.PERMIT, prefixes=(found,)) for found in ranges)
    return Policy(name=IMPORT, rules=rules), Policy(name=EXPORT, rules=rules)


def _exactly(pool: Network, length: int) -> PrefixRange:
    return PrefixRange(prefix=pool, ge=length, le=length)


def planned_bgp(switch: PlannedSwitch) -> Bgp | None:
    """The BGP speaker of a switch; None without an AS number."""
    if switch.node.asn is None:
        return None
    return Bgp(
        asn=switch.node.asn,
        router_id=switch.node.router_id,
        max_paths=switch.profile.bgp.max_paths,
        neighbors=tuple(
            _neighbor(connection, switch) for connection in switch.connections if connection.peer_node.asn is not None
        ),
    )


def _neighbor(connection: Connection, switch: PlannedSwitch) -> BgpNeighbor:
    """The session over a link: to the address at its other end, or over the interface of an unnumbered one."""
    remote_as, far, bfd = connection.peer_node.asn, connection.peer.address, switch.profile.bfd
    assert remote_as is not None
    return BgpNeighbor(
        peer=connection.port.name if far is None else far.ip,
        remote_as=remote_as,
        timers=_timers(switch.profile.bgp),
        import_policies=(IMPORT,),
        export_policies=(EXPORT,),
        bfd=None if bfd is None else BfdTimers(interval_ms=bfd.interval_ms, multiplier=bfd.multiplier),
    )


def _timers(bgp: intent.Bgp) -> BgpTimers:
    return BgpTimers(
        keepalive_s=bgp.keepalive_s,
        hold_s=bgp.hold_s,
        connect_retry_s=bgp.connect_retry_s,
        advertisement_interval_s=bgp.advertisement_interval_s,
    )

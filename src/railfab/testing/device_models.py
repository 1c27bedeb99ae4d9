"""Device models as hypothesis draws them: with every feature that a platform supports, and no other."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hypothesis import strategies as st

from railfab.device import (
    LOOPBACK,
    BalancingMode,
    DeviceModel,
    HashField,
    Interface,
    Lag,
    LoadBalancing,
    NetworkInstance,
    Port,
    Vlan,
    Vtep,
    in_order,
)
from railfab.platforms import Support, platform
from railfab.platforms.admission import support_of
from railfab.platforms.balancing_features import HASH_FIELD_SETS, QUEUE_PAIR_FIELDS
from railfab.platforms.features import FEATURES
from railfab.testing.able import Able, least, most
from railfab.testing.interface_models import Scope, cages, loopbacks, ports_and_lags, split, svis
from railfab.testing.management_models import managements
from railfab.testing.qos_models import qos_models
from railfab.testing.reuse import optional, reused
from railfab.testing.routing_models import DrawnPeer, bgp_speakers, policy_lists
from railfab.testing.words import ipv4_addresses, words

_VRF_NAMES = words.filter(lambda word: word not in ("default", "mgmt"))
_FAR_ADDRESSES = ipv4_addresses.map(lambda address: address + 0x60000000)
SUPPORTED = (Support.YES, Support.EXTERNAL, Support.OMITTED)


@reused
def features(name: str) -> Able:
    """The features that a platform supports, omits, or leaves to the operating system."""
    own = platform(name).capabilities
    able = (feature for feature in FEATURES if support_of(own, feature) in SUPPORTED)
    return Able(able, limits=own.limits, least=own.least)


@reused
@st.composite
def device_models(draw: st.DrawFn, name: str) -> DeviceModel:
    """A model within the features of the platform of that name."""
    able = features(name)
    vxlan = "vxlan" in able and draw(st.booleans())
    instances = tuple(draw(st.lists(_instances(vxlan), max_size=2, unique_by=(_name, _vni)))) if "vrf" in able else ()
    vlans = tuple(draw(st.lists(_vlans(vxlan), max_size=3, unique_by=_vlan_id))) if "vlan" in able else ()
    scope = Scope(able=able, instances=instances, vlans=vlans)
    breakouts, slots = split(name, draw(st.lists(cages(able), min_size=1, max_size=3)))
    drawn = [*draw(ports_and_lags(slots, scope)), *draw(loopbacks(able)), *draw(svis(scope))]
    peers = [peer for _, peer in drawn if peer is not None]
    loopback = next(found for found, _ in drawn if found.name == LOOPBACK)
    own = next((address.ip for address in loopback.addresses if address.version == 4), None)
    peers += draw(_far_peers(able)) if own is not None or "update_source_without_address" in able else []
    runs_bgp = bool(peers) or draw(st.booleans())
    policies = draw(policy_lists(able)) if runs_bgp else ()
    bgp = draw(bgp_speakers(peers, LOOPBACK, policies, able)) if runs_bgp else None
    over_lag = any(isinstance(found, Lag) and peer is not None for found, peer in drawn)
    ports = _qos_ports([interface for interface, _ in drawn], able)
    return in_order(
        DeviceModel(
            name=draw(words),
            platform=name,
            breakouts=breakouts,
            interfaces=tuple(interface for interface, _ in drawn),
            bgp=bgp,
            qos=draw(st.none() | qos_models(ports, able)) if "traffic_classes" in able else None,
            policies=policies,
            network_instances=instances,
            vlans=vlans,
            vtep=Vtep(source=LOOPBACK, address=own) if vxlan and own is not None else None,
            load_balancing=draw(_balancing(able, over_lag=over_lag)),
            management=draw(managements(able)),
            drain=bool(peers) and "drain" in able and draw(st.booleans()),
        )
    )


def _qos_ports(interfaces: Sequence[Interface], able: Collection[str]) -> list[str]:
    """The ports; where members of a LAG have no QoS of their own, the LAG instead of its members."""
    ports = [found.name for found in interfaces if isinstance(found, Port)]
    if "lag_member_qos" in able:
        return ports
    lags = [found for found in interfaces if isinstance(found, Lag)]
    members = {name for lag in lags for name in lag.members}
    return [name for name in ports if name not in members] + [lag.name for lag in lags]


def _name(instance: NetworkInstance) -> str:
    return instance.name


def _vni(instance: NetworkInstance) -> int | str:
    """The VNI of a VRF, which no other one of a switch has; its name without one."""
    return instance.name if instance.vni is None else instance.vni


def _vlan_id(vlan: Vlan) -> int:
    return vlan.vlan_id


@reused
@st.composite
def _instances(draw: st.DrawFn, vxlan: bool) -> NetworkInstance:
    """A VRF; with an overlay it has an RD, targets and a VNI."""
    name = draw(_VRF_NAMES)
    router_id = draw(optional(ipv4_addresses))
    if not vxlan:
        return NetworkInstance(name=name, router_id=router_id)
    number = draw(st.integers(1, 65535))
    target = f"65000:{number}"
    return NetworkInstance(
        name=name,
        rd=target,
        import_targets=(target,),
        export_targets=(target,),
        vni=number + 20_000,
        router_id=router_id,
    )


@reused
@st.composite
def _vlans(draw: st.DrawFn, vxlan: bool) -> Vlan:
    vlan_id = draw(st.integers(2, 4094))
    return Vlan(vlan_id=vlan_id, name=draw(words), vni=10_000 + vlan_id if vxlan and draw(st.booleans()) else None)


@reused
@st.composite
def _far_peers(draw: st.DrawFn, able: Collection[str]) -> list[DrawnPeer]:
    """Peers beyond the links of the switch."""
    if not {"update_source", "multihop"} <= set(able):
        return []
    addresses = draw(st.lists(_FAR_ADDRESSES, max_size=2, unique=True))
    return [DrawnPeer(peer=address, far=True) for address in addresses]


@reused
@st.composite
def _balancing(draw: st.DrawFn, able: Collection[str], *, over_lag: bool) -> LoadBalancing | None:
    """Load balancing; None where everything is the platform's default. over_lag: whether a session is over a LAG."""
    modes = [mode for mode in BalancingMode if mode is BalancingMode.FLOW or f"load_balancing_{mode}" in able]
    if over_lag and "adaptive_over_lags" not in able:
        modes = [mode for mode in modes if mode is not BalancingMode.ADAPTIVE]
    mode = draw(st.sampled_from(modes))
    special = {
        HashField.QUEUE_PAIR: "hash_queue_pair",
        HashField.INGRESS_PORT: "hash_ingress_port",
        HashField.VLAN: "hash_vlan",
    }
    known = [field for field in HashField if special.get(field, "hash_fields") in able]
    chosen = st.lists(st.sampled_from(known), max_size=4, unique=True) if known else st.just([])
    if "hash_any_fields" not in able:
        chosen = st.sampled_from([[], *(map(list, HASH_FIELD_SETS) if "hash_fields" in able else ())])
    if "hash_queue_pair" in able:
        chosen |= st.just(list(QUEUE_PAIR_FIELDS))
    fields = draw(chosen)
    gaps = optional(st.integers(10, most(able, "flowlet_gap_us", 10_000)))
    found = LoadBalancing(
        mode=mode,
        fields=tuple(sorted(fields, key=list(HashField).index)),
        seed=draw(optional(st.integers(least(able, "hash_seed", 0), 65535))) if "hash_seed" in able else None,
        flowlet_gap_us=draw(gaps) if mode is BalancingMode.FLOWLET else None,
    )
    return None if found == LoadBalancing() else found

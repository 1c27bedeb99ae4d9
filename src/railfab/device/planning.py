"""Device models from topology and intent."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from railfab.device.interfaces import BreakoutPort
from railfab.device.model import DeviceModel
from railfab.device.order import in_order
from railfab.device.plan_balancing import planned_balancing
from railfab.device.plan_interfaces import (
    planned_instances,
    planned_interfaces,
    planned_mlag,
    planned_vlans,
    planned_vtep,
)
from railfab.device.plan_management import planned_management
from railfab.device.plan_qos import planned_qos
from railfab.device.plan_routing import planned_bgp, planned_policies
from railfab.device.plan_switch import PlannedFabric, PlannedSwitch
from railfab.device.qos import KINDS, Qos
from railfab.device.supported import refuse
from railfab.intent import FabricIntent
from railfab.topology import Topology


def plan(topology: Topology, intent: FabricIntent, only: Collection[str] | None = None) -> dict[str, DeviceModel]:
    """The model of every switch, or of those in `only`, by name, in the order of the topology.

    Raises UnsupportedFeature or Problems for features that a device model cannot express yet.
    """
    refuse(intent)
    fabric = PlannedFabric(topology=topology, intent=intent)
    return {
        node.name: _device(PlannedSwitch(node=node, fabric=fabric))
        for node in topology.switches()
        if only is None or node.name in only
    }


def _device(switch: PlannedSwitch) -> DeviceModel:
    node = switch.node
    assert node.platform is not None
    model = DeviceModel(
        name=node.name,
        platform=node.platform,
        breakouts=tuple(
            BreakoutPort(cage=breakout.cage_name, lanes=breakout.lanes, rate_gbps=breakout.rate_gbps)
            for breakout in node.breakouts
        ),
        interfaces=planned_interfaces(switch),
        network_instances=planned_instances(switch),
        vlans=planned_vlans(switch),
        vtep=planned_vtep(switch),
        mlag=planned_mlag(switch),
        policies=planned_policies(switch),
        bgp=planned_bgp(switch),
        qos=planned_qos(switch),
        load_balancing=planned_balancing(switch),
        management=planned_management(switch),
        drain=node.name in switch.fabric.intent.drain,
        silicon=switch.fabric.topology.model_of(node).silicon,
    )
    ordered = in_order(model)
    return ordered if ordered.qos is None else replace(ordered, qos=_shared(ordered.qos))


@lru_cache(maxsize=KINDS)
def _shared(qos: Qos) -> Qos:
    """The first QoS that equals this one, so that the switches of one kind have the same."""
    return qos

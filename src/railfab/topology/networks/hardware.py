"""Check that the switches of an access network support its platforms, speeds and number of ports."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.errors import RailfabError, TopologyError
from railfab.text.remedies import remedy, values
from railfab.topology.catalogue import SwitchModel, no_platform, no_speed
from railfab.topology.model import Net
from railfab.topology.networks.access import AccessNetwork

Errors = Iterator[RailfabError]


def models_are_known(network: AccessNetwork) -> Errors:
    for tier, stated in (("leaves", network.leaves), ("spines", network.spines)):
        if stated and stated.model not in network.models:
            problem, known = f"switch {stated.model!r} is not in the catalogue", ", ".join(sorted(network.models))
            yield TopologyError(f"{network.key}.{tier}.model", problem, f"Use {known}")


def models_run_their_platforms(network: AccessNetwork) -> Errors:
    for tier, model, platform in _tiers(network):
        if platform not in model.names:
            yield no_platform([f"{network.key}.{tier}.platform"], model, platform, network.models)


def _tiers(network: AccessNetwork) -> Iterator[tuple[str, SwitchModel, str]]:
    yield "leaves", network.leaf_model, network.leaf_platform
    if network.spine_model and network.spine_platform:
        yield "spines", network.spine_model, network.spine_platform


def ports_have_their_speed(network: AccessNetwork) -> Errors:
    if network.leaf_model.lanes_for(network.rate_gbps) is None:
        yield no_speed(f"{network.key}.rate_gbps", network.leaf_model, network.rate_gbps)
    if network.spines is None:
        return
    for model in {model.name: model for _, model, _ in _tiers(network)}.values():
        if model.lanes_for(network.spines.rate_gbps) is None:
            yield no_speed(f"{network.key}.spines.rate_gbps", model, network.spines.rate_gbps)


def cages_can_be_split(network: AccessNetwork) -> Errors:
    lanes = {"leaves": max(network.lanes, network.uplink_lanes), "spines": network.spine_lanes}
    for tier, model, platform in _tiers(network):
        if lanes[tier] > 1 and "lane" not in model.names[platform]:
            problem = f"{model.name} does not support breakout on {platform}"
            yield TopologyError(f"{network.key}.{tier}", problem, "Use speeds without breakout")


def leaves_form_pairs(network: AccessNetwork) -> Errors:
    if network.leaves.count % network.group:
        who = "management.pairs needs" if network.net is Net.MANAGEMENT else "NICs with several ports need"
        problem = f"{who} pairs of leaves, and leaves.count is {network.leaves.count}"
        key, count = f"{network.key}.leaves.count", network.leaves.count
        even = (number for number in (count - 1, count + 1) if number)
        yield TopologyError(key, problem, remedy(*values(key, even)))


def leaves_are_connected(network: AccessNetwork) -> Errors:
    if network.spines is None and network.leaves.count > network.max_without_spines:
        problem = f"{network.leaves.count} leaves are not connected"
        yield TopologyError(f"{network.key}.spines", problem, "Add spines")


def spines_have_ports(network: AccessNetwork) -> Errors:
    if network.spines is None or network.spine_model is None:
        return
    model, needed = network.spine_model, network.leaves.count * network.spines.links_per_leaf
    if needed > model.cages * network.spine_lanes:
        ports = model.cages * network.spine_lanes
        problem = f"{needed} ports are needed (one for each link of each leaf) and {model.name} has {ports}"
        yield TopologyError(f"{network.key}.spines", problem, "Use a larger model or fewer leaves")


def leaves_have_ports(network: AccessNetwork) -> Errors:
    if network.slots and network.spare_ports >= network.spare_links:
        return
    problem = (
        f"{network.leaf_model.name} has {network.access_ports} access ports besides {network.uplink_room} uplinks, "
        "too few for its hosts and devices"
    )
    yield TopologyError(f"{network.key}.leaves", problem, "Use a larger model, faster uplinks or fewer spines")

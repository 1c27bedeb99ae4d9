"""Add the other networks to the topology of the backend."""

from __future__ import annotations

from dataclasses import replace

from railfab.intent import FabricIntent
from railfab.topology.model import Net, Topology
from railfab.topology.networks.access import AccessNetwork
from railfab.topology.networks.describe import access_networks
from railfab.topology.networks.frontend import frontend_part
from railfab.topology.networks.management import management_part
from railfab.topology.networks.parts import Part
from railfab.topology.networks.storage import storage_part


def add_networks(intent: FabricIntent, backend: Topology) -> Topology:
    """The whole cluster: the backend with the frontend, storage and management of the intent, if it has them.

    `network_errors` must be empty for the intent.
    """
    cluster = backend
    for network in access_networks(intent):
        cluster = _merged(cluster, network, _part(network, intent, cluster))
    return cluster


def _part(network: AccessNetwork, intent: FabricIntent, cluster: Topology) -> Part:
    profile, hosts = intent.profile, cluster.hosts()
    numbered = profile.underlay == "numbered"
    if network.net is Net.FRONTEND and intent.frontend:
        return frontend_part(network, intent.frontend, hosts, numbered=numbered, reflectors=profile.reflectors)
    if network.net is Net.STORAGE and intent.storage:
        return storage_part(network, intent.storage, hosts, numbered=numbered)
    assert intent.management is not None
    return management_part(network, intent.management, intent, cluster)


def _merged(cluster: Topology, network: AccessNetwork, part: Part) -> Topology:
    models = [model for model in (network.leaf_model, network.spine_model) if model]
    return replace(
        cluster,
        nodes=cluster.nodes + part.nodes,
        links=cluster.links + part.links,
        models={**cluster.models, **{model.name: model for model in models}},
        gateways=cluster.gateways + part.gateways,
        bonds=cluster.bonds + part.bonds,
    )

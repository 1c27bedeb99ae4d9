"""The other networks of a cluster: frontend, storage and management."""

from railfab.topology.networks.access import FIRST_ASN
from railfab.topology.networks.cluster import add_networks
from railfab.topology.networks.describe import access_networks
from railfab.topology.networks.named import NamedNetwork, networks_of
from railfab.topology.networks.problems import network_errors

__all__ = ["FIRST_ASN", "NamedNetwork", "access_networks", "add_networks", "network_errors", "networks_of"]

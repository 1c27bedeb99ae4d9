"""The addresses of the peer link of an MLAG pair.

EOS needs an IPv4 address of the VLAN of the peer link at both ends (EOS User Manual, Multi-Chassis Link Aggregation).
Where a model has a keepalive and states none, the ends have link-local ones (RFC 3927); the switch with the lower
address of the keepalive has the lower one.
"""

from __future__ import annotations

from ipaddress import IPv4Interface

from railfab.device import DeviceModel, IpAddress, IpInterface, Mlag, svi_name
from railfab.platforms.eos.names import PEER_VLAN, native_name

PEER_SVI = native_name(svi_name(PEER_VLAN))
LOW, HIGH = IPv4Interface("169.254.255.0/31"), IPv4Interface("169.254.255.1/31")


def derived_addresses(
    peer: IpAddress | None, loopback: IpAddress | None
) -> tuple[IpInterface | None, IpAddress | None]:
    """Own address on the peer link, and the peer's, where a model states none. peer: of the keepalive; None without."""
    if peer is None:
        return None, None
    first = loopback is None or int(loopback) < int(peer)
    address, peer_address = (LOW, HIGH) if first else (HIGH, LOW)
    return address, peer_address.ip


def addresses_of(model: DeviceModel, mlag: Mlag) -> tuple[IpInterface | None, IpAddress | None]:
    """Own address on the peer link, and the peer's; None where neither is stated nor follows."""
    address, peer = derived_addresses(mlag.keepalive.peer if mlag.keepalive else None, model.loopback)
    return mlag.address or address, mlag.peer or peer

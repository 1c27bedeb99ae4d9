"""The peer link of an MLAG pair: its VLAN, its addresses, and `mlag configuration`.

EOS needs an IPv4 address of the VLAN of the peer link at both ends (EOS User Manual, Multi-Chassis Link Aggregation).
Where a model has a keepalive and states none, the ends have link-local ones (RFC 3927); the switch with the lower
address of the keepalive has the lower one.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Interface

from railfab.device import DEFAULT_INSTANCE, DeviceModel, IpAddress, IpInterface, Mlag, svi_name
from railfab.platforms.eos.names import PEER_VLAN, native_name
from railfab.platforms.shared.line_tree import Line

PEER_SVI = native_name(svi_name(PEER_VLAN))
LOW, HIGH = IPv4Interface("169.254.255.0/31"), IPv4Interface("169.254.255.1/31")
RELOAD_DELAY_S = {"mlag": 300, "non-mlag": 330}
"""How long ports stay down after a restart [s]: those of MLAGs until the peer link is up, the others until routes are
there (EOS User Manual, reload-delay; the values of Arista's designs)."""


DUAL_PRIMARY = "dual-primary detection delay 10 action errdisable all-interfaces"
"""With a heartbeat: when the peer link alone fails, one of the two primaries shuts its interfaces (EOS User Manual,
MLAG, dual primary detection; the delay [s] is that of its example)."""


def derived_addresses(
    peer: IpAddress | None, loopback: IpAddress | None
) -> tuple[IpInterface | None, IpAddress | None]:
    """Own address on the peer link, and the peer's, where a model states none. peer: of the keepalive; None without."""
    if peer is None:
        return None, None
    first = loopback is None or int(loopback) < int(peer)
    own, other = (LOW, HIGH) if first else (HIGH, LOW)
    return own, other.ip


def addresses_of(model: DeviceModel, mlag: Mlag) -> tuple[IpInterface | None, IpAddress | None]:
    """Own address on the peer link, and the peer's; None where neither is stated nor follows."""
    own, other = derived_addresses(mlag.keepalive.peer if mlag.keepalive else None, model.loopback)
    return mlag.address or own, mlag.peer or other


def peer_svi(model: DeviceModel) -> Line:
    """The SVI of the peer link; it stays up while no other port has its VLAN."""
    assert model.mlag is not None
    own, _ = addresses_of(model, model.mlag)
    lines = ["description MLAG peer link", "no autostate"]
    if own is not None:
        lines.append(f"ip address {own}")
    return Line(f"interface {PEER_SVI}", tuple(map(Line, lines)))


def peer_vlan() -> Line:
    return Line(f"vlan {PEER_VLAN}", (Line("name MLAG"), Line("trunk group MLAG")))


def mlag_lines(model: DeviceModel) -> Iterator[Line]:
    """`mlag configuration`; nothing without a pair."""
    mlag = model.mlag
    if mlag is None:
        return
    _, peer = addresses_of(model, mlag)
    lines = [f"domain-id {mlag.domain}", f"local-interface {PEER_SVI}"]
    if peer is not None:
        lines.append(f"peer-address {peer}")
    if mlag.keepalive is not None:
        vrf = mlag.keepalive.network_instance
        lines.append(f"peer-address heartbeat {mlag.keepalive.peer}{'' if vrf == DEFAULT_INSTANCE else f' vrf {vrf}'}")
    lines.append(f"peer-link {native_name(mlag.peer_link)}")
    if mlag.keepalive is not None:
        lines.append(DUAL_PRIMARY)
    lines += [f"reload-delay {kind} {delay}" for kind, delay in RELOAD_DELAY_S.items()]
    yield Line("mlag configuration", tuple(map(Line, lines)))

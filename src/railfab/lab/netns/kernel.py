"""Kinds of devices that the kernel of this machine can make, tried in a temporary network namespace."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from railfab.errors import LabError
from railfab.lab import programs
from railfab.platforms.frr.devices import DeviceKind

PROBE_WITHIN_S = 20.0
_TRIALS = {
    DeviceKind.BOND: "type bond",
    DeviceKind.BRIDGE: "type bridge",
    DeviceKind.DUMMY: "type dummy",
    DeviceKind.VLAN: "link rf0 type vlan id 2",
    DeviceKind.VRF: "type vrf table 10",
    DeviceKind.VXLAN: "type vxlan id 1 local 192.0.2.1 dstport 4789",
}
NEEDED = frozenset({DeviceKind.BOND, DeviceKind.BRIDGE, DeviceKind.DUMMY, DeviceKind.VXLAN})
"""Kinds without which a lab that has one does not work."""

WITHOUT = {
    DeviceKind.VRF: "interfaces of VRFs are in the main routing table, so tenants are not separated",
    DeviceKind.VLAN: "tagged VLANs of ports are left out, so only untagged ones have hosts",
}
"""What a lab lacks without the other kinds."""


@lru_cache(maxsize=1)
def missing_kinds() -> frozenset[DeviceKind]:
    """The kinds that the kernel cannot make; all of them where nothing can be tried."""
    trials = [f"ip link add name rf9{i} {trial} && echo {kind}" for i, (kind, trial) in enumerate(_TRIALS.items())]
    script = "; ".join(["ip link add name rf0 type veth peer name rf1", *trials])
    try:
        done = programs.run(["unshare", "--net", "sh", "-c", script], within_s=PROBE_WITHIN_S)
    except LabError:
        return frozenset(DeviceKind)
    return frozenset(DeviceKind) - {DeviceKind(word) for word in done.stdout.split()}


def problems(kinds: Collection[DeviceKind]) -> tuple[str, ...]:
    """What a lab with devices of these kinds lacks on this machine, each with its effect."""
    found = [kind for kind in DeviceKind if kind in kinds and kind in missing_kinds()]
    return tuple(f"has no {kind} devices" + (f": {WITHOUT[kind]}" if kind in WITHOUT else "") for kind in found)

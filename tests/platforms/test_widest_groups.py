"""The widest group of next hops, from what each platform shows of its routes of BGP."""

from __future__ import annotations

import json

import pytest

from railfab.device import Observed
from railfab.errors import DeviceError
from railfab.platforms.eos.state import observed_state as eos_state
from railfab.platforms.nxos.state import widest_group as nxos_group
from railfab.platforms.shared.frr_state import with_widest_group
from railfab.platforms.srlinux.state import observed_state as srlinux_state

HOP, LOST = {"fib": True, "active": True, "interfaceName": "swp1"}, {"interfaceName": "swp2"}
FRR = {
    "10.0.0.0/24": [
        {"protocol": "bgp", "nexthops": [HOP, HOP, HOP]},
        {"protocol": "bgp", "selected": True, "nexthops": [HOP, HOP, LOST]},
    ],
    "10.0.1.0/24": [{"protocol": "bgp", "selected": True, "nexthops": [HOP]}],
}
"""FRR 8.4, `show ip route bgp json`: only the selected entry forwards, and only over active next hops."""
VIA = {"nexthopAddr": "10.0.0.1", "interface": "Ethernet1"}
EOS = {"vrfs": {"default": {"routes": {"10.0.0.0/24": {"vias": [VIA, VIA, VIA]}, "10.0.1.0/24": {"vias": [VIA]}}}}}
NXOS = """\
10.0.0.0/24, ubest/mbest: 4/0
10.0.1.0/24, ubest/mbest: 1/0
"""


def observed(name: str, **outputs: str) -> Observed:
    """The state of a switch that shows nothing else."""
    assert (name, outputs) == ("leaf1", {"neighbors": "{}"})
    return Observed(interfaces=(), sessions=())


def frr_group(**routes: str) -> int | None:
    return with_widest_group(observed, "leaf1", {"neighbors": "{}", **routes}).widest_group


def test_of_frr_it_has_the_active_next_hops_of_the_selected_route_of_either_family() -> None:
    assert frr_group(routes=json.dumps(FRR), routes6="{}") == frr_group(routes="{}", routes6=json.dumps(FRR)) == 2
    assert frr_group(routes="{}", routes6="{}") == 0
    assert frr_group() is None
    with pytest.raises(DeviceError, match="returns '% BGP instance not found' instead of JSON"):
        frr_group(routes="% BGP instance not found", routes6="{}")


def test_of_eos_it_has_the_vias_of_a_route() -> None:
    shown = {name: {} for name in ("lldp", "interfaces", "ecn", "neighbors", "bfd")}
    assert eos_state({**shown, "routes": EOS}).widest_group == 3
    assert eos_state({**shown, "routes": {"vrfs": {}}}).widest_group == 0
    assert eos_state(shown).widest_group is None


def test_of_nxos_it_has_the_best_paths_of_a_prefix() -> None:
    assert nxos_group(NXOS) == 4
    assert nxos_group("") == 0


def test_of_sr_linux_it_has_the_resolved_members_of_a_group() -> None:
    groups = [
        {"index": 1, "next-hop": [{"id": 0, "resolved": "true"}, {"id": 1, "resolved": "true"}]},
        {"index": 2, "next-hop": [{"id": member, "resolved": str(not member).lower()} for member in range(3)]},
    ]
    state = {"network-instance": [{"name": "default", "route-table": {"next-hop-group": groups}}]}
    assert srlinux_state(state, resolved=False, routes=True).widest_group == 2
    assert srlinux_state({}, resolved=False, routes=True).widest_group == 0
    assert srlinux_state(state, resolved=False).widest_group is None

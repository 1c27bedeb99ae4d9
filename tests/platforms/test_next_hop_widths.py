"""The number of routes by that of their next hops, from what each platform shows of its routes of BGP."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from railfab.device import Observed
from railfab.errors import DeviceError
from railfab.platforms.eos.state import observed_state as eos_state
from railfab.platforms.nxos.state import next_hop_widths as nxos_widths
from railfab.platforms.shared.frr_state import with_next_hop_widths
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
EOS6 = {"routes": {"2001:db8::/64": {"vias": [VIA, VIA]}}}
NXOS = """\
10.0.0.0/24, ubest/mbest: 4/0
10.0.1.0/24, ubest/mbest: 1/0
"""


def observed(name: str, **outputs: str) -> Observed:
    """The state of a switch that shows nothing else."""
    assert (name, outputs) == ("leaf1", {"neighbors": "{}"})
    return Observed(interfaces=(), sessions=())


def frr_widths(**routes: str) -> Mapping[int, int] | None:
    return with_next_hop_widths(observed, "leaf1", {"neighbors": "{}", **routes}).next_hop_widths


def test_of_frr_it_counts_the_active_next_hops_of_the_selected_routes_of_both_families() -> None:
    assert frr_widths(routes=json.dumps(FRR), routes6="{}") == {2: 1, 1: 1}
    assert frr_widths(routes=json.dumps(FRR), routes6=json.dumps(FRR)) == {2: 2, 1: 2}
    assert frr_widths(routes="{}", routes6="{}") == {}
    assert frr_widths() is None
    with pytest.raises(DeviceError, match="returns '% BGP instance not found' instead of JSON"):
        frr_widths(routes="% BGP instance not found", routes6="{}")


def test_of_eos_it_counts_the_vias_of_routes() -> None:
    shown = {name: {} for name in ("lldp", "interfaces", "ecn", "neighbors", "bfd")}
    assert eos_state({**shown, "routes": EOS, "routes6": {"routes": {}}}).next_hop_widths == {3: 1, 1: 1}
    assert eos_state({**shown, "routes": EOS, "routes6": EOS6}).next_hop_widths == {3: 1, 2: 1, 1: 1}
    assert eos_state({**shown, "routes": {"vrfs": {}}, "routes6": {}}).next_hop_widths == {}
    assert eos_state(shown).next_hop_widths is None


def test_of_nxos_it_counts_the_best_paths_of_prefixes() -> None:
    assert nxos_widths(NXOS) == {4: 1, 1: 1}
    assert nxos_widths(NXOS, NXOS.replace("10.0.0.0/24", "2001:db8::/64")) == {4: 2, 1: 2}
    assert nxos_widths("") == {}


def test_of_sr_linux_it_counts_the_resolved_members_of_groups() -> None:
    groups = [
        {"index": 1, "next-hop": [{"id": 0, "resolved": "true"}, {"id": 1, "resolved": "true"}]},
        {"index": 2, "next-hop": [{"id": member, "resolved": str(not member).lower()} for member in range(3)]},
    ]
    state = {"network-instance": [{"name": "default", "route-table": {"next-hop-group": groups}}]}
    assert srlinux_state(state, resolved=False, routes=True).next_hop_widths == {2: 1, 1: 1}
    assert srlinux_state({}, resolved=False, routes=True).next_hop_widths == {}
    assert srlinux_state(state, resolved=False).next_hop_widths is None

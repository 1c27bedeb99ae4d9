"""The collector against real gNMI servers: what is there, what vanishes, what returns, and what it says of itself."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from tests.telemetry.rack import HOST_PORT, INTERVAL_S, LLDP, QUICK, UPLINK, Rack, eventually

from railfab.endpoints import Endpoints
from railfab.errors import EndpointError, Problems, UnknownPlatform
from railfab.platforms import platform_names
from railfab.telemetry import Collector, RetryPolicy, SessionState, fabric_collector
from railfab.topology import Topology

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
OCTETS = "fabric_interface_receive_bytes_total"
OPER_UP = "fabric_interface_oper_up"


def test_counters_arrive_and_rise(running: Collector) -> None:
    before = running.value(OCTETS, device=LEAF, interface=UPLINK)
    eventually(running, lambda now: now.value(OCTETS, device=LEAF, interface=UPLINK) > before)


def test_series_of_a_killed_target_vanish_together_and_return_and_the_collector_says_so(
    running: Collector, rack: Rack
) -> None:
    kept = running.snapshot()
    rack.kill(LEAF)
    seen = []
    until_s = time.monotonic() + 10
    while not seen or seen[-1] != (0, 0):
        assert time.monotonic() < until_s
        now = running.snapshot()
        seen.append((len(now.select(OCTETS, device=LEAF)), len(now.select(OPER_UP, device=LEAF))))
        time.sleep(0.02)
    assert set(seen) == {(2, 2), (0, 0)}
    unreachable = {"device": LEAF, "reason": "unreachable"}
    down = eventually(running, lambda now: now.value("fabric_collector_errors_total", **unreachable))
    assert down.value("fabric_collector_session_up", device=LEAF) == 0
    assert down.value("fabric_collector_session_state", device=LEAF) != SessionState.UP
    assert down.value("fabric_collector_series", device=LEAF) == 0
    assert down.value("fabric_collector_session_up", device=SPINE) == 1
    assert down.select(OCTETS, device=SPINE)
    rack.revive(LEAF)
    up = eventually(running, lambda now: now.value("fabric_collector_session_up", device=LEAF))
    assert [labels for labels, _ in up.select(OPER_UP)] == [labels for labels, _ in kept.select(OPER_UP)]
    assert up.value("fabric_collector_reconnects_total", device=LEAF) >= 1
    assert up.value("fabric_collector_errors_total", reason="closed", device=LEAF) == 1


def test_a_deleted_leaf_takes_its_series_with_it_at_once(running: Collector, rack: Rack) -> None:
    rack.switches[LEAF].leaves.drop([f"/interface[name={UPLINK}]/oper-state"])
    now = eventually(running, lambda now: len(now.select(OPER_UP, device=LEAF)) == 1)
    assert now.value(OPER_UP, device=LEAF, interface=HOST_PORT) == 1


def test_an_on_change_value_stays_while_its_stream_lives_and_follows_changes(running: Collector, rack: Rack) -> None:
    time.sleep(4 * INTERVAL_S)
    assert running.value(OPER_UP, device=LEAF) == 2
    rack.switches[LEAF].leaves.put(f"/interface[name={UPLINK}]/oper-state", "down", on_change=True)
    eventually(running, lambda now: now.select(OPER_UP, device=LEAF, interface=UPLINK)[0][1] == 0)


def test_a_neighbour_that_changes_leaves_no_ghost(running: Collector, rack: Rack) -> None:
    rack.switches[LEAF].leaves.put(LLDP.format(UPLINK) + "system-name", "pod1-spine2", on_change=True)
    name = "fabric_lldp_neighbor_info"
    now = eventually(running, lambda now: now.select(name, device=LEAF, peer_device="pod1-spine2"))
    assert len(now.select(name, device=LEAF)) == 1


def test_labels_come_from_sibling_leaves(running: Collector) -> None:
    now = running.snapshot()
    assert now.value("fabric_bfd_session_up", device=LEAF, peer=UPLINK) == 1
    neighbour = {"interface": UPLINK, "peer_device": SPINE, "peer_interface": "ethernet-1/1"}
    assert now.value("fabric_lldp_neighbor_info", device=LEAF, **neighbour) == 1


def test_leaves_without_a_rule_are_counted_by_their_root(running: Collector) -> None:
    root = "/interface/statistics"
    assert running.value("fabric_collector_unmapped_updates_total", device=LEAF, path_root=root) >= 2


def test_a_silent_stream_is_stalled_and_subscribed_again(running: Collector, rack: Rack) -> None:
    rack.switches[LEAF].stop_counting()
    stalled = {"device": LEAF, "reason": "stalled"}
    eventually(running, lambda now: now.value("fabric_collector_errors_total", **stalled) >= 1)
    assert running.value("fabric_collector_session_up", device=SPINE) == 1


@pytest.mark.parametrize(
    ("changes", "reason", "state", "text"),
    [
        ({"credentials": "env:TELEMETRY_TEST"}, "login_refused", SessionState.REFUSED, "rejects the login of admin"),
        ({"ca": None}, "tls", SessionState.REFUSED, "is not trusted ("),
        ({"gnmi_port": 1}, "unreachable", SessionState.RETRYING, "no answer from 127.0.0.1:1 (connection refused)"),
    ],
)
def test_what_keeps_a_target_away_is_named(
    topology: Topology,
    rack: Rack,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    changes: dict[str, object],
    reason: str,
    state: SessionState,
    text: str,
) -> None:
    monkeypatch.setenv("TELEMETRY_TEST_USERNAME", "admin")
    monkeypatch.setenv("TELEMETRY_TEST_PASSWORD", "a wrong secret")
    with fabric_collector(topology, rack.endpoints(**changes), interval_s=INTERVAL_S, policy=QUICK) as collector:
        count = {"device": LEAF, "reason": reason}
        now = eventually(collector, lambda now: now.value("fabric_collector_errors_total", **count))
        assert collector.states()[LEAF] in (state, SessionState.CONNECTING, SessionState.SYNCING)
    assert now.value("fabric_collector_session_up") == 0
    assert now.select("fabric_collector_last_update_timestamp_seconds", device=LEAF) == [
        ({"device": LEAF, "fabric": "pod64", "subscription": "sample"}, 0.0)
    ]
    assert f"{LEAF}: " in caplog.text
    assert text in caplog.text
    assert "a wrong secret" not in caplog.text


def test_a_certificate_is_not_checked_only_where_the_endpoint_says_so(
    topology: Topology, rack: Rack, caplog: pytest.LogCaptureFixture
) -> None:
    endpoints = Endpoints(
        fabric="pod64",
        backend="twin",
        nodes=(rack.endpoint(LEAF, ca=None, skip_verify=True), rack.endpoint(SPINE)),
    )
    with fabric_collector(topology, endpoints, interval_s=INTERVAL_S, policy=QUICK) as collector:
        assert collector.wait_until_up(10)
        now = collector.snapshot()
    assert now.value("fabric_collector_tls_verified", device=LEAF) == 0
    assert now.value("fabric_collector_tls_verified", device=SPINE) == 1
    assert f"{LEAF}: certificate not verified, as the endpoint asks" in caplog.text
    assert f"{SPINE}: certificate not verified" not in caplog.text


def test_more_series_than_allowed_are_counted_and_not_kept(topology: Topology, rack: Rack) -> None:
    policy = RetryPolicy(first_s=0.1, most_s=0.2, max_series_per_target=3)
    with fabric_collector(topology, rack.endpoints(), interval_s=INTERVAL_S, policy=policy) as collector:
        assert collector.wait_until_up(10)
        now = collector.snapshot()
    assert now.value("fabric_collector_series", device=LEAF) == 3
    assert now.value("fabric_collector_dropped_updates_total", device=LEAF, reason="series_limit") >= 1


def test_endpoints_that_cannot_be_used_are_refused_before_anything_starts(topology: Topology, rack: Rack) -> None:
    def collector_of(**changes: object) -> Collector:
        return fabric_collector(
            topology, Endpoints(fabric="pod64", backend="twin", nodes=(rack.endpoint(LEAF, **changes),))
        )

    with pytest.raises(EndpointError, match=r"^stray: is no switch of pod64\. Correct the name"):
        collector_of(name="stray")
    with pytest.raises(EndpointError, match=rf"^{LEAF}: has no gNMI port\. Set its gnmi_port\.$"):
        collector_of(gnmi_port=None)
    with pytest.raises(EndpointError, match=rf"^{LEAF}: no usable CA certificate in /dev/null \("):
        collector_of(ca="/dev/null")
    with pytest.raises(EndpointError, match=rf"^{LEAF}: no usable CA certificate in /none \(no such file"):
        collector_of(ca="/none")
    with pytest.raises(EndpointError, match="the environment lacks NONE_USERNAME and NONE_PASSWORD"):
        collector_of(credentials="env:NONE")
    with pytest.raises(EndpointError, match=rf"^{LEAF} and 1 more: has no gNMI port\. Set its gnmi_port\.$"):
        fabric_collector(topology, rack.endpoints(gnmi_port=None))
    stray, *others = rack.endpoints(gnmi_port=None).nodes
    different = Endpoints(fabric="pod64", backend="twin", nodes=(replace(stray, name="stray"), *others))
    with pytest.raises(Problems, match=r"(?s)stray: is no switch of pod64.*pod1-spine1: has no gNMI port"):
        fabric_collector(topology, different)


def test_two_collectors_share_a_process_and_each_ends_cleanly(topology: Topology, rack: Rack) -> None:
    collectors = [fabric_collector(topology, rack.endpoints(), interval_s=INTERVAL_S, policy=QUICK) for _ in range(2)]
    for collector in collectors:
        with collector:
            assert collector.wait_until_up(10)
            assert collector.healthy() == {"collecting": True}
        assert collector.healthy() == {"collecting": False}


def test_the_design_is_there_without_any_switch(topology: Topology) -> None:
    collector = fabric_collector(topology, Endpoints(fabric="pod64", backend="twin", nodes=()))
    text = collector.exposition.render(openmetrics=False).decode()
    assert (
        'fabric_interface_info{device="pod1-seg1-leaf1",fabric="pod64",interface="ethernet-1/1/1",link="host",'
        'peer_device="pod1-seg1-host1",peer_interface="rail1-p0",rail="1",speed="100G"} 1\n'
    ) in text
    port, peer, _ = topology.ports_of(LEAF)[-1]
    ends = f'peer_device="{peer.node}",peer_interface="{peer.name}"'
    own = f'device="{LEAF}",fabric="pod64",interface="{port.name}",link="uplink"'
    assert f'fabric_interface_info{{{own},{ends},rail="",speed="400G"}} 1\n' in text
    port_labels, link = own.rsplit(",", 1)
    assert f"fabric_link_intended_info{{{port_labels},{ends},{link}}} 1\n" in text
    assert text.count("\nfabric_device_info{") == len(topology.switches())


def on_platform(endpoints: Endpoints, platforms: dict[str, str]) -> Endpoints:
    nodes = tuple(replace(node, platform=platforms.get(node.name, node.platform)) for node in endpoints.nodes)
    return replace(endpoints, nodes=nodes)


def test_a_switch_of_an_unknown_platform_is_refused_and_the_others_are_streamed(
    topology: Topology, rack: Rack, caplog: pytest.LogCaptureFixture
) -> None:
    endpoints = on_platform(rack.endpoints(), {SPINE: "no-such-os"})
    with fabric_collector(topology, endpoints, interval_s=INTERVAL_S, policy=QUICK) as collector:
        now = eventually(collector, lambda now: now.value(OCTETS, device=LEAF))
        assert now.value("fabric_collector_session_up", device=SPINE) == 0
        assert now.value("fabric_collector_session_state", device=SPINE) == SessionState.REFUSED
        assert now.value("fabric_collector_errors_total", device=SPINE, reason="unimplemented") == 1
        assert not now.select(OCTETS, device=SPINE)
    said = (
        "pod1-spine1: platform 'no-such-os' is not supported, nothing is collected from it. "
        f"Use one of {', '.join(platform_names())}."
    )
    assert caplog.messages.count(said) == 1


def test_a_fabric_of_unknown_platforms_alone_cannot_be_collected(topology: Topology, rack: Rack) -> None:
    endpoints = on_platform(rack.endpoints(), {SPINE: "no-such-os", LEAF: "no-such-os"})
    with pytest.raises(UnknownPlatform, match="no-such-os"):
        fabric_collector(topology, endpoints)

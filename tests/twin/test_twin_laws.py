"""What an operator does over gNMI shows over gNMI: the laws of the fabric, end to end."""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path

import pytest
from tests.twin.twins import INCAST, LEAF, RECEIVER_PORT, Switch, made_job, pass_time, ran, ring, started, switch, until

from railfab.intent import Job
from railfab.twin import Twin

QUEUE = "/qos/interfaces/interface[interface-id={}]/output/queues/queue[queue-name=roce]"
STATISTICS = f"{QUEUE}/queue-statistics/aggregate-statistics"
MARKS = f"{STATISTICS}/ecn-marked-packets"
PFC = "/qos/interfaces/interface[interface-id=*]/pfc/statistics"
PAUSES = f"{PFC}/pfc-priority[index=3]/pfc-pause-frames-generated"
DISCARDS = f"{PFC}/total-packet-pfc-discards"
BGP = "/network-instance[name=default]/protocols/bgp"
SLOPE = (
    "/qos/buffer-management/queue-management-profile[name=100g-5m]"
    "/wred/wred-slope[traffic-type=all][drop-probability=all][enable-ecn=true]"
)


def marking(kmin_bytes: int, kmax_bytes: int) -> list[tuple[str, dict[str, object]]]:
    slope = {
        "min-threshold": str(kmin_bytes),
        "max-threshold": str(kmax_bytes),
        "max-drop-probability-percent": 100,
        "slope-enabled": True,
    }
    return [(SLOPE, slope)]


def deepest_mean(twin: Twin, leaf: Switch, job: Job) -> int:
    """Run a job that ends by itself; the highest one-second mean of the receiver's queue [bytes]."""
    path, deepest, ends_s = f"{QUEUE.format(RECEIVER_PORT)}/queue-depth/average-1", 0, None
    twin.switch_job(job)
    while ends_s is None or twin.status().simulated_s < ends_s:
        deepest = max(deepest, int(leaf.value(path)))
        if ends_s is None and twin.status().steps == 1:
            ends_s = twin.status().simulated_s + 2.1  # until its window has closed, and been shown
        time.sleep(0.1)
    return deepest


def test_a_lower_kmin_gives_more_marks_and_a_shorter_queue(tmp_path: Path) -> None:
    """An incast that lasts for many notifications: until the first cuts, PFC alone bounds the queue."""
    traffic = {"pattern": "incast", "senders": 31, "receivers": 1, "bytes": "10MB"}
    job = made_job(phases=[{"traffic": traffic}], repeat=1)
    marks, depth = {}, {}
    for kmin_bytes, kmax_bytes in ((10_000, 60_000), (5_000_000, 9_000_000)):
        with started(tmp_path) as twin, switch(twin) as leaf:
            leaf.set(replace=marking(kmin_bytes, kmax_bytes))
            depth[kmin_bytes] = deepest_mean(twin, leaf, job)
            marks[kmin_bytes] = leaf.total(MARKS.format(RECEIVER_PORT))
    assert marks[10_000] > marks[5_000_000] > 0
    assert 0 < depth[10_000] < depth[5_000_000]


def test_pfc_off_turns_pauses_into_drops(tmp_path: Path) -> None:
    with started(tmp_path) as twin, switch(twin) as leaf:
        ran(twin, made_job(**INCAST))
        assert leaf.total(PAUSES) > 0
        assert leaf.total(DISCARDS) == 0
        ports = leaf.values("/qos/interfaces/interface[interface-id=*]/pfc/pfc-enable", "config")
        assert len(ports) == 40
        leaf.set(update=[(path, False) for path in ports])
        paused = leaf.total(PAUSES)
        ran(twin, made_job(**INCAST))
        assert leaf.total(PAUSES) == paused
        assert leaf.total(DISCARDS) > 0
        assert twin.status().steps == 1, "what was dropped was sent again"


def test_a_cleared_neighbour_moves_the_flows_to_the_other_links(tmp_path: Path) -> None:
    uplinks = [f"ethernet-1/{port}" for port in range(25, 33)]
    with started(tmp_path, job=ring()) as twin, switch(twin) as leaf:

        def sent() -> dict[str, int]:
            return {port: leaf.total(f"/interface[name={port}]/statistics/out-octets") for port in uplinks}

        def moved() -> dict[str, int]:
            """Bytes of more than two steps: an answer to a Get may be older than one."""
            before = sent()
            steps = twin.status().steps + 3
            until(lambda: twin.status().steps >= steps)
            return {port: octets - before[port] for port, octets in sent().items()}

        busiest = max(first := moved(), key=lambda port: first[port])
        neighbor = (
            f"/network-instance[name=default]/protocols/bgp/dynamic-neighbors/interface[interface-name={busiest}.0]"
        )
        leaf.set(delete=[neighbor])
        pass_time(twin, 0.1)
        second = moved()
        assert second[busiest] < first[busiest] / 100
        assert sum(second.values()) == pytest.approx(sum(first.values()), rel=0.4)
        peers = leaf.values(f"{BGP}/neighbor[peer-address=*]/session-state")
        assert len(peers) == 7
        assert set(peers.values()) == {"established"}


def test_counters_never_go_back_whatever_is_done(tmp_path: Path) -> None:
    paths = ("/interface[name=*]/statistics", "/qos/interfaces/interface[interface-id=*]/pfc/statistics")
    with started(tmp_path, job=ring()) as twin, switch(twin) as leaf:
        last: dict[str, int] = defaultdict(int)

        def check() -> None:
            pass_time(twin, 0.15)
            for path in paths:
                for container in leaf.client.get(path=[path], encoding="proto")["notification"]:
                    for update in container["update"]:
                        assert update["val"] >= last[update["path"]], update["path"]
                        last[update["path"]] = update["val"]

        check()
        twin.set_link(LEAF, "ethernet-1/25", up=False)
        check()
        leaf.set(update=marking(10_000, 60_000))
        check()
        twin.switch_job(made_job(**INCAST))
        check()
        twin.set_link(LEAF, "ethernet-1/25", up=True)
        twin.switch_job(None)
        check()
        leaf.set(update=[("/interface[name=ethernet-1/26]/admin-state", '"disable"')])
        check()
        assert sum(last.values()) > 0

"""Every hazard of SONiC is found by the audit in a configuration with it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.platforms.sonic.designs import with_sonic

from railfab.device import DeviceModel
from railfab.platforms import platform
from railfab.platforms.hazards import harms
from railfab.platforms.sonic.tables import Tables

SONIC = platform("sonic")
PORT, GROUP, QUEUE = "Ethernet0", "Ethernet0|3", "Ethernet0|3"
ROCE, INGRESS, EGRESS = "400g-5m_roce", "pg_400g-5m_roce", "egress_400g-5m_roce"
GONE = None
Change = tuple[str, str, str, Any]

CHANGES: dict[str, Change] = {
    "code-point-in-another-class": ("DSCP_TO_TC_MAP", "fabric", "26", "1"),
    "port-without-dscp-map": ("PORT_QOS_MAP", PORT, "dscp_to_tc_map", GONE),
    "another-dscp-map": ("PORT_QOS_MAP", PORT, "dscp_to_tc_map", "AZURE"),
    "port-without-queue-map": ("PORT_QOS_MAP", PORT, "tc_to_queue_map", GONE),
    "class-in-another-queue": ("TC_TO_QUEUE_MAP", "fabric", "3", "1"),
    "port-without-group-map": ("PORT_QOS_MAP", PORT, "tc_to_pg_map", GONE),
    "class-in-another-group": ("TC_TO_PRIORITY_GROUP_MAP", "fabric", "3", "0"),
    "port-without-pause-map": ("PORT_QOS_MAP", PORT, "pfc_to_queue_map", GONE),
    "pause-of-another-queue": ("MAP_PFC_PRIORITY_TO_QUEUE", "fabric", "3", "4"),
    "layer-2-classes": ("PORT_QOS_MAP", PORT, "dot1p_to_tc_map", "AZURE"),
    "pfc-off": ("PORT_QOS_MAP", PORT, "pfc_enable", ""),
    "pfc-of-other-priorities": ("PORT_QOS_MAP", PORT, "pfc_enable", "4"),
    "watchdog-mask": ("PORT_QOS_MAP", PORT, "pfcwd_sw_enable", "4"),
    "asymmetric-pfc": ("PORT", PORT, "pfc_asym", "on"),
    "watchdog-off": ("PFC_WD", PORT, "detection_time", GONE),
    "watchdog-too-quick": ("PFC_WD", PORT, "detection_time", "100"),
    "watchdog-too-slow": ("PFC_WD", PORT, "detection_time", "5000"),
    "long-restoration": ("PFC_WD", PORT, "restoration_time", "60000"),
    "watchdog-without-drop": ("PFC_WD", PORT, "action", "forward"),
    "slow-polls": ("PFC_WD", "GLOBAL", "POLL_INTERVAL", "1000"),
    "lossy-profile-of-a-lossless-group": ("BUFFER_PG", GROUP, "profile", "ingress_lossy_profile"),
    "another-profile-of-a-lossless-group": ("BUFFER_PG", GROUP, "profile", "pg_lossless_400000_40m_profile"),
    "range-of-groups": ("BUFFER_PG", f"{PORT}|3-4", "profile", "pg_lossless_400000_40m_profile"),
    "range-of-queues": ("BUFFER_QUEUE", f"{PORT}|3-4", "profile", "egress_lossy_profile"),
    "no-headroom": ("BUFFER_PROFILE", INGRESS, "xoff", GONE),
    "less-headroom": ("BUFFER_PROFILE", INGRESS, "xoff", "1000"),
    "alpha-of-lossless": ("BUFFER_PROFILE", INGRESS, "dynamic_th", "-8"),
    "alpha-of-lossy": ("BUFFER_PROFILE", "egress_400g-5m_default", "dynamic_th", "7"),
    "both-thresholds": ("BUFFER_PROFILE", INGRESS, "static_th", "1000"),
    "xoff-above-limit": ("BUFFER_PROFILE", INGRESS, "static_th", "99000000000"),
    "egress-limit": ("BUFFER_PROFILE", EGRESS, "static_th", "1000"),
    "queue-of-another-profile": ("BUFFER_QUEUE", QUEUE, "profile", "egress_lossy_profile"),
    "smaller-pool": ("BUFFER_POOL", "ingress_lossless_pool", "size", "1000"),
    "default-pool": ("BUFFER_POOL", "ingress_lossless_pool", "xoff", GONE),
    "cable-length": ("CABLE_LENGTH", "AZURE", PORT, "0m"),
    "ecn-off": ("WRED_PROFILE", ROCE, "ecn", "ecn_none"),
    "ecn-of-some-colours": ("WRED_PROFILE", ROCE, "ecn", "ecn_green"),
    "wred-off": ("WRED_PROFILE", ROCE, "wred_green_enable", "false"),
    "late-marks": ("WRED_PROFILE", ROCE, "green_max_threshold", "99000000"),
    "early-marks": ("WRED_PROFILE", ROCE, "green_min_threshold", "1500"),
    "other-probability": ("WRED_PROFILE", ROCE, "green_drop_probability", GONE),
    "queue-without-marks": ("QUEUE", QUEUE, "wred_profile", GONE),
    "queue-with-another-scheduler": ("QUEUE", QUEUE, "scheduler", "scheduler.0"),
    "strict-bulk": ("SCHEDULER", "roce", "type", "STRICT"),
    "no-strict-priority": ("SCHEDULER", "cnp_400g", "type", "DWRR"),
    "other-weight": ("SCHEDULER", "roce", "weight", "50"),
    "rate-limit": ("SCHEDULER", "roce", "pir", "1000"),
    "no-rate-limit": ("SCHEDULER", "cnp_400g", "pir", GONE),
    "other-mtu": ("PORT", PORT, "mtu", "1500"),
    "port-disabled": ("PORT", PORT, "admin_status", "down"),
    "other-fec": ("PORT", PORT, "fec", "none"),
    "other-speed": ("BREAKOUT_CFG", PORT, "brkout_mode", "4x200G"),
    "few-links": ("PORTCHANNEL", "PortChannel1", "min_links", "1"),
    "storm-control": ("PORT_STORM_CONTROL", f"{PORT}|broadcast", "kbps", "1000"),
    "hash-without-source-port": ("SWITCH_HASH", "GLOBAL", "ecmp_hash", ["SRC_IP", "DST_IP"]),
    "hash-by-packet": ("SWITCH_HASH", "GLOBAL", "ecmp_hash_ipv4_rdma", ["SRC_IP", "DST_IP"]),
    "other-hash-algorithm": ("SWITCH_HASH", "GLOBAL", "ecmp_hash_algorithm", "XOR"),
    "setting-of-bgpcfgd": ("BGP_DEVICE_GLOBAL", "STATE", "tsa_enabled", "true"),
    "drain-left-on": ("BGP_GLOBALS", "default", "graceful_shutdown", "true"),
    "fewer-paths": ("BGP_GLOBALS_AF", "default|ipv4_unicast", "max_ebgp_paths", "2"),
    "one-path": ("BGP_GLOBALS", "default", "load_balance_mp_relax", "false"),
    "not-unified": ("DEVICE_METADATA", "localhost", "docker_routing_config_mode", "separated"),
    "tunnel-marks": ("TUNNEL", "MuxTunnel0", "ecn_mode", "standard"),
    "counters-off": ("FLEX_COUNTER_TABLE", "PFCWD", "FLEX_COUNTER_STATUS", "disable"),
}
"""A change of a rendered configuration for each hazard: table, row, field and value."""


@pytest.fixture(scope="module")
def switch(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> DeviceModel:
    return with_sonic(repository, "dual-plane", tmp_path_factory.mktemp("intent")).models["pod1-seg1-leaf1"]


def found(intended: DeviceModel, tree: Tables) -> Iterator[str]:
    """The hazards of a configuration."""
    texts = (SONIC.text(one) for one in (tree, SONIC.render(intended)))
    yield from (hazard.name for hazard, _ in harms(SONIC.hazards(), SONIC.differences(*texts), intended))


@pytest.mark.parametrize("name", [hazard.name for hazard in SONIC.hazards()])
def test_a_hazard_is_found(switch: DeviceModel, name: str) -> None:
    table, row, field, value = CHANGES[name]
    tree = copy.deepcopy(SONIC.render(switch))
    fields = tree.setdefault(table, {}).setdefault(row, {})
    if value is GONE:
        del fields[field]
    else:
        fields[field] = value
    assert name in set(found(switch, tree))
    assert set(found(switch, SONIC.render(switch))) == set()


def test_every_change_is_one_of_a_hazard() -> None:
    assert CHANGES.keys() == {hazard.name for hazard in SONIC.hazards()}

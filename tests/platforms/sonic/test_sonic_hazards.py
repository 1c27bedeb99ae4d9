"""Every hazard of SONiC is found by the audit in a configuration with it."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache, partial
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest
from tests.audit.cases import Case, cases
from tests.fabric.thinned import thinned
from tests.platforms.hazards import kinds, patterns, without_edit
from tests.platforms.sonic.designs import with_sonic

from railfab.device import DeviceModel, Mlag, MlagKeepalive
from railfab.platforms import platform
from railfab.platforms.hazards import Hazard
from railfab.platforms.sonic.tables import Tables

SONIC = platform("sonic")
PORT, GROUP, QUEUE = "Ethernet0", "Ethernet0|3", "Ethernet0|3"
ROCE, INGRESS, EGRESS = "400g-5m_roce", "pg_400g-5m_roce", "egress_400g-5m_roce"
GONE = None
Change = tuple[str, str, str, Any]

CHANGES: tuple[tuple[str, Change], ...] = (
    ("roce-misclassified", ("DSCP_TO_TC_MAP", "fabric", "26", "1")),
    ("wrong-classifier", ("PORT_QOS_MAP", PORT, "dscp_to_tc_map", GONE)),
    ("wrong-classifier", ("PORT_QOS_MAP", PORT, "dscp_to_tc_map", "AZURE")),
    ("wrong-queue", ("PORT_QOS_MAP", PORT, "tc_to_queue_map", GONE)),
    ("wrong-queue", ("TC_TO_QUEUE_MAP", "fabric", "3", "1")),
    ("no-lossless-buffer", ("PORT_QOS_MAP", PORT, "tc_to_pg_map", GONE)),
    ("no-lossless-buffer", ("TC_TO_PRIORITY_GROUP_MAP", "fabric", "3", "0")),
    ("pfc-on-lossy-class", ("TC_TO_PRIORITY_GROUP_MAP", "fabric", "1", "3")),
    ("pause-not-obeyed", ("PORT_QOS_MAP", PORT, "pfc_to_queue_map", GONE)),
    ("pause-not-obeyed", ("MAP_PFC_PRIORITY_TO_QUEUE", "fabric", "3", "4")),
    ("wrong-pfc-priority", ("MAP_PFC_PRIORITY_TO_QUEUE", "fabric", "4", "3")),
    ("wrong-classifier", ("PORT_QOS_MAP", PORT, "dot1p_to_tc_map", "AZURE")),
    ("pfc-off", ("PORT_QOS_MAP", PORT, "pfc_enable", "")),
    ("wrong-pfc-priority", ("PORT_QOS_MAP", PORT, "pfc_enable", "4")),
    ("watchdog-off", ("PORT_QOS_MAP", PORT, "pfcwd_sw_enable", "4")),
    ("pfc-on-lossy-class", ("PORT", PORT, "pfc_asym", "on")),
    ("watchdog-off", ("PFC_WD", PORT, "detection_time", GONE)),
    ("watchdog-timers", ("PFC_WD", PORT, "detection_time", "100")),
    ("watchdog-timers", ("PFC_WD", PORT, "detection_time", "5000")),
    ("watchdog-timers", ("PFC_WD", PORT, "restoration_time", "60000")),
    ("watchdog-action", ("PFC_WD", PORT, "action", "forward")),
    ("watchdog-timers", ("PFC_WD", "GLOBAL", "POLL_INTERVAL", "1000")),
    ("no-lossless-buffer", ("BUFFER_PG", GROUP, "profile", "ingress_lossy_profile")),
    ("headroom-differs", ("BUFFER_PG", GROUP, "profile", "pg_lossless_400000_40m_profile")),
    ("buffer-shares", ("BUFFER_PG", f"{PORT}|3-4", "profile", "pg_lossless_400000_40m_profile")),
    ("buffer-shares", ("BUFFER_QUEUE", f"{PORT}|3-4", "profile", "egress_lossy_profile")),
    ("small-headroom", ("BUFFER_PROFILE", INGRESS, "xoff", GONE)),
    ("small-headroom", ("BUFFER_PROFILE", INGRESS, "xoff", "1000")),
    ("early-xoff", ("BUFFER_PROFILE", INGRESS, "dynamic_th", "-8")),
    ("buffer-shares", ("BUFFER_PROFILE", "egress_400g-5m_default", "dynamic_th", "7")),
    ("buffer-shares", ("BUFFER_PROFILE", INGRESS, "static_th", "1000")),
    ("xoff-above-limit", ("BUFFER_PROFILE", INGRESS, "static_th", "99000000000")),
    ("small-queue-limit", ("BUFFER_PROFILE", EGRESS, "static_th", "1000")),
    ("small-queue-limit", ("BUFFER_QUEUE", QUEUE, "profile", "egress_lossy_profile")),
    ("small-headroom-pool", ("BUFFER_POOL", "ingress_lossless_pool", "size", "1000")),
    ("small-headroom-pool", ("BUFFER_POOL", "ingress_lossless_pool", "xoff", GONE)),
    ("headroom-differs", ("CABLE_LENGTH", "AZURE", PORT, "0m")),
    ("ecn-off", ("WRED_PROFILE", ROCE, "ecn", "ecn_none")),
    ("ecn-off", ("WRED_PROFILE", ROCE, "ecn", "ecn_green")),
    ("ecn-off", ("WRED_PROFILE", ROCE, "wred_green_enable", "false")),
    ("ecn-thresholds", ("WRED_PROFILE", ROCE, "green_max_threshold", "99000000")),
    ("ecn-thresholds", ("WRED_PROFILE", ROCE, "green_min_threshold", "1500")),
    ("ecn-probability", ("WRED_PROFILE", ROCE, "green_drop_probability", GONE)),
    ("ecn-off", ("QUEUE", QUEUE, "wred_profile", GONE)),
    ("bandwidth-share", ("QUEUE", QUEUE, "scheduler", "scheduler.0")),
    ("wrong-strict-queue", ("SCHEDULER", "roce", "type", "STRICT")),
    ("cnp-not-strict", ("SCHEDULER", "cnp_400g", "type", "DWRR")),
    ("bandwidth-share", ("SCHEDULER", "roce", "weight", "50")),
    ("rate-limit", ("SCHEDULER", "roce", "pir", "1000")),
    ("strict-queue-unlimited", ("SCHEDULER", "cnp_400g", "pir", GONE)),
    ("small-mtu", ("PORT", PORT, "mtu", "1500")),
    ("port-disabled", ("PORT", PORT, "admin_status", "down")),
    ("wrong-fec", ("PORT", PORT, "fec", "none")),
    ("wrong-speed", ("BREAKOUT_CFG", PORT, "brkout_mode", "4x200G")),
    ("wrong-mlag", ("MCLAG_DOMAIN", "7", "peer_ip", "10.255.1.9")),
    ("wrong-mlag", ("FEATURE", "iccpd", "state", "disabled")),
    ("storm-control", ("PORT_STORM_CONTROL", f"{PORT}|broadcast", "kbps", "1000")),
    ("hash-fields", ("SWITCH_HASH", "GLOBAL", "ecmp_hash", ["SRC_IP", "DST_IP"])),
    ("hash-fields", ("SWITCH_HASH", "GLOBAL", "ecmp_hash_ipv4_rdma", ["SRC_IP", "DST_IP"])),
    ("hash-seed", ("SWITCH_HASH", "GLOBAL", "ecmp_hash_algorithm", "XOR")),
    ("not-in-effect", ("BGP_DEVICE_GLOBAL", "STATE", "tsa_enabled", "true")),
    ("drained", ("BGP_GLOBALS", "default", "graceful_shutdown", "true")),
    ("fewer-paths", ("BGP_GLOBALS_AF", "default|ipv4_unicast", "max_ebgp_paths", "2")),
    ("no-multipath-relax", ("BGP_GLOBALS", "default", "load_balance_mp_relax", "false")),
    ("not-in-effect", ("DEVICE_METADATA", "localhost", "docker_routing_config_mode", "separated")),
    ("tunnel-qos", ("TUNNEL", "MuxTunnel0", "ecn_mode", "standard")),
    ("watchdog-off", ("FLEX_COUNTER_TABLE", "PFCWD", "FLEX_COUNTER_STATUS", "disable")),
    ("measurement-off", ("FLEX_COUNTER_TABLE", "QUEUE", "FLEX_COUNTER_STATUS", "disable")),
)
"""Changes of a rendered configuration, and the kind of each: table, row, field and value."""


@pytest.fixture(scope="module")
def switch(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> DeviceModel:
    """A leaf with a port of each kind, of a pair."""
    fabric = with_sonic(repository, "dual-plane", tmp_path_factory.mktemp("intent"))
    keepalive = MlagKeepalive(peer=IPv4Address("10.255.1.2"), source=IPv4Address("10.255.1.1"))
    pair = Mlag(domain="7", peer_link="lag1000", keepalive=keepalive)
    return replace(thinned(fabric.models["pod1-seg1-leaf1"], fabric.topology), mlag=pair)


def matched(intended: DeviceModel, tree: Tables) -> list[Hazard]:
    """The hazards of a configuration."""
    return patterns(SONIC, SONIC.text(tree), rendered(intended), intended)


@cache
def rendered(intended: DeviceModel) -> str:
    return SONIC.text(SONIC.render(intended))


def changed(switch: DeviceModel, change: Change) -> Tables:
    """The configuration of a switch with a change."""
    table, row, field, value = change
    tree: Tables = copy.deepcopy(SONIC.render(switch))
    fields = tree.setdefault(table, {}).setdefault(row, {})
    if value is GONE:
        del fields[field]
    else:
        fields[field] = value
    return tree


@pytest.mark.parametrize(("kind", "change"), CHANGES)
def test_a_hazard_is_found(switch: DeviceModel, kind: str, change: Change) -> None:
    assert kind in kinds(with_change(switch, change))


def test_a_rendered_configuration_has_no_hazard(switch: DeviceModel) -> None:
    assert matched(switch, SONIC.render(switch)) == []


def test_every_pattern_is_found_by_a_change_of_its_kind(switch: DeviceModel) -> None:
    edits = [(kind, partial(with_change, switch, change)) for kind, change in CHANGES]
    edits += [(case.said["kind"], partial(judged, case)) for case in cases("mistakes", ["sonic"])]
    assert without_edit(SONIC, edits) == []


def with_change(switch: DeviceModel, change: Change) -> list[Hazard]:
    return matched(switch, changed(switch, change))


def judged(case: Case) -> list[Hazard]:
    """The hazards of a mistake of tests/audit/sonic.yml."""
    return patterns(SONIC, case.text, case.design.texts[case.name], case.design.models[case.name])

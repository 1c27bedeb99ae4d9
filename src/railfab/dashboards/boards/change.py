"""Changes: deploys and drains, drift from the intent, and what moved at the same time."""

from __future__ import annotations

from railfab.dashboards.board import GREEN, ORANGE, RED, Board, Graph, Listing, Query, StateTimeline, Tile
from railfab.dashboards.selection import CHAIN, growth, selector

OF_DEVICE = "{{fabric}} {{device}}"
BY_DEVICE = "by (fabric, device)"
FINDINGS, HAZARDS = (selector(f"fabric_configuration_{name}") for name in ("findings", "hazards"))
CHECKED = selector("fabric_configuration_checked_timestamp_seconds")
MAINTENANCE = selector("fabric_maintenance_info")
BOOT = selector("fabric_device_boot_timestamp_seconds")

CHANGE = Board(
    name="change",
    title="Change and drift",
    question="What changed, and do the switches still run what the intent says?",
    reading=(
        "Lines across the graphs are deploys, waves and drains; move to one, and see what moved with it on any board."
        " Findings that appear without a deploy were made by hand. Findings that stay after one were not deployed."
    ),
    variables=CHAIN,
    panels=(
        Tile(
            title="Switches that drift",
            description="Switches whose running configuration differs from the intent.",
            queries=(
                Query(
                    f"count(max {BY_DEVICE} ({FINDINGS} or {HAZARDS}) > 0) or 0 * count({CHECKED})",
                    "drift",
                ),
            ),
            limits=((1, ORANGE),),
        ),
        Tile(
            title="Hazards",
            description="Settings that break or slow RoCE.",
            queries=(Query(f"sum({HAZARDS}) or 0 * count({CHECKED})", "hazards"),),
            limits=((1, RED),),
        ),
        Tile(
            title="In maintenance",
            description="Switches that a deploy changes or that are drained: alerts on them do not fire.",
            queries=(Query(f"count(max {BY_DEVICE} ({MAINTENANCE})) or 0 * count({CHECKED})", "maintenance"),),
            limits=((1, ORANGE),),
        ),
        Tile(
            title="Oldest comparison",
            description="Time since the configuration of a switch was last compared with the intent.",
            unit="s",
            queries=(Query(f"max(time() - {CHECKED})", "age"),),
            limits=((900, ORANGE),),
        ),
        Tile(
            title="Links changed",
            description="Changes of link states in the time range.",
            queries=(Query(f"sum({growth('fabric_interface_carrier_transitions_total')})", "changes"),),
        ),
        Tile(
            title="Sessions set up again",
            description="BGP sessions that became established in the time range.",
            queries=(Query(f"sum({growth('fabric_bgp_established_transitions_total')})", "sessions"),),
        ),
        StateTimeline(
            title="Maintenance",
            description="Switches in maintenance, with the reason; empty without any.",
            width=8,
            empty="none",
            queries=(Query(f"max by (fabric, device, reason) ({MAINTENANCE})", f"{OF_DEVICE} {{{{reason}}}}"),),
            states={"1": ("in maintenance", ORANGE)},
        ),
        StateTimeline(
            title="Drift",
            description="Whether the running configuration of each switch is that of the intent.",
            width=8,
            queries=(
                Query(
                    f"max {BY_DEVICE} (({FINDINGS} or {HAZARDS}) > bool 0) or on (fabric, device) 0 * {CHECKED}",
                    OF_DEVICE,
                ),
            ),
            states={"0": ("as intended", GREEN), "1": ("differs", ORANGE)},
        ),
        Graph(
            title="Findings",
            description="Differences between running configurations and the intent, by code.",
            queries=(
                Query(f"sum by (fabric, code) ({FINDINGS})", "{{fabric}} {{code}}"),
                Query(f"sum by (fabric, code) ({HAZARDS})", "{{fabric}} {{code}} (hazard)"),
            ),
        ),
        Graph(
            title="Prefixes",
            description="Prefixes that each switch uses, over the session with most of them. A step down at a change:"
            " announcements are missing.",
            queries=(Query(selector("device:fabric_bgp_prefixes:max"), OF_DEVICE),),
        ),
        Graph(
            title="Sessions",
            description="Established BGP sessions of each switch.",
            queries=(Query(f"sum {BY_DEVICE} ({selector('fabric_bgp_session_up')})", OF_DEVICE),),
        ),
        Graph(
            title="Time since boot",
            description="Time since each switch booted; it falls to 0 at a reboot.",
            unit="s",
            queries=(Query(f"time() - {BOOT}", OF_DEVICE),),
        ),
        Listing(
            title="Drift by switch",
            description="Findings of each switch by their code; `railfab verify` lists them.",
            queries=(Query(f"max by (fabric, device, code) ({FINDINGS} or {HAZARDS})"),),
            empty="none",
            columns={"fabric": "Fabric", "device": "Switch", "code": "Finding", "Value": "Number"},
            first="Switch",
        ),
        Listing(
            title="Comparisons",
            description="Time since the last comparison of each switch with the intent, and since its boot.",
            queries=(
                Query(f"max {BY_DEVICE} (time() - {CHECKED})"),
                Query(f"max {BY_DEVICE} (time() - {BOOT})"),
            ),
            columns={"fabric": "Fabric", "device": "Switch", "Value #A": "Compared", "Value #B": "Booted"},
            units={"Compared": "s", "Booted": "s"},
            first="Switch",
        ),
    ),
    alerts=(
        *("FabricConfigurationDrift", "FabricConfigurationHazard", "FabricConfigurationUnchecked"),
        *("FabricPrefixesLost", "FabricBgpSessionDown", "FabricPortDisabled"),
        *("FabricNicSettingsLost", "FabricNicSettingWrong", "FabricNicMissing", "FabricNicPcieSlow"),
        "FabricNicUnchecked",
    ),
    next={
        "port": "see what moved on one switch",
        "fabric": "see whether the fabric works",
        "collector": "switches are not compared",
    },
)

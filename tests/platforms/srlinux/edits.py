"""Single edits of a rendered leaf (labs/srl-pod): those that harm, each with what finds it, and those that do not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from railfab.gnmi.paths import elements
from railfab.platforms.shared.json_tree import leaf_text
from railfab.platforms.srlinux.tree import stripped

GONE = object()
"""Value of an edit that deletes a node."""

PORT, LANE = "ethernet-1/32", "ethernet-1/1/1"
"""A port of 400G towards a spine, and a port of 100G towards a host."""
QOS = f"/qos/interfaces/interface[interface-id={PORT}]"
CLASSIFIED = f"/qos/interfaces/interface[interface-id={PORT}.0]"
BUFFERS = "/qos/buffer-management/buffer-allocation-profile[name=400g-40m]/queues"
MARKING = "/qos/buffer-management/queue-management-profile[name=400g-40m]"
SLOPE = f"{MARKING}/wred/wred-slope[traffic-type=all][drop-probability=all][enable-ecn=true]"
DROPS = f"{MARKING}/wred/wred-slope[traffic-type=all][drop-probability=all][enable-ecn=false]"
MAPPING = "/qos/pfc-mapping-profile[name=fabric]"
FRAMES = f"{MAPPING}/received-pfc-pause-frames"
SOURCE = f"{MAPPING}/received-traffic/unicast-mapping/pfc-queue[pfc-queue-name=pfc-roce]"
SCHEDULER = "/qos/scheduler-policies/scheduler-policy[name=fabric]/scheduler"
ETHERNET = f"/interface[name={PORT}]/ethernet"
UNIT = f"/interface[name={PORT}]/subinterface[index=0]"
ADVERTISEMENTS = f"{UNIT}/ipv6/router-advertisement/router-role"
LOOPBACK = "/interface[name=system0]/subinterface[index=0]/ipv4/address"
INSTANCE = "/network-instance[name=default]"
BGP = f"{INSTANCE}/protocols/bgp"
GROUP = f"{BGP}/group[group-name=fabric]"
FAMILY = f"{BGP}/afi-safi[afi-safi-name=ipv4-unicast]"
BFD = f"/bfd/subinterface[id={PORT}.0]"
HASH = "/system/load-balancing/hash-options"


class Edit(NamedTuple):
    """path: in gNMI's form, empty to merge a tree. found: the code of the finding."""

    path: str
    value: Any
    found: str


def filtered(entry: Mapping[str, Any], found: str = "packet-filter", family: str = "ipv4") -> Edit:
    """A filter with this entry, on a port."""
    bound = {"interface-id": f"{PORT}.0", "input": {"acl-filter": [{"name": "drops", "type": family}]}}
    filters = [{"name": "drops", "type": family, "entry": [{"sequence-id": 10, **entry}]}]
    return Edit("", {"acl": {"acl-filter": filters, "interface": [bound]}}, found)


def guarded(entry: Mapping[str, Any], found: str) -> Edit:
    """A filter with this entry, of the control plane."""
    used = {"control-plane-traffic": {"input": {"acl": {"acl-filter": [{"name": "cpm", "type": "ipv4"}]}}}}
    filters = [{"name": "cpm", "type": "ipv4", "entry": [{"sequence-id": 1, **entry}]}]
    return Edit("", {"acl": {"acl-filter": filters}, "system": used}, found)


HARMFUL: Mapping[str, Edit] = {
    # The edits of which an audit said nothing.
    "egress limit of the lossless queue below Kmax": Edit(
        f"{BUFFERS}/queue[queue-name=roce]/maximum-burst-size", 1_000_000, "small-queue-limit"
    ),
    "egress limit of the lossless queue below XOFF": Edit(
        f"{BUFFERS}/queue[queue-name=roce]/maximum-burst-size", 2_000_000, "xoff-above-limit"
    ),
    "XOFF above the egress limit of the lossless queue": Edit(
        f"{BUFFERS}/pfc-queue[pfc-queue-name=pfc-roce]/maximum-burst-size", 4_000_000_000, "xoff-above-limit"
    ),
    "a second drop slope": Edit(
        DROPS, {"min-threshold": "1000", "max-threshold": "2000", "slope-enabled": True}, "random-drops"
    ),
    "peak rate of 10 % on the RoCE queue": Edit(
        f"{SCHEDULER}[sequence=1]/input[id=roce]/peak-rate-percent", 10, "rate-limit"
    ),
    "weight factor 15": Edit(f"{MARKING}/weight-factor", 15, "ecn-average"),
    "a rewrite of the DSCP of RoCE": Edit(
        "/qos/rewrite-rules/dscp-policy[name=rewrite]/map[forwarding-class=roce]/dscp", 0, "dscp-rewrite"
    ),
    "allow-own-as": Edit(f"{GROUP}/as-path-options/allow-own-as", 3, "as-path-loops"),
    "LLDP off": Edit("/system/lldp/admin-state", "disable", "lldp-off"),
    "FEC off": Edit(f"{ETHERNET}/forward-error-correction/fec-option", "disabled", "wrong-fec"),
    "hold time of 600 s": Edit(f"{ETHERNET}/hold-time/up", 600_000, "slow-link-up"),
    "a failed link used for 600 s": Edit(f"{ETHERNET}/hold-time/down", 600_000, "dead-link-used"),
    "advertisement interval of 30 s": Edit(f"{GROUP}/timers/minimum-advertisement-interval", 30, "delayed-routes"),
    "hash without the source port": Edit(f"{HASH}/source-port", False, "hash-fields"),
    "a blackhole": Edit(
        f"{INSTANCE}/next-hop-groups/group[name=nowhere]/blackhole/generate-icmp", False, "blackhole-route"
    ),
    "a filter that drops UDP": filtered({"match": {"ipv4": {"protocol": "udp"}}, "action": {"drop": {}}}),
    "802.3x flow control": Edit(f"{ETHERNET}/flow-control/transmit", True, "link-pause"),
    # PFC
    "PFC off on a port": Edit(f"{QOS}/pfc/pfc-enable", False, "pfc-off"),
    "PFC without its profile": Edit(f"{QOS}/pfc/pfc-mapping-profile", GONE, "wrong-pfc-priority"),
    "pause frames that are not obeyed": Edit(f"{FRAMES}/queue[queue-name=roce]/enable-pfc", False, "pause-not-obeyed"),
    "pause frames of another priority obeyed": Edit(
        f"{FRAMES}/queue[queue-name=roce]/pfc-pause-frame-priority", 4, "wrong-pfc-priority"
    ),
    "pause frames of another priority sent": Edit(f"{SOURCE}/pfc-pause-frame-priority", 4, "wrong-pfc-priority"),
    "a lossy class in the PFC queue": Edit(
        f"{SOURCE}/forwarding-class", ["roce", "default"], "lossy-in-lossless-class"
    ),
    "watchdog off": Edit(f"{FRAMES}/deadlock/enable", False, "watchdog-off"),
    "watchdog of 10 ms": Edit(f"{FRAMES}/deadlock/detection-timer", 10, "watchdog-timers"),
    "recovery of 1500 ms": Edit(f"{FRAMES}/deadlock/recovery-timer", 1500, "watchdog-timers"),
    "XOFF at Nokia's default": Edit(
        f"{BUFFERS}/pfc-queue[pfc-queue-name=pfc-roce]/maximum-burst-size", GONE, "early-xoff"
    ),
    "no ingress buffers": Edit(f"{QOS}/input/pfc-buffer-allocation-profile", GONE, "small-headroom"),
    "no headroom pool": Edit(
        "/qos/linecard[slot=1]/forwarding-complex[name=0]/input/pfc-buffer-reservation", 0, "small-headroom-pool"
    ),
    "a small share of the headroom": Edit(
        f"{BUFFERS}/pfc-queue[pfc-queue-name=pfc-roce]/maximum-pfc-reserved-share-percentage", 1, "small-headroom"
    ),
    "a share of the headroom in bytes": Edit(
        f"{BUFFERS}/pfc-queue[pfc-queue-name=pfc-roce]/maximum-pfc-reserved-share-bytes", 100, "headroom-differs"
    ),
    # ECN and buffers
    "ECN off": Edit("/qos/explicit-congestion-notification", GONE, "ecn-off"),
    "DSCP preserved instead of ECN": Edit("/qos/preserve-dscp", True, "ecn-off"),
    "a disabled slope": Edit(f"{SLOPE}/slope-enabled", False, "ecn-off"),
    "no marking on a port": Edit(
        f"{QOS}/output/queues/queue[queue-name=roce]/queue-management-profile", GONE, "ecn-off"
    ),
    "Kmin above Kmax": Edit(f"{SLOPE}/min-threshold", "9000000", "inverted-ecn-ramp"),
    "Pmax 0": Edit(f"{SLOPE}/max-drop-probability-percent", 0, "ecn-probability"),
    "Kmin of one byte": Edit(f"{SLOPE}/min-threshold", "1", "ecn-thresholds"),
    "no egress buffers": Edit(f"{QOS}/output/buffer-allocation-profile", GONE, "small-queue-limit"),
    # Classes and scheduling
    "RoCE in the default class": Edit(
        "/qos/classifiers/dscp-policy[name=fabric]/dscp[value=26]/forwarding-class", "default", "roce-misclassified"
    ),
    "another DSCP in the lossless class": Edit(
        "/qos/classifiers/dscp-policy[name=fabric]/dscp[value=0]/forwarding-class",
        "roce",
        "lossy-in-lossless-class",
    ),
    "everything lossless": Edit(
        f"{CLASSIFIED}/input/classifiers/default/forwarding-class", "roce", "lossy-in-lossless-class"
    ),
    "a harsher drop probability": Edit(
        "/qos/classifiers/dscp-policy[name=fabric]/dscp[value=26]/drop-probability", "high", "ecn-off"
    ),
    "no classifier": Edit(f"{CLASSIFIED}/input/classifiers/dscp-policy", GONE, "wrong-classifier"),
    "an untrusted port": Edit(f"{CLASSIFIED}/input/classifiers/tos-rewrite-state", "untrusted", "dscp-rewrite"),
    "a rewrite on a port": Edit(f"{CLASSIFIED}/output/rewrite-rules/dscp-policy", "rewrite", "dscp-rewrite"),
    "a policer": Edit(f"{CLASSIFIED}/input/policer-templates/policer-template", "slow", "policer"),
    "no scheduler": Edit(f"{QOS}/output/scheduler/scheduler-policy", GONE, "wrong-qos-profile"),
    "CNP without a limit": Edit(
        f"{SCHEDULER}[sequence=0]/input[id=cnp]/peak-rate-percent", 100, "strict-queue-unlimited"
    ),
    "a strict default queue": Edit(
        f"{SCHEDULER}[sequence=0]/input[id=bulk]/queue-name", "default", "wrong-strict-queue"
    ),
    "RoCE with weight 1": Edit(f"{SCHEDULER}[sequence=1]/input[id=roce]/weight", 1, "bandwidth-share"),
    "the default class with weight 200": Edit(
        f"{SCHEDULER}[sequence=1]/input[id=default]/weight", 200, "bandwidth-share"
    ),
    # Ports
    "an IP MTU of 1500": Edit(f"{UNIT}/ip-mtu", 1500, "small-mtu"),
    "no IP MTU": Edit(f"{UNIT}/ip-mtu", GONE, "small-mtu"),
    "a port MTU of 1600": Edit(f"/interface[name={PORT}]/mtu", 1600, "small-mtu"),
    "FEC of a 100G port": Edit(
        f"/interface[name={LANE}]/ethernet/forward-error-correction/fec-option", "base-r", "wrong-fec"
    ),
    "a hold time before down": Edit(f"{ETHERNET}/hold-time/down", 5000, "dead-link-used"),
    "port dampening": Edit(f"{ETHERNET}/exponential-port-dampening/admin-state", "enable", "slow-link-up"),
    "a port in loopback mode": Edit(f"/interface[name={PORT}]/loopback-mode", "facility", "port-loopback"),
    "a port that is not viable": Edit(f"{ETHERNET}/forwarding-viable", False, "wrong-lacp"),
    "a delay after reload": Edit(f"{ETHERNET}/reload-delay", 600, "slow-link-up"),
    "VLAN tagging": Edit(f"/interface[name={PORT}]/vlan-tagging", True, "wrong-vlan"),
    "a subinterface of tagged packets": Edit(
        f"/interface[name={PORT}]/subinterface[index=0]/vlan/encap/single-tagged/vlan-id", 5, "wrong-vlan"
    ),
    "a storm control": Edit(f"{ETHERNET}/storm-control/multicast-rate", 1, "storm-control"),
    "LLDP off on a port": Edit(f"/system/lldp/interface[name={PORT}]/admin-state", "disable", "lldp-off"),
    "a port shut down": Edit(f"/interface[name={PORT}]/admin-state", "disable", "port-disabled"),
    "another speed": Edit(f"{ETHERNET}/port-speed", "100G", "wrong-speed"),
    "no router advertisements": Edit(f"{ADVERTISEMENTS}/admin-state", "disable", "router-advertisements-off"),
    "a router lifetime of 0": Edit(f"{ADVERTISEMENTS}/router-lifetime", 0, "router-advertisements-off"),
    "rare router advertisements": Edit(f"{ADVERTISEMENTS}/max-advertisement-interval", 1800, "slow-session"),
    # Paths
    "hash without addresses": Edit(f"{HASH}/destination-address", False, "hash-fields"),
    "a fixed hash seed": Edit(f"{HASH}/hash-seed", 7, "hash-seed"),
    "one path": Edit(f"{FAMILY}/multipath/ebgp/maximum-paths", 1, "fewer-paths"),
    "one AS path": Edit(f"{FAMILY}/multipath/allow-multiple-as", False, "no-multipath-relax"),
    "a resilient hash": Edit(
        f"{INSTANCE}/ip-load-balancing/resilient-hash-prefix[ip-prefix=10.0.0.0/8]/max-paths", 64, "load-balancing-mode"
    ),
    "weighted ECMP": Edit(f"{FAMILY}/multipath/ebgp/weighted-ecmp/admin-state", "enable", "weighted-ecmp"),
    "a check of IPv4 on unnumbered ports": Edit(f"{INSTANCE}/ip-forwarding/receive-ipv4-check", True, "forwarding-off"),
    "a static route": Edit(
        f"{INSTANCE}/static-routes/route[prefix=10.16.0.0/12]/next-hop-group", "nowhere", "static-route"
    ),
    "a filter that drops everything": filtered({"action": {"drop": {}}}),
    "a policer on a port": filtered({"action": {"accept": {"rate-limit": {"policer": "slow"}}}}, "policer"),
    "LLDP dropped on a port": filtered(
        {"match": {"l2": {"ethertype": "lldp"}}, "action": {"drop": {}}}, "lldp-off", "mac"
    ),
    "a control plane that receives nothing": guarded({"action": {"drop": {}}}, "control-plane-qos"),
    "a policer of the control plane": guarded(
        {"action": {"accept": {"rate-limit": {"system-cpu-policer": "slow"}}}}, "control-plane-qos"
    ),
    "a filter on a port, which is not there": Edit(
        f"/acl/interface[interface-id={PORT}.0]/input/acl-filter[name=drops][type=ipv4]", {}, "packet-filter"
    ),
    "maintenance": Edit("/system/maintenance/group[name=all]/maintenance-mode/admin-state", "enable", "drained"),
    "a drain that was left": Edit(
        "/system/maintenance/group[name=fabric-drain]/maintenance-mode/admin-state", "enable", "drained"
    ),
    # BGP and BFD
    "private AS numbers removed": Edit(f"{GROUP}/as-path-options/remove-private-as/mode", "delete", "as-path-loops"),
    "a local AS": Edit(f"{GROUP}/local-as/as-number", 65009, "session-mismatch"),
    "no hold time": Edit(f"{GROUP}/timers/hold-time", 0, "no-hold-time"),
    "a hold time of 180 s": Edit(f"{GROUP}/timers/hold-time", 180, "slow-hold-time"),
    "a slow reconnect": Edit(f"{GROUP}/timers/connect-retry", GONE, "slow-session"),
    "slow withdrawals": Edit(f"{BGP}/route-advertisement/rapid-withdrawal", False, "delayed-routes"),
    "a delay of announcements": Edit(f"{BGP}/convergence/min-wait-to-advertise", 600, "delayed-routes"),
    "route flap damping": Edit(f"{GROUP}/route-flap-damping", True, "route-dampening"),
    "graceful restart": Edit(f"{GROUP}/graceful-restart/admin-state", "enable", "stale-routes"),
    "a prefix limit": Edit(
        f"{GROUP}/afi-safi[afi-safi-name=ipv4-unicast]/ipv4-unicast/prefix-limit-received/max-received-routes",
        4,
        "prefix-limit",
    ),
    "a default route": Edit(f"{GROUP}/send-default-route/ipv4-unicast", True, "unplanned-announcement"),
    "a local preference": Edit(f"{GROUP}/local-preference", 200, "preferred-path"),
    "a passive session": Edit(f"{GROUP}/transport/passive-mode", True, "slow-session"),
    "a password": Edit(f"{GROUP}/authentication/password", "x", "session-mismatch"),
    "no BFD": Edit(f"{GROUP}/failure-detection/enable-bfd", False, "bfd-off"),
    "no fast failover": Edit(f"{GROUP}/failure-detection/fast-failover", False, "no-fast-failover"),
    "BFD off on a port": Edit(f"{BFD}/admin-state", "disable", "bfd-off"),
    "slow BFD": Edit(f"{BFD}/detection-multiplier", 20, "bfd-detection-time"),
    "BFD of 10 ms": Edit(f"{BFD}/required-minimum-receive", 10_000, "bfd-detection-time"),
    "another AS": Edit(f"{BGP}/autonomous-system", 65009, "session-down"),
    "a policy that accepts everything": Edit(
        "/routing-policy/policy[name=fabric-export]/default-action/policy-result", "accept", "wrong-route-policy"
    ),
    "a session without its policy": Edit(f"{GROUP}/import-policy", GONE, "wrong-route-policy"),
    "a policy that rejects": Edit(
        "/routing-policy/policy[name=fabric-import]/statement[name=20]/action/policy-result",
        "reject",
        "wrong-route-policy",
    ),
    "BGP shut down": Edit(f"{BGP}/admin-state", "disable", "session-down"),
    "no IPv6 next hops of IPv4 routes": Edit(
        f"{BGP}/afi-safi[afi-safi-name=ipv4-unicast]/ipv4-unicast/receive-ipv6-next-hops", False, "no-extended-next-hop"
    ),
    "a port outside the fabric": Edit(f"{INSTANCE}/interface[name={PORT}.0]", GONE, "wrong-vlan"),
    # Addresses, families, dynamic sessions
    "another address on a port": Edit(f"{UNIT}/ipv4/address[ip-prefix=192.0.2.0/31]", {}, "wrong-address"),
    "no loopback": Edit(f"{LOOPBACK}[ip-prefix=10.255.1.1/32]", GONE, "wrong-address"),
    "the loopback of another switch": Edit(f"{LOOPBACK}[ip-prefix=10.255.1.2/32]", {}, "wrong-address"),
    "no IPv4 on a port of a host": Edit(
        f"/interface[name={LANE}]/subinterface[index=0]/ipv4/admin-state", "disable", "wrong-address"
    ),
    "the router ID of another switch": Edit(f"{BGP}/router-id", "10.255.1.2", "wrong-router-id"),
    "a fixed MAC address": Edit(
        f"{UNIT}/ipv4/arp/neighbor[ipv4-address=10.17.0.1]",
        {"link-layer-address": "02:00:00:00:00:01"},
        "wrong-address",
    ),
    "no IPv4 routes": Edit(f"{FAMILY}/admin-state", "disable", "family-off"),
    "sessions of a prefix": Edit(
        f"{BGP}/dynamic-neighbors/accept/match[prefix=10.0.0.0/8]", {"peer-group": "fabric"}, "dynamic-neighbor"
    ),
    "a session with a host": Edit(
        f"{BGP}/dynamic-neighbors/interface[interface-name={LANE}.0]", {"peer-group": "fabric"}, "dynamic-neighbor"
    ),
    # Measurement
    "no queue depths": Edit("/qos/queues/queue-depth-sampling/admin-state", "disable", "measurement-off"),
    "a sample of every packet": Edit(f"/interface[name={PORT}]/sflow/ingress-sampling-rate", 1, "sflow-rate"),
    "a mirror": Edit(
        f"/system/mirroring/mirroring-instance[name=m]/mirror-source/interface[name={PORT}]", {}, "port-mirroring"
    ),
}

HARMLESS: Mapping[str, Edit] = {
    "a description of a port": Edit(f"/interface[name={PORT}]/description", "spare", "configuration-differs"),
    "no description": Edit(f"/interface[name={PORT}]/description", GONE, "configuration-differs"),
    "a description of a group": Edit(f"{GROUP}/description", "spines", "unmodelled"),
    "a description of a VRF": Edit(f"{INSTANCE}/description", "fabric", "unmodelled"),
    "a banner": Edit("/system/banner/login-banner", "hands off", "unmodelled"),
    "a contact": Edit("/system/information/contact", "noc", "unmodelled"),
    "another loopback": Edit(
        "/interface[name=lo9]/subinterface[index=0]/ipv4",
        {"admin-state": "enable", "address": [{"ip-prefix": "192.0.2.9/32"}]},
        "configuration-differs",
    ),
    "an unused port": Edit("/interface[name=ethernet-1/20]/admin-state", "disable", "configuration-differs"),
    "a time server": Edit("/system/ntp/server[address=192.0.2.1]/iburst", True, "unmodelled"),
    "an unused filter": Edit(
        "/acl/acl-filter[name=dns][type=ipv4]/entry[sequence-id=1]",
        {
            "match": {"ipv4": {"protocol": "udp"}, "transport": {"destination-port": {"value": 53}}},
            "action": {"drop": {}},
        },
        "unmodelled",
    ),
    "the filter of the control plane": Edit(
        "",
        {
            "acl": {
                "acl-filter": [
                    {"name": "cpm", "type": "ipv4", "entry": [{"sequence-id": 1, "action": {"accept": {}}}]},
                    {"name": "access", "type": "ipv4", "entry": [{"sequence-id": 1, "action": {"drop": {}}}]},
                ],
                "interface": [
                    {"interface-id": "mgmt0.0", "input": {"acl-filter": [{"name": "access", "type": "ipv4"}]}}
                ],
            },
            "system": {
                "control-plane-traffic": {"input": {"acl": {"acl-filter": [{"name": "cpm", "type": "ipv4"}]}}},
            },
        },
        "unmodelled",
    ),
    "a default route of the management network": Edit(
        "/network-instance[name=mgmt]/static-routes/route[prefix=0.0.0.0/0]/next-hop-group", "gateway", "unmodelled"
    ),
    "LLDP off on the management port": Edit("/system/lldp/interface[name=mgmt0]/admin-state", "disable", "unmodelled"),
    "a leaf of another release in a part of others": Edit("/system/colour", "blue", "unknown-setting"),
    "an unused policy": Edit(
        "/routing-policy/policy[name=spare]/default-action/policy-result", "reject", "configuration-differs"
    ),
    "an unused prefix set": Edit(
        "/routing-policy/prefix-set[name=spare]/prefix[ip-prefix=192.0.2.0/24][mask-length-range=exact]",
        {},
        "unmodelled",
    ),
    "a value that is the default": Edit(f"{ETHERNET}/hold-time/down", 0, ""),
    "a default that is left out": Edit(f"/interface[name={PORT}]/admin-state", GONE, ""),
    "BGP that is enabled in words": Edit(f"{BGP}/failure-detection/fast-failover", True, ""),
    "a management port": Edit("/interface[name=mgmt0]/admin-state", "enable", "unmodelled"),
    "another time-out of ARP": Edit(f"{UNIT}/ipv6/neighbor-discovery/reachable-time", 60, "unmodelled"),
}

RENAMED: Mapping[str, tuple[str, str]] = {
    "a peer group": ('"fabric"', '"spines"'),
    "a port profile": ('"400g-40m"', '"uplinks"'),
    "a policy": ('"fabric-export"', '"announce"'),
    "a prefix set": ('"fabric-import-20"', '"links"'),
    "the lossless class and its queue": ('"roce"', '"rdma"'),
    "a PFC queue": ('"pfc-roce"', '"pfc-rdma"'),
}
"""Another name for an object, everywhere: the words of the text that change."""


def edited(configuration: str, path: str, value: Any) -> str:
    """The configuration with one node set to another value, or deleted; without module prefixes."""
    tree = stripped(json.loads(configuration))
    if not path:
        return json.dumps(_merged(tree, value))
    node, steps = tree, list(elements(path))
    for step in steps[:-1]:
        node = _entry(node.setdefault(step.name, []), step.keys) if step.keys else node.setdefault(step.name, {})
    last = steps[-1]
    if last.keys:
        entries = node.setdefault(last.name, [])
        if value is GONE:
            entries.remove(_entry(entries, last.keys))
        else:
            _entry(entries, last.keys).update(value)
    elif value is GONE:
        del node[last.name]
    else:
        node[last.name] = value
    return json.dumps(tree)


def _merged(tree: Any, more: Any) -> Any:
    """Two trees of containers in one."""
    if isinstance(tree, dict) and isinstance(more, dict):
        return {**tree, **{name: _merged(tree.get(name), child) for name, child in more.items()}}
    return more


def _entry(entries: list[Any], keys: tuple[tuple[str, str], ...]) -> Any:
    """The list entry with these keys, which is added where there is none."""
    for entry in entries:
        if all(leaf_text(entry.get(key)) == value for key, value in keys):
            return entry
    made = {key: value == "true" if value in ("true", "false") else value for key, value in keys}
    entries.append(made)
    return made

"""PyAVD on a fabric of `same_fabric.py`: CPU of each step and peak memory, as a line of JSON.

Runs under an interpreter that has pyavd (`pip install pyavd`), not under railfab's:

    python benchmarks/pyavd_bench.py                     # 256 switches, facts and structured configuration
    python benchmarks/pyavd_bench.py -o DIR              # and configuration texts
    python benchmarks/pyavd_bench.py --switches 10       # what it costs at all
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from same_fabric import LARGE, LEAF_AS, RAILS, SHAPES, SPINE_AS, SUPER_AS, Shape

Record = dict[str, Any]
T = TypeVar("T")
ROCE = {
    "qos": {"map": {"dscp": ["26 to traffic-class 3", "48 to traffic-class 6"]}},
    "priority_flow_control": {
        "watchdog": {"action": "drop", "timeout": "0.2", "polling_interval": "0.1", "recovery_time": "0.4"}
    },
    "qos_profiles": [
        {
            "name": "ROCE",
            "trust": "dscp",
            "priority_flow_control": {
                "enabled": True,
                "watchdog": {"enabled": True},
                "priorities": [{"priority": 3, "no_drop": True}],
            },
            "uc_tx_queues": [
                {
                    "id": 3,
                    "bandwidth_percent": 90,
                    "priority": "no priority",
                    "random_detect": {
                        "ecn": {
                            "count": True,
                            "threshold": {
                                "units": "kbytes",
                                "min": 500,
                                "max": 1500,
                                "max_probability": 10,
                                "weight": 0,
                            },
                        }
                    },
                },
                {"id": 6, "priority": "priority strict"},
            ],
        }
    ],
}
"""The lossless class. PyAVD's fabric model has no word for it, so it is given as structured configuration, computed."""


def base() -> Record:
    return {
        "fabric_name": "MEASURED",
        "underlay_routing_protocol": "ebgp",
        "overlay_routing_protocol": "none",
        "p2p_uplinks_mtu": 9214,
        "mgmt_gateway": "172.16.0.1",
        "custom_structured_configuration_prefix": ["csc_"],
        **{f"csc_{key}": value for key, value in ROCE.items()},
        "p2p_uplinks_qos_profile": "ROCE",
    }


def inputs(shape: Shape) -> dict[str, Record]:
    """Variables of every switch by name, as Ansible would hand them over."""
    addresses = (f"172.16.{number // 250}.{number % 250 + 1}/16" for number in range(10, 10 + shape.switches))
    supers, hosts = [f"top{top}" for top in range(shape.supers)], dict[str, Record]()
    for kind, group in _groups(shape, supers, addresses):
        for node in group["nodes"]:
            hosts[node["name"]] = base() | {"type": kind, kind.replace("-", "_"): group}
    for pod in range(shape.pods):
        for leaf in range(shape.leaves):
            hosts[f"p{pod}l{leaf}"]["csc_ethernet_interfaces"] = gpu_ports(shape, pod, leaf)
    return hosts


def _groups(shape: Shape, supers: list[str], addresses: Iterator[str]) -> Iterator[tuple[str, Record]]:
    if supers:
        yield "super-spine", super_group(supers, addresses)
    for pod in range(shape.pods):
        yield "spine", spine_group(shape, pod, supers, addresses)
        yield "l3leaf", leaf_group(shape, pod, addresses)


def super_group(supers: list[str], addresses: Iterator[str]) -> Record:
    nodes = [
        {"name": name, "id": number + 1, "bgp_as": str(SUPER_AS), "mgmt_ip": next(addresses)}
        for number, name in enumerate(supers)
    ]
    return {"defaults": {"platform": "7060X6", "loopback_ipv4_pool": "10.255.0.0/20"}, "nodes": nodes}


def spine_group(shape: Shape, pod: int, supers: list[str], addresses: Iterator[str]) -> Record:
    defaults: Record = {
        "platform": "7060X6",
        "loopback_ipv4_pool": f"10.254.{pod}.0/24",
        "bgp_as": str(SPINE_AS + pod),
    }
    if supers:
        defaults |= {
            "uplink_interfaces": [f"Ethernet{100 + top}/1" for top in range(shape.uplinks)],
            "uplink_ipv4_pool": f"100.{64 + pod}.0.0/16",
        }
    nodes: list[Record] = [
        {"name": f"p{pod}s{spine}", "id": spine + 1, "mgmt_ip": next(addresses)} for spine in range(shape.spines)
    ]
    for spine, node in enumerate(nodes):
        if supers:
            port = f"Ethernet{pod * shape.spines + spine + 1}/1"
            node["uplink_switches"] = [supers[top] for top in shape.tops_of(spine)]
            node["uplink_switch_interfaces"] = [port] * shape.uplinks
    return {"defaults": defaults, "nodes": nodes}


def leaf_group(shape: Shape, pod: int, addresses: Iterator[str]) -> Record:
    defaults = {
        "platform": "7060X6",
        "loopback_ipv4_pool": f"10.{10 + pod}.0.0/20",
        "uplink_switches": [f"p{pod}s{spine}" for spine in range(shape.spines)],
        "uplink_interfaces": [f"Ethernet{65 + spine}/1" for spine in range(shape.spines)],
        "uplink_ipv4_pool": f"10.{100 + pod}.0.0/16",
        "mlag": False,
        "vtep": False,
    }
    nodes = [
        {
            "name": f"p{pod}l{leaf}",
            "id": leaf + 1,
            "bgp_as": str(LEAF_AS + pod * 1000 + leaf),
            "mgmt_ip": next(addresses),
            "uplink_switch_interfaces": [f"Ethernet{leaf + 1}/1"] * shape.spines,
        }
        for leaf in range(shape.leaves)
    ]
    return {"defaults": defaults, "nodes": nodes}


def gpu_ports(shape: Shape, pod: int, leaf: int) -> list[Record]:
    """A routed /31 a GPU port; given as structured configuration, as the fabric model has no such port."""
    return [
        {
            "name": f"Ethernet{host + 1}/1",
            "description": f"rail{leaf % RAILS + 1}-host{host + 1}",
            "mtu": 9214,
            "speed": "400g-4",
            "switchport": {"enabled": False},
            "ip_address": f"10.{200 + pod % 50}.{leaf}.{host * 2}/31",
            "service_profile": "ROCE",
        }
        for host in range(shape.hosts)
    ]


class Steps:
    """CPU of each step [s]."""

    def __init__(self) -> None:
        self.cpu_s: dict[str, float] = {}

    def __call__(self, name: str, step: Callable[..., T], *arguments: Any, **named: Any) -> T:
        began_s = time.process_time()
        outcome = step(*arguments, **named)
        self.cpu_s[name] = self.cpu_s.get(name, 0.0) + time.process_time() - began_s
        return outcome


def run(shape: Shape, out: Path | None) -> Record:
    """Structure every switch in turn, and write its configuration where `out` is a folder; none is kept."""
    timed, found = Steps(), Counter[str]()
    pyavd = timed("import", __import__, "pyavd")
    raw = timed("inputs", inputs, shape)
    valid = {name: _valid(timed("validate_inputs", pyavd.validate_inputs, raw[name])) for name in raw}
    facts = timed("facts", pyavd.get_avd_facts, valid, all_hostvars=raw)
    structured = pyavd.get_device_structured_config
    for name in raw:
        config = timed("structured", structured, name, valid[name], facts, hostvars=raw[name])._as_dict()
        found += _counts(config)
        if out is not None:
            checked = _valid(timed("validate_structured", pyavd.validate_structured_config, config))
            (out / f"{name}.cfg").write_text(timed("config", pyavd.get_device_config, checked))
    steps_s = {name: round(step_s, 3) for name, step_s in timed.cpu_s.items()}
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"version": pyavd.__version__, **found, "cpu_s": steps_s, "peak_mb": round(peak_mb)}


def _valid(result: Any) -> Any:
    if result.validated_data is None:
        raise SystemExit(f"refused by PyAVD: {result.validation_result.violations}")
    return result.validated_data


def _counts(structured: Record) -> Counter[str]:
    """What came out, to hold against what the fabric has: every session and every port is at two, or one, switches."""
    return Counter(neighbors=len(structured["router_bgp"]["neighbors"]), ports=len(structured["ethernet_interfaces"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--switches", type=int, choices=SHAPES, default=LARGE.switches)
    parser.add_argument("-o", dest="out", type=Path, help="folder for configuration texts")
    options = parser.parse_args()
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    print(json.dumps(run(SHAPES[options.switches], options.out)))


if __name__ == "__main__":
    main()

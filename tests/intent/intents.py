"""Intents for the tests of this package, and helpers that collect error lines."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from railfab.errors import RailfabError, each
from railfab.intent import load_intent

ROOT = Path(__file__).parents[2]

SMALL = """\
version: 1
fabric: small
backend:
  segments: {count: 1, hosts: 2, rail_switches: 1, model: 7220-ixr-d5, platform: srlinux}
  spines: {count: 2, rate_gbps: 400, model: 7220-ixr-d5, platform: srlinux}
"""

FULL = """\
version: 1
fabric: full
names: {prefix: dc1-}
profile:
  control_plane: evpn
  data_plane: vxlan
  underlay: numbered
  family: ipv6
  asn: 64512
  reflectors: 2
  addresses: {hosts: "2001:db8::/32", loopbacks: 10.255.0.0/16, fabric_links: 100.64.0.0/10}
  mtu: 9000
  link_hold_up_ms: 2000
  ecmp: flowlet
  transport: uet
  bfd: {interval_ms: 100, multiplier: 3}
  bgp: {max_paths: 32, keepalive_s: 10, hold_s: 30, connect_retry_s: 5, advertisement_interval_s: 0, prefix_limit: 2000,
    weighted_ecmp: true,
    aggregate_hosts: true}
  hash: {fields: [source-port, destination-port], seed: 7, flowlet_gap_us: 50}
  lossless:
    dscp: 26
    priority: 3
    cnp_dscp: 48
    pfc: true
    ecn: {400: {kmin_bytes: 1600kB, kmax_bytes: 6400kB, pmax_percent: 20}}
    ecn_by_role:
      leaf: {400: {kmin_bytes: 1MB, kmax_bytes: 4MB, pmax_percent: 10}}
      spine: {400: {kmin_bytes: 1500kB, kmax_bytes: 6MB, pmax_percent: 20}}
      super_spine: {400: {kmin_bytes: 2MB, kmax_bytes: 8MB, pmax_percent: 20}}
    weight: 80
    cnp_queue: 6
    cnp_rate_percent: 20
    watchdog: {detect_ms: 100, recover_ms: 200}
    traffic: {packet_bytes: 4096, message_bytes: 64kB, senders: 8}
  storage_class: {protocol: nvme-tcp, dscp: 34, priority: 4, weight: 15}
  ultra_ethernet: {packet_trimming: {size_bytes: 128, dscp: 51}, link_level_retry: true}
hosts:
  gpus: 8
  nic_per: 4
  nic_ports: 2
  rate_gbps: 400
  attach: esi
  reorder: true
  nic: connectx-8
  lane_gbps: 100
  model: gpu-server-8
  pcie_gbps: 400
  rdma_devices: [mlx5_0, mlx5_1]
  power_w: 10200
  units: 8
  gpu_memory_gb: 80
  per_rack: 4
  scale_up: {name: NVLink, gbps_per_gpu: 3600}
backend:
  oversubscription: 1.5
  survives: switch
  reaches: [storage]
  planes: 2
  pods: 2
  growth: {hosts: 8, segments: 4, pods: 4}
  subnets: {pool: 10.0.0.0/16, switch_prefix: 24, rail_prefix: 25, rails: divide, first_vlan: 101}
  segments:
    count: 1
    hosts: 2
    rail_switches: 2
    model: mine-64
    platform: sonic
    cable_m: 5
    ports: {1: [1, 4], 2: [2, 3]}
    peer_links: 2
    breakout: true
  spines:
    {count: 4, links_per_leaf: 2, rate_gbps: 400, model: mine-64, platform: sonic, cable_m: 40,
     breakout: true, bundle: true}
  super_spines:
    {count: 4, groups: 2, links_per_spine: 2, rate_gbps: 400, model: mine-64, platform: sonic, cable_m: 100,
     breakout: true, bundle: true}
frontend:
  nic_ports: 2
  rate_gbps: 100
  attach: esi
  oversubscription: 3
  reaches: [enterprise, storage]
  pool: 10.192.0.0/12
  tenants:
    blue: {vlan: 200, vni: 10200, subnet: 10.1.0.0/24, l3vni: 50200,
           vlans: {db: {vlan: 201, vni: 10201, subnet: 10.1.1.0/24}}}
  leaves: {count: 2, model: mine-64, platform: sonic, cable_m: 10}
  spines: {count: 2, links_per_leaf: 1, rate_gbps: 400, model: mine-64, platform: sonic, cable_m: 30}
storage:
  protocol: roce
  nic_ports: 2
  rate_gbps: 200
  servers: 2
  server_ports: 2
  oversubscription: 2
  reaches: []
  pool: 10.208.0.0/12
  leaves: {count: 2, model: mine-64, platform: sonic, cable_m: 10}
  spines: {count: 2, links_per_leaf: 1, rate_gbps: 400, model: mine-64, platform: sonic, cable_m: 30}
management:
  isolation: vlans
  rate_gbps: 1
  reaches: [enterprise]
  pool: 10.224.0.0/16
  switch_vlan: 10
  host_vlan: 20
  bmc_vlan: 30
  services: {ntp: [10.0.0.1], ptp: [10.0.0.2], aaa: [10.0.0.3], syslog: [10.0.0.4], telemetry: [10.0.0.5]}
  vrf: mgmt
  syslog: {protocol: tcp, port: 601, level: notice}
  aaa: {protocol: radius}
  gnmi: {port: 57401, tls_profile: fabric}
  banner: authorised users only
  pairs: true
  leaves: {count: 2, model: mine-64, platform: sonic, cable_m: 10}
  spines: {count: 1, links_per_leaf: 1, rate_gbps: 100, model: mine-64, platform: sonic, cable_m: 30}
models:
  llama: {parameters_billion: 405, bytes_per_parameter: 2}
switches:
  mine-64:
    vendor: me
    silicon: mine
    cages: 64
    speeds_gbps: [400, 200]
    breakouts: {2: [200, 100], 4: [100]}
    routes: 100000
    next_hop_groups: 1000
    at_most: {400: 8}
    lane_gbps: 100
    buffer_bytes: 64_000_000
    default_headroom_bytes: 64_000
    cage: osfp
    power_w: 900
    units: 2
    source: a table
    names:
      sonic: {cage: "Ethernet{cage}", lane: "Ethernet{cage}/{lane}"}
drain: [pod1-seg1-leaf1]
change:
  max_bandwidth_loss: 10
  scheduler: {kind: slurm, action: wait, within_s: 600, hosts: names.csv, command: [ssh, controller],
    folder: /opt/slurm/bin}
  grafana: {url: "https://grafana.example", token_file: token, ca: grafana.pem}
  telemetry: "https://prometheus.example"
  gates: {window_s: 60, lossless_drops: 1, paused: 0.4, ecn_marked: 0.1, unmarked_pauses: 100, errors: 10,
    bit_errors: 20, rail_asymmetry: 0.3, step_time: 1.5}
inventory:
  pod1-seg1-leaf1:
    {host: 192.0.2.1, ssh_port: 22, gnmi_port: 57400, ca: ca.pem, known_hosts: known, credentials: "env:LAB",
     skip_verify: true, plaintext: false, client_cert: cert.pem, client_key: key.pem, tls_name: leaf1.example,
     gnmi_target: leaf1, gnmi_mode: sample, gnmi_encoding: json, gnmi_interval_s: 30,
     gnmi_heartbeat_s: 60, gnmi_suppress_redundant: true}
"""
"""An intent with every key of the schema, each once."""


SECONDS = 5
"""CPU time that loading a file may take: much more than it needs, much less than a hang."""


def refused(tmp_path: Path, text: str | bytes) -> list[str]:
    """The error lines of an invalid file, without the folder."""
    path = tmp_path / "f.yml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(RailfabError) as caught:
        load_intent(path)
    return str(caught.value).replace(f"{tmp_path}/", "").split("\n")


def error_lines(load: Callable[[Path], Any], path: Path) -> list[str]:
    """The error lines of a file, checked for time, count and length; none if the file is valid."""
    began = time.process_time()
    faults: tuple[RailfabError, ...] = ()
    text = ""
    try:
        load(path)
    except RailfabError as error:
        faults, text = each(error), str(error)
    assert time.process_time() - began < SECONDS
    lines = text.splitlines()
    assert lines == [str(fault) for fault in faults]
    assert all(line.isprintable() and len(line) < 1000 for line in lines)
    return [line.replace(f"{path.parent}/", "") for line in lines]

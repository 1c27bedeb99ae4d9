"""Fabrics in which the waves of a change are planned: three tiers of SR Linux switches with 64 ports of 800 Gb/s."""

PODS_AND_SUPER_SPINES = {512: (6, 128), 2048: (24, 512)}
"""By number of switches. A pod has 32 rail switches and 32 spines."""


def intent_of(switches: int, nic_ports: int) -> str:
    """An intent with this number of switches. With two ports, each NIC has one on each of two rail switches."""
    pods, super_spines = PODS_AND_SUPER_SPINES[switches]
    return f"""version: 1
fabric: waves-{switches}
hosts: {{gpus: 8, nic_ports: {nic_ports}, rate_gbps: {800 // nic_ports}}}
backend:
  pods: {pods}
  segments: {{count: 4, hosts: 32, rail_switches: 8, model: 7220-ixr-h5-64d, cable_m: 5}}
  spines: {{count: 32, rate_gbps: 800, model: 7220-ixr-h5-64d, cable_m: 40}}
  super_spines: {{count: {super_spines}, groups: 32, rate_gbps: 800, model: 7220-ixr-h5-64d, cable_m: 100}}
"""

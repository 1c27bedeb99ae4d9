"""Recording rules that adopt the series of other exporters of hosts, instead of exporting them a second time.

Names are those of node_exporter 1.11 (collector/infiniband_linux.go), of Omnistat (docs/metrics.md; its gauges count
up) and of dcgm-exporter (etc/default-counters.csv; its label `Hostname` became `hostname` in May 2026). Their targets
need the labels `fabric` and `host` of the plan from the configuration of Prometheus; dcgm-exporter has the host itself.
A counter that the agent exports too (`--standalone`) is that of the agent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railfab.dashboards.rules import RecordingRule

NIC = ("fabric", "host", "nic")
GPU = ("fabric", "host", "gpu")
NODE, OMNISTAT = "node_infiniband_", "omnistat_network_"
INFO = "group_left (nic) roce_nic_info"


@dataclass(frozen=True, slots=True)
class AdoptedCounter:
    """A counter of NICs: our name, and behind their prefixes those of node_exporter and of Omnistat, if any."""

    ours: str
    node: str = ""
    omnistat: str = ""


COUNTERS = (
    AdoptedCounter("receive_bytes", "port_data_received_bytes_total", "rx_bytes"),
    AdoptedCounter("transmit_bytes", "port_data_transmitted_bytes_total", "tx_bytes"),
    AdoptedCounter("receive_packets", "port_packets_received_total", "rx_packets"),
    AdoptedCounter("transmit_packets", "port_packets_transmitted_total", "tx_packets"),
    AdoptedCounter("cnp_sent_packets", "np_cnp_packets_sent_total"),
    AdoptedCounter("cnp_handled_packets", "rp_cnp_packets_handled_total", "rx_cnp_packets"),
    AdoptedCounter("ecn_marked_packets", "np_ecn_marked_roce_packets_received_total", "rx_ecn_marked_packets"),
    AdoptedCounter("out_of_sequence_packets", "out_of_sequence_packets_received_total", "rx_out_of_sequence_packets"),
    AdoptedCounter("packet_sequence_errors", "packet_sequence_errors_total"),
    AdoptedCounter("implied_nak_sequence_errors", "implied_nak_seq_errors_total"),
    AdoptedCounter("local_ack_timeouts", "local_ack_timeout_errors_total"),
    AdoptedCounter("retransmits", "roce_adp_retransmits_total", "tx_retransmitted_packets"),
    AdoptedCounter("out_of_buffer", "out_of_buffer_drops_total"),
    AdoptedCounter("receive_discards", "", "rx_discarded_packets"),
    AdoptedCounter("transmit_discards", "", "tx_discarded_packets"),
)
OF_GPUS: Mapping[str, tuple[str, float]] = {
    "host_gpu:dcgm_gpu_utilization:ratio": ("DCGM_FI_DEV_GPU_UTIL", 100),
    "host_gpu:dcgm_tensor_active:ratio": ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 1),
}
"""Series of dcgm-exporter by the record that they become, and what 1 is in them."""


def _rules() -> Iterator[RecordingRule]:
    for counter in COUNTERS:
        yield RecordingRule(record=f"host_nic:roce_nic_{counter.ours}:rate1m", expr=_rate(counter), labels=NIC)
    for record, (series, full) in OF_GPUS.items():
        host = series
        for label in ("Hostname", "hostname"):
            host = f'label_replace({host}, "host", "$1", "{label}", "(.+)")'
        yield RecordingRule(record=record, expr=f"max by (fabric, host, gpu) ({host}) / {full:g}", labels=GPU)


def _rate(counter: AdoptedCounter) -> str:
    """The rate of our counter, else of theirs, of the port that has the RDMA device or the interface of the series."""
    parts = [f"sum by (fabric, host, nic) (rate(roce_nic_{counter.ours}_total[1m]))"]
    if counter.node:
        parts.append(_joined(NODE + counter.node, "device", "rdma"))
    if counter.omnistat:
        parts += [_joined(OMNISTAT + counter.omnistat, "interface", name) for name in ("rdma", "interface")]
    return "\nor on (fabric, host, nic) ".join(parts)


def _joined(series: str, label: str, name: str) -> str:
    """Their rate with the label nic, which the agent knows of the RDMA device or the interface."""
    rate = f"rate({series}[1m])"
    named = rate if label == name else f'label_replace({rate}, "{name}", "$1", "{label}", "(.+)")'
    return f"sum by (fabric, host, nic) ({named} * on (fabric, host, {name}) {INFO})"


ADOPTED: tuple[RecordingRule, ...] = tuple(_rules())
"""Every rule."""

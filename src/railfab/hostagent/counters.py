"""The counters of NICs by family: in which file of the RDMA device, or under which name of `ethtool -S`, each one is.

Names are those of the drivers: mlx5 (Linux drivers/infiniband/hw/mlx5/counters.c, Documentation/networking/
device_drivers/ethernet/mellanox/mlx5/counters.rst), bnxt (drivers/infiniband/hw/bnxt_re/hw_counters.c,
drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c) and ionic (drivers/infiniband/hw/ionic, counter collector of AMD's
rccl-tests). Octets of mlx5 are in words of four (InfiniBand's PortXmitData). A counter that a driver does not have is
absent, which is not 0: mlx5 has those of PFC of a priority only while PFC is on for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

PRIORITIES = range(8)


class CounterPlace(StrEnum):
    """Where a counter is: folders of the port of the RDMA device, or the statistics of the interface."""

    STANDARD = "counters"
    HARDWARE = "hw_counters"
    STATISTICS = "statistics"


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter. names: of which the first that the driver has counts. scale: its value times this is exposed."""

    metric: str
    place: CounterPlace
    names: tuple[str, ...]
    scale: float = 1.0
    labels: tuple[tuple[str, str], ...] = ()


Names = Mapping[str, tuple[str, ...]]
"""Names of a counter by family; of several, the first that the driver has."""
WORD_BYTES = 4.0
US_S = 1e-6
OCTETS: Mapping[str, Names] = {
    "roce_nic_receive_bytes_total": {
        "mlx5": ("port_rcv_data",),
        "bnxt": ("rx_bytes",),
        "ionic": ("rx_rdma_ucast_bytes",),
    },
    "roce_nic_transmit_bytes_total": {
        "mlx5": ("port_xmit_data",),
        "bnxt": ("tx_bytes",),
        "ionic": ("tx_rdma_ucast_bytes",),
    },
}
"""Octets of RDMA: of mlx5 in `counters`, else in `hw_counters`."""
PACKETS: Mapping[str, Names] = {
    "roce_nic_receive_packets_total": {
        "mlx5": ("port_rcv_packets",),
        "bnxt": ("rx_pkts",),
        "ionic": ("rx_rdma_ucast_pkts",),
    },
    "roce_nic_transmit_packets_total": {
        "mlx5": ("port_xmit_packets",),
        "bnxt": ("tx_pkts",),
        "ionic": ("tx_rdma_ucast_pkts",),
    },
}
"""Packets, in the same folders."""
RDMA: Mapping[str, Names] = {
    "roce_nic_cnp_sent_packets_total": {
        "mlx5": ("np_cnp_sent",),
        "bnxt": ("np_cnp_sent", "tx_cnp_pkts"),
        "ionic": ("tx_rdma_cnp_pkts",),
    },
    "roce_nic_cnp_handled_packets_total": {
        "mlx5": ("rp_cnp_handled",),
        "bnxt": ("rp_cnp_handled", "rx_cnp_pkts"),
        "ionic": ("rx_rdma_cnp_pkts",),
    },
    "roce_nic_ecn_marked_packets_total": {
        "mlx5": ("np_ecn_marked_roce_packets",),
        "bnxt": ("np_ecn_marked_roce_packets", "rx_ecn_marked_pkts"),
        "ionic": ("rx_rdma_ecn_pkts",),
    },
    "roce_nic_out_of_sequence_packets_total": {
        "mlx5": ("out_of_sequence",),
        "bnxt": ("oos_drop_count",),
        "ionic": ("resp_rx_outouf_seq",),
    },
    "roce_nic_packet_sequence_errors_total": {
        "mlx5": ("packet_seq_err",),
        "bnxt": ("seq_err_naks_rcvd",),
        "ionic": ("req_rx_pkt_seq_err",),
    },
    "roce_nic_local_ack_timeouts_total": {
        "mlx5": ("local_ack_timeout_err",),
        "bnxt": ("to_retransmits",),
        "ionic": ("tx_rdma_ack_timeout",),
    },
    "roce_nic_retries_exceeded_total": {
        "mlx5": ("req_transport_retries_exceeded",),
        "bnxt": ("max_retry_exceeded",),
        "ionic": ("req_tx_retry_excd_err",),
    },
    "roce_nic_rnr_nak_retries_total": {
        "mlx5": ("rnr_nak_retry_err",),
        "bnxt": ("rnr_naks_rcvd",),
        "ionic": ("req_rx_rnr_retry_err",),
    },
    "roce_nic_out_of_buffer_total": {
        "mlx5": ("out_of_buffer",),
        "bnxt": ("rx_out_of_buffer",),
        "ionic": ("resp_rx_outof_buf",),
    },
    "roce_nic_duplicate_requests_total": {"mlx5": ("duplicate_request",), "bnxt": ("dup_req",)},
    "roce_nic_retransmits_total": {"mlx5": ("roce_adp_retrans",), "ionic": ("tx_rdma_retx_pkts",)},
    "roce_nic_receive_discards_total": {"bnxt": ("rx_roce_discards",)},
    "roce_nic_transmit_discards_total": {"bnxt": ("tx_roce_discards",)},
    "roce_nic_implied_nak_sequence_errors_total": {
        "mlx5": ("implied_nak_seq_err",),
        "bnxt": ("missing_resp",),
        "ionic": ("req_rx_impl_nak_seq_err",),
    },
}
"""Names in `hw_counters`."""
PRIORITIZED: Mapping[str, Names] = {
    "roce_nic_receive_pause_frames_total": {
        "mlx5": ("rx_prio{priority}_pause",),
        "bnxt": ("rx_pfc_ena_frames_pri{priority}",),
        "ionic": ("frames_rx_pripause_{priority}", "frames_rx_pripause{priority}"),
    },
    "roce_nic_transmit_pause_frames_total": {
        "mlx5": ("tx_prio{priority}_pause",),
        "bnxt": ("tx_pfc_ena_frames_pri{priority}",),
        "ionic": ("frames_tx_pripause_{priority}", "frames_tx_pripause{priority}"),
    },
    "roce_nic_receive_pause_seconds_total": {
        "mlx5": ("rx_prio{priority}_pause_duration",),
        "bnxt": ("pfc_pri{priority}_rx_duration_us",),
        "ionic": ("rx_pripause_{priority}_1us_count",),
    },
    "roce_nic_transmit_pause_seconds_total": {
        "mlx5": ("tx_prio{priority}_pause_duration",),
        "bnxt": ("pfc_pri{priority}_tx_duration_us",),
        "ionic": ("tx_pripause_{priority}_1us_count",),
    },
    "roce_nic_receive_discards_total": {
        "mlx5": ("rx_prio{priority}_discards",),
        "ionic": ("rx_{priority}_dropped",),
    },
}
"""Names in the statistics of the interface; each priority has one. Durations are in us."""
STATISTICS: Mapping[str, Names] = {
    "roce_nic_link_down_events_total": {"mlx5": ("link_down_events_phy",)},
    "roce_nic_pause_storm_events_total": {"mlx5": ("tx_pause_storm_error_events",)},
}
"""Names in the statistics of the interface."""


def counters_of(family: str) -> Iterator[Counter]:
    """The counters that a driver of this family may have."""
    place = CounterPlace.STANDARD if family == "mlx5" else CounterPlace.HARDWARE
    for metric, names in OCTETS.items():
        yield Counter(metric, place, names[family], WORD_BYTES if family == "mlx5" else 1.0)
    for metric, names in PACKETS.items():
        yield Counter(metric, place, names[family])
    for place, table in ((CounterPlace.HARDWARE, RDMA), (CounterPlace.STATISTICS, STATISTICS)):
        for metric, names in table.items():
            if family in names:
                yield Counter(metric, place, names[family])
    for metric, names in PRIORITIZED.items():
        scale = US_S if "_seconds_" in metric else 1.0
        for priority in PRIORITIES if family in names else ():
            numbered = tuple(name.format(priority=priority) for name in names[family])
            yield Counter(metric, CounterPlace.STATISTICS, numbered, scale, (("priority", str(priority)),))

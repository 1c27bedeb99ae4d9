"""The catalogue of every metric that railfab exposes: name, kind, unit, help and labels.

The collector exposes only these metrics, platforms map their native paths to these names, and dashboards and rules use
no others. Base units; counters end in `_total`; ratios are 0 to 1. `receive` and `transmit` are directions of the port:
a *received* pause frame makes this port stop sending. `rail` is the empty string where a port or switch serves no rail
or several (Prometheus treats an empty label as absent). `fabric`, which every metric has, is that of the intent, and
absent where there is none; with it, fabrics whose switches have the same names share one Prometheus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

DIRECTIONS = ("receive", "transmit")
FABRIC = ("fabric",)
DEVICE = ("device", *FABRIC)
"""Labels of a target, which the collector gives to every series of it."""
PORT = (*DEVICE, "interface")
QUEUE = (*PORT, "queue")
PRIORITY = (*PORT, "priority")
PEER = (*DEVICE, "peer")
RUN = (*FABRIC, "job_id")
JOB = (*RUN, "host")


class Kind(StrEnum):
    """Metric type of Prometheus; an info metric is a gauge that is always 1."""

    COUNTER = "counter"
    GAUGE = "gauge"
    INFO = "info"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One entry of the catalogue. unit: the base unit in the name, empty for counts of events, states and infos."""

    name: str
    kind: Kind
    unit: str
    help: str
    labels: tuple[str, ...]

    def exposed_names(self) -> tuple[str, ...]:
        """Names for queries: three for a histogram, else one."""
        if self.kind is Kind.HISTOGRAM:
            return tuple(f"{self.name}_{suffix}" for suffix in ("bucket", "sum", "count"))
        return (self.name,)


def _interface() -> Iterator[Metric]:
    for direction in DIRECTIONS:
        word = f"{direction.capitalize()}d" if direction == "receive" else "Transmitted"
        prefix = f"fabric_interface_{direction}"
        yield Metric(f"{prefix}_bytes_total", Kind.COUNTER, "bytes", f"{word} octets of frames without preamble.", PORT)
        yield Metric(f"{prefix}_packets_total", Kind.COUNTER, "packets", f"{word} packets.", (*PORT, "cast"))
        yield Metric(f"{prefix}_errors_total", Kind.COUNTER, "packets", f"{word} packets with errors.", PORT)
        yield Metric(
            f"{prefix}_discards_total",
            Kind.COUNTER,
            "packets",
            f"Packets without errors that were discarded on {direction}.",
            PORT,
        )
    yield Metric(
        "fabric_interface_receive_fcs_errors_total",
        Kind.COUNTER,
        "packets",
        "Received frames with a wrong frame check sequence.",
        PORT,
    )
    yield Metric(
        "fabric_interface_carrier_transitions_total",
        Kind.COUNTER,
        "",
        "Changes of the link state; down and up again are two changes.",
        PORT,
    )
    yield Metric(
        "fabric_interface_oper_up", Kind.GAUGE, "", "Whether the interface is operationally up (1) or not (0).", PORT
    )
    yield Metric("fabric_interface_admin_up", Kind.GAUGE, "", "Whether the interface is enabled (1) or not (0).", PORT)
    yield Metric(
        "fabric_interface_last_change_timestamp_seconds",
        Kind.GAUGE,
        "seconds",
        "Unix time of the last change of the operational state.",
        PORT,
    )
    yield Metric(
        "fabric_interface_speed_bytes_per_second", Kind.GAUGE, "bytes_per_second", "Speed of the interface.", PORT
    )


def _drops() -> Iterator[Metric]:
    yield Metric(
        "fabric_device_dropped_packets_total",
        Kind.COUNTER,
        "packets",
        "Packets that the switch dropped by reason, without those of full buffers: packet_processing (errors, too long,"
        " no route, filters), no_route (part of it), congestion (inside the chip), adverse (defects).",
        (*DEVICE, "reason"),
    )
    chip = (*DEVICE, "slice", "outcome")
    yield Metric(
        "fabric_device_trimmed_packets_total",
        Kind.COUNTER,
        "packets",
        "Packets that found no buffer in a slice of the chip and were cut to their beginning, by outcome: sent, or"
        " dropped all the same.",
        chip,
    )
    yield Metric(
        "fabric_device_mirrored_drop_packets_total",
        Kind.COUNTER,
        "packets",
        "Dropped packets that a slice of the chip was to show to a collector (mirror on drop), by outcome: mirrored, or"
        " missed.",
        chip,
    )


def _optics() -> Iterator[Metric]:
    yield Metric(
        "fabric_interface_fec_uncorrected_codewords_total",
        Kind.COUNTER,
        "",
        "Received codewords that forward error correction could not correct.",
        PORT,
    )
    yield Metric(
        "fabric_interface_pre_fec_ber_ratio",
        Kind.GAUGE,
        "ratio",
        "Share of received bits that are wrong before forward error correction.",
        PORT,
    )
    lane = (*PORT, "lane")
    yield Metric("fabric_optic_receive_power_dbm", Kind.GAUGE, "", "Light that a lane receives, in dBm.", lane)
    yield Metric("fabric_optic_transmit_power_dbm", Kind.GAUGE, "", "Light that a lane sends, in dBm.", lane)


def _queues() -> Iterator[Metric]:
    for unit in ("bytes", "packets"):
        yield Metric(f"fabric_queue_transmit_{unit}_total", Kind.COUNTER, unit, f"{unit.title()} sent.", QUEUE)
        yield Metric(f"fabric_queue_dropped_{unit}_total", Kind.COUNTER, unit, f"{unit.title()} dropped.", QUEUE)
        yield Metric(
            f"fabric_queue_ecn_marked_{unit}_total",
            Kind.COUNTER,
            unit,
            f"{unit.title()} whose ECN field was set to congestion experienced.",
            QUEUE,
        )
    yield Metric(
        "fabric_queue_trimmed_packets_total",
        Kind.COUNTER,
        "packets",
        "Packets that found the queue full and were cut to their beginning, by outcome: sent, or dropped all the same.",
        (*QUEUE, "outcome"),
    )
    yield Metric("fabric_queue_depth_bytes", Kind.GAUGE, "bytes", "Bytes waiting in the queue.", QUEUE)
    yield Metric(
        "fabric_queue_depth_peak_bytes",
        Kind.GAUGE,
        "bytes",
        "Recent maximum of the bytes waiting in the queue; query with max_over_time.",
        QUEUE,
    )


def _pfc() -> Iterator[Metric]:
    for direction, meaning in (("receive", "the peer paused this port"), ("transmit", "this port paused its peer")):
        prefix = f"fabric_pfc_{direction}"
        yield Metric(f"{prefix}_frames_total", Kind.COUNTER, "", f"Priority pause frames: {meaning}.", PRIORITY)
        yield Metric(
            f"{prefix}_pause_estimated_seconds_total",
            Kind.COUNTER,
            "seconds",
            f"Upper bound of the paused time, estimated as frames x 65535 quanta at port speed: {meaning}.",
            PRIORITY,
        )
    yield Metric(
        "fabric_pfc_receive_pause_seconds_total",
        Kind.COUNTER,
        "seconds",
        "Time that this port was paused, on platforms that measure it.",
        PRIORITY,
    )
    yield Metric("fabric_pfc_receive_transitions_total", Kind.COUNTER, "", "Changes from running to paused.", PRIORITY)
    yield Metric(
        "fabric_pfc_dropped_packets_total", Kind.COUNTER, "packets", "Packets of a lossless class dropped.", PRIORITY
    )
    yield Metric(
        "fabric_pfc_watchdog_storms_detected_total",
        Kind.COUNTER,
        "",
        "PFC storms that the PFC watchdog detected on a lossless priority.",
        PRIORITY,
    )


def _buffers() -> Iterator[Metric]:
    group = (*PORT, "priority_group")
    prefix = "fabric_buffer_headroom"
    yield Metric(f"{prefix}_used_bytes", Kind.GAUGE, "bytes", "PFC headroom in use.", group)
    yield Metric(
        f"{prefix}_peak_bytes",
        Kind.GAUGE,
        "bytes",
        "Recent maximum of the PFC headroom in use; query with max_over_time.",
        group,
    )
    yield Metric(f"{prefix}_size_bytes", Kind.GAUGE, "bytes", "Configured PFC headroom.", group)


def _routing() -> Iterator[Metric]:
    yield Metric(
        "fabric_daemon_up",
        Kind.GAUGE,
        "",
        "Whether a routing daemon that the switch should run answers (1) or not (0).",
        (*DEVICE, "daemon"),
    )
    yield Metric("fabric_bgp_session_up", Kind.GAUGE, "", "Whether the BGP session is established (1).", PEER)
    yield Metric(
        "fabric_bgp_session_state",
        Kind.GAUGE,
        "",
        "State of the BGP session: 1 idle, 2 connect, 3 active, 4 opensent, 5 openconfirm, 6 established.",
        PEER,
    )
    yield Metric(
        "fabric_bgp_established_transitions_total", Kind.COUNTER, "", "Times the session became established.", PEER
    )
    yield Metric(
        "fabric_bgp_last_established_timestamp_seconds",
        Kind.GAUGE,
        "seconds",
        "Unix time when the session last became established.",
        PEER,
    )
    yield Metric(
        "fabric_bgp_prefixes",
        Kind.GAUGE,
        "",
        "Prefixes of the session by direction: received, sent, installed.",
        (*PEER, "afi_safi", "direction"),
    )
    yield Metric("fabric_bfd_session_up", Kind.GAUGE, "", "Whether the BFD session is up (1).", PEER)
    yield Metric("fabric_bfd_failure_transitions_total", Kind.COUNTER, "", "Times the BFD session went down.", PEER)


def _topology() -> Iterator[Metric]:
    peer = ("peer_device", "peer_interface")
    yield Metric(
        "fabric_interface_info",
        Kind.INFO,
        "",
        "Attributes of the interface in the design; link is host, uplink or downlink, speed is for example 100G.",
        (*PORT, "link", *peer, "rail", "speed"),
    )
    yield Metric(
        "fabric_device_info",
        Kind.INFO,
        "",
        "Attributes of the switch in the design.",
        (*DEVICE, "role", "pod", "segment", "rail", "platform", "model"),
    )
    yield Metric(
        "fabric_link_intended_info",
        Kind.INFO,
        "",
        "The link of this interface in the design; hosts may not send LLDP (label link).",
        (*PORT, *peer, "link"),
    )
    yield Metric(
        "fabric_roce_queue_info",
        Kind.INFO,
        "",
        "An egress queue that the design gives to RoCE, as the counters of this switch name it; absent where the names"
        " of its platform are not known.",
        (*DEVICE, "queue"),
    )
    yield Metric(
        "fabric_target_info",
        Kind.INFO,
        "",
        "A target that is of no intent, with the labels that its list gives it beside these.",
        (*DEVICE, "platform", "groups"),
    )
    yield Metric("fabric_device_boot_timestamp_seconds", Kind.GAUGE, "seconds", "Unix time of the last boot.", DEVICE)
    yield Metric("fabric_lldp_neighbor_info", Kind.INFO, "", "The neighbour that LLDP reports.", (*PORT, *peer))


def _collector() -> Iterator[Metric]:
    def metric(name: str, kind: Kind, unit: str, text: str, *labels: str) -> Metric:
        return Metric(f"fabric_collector_{name}", kind, unit, text, (*DEVICE, *labels))

    yield from _sessions(metric)
    yield from _streams(metric)
    yield from _samples(metric)
    yield from _collector_itself()


def _sessions(metric: Callable[..., Metric]) -> Iterator[Metric]:
    """Of the session with a target."""
    yield metric("session_up", Kind.GAUGE, "", "Whether all subscriptions of the target stream and are in sync (1).")
    yield metric(
        "subscription_up",
        Kind.GAUGE,
        "",
        "Whether the subscriptions of this kind stream and are in sync (1).",
        "subscription",
    )
    yield metric(
        "session_state",
        Kind.GAUGE,
        "",
        "State of the session: 0 not dialed yet, 1 connecting, 2 syncing, 3 up, 4 retrying, 5 refused by the target.",
    )
    yield metric(
        "tls_verified",
        Kind.GAUGE,
        "",
        "Whether the certificate of the target is verified (1) or not (0): skip_verify, plaintext.",
    )
    yield metric(
        "receiver_info",
        Kind.INFO,
        "",
        "Receiver of the target: fast; grpc, to which auto falls back where fast does not know what the target does;"
        " pygnmi, replay, or none without an address.",
        "receiver",
    )


def _streams(metric: Callable[..., Metric]) -> Iterator[Metric]:
    """Of the streams of a session."""
    yield metric(
        "last_update_timestamp_seconds",
        Kind.GAUGE,
        "seconds",
        "Unix time when the last sampled update arrived, 0 before the first; on-change updates are not counted.",
        "subscription",
    )
    yield metric(
        "sample_interval_seconds",
        Kind.GAUGE,
        "seconds",
        "Time in which a sampled update is due: the shortest interval of the subscriptions, or heartbeat; absent where"
        " none is due.",
        "subscription",
    )
    yield metric("updates_total", Kind.COUNTER, "", "Updates received.", "subscription")
    yield metric(
        "errors_total",
        Kind.COUNTER,
        "",
        "Streams that failed: no_endpoint, unreachable, login_refused, tls, protocol, unimplemented, stalled, lagging,"
        " closed, defect.",
        "reason",
    )
    yield metric("reconnects_total", Kind.COUNTER, "", "Times a stream was opened again.")
    yield metric(
        "overloaded",
        Kind.GAUGE,
        "",
        "Whether its collector was late for half of the last 30 s (1), which keeps its sessions and begins none.",
    )


def _samples(metric: Callable[..., Metric]) -> Iterator[Metric]:
    """Of what a target sends."""
    yield metric(
        "unmapped_updates_total",
        Kind.COUNTER,
        "",
        "Leaves received that the telemetry map of the platform does not contain.",
        "path_root",
    )
    yield metric(
        "dropped_updates_total",
        Kind.COUNTER,
        "",
        "Updates not stored: undecodable, out_of_order or series_limit.",
        "reason",
    )
    yield metric("series", Kind.GAUGE, "", "Series stored for the target.")
    yield metric(
        "ingest_lag_seconds",
        Kind.GAUGE,
        "seconds",
        "Arrival time of the last sample minus its time stamp by the device; includes clock skew.",
    )
    yield metric(
        "backlog_seconds",
        Kind.GAUGE,
        "seconds",
        "How much later than at best samples arrive, by the growth of their delay: the clocks need not agree.",
    )
    yield metric(
        "clock_skew_seconds",
        Kind.GAUGE,
        "seconds",
        "How far the device's clock is ahead of the collector's, by the least delayed sample of the last 30 to 60 s.",
    )
    yield metric(
        "held_back_seconds_total",
        Kind.COUNTER,
        "seconds",
        "Upper bound of the time in which the target waited for the collector to read what it had sent.",
    )
    yield metric(
        "skewed_notifications_total",
        Kind.COUNTER,
        "",
        "Notifications whose time stamp was not used, since it is more than 5 minutes from the collector's clock.",
    )
    yield metric(
        "resets_total",
        Kind.COUNTER,
        "",
        "Counters of the device that went back: wrap (32 bits were full), reboot (its boot time moved) or reset.",
        "reason",
    )


def _collector_itself() -> Iterator[Metric]:
    yield Metric(
        "fabric_collector_lag_seconds",
        Kind.GAUGE,
        "seconds",
        "The largest lateness of the collector itself within 30 s; no target is called stalled for it.",
        FABRIC,
    )
    yield Metric(
        "fabric_collector_process_up",
        Kind.GAUGE,
        "",
        "Whether the process of a shard runs and answers (1); of collect --processes.",
        (*FABRIC, "shard"),
    )
    yield Metric(
        "fabric_collector_process_restarts_total",
        Kind.COUNTER,
        "",
        "Times the process of a shard was started again, since it had ended.",
        (*FABRIC, "shard"),
    )


def _sinks() -> Iterator[Metric]:
    def metric(name: str, kind: Kind, unit: str, text: str, *labels: str) -> Metric:
        return Metric(f"fabric_collector_sink_{name}", kind, unit, text, (*FABRIC, "sink", *labels))

    yield metric("sent_samples_total", Kind.COUNTER, "", "Samples that the receiver has taken, stale markers included.")
    yield metric(
        "failed_samples_total",
        Kind.COUNTER,
        "",
        "Samples that the receiver refused: http_400 and the like, or the name of an error of Kafka or NATS.",
        "reason",
    )
    yield metric(
        "dropped_samples_total",
        Kind.COUNTER,
        "",
        "Samples, the oldest first, that were dropped because the queue was full or the collector ended.",
    )
    yield metric("retries_total", Kind.COUNTER, "", "Requests and messages that were sent again.")
    yield metric("queue_bytes", Kind.GAUGE, "bytes", "Samples that are queued or being sent.")
    yield metric(
        "last_success_timestamp_seconds",
        Kind.GAUGE,
        "seconds",
        "Unix time when the receiver last took samples, 0 before the first.",
    )


def _discovery() -> Iterator[Metric]:
    def metric(name: str, kind: Kind, unit: str, text: str, *labels: str) -> Metric:
        return Metric(f"fabric_collector_discovery_{name}", kind, unit, text, (*FABRIC, "source", *labels))

    yield metric("targets", Kind.GAUGE, "", "Targets in the last good list of a file or URL.")
    yield metric("polls_total", Kind.COUNTER, "", "Times that a file or URL was asked for its list of targets.")
    yield metric(
        "failures_total",
        Kind.COUNTER,
        "",
        "Polls without a good list, after which the last one is kept: unreachable, timeout, too_large, invalid,"
        " or http_500 and the like.",
        "reason",
    )
    yield metric(
        "last_success_timestamp_seconds",
        Kind.GAUGE,
        "seconds",
        "Unix time of the last poll that gave a good list, 0 before the first.",
    )


def _jobs() -> Iterator[Metric]:
    yield Metric("training_step_duration_seconds", Kind.HISTOGRAM, "seconds", "Duration of one step of the job.", JOB)
    yield Metric(
        "training_job_running",
        Kind.GAUGE,
        "",
        "Whether the job has steps before it (1) or has ended (0).",
        RUN,
    )
    yield Metric(
        "training_barrier_wait_seconds",
        Kind.HISTOGRAM,
        "seconds",
        "Time that the host waited for the other hosts; a straggler waits least.",
        JOB,
    )
    yield Metric(
        "training_collective_duration_seconds",
        Kind.HISTOGRAM,
        "seconds",
        "Duration of one collective operation.",
        (*JOB, "op"),
    )
    yield Metric(
        "training_collective_bus_bandwidth_bytes_per_second",
        Kind.GAUGE,
        "bytes_per_second",
        "Bus bandwidth of the last collective operation.",
        (*JOB, "op"),
    )


def _configuration() -> Iterator[Metric]:
    yield Metric(
        "fabric_configuration_findings",
        Kind.GAUGE,
        "",
        "Errors and warnings of the last comparison of the running configuration with the intent, by their code.",
        (*DEVICE, "code"),
    )
    yield Metric(
        "fabric_configuration_checked_timestamp_seconds",
        Kind.GAUGE,
        "seconds",
        "Unix time of the last comparison of the running configuration with the intent; before it, of its start.",
        DEVICE,
    )
    yield Metric(
        "fabric_configuration_check_interval_seconds",
        Kind.GAUGE,
        "seconds",
        "Time between two comparisons of the running configurations with the intent; absent without any.",
        FABRIC,
    )
    yield Metric(
        "fabric_maintenance_info",
        Kind.INFO,
        "",
        "The switch is being changed (deploy) or drained (drain): alerts on it, its links and sessions do not fire.",
        (*DEVICE, "reason"),
    )


def _twin() -> Iterator[Metric]:
    yield Metric(
        "fabric_twin_simulated_seconds_total",
        Kind.COUNTER,
        "seconds",
        "Time that the twin has simulated; with the label device, that of the counters of a switch.",
        DEVICE,
    )
    yield Metric(
        "fabric_twin_slipped_seconds_total",
        Kind.COUNTER,
        "seconds",
        "Wall time that the twin skipped because the simulation was too slow.",
        FABRIC,
    )
    yield Metric(
        "fabric_twin_failure_info",
        Kind.INFO,
        "",
        "The error that stopped the job of the twin; absent while there is none. The switches continue to answer.",
        (*FABRIC, "error"),
    )
    yield Metric(
        "fabric_twin_unmodelled_leaves",
        Kind.GAUGE,
        "",
        "Lines of a virtual switch's configuration that it keeps and shows, and that have no effect on the twin.",
        DEVICE,
    )


BURSTS = (
    "fabric_interface_receive_bytes_total",
    "fabric_interface_transmit_bytes_total",
    "fabric_interface_receive_discards_total",
    "fabric_interface_transmit_discards_total",
    "fabric_queue_ecn_marked_packets_total",
    "fabric_queue_dropped_packets_total",
    "fabric_pfc_receive_frames_total",
    "fabric_pfc_transmit_frames_total",
)
"""Counters whose highest rate between two samples is exposed beside them, since bursts hide between scrapes."""


def rate_max_name(counter: str) -> str:
    """The name of the highest rate of a counter."""
    return f"{counter.removesuffix('_total')}_rate_max"


def _rates(counters: Mapping[str, Metric]) -> Iterator[Metric]:
    for name in BURSTS:
        counter = counters[name]
        yield Metric(
            rate_max_name(name),
            Kind.GAUGE,
            "",
            f"Highest increase per second of {name} between two samples in the last 15 to 30 s.",
            counter.labels,
        )


def _catalogue() -> Iterator[Metric]:
    for section in (
        _interface,
        _drops,
        _optics,
        _queues,
        _pfc,
        _buffers,
        _routing,
        _topology,
        _collector,
        _sinks,
        _discovery,
        _configuration,
        _jobs,
        _twin,
    ):
        yield from section()


_COUNTED = {metric.name: metric for metric in _catalogue()}
CATALOGUE: Mapping[str, Metric] = MappingProxyType(_COUNTED | {metric.name: metric for metric in _rates(_COUNTED)})
"""Every metric by name, in exposition order."""


def metric(name: str) -> Metric:
    """The catalogue entry of this name. Raises KeyError: an unknown name is a bug."""
    return CATALOGUE[name]

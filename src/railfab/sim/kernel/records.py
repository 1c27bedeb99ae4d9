"""The state of a run as arrays of records, and constants of the kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

QUEUES = 8
"""Queues of a port, and priorities of PFC; queue q of link l has the number l * QUEUES + q."""
MAX_HOPS = 16
MOST_PACKETS = 1 << 23
NEVER = 1 << 62
NONE = -1

# Kinds of packets and events.
FREE = -1
DATA, CNP, NAK, XOFF, XON, START, TIMEOUT, WATCHDOG, RX_READY, LOST, EXPIRED = range(11)
# Kinds of nodes.
NIC, SWITCH = range(2)
# States of links.
DOWN, UP, UP_AGAIN = range(3)
# States of flows.
WAITING, SENDING, DONE, STALLED = range(4)
PARKED, UNPARKED = 1, 2
# Load balancing.
FLOW_HASH, FLOWLET, ADAPTIVE, SPRAY = range(4)
# Bits of the fields that a switch hashes.
HASH_SOURCE, HASH_TARGET, HASH_ENTROPY, HASH_INGRESS = 1, 2, 4, 8
# Congestion control and loss recovery.
FIXED_RATE, DCQCN = range(2)
NO_RECOVERY, GO_BACK_N, SELECTIVE = range(3)
# Why a run returned.
REACHED, GROW_POOL, ALL_DONE, POOL_EMPTY = range(4)

PACKET = np.dtype(
    [
        ("time", "i8"),
        ("flow", "i4"),
        ("seq", "i4"),
        ("next", "i4"),
        ("size", "i4"),
        ("link", "i4"),
        ("kind", "i4"),
        ("group", "i4"),
        ("hop", "i4"),
        ("ce", "i4"),
        ("frames", "i4"),
    ]
)
"""time: arrival at the next node, or at the queue. ce: how many of its frames are marked; -1: damaged on the wire.
frames: how many it stands for (a train: `fast_forward.trains`). link: the one it travels on or came by; of what
concerns a flow, its place among those that arrive at the same time. group: PFC priority counted at the ingress of the
switch that holds it, -1 for lossy traffic; of a pause frame, the priority. seq, size of a NAK: the first packet that is
missing, and how many."""

LINK = np.dtype(
    [
        ("free_at", "i8"),
        ("tx_time", "i8"),
        ("delay", "i8"),
        ("tx_size", "i4"),
        ("waiting", "i4"),
        ("paused", "i4"),
        ("up", "i4"),
        ("far", "i4"),
        ("delay_windows", "i4"),
        ("listed", "i4"),
        ("near", "i4"),
        ("loss", "f8"),
        ("ack_time", "i8"),
        ("ack_window_even", "i8"),
        ("ack_window_odd", "i8"),
        ("acks_even", "i4"),
        ("acks_odd", "i4"),
        ("ps_per_byte", "f8"),
        ("turn", "i4"),
        ("spare", "i4"),
        ("pause_delay", "i8"),
        ("random", "i8"),
        ("lost_packets", "i8"),
        ("lost_bytes", "i8"),
        ("lost_until", "i8"),
        ("pause_lost_until", "i8"),
        ("ack_delay", "i8"),
    ]
)
"""waiting, paused: bits by queue. listed: whether the switch has it in its list of links with packets. ack_*, acks_*:
number of acknowledgements that pass in a window, which take their time (ack_time) from the next; ack_delay: that of one
frame. lost_until, pause_lost_until: what arrives up to this time was on its way when the cable went down."""

QUEUE = np.dtype(
    [
        ("head", "i4"),
        ("tail", "i4"),
        ("bytes", "i8"),
        ("kmin", "f8"),
        ("kmax", "f8"),
        ("tx_bytes", "i8"),
        ("tx_packets", "i8"),
        ("peak", "i8"),
        ("packets", "i4"),
        ("storm", "i4"),
        ("limit", "f8"),
        ("alpha", "f8"),
        ("taken_bytes", "i8"),
        ("waiting_byte_ns", "f8"),
        ("deficit", "i8"),
        ("pmax", "f8"),
        ("marked", "i8"),
        ("marked_bytes", "i8"),
        ("random", "i8"),
        ("quantum", "i8"),
        ("strict", "i4"),
        ("spare", "i4"),
        ("dropped_packets", "i8"),
        ("dropped_bytes", "i8"),
        ("storm_packets", "i8"),
        ("storm_bytes", "i8"),
        ("paused_since", "i8"),
        ("detect", "i8"),
        ("restore", "i8"),
        ("storms", "i8"),
        ("watch_at", "i8"),
        ("down_packets", "i8"),
    ]
)
"""paused_since: when it was stopped or released last. watch_at: when its watchdog looks next."""

INGRESS = np.dtype(
    [
        ("bytes", "i8"),
        ("headroom_used", "i8"),
        ("alpha", "f8"),
        ("xoff", "f8"),
        ("xon_gap", "f8"),
        ("headroom", "f8"),
        ("sends", "i4"),
        ("paused", "i4"),
        ("queue", "i4"),
        ("held", "i4"),
        ("peak", "i8"),
        ("headroom_peak", "i8"),
        ("xoff_sent", "i8"),
        ("xon_sent", "i8"),
        ("xoff_at", "i8"),
        ("refreshed", "i8"),
        ("xoff_received", "i8"),
        ("xon_received", "i8"),
        ("held_at", "i8"),
        ("held_time", "i8"),
        ("dropped_packets", "i8"),
        ("dropped_bytes", "i8"),
        ("refresh", "i8"),
        ("lost_pauses", "i8"),
        ("margin", "f8"),
    ]
)
"""PFC of one priority of one link. At the far end: bytes held for this ingress, thresholds, whether an XOFF is out
(paused), and the least by which it was below its threshold when it held more than ever before (margin). At the near
end: the queue that a received XOFF stops (-1: ignored), whether it is stopped (held)."""

NODE = np.dtype(
    [
        ("kind", "i4"),
        ("active", "i4"),
        ("pending", "i4"),
        ("outs", "i4"),
        ("busy_links", "i4"),
        ("paused_count", "i4"),
        ("link", "i4"),
        ("flow_count", "i4"),
        ("used", "i8"),
        ("shared", "f8"),
        ("ready", "i8"),
        ("flows_at", "i4"),
        ("last_served", "i4"),
        ("rx_ps_per_byte", "f8"),
        ("balancing", "i4"),
        ("row", "i4"),
        ("out_count", "i4"),
        ("hash_fields", "i4"),
        ("spare", "i4"),
        ("hash_seed", "i8"),
        ("flowlet_gap", "i8"),
        ("random", "i8"),
        ("rx_free_at", "i8"),
        ("rx_buffer", "f8"),
        ("rx_dropped_packets", "i8"),
        ("rx_dropped_bytes", "i8"),
        ("unrouted_packets", "i8"),
        ("unrouted_bytes", "i8"),
        ("destination", "i4"),
    ]
)

FLOW = np.dtype(
    [
        ("expected", "i4"),
        ("packets", "i4"),
        ("received", "i8"),
        ("received_bytes", "i8"),
        ("acks", "i8"),
        ("transport", "i4"),
        ("state", "i4"),
        ("back_hops", "i4"),
        ("reacts", "i4"),
        ("traffic_class", "i4"),
        ("dynamic", "i4"),
        ("asked", "i4"),
        ("source", "i4"),
        ("next_at", "i8"),
        ("timer", "i8"),
        ("interval", "i8"),
        ("sent_bytes", "i8"),
        ("sent_packets", "i8"),
        ("sent", "i4"),
        ("frame", "i4"),
        ("queue", "i4"),
        ("counts_bytes", "i4"),
        ("resend_head", "i4"),
        ("highest_sent", "i4"),
        ("rate", "f8"),
        ("last_frame", "i4"),
        ("train", "i4"),
        ("last_train", "i4"),
        ("train_before", "i4"),
        ("train_from", "i4"),
        ("target", "i4"),
        ("destination", "i4"),
        ("back_delay", "i8"),
        ("last_cnp", "i8"),
        ("received_marked", "i8"),
        ("cnps", "i8"),
        ("target_rate", "f8"),
        ("alpha", "f8"),
        ("line_rate", "f8"),
        ("alpha_at", "i8"),
        ("cut_base", "i8"),
        ("cut_at", "i8"),
        ("increase_at", "i8"),
        ("bytes_left", "i8"),
        ("alpha_flag", "i4"),
        ("cut_flag", "i4"),
        ("controlled", "i4"),
        ("stage", "i4"),
        ("byte_stage", "i4"),
        ("listed", "i4"),
        ("asked_up_to", "i4"),
        ("asked_at", "i8"),
        ("back_word", "i8"),
        ("cnp_interval", "i8"),
        ("armed", "i4"),
        ("highest", "i4"),
        ("waits_for", "i4"),
        ("first_dependent", "i4"),
        ("dependents", "i4"),
        ("bitmap", "i4"),
        ("source_word", "i8"),
        ("target_word", "i8"),
        ("entropy_word", "i8"),
        ("gap", "i8"),
        ("start", "i8"),
        ("finish", "i8"),
        ("armed_at", "i8"),
        ("notices", "i8"),
        ("progress_at", "i8"),
        ("retransmitted", "i8"),
        ("timeouts", "i8"),
        ("naks", "i8"),
        ("dropped", "i8"),
        ("out_of_order", "i8"),
        ("duplicates", "i8"),
        ("resend_tail", "i4"),
        ("parked", "i4"),
        ("id", "i8"),
    ]
)
"""frame, train: octets and frames of its packets; last_frame, last_train: of the last one. train_before: frames of the
packets with a number below train_from. parked: whether fast-forward counts what it sends (see `park`)."""

TRANSPORT = np.dtype(
    [
        ("control", "i4"),
        ("recovery", "i4"),
        ("alpha_interval", "i8"),
        ("cut_interval", "i8"),
        ("increase_interval", "i8"),
        ("cnp_interval", "i8"),
        ("nak_interval", "i8"),
        ("byte_counter", "i8"),
        ("gain", "f8"),
        ("additive", "f8"),
        ("hyper", "f8"),
        ("minimum", "f8"),
        ("rounds", "i4"),
        ("clamp", "i4"),
        ("timeout", "i8"),
        ("loss_factor", "f8"),
        ("timeout_factor", "f8"),
        ("start_rate", "f8"),
        ("reorder", "i4"),
        ("spare", "i4"),
    ]
)

TIMER = np.dtype([("time", "i8"), ("order", "i8"), ("kind", "i4"), ("index", "i4")])

SIM = np.dtype(
    [
        ("now", "i8"),
        ("window", "i8"),
        ("begin", "i8"),
        ("end", "i8"),
        ("number", "i8"),
        ("quantum", "i8"),
        ("slots", "i4"),
        ("gap", "i4"),
        ("free", "i4"),
        ("free_count", "i4"),
        ("reserve", "i4"),
        ("active_count", "i4"),
        ("timer_count", "i4"),
        ("open_flows", "i4"),
        ("padding", "i4"),
        ("classes", "i4"),
        ("destinations", "i4"),
        ("pool_empty", "i4"),
        ("timer_order", "i8"),
        ("in_flight", "i8"),
        ("at_slots", "i8"),
        ("at_active", "i8"),
        ("at_outs", "i8"),
        ("at_busy", "i8"),
        ("at_groups", "i8"),
        ("at_group_begin", "i8"),
        ("at_members", "i8"),
        ("at_queue_of", "i8"),
        ("at_group_of", "i8"),
        ("bitmap_words", "i4"),
        ("spare", "i4"),
        ("last_event", "i8"),
        ("pauses_logged", "i8"),
        ("pauses_missed", "i8"),
    ]
)
"""One record. at_*: where the tables of integers begin in `State.table`."""


PAUSE = np.dtype(
    [
        ("time", "i8"),
        ("arrival", "i8"),
        ("link", "i4"),
        ("priority", "i4"),
        ("kind", "i4"),
        ("cause", "i4"),
        ("cause_bytes", "i8"),
        ("cause_since", "i8"),
        ("bytes", "i8"),
        ("headroom", "i8"),
        ("threshold", "f8"),
    ]
)
"""An XOFF or XON that the far end of a link sends: when, when it stops the near end, bytes of the ingress in the shared
buffer and in headroom, and the threshold. cause: the queue of this switch that holds most of the bytes of this ingress
(NONE: no queue does), how many, and since when its first packet waits."""


class State(NamedTuple):
    """All arrays of a run, each one-dimensional.

    table: tables of integers one after the other (`SIM.at_*`). path, back: MAX_HOPS links for each flow, of its packets
    and of their acknowledgements; path_time: when each was chosen last. nic_flows: the flows that each NIC serves in
    turn, from `flows_at` on. dependents: the flows that wait for each. masks: bitmaps of receivers, in words of 32.
    """

    sim: Any
    packets: Any
    links: Any
    queues: Any
    ingress: Any
    nodes: Any
    flows: Any
    transports: Any
    timers: Any
    table: Any
    path: Any
    back: Any
    path_time: Any
    nic_flows: Any
    dependents: Any
    masks: Any
    pauses: Any

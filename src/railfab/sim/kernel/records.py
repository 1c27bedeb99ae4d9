"""The state of a run as arrays of records, and constants of the kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

QUEUE_BITS = 3
QUEUES = 1 << QUEUE_BITS
"""Queues of a port, and priorities of PFC; queue q of link l has the number l * QUEUES + q."""
MAX_HOPS = 16
MOST_FRAMES = 127
"""Most frames of a packet."""
STEP_BITS = 4
"""A step of a way is queue << STEP_BITS | priority + 1: the queue at a switch, and the PFC priority in its buffer."""
MOST_PACKETS = 1 << 23
TIME_SHIFT, LINK_SHIFT, LINK_MASK, PACKET_MASK = 40, 23, (1 << 17) - 1, MOST_PACKETS - 1
"""A key is the arrival of a packet at a node as one number: time since the beginning of its window, link, packet. Equal
times are in order of links, or of flows; it depends on no place in memory."""
LATER = (1 << 23) - 1
"""The time in the keys of packets that arrive after more windows than there are slots. No window is as long."""
CHUNK_BITS = 4
KEYS = (1 << CHUNK_BITS) - 1
"""Keys of a chunk of `State.arrivals`, after a word that says where the last key of the chunk before is."""
NEVER = 1 << 62
STAMPS = (1 << 31) - 1
"""Windows are distinguished by these bits of their numbers."""
NONE = -1

# Kinds of packets and events.
FREE = -1
DATA, CNP, NAK, XOFF, XON, START, TIMEOUT, WATCHDOG, RX_READY, LOST, EXPIRED = range(11)
# Kinds of nodes.
NIC, SWITCH = range(2)
# States of links.
DOWN, UP, UP_AGAIN = range(3)
# States of a queue with a watchdog, beside 0.
DROPPING, IGNORING = 1, 2
# States of flows.
WAITING, SENDING, DONE, STALLED = range(4)
PARKED, UNPARKED = 1, 2
# What is given of the links of a flow, beside 0: those of packets and acknowledgements, or of acknowledgements only.
GIVEN, GIVEN_BACK = 1, 2
# Load balancing.
FLOW_HASH, FLOWLET, ADAPTIVE, SPRAY = range(4)
# Bits of the fields that a switch hashes.
HASH_SOURCE, HASH_TARGET, HASH_ENTROPY, HASH_INGRESS = 1, 2, 4, 8
# Congestion control and loss recovery.
FIXED_RATE, DCQCN = range(2)
NO_RECOVERY, GO_BACK_N, SELECTIVE = range(3)
# Why a run returned.
REACHED, GROW_POOL, ALL_DONE, POOL_EMPTY = range(4)

CACHE_LINE = 64


def _in_lines(*fields: tuple[str, str]) -> np.dtype[np.void]:
    """A record that fills whole cache lines. The rest has names too, because numpy copies no gaps."""
    octets = sum(np.dtype(kind).itemsize for _, kind in fields)
    return np.dtype([*fields, *((f"rest{n}", "i4") for n in range(-octets % CACHE_LINE // 4))])


PACKET = np.dtype(
    [
        ("time", "i8"),
        ("flow", "u4"),
        ("link", "u4"),
        ("next", "i4"),
        ("seq", "i4"),
        ("size", "i4"),
        ("kind", "i1"),
        ("group", "i1"),
        ("hop", "i1"),
        ("ce", "i1"),
    ]
)
"""time: arrival at the next node, or at the queue. ce: how many of its frames are marked (at most MOST_FRAMES); -1:
damaged on the wire. size: where it is longer than a frame, it stands for several (a train: `fast_forward.trains`).
link: the one it travels on or came by; of what concerns a flow, its place among those that arrive at the same time.
group: PFC priority counted at the ingress of the switch that holds it, -1 for lossy traffic; of a pause frame, the
priority. seq, size of a NAK: the first packet that is missing, and how many. Two packets fill a cache line."""

LINK = _in_lines(
    ("free_at", "i8"),
    ("tx_time", "i8"),
    ("delay", "i8"),
    ("tx_size", "i4"),
    ("far", "u4"),
    ("delay_windows", "i4"),
    ("ack_time", "i4"),
    ("ack_window", "i4"),
    ("acks_due", "i4"),
    ("acks_new", "i4"),
    ("near", "u4"),
    ("waiting", "i2"),
    ("paused", "i2"),
    ("up", "i1"),
    ("listed", "i1"),
    ("lossy", "i1"),
    ("last_queue", "i1"),
    # The second line is for what not every packet needs.
    ("loss", "f8"),
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
)
"""waiting, paused: bits by queue. last_queue: of the last packet that had to wait. listed: whether the switch has it
in its list of links with packets. acks_due, acks_new: acknowledgements that have yet to take their time (ack_time) from
the link, and those that passed in the present window, which count from the next on; ack_window: the window of both;
ack_delay: time of one on its way. lost_until, pause_lost_until: what arrives up to this
time was on its way when the cable went down."""

QUEUE = _in_lines(
    ("head", "i4"),
    ("tail", "i4"),
    ("bytes", "i8"),
    ("takes", "i8"),
    ("peak", "i8"),
    ("kmin", "f8"),
    ("tx_bytes", "i8"),
    ("tx_packets", "i8"),
    ("waiting_byte_ps", "f8"),
    # The second line is for queues that wait for others or mark, the rest for what not every packet needs.
    ("deficit", "i8"),
    ("kmax", "f8"),
    ("pmax", "f8"),
    ("random", "i8"),
    ("marked", "i8"),
    ("marked_bytes", "i8"),
    ("limit", "f8"),
    ("drop_from", "f8"),
    ("alpha", "f8"),
    ("quantum", "i8"),
    ("strict", "i2"),
    ("ignores", "i2"),
    ("storm", "i4"),
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
)
"""paused_since: when it was stopped or released last. watch_at: when its watchdog looks next. ignores: whether the
watchdog ignores pauses instead of dropping packets. storm: 0, DROPPING or IGNORING. takes: bytes up to
which the queue takes packets without another look; -1 where its link is down, the watchdog drops, or the limit
depends on the free buffer. drop_from: Kmin of a queue that drops by its ramp instead of marking, whose kmin is
infinite; of others infinite."""

INGRESS = _in_lines(
    ("bytes", "i8"),
    ("headroom_used", "i8"),
    ("alpha", "f8"),
    ("xoff", "f8"),
    ("peak", "i8"),
    ("sends", "i4"),
    ("paused", "i4"),
    ("queue", "i4"),
    ("held", "i4"),
    ("xon_gap", "f8"),
    ("headroom", "f8"),
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
)
"""PFC of one priority of one link. At the far end: bytes held for this ingress, thresholds, whether an XOFF is out
(paused), and the least by which it was below its threshold when it held more than ever before (margin). At the near
end: the queue that a received XOFF stops (-1: ignored), whether it is stopped (held)."""

NODE = _in_lines(
    ("used", "i8"),
    ("shared", "f8"),
    ("ready", "i8"),
    ("kind", "i1"),
    ("active", "i1"),
    ("slow", "i1"),
    ("spare", "i1"),
    ("pending", "i4"),
    ("outs", "u4"),
    ("busy_links", "i4"),
    ("paused_count", "i4"),
    ("link", "i4"),
    ("flow_count", "i4"),
    ("flows_at", "u4"),
    ("last_served", "i4"),
    ("balancing", "i4"),
    ("rx_ps_per_byte", "f8"),
    ("row", "i4"),
    ("out_count", "i4"),
    ("hash_fields", "i4"),
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
)

FLOW = _in_lines(
    # The first line is for receiving, the second for sending, the third for rate control.
    ("expected", "i4"),
    ("packets", "i4"),
    ("received", "i8"),
    ("acks", "i8"),
    ("progress_at", "i8"),
    ("received_marked", "i8"),
    ("state", "i1"),
    ("asked", "i1"),
    ("recovery", "i1"),
    ("reacts", "i1"),
    ("back_hops", "i4"),
    ("frame", "i4"),
    ("train", "i4"),
    ("received_bytes", "i8"),
    ("next_at", "i8"),
    ("timer", "i8"),
    ("interval", "i8"),
    ("sent_packets", "i8"),
    ("sent_bytes", "i8"),
    ("sent", "i4"),
    ("highest_sent", "i4"),
    ("resend_head", "i4"),
    ("train_from", "i4"),
    ("queue", "u1"),
    ("traffic_class", "u1"),
    ("dynamic", "i1"),
    ("listed", "i1"),
    ("controlled", "i1"),
    ("counts_bytes", "i1"),
    ("alpha_flag", "i1"),
    ("cut_flag", "i1"),
    ("rate", "f8"),
    ("target_rate", "f8"),
    ("alpha", "f8"),
    ("alpha_at", "i8"),
    ("cut_base", "i8"),
    ("cut_at", "i8"),
    ("increase_at", "i8"),
    ("stage", "i4"),
    ("byte_stage", "i4"),
    ("source", "u4"),
    ("transport", "u4"),
    ("last_frame", "i4"),
    ("last_train", "i4"),
    ("bytes_left", "i8"),
    ("line_rate", "f8"),
    ("back_delay", "i8"),
    ("cnp_interval", "i8"),
    ("cnps", "i8"),
    ("target", "i4"),
    ("destination", "i4"),
    ("asked_up_to", "i4"),
    ("asked_at", "i8"),
    ("train_before", "i4"),
    ("parked", "i4"),
    ("notices", "i8"),
    ("last_cnp", "i8"),
    ("armed_at", "i8"),
    ("back_word", "i8"),
    ("armed", "i4"),
    ("highest", "i4"),
    ("waits_for", "i4"),
    ("first_dependent", "i4"),
    ("dependents", "i4"),
    ("bitmap", "i4"),
    ("resend_tail", "i4"),
    ("source_word", "i8"),
    ("target_word", "i8"),
    ("entropy_word", "i8"),
    ("gap", "i8"),
    ("start", "i8"),
    ("finish", "i8"),
    ("retransmitted", "i8"),
    ("timeouts", "i8"),
    ("naks", "i8"),
    ("dropped", "i8"),
    ("out_of_order", "i8"),
    ("duplicates", "i8"),
    ("id", "i8"),
    ("given", "i4"),
    ("entropies", "i4"),
    ("entropy_turn", "i4"),
    ("entropy_shift", "i4"),
)
"""frame, train: octets and frames of its packets; last_frame, last_train: of the last one. train_before: frames of the
packets with a number below train_from. parked: whether fast-forward counts what it sends (see `park`). given: which of
its links are in `State.path` and `State.back` before it starts (GIVEN, GIVEN_BACK). entropies: how many values its
packets take in turn (0: none but its own); entropy_turn, entropy_shift: of the next one."""

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
        ("entropies", "i4"),
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
        ("free_chunk", "i4"),
        ("active_count", "i4"),
        ("timer_count", "i4"),
        ("open_flows", "i4"),
        ("stamp", "i4"),
        ("frame", "i4"),
        ("classes", "i4"),
        ("destinations", "i4"),
        ("pool_empty", "i4"),
        ("bitmap_words", "i4"),
        ("spare", "i4"),
        ("timer_order", "i8"),
        ("at_slots", "i8"),
        ("at_active", "i8"),
        ("at_busy", "i8"),
        ("at_groups", "i8"),
        ("at_group_begin", "i8"),
        ("at_members", "i8"),
        ("at_classes", "i8"),
        ("last_event", "i8"),
        ("pauses_logged", "i8"),
        ("pauses_missed", "i8"),
    ]
)
"""One record. stamp: the low bits of the number of the window. at_*: where the tables of integers begin in
`State.table`; at_classes: queue and PFC priority of each class that comes in by each link."""


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

    arrivals: chunks of keys (KEYS) of the packets that arrive at each node in each window; the slots in `table` say
    where the last key of each is. table: tables of integers one after the other (`SIM.at_*`). path, back: MAX_HOPS
    links for each flow, of its packets and of their acknowledgements; steps: what is at each switch between them
    (`STEP_BITS`), NONE where switches choose; path_time: when each was chosen last. nic_flows: the flows that each NIC
    serves in turn, from `flows_at` on. dependents: the flows that wait for each. masks: bitmaps of receivers, in words
    of 32. entropy_values: of each packet of a flow that has several.
    """

    sim: Any
    packets: Any
    arrivals: Any
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
    steps: Any
    path_time: Any
    nic_flows: Any
    dependents: Any
    masks: Any
    entropy_values: Any
    pauses: Any

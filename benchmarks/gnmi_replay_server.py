#!/usr/bin/env python3
"""gnmi_replay_server - a fast gNMI Subscribe load generator for benchmarks.

It plays the part of one or more switches.  Every target listens on its own
TCP port and streams pre-serialised SubscribeResponse messages with OpenConfig
style interface and queue counters.  Messages are built once at start-up, so
the cost per message at run time is close to a memory copy and the *client*
(gnmic, telegraf, pygnmi, our own collector) is what gets measured.

Two engines
  raw   (default) a small HTTP/2 server written here on plain sockets.  It
        sends gRPC messages back to back in 16 KiB DATA frames and obeys
        HTTP/2 flow control.  Needs the pure Python package ``hpack``.
  grpc  the grpcio server with an identity serialiser.  Slower (one Python
        call per message), useful as a cross-check of the raw engine.

Optional package: numpy (fast in-place time stamping; a slower fall-back is
built in).  Nothing else is needed: the gNMI protobuf encoding is done by hand.

Message shape
  --targets N --base-port P   N targets on ports P .. P+N-1
  --interfaces / --queues     list sizes, gives the number of series
  --updates U                 updates per notification (1, 30, 1000 ...); the
                              last one of a pass over all series may be shorter
  --prefix none|target|list   where the common path goes: all in the update
                              path; prefix with target name only; or the
                              list instance (interface) in the prefix too.
                              With 'list' a notification never mixes
                              interfaces, so U is capped by the leaves of
                              one interface
  --encoding uint|int|json|json_ietf|string|double|json_tree
                              json_tree: one update per container, its value
                              is a JSON object with all the leaves
  --leaf NAME (repeat)        counter leaves of one interface

Load
  --rate R         updates per second and target, 0 = as fast as possible
  --count N        updates per subscription, then hold the stream open
  --seconds S      same, by time
  --after hold|close          what to do at the end of --count / --seconds
  --rounds K       different value sets that are cycled (counters grow)
  --no-stamp       keep the start-up time stamps (default: stamp with now)
  --skew S         add S seconds to every time stamp (clock skew)

Fault injection (for reliability tests)
  --drop-every S   cut the TCP connection of a subscription after S seconds
  --no-sync        never send sync_response
  --reset-every S  counters fall back to low values after S, 3S, 5S ... seconds
                   (and jump up again at 2S, 4S ...)
  --remove-after S after S seconds send a delete for the last interface and
                   leave it out from then on (stale-series tests)
  --stall-after S  after S seconds send nothing more but keep the stream open
                   (a silent stream; watchdog tests)

Transport
  --tls-cert F --tls-key F [--tls-client-ca F]   TLS, optionally mutual
  --processes P    spread the targets over P processes
  --listen ADDR    default 127.0.0.1 (keep it there unless you mean it)

Examples
  # 150-byte messages, one target, as fast as the client can take them
  gnmi_replay_server.py --updates 1 --count 2000000
  # 64 switches, 128 ports x 8 leaves each, 1 s sample interval, 2 processes
  gnmi_replay_server.py --targets 64 --interfaces 128 --rate 1024 --processes 2

A control line is printed on stdout per target ("LISTEN name addr port series
bytes_per_msg"), and one JSON line per finished subscription with the number
of messages, updates, bytes and seconds.  SIGTERM / SIGINT stop the server.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import ssl
import struct
import sys
import threading
import time
from pathlib import Path

try:
    import numpy as _np
except ImportError:  # pragma: no cover - optional
    _np = None

DEFAULT_LEAVES = [
    "in-octets",
    "in-unicast-pkts",
    "in-multicast-pkts",
    "in-discards",
    "in-errors",
    "out-octets",
    "out-unicast-pkts",
    "out-discards",
]
QUEUE_LEAVES = ["transmit-octets", "transmit-pkts", "dropped-pkts"]


# --------------------------------------------------------------------------
# gNMI encoding by hand (gnmi.proto field numbers)
# --------------------------------------------------------------------------
def varint(n: int) -> bytes:
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 0x7F:
        out.append((n & 0x7F) | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(num: int, payload: bytes) -> bytes:
    return varint(num << 3 | 2) + varint(len(payload)) + payload


def fvarint(num: int, n: int) -> bytes:
    return varint(num << 3) + varint(n)


def path_elem(name: str, keys: dict | None = None) -> bytes:
    out = field(1, name.encode())
    for k, v in (keys or {}).items():
        out += field(2, field(1, k.encode()) + field(2, v.encode()))
    return field(3, out)  # Path.elem = 3


def path(elems, target: str = "", origin: str = "") -> bytes:
    out = field(2, origin.encode()) if origin else b""
    out += b"".join(path_elem(n, k) for n, k in elems)
    if target:
        out += field(4, target.encode())
    return out


def typed_value(enc: str, n: int) -> bytes:
    if enc == "uint":
        return fvarint(3, n)
    if enc == "int":
        return fvarint(2, n)
    if enc == "double":
        return varint(14 << 3 | 1) + struct.pack("<d", float(n))
    if enc == "string":
        return field(1, str(n).encode())
    if enc == "json":
        return field(10, str(n).encode())
    if enc == "json_ietf":  # RFC 7951: 64-bit as string
        return field(11, b'"%d"' % n)
    raise ValueError(enc)


TS_LEN = 9  # a nanosecond time stamp of our century is a 9-byte varint


class Recording:
    """Pre-serialised rounds of one target: gRPC-framed bytes + offsets."""

    def __init__(self, name: str, opt, base=1 << 30, interfaces=None):
        self.name = name
        self.opt = opt
        self.base = base
        series = []  # (interface, head elems, tail elems, leaf names)
        n_if = opt.interfaces if interfaces is None else interfaces
        tree = opt.encoding == "json_tree"
        for i in range(n_if):
            ifn = f"Ethernet{i // 64 + 1}/{i % 64 + 1}"
            head = [("interfaces", None), ("interface", {"name": ifn})]
            if tree:
                series.append((i, head, [("state", None), ("counters", None)], opt.leaf))
            else:
                for leaf in opt.leaf:
                    series.append((i, head, [("state", None), ("counters", None), (leaf, None)], None))
            qhead = [("qos", None), ("interfaces", None), ("interface", {"interface-id": ifn})]
            for q in range(opt.queues):
                qt = [("output", None), ("queues", None), ("queue", {"name": f"q{q}"}), ("state", None)]
                if tree:
                    series.append((i, qhead, qt, QUEUE_LEAVES))
                else:
                    for leaf in QUEUE_LEAVES:
                        series.append((i, qhead, [*qt, (leaf, None)], None))
        self.last_if = path(series[-1][1], name) if series else b""
        self.n_series = sum(len(x[3]) if x[3] else 1 for x in series)
        self.rounds = []  # [(bytearray, msg_end_offsets, ts_offsets, upd_counts)]
        for r in range(opt.rounds):
            self.rounds.append(self._build(series, r))
        self.sync = self._frame(fvarint(3, 1))
        buf, ends, _, _ = self.rounds[0]
        self.avg = len(buf) / len(ends)

    def delete_frame(self) -> bytes:
        """A notification that deletes the last interface."""
        body = fvarint(1, time.time_ns()) + field(5, self.last_if)
        return self._frame(field(1, body))

    @staticmethod
    def _frame(msg: bytes) -> bytes:
        return b"\0" + struct.pack(">I", len(msg)) + msg

    def _notification(self, prefix: bytes | None, updates: list[bytes]):
        ts = fvarint(1, time.time_ns())
        assert len(ts) == TS_LEN + 1
        body = ts + (field(2, prefix) if prefix else b"")
        body += b"".join(updates)
        head = varint(1 << 3 | 2) + varint(len(body))  # SubscribeResponse.update
        frame = b"\0" + struct.pack(">I", len(head) + len(body)) + head + body
        return frame, 5 + len(head) + 1  # offset of ts varint

    def _build(self, series, r):
        opt = self.opt
        buf = bytearray()
        ends, tss, counts = [], [], []
        pend, pend_prefix, pend_n = [], None, 0

        def flush():
            nonlocal pend, pend_n
            if pend:
                fr, off = self._notification(pend_prefix, pend)
                tss.append(len(buf) + off)
                buf.extend(fr)
                ends.append(len(buf))
                counts.append(pend_n)
                pend, pend_n = [], 0

        for idx, (_, head, tail, leaves) in enumerate(series):
            val = self.base + idx * 7919 + r * (1 + idx % 1000)
            if leaves:
                js = json.dumps({k: str(val + j) for j, k in enumerate(leaves)})
                tv = field(11, js.encode())
            else:
                tv = typed_value(opt.encoding, val)
            if opt.prefix == "list":
                pfx, el = path(head, self.name), tail
            elif opt.prefix == "target":
                pfx, el = path([], self.name), head + tail
            else:
                pfx, el = None, head + tail
            if pend and (pfx != pend_prefix or len(pend) >= opt.updates):
                flush()
            pend_prefix = pfx
            pend.append(field(4, field(1, path(el)) + field(3, tv)))
            pend_n += len(leaves) if leaves else 1
        flush()
        # counters that fit the wanted batch may need several passes of the
        # series to fill one message; repeat until at least 256 KiB per round
        # so that tiny recordings still stream efficiently
        # (not when paced: the first round, sent at once, is each series once)
        reps = 1 if opt.rate else max(1, min(64, (256 << 10) // max(1, len(buf))))
        if reps > 1:
            base, n = bytes(buf), len(buf)
            e0, t0, c0 = list(ends), list(tss), list(counts)
            for k in range(1, reps):
                buf.extend(base)
                ends += [e + k * n for e in e0]
                tss += [t + k * n for t in t0]
                counts += c0
        if _np is not None:
            tss = _np.asarray(tss)[:, None] + _np.arange(TS_LEN)[None, :]
        return buf, ends, tss, counts

    @staticmethod
    def stamp(buf: bytearray, tss, lo=0, hi=None, skew=0.0):
        v = varint(time.time_ns() + int(skew * 1e9))
        if _np is not None:
            a = _np.frombuffer(buf, dtype=_np.uint8)
            a[tss[lo:hi]] = _np.frombuffer(v, dtype=_np.uint8)
        else:
            for o in tss[lo:hi]:
                buf[o : o + TS_LEN] = v


def capabilities() -> bytes:
    model = field(1, b"openconfig-interfaces") + field(2, b"OpenConfig") + field(3, b"3.0.0")
    return field(1, model) + field(2, bytes([0, 2, 4])) + field(3, b"0.10.0")


def subscribe_mode(msg: bytes) -> int:
    """0 STREAM, 1 ONCE, 2 POLL, -1 not a SubscriptionList (e.g. a Poll)."""

    def walk(b):
        i = 0
        while i < len(b):
            key = shift = 0
            while True:
                c = b[i]
                i += 1
                key |= (c & 0x7F) << shift
                shift += 7
                if c < 0x80:
                    break
            wt = key & 7
            if wt in (0, 2):
                n = shift = 0
                while True:
                    c = b[i]
                    i += 1
                    n |= (c & 0x7F) << shift
                    shift += 7
                    if c < 0x80:
                        break
                if wt == 0:
                    yield key >> 3, n
                else:
                    yield key >> 3, b[i : i + n]
                    i += n
            elif wt == 1:
                i += 8
            elif wt == 5:
                i += 4
            else:
                return

    for num, val in walk(msg):
        if num == 1 and isinstance(val, (bytes, bytearray)):
            for n2, v2 in walk(val):
                if n2 == 5:
                    return int(v2)
            return 0
    return -1


class Pump:
    """Yields (memoryview/bytes, messages, updates) for one subscription."""

    def __init__(self, rec: Recording, opt, once=False):
        self.rec, self.opt, self.once = rec, opt, once
        self.msgs = self.updates = self.bytes = 0
        self.t0 = time.monotonic()
        self.rounds = self._own(rec)
        self.low = self._own(Recording(rec.name, opt, base=1000)) if opt.reset_every else None
        self.rest = (
            self._own(Recording(rec.name, opt, interfaces=max(1, opt.interfaces - 1))) if opt.remove_after else None
        )

    def _own(self, rec):
        """Private copies: the time stamps are patched in place."""
        if self.opt.no_stamp:
            return rec.rounds
        return [(bytearray(b), e, t, c) for b, e, t, c in rec.rounds]

    def chunks(self, stop):
        opt, r = self.opt, 0
        budget = opt.count or float("inf")
        deadline = self.t0 + opt.seconds if opt.seconds else float("inf")
        first, removed = True, False
        paced_from, sent_before = self.t0, 0  # pace what follows the first round
        while not stop():
            age = time.monotonic() - self.t0
            if opt.stall_after and age > opt.stall_after:
                time.sleep(0.1)
                continue
            rounds = self.rounds
            if self.low and int(age / opt.reset_every) % 2:
                rounds = self.low
            if self.rest and age > opt.remove_after:
                rounds = self.rest
                if not removed:
                    removed = True
                    self.msgs += 1
                    yield self.rec.delete_frame()
            buf, ends, tss, counts = rounds[r % len(rounds)]
            r += 1
            mv = memoryview(buf)
            lo, start, n = 0, 0, len(ends)
            # split a round in slices of ~256 KiB, or by pace when rate-limited
            while lo < n and not stop():
                if opt.rate and not first:
                    due = sent_before + (time.monotonic() - paced_from) * opt.rate
                    while self.updates >= due:
                        time.sleep(min(0.05, (self.updates - due + 1) / opt.rate))
                        if stop():
                            return
                        due = sent_before + (time.monotonic() - paced_from) * opt.rate
                    want = min(budget - self.updates, due - self.updates + 1)
                else:
                    want = budget - self.updates
                hi, got = lo, 0
                limit = start + (256 << 10)
                while hi < n and got < want and ends[hi] <= limit:
                    got += counts[hi]
                    hi += 1
                if hi == lo:  # one very large message
                    got, hi = counts[lo], lo + 1
                if not opt.no_stamp:
                    Recording.stamp(buf, tss, lo, hi, opt.skew)
                end = ends[hi - 1]
                self.msgs += hi - lo
                self.updates += got
                self.bytes += end - start
                yield mv[start:end]
                start, lo = end, hi
                if self.updates >= budget or time.monotonic() > deadline:
                    return
                if opt.stall_after and time.monotonic() - self.t0 > opt.stall_after:
                    break
            if first:
                first = False
                paced_from, sent_before = time.monotonic(), self.updates
                if not opt.no_sync:
                    yield self.rec.sync
                if self.once:
                    return

    def summary(self, why):
        dt = time.monotonic() - self.t0
        return {
            "target": self.rec.name,
            "messages": self.msgs,
            "updates": self.updates,
            "bytes": self.bytes,
            "seconds": round(dt, 3),
            "end": why,
        }


# --------------------------------------------------------------------------
# raw engine: minimal HTTP/2 server
# --------------------------------------------------------------------------
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, WINUPD, CONT = 0, 1, 3, 4, 6, 7, 8, 9
RESP_HEADERS = b"\x88\x0f\x10\x10application/grpc"
TRAILERS_OK = b"\x00\x0bgrpc-status\x010"
TRAILERS_UNIMPL = b"\x00\x0bgrpc-status\x0212"


def frame_head(length, typ, flags, sid):
    return struct.pack(">I", length)[1:] + bytes((typ, flags)) + struct.pack(">I", sid)


class H2Conn(threading.Thread):
    def __init__(self, sock, rec, opt):
        super().__init__(daemon=True)
        from hpack import Decoder

        self.s, self.rec, self.opt = sock, rec, opt
        self.hp = Decoder()
        self.cv = threading.Condition()
        self.wlock = threading.Lock()
        self.conn_win = 65535
        self.init_win = 65535
        self.max_frame = 16384
        self.wins: dict[int, int] = {}
        self.paths: dict[int, str] = {}
        self.bodies: dict[int, bytearray] = {}
        self.dead = False
        self.tls = isinstance(sock, ssl.SSLSocket)

    # -- low level -------------------------------------------------------
    def send(self, *parts):
        with self.wlock:
            if self.tls or len(parts) == 1:
                self.s.sendall(b"".join(parts))
                return
            parts = list(parts)
            while parts:
                n = self.s.sendmsg(parts[:512])
                while parts and n >= len(parts[0]):
                    n -= len(parts[0])
                    parts.pop(0)
                if n:
                    parts[0] = memoryview(parts[0])[n:]

    def send_data(self, sid, chunk, stop):
        """Send chunk as DATA frames inside both flow-control windows."""
        pos, total = 0, len(chunk)
        mv = memoryview(chunk)
        while pos < total:
            with self.cv:
                while not stop() and min(self.conn_win, self.wins.get(sid, 0)) <= 0:
                    self.cv.wait(0.5)
                if stop():
                    return False
                n = min(total - pos, self.conn_win, self.wins[sid])
                self.conn_win -= n
                self.wins[sid] -= n
            parts = []
            while n:
                m = min(n, self.max_frame)
                parts.append(frame_head(m, DATA, 0, sid))
                parts.append(mv[pos : pos + m])
                pos += m
                n -= m
            self.send(*parts)
        return True

    # -- main loop -------------------------------------------------------
    def run(self):
        try:
            self._run()
        except (OSError, ssl.SSLError, EOFError, ConnectionError):
            pass
        finally:
            self.dead = True
            with self.cv:
                self.cv.notify_all()
            with contextlib.suppress(OSError):
                self.s.close()

    def _read(self, n):
        while len(self.rb) < n:
            d = self.s.recv(65536)
            if not d:
                raise EOFError
            self.rb += d
        out = bytes(self.rb[:n])
        del self.rb[:n]
        return out

    def _run(self):
        self.rb = bytearray()
        if not self.tls:
            self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._read(len(PREFACE)) != PREFACE:
            return
        # SETTINGS: max concurrent streams 100, big receive window not needed
        self.send(frame_head(6, SETTINGS, 0, 0) + struct.pack(">HI", 3, 100))
        hdr = bytearray()
        while True:
            h = self._read(9)
            length = h[0] << 16 | h[1] << 8 | h[2]
            typ, flags = h[3], h[4]
            sid = struct.unpack(">I", h[5:])[0] & 0x7FFFFFFF
            p = self._read(length) if length else b""
            if typ == SETTINGS and not flags & 1:
                for i in range(0, length, 6):
                    k, v = struct.unpack(">HI", p[i : i + 6])
                    with self.cv:
                        if k == 4:
                            d = v - self.init_win
                            self.init_win = v
                            for s in self.wins:
                                self.wins[s] += d
                        elif k == 5:
                            self.max_frame = min(v, 16384)
                        self.cv.notify_all()
                self.send(frame_head(0, SETTINGS, 1, 0))
            elif typ == PING and not flags & 1:
                self.send(frame_head(8, PING, 1, 0) + p)
            elif typ == WINUPD:
                n = struct.unpack(">I", p)[0] & 0x7FFFFFFF
                with self.cv:
                    if sid:
                        if sid in self.wins:
                            self.wins[sid] += n
                    else:
                        self.conn_win += n
                    self.cv.notify_all()
            elif typ in (HEADERS, CONT):
                if typ == HEADERS:
                    pad = 0
                    if flags & 8:
                        pad, p = p[0], p[1:]
                    if flags & 0x20:
                        p = p[5:]
                    if pad:
                        p = p[:-pad]
                    hdr = bytearray()
                hdr += p
                if flags & 4:
                    hs = dict(self.hp.decode(bytes(hdr)))
                    with self.cv:
                        self.wins[sid] = self.init_win
                    self.paths[sid] = hs.get(":path", "")
                    self.bodies[sid] = bytearray()
            elif typ == DATA:
                if length:  # give the credit back at once
                    self.send(
                        frame_head(4, WINUPD, 0, 0) + struct.pack(">I", length),
                        frame_head(4, WINUPD, 0, sid) + struct.pack(">I", length),
                    )
                if flags & 8:
                    p = p[1 : len(p) - p[0]]
                b = self.bodies.get(sid)
                if b is None:
                    continue
                b += p
                while len(b) >= 5:
                    n = struct.unpack(">I", b[1:5])[0]
                    if len(b) < 5 + n:
                        break
                    msg = bytes(b[5 : 5 + n])
                    del b[: 5 + n]
                    self.on_message(sid, msg)
            elif typ == RST:
                with self.cv:
                    self.wins.pop(sid, None)
                    self.cv.notify_all()
            elif typ == GOAWAY:
                return

    def on_message(self, sid, msg):
        rpc = self.paths.get(sid, "").rsplit("/", 1)[-1]
        if rpc == "Capabilities":
            body = Recording._frame(capabilities())
            self.send(frame_head(len(RESP_HEADERS), HEADERS, 4, sid) + RESP_HEADERS)
            self.send_data(sid, body, lambda: self.dead)
            self.send(frame_head(len(TRAILERS_OK), HEADERS, 5, sid) + TRAILERS_OK)
        elif rpc == "Subscribe":
            mode = subscribe_mode(msg)
            if mode >= 0:
                self.send(frame_head(len(RESP_HEADERS), HEADERS, 4, sid) + RESP_HEADERS)
                threading.Thread(target=self.stream, args=(sid, mode), daemon=True).start()
        else:
            t = RESP_HEADERS + TRAILERS_UNIMPL
            self.send(frame_head(len(t), HEADERS, 5, sid) + t)

    def stream(self, sid, mode):
        pump = Pump(self.rec, self.opt, once=mode == 1)
        why = "done"

        def stop():
            return (
                self.dead
                or sid not in self.wins
                or (self.opt.drop_every and time.monotonic() - pump.t0 > self.opt.drop_every)
            )

        try:
            for chunk in pump.chunks(stop):
                if not self.send_data(sid, chunk, stop):
                    why = "client gone"
                    break
            else:
                if self.opt.drop_every and not self.dead and sid in self.wins:
                    while not stop():
                        time.sleep(0.05)
                    why = "dropped"
                    self.s.shutdown(socket.SHUT_RDWR)
                elif mode == 1 or self.opt.after == "close":
                    self.send(frame_head(len(TRAILERS_OK), HEADERS, 5, sid) + TRAILERS_OK)
        except (OSError, ssl.SSLError, KeyError):
            why = "client gone"
        say(pump.summary(why))


def serve_raw(opt, names_ports):
    ctx = tls_context(opt)
    if ctx:
        ctx.set_alpn_protocols(["h2"])

    def accept_loop(ls, rec):
        while True:
            try:
                c, _ = ls.accept()
                if ctx:
                    c = ctx.wrap_socket(c, server_side=True)
                H2Conn(c, rec, opt).start()
            except ssl.SSLError as e:
                say({"tls_error": str(e)})
            except OSError:
                return

    for name, port in names_ports:
        rec = Recording(name, opt)
        ls = socket.create_server((opt.listen, port), backlog=128)
        announce(rec, opt, port)
        threading.Thread(target=accept_loop, args=(ls, rec), daemon=True).start()
    wait_forever()


# --------------------------------------------------------------------------
# grpc engine
# --------------------------------------------------------------------------
def serve_grpc(opt, names_ports):
    from concurrent import futures

    import grpc

    ident = lambda b: b  # noqa: E731
    servers = []
    for name, port in names_ports:
        rec = Recording(name, opt)

        def subscribe(it, context, rec=rec):
            mode = subscribe_mode(next(it))
            pump = Pump(rec, opt, once=mode == 1)
            try:
                for chunk in pump.chunks(lambda: not context.is_active()):
                    b, pos = bytes(chunk), 0
                    while pos < len(b):
                        n = struct.unpack_from(">I", b, pos + 1)[0]
                        yield b[pos + 5 : pos + 5 + n]
                        pos += 5 + n
            finally:
                say(pump.summary("done"))
            while opt.after == "hold" and mode != 1 and context.is_active():
                time.sleep(0.1)

        h = grpc.method_handlers_generic_handler(
            "gnmi.gNMI",
            {
                "Subscribe": grpc.stream_stream_rpc_method_handler(subscribe, ident, ident),
                "Capabilities": grpc.unary_unary_rpc_method_handler(lambda *_: capabilities(), ident, ident),
            },
        )
        srv = grpc.server(futures.ThreadPoolExecutor(32), handlers=(h,), options=[("grpc.so_reuseport", 0)])
        if opt.tls_cert:
            pair = [(Path(opt.tls_key).read_bytes(), Path(opt.tls_cert).read_bytes())]
            ca = Path(opt.tls_client_ca).read_bytes() if opt.tls_client_ca else None
            creds = grpc.ssl_server_credentials(pair, ca, bool(ca))
            srv.add_secure_port(f"{opt.listen}:{port}", creds)
        else:
            srv.add_insecure_port(f"{opt.listen}:{port}")
        srv.start()
        servers.append(srv)
        announce(rec, opt, port)
    wait_forever()


# --------------------------------------------------------------------------
def say(what):
    """Print one JSON line in one write: print() makes two, between which another thread may write."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def announce(rec, opt, port):
    print("LISTEN", rec.name, opt.listen, port, rec.n_series, round(rec.avg, 1), flush=True)


def tls_context(opt):
    if not opt.tls_cert:
        return None
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ctx.load_cert_chain(opt.tls_cert, opt.tls_key)
    if opt.tls_client_ca:
        ctx.load_verify_locations(opt.tls_client_ca)
        ctx.verify_mode = ssl.CERT_REQUIRED
    return ctx


def wait_forever():
    ev = threading.Event()
    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, lambda *_: ev.set())
    while not ev.wait(1):
        pass
    os._exit(0)


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0], epilog="see the module docstring for details")
    p.add_argument("--engine", choices=["raw", "grpc"], default="raw")
    p.add_argument("--listen", default="127.0.0.1")
    p.add_argument("--base-port", type=int, default=57400)
    p.add_argument("--targets", type=int, default=1)
    p.add_argument("--processes", type=int, default=1)
    p.add_argument("--name", default="leaf-%03d", help="target name pattern")
    p.add_argument("--interfaces", type=int, default=128)
    p.add_argument("--queues", type=int, default=0)
    p.add_argument("--leaf", action="append", help="counter leaf (repeat)")
    p.add_argument("--updates", type=int, default=1, help="updates per notification")
    p.add_argument("--prefix", choices=["none", "target", "list"], default="target")
    p.add_argument(
        "--encoding", default="uint", choices=["uint", "int", "json", "json_ietf", "string", "double", "json_tree"]
    )
    p.add_argument("--rounds", type=int, default=4)
    p.add_argument("--rate", type=float, default=0, help="updates/s per target, 0 = max")
    p.add_argument("--count", type=int, default=0, help="updates per subscription")
    p.add_argument("--seconds", type=float, default=0)
    p.add_argument("--after", choices=["hold", "close"], default="hold")
    p.add_argument("--no-stamp", action="store_true")
    p.add_argument("--no-sync", action="store_true")
    p.add_argument("--skew", type=float, default=0, help="seconds added to time stamps")
    p.add_argument("--drop-every", type=float, default=0)
    p.add_argument("--reset-every", type=float, default=0)
    p.add_argument("--remove-after", type=float, default=0)
    p.add_argument("--stall-after", type=float, default=0)
    p.add_argument("--tls-cert")
    p.add_argument("--tls-key")
    p.add_argument("--tls-client-ca")
    opt = p.parse_args(argv)
    opt.leaf = opt.leaf or DEFAULT_LEAVES
    nps = [((opt.name % i) if "%" in opt.name else opt.name, opt.base_port + i) for i in range(opt.targets)]
    serve = serve_raw if opt.engine == "raw" else serve_grpc
    if opt.processes <= 1:
        return serve(opt, nps)
    kids = []
    for k in range(opt.processes):
        pid = os.fork()
        if pid == 0:
            serve(opt, nps[k :: opt.processes])
            os._exit(0)
        kids.append(pid)

    def down(*_):
        for k in kids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(k, signal.SIGTERM)

    signal.signal(signal.SIGTERM, down)
    signal.signal(signal.SIGINT, down)
    for k in kids:
        with contextlib.suppress(ChildProcessError, InterruptedError):
            os.waitpid(k, 0)
    return None


if __name__ == "__main__":
    sys.exit(main())

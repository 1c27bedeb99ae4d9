"""gNMI targets with faults, and a journal of what each of them has sent: the truth that a collector is compared with.

    gnmi_faulty_targets.py JOURNAL PERIOD_S TARGET[:FAULT=...]...

Each target listens on a port of 127.0.0.1 ("LISTEN name port" on stdout). A subscription to samples gets the counters
of all interfaces once a period; one to changes gets the oper-status of all, and then of one interface every fifth
period. Counters grow by a step of their own each period, sent or not. Times of faults count from the start [s]:

    drop=A        the connection is cut when a subscription is A old
    stall=P/D     in the last D of every P nothing is sent, and the stream stays open
    delete=P/D    in the last D of every P the last interface is gone, and a delete says so
    omit=P/D      the same without a delete
    swap=1        every second connection lacks the last interface
    reset=P       counters start again every P
    skew=S        time stamps are S ahead
    back=P/D      in the last D of every P the clock of the target is an hour behind
    stamp=UNIT    time stamps are in seconds, or zero
    nosync=1      no sync_response
    tls=FILE      TLS with the certificate and the key in this file (PEM)
    pad=N         each message of samples has N bytes more, in a leaf that no platform has
    encoding=E    json_ietf instead of uint

Commands on stdin, each answered by a line "OK": `dark` (all targets fall silent at once, and accept connections that
they never answer), `closed` (they close all connections, and new ones at once), `on`.

The journal has one JSON object a line; times are Unix time [ns]: `at` before and `done` after what it says.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import gnmi_replay_server as replay

INTERFACES = 3
LEAVES = ("in-octets", "in-unicast-pkts", "in-discards", "in-errors")
PADDING = replay.path([("padding", None)])
CHANGES_EVERY = 5
"""Periods between two changes of the oper-status of an interface."""
HOUR_S = 3600.0
ONCE = 1
REFUSED = replay.RESP_HEADERS + b"\x00\x0bgrpc-status\x013"
"""The answer to a subscription of mode ONCE, whose path the targets lack: INVALID_ARGUMENT."""
SLICE_S = 0.05
ESTABLISHED = 1
"""State of a TCP connection whose peer has not closed it (Linux, include/net/tcp_states.h)."""


class Journal:
    """What was sent, in the order of its end."""

    def __init__(self, file: TextIO) -> None:
        self._file, self._lock = file, threading.Lock()

    def write(self, target: str, at: int, **said: Any) -> None:
        with self._lock:
            self._file.write(json.dumps({"target": target, "at": at, "done": time.time_ns(), **said}) + "\n")
            self._file.flush()


@dataclass
class Power:
    """What all targets have in common. state: on, dark or closed. making: connections that were not answered yet."""

    state: str = "on"
    lock: threading.Lock = field(default_factory=threading.Lock)
    making: list[tuple[socket.socket, Connection | None]] = field(default_factory=list)

    def dialled(self, accepted: socket.socket, connection: Connection | None) -> int:
        """Add a connection; return how many are being made, which are those whose peer still waits."""
        with self.lock:
            self.making = [found for found in self.making if _waits(*found)]
            self.making.append((accepted, connection))
            return len(self.making)

    def switch(self, state: str) -> None:
        with self.lock:
            self.state = state
            held = [accepted for accepted, connection in self.making if connection is None]
            if state == "on":
                self.making = []
        for accepted in held if state == "on" else ():
            accepted.close()


def _waits(accepted: socket.socket, connection: Connection | None) -> bool:
    """Whether a client waits for the first frame of a server."""
    if connection is not None and (connection.answered or connection.dead):
        return False
    try:
        return accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == ESTABLISHED
    except OSError:
        return False


class Target:
    """A target: its values at any time, and what it sends."""

    def __init__(self, text: str, period_s: float, journal: Journal, power: Power) -> None:
        self.name, _, faults = text.partition(":")
        self.faults = dict(fault.split("=") for fault in faults.split(",") if fault)
        self.period_s, self.journal, self.power = period_s, journal, power
        self.began_s, self.connections = time.monotonic(), 0
        self.encoding = self.faults.get("encoding", "uint")

    def age_s(self) -> float:
        return time.monotonic() - self.began_s

    def in_fault(self, fault: str, age_s: float) -> bool:
        if fault not in self.faults:
            return False
        every_s, lasts_s = map(float, self.faults[fault].split("/"))
        return age_s % every_s >= every_s - lasts_s

    def interfaces(self, age_s: float, connection: int) -> int:
        lacks_one = self.in_fault("delete", age_s) or self.in_fault("omit", age_s)
        return INTERFACES - (lacks_one or ("swap" in self.faults and connection % 2 == 0))

    def samples(self, age_s: float, connection: int) -> dict[str, int]:
        """Counters by interface and leaf. connection: its number, from 1."""
        number, base = int(age_s / self.period_s), 1 << 30
        if "reset" in self.faults and age_s >= (every_s := float(self.faults["reset"])):
            number, base = int(age_s % every_s / self.period_s), 1000
        keys = [(interface, leaf) for interface in range(INTERFACES) for leaf in LEAVES]
        sent = keys[: self.interfaces(age_s, connection) * len(LEAVES)]
        return {
            f"eth{interface} {leaf}": base + place * 7919 + number * (1 + place * 10)
            for place, (interface, leaf) in enumerate(sent)
        }

    def states(self, age_s: float, connection: int) -> dict[str, int]:
        """The oper-status of each interface."""
        number = int(age_s / self.period_s / CHANGES_EVERY)
        return {
            f"eth{interface} oper-status": (number // INTERFACES + (number % INTERFACES >= interface)) % 2
            for interface in range(self.interfaces(age_s, connection))
        }

    def notification(self, sent: dict[str, int], deleted: bool, age_s: float) -> bytes:
        """A gRPC message."""
        body = replay.fvarint(1, self._stamp(age_s)) + replay.field(2, replay.path([], self.name))
        if deleted:
            last = [("interfaces", None), ("interface", {"name": f"eth{INTERFACES - 1}"})]
            body += replay.field(5, replay.path(last))
        if padding := int(self.faults.get("pad", 0)) if "eth0 in-octets" in sent else 0:
            body += replay.field(4, replay.field(1, PADDING) + replay.field(3, replay.field(1, b"x" * padding)))
        for key, value in sent.items():
            interface, leaf = key.split()
            state = [("state", None), *([] if leaf == "oper-status" else [("counters", None)]), (leaf, None)]
            path = replay.path([("interfaces", None), ("interface", {"name": interface}), *state])
            body += replay.field(4, replay.field(1, path) + replay.field(3, self._value(leaf, value)))
        return replay.Recording._frame(replay.field(1, body))

    def _value(self, leaf: str, value: int) -> bytes:
        if leaf != "oper-status":
            return replay.typed_value(self.encoding, value)
        text = b"UP" if value else b"DOWN"
        return replay.field(11, b'"%s"' % text) if self.encoding == "json_ietf" else replay.field(1, text)

    def _stamp(self, age_s: float) -> int:
        unit = self.faults.get("stamp", "")
        if unit == "zero":
            return 0
        ahead_s = float(self.faults.get("skew", 0)) - HOUR_S * self.in_fault("back", age_s)
        stamp = time.time_ns() + int(ahead_s * 1e9)
        return stamp // 10**9 if unit == "seconds" else stamp

    def play(self, connection: Connection, sid: int, changes: bool) -> None:
        """Send to one subscription until it or the target ends it."""
        began_s, synced = self.age_s(), "nosync" in self.faults
        sent: dict[str, int] = {}
        kind = {"stream": f"{connection.number}/{sid}", "changes": changes}

        def ended() -> bool:
            return connection.dead or sid not in connection.wins

        for age_s in self._moments(ended):
            if "drop" in self.faults and self.age_s() - began_s > float(self.faults["drop"]):
                break
            if self.power.state != "on" or self.in_fault("stall", age_s):
                continue
            now = (self.states if changes else self.samples)(age_s, connection.number)
            deleted = "delete" in self.faults and len(now) < len(sent)
            new = {key: value for key, value in now.items() if not changes or sent.get(key) != value}
            at = time.time_ns()
            if (new or deleted) and not connection.send_data(sid, self.notification(new, deleted, age_s), ended):
                break
            self.journal.write(self.name, at, sent=new, deleted=sorted(sent.keys() - now) if deleted else [], **kind)
            sent = now
            if not synced:
                synced = connection.send_data(sid, replay.Recording._frame(replay.fvarint(3, 1)), ended)
                self.journal.write(self.name, at, synced=True, **kind)
        self.journal.write(self.name, time.time_ns(), ended="gone" if ended() else "dropped", **kind)
        connection.cut()

    def _moments(self, ended: Any) -> Iterator[float]:
        """The ages at which something is sent: now, and then the middle of each period."""
        yield self.age_s()
        number = int(self.age_s() / self.period_s) + 1
        while True:
            due_s = (number + 0.5) * self.period_s
            while (left_s := due_s - self.age_s()) > 0:
                if ended():
                    return
                time.sleep(min(left_s, SLICE_S if "drop" in self.faults else self.period_s))
            if ended():
                return
            yield due_s
            number = max(number + 1, int(self.age_s() / self.period_s))


class TlsSocket:
    """A connected socket with TLS that one thread reads while others write: OpenSSL allows one call at a time."""

    def __init__(self, accepted: socket.socket, context: ssl.SSLContext) -> None:
        self._socket, self._lock = accepted, threading.Lock()
        self._from_peer, self._to_peer = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._from_peer, self._to_peer, server_side=True)

    def recv(self, size: int) -> bytes:
        """Read, and before that make the handshake; nothing at the end."""
        while True:
            with self._lock, contextlib.suppress(ssl.SSLWantReadError):
                try:
                    return self._tls.read(size)
                finally:
                    self._flush()
            arrived = self._socket.recv(size)
            if not arrived:
                return b""
            self._from_peer.write(arrived)

    def sendall(self, content: bytes) -> None:
        with self._lock:
            self._tls.write(content)
            self._flush()

    def _flush(self) -> None:
        if self._to_peer.pending:
            self._socket.sendall(self._to_peer.read())

    def shutdown(self, how: int) -> None:
        self._socket.shutdown(how)

    def close(self) -> None:
        self._socket.close()


class Connection(replay.H2Conn):
    """A connection of a client. number: of those of its target that subscribed. answered: whether it has got a frame.

    tls: None for none.
    """

    def __init__(self, accepted: socket.socket, target: Target, tls: ssl.SSLContext | None) -> None:
        super().__init__(accepted, None, None)
        self.target, self.number, self.answered = target, 0, False
        if tls:
            self.s, self.tls = TlsSocket(accepted, tls), True

    def send(self, *parts: Any) -> None:
        if self.target.power.state != "dark":
            super().send(*parts)
            self.answered = True

    def cut(self) -> None:
        self.dead = True
        with contextlib.suppress(OSError):
            self.s.shutdown(socket.SHUT_RDWR)

    def on_message(self, sid: int, message: bytes) -> None:
        if not self.paths.get(sid, "").endswith("/Subscribe"):
            return super().on_message(sid, message)
        if replay.subscribe_mode(message) == ONCE:
            self.send(replay.frame_head(len(REFUSED), replay.HEADERS, 5, sid) + REFUSED)
            return None
        head = replay.frame_head(len(replay.RESP_HEADERS), replay.HEADERS, 4, sid)
        self.send(head + replay.RESP_HEADERS)
        if not self.number:
            self.target.connections += 1
            self.number = self.target.connections
        arguments = (sid, b"oper-status" in message)
        threading.Thread(target=self._play, args=arguments, daemon=True).start()
        return None

    def _play(self, sid: int, changes: bool) -> None:
        try:
            self.target.play(self, sid, changes)
        except (OSError, KeyError):
            said = {"stream": f"{self.number}/{sid}", "changes": changes}
            self.target.journal.write(self.target.name, time.time_ns(), ended="gone", **said)


class Listener:
    """The port of a target."""

    def __init__(self, target: Target, power: Power) -> None:
        self._target, self._power = target, power
        self._tls = tls_context(target.faults["tls"]) if "tls" in target.faults else None
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listening.getsockname()[1]
        self.connections: list[Connection] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            accepted, _ = self._listening.accept()
            at, state = time.time_ns(), self._power.state
            connection = Connection(accepted, self._target, self._tls) if state == "on" else None
            making = self._power.dialled(accepted, connection)
            self._target.journal.write(self._target.name, at, dial=state, making=making)
            self.connections = [found for found in self.connections if not found.dead]
            if connection:
                self.connections.append(connection)
                connection.start()
            elif state == "closed":
                accepted.close()

    def cut(self) -> None:
        for connection in self.connections:
            connection.cut()


def tls_context(file: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    context.set_alpn_protocols(["h2"])
    return context


def main() -> None:
    threading.stack_size(1 << 18)
    journal, period_s, *targets = sys.argv[1:]
    power = Power()
    with Path(journal).open("w") as file:
        written = Journal(file)
        listeners = [Listener(Target(text, float(period_s), written, power), power) for text in targets]
        for text, listener in zip(targets, listeners, strict=True):
            print("LISTEN", text.partition(":")[0], listener.port, flush=True)
        for command in sys.stdin:
            power.switch(command.strip())
            if power.state != "dark":
                for listener in listeners:
                    listener.cut()
            written.write("", time.time_ns(), power=power.state)
            print("OK", flush=True)


if __name__ == "__main__":
    main()

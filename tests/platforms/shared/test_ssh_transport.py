"""The connection and the packets below a login: what comes together is kept, and a handshake ends in time."""

from __future__ import annotations

import threading
from socket import socketpair

import pytest

from railfab.platforms.shared.login import ReadAhead
from railfab.platforms.shared.ssh_transport import Packets


def test_what_came_together_is_given_in_the_sizes_asked_for() -> None:
    near, far = socketpair()
    near.settimeout(5)
    with far, ReadAhead(near) as connection:
        assert connection.gettimeout() == 5
        far.sendall(b"header and body")
        assert connection.recv(6) == b"header"
        far.close()
        assert [connection.recv(100), connection.recv(100)] == [b" and body", b""]


def test_a_handshake_that_takes_too_long_ends_without_a_thread() -> None:
    near, far = socketpair()
    near.settimeout(0.01)
    threads = threading.active_count()
    with near, far:
        packets = Packets(near)
        packets.start_handshake(0.05)
        assert threading.active_count() == threads
        with pytest.raises(EOFError):
            packets.read_message()
        packets.complete_handshake()
        assert not packets.handshake_timed_out()

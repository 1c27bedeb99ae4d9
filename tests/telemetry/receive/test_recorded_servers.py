"""Streams that grpc-go's and grpcio's servers sent (recorded/), however they are cut into reads."""

from __future__ import annotations

import gzip
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.telemetry.receive.peers import Recorded, contents, response

from railfab.telemetry.receive.http2 import Connection
from railfab.telemetry.receive.inflow import Shared

RECORDED = Path(__file__).parent / "recorded"
SENT = [response(number, 0 if number % 50 else 40_000) for number in range(1, 202)]
SHARED = Shared.new()


@pytest.mark.parametrize("server", ["grpc-go", "grpc-go-goaway", "grpcio"])
@settings(max_examples=examples(10))
@given(sizes=st.lists(st.integers(100, 1 << 18), min_size=1, max_size=8))
def test_the_messages_of_a_recorded_server_are_the_same_however_they_are_read(server: str, sizes: list[int]) -> None:
    wire = Recorded(gzip.decompress((RECORDED / f"{server}.h2.gz").read_bytes()), sizes)
    connection, found = Connection(wire, SHARED, 1, 1 << 20), []
    with suppress(EOFError):
        while True:
            connection.read()
            found.extend(content for batch in connection.batches() for _, content in contents(batch))
            connection.grant()
    assert found == SENT
    if server.endswith("goaway"):
        assert connection.goaway == (0, "NO_ERROR: max_age")
    else:
        assert [status for *_, status in connection.ended()] == [("UNIMPLEMENTED", "no ON_CHANGE for /a\n100%")]

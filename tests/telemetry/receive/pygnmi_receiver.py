"""A receiver of pygnmi, a client that others have written: the tests hold its behaviour against that of ours.

pygnmi connects and makes the calls; its messages are passed on as they are. Its own ways to read are left out: its
subscriber waits for ever once its thread has died of an error, and its parser loses updates. Here the thread of the
reader passes each error on, and the session watches for silence.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from typing import Any

from pygnmi.client import gNMIException
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from railfab.endpoints import Credentials, Endpoint
from railfab.gnmi import messages
from railfab.gnmi.client import DIAL_TIMEOUT_S
from railfab.gnmi.first_contact import ClosedPorts
from railfab.gnmi.login import login_name
from railfab.gnmi.pygnmi_client import pygnmi_client
from railfab.gnmi.statuses import Callee
from railfab.gnmi.tls import address_of, unanswered
from railfab.gnmi.trust import trust_of
from railfab.telemetry.receive.contract import Ask, Batch, RpcEnded, ignored
from railfab.telemetry.receive.grpcio import received
from railfab.telemetry.receive.readers import Call


class PygnmiReceiver:
    """Receives with pygnmi, as `contract.Receiver` says."""

    needs_login = True

    def __init__(self, *, dial_timeout_s: float = DIAL_TIMEOUT_S) -> None:
        self._stub: Any = gnmi_pb2_grpc.gNMIStub
        self._request: Any = gnmi_pb2.SubscribeRequest
        self._failed = gNMIException
        self._dial_timeout_s = dial_timeout_s
        self._closed = ClosedPorts()

    def name_of(self, _: Endpoint) -> str:
        """The name of this receiver."""
        return "pygnmi"

    async def stream(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        requests: Sequence[messages.SubscribeRequest],
        connected: Callable[[Ask], object] = ignored,
    ) -> AsyncGenerator[Batch | RpcEnded]:
        """Connect, make one Subscribe RPC for each request and yield what arrives, as the contract says."""
        callee = Callee(endpoint.name, address_of(endpoint), login_name(credentials))
        trusted = await trust_of(endpoint, self._dial_timeout_s, self._closed)
        client, folder = pygnmi_client(endpoint, credentials, trusted)
        with folder:
            await self._connect(client, callee)
        stub = self._stub(client._gNMIclient__channel)

        def begin(asked: Call) -> _Responses:
            sent = map(self._request.FromString, asked)
            return _Responses(stub.Subscribe(sent, metadata=client._gNMIclient__metadata))

        try:
            async with aclosing(received(callee, requests, begin, connected)) as events:
                async for event in events:
                    yield event
        finally:
            client.close()

    async def _connect(self, client: Any, callee: Callee) -> None:
        """Connect within the time limit. pygnmi asks for Capabilities, and waits for the answer without one."""
        connecting = asyncio.create_task(asyncio.to_thread(self._connected, client))
        try:
            await asyncio.wait_for(asyncio.shield(connecting), self._dial_timeout_s)
        except TimeoutError:
            raise unanswered(callee.name, callee.address, f"none within {self._dial_timeout_s:g} s") from None
        finally:
            if not connecting.done():
                with suppress(AttributeError):  # it has no channel yet
                    client.close()
                connecting.add_done_callback(lambda done: done.cancelled() or done.exception())

    def _connected(self, client: Any) -> None:
        with suppress(self._failed):  # of Capabilities, which not all targets have; Subscribe says what is wrong
            client.connect(timeout=0)


class _Responses:
    """The responses of a call of pygnmi as bytes."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def __iter__(self) -> Iterator[bytes]:
        return (response.SerializeToString() for response in self._call)

    def cancel(self) -> None:
        self._call.cancel()

"""The contract of a receiver: what it yields, and when it ends."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError
from railfab.gnmi import messages
from railfab.gnmi.statuses import Busy, Refused, StreamClosed


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of one RPC, as received. Valid until the next one is asked for: the buffer is written again.

    rpc: index of the RPC in the requests. buffer: writable bytes; bounds: int64 of shape (messages, 2), start and
    end of each SubscribeResponse in the buffer. waited_s: how long the target may have waited, at most, for
    space to send more [s]: on its whole connection, since the batch before.
    """

    rpc: int
    buffer: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    waited_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RpcEnded:
    """One RPC ended, and the others continue. error: one of ENDS_ONE; None for the complete answer to an RPC of mode
    ONCE.
    """

    rpc: int
    error: DeviceError | None


ENDS_ONE = (Refused, Busy, StreamClosed)
"""Errors of an RPC that leave the others of its connection."""
Ask = Callable[[int], object]
"""Ask an RPC for another answer: a Poll where its mode is POLL; where it has ended, the RPC anew."""
POLL: bytes = messages.SubscribeRequest(poll=messages.Poll()).SerializeToString()
"""The message that asks for an answer in mode POLL."""


def is_once(request: messages.SubscribeRequest) -> bool:
    """Whether an RPC ends with its answer."""
    return bool(request.subscribe.mode == messages.SubscriptionList.ONCE)


def ignored(_: Ask) -> None:
    """For callers that ask once."""


class Receiver(Protocol):
    """A way to receive Subscribe RPCs of one target over one connection."""

    @property
    def needs_login(self) -> bool:
        """Whether it uses the credentials; those of a target are not read otherwise."""
        ...

    def name_of(self, endpoint: Endpoint) -> str:
        """The name of the way in which a target is received now, for `fabric_collector_receiver_info`."""
        ...

    def stream(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        requests: Sequence[messages.SubscribeRequest],
        connected: Callable[[Ask], object] = ignored,
    ) -> AsyncGenerator[Batch | RpcEnded, Any]:
        """Connect, make one Subscribe RPC for each request and yield what arrives, until closed.

        Raises EndpointError, CertificateRefused, PlaintextPort, LoginRefused or Unreachable where no connection can be
        made, and Unreachable or StreamClosed where it breaks; the fast receiver also ProtocolError. It never just
        returns. connected: called when the requests are sent, which may wait for others to connect.
        """
        ...

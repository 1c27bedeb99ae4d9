"""The calls of gNMI on a bare gRPC channel."""

from __future__ import annotations

from typing import Any

import grpc

from railfab.gnmi import messages


class Stub:
    """Capabilities, Get, Set and Subscribe of a channel, which may be of `grpc` or `grpc.aio`."""

    def __init__(self, channel: grpc.Channel | grpc.aio.Channel) -> None:
        unary, stream = channel.unary_unary, channel.stream_stream
        self.Capabilities = _call(unary, "Capabilities", messages.CapabilityRequest, messages.CapabilityResponse)
        self.Get = _call(unary, "Get", messages.GetRequest, messages.GetResponse)
        self.Set = _call(unary, "Set", messages.SetRequest, messages.SetResponse)
        self.Subscribe = _call(stream, "Subscribe", messages.SubscribeRequest, messages.SubscribeResponse)


def _call(kind: Any, method: str, request: Any, response: Any) -> Any:
    return kind(
        messages.METHODS[method],
        request_serializer=request.SerializeToString,
        response_deserializer=response.FromString,
    )

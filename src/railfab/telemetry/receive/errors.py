"""The error of a connection that only one receiver cannot use."""

from __future__ import annotations

from railfab.errors import DeviceError


class ProtocolError(DeviceError):
    """The target does with HTTP/2 or gRPC what the receiver of our own does not know; that of grpcio may know it."""

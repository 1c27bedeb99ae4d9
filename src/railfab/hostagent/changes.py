"""Changes of interfaces, as the kernel announces them by rtnetlink: names, state and MTU; PFC, ETS and DSCP maps."""

from __future__ import annotations

import socket
from collections.abc import Collection

GROUPS = (1, 23)
"""RTNLGRP_LINK and RTNLGRP_DCB of Linux include/uapi/linux/rtnetlink.h."""
MESSAGE_BYTES = 65536


class InterfaceChanges:
    """Announcements since the last look. Each names its interface; where netlink cannot be had there are none."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        try:
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
            self._socket.bind((0, sum(1 << (group - 1) for group in GROUPS)))
            self._socket.setblocking(False)
        except OSError:
            self.close()

    def happened(self, interfaces: Collection[str]) -> bool:
        """Whether one of these interfaces changed, or so much did that the kernel has dropped announcements."""
        names = [name.encode() + b"\0" for name in interfaces]
        changed = False
        while self._socket is not None:
            try:
                message = self._socket.recv(MESSAGE_BYTES)
            except BlockingIOError:
                break
            except OSError:
                changed = True
                continue
            changed = changed or any(name in message for name in names)
        return changed

    def close(self) -> None:
        """Hear no more."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

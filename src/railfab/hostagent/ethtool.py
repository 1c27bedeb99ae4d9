"""Statistics and FEC of an interface: from the kernel by ioctl (Linux include/uapi/linux/ethtool.h), or as `ethtool -S`
and `ethtool --show-fec` printed them."""

from __future__ import annotations

import fcntl
import re
import socket
import struct
from array import array
from collections.abc import Collection, Mapping
from typing import Protocol

from railfab.hostagent.host_tree import CapturedSystem
from railfab.hosts.nic import System, Unreadable

SIOCETHTOOL = 0x8946
GSSET_INFO, GSTRINGS, GSTATS, GFECPARAM = 0x37, 0x1B, 0x1D, 0x50
SS_STATS = 1
NAME_BYTES = 32
MOST_DIGITS = 24
"""Characters in which the digits of a statistic of 64 bits, and the end of its line, are."""
FEC_BITS = ("None", "Auto", "Off", "RS", "BaseR", "LLRS")
"""Names of `ethtool --show-fec`, by the bits of ETHTOOL_FEC_*."""
STATISTIC = re.compile(r"^\s+(\S[^:]*): (\d+)$", re.MULTILINE)
ACTIVE_FEC = re.compile(r"^Active FEC encodings?: *(.*\S)", re.MULTILINE)


class Ethtool(Protocol):
    """What ethtool knows of one interface."""

    def names(self) -> Collection[str]:
        """The names of all statistics. Raises Unreadable."""
        ...

    def values(self, names: Collection[str]) -> Mapping[str, int | str]:
        """Those of these names that there are now: numbers, or their digits. Raises Unreadable."""
        ...

    def fec(self) -> str:
        """The FEC that is active. Raises Unreadable."""
        ...


def ethtool_of(interface: str, system: System) -> Ethtool:
    """That of an interface of this host, or of a tree."""
    return CapturedEthtool(interface, system) if isinstance(system, CapturedSystem) else KernelEthtool(interface)


class CapturedEthtool:
    """What ethtool printed on the host of a tree."""

    def __init__(self, interface: str, system: System) -> None:
        self._interface, self._system = interface, system

    def names(self) -> Collection[str]:
        """The names of all statistics. Raises Unreadable."""
        return [name for name, _ in STATISTIC.findall(self._printed("-S"))]

    def values(self, names: Collection[str]) -> Mapping[str, int | str]:
        """The digits of these statistics. Raises Unreadable."""
        text, values = self._printed("-S"), {}
        for name in names:
            _, before, after = text.partition(f" {name}: ")
            if before and (digits := after[:MOST_DIGITS].partition("\n")[0]).isdigit():
                values[name] = digits
        return values

    def fec(self) -> str:
        """The FEC that was active. Raises Unreadable."""
        match = ACTIVE_FEC.search(self._printed("--show-fec"))
        if match is None:
            raise Unreadable("ethtool printed no active FEC")
        return match[1]

    def _printed(self, option: str) -> str:
        command = ("ethtool", option, self._interface)
        self._system.outputs.pop(command, None)
        return self._system.output(command)


class KernelEthtool:
    """Asks the driver. The names of statistics are asked for again only when their number has changed."""

    def __init__(self, interface: str) -> None:
        self._name = interface.encode()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._names: tuple[str, ...] = ()

    def names(self) -> Collection[str]:
        """The names of all statistics. Raises Unreadable."""
        self._names = self._strings(self._count())
        return self._names

    def values(self, names: Collection[str]) -> Mapping[str, int | str]:
        """The numbers of these statistics. Raises Unreadable."""
        count = self._count()
        if count != len(self._names):
            self._names = self._strings(count)
        answer = self._call(struct.pack("=II", GSTATS, count), count * 8)
        numbers = struct.unpack_from(f"={count}Q", answer, 8)
        return {name: number for name, number in zip(self._names, numbers, strict=True) if name in names}

    def fec(self) -> str:
        """The FEC that is active. Raises Unreadable."""
        _, active, _, _ = struct.unpack("=IIII", self._call(struct.pack("=I", GFECPARAM), 12))
        return " ".join(name for bit, name in enumerate(FEC_BITS) if active >> bit & 1)

    def _count(self) -> int:
        answer = self._call(struct.pack("=IIQ", GSSET_INFO, 0, 1 << SS_STATS), 4)
        _, _, mask, count = struct.unpack_from("=IIQI", answer)
        return int(count) if mask else 0

    def _strings(self, count: int) -> tuple[str, ...]:
        answer = bytes(self._call(struct.pack("=III", GSTRINGS, SS_STATS, count), count * NAME_BYTES))
        names = (answer[12 + place * NAME_BYTES :][:NAME_BYTES] for place in range(count))
        return tuple(name.partition(b"\0")[0].decode(errors="replace").strip() for name in names)

    def _call(self, head: bytes, more: int) -> array[int]:
        """The answer to a request, which begins with this head. more: bytes behind it."""
        request = array("B", head + bytes(more))
        address, _ = request.buffer_info()
        try:
            fcntl.ioctl(self._socket, SIOCETHTOOL, struct.pack("16sP", self._name, address))
        except OSError as error:
            raise Unreadable(f"ethtool: {(error.strerror or str(error)).lower()}") from None
        return request

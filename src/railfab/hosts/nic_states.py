"""What a NIC is set to, as the switch port at its other end sees it, from the settings that `nic.py` reads back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from railfab.hosts.catalogue import Family, nic_models
from railfab.hosts.nic import as_number, numbers

ALL_PRIORITIES = 255
"""ROCE_CC_PRIO_MASK of a firmware that has DCQCN on for every priority."""


Value = TypeVar("Value")


class NicFec(StrEnum):
    """Forward error correction as a NIC names it. RS is RS-528 or RS-544, by the modulation of the link."""

    OFF = "off"
    BASE_R = "base-r"
    RS = "rs"


FEC_NAMES = {"off": NicFec.OFF, "baser": NicFec.BASE_R, "rs": NicFec.RS}
"""By the names of ethtool in lower case; LLRS and what a driver has not decided yet are unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NicState:
    """A port of a NIC. What is None is unknown.

    nic: its name in the cabling plan. neighbor: switch and port by LLDP. pfc: priorities whose pause frames it sends
    and obeys. trusts_dscp: whether a received packet's priority is that of its DSCP. roce_dscps: code points of the
    lossless priority; storage_dscps: of that of storage. sent_dscps: of RoCE that it sends unless the application says
    otherwise. ecn: whether it reacts to marks. rate_gbps, fec: of a link that is up. cable_m: for which its receive
    buffer is computed. unread: settings that should have been read and were not.
    """

    host: str
    nic: str
    neighbor: tuple[str, str] | None = None
    pfc: frozenset[int] | None = None
    trusts_dscp: bool | None = None
    roce_dscps: frozenset[int] | None = None
    storage_dscps: frozenset[int] | None = None
    sent_dscps: frozenset[int] = frozenset()
    ecn: bool | None = None
    cnp_dscp: int | None = None
    mtu_bytes: int | None = None
    rate_gbps: float | None = None
    fec: NicFec | None = None
    cable_m: int | None = None
    unread: tuple[str, ...] = ()


class NicDocumentError(ValueError):
    """A document is none of NICs of version 1."""


def states_of(document: Any) -> Iterator[NicState]:
    """The ports in a document of `railfab agent --once --output json` or `nic.py --check`. Raises NicDocumentError."""
    try:
        yield from (_agent_states if "nics" in document and isinstance(document["nics"], list) else _script_states)(
            document
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise NicDocumentError(f"is no document of version 1 of NICs ({type(error).__name__}: {error})") from None


def _agent_states(document: Mapping[str, Any]) -> Iterator[NicState]:
    _check_version(document)
    for port in document["nics"]:
        link, neighbor = port["link"], port["neighbor"]
        rows = {row["setting"]: (row["read"], row["ok"]) for row in port["settings"]}
        is_up = bool(link["up"])
        yield _state(
            document["host"],
            port["nic"],
            port["family"],
            rows,
            neighbor=None if neighbor is None else (neighbor["switch"], neighbor["port"]),
            rate_gbps=link["rate_gbps"] if is_up else None,
            fec=FEC_NAMES.get(str(link["fec"]).lower()) if is_up else None,
        )


def _script_states(document: Mapping[str, Any]) -> Iterator[NicState]:
    _check_version(document)
    for name, model in document["nics"].items():
        rows = {
            row["setting"]: (row["found"], row["ok"] if row["found"] is not None or row["ok"] else None)
            for row in document["settings"]
            if row["nic"] == name
        }
        yield _state(document["host"], name, nic_models()[model].family, rows)


def _check_version(document: Mapping[str, Any]) -> None:
    if document["version"] != 1:
        raise ValueError(f"version {document['version']}")


def _state(
    host: str, nic: str, family: Family, rows: Mapping[str, tuple[str | None, bool | None]], **link: Any
) -> NicState:
    """The state of settings as they are read back, and whether each is as wanted; None of either is unknown."""
    read = {name: text for name, (text, _) in rows.items() if text is not None}

    def value(name: str, convert: Callable[[str], Value]) -> Value | None:
        return convert(read[name]) if name in read else None

    return NicState(
        host=host,
        nic=nic,
        pfc=value("pfc", _masked if family == "mlx5" else _set),
        trusts_dscp=value("trust", lambda text: text.lower() == "dscp"),
        roce_dscps=value("roce-dscp", _set),
        storage_dscps=value("storage-dscp", _set),
        sent_dscps=frozenset(_sent(read)),
        ecn=_reacts(read),
        cnp_dscp=next((as_number(read[name]) for name in CNP_DSCPS if name in read), None),
        mtu_bytes=value("mtu", as_number),
        cable_m=value("cable-length", as_number),
        unread=tuple(
            name
            for name, (_, is_wanted) in rows.items()
            if is_wanted is None and name in COMPARED and not (name in OF_DCQCN and _is_off(read))
        ),
        **link,
    )


CNP_DSCPS = ("cnp-dscp", "cc-cnp-dscp", "dcqcn-cnp-dscp")
SENT_TOS, SENT_DSCPS = ("traffic-class", "rdma-cm-tos"), ("cc-roce-dscp",)
REACTS: Mapping[str, Collection[str]] = {
    "dcqcn-notification": ("1",),
    "dcqcn-reaction": ("1",),
    "firmware-roce-cc-prio-mask": (str(ALL_PRIORITIES), hex(ALL_PRIORITIES)),
    "cc-ecn-enable": ("1", "0x1"),
    "cc-ecn-marking": ("1", "0x1"),
    "dcqcn-status": ("Enabled",),
}
"""Settings that switch DCQCN, or a part of it, and their values where it is on."""
OFF = ("0", "0x0", "Disabled")
"""Their values where it is off. A mask of some priorities is neither, and says nothing."""
COMPARED = frozenset(
    (
        *("pfc", "trust", "roce-dscp", "storage-dscp", "mtu", "cable-length"),
        *(*CNP_DSCPS, *SENT_TOS, *SENT_DSCPS, *REACTS),
    )
)
"""Settings that say what the switch port must agree with."""


OF_DCQCN = frozenset(("dcqcn-cnp-dscp",))
"""Settings of DCQCN that nicctl does not show while it is disabled."""


def _is_off(read: Mapping[str, str]) -> bool:
    return read.get("dcqcn-status", "Enabled") != "Enabled"


def _masked(text: str) -> frozenset[int]:
    """Priorities of a mask of eight digits, the first of priority 0."""
    return frozenset(priority for priority, digit in enumerate(text.split()) if digit == "1")


def _set(text: str) -> frozenset[int]:
    return frozenset(numbers(text))


def _sent(read: Mapping[str, str]) -> Iterator[int]:
    for names, shift in ((SENT_TOS, 2), (SENT_DSCPS, 0)):
        for name in names:
            if (number := as_number(read.get(name, ""))) is not None:
                yield number >> shift


def _reacts(read: Mapping[str, str]) -> bool | None:
    states = [read[name] in on for name, on in REACTS.items() if read.get(name) in (*on, *OFF)]
    return all(states) if states else None

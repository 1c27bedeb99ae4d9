"""`scenario.json`: the nodes of a scenario, and its parameters."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from railfab.errors import RailfabError
from railfab.sim.replay.tables import Errors, Number, key, read_document, shortened

_SWITCH = Number(0, 1)
_POSITIVE = Number(0, whole=False, above=True)
_US = Number(1e-3, 1e12, whole=False)
_MBPS = Number(0, 1e9, whole=False)
BYTES_PER_K = 1000.0
HEADER_BYTES = 48
MOST_NODES = 1 << 16


KEYS = frozenset(
    ("name", "description", "params", "topology", "nodes", "switches", "run", "queue_depth_watch", "links")
)
NO_EFFECT = ("chunk", "qint", "seed")
"""Parameters of the reference's own program, without a meaning here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Names and units are those of the file (docs/simulator.md) where they do not say other ones.

    unknown: keys that have no effect and that no scenario of the reference has, with their place.

    t_*: us. ai, hai, minrate: Mb/s. alpha: share of the free shared buffer at which an ingress sends XOFF. ackint:
    payload bytes for which there is one acknowledgement.
    """

    name: str
    nodes: int
    switches: tuple[int, ...]
    payload: int
    stop_ns: float
    cc: bool
    ecn: bool
    pfc: bool
    buffer: float
    alpha: float
    kscale: bool
    kmin_bytes: float
    kmax_bytes: float
    pmax: float
    ackint: int
    t_alpha: float
    t_dec: float
    t_inc: float
    g: float
    frt: int
    ai: float
    hai: float
    minrate: float
    clamp: bool
    unknown: tuple[str, ...]

    @property
    def frame_bytes(self) -> int:
        """Octets of a full packet on the wire."""
        return self.payload + HEADER_BYTES


def read_parameters(path: Path, errors: Errors) -> Parameters:
    """Parameters of congestion control are needed with cc=1, thresholds of ECN with ecn=1."""
    document = read_document(path)
    params = document.get("params")
    if not isinstance(params, dict):
        raise RailfabError(f"{path}, key params", "is not an object", 'Add "params": {...}')
    nodes = int(key(str(path), document, "nodes", Number(1, MOST_NODES), errors))
    switches = _switches(path, document, nodes, errors)
    where = f"{path}, params"
    read = set()

    def number(name: str, wanted: Number, default: float | None = None) -> float:
        read.add(name)
        return key(where, params, name, wanted, errors, default)

    cc, ecn = bool(number("cc", _SWITCH)), bool(number("ecn", _SWITCH))
    of_cc, of_ecn = (None if cc else 0.0), (None if ecn else 0.0)
    found = Parameters(
        name=str(document.get("name", path.parent.name)),
        nodes=nodes,
        switches=switches,
        payload=int(number("payload", Number(1, 65_535))),
        stop_ns=number("stop", Number(0, 1e15, whole=False, above=True)),
        cc=cc,
        ecn=ecn,
        pfc=bool(number("pfc", _SWITCH)),
        buffer=number("buffer", _POSITIVE),
        alpha=number("alpha", _POSITIVE),
        kscale=number("kscale", Number(0, whole=False), 0.0) != 0,
        kmin_bytes=number("kmin", Number(0, whole=False), of_ecn) * BYTES_PER_K,
        kmax_bytes=number("kmax", Number(0, whole=False), of_ecn) * BYTES_PER_K,
        pmax=number("pmax", Number(0, 1, whole=False), of_ecn),
        ackint=int(number("ackint", Number(0), 1)),
        t_alpha=number("t_alpha", _US, of_cc),
        t_dec=number("t_dec", _US, of_cc),
        t_inc=number("t_inc", _US, of_cc),
        g=number("g", Number(0, 1, whole=False, above=True), of_cc),
        frt=int(number("frt", Number(0, 1e6), of_cc)),
        ai=number("ai", _MBPS, of_cc),
        hai=number("hai", _MBPS, of_cc),
        minrate=number("minrate", Number(1e-3, 1e9, whole=False), of_cc),
        clamp=bool(number("clamp", _SWITCH, 0.0)),
        unknown=(*_unknown(document, KEYS), *_unknown(params, {*read, *NO_EFFECT}, "params.")),
    )
    if ecn and found.kmax_bytes < found.kmin_bytes:
        problem = f"kmax {found.kmax_bytes / BYTES_PER_K:g} is below kmin {found.kmin_bytes / BYTES_PER_K:g}"
        errors.append(RailfabError(where, problem, "Give a kmax of at least kmin"))
    return found


def _unknown(document: Mapping[str, Any], known: Collection[str], before: str = "") -> tuple[str, ...]:
    return tuple(f"{before}{shortened(name)}" for name in document if name not in known)


def _switches(path: Path, document: Mapping[str, Any], nodes: int, errors: Errors) -> tuple[int, ...]:
    where = f"{path}, key switches"
    found = document.get("switches")
    if not isinstance(found, list):
        errors.append(RailfabError(where, "is not a list", "List the numbers of the nodes that are switches"))
        return ()
    wrong = [number for number in found if not isinstance(number, int) or isinstance(number, bool)]
    wrong += [number for number in found if number not in wrong and not 0 <= number < nodes]
    for number in wrong:
        shown = shortened(json.dumps(number))
        errors.append(RailfabError(where, f"{shown} is not a node", f"Nodes have numbers from 0 to {nodes - 1}"))
    return () if wrong else tuple(sorted(set(found)))

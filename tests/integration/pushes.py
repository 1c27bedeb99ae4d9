"""Pushes to the rail switches of a small fabric, as texts edited by hand: some break RoCE, some are harmless."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

GATES = CONFIGURATION, STATE, TELEMETRY = "configuration", "state", "telemetry"

Edit = tuple[str, str]
"""A text, and what is written in its place, everywhere in a configuration."""


@dataclass(frozen=True, kw_only=True)
class Push:
    """A push. edits: in JSON without spaces."""

    edits: tuple[Edit, ...]

    def edited(self, text: str) -> str:
        """The configuration with the edits. Raises ValueError for an edit that matches nothing."""
        compact = json.dumps(json.loads(text), separators=(",", ":"))
        for before, after in self.edits:
            if before not in compact:
                raise ValueError(f"{before} is not there")
            compact = compact.replace(before, after)
        return json.dumps(json.loads(compact), indent=2) + "\n"


def _push(*edits: Edit) -> Push:
    return Push(edits=edits)


MIN, MAX = '"min-threshold":"', '"max-threshold":"'
SLOPES = ((f'{MAX}450000",{MIN}150000"', 450_000, 150_000), (f'{MAX}1620000",{MIN}540000"', 1_620_000, 540_000))


def _thresholds(of_kmax: float, of_kmin: float) -> Push:
    """Kmax and Kmin as multiples of what they are."""
    return _push(*((text, f'{MAX}{of_kmax * kmax:.0f}",{MIN}{of_kmin * kmin:.0f}"') for text, kmax, kmin in SLOPES))


BGP = '"autonomous-system":'
PFC_ON = '"pfc-enable":true'

HARMFUL: Mapping[str, Push] = {
    "PFC off on every port": _push((PFC_ON, '"pfc-enable":false')),
    "another PFC priority than the hosts use": _push(
        ('"pfc-pause-frame-priority":3', '"pfc-pause-frame-priority":4'),
    ),
    "no headroom": _push(
        ('"maximum-pfc-reserved-share-percentage":5', '"maximum-pfc-reserved-share-percentage":0'),
        ('"maximum-pfc-reserved-share-percentage":12', '"maximum-pfc-reserved-share-percentage":0'),
    ),
    "watchdog off": _push(('"enable":true,"recovery-timer"', '"enable":false,"recovery-timer"')),
    "Kmin and Kmax swapped": _thresholds(1 / 3, 3),
    "Kmin and Kmax a hundred times too high": _thresholds(100, 100),
    "ECN off": _push(('"explicit-congestion-notification":{},', "")),
    "RoCE by DSCP 46 instead of 26": _push(('"value":26', '"value":46')),
    "10 kB for the queue of RoCE": _push(
        ('"maximum-burst-size":26640000,"queue-name":"roce"', '"maximum-burst-size":10000,"queue-name":"roce"')
    ),
    "weights of RoCE and the rest swapped": _push(
        ('"queue-name":"default","weight":10', '"queue-name":"default","weight":90'),
        ('"queue-name":"roce","weight":90', '"queue-name":"roce","weight":10'),
    ),
    "hash seed of the spines": _push(('"hash-seed":10', '"hash-seed":11')),
    "hash without source port": _push(('"hash-seed":10', '"hash-seed":10,"source-port":false')),
    "wrong AS": _push((f"{BGP}42000", f"{BGP}42009")),
    "MTU 1,500 on the uplinks of one tier": _push(
        ('"port-speed":"400G"},"mtu":9230', '"port-speed":"400G"},"mtu":1514'),
        ('"ip-mtu":9216,"ipv6"', '"ip-mtu":1500,"ipv6"'),
    ),
    "uplinks at 100G": _push(('"port-speed":"400G"', '"port-speed":"100G"')),
    "import policy lost": _push(('"import-policy":["fabric-import"],', "")),
    "one path": _push(('"maximum-paths":64', '"maximum-paths":1')),
    "addresses of another rail": _push(('"ip-prefix":"10.17.', '"ip-prefix":"10.19.')),
}

HARMLESS: Mapping[str, Push] = {
    "descriptions": _push(('"description":"', '"description":"cluster a: ')),
    "Kmin and Kmax a tenth higher": _thresholds(1.1, 1.1),
    "Pmax 15 % instead of 10 %": _push(('"max-drop-probability-percent":10', '"max-drop-probability-percent":15')),
    "CNPs with 20 % of the rate instead of 10 %": _push(('"peak-rate-percent":10', '"peak-rate-percent":20')),
    "weights 95 and 5 instead of 90 and 10": _push(
        ('"queue-name":"default","weight":10', '"queue-name":"default","weight":5'),
        ('"queue-name":"roce","weight":90', '"queue-name":"roce","weight":95'),
    ),
    "BFD each 400 ms instead of 300": _push((":300000", ":400000")),
    "hold time 15 s instead of 9": _push(
        ('"hold-time":9,"keepalive-interval":3', '"hold-time":15,"keepalive-interval":5')
    ),
    "connections retried after 20 s": _push(('"connect-retry":10', '"connect-retry":20')),
    "updates each 2 s": _push(('"minimum-advertisement-interval":1', '"minimum-advertisement-interval":2')),
    "three minutes of grace for restarts": _push(
        (
            '"group-name":"fabric",',
            '"group-name":"fabric","graceful-restart":{"admin-state":"enable","stale-routes-time":180},',
        )
    ),
    "LLDP each 10 s": _push(('"srl_nokia-lldp:lldp":{', '"srl_nokia-lldp:lldp":{"hello-timer":"10",')),
    "router advertisements each 20 s": _push(('"max-advertisement-interval":10', '"max-advertisement-interval":20')),
    "recovery of the watchdog after 500 ms": _push(('"recovery-timer":400', '"recovery-timer":500')),
    "another hash seed that no tier has": _push(('"hash-seed":10', '"hash-seed":77')),
    "no samples of queue depths": _push(
        ('"queue-depth-sampling":{"admin-state":"enable"}', '"queue-depth-sampling":{"admin-state":"disable"}')
    ),
    "detection of the watchdog after 250 ms": _push(('"detection-timer":200', '"detection-timer":250')),
}

STOPPED_BY: Mapping[str, Collection[str]] = {
    CONFIGURATION: tuple(HARMFUL),
    STATE: ("one path", "wrong AS", "MTU 1,500 on the uplinks of one tier", "uplinks at 100G"),
    TELEMETRY: (
        "PFC off on every port",
        "another PFC priority than the hosts use",
        "no headroom",
        "Kmin and Kmax a hundred times too high",
        "ECN off",
        "RoCE by DSCP 46 instead of 26",
        "10 kB for the queue of RoCE",
        "wrong AS",
        "MTU 1,500 on the uplinks of one tier",
        "uplinks at 100G",
        "import policy lost",
        "addresses of another rail",
    ),
}
"""The harmful pushes that each gate stops, of those that an incast loads."""


def gates_against(name: str) -> tuple[str, ...]:
    """The gates that stop a push, each by itself."""
    return tuple(gate for gate in GATES if name in STOPPED_BY[gate])

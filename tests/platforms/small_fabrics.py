"""A small fabric on each platform, with whole ports of 400 Gb/s, for tests that go through all platforms."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.topology.fabric_intents import fabric

from railfab.fabric import Design
from railfab.intent.document import Document
from railfab.testing.device_models import features
from railfab.topology import wire
from railfab.topology.catalogue import catalogue

PORTS_GBPS, CAGES = 400, 32
"""Of a switch that is large enough for this fabric."""

SMALL: Mapping[str, Any] = {
    "hosts": {"gpus": 4, "rate_gbps": PORTS_GBPS},
    "segments": {"count": 2, "hosts": 2, "rail_switches": 1},
    "spines": {"count": 2, "rate_gbps": PORTS_GBPS},
}


VIRTUAL: Mapping[str, Mapping[str, Any]] = {
    "sonic": {
        "vendor": "Force10",
        "silicon": "none",
        "cages": CAGES,
        "speeds_gbps": [PORTS_GBPS],
        "buffer_bytes": 64_000_000,
        "names": {"sonic": {"cage": "Ethernet{electrical}"}},
    },
    "junos": {
        "vendor": "Juniper",
        "silicon": "none",
        "cages": 12,
        "speeds_gbps": [PORTS_GBPS],
        "buffer_bytes": 64_000_000,
        "names": {"junos": {"cage": "et-0/0/{port}"}},
    },
}
"""Switches whose ports are those of the image of a platform, where the image does not have those of every model."""


def switch_model(name: str) -> str:
    """The first switch model of the catalogue that runs a platform and is large enough; skips the test without one."""
    models = (model for model, found in catalogue().items() if name in found.names and is_enough(model))
    return next(models, None) or pytest.skip(f"no switch model of the catalogue runs {name}")


def is_enough(model: str) -> bool:
    found = catalogue()[model]
    return found.cages >= CAGES and found.lanes_for(PORTS_GBPS) == 1


@cache
def design_of(leaf: str, spine: str, *, numbered: bool = False, virtual: bool = False) -> Design:
    """Rail switches of one platform and spines of another, or of the same; without PFC where one of them has none.

    virtual: with the ports of the image with which a lab boots the platform.
    """
    images = {name: VIRTUAL[name] for name in {leaf, spine} if virtual and name in VIRTUAL}
    classes = {} if all("pfc" in features(name) for name in (leaf, spine)) else {"profile__lossless": False}
    unnumbered = not numbered and all("unnumbered" in features(name) for name in (leaf, spine))
    intent = fabric(
        fabric="small",
        hosts={**SMALL["hosts"], "gpus": 2 if "junos" in images else 4},
        backend__segments={
            **SMALL["segments"],
            "model": leaf if leaf in images else switch_model(leaf),
            "platform": leaf,
        },
        backend__growth={"hosts": 2, "segments": 2},
        backend__spines={
            **SMALL["spines"],
            "model": spine if spine in images else switch_model(spine),
            "platform": spine,
        },
        profile__underlay="unnumbered" if unnumbered else "numbered",
        switches=images,
        **classes,
    )
    return Design(document=Document(Path("small.yml"), {}), intent=intent, topology=wire(intent))

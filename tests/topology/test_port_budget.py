"""What is said to help where ports are short does help, when it is followed."""

import re
from typing import Any

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from tests.topology.fabric_intents import fabric

from railfab.topology.dimensions import Dimensions
from railfab.topology.port_budget import ports_suffice

KEYS = {
    "host": "backend__segments__hosts",
    "spine": "backend__spines__count",
    "segment": "backend__segments__count",
    "super_spine": "backend__super_spines__count",
    "pod": "backend__pods",
}
LARGE = {"rate_gbps": 800, "model": "sn5600"}


def short(changes: dict[str, Any]) -> dict[str, str]:
    """What is said of each tier that is short of ports."""
    lines = [str(error) for error in ports_suffice(Dimensions(fabric(**changes)))]
    return {line.partition(":")[0]: line for line in lines}


def followed(line: str) -> list[dict[str, Any]]:
    """The changes that a line proposes with a number, each by itself."""
    remedies = line.rpartition(" Use ")[2]
    found = [
        {KEYS[what]: int(count)} for count, what in re.findall(r"(\d+) (super_spine|spine|segment|host|pod)", remedies)
    ]
    return found + [
        {"backend__growth": {"hosts": int(count)}} for count in re.findall(r"growth\.hosts: (\d+)", remedies)
    ]


def pods(**changes: Any) -> dict[str, Any]:
    """Pods of 400G hosts on switches of 64 x 800G, too large for what joins them unless `changes` mend it."""
    return {
        "hosts": {"gpus": 8, "rate_gbps": 400},
        "backend__segments": {"count": 2, "hosts": 16, "rail_switches": 8, "model": "sn5600"},
        "backend__spines": {"count": 8, **LARGE},
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "tier", "remedies"),
    [
        ({}, "backend.spines", None),
        (
            {"backend__spines__count": 2},
            "backend.spines",
            "Use 8 spines, growth.hosts: 16 (if segments will not grow) or a larger model.",
        ),
        (
            {"backend__segments__count": 60},
            "backend.spines",
            "Use at most 2 segments or a larger model.",
        ),
        (
            {"backend__segments__count": 4, "backend__spines__links_per_leaf": 4},
            "backend.spines",
            "Use 2 links per leaf, at most 2 segments or a larger model.",
        ),
        ({"backend__segments__hosts": 100}, "backend.segments", "Use at most 64 hosts or a larger model."),
        (
            {
                "backend__pods": 4,
                "backend__segments__count": 1,
                "backend__super_spines": {"count": 8, **LARGE},
            },
            "backend.super_spines",
            "Use 16 super_spines, at most 2 pods or a larger model.",
        ),
    ],
)
def test_remedies_name_what_would_be_enough(changes: dict[str, Any], tier: str, remedies: str | None) -> None:
    said = short(pods(**changes)).get(tier)
    assert (said is None) if remedies is None else (said is not None and said.endswith(remedies)), said


@given(
    st.fixed_dictionaries(
        {
            "backend__segments__count": st.integers(1, 12),
            "backend__segments__hosts": st.integers(1, 90),
            "backend__spines__count": st.sampled_from([1, 2, 3, 4, 8, 16]),
            "backend__spines__links_per_leaf": st.sampled_from([None, None, 1, 4]),
            "backend__oversubscription": st.sampled_from([1, 1.5, 3]),
            "backend__pods": st.integers(1, 9),
            "backend__super_spines": st.sampled_from([None, *({"count": count, **LARGE} for count in (4, 8, 32))]),
        }
    )
)
def test_a_remedy_that_is_followed_gives_its_tier_ports_enough(changes: dict[str, Any]) -> None:
    said = short(pods(**changes))
    assume(said)
    for tier, line in said.items():
        for change in followed(line):
            event(", ".join(change))
            assert tier not in short({**pods(**changes), **change}), (line, change)

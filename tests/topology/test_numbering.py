"""The AS plan at the ends of its ranges."""

import pytest
from tests.topology.fabric_intents import fabric

from railfab.topology.dimensions import Dimensions
from railfab.topology.numbering import AsPlan


def plan(pods: int, segments: int = 4, planes: int = 1, control_plane: str = "ebgp") -> AsPlan:
    """Of two leaves a segment; how much may come is all that matters."""
    growth = {"pods": pods, "segments": segments}
    return AsPlan(
        Dimensions(fabric(backend__growth=growth, backend__planes=planes, profile__control_plane=control_plane))
    )


@pytest.mark.parametrize(
    ("pods", "planes", "spines", "top"),
    [
        (500, 1, (65_001, 65_500), 65_000),
        (250, 2, (65_001, 65_500), 64_999),
        (501, 1, (4_290_000_001, 4_290_000_501), 4_290_000_000),
        (251, 2, (4_290_000_001, 4_290_000_502), 4_289_999_999),
    ],
)
def test_spines_have_two_byte_numbers_as_far_as_they_reach(
    pods: int, planes: int, spines: tuple[int, int], top: int
) -> None:
    found = plan(pods, planes=planes)
    assert (found.spine(1, 1), found.spine(planes, pods)) == spines
    assert found.super_spine(planes) == top


@pytest.mark.parametrize(("leaves", "second_pod"), [(998, 4_200_002_001), (1000, 4_200_020_001)])
def test_a_pod_has_as_many_numbers_as_it_may_have_leaves(leaves: int, second_pod: int) -> None:
    found = plan(2, leaves // 2)
    assert found.leaf(1, 2, 1) == second_pod
    assert found.leaf(1, 1, leaves) < second_pod


@pytest.mark.parametrize(
    ("pods", "segments", "planes", "suffices"),
    [
        (4096, 4096, 2, True),
        (2999, 4096, 3, True),
        (3100, 4096, 3, False),
        (4096, 4096, 8, False),
    ],
)
def test_no_leaf_comes_to_a_number_of_a_spine(pods: int, segments: int, planes: int, suffices: bool) -> None:
    found = plan(pods, segments, planes)
    assert found.suffices is suffices
    assert (found.last_leaf < found.super_spine(planes)) is suffices


def test_with_ibgp_one_number_suffices() -> None:
    assert plan(4096, 4096, 8, "ibgp").suffices

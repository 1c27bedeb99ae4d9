"""GPUs that a model needs."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from tests.documents.designs import intent, topology

from railfab.documents.sizing import gpu_count
from railfab.intent import FabricIntent, ModelSize


def with_model(size: ModelSize) -> FabricIntent:
    return intent("pod64").model_copy(update={"models": {"mine": size}})


def test_8b_70b_and_405b_at_two_bytes_on_gpus_of_80_gb() -> None:
    table = gpu_count(topology("pod64"), intent("pod64"))
    found = [(row[0], row[3], row[4], row[5]) for row in table.rows[:3]]
    assert found == [("8B", 16, 80, 1), ("70B", 140, 80, 2), ("405B", 810, 80, 11)]
    assert [row[6:] for row in table.rows[:3]] == [(1, 64), (1, 32), (2, 5)]


def test_a_user_s_models_stand_below() -> None:
    table = gpu_count(topology("pod64"), with_model(ModelSize(parameters_billion=671, bytes_per_parameter=1)))
    assert table.rows[-1] == ("mine", 671, 1, 671, 80, 9, 2, 7)


sizes = st.floats(0.001, 1e6, allow_nan=False).map(lambda number: round(number, 6))


@given(sizes, st.sampled_from([0.1, 0.5, 1.0, 2.0, 4.0, 16.0]))
def test_the_gpus_hold_the_model_and_one_less_would_not(parameters: float, size: float) -> None:
    row = gpu_count(
        topology("pod64"), with_model(ModelSize(parameters_billion=parameters, bytes_per_parameter=size))
    ).rows[-1]
    needed, gpus = Fraction(str(parameters)) * Fraction(str(size)), int(row[5] or 0)
    assert (gpus - 1) * 80 < needed <= gpus * 80
    assert int(row[6] or 0) * 8 >= gpus

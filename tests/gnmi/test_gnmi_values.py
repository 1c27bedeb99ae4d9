"""Laws of gNMI values."""

import json
import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.bounded_json import MOST_LEVELS
from railfab.gnmi import messages, values
from railfab.gnmi.values import JSON, JSON_IETF, PROTO, GnmiValueError, Uint64

scalars = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs",))),
)
trees = st.recursive(
    scalars | st.none(),
    lambda child: st.lists(child, max_size=4) | st.dictionaries(st.text(max_size=5), child, max_size=4),
    max_leaves=10,
)


@given(scalars | st.lists(scalars, max_size=4))
def test_a_leaf_survives_every_encoding(value: object) -> None:
    for encoding in (JSON_IETF, JSON, PROTO):
        assert values.decode(values.encode(value, encoding)) == value


@given(trees)
def test_a_container_survives_json(value: object) -> None:
    for encoding in (JSON_IETF, JSON):
        assert values.decode(values.encode(value, encoding)) == value


@given(st.integers(0, 2**64 - 1))
def test_64_bit_integers_are_strings_in_json_ietf_only(count: int) -> None:
    assert values.decode(values.encode(Uint64(count), JSON_IETF)) == str(count)
    assert values.decode(values.encode(Uint64(count), JSON)) == count
    assert values.encode(Uint64(count), PROTO).uint_val == count


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 18))
def test_decimal64_keeps_its_value(digits: int, precision: int) -> None:
    decimal = Decimal(digits).scaleb(-precision)
    sent = messages.TypedValue(decimal_val=messages.Decimal64(digits=digits, precision=precision))
    assert math.isclose(values.decode(sent), float(decimal), rel_tol=1e-15)
    assert Decimal(json.loads(values.encode(decimal, JSON_IETF).json_ietf_val)) == decimal


@pytest.mark.parametrize("nested", ['{"a":%s}', "[%s]"])
@pytest.mark.parametrize("levels", [100, 101, 400, 100_000])
def test_json_is_read_down_to_a_level_that_recursive_functions_can_follow(nested: str, levels: int) -> None:
    before, after = nested.split("%s")
    sent = messages.TypedValue(json_ietf_val=(before * levels + "1" + after * levels).encode())
    if levels <= MOST_LEVELS:
        values.decode(sent)
        return
    with pytest.raises(GnmiValueError) as refused:
        values.decode(sent)
    assert str(refused.value) == "gNMI value: is not JSON (nested deeper than 100 levels). Check what was sent."


def test_a_decimal_with_more_fraction_digits_than_a_float_has_is_zero() -> None:
    for digits in (2**63 - 1, -(2**63)):
        sent = messages.TypedValue(decimal_val=messages.Decimal64(digits=digits, precision=2**32 - 1))
        assert values.decode(sent) == 0.0


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda: values.decode(messages.TypedValue()),
            "gNMI value: kind none has no plain form. Ask the target for another encoding.",
        ),
        (
            lambda: values.decode(messages.TypedValue(proto_bytes=b"x")),
            "gNMI value: kind proto_bytes has no plain form. Ask the target for another encoding.",
        ),
        (
            lambda: values.decode(messages.TypedValue(json_val=b"{")),
            "gNMI value: is not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1)). "
            "Check what was sent.",
        ),
        (lambda: values.encode({}, PROTO), "gNMI value: a dict is no leaf. Use JSON_IETF for containers."),
        (lambda: values.encode(1, 3), "gNMI value: encoding 3 is not known. Use JSON_IETF, JSON or PROTO."),
    ],
)
def test_a_value_that_has_no_form_is_named(act: object, message: str) -> None:
    with pytest.raises(GnmiValueError) as caught:
        act()  # type: ignore[operator]
    assert str(caught.value) == message


def test_a_leaf_list_is_decoded_not_dropped() -> None:
    array = messages.ScalarArray(element=[messages.TypedValue(string_val="a"), messages.TypedValue(uint_val=2)])
    assert values.decode(messages.TypedValue(leaflist_val=array)) == ["a", 2]

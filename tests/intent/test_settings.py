"""Other values of the keys of an intent on a command line are checked as those of the file are."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.errors import RailfabError, each
from railfab.intent.document import read_document
from railfab.intent.load import load_fabric
from railfab.intent.settings import alternatives, set_keys, with_settings

POD64 = Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml"
ECN = "profile.lossless.ecn.400"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("profile.hash.seed=1,7", ["profile.hash.seed=1", "profile.hash.seed=7"]),
        ("a={kmin_bytes: 1kB, kmax_bytes: 2kB},true", ["a={kmin_bytes: 1kB, kmax_bytes: 2kB}", "a=true"]),
        ("a=[x, y],'b,c'", ["a=[x, y]", "a='b,c'"]),
        ("a=b=c", ["a=b=c"]),
    ],
)
def test_a_comma_outside_of_brackets_and_quotes_begins_another_value(text: str, expected: list[str]) -> None:
    assert list(alternatives(text)) == expected


def test_values_stand_in_place_of_those_of_the_file_and_the_rest_stays() -> None:
    ramp = f"{ECN}={{kmin_bytes: 100kB, kmax_bytes: 400kB, pmax_percent: 5}}"
    intent, _ = load_fabric(POD64, (ramp, "profile.hash.seed=7", "profile.ecmp=flow"))
    stated, _ = load_fabric(POD64)
    assert intent.profile.lossless is not None
    spine = intent.profile.lossless.ramp(400, "spine")
    assert spine is not None
    assert (spine.kmin_bytes, spine.kmax_bytes, spine.pmax_percent) == (100_000, 400_000, 5)
    assert intent.profile.hash.seed == 7
    assert (intent.profile.lossless.dscp, intent.backend, stated.profile.hash.seed) == (26, stated.backend, None)


def test_keys_of_one_mapping_can_be_set_one_by_one() -> None:
    document = with_settings(read_document(POD64), (f"{ECN}.kmin_bytes=1kB", f"{ECN}.kmax_bytes=2kB"))
    assert document.content["profile"]["lossless"]["ecn"] == {400: {"kmin_bytes": "1kB", "kmax_bytes": "2kB"}}
    assert set_keys((f"{ECN}.kmin_bytes=1kB", f"{ECN}.kmin_bytes=2kB")) == (f"{ECN}.kmin_bytes",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("profile.hash.sed=7",), "profile.hash.sed: unknown key. Did you mean 'seed'?"),
        (("profile.hash.seed=-1",), "profile.hash.seed: -1 is out of range. Use 0 to 65000."),
        (
            (f"{ECN}.kmin_bytes=4kB", f"{ECN}.kmax_bytes=2kB"),
            f"{ECN}.kmax_bytes: kmin_bytes 4,000 is not below kmax_bytes 2,000",
        ),
        (("profile.ecmp.seed=7",), "--set profile.ecmp.seed=7: profile.ecmp is 'flow' in the file, which has no keys."),
        (("profile.hash={seed",), "--set profile.hash={seed: invalid YAML"),
    ],
)
def test_values_that_cannot_be_are_refused_with_their_keys(settings: tuple[str, ...], message: str) -> None:
    with pytest.raises(RailfabError) as raised:
        load_fabric(POD64, settings)
    assert any(message in str(error) for error in each(raised.value)), raised.value


@pytest.mark.parametrize("text", ["profile.hash.seed", "=7"])
def test_a_setting_has_a_key_and_a_value(text: str) -> None:
    with pytest.raises(RailfabError, match=r"it has no key and value. Write KEY=VALUE"):
        alternatives(text)

"""Which sizes fit two tiers at which radix, by hand."""

from pathlib import Path

import pytest

from railfab.intent import load_intent
from railfab.topology.dimensions import Dimensions
from railfab.topology.scale import Scale, scale, three_tiers, two_tiers

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"


def test_what_a_folded_clos_takes() -> None:
    assert [two_tiers(radix) for radix in (32, 64, 128, 512)] == [512, 2048, 8192, 131_072]
    assert [three_tiers(radix) for radix in (4, 32, 64, 128)] == [16, 8192, 65_536, 524_288]


@pytest.mark.parametrize(
    ("name", "ports", "radix", "two", "two_tier_radix"),
    [
        ("gpu1024", 1024, 64, True, 64),
        ("gpu16384", 16_384, 64, False, 256),
        ("gpu32768", 32_768, 128, False, 256),
        ("gpu131072", 131_072, 128, False, 512),
        ("dual-plane", 512, 128, True, 32),
    ],
)
def test_the_large_fabrics(name: str, ports: int, radix: int, two: bool, two_tier_radix: int) -> None:
    found = scale(Dimensions(load_intent(FABRICS / f"{name}.yml")))
    assert (found.ports, found.radix, found.fits_two_tiers, found.two_tier_radix) == (ports, radix, two, two_tier_radix)


def test_a_size_fits_to_its_last_port() -> None:
    sizes = [Scale(ports=ports, rate_gbps=400, radix=32, two_tier_radix=64) for ports in (512, 513)]
    assert [size.fits_two_tiers for size in sizes] == [True, False]

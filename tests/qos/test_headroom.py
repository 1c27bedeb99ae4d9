"""PFC headroom per chip: laws for any port, and the tables that vendors publish for SONiC."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.qos import Chip, chip_of, chips, headroom_terms, port_headroom
from railfab.qos.headroom import LARGE_PACKET_BYTES, MIXED_PERCENT, SMALL_PERCENT, occupancy, response_bits
from railfab.topology import catalogue

CHIPS = st.sampled_from(sorted(chips())).map(chip_of)
RATES = st.sampled_from([10, 25, 40, 50, 100, 200, 400, 800])
METRES = st.floats(0.5, 2000)
MTUS = st.integers(1500, 9398)
PERCENTS = st.sampled_from([MIXED_PERCENT, SMALL_PERCENT])

SPECTRUM_5 = Chip(
    name="Spectrum-5",
    cell_bytes=192,
    mac_phy_bytes=819.2,
    pipeline_bytes=0,
    internal_ns=120,
    uncertainty="published",
    source="SONiC asic_table.j2, MELLANOX-SPECTRUM-5",
)
"""Without the pipeline: `xoff` in the table of SN5640 leaves it out."""

SN5640 = {
    (100, 5): 44_032,
    (200, 5): 50_176,
    (400, 5): 86_016,
    (100, 40): 49_152,
    (200, 40): 60_416,
    (400, 40): 104_448,
    (100, 300): 83_968,
    (200, 300): 130_048,
    (400, 300): 243_712,
    (400, 1000): 619_520,
}
"""xoff of device/mellanox/x86_64-nvidia_sn5640-r0/Mellanox-SN5640-C512S2/pg_profile_lookup.ini (sonic-buildimage)."""

SN5600 = {
    (100, 5): 113_664,
    (200, 5): 131_072,
    (400, 5): 231_424,
    (100, 40): 126_976,
    (200, 40): 157_696,
    (400, 40): 283_648,
    (100, 300): 225_280,
    (200, 300): 355_328,
    (400, 300): 677_888,
}
"""The same of device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600: all packets small, where SN5640 has half of them."""


@pytest.mark.parametrize(("port", "published"), SN5640.items())
def test_half_small_packets_give_the_table_of_sn5640(port: tuple[int, int], published: int) -> None:
    """Its inputs: packets of 4096, an MTU of 9216 as frame size. It rounds up to KiB and leaves out the pause, and
    preamble and gap of the frames."""
    rate_gbps, cable_m = port
    terms = headroom_terms(rate_gbps=rate_gbps, cable_m=cable_m, mtu_bytes=9216 - 18, chip=SPECTRUM_5)
    share = occupancy(SPECTRUM_5, MIXED_PERCENT, large_bytes=4096)
    exact = (terms.in_flight - 20 - 84) * share + 4096
    assert share == pytest.approx(1.0615, abs=1e-4)
    assert published - 1024 < exact <= published


@pytest.mark.parametrize(("port", "published"), SN5600.items())
def test_small_packets_alone_give_the_table_of_sn5600(port: tuple[int, int], published: int) -> None:
    """Each of 64 bytes in a cell of 192: three times the data in flight."""
    rate_gbps, cable_m = port
    chip = chip_of("Spectrum-4")
    terms = headroom_terms(
        rate_gbps=rate_gbps, cable_m=cable_m, mtu_bytes=9216 - 18, chip=chip, small_percent=SMALL_PERCENT
    )
    assert terms.occupancy == 3
    exact = (terms.in_flight - 20 - 84) * 3 + LARGE_PACKET_BYTES
    assert published - 1024 < exact <= published


def test_a_port_of_400g_worked_by_hand() -> None:
    """Spectrum-4, 40 m: 9,254 of our frame, 84 of the pause, 2 x 40 / 198,000 km/s x 400 Gb/s = 20,202, 819.2 and
    120 ns = 6,000 in the chip, 905 quanta = 57,920; 64 of 544 bytes are small, in cells of three times the size."""
    terms = headroom_terms(rate_gbps=400, cable_m=40, mtu_bytes=9216, chip=chip_of("Spectrum-4"))
    assert terms.in_flight == pytest.approx(9_254 + 84 + 20_202 + 819.2 + 6_000 + 57_920, abs=1)
    assert terms.occupancy == pytest.approx(1 + 64 / 544 * 2)
    assert terms.total == -(-int(9_254 + terms.in_flight * terms.occupancy + 19_456) // 192) * 192 == 145_344


@given(chip=CHIPS, rate_gbps=RATES, cable_m=METRES, mtu_bytes=MTUS, small=PERCENTS)
def test_headroom_is_whole_cells_and_holds_what_is_in_flight(
    chip: Chip, rate_gbps: int, cable_m: float, mtu_bytes: int, small: int
) -> None:
    terms = headroom_terms(rate_gbps=rate_gbps, cable_m=cable_m, mtu_bytes=mtu_bytes, chip=chip, small_percent=small)
    assert terms.total % chip.cell_bytes == 0
    assert terms.total >= terms.in_flight + terms.their_frame + terms.pipeline
    assert terms.occupancy >= 1


@given(chip=CHIPS, rate_gbps=RATES, cable_m=METRES, more_m=st.floats(0, 500), mtu_bytes=MTUS, more=st.integers(0, 500))
def test_a_longer_cable_a_larger_packet_or_a_faster_port_never_needs_less(
    chip: Chip, rate_gbps: int, cable_m: float, more_m: float, mtu_bytes: int, more: int
) -> None:
    def of(rate: int, metres: float, mtu: int) -> tuple[int, int]:
        found = port_headroom(rate_gbps=rate, cable_m=metres, mtu_bytes=mtu, chip=chip)
        return found.mixed_bytes, found.worst_bytes

    least = of(rate_gbps, cable_m, mtu_bytes)
    for larger in (
        of(rate_gbps, cable_m + more_m, mtu_bytes),
        of(rate_gbps, cable_m, mtu_bytes + more),
        of(2 * rate_gbps, cable_m, mtu_bytes),
    ):
        assert all(one <= other for one, other in zip(least, larger, strict=True))


@given(chip=CHIPS, rate_gbps=RATES, cable_m=METRES, mtu_bytes=MTUS, default_bytes=st.integers(0, 10**7))
def test_a_port_never_gets_less_than_its_platforms_default_or_a_vendors_figure(
    chip: Chip, rate_gbps: int, cable_m: float, mtu_bytes: int, default_bytes: int
) -> None:
    found = port_headroom(
        rate_gbps=rate_gbps, cable_m=cable_m, mtu_bytes=mtu_bytes, chip=chip, default_bytes=default_bytes
    )
    assert found.worst_bytes >= max(default_bytes, found.mixed_bytes, chip.published_bytes(rate_gbps, cable_m))


@given(chip=CHIPS, rate_gbps=RATES, cable_m=METRES, frame_bytes=st.integers(64, 9216))
def test_a_smaller_lossless_frame_saves_its_difference_once(
    chip: Chip, rate_gbps: int, cable_m: float, frame_bytes: int
) -> None:
    """Our own frame, behind which the pause waits, may be of any class."""
    port = {"rate_gbps": rate_gbps, "cable_m": cable_m, "mtu_bytes": 9198, "chip": chip}
    saved = headroom_terms(**port).total - headroom_terms(**port, lossless_frame_bytes=frame_bytes).total
    assert saved == pytest.approx(9216 - frame_bytes, abs=chip.cell_bytes)


@pytest.mark.parametrize(
    ("rate_gbps", "quanta"), [(10, 67), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905)]
)
def test_the_response_time_is_that_of_its_speed(rate_gbps: int, quanta: int) -> None:
    """Pause quanta of 512 bits, as SONiC computes with; 800G the same time as 400G, in twice the bits."""
    assert response_bits(rate_gbps) == quanta * 512
    assert response_bits(800) == 2 * 905 * 512


@pytest.mark.parametrize("chip", chips().values(), ids=list(chips()))
def test_the_published_table_is_met_at_its_points_and_grows_between_and_beyond(chip: Chip) -> None:
    for rate_gbps, table in chip.published.items():
        for cable_m, published in table.items():
            assert published <= chip.published_bytes(rate_gbps, cable_m) < published + chip.cell_bytes
        lengths = (1, *table, 3000)
        sizes = [chip.published_bytes(rate_gbps, cable_m) for cable_m in lengths]
        assert sizes == sorted(sizes)
    for slower, faster in pairwise(chip.published.values()):
        assert all(slower[m] <= faster[m] for m in slower if m in faster)


def test_the_worst_case_covers_what_vendors_publish() -> None:
    """So the estimated figures are not too small."""
    assert sum(bool(chip.published) for chip in chips().values()) >= 3
    lower = [
        (chip.name, rate_gbps, cable_m)
        for chip in chips().values()
        for rate_gbps, table in chip.published.items()
        for cable_m, published in table.items()
        if headroom_terms(
            rate_gbps=rate_gbps, cable_m=cable_m, mtu_bytes=9216, chip=chip, small_percent=SMALL_PERCENT
        ).total
        < published
    ]
    assert lower == []


def test_every_chip_of_the_catalogue_has_figures_with_a_source() -> None:
    silicon = {model.silicon for model in catalogue().values()}
    assert all(chip_of(name).source for name in silicon)
    unknown = chip_of("a chip of a user")
    assert unknown == chip_of("other")
    for chip, figure in product(chips().values(), ("cell_bytes", "mac_phy_bytes", "pipeline_bytes", "internal_ns")):
        assert getattr(unknown, figure) >= getattr(chip, figure), "what is not published is the largest of its kind"

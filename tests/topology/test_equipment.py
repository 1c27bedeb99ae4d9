"""Host models, cables and optics."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.errors import TopologyError
from railfab.intent import Hosts
from railfab.topology.catalogue import load_data
from railfab.topology.equipment import Media, host_model, host_of, lane_modes, media
from railfab.topology.signals import LinkMatch, LinkMismatch, match_ends, nic_signals

RATES = sorted({medium.rate_gbps for medium in media()})


def between(rate_gbps: int, cable_m: float, lane_gbps: int) -> LinkMatch | LinkMismatch:
    """What joins two ports alike, of lanes of up to `lane_gbps`."""
    ends = nic_signals(rate_gbps, lane_gbps)
    return match_ends(ends, ends, cable_m)


def test_the_default_host_is_eight_gpus_of_80_gb_in_8_units_and_10_kilowatts() -> None:
    host = host_model(Hosts().model)
    assert (host.gpus, host.gpu_memory_gb, host.power_w, host.units) == (8, 80, 10_200, 8)


@pytest.mark.parametrize("name", load_data("equipment.yml")["hosts"])
def test_a_host_model_says_where_its_figures_are_from(name: str) -> None:
    host = host_model(name)
    assert host.source
    assert host.gpus <= 72
    assert 250 <= host.power_w / host.gpus <= 2000


def test_an_unknown_host_model_is_refused() -> None:
    with pytest.raises(TopologyError) as caught:
        host_model("dgx-h10")
    text = (
        "hosts.model: 'dgx-h10' is not in the catalogue of host models. Did you mean 'dgx-h100'? "
        "The choices are dgx-a100, dgx-b200, "
    )
    assert str(caught.value).startswith(text)


def test_media_have_names_of_their_own_sources_and_whole_lanes() -> None:
    assert len({medium.name for medium in media()}) == len(media())
    for medium in media():
        assert medium.source
        assert medium.rate_gbps == medium.lanes * medium.lane_gbps
        assert medium.pluggables_per_end in {0, 1}
        assert medium.pluggables_per_end or not medium.gearbox


@pytest.mark.parametrize(
    ("rate_gbps", "cable_m", "lane_gbps", "name"),
    [
        (400, 3, 100, "400G-CR4 DAC"),
        (400, 3, 50, "400G-CR8 DAC"),
        (400, 5, 100, "400G LACC 4 x 100G"),
        (400, 7, 50, "400G AEC 8 x 50G"),
        (400, 30, 50, "400G AOC 8 x 50G"),
        (400, 40, 100, "400GBASE-VR4"),
        (400, 40, 50, "400GBASE-SR8"),
        (400, 101, 50, "400GBASE-DR4"),
        (400, 501, 100, "400GBASE-FR4"),
        (800, 2.5, 100, "800G-CR8 DAC"),
        (800, 120, 100, "800GBASE-DR8"),
        (100, 5, 25, "100G-CR4 DAC"),
        (100, 5, 50, "100G AEC 2 x 50G"),
        (100, 300, 50, "100GBASE-DR"),
        (1, 60, 100, "1000BASE-T"),
        (1, 101, 10, "1000BASE-LX"),
    ],
)
def test_the_shortest_reach_that_does_is_taken(rate_gbps: int, cable_m: float, lane_gbps: int, name: str) -> None:
    found = between(rate_gbps, cable_m, lane_gbps)
    assert isinstance(found, LinkMatch)
    assert found.media.name == name


@given(st.sampled_from(RATES), st.sampled_from([25, 50, 100]), st.floats(0.5, 500), st.floats(0.5, 500))
def test_a_longer_cable_never_has_the_shorter_reach(
    rate_gbps: int, lane_gbps: int, one_m: float, other_m: float
) -> None:
    reaches: list[float] = []
    for cable_m in sorted((one_m, other_m)):
        found = between(rate_gbps, cable_m, lane_gbps)
        reaches.append(found.media.reach_m if isinstance(found, LinkMatch) else float("inf"))
        assert reaches[-1] >= cable_m
    assert reaches == sorted(reaches)


def test_lanes_make_up_a_rate() -> None:
    assert list(lane_modes(400, 100, 8)) == [100, 50]
    assert list(lane_modes(400, 100, 4)) == [100]
    assert list(lane_modes(100, 50, 2)) == [50]
    assert list(lane_modes(40, 100, 8)) == [10]
    assert list(lane_modes(33, 100, 8)) == []


def test_only_a_gearbox_takes_slower_lanes() -> None:
    fields = {"name": "m", "rate_gbps": 400, "lanes": 4, "reach_m": 1, "power_w": 1, "source": "s"}
    plain = Media(**fields, pluggables_per_end=1)
    geared = Media(**fields, pluggables_per_end=1, gearbox=True)
    assert [plain.supports(lane) for lane in (50, 100, 200)] == [False, True, False]
    assert [geared.supports(lane) for lane in (50, 100, 200)] == [True, True, False]


def test_an_intent_may_say_what_its_own_servers_are() -> None:
    own = host_of(Hosts(power_w=6000, units=4, gpu_memory_gb=48))
    assert (own.power_w, own.units, own.gpu_memory_gb, own.gpus) == (6000, 4, 48, 8)
    assert host_of(Hosts()) == host_model("gpu-server-8")

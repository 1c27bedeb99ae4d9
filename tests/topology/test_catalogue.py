"""The catalogue of switches: names, speeds, sources, and what a user adds."""

from collections import Counter
from importlib.resources import files

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from railfab.errors import Problems, TopologyError
from railfab.intent import Backend, CatalogueFile, FabricIntent, InterfaceNames, Segments, SwitchEntry
from railfab.topology.catalogue import SwitchModel, catalogue, model_named, models_of, switch_model

LINUX = {"linux-16", "linux-64", "linux-128", "linux-256"}
REAL = sorted(set(catalogue()) - LINUX)


def intent_with(**switches: SwitchEntry) -> FabricIntent:
    segments = Segments(hosts=4, rail_switches=2, model="7220-ixr-d5")
    return FabricIntent(version=1, fabric="f", backend=Backend(segments=segments), switches=switches)


def own_switch(**changes: object) -> SwitchEntry:
    names = {"eos": InterfaceNames(cage="Ethernet{cage}/1", lane="Ethernet{cage}/{first}")}
    fields = {"vendor": "v", "silicon": "s", "cages": 4, "speeds_gbps": (400,), "buffer_bytes": 1, "names": names}
    return SwitchEntry(**{**fields, **changes})


def test_the_built_in_file_is_one_that_a_user_could_write() -> None:
    document = yaml.safe_load(files("railfab.topology").joinpath("catalogue.yml").read_text())
    assert set(CatalogueFile(switches=document).switches) == set(catalogue())


def test_every_vendor_of_the_field_is_there_with_its_own_platform() -> None:
    vendors = Counter(switch_model(name).vendor for name in REAL)
    assert sum(vendors.values()) >= 18
    assert set(vendors) == {"Arista", "Celestica", "Cisco", "Dell", "Edgecore", "Juniper", "NVIDIA", "Nokia"}
    platforms = {platform for name in REAL for platform in switch_model(name).names}
    assert platforms == {"cumulus", "eos", "junos", "nxos", "sonic", "srlinux"}
    assert {switch_model(name).platform for name in LINUX} == {"frr"}


@pytest.mark.parametrize("name", REAL)
def test_a_model_says_where_its_figures_are_from_and_what_it_takes_of_a_rack(name: str) -> None:
    model = switch_model(name)
    assert model.source
    assert model.units in {1, 2}
    assert 100 <= model.power_w <= 3000
    assert model.buffer_bytes >= 2_000_000
    assert model.cage


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_no_two_ports_of_a_model_share_a_name(name: str) -> None:
    model = switch_model(name)
    for platform in model.names:
        for lanes in (1, *model.breakouts):
            names = model.interface_names(platform, lanes)
            assert len(set(names)) == len(names) == model.cages * lanes


@pytest.mark.parametrize("name", REAL)
def test_breakouts_fit_into_a_cage_and_its_lanes(name: str) -> None:
    model = switch_model(name)
    assert max(model.speeds_gbps) == model.electrical_lanes * model.lane_gbps
    for lanes, speeds in model.breakouts.items():
        assert lanes <= model.electrical_lanes
        assert lanes * max(speeds) <= max(model.speeds_gbps)
        assert all(model.lanes_for(speed) in model.breakouts for speed in speeds)


@pytest.mark.parametrize(
    ("name", "platform", "lanes", "first", "last"),
    [
        ("7220-ixr-d5", "srlinux", 1, ["ethernet-1/1", "ethernet-1/2"], "ethernet-1/32"),
        ("7220-ixr-d5", "srlinux", 4, ["ethernet-1/1/1", "ethernet-1/1/2"], "ethernet-1/32/4"),
        ("7060x6-64pe", "eos", 1, ["Ethernet1/1", "Ethernet2/1"], "Ethernet64/1"),
        ("7060x6-64pe", "eos", 2, ["Ethernet1/1", "Ethernet1/5"], "Ethernet64/5"),
        ("7060x6-64pe", "eos", 4, ["Ethernet1/1", "Ethernet1/3"], "Ethernet64/7"),
        ("7010tx-48", "eos", 1, ["Ethernet1", "Ethernet2"], "Ethernet52"),
        ("n9k-c9348d-gx2a", "nxos", 1, ["Ethernet1/1", "Ethernet1/2"], "Ethernet1/48"),
        ("n9k-c9348d-gx2a", "nxos", 2, ["Ethernet1/1/1", "Ethernet1/1/2"], "Ethernet1/48/2"),
        ("qfx5240-64od", "junos", 1, ["et-0/0/0", "et-0/0/1"], "et-0/0/63"),
        ("qfx5240-64od", "junos", 2, ["et-0/0/0:0", "et-0/0/0:1"], "et-0/0/63:1"),
        ("sn5600", "cumulus", 2, ["swp1s0", "swp1s1"], "swp64s1"),
        # SONiC's port_config of Mellanox-SN5600-O128 and of Celestica's DS5000
        ("sn5600", "sonic", 2, ["Ethernet0", "Ethernet4", "Ethernet8"], "Ethernet508"),
        ("ds5000", "sonic", 1, ["Ethernet0", "Ethernet8", "Ethernet16"], "Ethernet504"),
        ("linux-16", "frr", 1, ["swp1", "swp2"], "swp16"),
    ],
)
def test_ports_are_called_as_their_platform_calls_them(
    name: str, platform: str, lanes: int, first: list[str], last: str
) -> None:
    names = switch_model(name).interface_names(platform, lanes)
    assert [*names[: len(first)]] == first
    assert names[-1] == last


@given(st.sampled_from(sorted(catalogue())), st.data())
def test_one_port_is_called_as_in_the_list_of_all(name: str, data: st.DataObject) -> None:
    model = switch_model(name)
    platform = data.draw(st.sampled_from(sorted(model.names)))
    lanes = data.draw(st.sampled_from([1, *model.breakouts]))
    cage, lane = data.draw(st.integers(1, model.cages)), data.draw(st.integers(1, lanes))
    one = model.interface(platform, cage, None if lanes == 1 else lane, lanes)
    assert one == model.interface_names(platform, lanes)[(cage - 1) * lanes + lane - 1]


def test_a_speed_comes_from_a_whole_cage_or_from_the_most_lanes() -> None:
    model = switch_model("sn5600")
    assert [model.lanes_for(rate) for rate in (800, 400, 200, 100, 40)] == [1, 2, 4, 4, None]
    assert switch_model("7220-ixr-d2l").lanes_for(25) == 1


def test_a_platform_that_a_model_does_not_run_is_refused() -> None:
    with pytest.raises(TopologyError, match=r"switch sn5600: does not run platform 'eos'\. Use cumulus, sonic\."):
        switch_model("sn5600").interface_names("eos", 1)


def test_a_cage_that_breaks_out_nowhere_is_refused() -> None:
    with pytest.raises(
        TopologyError, match=r"switch linux-16: breakout is not supported on frr\. Use speeds without breakout\."
    ):
        switch_model("linux-16").interface("frr", 1, 2)


def test_an_unknown_switch_that_resembles_a_known_one_is_asked_about() -> None:
    with pytest.raises(TopologyError) as caught:
        switch_model("SN5601")
    text = "switch 'SN5601': is not in the catalogue. Did you mean 'sn5610'? The choices are 7010tx-48, 7050dx4-32s, "
    assert str(caught.value).startswith(text)
    with pytest.raises(TopologyError, match=r"switch 'x9': is not in the catalogue\. Use 7010tx-48, 7050dx4-32s, "):
        model_named(intent_with(), "x9")


def test_the_models_of_an_intent_are_the_built_in_ones_and_its_own() -> None:
    intent = intent_with(mine=own_switch(breakouts={2: (200,)}))
    assert set(models_of(intent)) == {*catalogue(), "mine"}
    mine = model_named(intent, "mine")
    assert isinstance(mine, SwitchModel)
    assert mine.interface_names("eos", 2)[:3] == ("Ethernet1/1", "Ethernet1/3", "Ethernet2/1")
    assert model_named(intent, "sn5600") is switch_model("sn5600")
    assert models_of(intent_with()) is catalogue()


def test_a_user_who_copies_an_entry_gets_the_same_model() -> None:
    document = yaml.safe_load(files("railfab.topology").joinpath("catalogue.yml").read_text())
    copied = CatalogueFile(switches={f"my-{name}": entry for name, entry in document.items()}).switches
    intent = intent_with(**copied)
    for name, model in catalogue().items():
        mine = model_named(intent, f"my-{name}")
        assert (mine.names, mine.breakouts, mine.source) == (model.names, model.breakouts, model.source)


def test_every_fault_of_a_users_switches_is_said() -> None:
    pattern = {
        "eos": InterfaceNames(cage="Ethernet{cages}"),
        "junos": InterfaceNames(cage="et-{port}", lane="{lane:9}"),
    }
    intent = intent_with(
        sn5600=own_switch(),
        bare=own_switch(speeds_gbps=(), names={}),
        odd=own_switch(names=pattern, breakouts={8: (100,)}),
        open=own_switch(names={"eos": InterfaceNames(cage="Ethernet{cage")}),
    )
    with pytest.raises(Problems) as caught:
        models_of(intent)
    cage, lane = "{cage}, {electrical}, {port}", "{cage}, {electrical}, {first}, {lane}, {port}, {sub}"
    assert str(caught.value).splitlines() == [
        "switches.sn5600: the built-in catalogue has a model of this name. Use another name.",
        "switches.bare.speeds_gbps: the list is empty. Add the speeds of a cage without breakout.",
        "switches.bare.names: the mapping is empty. Add the port names of at least one platform.",
        f"switches.odd.names.eos.cage: 'Ethernet{{cages}}' is not a name pattern. Use only the fields {cage}.",
        f"switches.odd.names.junos.lane: '{{lane:9}}' is not a name pattern. Use only the fields {lane}.",
        "switches.odd.breakouts.8: 8 x 100 Gb/s exceeds the 400 Gb/s of a cage. Use fewer lanes or a lower speed.",
        f"switches.open.names.eos.cage: 'Ethernet{{cage' is not a name pattern. Use only the fields {cage}.",
    ]


@pytest.mark.parametrize("lane", ["Ethernet{cage}", "{lane}", "e{cage}{lane}"])
def test_patterns_that_name_two_ports_alike_are_refused(lane: str) -> None:
    entry = own_switch(cages=16, names={"eos": InterfaceNames(cage="Ethernet{cage}", lane=lane)})
    model = model_named(intent_with(mine=entry), "mine")
    with pytest.raises(TopologyError) as caught:
        model.interface_names("eos", 16)
    assert str(caught.value) == (
        f"switch mine: {lane!r} gives two of 16 x 16 ports the same name on eos. Use {{cage}}, and {{lane}} for "
        "breakout ports."
    )


PIECES = st.sampled_from([*"{}!:.[]0 e", "{cage}", "{port}", "{electrical}", "{lane}", "cage", "{{", "}}"])


@given(st.lists(PIECES, min_size=1, max_size=8).map("".join))
def test_no_pattern_of_a_user_ends_in_a_traceback(pattern: str) -> None:
    try:
        model = model_named(intent_with(mine=own_switch(names={"eos": InterfaceNames(cage=pattern)})), "mine")
        names = model.interface_names("eos", 1)
    except TopologyError:
        return
    assert len(set(names)) == 4

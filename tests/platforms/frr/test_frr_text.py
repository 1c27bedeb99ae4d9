"""FRR configuration text: equal to FRR's own output, accepted by FRR's grammar, and parsed without losing a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address, ip_interface
from itertools import islice, product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.platforms.frr.grammar import grammar, refused_lines
from tests.platforms.frr.switches import LEAF, RICH, SPINE, inside, text, with_bgp, with_neighbors
from tests.sampled import sampled

from railfab.device import (
    Action,
    BfdTimers,
    BgpTimers,
    DeviceModel,
    Lag,
    NetworkInstance,
    Policy,
    PolicyRule,
)
from railfab.errors import ConfigError, Problems, RailfabError
from railfab.fabric import design
from railfab.platforms import admit, platform
from railfab.platforms.frr.lines import FORMAT
from railfab.platforms.frr.names import device_name, interface_name
from railfab.platforms.frr.render import ROUTER_ADVERTISEMENTS
from railfab.platforms.frr.spelling import as_running
from railfab.platforms.shared.line_tree import Line
from railfab.testing.device_models import device_models

FRR = platform("frr")
GOLDEN = Path(__file__).parents[2] / "golden" / "frr"
SWITCHES = (LEAF, SPINE, RICH)
FIRST_LIST = "ip prefix-list fabric-import-10"


@pytest.mark.parametrize("model", SWITCHES, ids=lambda model: model.name)
def test_the_text_equals_the_output_of_real_frr(model: DeviceModel) -> None:
    """`show running-config no-header` of FRR 8.4.4; an integration test holds a live switch to the same text."""
    assert text(model) == (GOLDEN / f"{model.name}.conf").read_text()


@pytest.mark.lab
@pytest.mark.parametrize("lab", ["frr-pod", "frr-evpn"])
def test_frr_accepts_every_switch_of_a_lab(repository: Path, tmp_path: Path, lab: str) -> None:
    for name, configuration in design(repository / "labs" / lab / "intent.yml").configurations().items():
        (tmp_path / name).write_text(configuration)
        assert grammar(tmp_path / name) == (0, ""), name


@pytest.mark.lab
@given(model=device_models("frr"))
@settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))
def test_frr_accepts_any_planned_model(tmp_path_factory: pytest.TempPathFactory, model: DeviceModel) -> None:
    path = tmp_path_factory.mktemp("drawn") / "frr.conf"
    path.write_text(text(admit(model, FRR)))
    assert grammar(path) == (0, "")


BROKEN = {
    "a word for a number of paths": (" maximum-paths 64\n", " maximum-paths sixty\n"),
    "more paths than FRR was built for": (" maximum-paths 64\n", " maximum-paths 1024\n"),
    "an AS number of 33 bits": ("router bgp 4200000001\n", "router bgp 4294967296\n"),
    "a hold time above 65535 s": ("swp2 timers 5 15\n", "swp2 timers 5 65536\n"),
    "updates rarer than FRR takes": ("swp2 advertisement-interval 0\n", "swp2 advertisement-interval 601\n"),
    "a peer that is neither inside nor outside": ("10.255.0.2 remote-as internal\n", "10.255.0.2 remote-as inside\n"),
    "a hop limit above 255": ("10.9.0.1 ebgp-multihop 3\n", "10.9.0.1 ebgp-multihop 256\n"),
    "an address without a length": (" ip address 10.1.0.0/31\n", " ip address 10.1.0.0\n"),
    "an address of five bytes": ("bgp router-id 10.255.0.1\n", "bgp router-id 10.255.0.1.1\n"),
    "a family that FRR has not": (" address-family l2vpn evpn\n", " address-family l2vpn vxlan\n"),
    "an action that is neither permit nor deny": ("seq 5 permit 10.0.0.0/8\n", "seq 5 allow 10.0.0.0/8\n"),
    "an entry of a route map without a number": ("route-map fabric permit 30\n", "route-map fabric permit last\n"),
    "a VNI of 25 bits": (" vni 20100\n", " vni 16777216\n"),
    "a BFD multiplier above 255": ("  detect-multiplier 6\n", "  detect-multiplier 256\n"),
    "a misspelt word": ("  transmit-interval 1000\n", "  transmit-intervall 1000\n"),
}
"""A line of a whole switch, and what stands in its place."""


@pytest.mark.lab
@pytest.mark.parametrize("mistake", BROKEN)
def test_frr_and_our_command_list_refuse_a_broken_configuration(tmp_path: Path, mistake: str) -> None:
    line, instead = BROKEN[mistake]
    whole, path = text(RICH), tmp_path / "frr.conf"
    assert line in whole
    path.write_text(whole.replace(line, instead, 1))
    assert refused_lines(path)[0] == whole[: whole.index(line)].count("\n") + 1
    assert FRR.refusals is not None
    assert FRR.refusals(whole) == ()
    assert FRR.refusals(path.read_text())


def test_a_parsed_text_renders_to_the_same_text() -> None:
    assert FORMAT.text(FORMAT.tree(text(LEAF))) == text(LEAF)


@pytest.mark.parametrize("model", SWITCHES, ids=lambda model: model.name)
def test_a_rendered_model_parses_to_the_same_model(model: DeviceModel) -> None:
    assert FRR.parse(text(model)) == model


@pytest.mark.parametrize("indent", [" ", "  ", "\t"])
def test_indentation_header_comments_and_missing_exits_make_no_difference(indent: str) -> None:
    exits = ("exit", "exit-address-family", "end")
    lines = [line for line in text(RICH).splitlines() if line.strip() not in exits]
    indented = [indent * (len(line) - len(line.lstrip())) + line.lstrip() for line in lines]
    header = ["Building configuration...", "", "Current configuration:", "!", "frr version 8.4.4", "# a remark"]
    assert FRR.parse("\n".join([*header, *indented])) == RICH


@pytest.mark.parametrize(
    ("name", "device"),
    [("loopback0", "lo"), ("loopback1", "lo1"), ("lag3", "bond3"), ("vlan10", "vlan10"), ("swp1s2", "swp1s2")],
)
def test_linux_and_the_model_name_an_interface(name: str, device: str) -> None:
    assert device_name(name) == device
    assert interface_name(device) == name


def test_prefix_lists_keep_their_bounds() -> None:
    ranges = inside("10.0.0.0/8", 8), inside("10.0.0.0/8", 8, 24), inside("10.0.0.0/8", 24, 32)
    rule = PolicyRule(action=Action.PERMIT, prefixes=ranges)
    model = replace(LEAF, policies=(Policy(name="few", rules=(rule,)),))
    shown = [line for line in text(model).splitlines() if "prefix-list few-10 seq" in line]
    assert shown == [
        "ip prefix-list few-10 seq 5 permit 10.0.0.0/8",
        "ip prefix-list few-10 seq 10 permit 10.0.0.0/8 le 24",
        "ip prefix-list few-10 seq 15 permit 10.0.0.0/8 ge 24 le 32",
    ]
    assert FRR.parse(text(model)) == model


def test_a_rule_of_both_families_becomes_two_entries_and_one_rule_again() -> None:
    """FRR applies both `match` lines of an entry, and no route has prefixes of both families."""
    rule = PolicyRule(action=Action.DENY, prefixes=(inside("10.0.0.0/8", 8), inside("fd00::/16", 64)))
    model = replace(LEAF, policies=(Policy(name="both", rules=(rule, rule)),))
    shown = [line for line in text(model).splitlines() if line.startswith("route-map both")]
    assert shown == [f"route-map both deny {sequence}" for sequence in (10, 15, 20, 25)]
    assert FRR.parse(text(model)) == model


def test_a_rule_whose_list_is_missing_matches_nothing_and_is_left_out() -> None:
    """FRR treats a list that does not exist as one that matches no route; a rule without conditions matches all."""
    kept = [line for line in text(LEAF).splitlines() if "prefix-list fabric-import-10 seq" not in line]
    model = FRR.parse("\n".join(kept))
    assert model.policy("fabric-import") == replace(LEAF.policies[1], rules=LEAF.policies[1].rules[1:])
    assert "ip prefix-list fabric-import-20 seq 5 permit 10.16.0.0/12 ge 31 le 31" in model.unmodelled


@pytest.mark.parametrize(
    ("below", "line"),
    [
        (" match ip address prefix-list fabric-import-10", " match tag 7"),
        (FIRST_LIST, f"{FIRST_LIST} seq 1 deny 10.254.7.0/24"),
        (FIRST_LIST, f"{FIRST_LIST} seq 1 deny any"),
    ],
    ids=["another condition", "a denied prefix", "all denied first"],
)
def test_a_rule_whose_condition_the_model_cannot_say_is_left_out(below: str, line: str) -> None:
    """Without its condition it would permit every route."""
    model = FRR.parse(text(LEAF).replace(below, f"{line}\n{below}", 1))
    assert model.policy("fabric-import") == replace(LEAF.policies[1], rules=LEAF.policies[1].rules[1:])
    assert model.unmodelled


def test_a_list_that_denies_all_others_is_the_list_without_that_entry() -> None:
    last = "ip prefix-list fabric-import-20 seq 5 permit 10.16.0.0/12 ge 31 le 31\n"
    model = FRR.parse(text(LEAF).replace(last, f"{last}ip prefix-list fabric-import-20 seq 10 deny any\n"))
    assert model.policies == LEAF.policies
    assert model.unmodelled == ("ip prefix-list fabric-import-20 seq 10 deny any",)


def test_bounds_that_frr_omits_are_parsed() -> None:
    exact = "fabric-import-10 seq 5 permit 10.254.0.0/15 ge 32 le 32"
    anything = FRR.parse(text(LEAF).replace(exact, "fabric-import-10 seq 5 permit any"))
    policy = anything.policy("fabric-import")
    assert policy is not None
    assert policy.rules[0].prefixes == (inside("0.0.0.0/0", 0, 32),)


def test_the_timers_of_frr_defaults_profiles_are_parsed() -> None:
    found = FRR.parse(text(LEAF).replace("frr defaults datacenter", "frr defaults traditional"))
    assert {neighbor.timers for neighbor in found.neighbors} == {BgpTimers(keepalive_s=60, hold_s=180)}
    assert found.unmodelled[:2] == ("frr defaults traditional", "no frr defaults datacenter")


def test_other_bfd_timers_use_another_profile() -> None:
    """FRR has no `no` for the timers of a profile."""
    first, second, third = LEAF.neighbors
    timers = [BfdTimers(interval_ms=ms, multiplier=3) for ms in (300, 400)]
    neighbors = (replace(first, bfd=timers[0]), replace(second, bfd=timers[1]), replace(third, bfd=None))
    model = with_bgp(LEAF, neighbors=neighbors)
    profiles = [line for line in text(model).splitlines() if line.startswith(" profile ")]
    assert profiles == [" profile FABRIC-300X3", " profile FABRIC-400X3"]
    assert FRR.parse(text(model)) == model


def lines_of(tree: tuple[Line, ...]) -> Iterator[tuple[int, ...]]:
    """The place of every line: its index, after those of its sections."""
    for index, line in enumerate(tree):
        yield (index,)
        yield from ((index, *below) for below in lines_of(line.children))


def edited(tree: tuple[Line, ...], place: tuple[int, ...], *instead: str) -> tuple[Line, ...]:
    """The tree with other lines in one place; the lines below it stay below the first of them."""
    index, *below = place
    line = tree[index]
    if below:
        found: tuple[Line, ...] = (Line(line.text, edited(line.children, tuple(below), *instead)),)
    else:
        found = tuple(Line(word, line.children if number == 0 else ()) for number, word in enumerate(instead))
    return (*tree[:index], *found, *tree[index + 1 :])


def line_at(tree: tuple[Line, ...], place: tuple[int, ...]) -> Line:
    for index in place[:-1]:
        tree = tree[index].children
    return tree[place[-1]]


@pytest.mark.parametrize("every", sampled([4, 1], few=[4]))
@pytest.mark.parametrize("model", SWITCHES, ids=lambda model: model.name)
def test_no_line_can_be_deleted_repeated_or_added_without_a_trace(model: DeviceModel, every: int) -> None:
    tree = FRR.render(model)
    for place, edit in islice(product(lines_of(tree), ("delete", "repeat", "add")), None, None, every):
        line = line_at(tree, place)
        if line.text == "bfd":
            continue  # an empty section of FRR's own
        instead = {"delete": (), "repeat": (line.text, line.text), "add": (line.text, "bogus knob 7")}[edit]
        changed = edited(tree, place, *instead)
        is_same = as_running(changed) == as_running(tree)
        assert (FRR.parse(FORMAT.text(changed)) == model) is is_same, line
        implied = line.text == ROUTER_ADVERTISEMENTS or line.text.endswith(" bfd")
        assert not is_same or implied or edit == "repeat"


@given(drawn=st.data())
@settings(max_examples=examples(300), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_changed_line_changes_the_model_or_its_unmodelled_part(drawn: st.DataObject) -> None:
    """Another word or number in any line; a value that cannot be is an error."""
    model = drawn.draw(st.sampled_from(SWITCHES) | device_models("frr").map(lambda model: admit(model, FRR)))
    tree = FRR.render(model)
    place = drawn.draw(st.sampled_from(list(lines_of(tree))))
    words = line_at(tree, place).text.split()
    index = drawn.draw(st.integers(0, len(words) - 1))
    other = drawn.draw(st.sampled_from((str(drawn.draw(st.integers(0, 300))), "x", f"no {words[index]}")))
    changed = " ".join([*words[:index], other, *words[index + 1 :]])
    if changed == " ".join(words):
        return
    try:
        after = FRR.parse(FORMAT.text(edited(tree, place, changed)))
    except (ConfigError, Problems):
        return
    assert (after == model) is (as_running(edited(tree, place, changed)) == as_running(tree)), changed


UNMODELLED = {
    "a setting of a neighbour": (
        " neighbor swp1 bfd\n",
        " neighbor swp1 bfd\n neighbor swp1 password x\n",
        ("router bgp 4200001001: neighbor swp1 password x",),
    ),
    "another routing protocol": (
        "!\nrouter bgp",
        "!\nrouter ospf\n ospf router-id 10.255.1.1\nexit\n!\nrouter bgp",
        ("router ospf", "router ospf: ospf router-id 10.255.1.1"),
    ),
    "forwarding that is off": (
        "log syslog informational\n",
        "log syslog informational\nno ip forwarding\n",
        ("no ip forwarding",),
    ),
    "a value that is a word": (
        "maximum-paths 64",
        "maximum-paths sixty",
        ("router bgp 4200001001: address-family ipv4 unicast: maximum-paths sixty",),
    ),
    "one interval each way": (
        "  receive-interval 1000\n",
        "  receive-interval 400\n",
        ("bfd: profile FABRIC-1000X6: transmit-interval 1000",),
    ),
    "a prefix list that denies first": (
        "ip prefix-list fabric-import-20",
        "ip prefix-list fabric-import-20 seq 1 deny any\nip prefix-list fabric-import-20",
        ("ip prefix-list fabric-import-20 seq 1 deny any",),
    ),
    "a peer over IPv4 where there is an address": (
        " neighbor swp10 interface v6only remote-as 65001\n",
        " neighbor swp10 interface remote-as 65001\n",
        (
            "router bgp 4200001001: neighbor swp10 interface remote-as 65001",
            "router bgp 4200001001: no neighbor swp10 interface v6only remote-as 65001",
        ),
    ),
    "a peer group": (
        " neighbor swp1 bfd\n",
        " neighbor swp1 bfd\n neighbor SPINES peer-group\n neighbor 10.1.1.1 peer-group SPINES\n",
        (
            "router bgp 4200001001: neighbor 10.1.1.1 peer-group SPINES",
            "router bgp 4200001001: neighbor SPINES peer-group",
        ),
    ),
}


@pytest.mark.parametrize(("found", "instead", "kept"), UNMODELLED.values(), ids=UNMODELLED)
def test_what_the_model_has_no_word_for_is_kept_with_its_section(
    found: str, instead: str, kept: tuple[str, ...]
) -> None:
    assert found in text(LEAF)
    assert set(kept) <= set(FRR.parse(text(LEAF).replace(found, instead)).unmodelled)


def test_a_bfd_section_without_profiles_is_nothing() -> None:
    """FRR shows it for ever once it had a profile."""
    idle = with_neighbors(LEAF, bfd=None)
    assert FRR.parse(text(idle).replace("end\n", "bfd\nexit\n!\nend\n")) == idle


def test_a_vrf_is_parsed_with_its_router_and_neighbours() -> None:
    """In FRR's order; an interface is bound to a VRF by the system, and FRR does not show it."""
    added = "!\nvrf red\n vni 5001\nexit-vrf\n!\ninterface lo\n"
    router = """!
router bgp 4200001001 vrf red
 bgp router-id 10.255.9.1
 bgp ebgp-requires-policy
 bgp bestpath as-path multipath-relax
 neighbor 10.9.0.1 remote-as 65001
 !
 address-family ipv4 unicast
  redistribute connected
  maximum-paths 64
  maximum-paths ibgp 1
 exit-address-family
 !
 address-family l2vpn evpn
  advertise ipv4 unicast
 exit-address-family
exit
!
ip prefix-list"""
    shown = text(LEAF).replace("!\ninterface lo\n", added).replace("!\nip prefix-list", router, 1)
    model = FRR.parse(shown)
    assert model.network_instances == (NetworkInstance(name="red", vni=5001, router_id=IPv4Address("10.255.9.1")),)
    assert [found.key for found in model.neighbors][-1] == "red 10.9.0.1"
    assert model.unmodelled == ()
    assert text(model) == shown


def test_a_configuration_without_hostname_or_bgp_is_parsed() -> None:
    model = FRR.parse("frr version 8.4.4\nfrr defaults datacenter\nend\n")
    assert (model.name, model.bgp, model.interfaces) == ("", None, ())
    assert model.unmodelled == ("no log syslog informational", "no service integrated-vtysh-config")


def errors(message: str) -> list[str]:
    with pytest.raises(RailfabError) as refused:
        FRR.parse(message)
    found = refused.value.errors if isinstance(refused.value, Problems) else (refused.value,)
    assert all(isinstance(error, ConfigError) for error in found)
    return [str(error) for error in found]


CASES = {
    "a bad address": (
        " ip address 10.16.9.0/31\n",
        " ip address 10.16.9.0/33\n",
        "line 22, in interface swp3: 'ip address 10.16.9.0/33' has a bad value"
        " ('10.16.9.0/33' does not appear to be an IPv4 or IPv6 interface). Correct the value.",
    ),
    "an address of the other family": (
        " ip address 10.16.9.0/31\n",
        " ip address fd00::1/64\n",
        "line 22, in interface swp3: 'ip address fd00::1/64' has a bad value (fd00::1/64 is not an IPv4 address)."
        " Correct the value.",
    ),
    "too many paths": (
        "maximum-paths 64",
        "maximum-paths 512",
        "line 52, in address-family ipv4 unicast: 'maximum-paths 512' has a bad value (512 is not within 1 to 256)."
        " Correct the value.",
    ),
    "bounds that exclude each other": (
        "fabric-import-20 seq 5 permit 10.16.0.0/12 ge 31 le 31",
        "fabric-import-20 seq 5 permit 10.16.0.0/12 ge 31 le 30",
        "line 60: 'ip prefix-list fabric-import-20 seq 5 permit 10.16.0.0/12 ge 31 le 30' has a bad value"
        " (30 is not within 31 to 32). Correct the value.",
    ),
}


@pytest.mark.parametrize(("found", "instead", "message"), CASES.values(), ids=CASES)
def test_an_impossible_value_is_an_error_that_names_its_line(found: str, instead: str, message: str) -> None:
    assert found in text(LEAF)
    assert message in errors(text(LEAF).replace(found, instead))


def test_all_errors_are_reported_together() -> None:
    broken = text(LEAF).replace("maximum-paths 64", "maximum-paths 0").replace("10.255.1.1/32", "10.255.1.1/40")
    assert [message.split(":")[0] for message in errors(broken)] == [
        "line 7, in interface lo",
        "line 52, in address-family ipv4 unicast",
    ]


BOND = Lag(
    name="lag1",
    members=(),
    description="to a host",
    addresses=(ip_interface("10.1.9.0/31"),),
    esi="00:00:00:01:00:01:00:01:01:01",
    system_mac="02:00:00:00:00:01",
)


def test_an_ethernet_segment_is_that_of_a_bond(tmp_path: Path) -> None:
    model = replace(LEAF, interfaces=(*LEAF.interfaces, BOND))
    lines = text(model).partition("interface bond1\n")[2].partition("exit\n")[0].splitlines()
    assert lines == [
        " description to a host",
        " evpn mh es-id 00:00:00:01:00:01:00:01:01:01",
        " evpn mh es-sys-mac 02:00:00:00:00:01",
        " ip address 10.1.9.0/31",
    ]
    assert FRR.parse(text(model)).interface("lag1") == BOND


@pytest.mark.lab
def test_frr_accepts_an_ethernet_segment(tmp_path: Path) -> None:
    path = tmp_path / "frr.conf"
    path.write_text(text(replace(LEAF, interfaces=(*LEAF.interfaces, BOND))))
    assert grammar(path) == (0, "")
    path.write_text(path.read_text().replace("es-sys-mac 02:00:00:00:00:01", "es-sys-mac 02:00"))
    assert grammar(path)[0] == 2


def test_targets_of_a_vni_are_not_those_of_a_vrf() -> None:
    """Lines below `vni` are of a VLAN, which the model of a switch does not have."""
    own = text(RICH)
    vni = "  vni 10100\n   route-target import 1:1\n  exit-vni\n"
    found = FRR.parse(own.replace("  advertise-all-vni\n", f"  advertise-all-vni\n{vni}"))
    assert replace(found, unmodelled=()) == RICH
    assert [line.rpartition(": ")[2] for line in found.unmodelled] == ["vni 10100", "route-target import 1:1"]


def test_a_switch_that_announces_no_vni_is_found() -> None:
    found = FRR.parse(text(RICH).replace("  advertise-all-vni\n", ""))
    assert found.unmodelled == ("router bgp 4200000001: address-family l2vpn evpn: no advertise-all-vni",)


def test_a_neighbor_whose_name_is_no_address_is_an_error_of_its_line() -> None:
    with pytest.raises(RailfabError, match=r"line 3, .*'00:11:22:33:44:55' does not appear to be an IPv4"):
        FRR.parse("hostname leaf1\nrouter bgp 65101\n neighbor 00:11:22:33:44:55 remote-as 65001\n")

"""FRR configuration text: equal to FRR's own output, accepted by FRR's grammar, and parsed with all errors."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from tests.platforms.frr.switches import LEAF, SPINE, text

from railfab.device import BfdTimers, DeviceModel, PrefixRange
from railfab.errors import ConfigError, Problems, RailfabError
from railfab.fabric import design
from railfab.platforms import admit, platform
from railfab.platforms.frr.lines import FORMAT
from railfab.testing.device_models import device_models

FRR = platform("frr")
GOLDEN = Path(__file__).parents[2] / "golden" / "frr"


def grammar(path: Path) -> tuple[int, str]:
    """Exit status and output of `vtysh -C` for a file."""
    done = subprocess.run(["vtysh", "-C", "-f", str(path)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("model", [LEAF, SPINE], ids=lambda model: model.name)
def test_the_text_equals_the_output_of_real_frr(model: DeviceModel) -> None:
    """`show running-config no-header` of FRR 8.4.4; an integration test holds a live switch to the same text."""
    assert text(model) == (GOLDEN / f"{model.name}.conf").read_text()


@pytest.mark.lab
def test_frr_accepts_every_switch_of_the_lab_pod(repository: Path, tmp_path: Path) -> None:
    for name, configuration in design(repository / "labs" / "frr-pod" / "intent.yml").configurations().items():
        (tmp_path / name).write_text(configuration)
        assert grammar(tmp_path / name) == (0, ""), name


@pytest.mark.lab
@given(model=device_models("frr"))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_frr_accepts_any_planned_model(tmp_path_factory: pytest.TempPathFactory, model: DeviceModel) -> None:
    path = tmp_path_factory.mktemp("drawn") / "frr.conf"
    path.write_text(text(admit(model, FRR)))
    assert grammar(path) == (0, "")


@pytest.mark.lab
def test_frr_refuses_an_unknown_value(tmp_path: Path) -> None:
    path = tmp_path / "frr.conf"
    path.write_text(text(LEAF).replace("maximum-paths 64", "maximum-paths sixty"))
    status, message = grammar(path)
    assert status == 2
    assert message.startswith("line 51: % Unknown command")


def test_a_parsed_text_renders_to_the_same_text() -> None:
    assert FORMAT.text(FORMAT.tree(text(LEAF))) == text(LEAF)


@pytest.mark.parametrize("indent", [" ", "  ", "\t"])
def test_indentation_header_comments_and_missing_exits_make_no_difference(indent: str) -> None:
    lines = [line for line in text(LEAF).splitlines() if line.strip() not in ("exit", "exit-address-family")]
    indented = [indent * (len(line) - len(line.lstrip())) + line.lstrip() for line in lines if line.strip() != "end"]
    header = ["Building configuration...", "", "Current configuration:", "!", "frr version 8.4.4", "# a remark"]
    assert FRR.parse("\n".join([*header, *indented])) == LEAF


def test_prefix_lists_keep_their_order_and_bounds() -> None:
    ranges = (
        PrefixRange(prefix=IPv4Network("10.0.0.0/8"), ge=8, le=8),
        PrefixRange(prefix=IPv4Network("10.0.0.0/8"), ge=8, le=24),
        PrefixRange(prefix=IPv4Network("10.0.0.0/8"), ge=24, le=32),
    )
    model = replace(LEAF, bgp=replace(LEAF.bgp, import_prefixes=ranges))
    shown = [line for line in text(model).splitlines() if "IMPORT seq" in line]
    assert shown == [
        "ip prefix-list IMPORT seq 5 permit 10.0.0.0/8",
        "ip prefix-list IMPORT seq 10 permit 10.0.0.0/8 le 24",
        "ip prefix-list IMPORT seq 15 permit 10.0.0.0/8 ge 24 le 32",
    ]
    assert FRR.parse(text(model)) == model


def test_bounds_that_frr_omits_are_parsed() -> None:
    message = text(LEAF).replace("10.254.0.0/15 ge 32 le 32", "10.254.0.0/15 ge 32")
    assert FRR.parse(message) == LEAF
    anything = FRR.parse(text(LEAF).replace("permit 10.254.0.0/15 ge 32 le 32", "permit any"))
    assert anything.bgp.import_prefixes[0] == PrefixRange(prefix=IPv4Network("0.0.0.0/0"), ge=0, le=32)


def test_a_policy_that_permits_nothing_denies_any() -> None:
    model = replace(LEAF, bgp=replace(LEAF.bgp, import_prefixes=()))
    assert "ip prefix-list IMPORT seq 5 deny any\n" in text(model)
    assert FRR.parse(text(model)) == model


def test_the_timers_of_frr_defaults_profiles_are_parsed() -> None:
    traditional = text(LEAF).replace("frr defaults datacenter", "frr defaults traditional")
    found = FRR.parse(traditional).bgp
    assert (found.keepalive_s, found.hold_s) == (60, 180)


def test_other_bfd_timers_use_another_profile() -> None:
    """FRR has no `no` for the timers of a profile."""
    first, second = (replace(LEAF, bfd=BfdTimers(interval_ms=ms, multiplier=3)) for ms in (300, 400))
    profiles = [
        {line for line in text(model).splitlines() if line.startswith(" profile ")} for model in (first, second)
    ]
    assert not profiles[0] & profiles[1]


def errors(message: str) -> list[str]:
    with pytest.raises(RailfabError) as refused:
        FRR.parse(message)
    found = refused.value.errors if isinstance(refused.value, Problems) else (refused.value,)
    assert all(isinstance(error, ConfigError) for error in found)
    return [str(error) for error in found]


CASES = {
    "an unknown line": (
        " neighbor swp1 bfd\n",
        " neighbor swp1 bfd\n neighbor swp1 password x\n",
        "line 35, in router bgp 4200001001: 'neighbor swp1 password x' is not supported. Correct it, or remove it.",
    ),
    "a line of another routing protocol": (
        "!\nrouter bgp",
        "!\nrouter ospf\n ospf router-id 10.255.1.1\nexit\n!\nrouter bgp",
        "line 30: 'router ospf' is not supported. Correct it, or remove it.",
    ),
    "forwarding that is off": (
        "log syslog informational\n",
        "log syslog informational\nno ip forwarding\n",
        "line 4: 'no ip forwarding' is not supported. Correct it, or remove it.",
    ),
    "a bad address": (
        " ip address 10.16.9.0/31\n",
        " ip address 10.16.9.0/33\n",
        "line 22, in interface swp3: 'ip address 10.16.9.0/33' has a bad value"
        " ('33' is not a valid netmask). Correct the value.",
    ),
    "a second address": (
        " ip address 10.16.9.0/31\n",
        " ip address 10.16.9.0/31\n ip address 10.16.9.4/31\n",
        "line 23, in interface swp3: 'ip address 10.16.9.4/31' has a bad value (the interface already has an address)."
        " Correct the value.",
    ),
    "a loopback that is a subnet": (
        "10.255.1.1/32",
        "10.255.1.1/24",
        "line 7, in interface lo: 'ip address 10.255.1.1/24' has a bad value (the loopback needs exactly one /32)."
        " Correct the value.",
    ),
    "two names": (
        "hostname rft-leaf\n",
        "hostname rft-leaf\nhostname leaf9\n",
        "line 3: 'hostname leaf9' has a bad value (the hostname is already rft-leaf). Correct the value.",
    ),
    "too many paths": (
        "maximum-paths 64",
        "maximum-paths 512",
        "line 51, in address-family ipv4 unicast: 'maximum-paths 512' has a bad value (512 is not within 1 to 256)."
        " Correct the value.",
    ),
    "a prefix list that is another's": (
        " match ip address prefix-list IMPORT\n",
        " match ip address prefix-list EXPORT\n",
        "line 65, in route-map IMPORT permit 10: 'match ip address prefix-list EXPORT' has a bad value"
        " (route-map IMPORT must match prefix-list IMPORT). Correct the value.",
    ),
    "bounds that exclude each other": (
        "IMPORT seq 10 permit 10.16.0.0/12 ge 31 le 31",
        "IMPORT seq 10 permit 10.16.0.0/12 ge 31 le 30",
        "line 58: 'ip prefix-list IMPORT seq 10 permit 10.16.0.0/12 ge 31 le 30' has a bad value"
        " (30 is not within 31 to 32). Correct the value.",
    ),
    "no name": ("hostname rft-leaf\n", "", "configuration: `hostname NAME` is missing. Add it."),
    "no router id": (
        " bgp router-id 10.255.1.1\n",
        "",
        "router bgp 4200001001: `bgp router-id A.B.C.D` is missing. Add it.",
    ),
    "paths that must be the same": (
        " bgp bestpath as-path multipath-relax\n",
        "",
        "router bgp 4200001001: `bgp bestpath as-path multipath-relax` is missing. Add it.",
    ),
    "own prefixes that are not announced": (
        "  redistribute connected route-map EXPORT\n",
        "",
        "router bgp 4200001001: `redistribute connected route-map EXPORT` is missing. Add it.",
    ),
    "a neighbour without a policy": (
        "  neighbor swp1 route-map IMPORT in\n",
        "",
        "line 33, neighbor swp1: `neighbor swp1 route-map IMPORT in` is missing. Add it.",
    ),
    "a neighbour without an AS number": (
        " neighbor swp1 interface v6only remote-as 65001\n",
        "",
        "line 33, neighbor swp1: `neighbor swp1 remote-as AS` is missing. Add it.",
    ),
    "a neighbour on no interface": (
        "swp1 ",
        "swp7 ",
        "line 33, neighbor swp7: is not a configured interface. Configure the interface towards it.",
    ),
    "a neighbour in no subnet": (
        "neighbor 10.16.9.1 ",
        "neighbor 10.16.9.9 ",
        "line 39, neighbor 10.16.9.9: is in no interface's subnet. Configure the interface towards it.",
    ),
    "an unnumbered neighbour that would get an address": (
        " neighbor swp10 interface v6only remote-as 65001\n",
        " neighbor swp10 interface remote-as 65001\n",
        "line 36, neighbor swp10: peers over 10.1.0.0/31 instead of a link-local address."
        " Write `neighbor swp10 interface v6only remote-as 65001`.",
    ),
    "a profile that is not defined": (
        " neighbor swp1 bfd profile FABRIC-1000X6\n",
        " neighbor swp1 bfd profile FAST\n",
        "line 33, neighbor swp1: uses BFD profile FAST, which is not defined. Define it under `bfd`.",
    ),
    "a session with BFD's default timers": (
        " neighbor swp1 bfd profile FABRIC-1000X6\n",
        "",
        "line 33, neighbor swp1: `neighbor swp1 bfd profile FABRIC-1000X6` is missing. Add it.",
    ),
    "one interval each way": (
        "  receive-interval 1000\n",
        "  receive-interval 400\n",
        "bfd profile FABRIC-1000X6: transmits every 1000 ms and receives every 400 ms. Use the same interval for both.",
    ),
    "a second profile": (
        " profile FABRIC-1000X6\n",
        " profile SLOW\n exit\n !\n profile FABRIC-1000X6\n",
        "bfd: has 2 profiles. Use one profile for all neighbours.",
    ),
    "a prefix list that denies first": (
        "ip prefix-list IMPORT seq 10",
        "ip prefix-list IMPORT seq 7 deny any\nip prefix-list IMPORT seq 10",
        "ip prefix-list IMPORT: has `deny any` and other entries. Remove `deny any`, or the others.",
    ),
}


@pytest.mark.parametrize(("found", "instead", "message"), CASES.values(), ids=CASES)
def test_an_error_names_its_line_or_section(found: str, instead: str, message: str) -> None:
    broken = text(LEAF)
    if "peers over" in message:
        broken = broken.replace("interface swp10\n", "interface swp10\n ip address 10.1.0.0/31\n")
        message = message.replace("line 36", "line 37")
    assert found in broken
    assert message in errors(broken.replace(found, instead))


def test_all_errors_are_reported_together() -> None:
    broken = text(LEAF).replace("maximum-paths 64", "maximum-paths none").replace("hostname rft-leaf\n", "nonsense\n")
    assert errors(broken) == [
        "line 2: 'nonsense' is not supported. Correct it, or remove it.",
        "line 51, in address-family ipv4 unicast: 'maximum-paths none' is not supported. Correct it, or remove it.",
        "configuration: `hostname NAME` is missing. Add it.",
    ]


def test_missing_lines_of_an_empty_configuration_are_named() -> None:
    assert errors("frr version 8.4.4\nfrr defaults datacenter\nend\n") == [
        "configuration: `hostname NAME` is missing. Add it.",
        "interface lo: `ip address A.B.C.D/32` is missing. Add it.",
        "configuration: `router bgp AS` is missing. Add it.",
    ]

"""Other spellings of lines become those that FRR 8.4 runs; what each is was seen in `show running-config` of 8.4.4."""

from __future__ import annotations

import pytest

from railfab.platforms.frr.commands import refusals
from railfab.platforms.frr.lines import FORMAT
from railfab.platforms.frr.spelling import as_running

GROUP = """router bgp 65001
 neighbor G peer-group
 neighbor G remote-as external
 neighbor G timers 1 3
 neighbor swp1 interface peer-group G
 neighbor 10.8.0.1 peer-group G
 neighbor 10.8.0.1 timers 10 30
 address-family ipv4 unicast
  neighbor G route-map R in
  neighbor swp1 route-map S in
"""


def lines(text: str) -> list[str]:
    """Every line of a text as FRR runs it, after its sections."""

    def below(tree: tuple[object, ...], above: str = "") -> list[str]:
        return [path for line in tree for path in (f"{above}{line.text}", *below(line.children, f"{line.text}: "))]  # type: ignore[attr-defined]

    return below(as_running(FORMAT.tree(f"frr defaults datacenter\n{text}")))[1:]


def test_a_member_has_the_settings_of_its_group_but_for_its_own() -> None:
    router, family = "router bgp 65001", "address-family ipv4 unicast"
    assert sorted(lines(GROUP)) == sorted(
        [
            router,
            f"{router}: neighbor swp1 interface remote-as external",
            f"{router}: neighbor swp1 timers 1 3",
            f"{router}: neighbor 10.8.0.1 remote-as external",
            f"{router}: neighbor 10.8.0.1 timers 10 30",
            f"{router}: {family}",
            f"{family}: neighbor 10.8.0.1 route-map R in",
            f"{family}: neighbor swp1 route-map S in",
            "interface swp1",
            "interface swp1: no ipv6 nd suppress-ra",
        ]
    )


@pytest.mark.parametrize(
    "kept",
    [
        GROUP.replace(" neighbor G remote-as external\n", ""),  # no AS number
        GROUP.replace(" neighbor G timers", " bgp listen range 10.9.0.0/24 peer-group G\n neighbor G timers"),
    ],
)
def test_a_group_without_as_number_or_of_dynamic_neighbors_stays(kept: str) -> None:
    assert "router bgp 65001: neighbor G peer-group" in lines(kept)


@pytest.mark.parametrize(
    ("text", "running"),
    [
        ("ip prefix-list A permit 10.17.2.3/12 ge 31", ["ip prefix-list A seq 5 permit 10.16.0.0/12 ge 31"]),
        (
            "ip prefix-list A seq 7 permit 10.1.0.0/16\nip prefix-list A permit 10.2.0.0/16",
            ["ip prefix-list A seq 5 permit 10.1.0.0/16", "ip prefix-list A seq 10 permit 10.2.0.0/16"],
        ),
        (
            "ip prefix-list A seq 7 deny 10.1.0.0/16\nip prefix-list A permit any",
            ["ip prefix-list A seq 7 deny 10.1.0.0/16", "ip prefix-list A seq 10 permit any"],
        ),
        (
            "ip prefix-list A seq 5 permit 10.1.0.0/16\nip prefix-list A seq 10 permit 10.1.0.0/16",
            ["ip prefix-list A seq 5 permit 10.1.0.0/16"],
        ),
    ],
)
def test_entries_of_a_prefix_list(text: str, running: list[str]) -> None:
    assert lines(text) == running


@pytest.mark.parametrize(("stated", "running"), [("9 9", None), ("3 9", None), ("60 30", "10 30"), ("0 0", "0 0")])
def test_a_keepalive_time_is_at_most_a_third_of_the_hold_time(stated: str, running: str | None) -> None:
    router = "router bgp 65001"
    expected = [router] if running is None else [router, f"{router}: timers bgp {running}"]
    assert lines(f"{router}\n timers bgp {stated}\n") == expected


def test_a_prefix_with_other_host_bits_twice_in_a_list_is_refused() -> None:
    """FRR 8.4.4 prints that it rejects the entries, has none of them, and vtysh ends with 0."""
    once = "ip prefix-list A permit 10.1.0.0/16\n"
    assert refusals(once * 2) == ()
    (refusal,) = refusals(f"{once}ip prefix-list A permit 10.1.9.9/16\n")
    assert (refusal.where, refusal.is_unknown) == ("ip prefix-list A permit 10.1.9.9/16", False)
    assert (
        refusal.problem
        == "repeats a prefix with other host bits, so that FRR rejects the lists around it, and vtysh ends with 0"
    )


def test_a_section_that_stands_there_twice_is_one() -> None:
    router = "router bgp 65001"
    assert lines(f"{router}\n bgp shutdown\nexit\n{router}\n bgp graceful-shutdown\nexit\n") == [
        router,
        f"{router}: bgp shutdown",
        f"{router}: bgp graceful-shutdown",
    ]

"""What is different between two snapshots: words for it, and nothing where only a text was written otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from railfab.deploy import FabricSnapshot, compare_snapshots
from railfab.deploy.snapshot import FORMAT, PortSnapshot, SessionSnapshot, SwitchSnapshot
from railfab.fabric import Design, design

LEAF = "pod1-seg1-leaf1"


@pytest.fixture(scope="module")
def rack(repository: Path) -> Design:
    return design(repository / "tests" / "deploy" / "rack_eos.yml")


@pytest.fixture
def switch(rack: Design) -> SwitchSnapshot:
    return SwitchSnapshot(
        platform="eos",
        version="4.33.1F",
        model="7060dx5-64s",
        drained=False,
        pending=None,
        ports=(PortSnapshot(name="Ethernet1/1", up=True, mtu_bytes=9216, neighbor="spine Ethernet1/1"),),
        sessions=(SessionSnapshot(instance="default", peer="Ethernet1/1", established=True, bfd_up=True),),
        configuration=rack.texts[LEAF],
    )


def snapshot(switch: SwitchSnapshot | None, **unread: str) -> FabricSnapshot:
    switches = {} if switch is None else {LEAF: switch}
    return FabricSnapshot(
        format=FORMAT, fabric="rack", taken="2026-11-30T09:00:00+00:00", switches=switches, unread=unread
    )


def lines(before: SwitchSnapshot, **after: object) -> list[str]:
    """What is said of a switch that is otherwise afterwards."""
    (found,) = compare_snapshots(snapshot(before), snapshot(replace(before, **after))).switches  # type: ignore[arg-type]
    return list(found.lines)


def port(switch: SwitchSnapshot, **changes: object) -> dict[str, object]:
    (only,) = switch.ports
    return {"ports": (replace(only, **changes),)}  # type: ignore[arg-type]


def session(switch: SwitchSnapshot, **changes: object) -> dict[str, object]:
    (only,) = switch.sessions
    return {"sessions": (replace(only, **changes),)}  # type: ignore[arg-type]


def test_equal_switches_and_another_comment_are_no_difference(switch: SwitchSnapshot) -> None:
    assert lines(switch) == []
    assert lines(switch, configuration=f"! Last change at 12:00\n{switch.configuration}\n") == []


def test_settings_are_said_in_words_and_lines_without_one_are_counted(switch: SwitchSnapshot) -> None:
    changed = switch.configuration.replace("mtu 9216", "mtu 9000", 1)
    assert changed != switch.configuration
    (said,) = lines(switch, configuration=changed)
    assert said.startswith("interface Ethernet")
    assert said.endswith(": MTU 9216 -> 9000")
    (other,) = lines(switch, configuration=f"{switch.configuration}\nlogging buffered 9999\n")
    assert other == "switch: 1 other line added (logging buffered 9999)"
    assert lines(switch, configuration="interface Ethernet1/1\n   speed nonsense\n")


def test_software_drains_and_pending_changes_are_named(switch: SwitchSnapshot) -> None:
    assert lines(switch, version="4.34.2F") == ["version: 4.33.1F -> 4.34.2F"]
    assert lines(switch, version="") == ["version: 4.33.1F -> not reported"]
    assert lines(switch, drained=True) == ["is drained by railfab drain"]
    assert lines(replace(switch, drained=True), drained=False) == ["is drained no more"]
    assert lines(switch, pending="X/me@here") == ["unconfirmed change: none -> X/me@here"]
    assert "platform: eos -> nxos" in lines(switch, platform="nxos", configuration="")


def test_links_and_sessions_that_are_lost_are_named(switch: SwitchSnapshot) -> None:
    assert lines(switch, **port(switch, up=False, neighbor="")) == ["link Ethernet1/1: up -> down (spine Ethernet1/1)"]
    assert lines(switch, **port(switch, neighbor="")) == ["link Ethernet1/1: neighbor spine Ethernet1/1 -> not heard"]
    assert lines(switch, **port(switch, mtu_bytes=1500)) == ["port Ethernet1/1: MTU in effect 9216 -> 1500"]
    assert lines(switch, ports=()) == ["port Ethernet1/1: is gone"]
    assert lines(replace(switch, **port(switch, up=False)), ports=()) == []  # type: ignore[arg-type]
    assert lines(switch, **session(switch, established=False, bfd_up=False)) == ["session with Ethernet1/1: lost"]
    assert lines(switch, **session(switch, bfd_up=False)) == ["session with Ethernet1/1: BFD not up"]
    assert lines(switch, sessions=()) == ["session with Ethernet1/1: lost"]
    down = replace(switch, **session(switch, established=False))  # type: ignore[arg-type]
    assert lines(down, sessions=switch.sessions) == ["session with Ethernet1/1: established"]
    assert lines(down, sessions=()) == ["session with Ethernet1/1: removed, not established"]


def test_a_switch_that_one_side_lacks_is_unknown_and_never_equal(switch: SwitchSnapshot) -> None:
    before, after = snapshot(switch, leaf2="does not answer"), snapshot(None, **{LEAF: "rejects the login"})
    compared = compare_snapshots(before, after)
    assert compared.switches == compared.different == ()
    assert compared.unknown == (
        (LEAF, "after: rejects the login"),
        ("leaf2", "before: does not answer; after: has no such switch"),
    )

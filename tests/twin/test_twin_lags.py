"""LAGs of a running twin as their switches show them over gNMI, and what members that are lost do to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.twin.small_fabric import BUNDLED, LEAF, OTHER_SPINE, SPINE, bundled
from tests.twin.test_port_mistakes import bfd, mistake, names, session, statistics
from tests.twin.twins import Switch, made_job, ran, switch, until

from railfab.errors import UnsupportedFeature
from railfab.fabric.design import design
from railfab.twin import Twin
from railfab.twin.served import require_served

LAG, FAR_LAG = "lag1", "lag1"
MEMBERS, FAR_MEMBERS = ("ethernet-1/31", "ethernet-1/32"), ("ethernet-1/1", "ethernet-1/2")
EXCHANGE = made_job(phases=[{"collective": {"op": "allreduce", "bytes": "40MB", "group": "rail"}}], repeat=1)


class Ends(NamedTuple):
    """A running twin, and the switches at both ends of LAG."""

    twin: Twin
    leaf: Switch
    spine: Switch


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ends]:
    with ExitStack() as stack:
        state = tmp_path_factory.mktemp("state")
        twin = stack.enter_context(Twin(bundled(), state=state, base_port=0, configured=True))
        yield Ends(twin, *(stack.enter_context(switch(twin, name)) for name in (LEAF, SPINE)))


def lag(target: Switch, name: str = LAG) -> dict[str, Any]:
    """State of a LAG, and why its members are not in use; empty for one that is."""
    here = f"/interface[name={name}]"
    (found,) = target.values(f"{here}/lag").values()
    faults = {member["name"]: member.get("oper-down-reason", "") for member in found["member"]}
    return {"state": target.value(f"{here}/oper-state"), "speed": found["lag-speed"], **faults}


def disabled(*ports: str) -> dict[str, Any]:
    return {"update": [(f"/interface[name={port}]/admin-state", '"disable"') for port in ports]}


def up(first: str, second: str, *, speed: int = 800_000, **faults: str) -> dict[str, Any]:
    return {"state": "up", "speed": speed, first: "", second: "", **faults}


def far_port(target: Switch, port: str) -> str:
    """The port at the other end, as LLDP has it."""
    return str(target.value(f"/system/lldp/interface[name={port}]/neighbor[id=*]/port-id"))


def test_a_lag_is_up_with_its_members_and_has_the_session_and_they_have_the_neighbours(ends: Ends) -> None:
    assert lag(ends.leaf) == up(*MEMBERS)
    assert lag(ends.spine, FAR_LAG) == up(*FAR_MEMBERS)
    (member, *_) = ends.leaf.values(f"/interface[name={LAG}]/lag/member[name={MEMBERS[0]}]/lacp").values()
    assert (member["synchronization"], member["collecting"], member["distributing"]) == ("IN_SYNC", True, True)
    assert (session(ends.leaf, LAG)["session-state"], bfd(ends.leaf, LAG)) == ("established", "UP")
    assert [names(ends.leaf, port) for port in MEMBERS] == [[SPINE], [SPINE]]
    units = ends.leaf.values("/interface[name=*]/subinterface[index=0]/name").values()
    assert f"{LAG}.0" in units
    assert not {f"{port}.0" for port in MEMBERS} & {*units}


def test_a_lag_counts_what_its_members_do_and_has_queues_in_their_place(ends: Ends) -> None:
    ran(ends.twin, EXCHANGE)
    members = [statistics(ends.leaf, port) for port in MEMBERS]
    total = statistics(ends.leaf, LAG)
    assert total["out-octets"] > 1e6
    for counter in ("in-octets", "out-octets", "out-unicast-packets", "in-discarded-packets"):
        assert total[counter] == sum(member[counter] for member in members), counter
    queues = ends.leaf.values(
        "/qos/interfaces/interface[interface-id=*]/output/queues/queue[queue-name=roce]/queue-statistics"
    )
    assert not any(port in path for path in queues for port in MEMBERS)
    sent = ends.leaf.total(
        f"/qos/interfaces/interface[interface-id={LAG}]/output/queues/queue[queue-name=roce]"
        "/queue-statistics/aggregate-statistics/transmitted-octets"
    )
    assert sent > 0.9 * sum(member["out-octets"] for member in members)


def test_a_member_that_is_shut_down_leaves_the_lag_up_and_its_load_to_the_other(ends: Ends) -> None:
    shut, left = MEMBERS
    far_shut, far_left = (far_port(ends.leaf, port) for port in MEMBERS)
    with mistake(ends.leaf, **disabled(shut)):
        until(lambda: lag(ends.leaf) == up(shut, left, speed=400_000, **{shut: "port-disabled"}))
        until(lambda: lag(ends.spine, FAR_LAG)[far_shut] == "port-oper-disabled")
        assert lag(ends.spine, FAR_LAG)[far_left] == ""
        assert session(ends.leaf, LAG)["session-state"] == "established"
        before = {port: statistics(ends.leaf, port)["out-unicast-packets"] for port in (*MEMBERS, LAG)}
        ran(ends.twin, EXCHANGE)
        grown = {port: statistics(ends.leaf, port)["out-unicast-packets"] - held for port, held in before.items()}
        assert grown[shut] == 0
        assert grown[left] == grown[LAG] > 0
    until(lambda: lag(ends.leaf) == up(*MEMBERS))


def test_a_lag_without_members_is_down_and_so_is_its_session(ends: Ends) -> None:
    with mistake(ends.leaf, **disabled(*MEMBERS)):
        until(lambda: lag(ends.leaf)["state"] == lag(ends.spine, FAR_LAG)["state"] == "down")
        assert ends.leaf.value(f"/interface[name={LAG}]/oper-down-reason") == "no-active-links"
        assert ends.leaf.value(f"/interface[name={LAG}]/subinterface[index=0]/oper-state") == "down"
        until(lambda: session(ends.leaf, LAG)["session-state"] != "established")
        until(lambda: session(ends.spine, FAR_LAG)["session-state"] != "established")
    until(lambda: session(ends.leaf, LAG)["session-state"] == "established")


def test_a_cable_to_another_switch_is_not_bundled(ends: Ends) -> None:
    crossed, other = MEMBERS[0], "ethernet-1/29"
    ends.twin.exchange_cables((LEAF, crossed), (LEAF, other))
    until(lambda: lag(ends.leaf) == up(*MEMBERS, speed=400_000, **{crossed: "lacp-down"}))
    until(lambda: names(ends.leaf, crossed) == [OTHER_SPINE])
    assert ends.leaf.value(f"/interface[name={crossed}]/oper-state") == "up"
    ends.twin.exchange_cables((LEAF, crossed), (LEAF, other))
    until(lambda: lag(ends.leaf) == up(*MEMBERS))


def test_a_disabled_lag_says_so_at_its_members(ends: Ends) -> None:
    with mistake(ends.leaf, **disabled(LAG)):
        until(lambda: lag(ends.leaf) == {"state": "down", "speed": 0, **dict.fromkeys(MEMBERS, "lag-admin-disabled")})
        assert ends.leaf.value(f"/interface[name={LAG}]/oper-down-reason") == "port-admin-disabled"
        until(lambda: {*map(lag(ends.spine, FAR_LAG).get, FAR_MEMBERS)} == {"lacp-down"})
        assert ends.leaf.value(f"/interface[name={MEMBERS[0]}]/oper-state") == "up"
    until(lambda: lag(ends.leaf) == up(*MEMBERS))


def test_lags_of_a_platform_whose_lags_the_twin_does_not_show_are_refused_in_one_line(tmp_path: Path) -> None:
    intent = tmp_path / "bundled.yml"
    intent.write_text(BUNDLED.replace("srlinux", "eos").replace("7220-ixr-d5", "7050dx4-32s"))
    with pytest.raises(UnsupportedFeature) as caught:
        require_served(design(intent))
    assert str(caught.value) == (
        f"{LEAF} and 3 more: the twin does not show LAGs of eos. Use srlinux, or links without `bundle`."
    )

"""Numbers of the states in FRR's telemetry map."""

from __future__ import annotations

from railfab.platforms import platform

RULES = platform("frr").telemetry.rules


def test_every_bgp_state_has_its_number_of_the_bgp4_mib() -> None:
    rule = next(rule for rule in RULES if rule.metric == "fabric_bgp_session_state")
    order = ["IDLE", "CONNECT", "ACTIVE", "OPENSENT", "OPENCONFIRM", "ESTABLISHED"]
    assert rule.states == {state: number for number, state in enumerate(order, start=1)}


def test_a_speed_is_its_name_in_bytes_per_second() -> None:
    rule = next(rule for rule in RULES if rule.metric == "fabric_interface_speed_bytes_per_second")
    unit = {"MB": 1e6, "GB": 1e9}
    for name, value in (rule.states or {}).items():
        text = name.removeprefix("SPEED_")
        assert value == int(text[:-2]) * unit[text[-2:]] / 8, name

"""Mistakes at LAGs raise the right alerts and no others, on the rack of the list with LAGs between its switches."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.judge import Judge, verdicts, wanted_metrics
from tests.faults.matrix import problems
from tests.faults.mistakes import SWITCHES, Mistake
from tests.faults.trial import Rack, rack_of

LEAF = SWITCHES["L"]
LAG, MEMBER, OTHER_LAG, OTHER_LAGS_MEMBER = "lag1", "ethernet-1/32", "lag2", "ethernet-1/30"
PFC = "/qos/interfaces/interface[interface-id={}]/pfc/pfc-enable"
BEFORE_S, AFTER_S = 20.0, 90.0


def disabled(name: str) -> dict[str, dict[str, dict[str, str]]]:
    return {LEAF: {"update": {f"/interface[name={name}]/admin-state": "disable"}}}


MISTAKES = (
    Mistake(
        id="lag-member-disabled",
        title="a member of a LAG disabled: its link is down, and the session is not",
        edits=disabled(MEMBER),
        slow_hosts={},
        symptom=(
            f'fabric_interface_oper_up{{interface="{MEMBER}"}} == 0\n'
            f'and on (device) fabric_interface_oper_up{{interface="{LAG}"}} == 1'
        ),
        alert="FabricPortDisabled",
        also=("FabricLinkDown",),
    ),
    Mistake(
        id="lag-disabled",
        title="a LAG disabled: its session is down, and the links of its members are not",
        edits=disabled(LAG),
        slow_hosts={},
        symptom=f'fabric_interface_oper_up{{interface="{LAG}"}} == 0',
        alert="FabricBgpSessionDown",
    ),
    Mistake(
        id="lag-members-crossed",
        title="two members of two LAGs exchanged: neither is bundled, and both sessions are up",
        edits={},
        slow_hosts={},
        exchanged=((LEAF, MEMBER), (LEAF, OTHER_LAGS_MEMBER)),
        symptom=f'fabric_lldp_neighbor_info{{interface="{MEMBER}", peer_device="{SWITCHES["T"]}"}} == 1',
        alert="FabricCablingMismatch",
    ),
    Mistake(  # the second: SR Linux counts discards by member, and the packets of queues and priorities by LAG
        id="pfc-off-lags",
        title="PFC off on the LAGs of a leaf: their members drop",
        edits={LEAF: {"update": dict.fromkeys((PFC.format(LAG), PFC.format(OTHER_LAG)), False)}},
        slow_hosts={},
        job="incast",
        symptom=f'increase(fabric_pfc_dropped_packets_total{{interface=~"{LAG}|{OTHER_LAG}"}}[1m]) > 0',
        alert="FabricLosslessDrops",
        also=("FabricInterfaceDiscards", "FabricJobSlow"),
    ),
)


@pytest.mark.matrix
@pytest.mark.prometheus
@pytest.mark.timeout(900)
def test_mistakes_at_lags_raise_the_right_alerts_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "prometheus").mkdir()
    wanted = wanted_metrics(mistake.symptom for mistake in MISTAKES)
    with Rack(rack_of(bundle=True), tmp_path / "state", wanted) as rack:
        trials = [rack.tried(mistake, BEFORE_S, AFTER_S, idle=mistake.job != "incast") for mistake in MISTAKES]
    with Judge(tmp_path / "prometheus", [trial.scrapes for trial in trials]) as judge:
        found = verdicts(judge, trials)
    assert problems(trials, found) == {}

"""Other spellings of CONFIG_DB are read as railfab writes it, and a release refuses once for each cause."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from tests.audit.fabrics import fabric_of

from railfab.errors import ConfigError
from railfab.platforms import platform
from railfab.platforms.sonic.canonical import canonical
from railfab.platforms.sonic.tables import Tables

SONIC = platform("sonic")
LEAF = "pod1-seg1-leaf1"


def leaf(**changes: dict[str, Any]) -> Tables:
    """CONFIG_DB of a leaf, with rows laid over it."""
    tree: Tables = copy.deepcopy(json.loads(fabric_of("sonic", "routed").texts[LEAF]))
    for table, rows in changes.items():
        for row, fields in rows.items():
            tree.setdefault(table, {}).setdefault(row, {}).update(fields)
    return tree


def said(tree: Tables) -> list[str]:
    assert SONIC.refusals is not None
    return [f"{refusal.where} {refusal.problem}" for refusal in SONIC.refusals(SONIC.text(tree))]


def test_all_references_in_brackets_are_one_refusal() -> None:
    text = SONIC.text(leaf()).replace('"profile": "pg_400g-5m_roce"', '"profile": "[BUFFER_PROFILE|pg_400g-5m_roce]"')
    problem = (
        "names a row as [TABLE|row] (and 7 rows more), as images before 202106 did, and SONiC of August 2026 by its"
    )
    assert said(json.loads(text)) == [f"BUFFER_PG|Ethernet0|3 {problem} key alone"]


def test_an_interval_above_the_times_of_all_ports_is_one_refusal() -> None:
    rows = "PFC_WD|Ethernet0 (and 15 rows more)"
    above = said(leaf(PFC_WD={"GLOBAL": {"POLL_INTERVAL": "300"}}))
    assert above == [f"PFC_WD|GLOBAL POLL_INTERVAL is 300, above a time of {rows}"]
    assert said(leaf(PFC_WD={"GLOBAL": {"POLL_INTERVAL": "5000"}})) == [
        "PFC_WD|GLOBAL POLL_INTERVAL is '5000', which is not 100 to 1000"
    ]


def test_a_map_that_is_missing_is_one_refusal_for_all_its_ports() -> None:
    tree = leaf()
    del tree["DSCP_TO_TC_MAP"]
    missing = "is 'fabric', which is not a row of DSCP_TO_TC_MAP (and 15 rows more)"
    assert said(tree) == [f"PORT_QOS_MAP|Ethernet0 dscp_to_tc_map {missing}"]


def test_several_ports_in_a_row_are_a_note_of_what_takes_them() -> None:
    tree = leaf()
    fields = tree["BUFFER_PG"].pop("Ethernet0|3")
    del tree["BUFFER_PG"]["Ethernet8|3"]
    tree["BUFFER_PG"]["Ethernet0,Ethernet8|3"] = fields
    assert said(tree) == [
        "BUFFER_PG|Ethernet0,Ethernet8|3 is of several ports, which orchagent takes, and config replace refuses"
    ]


def test_rows_of_ports_and_ranges_stand_for_each() -> None:
    rows = {"Ethernet0,Ethernet4|3-4": {"profile": "a"}, "Ethernet0|0": {"profile": "b"}}
    each = {f"Ethernet{port}|{number}": {"profile": "a"} for port in (0, 4) for number in (3, 4)}
    assert canonical({"BUFFER_PG": rows}) == {"BUFFER_PG": {**each, "Ethernet0|0": {"profile": "b"}}}


def test_a_range_that_contradicts_a_row_stays() -> None:
    rows = {"Ethernet0|3-4": {"profile": "a"}, "Ethernet0|3": {"profile": "b"}}
    assert canonical({"BUFFER_PG": rows}) == {"BUFFER_PG": rows}


def test_a_range_beyond_the_queues_of_a_chip_is_an_error_at_once() -> None:
    """A range of a hundred million took a minute, and all memory."""
    with pytest.raises(ConfigError, match=r"BUFFER_PG\|Ethernet0\|0-99999999.* has a number above 63"):
        SONIC.parse(SONIC.text(leaf(BUFFER_PG={"Ethernet0|0-99999999": {"profile": "a"}})))


def test_a_prefix_keeps_its_number_beside_one_that_is_denied() -> None:
    permitted, denied = {"action": "permit"}, {"action": "deny"}
    mixed = {"a|5|10.0.0.0/8|exact": permitted, "a|6|11.0.0.0/8|exact": denied}
    tables = canonical({"PREFIX": {**mixed, "b|5|10.0.0.0/8|exact": permitted}})
    assert tables == {"PREFIX": {**mixed, "b|10.0.0.0/8|exact": permitted}}


def test_rows_of_a_chassis_are_kept_and_not_read() -> None:
    row = {"sonic3|asic0|Ethernet0|3-4": {"scheduler": "roce"}}
    model = SONIC.parse(SONIC.text(leaf(QUEUE=row)))
    assert model.qos == fabric_of("sonic", "routed").models[LEAF].qos
    assert model.unmodelled == ("QUEUE|sonic3|asic0|Ethernet0|3-4 scheduler roce",)


def test_names_are_those_of_the_intent_for_the_same_uses() -> None:
    assert SONIC.aligned is not None
    rendered = SONIC.text(leaf())
    text = rendered.replace('"400g-5m_roce"', '"AZURE_LOSSLESS"').replace("fabric-import", "FROM_FABRIC")
    aligned, renamed = SONIC.aligned(text, rendered)
    assert json.loads(aligned) == json.loads(rendered)
    assert set(renamed) >= {"WRED_PROFILE|AZURE_LOSSLESS", "ROUTE_MAP_SET|FROM_FABRIC"}


def test_one_name_for_what_the_intent_has_two_of_becomes_both() -> None:
    assert SONIC.aligned is not None
    rendered = SONIC.text(leaf())
    text = rendered.replace('"400g-5m_roce"', '"ECN"').replace('"400g-40m_roce"', '"ECN"')
    assert json.loads(SONIC.aligned(text, rendered)[0]) == json.loads(rendered)

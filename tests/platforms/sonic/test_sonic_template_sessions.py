"""Sessions of bgpcfgd, SONiC's management by templates, are named once and compared in what their rows state."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from tests.audit.fabrics import fabric_of, switch_of

from railfab.fabric import Design
from railfab.fabric.audit import switch_audit
from railfab.findings import Finding, Severity
from railfab.platforms.sonic.template_sessions import DECIDED, MODE

STATED = {"name": "SPINE", "holdtime": "9", "keepalive": "3", "nhopself": "0", "rrclient": "0"}
"""Fields of sonic-bgp-cmn-neigh, beside the AS number and the address of this end."""


@pytest.fixture(scope="module")
def fabric() -> Design:
    return fabric_of("sonic", "numbered")


def tables(fabric: Design) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(fabric.texts[switch_of(fabric, "leaf")])
    return tree


def templated(fabric: Design) -> dict[str, Any]:
    """The leaf in the mode `separated`: its sessions as bgpcfgd reads them, and no table of frrcfgd."""
    tree = tables(fabric)
    addresses = [row.partition("|")[2] for row in tree["INTERFACE"] if "|100.64." in row]
    local = {str(_peer(address)): address.partition("/")[0] for address in addresses}
    tree["BGP_NEIGHBOR"] = {
        peer: {"asn": fields["asn"], "local_addr": local[peer], **STATED}
        for peer, fields in ((row.partition("|")[2], fields) for row, fields in tree["BGP_NEIGHBOR"].items())
    }
    for table in {*DECIDED, "BGP_NEIGHBOR_AF"} & tree.keys():
        del tree[table]
    host = tree["DEVICE_METADATA"]["localhost"]
    tree["DEVICE_METADATA"]["localhost"] = {name: host[name] for name in host.keys() - set(MODE)} | {
        "bgp_asn": str(fabric.models[switch_of(fabric, "leaf")].bgp.asn)  # type: ignore[union-attr]
    }
    return tree


def _peer(address: str) -> str:
    """The other address of a /31."""
    head, _, last = address.partition("/")[0].rpartition(".")
    return f"{head}.{int(last) ^ 1}"


def harms(fabric: Design, tree: dict[str, Any]) -> list[Finding]:
    audited = switch_audit(fabric, switch_of(fabric, "leaf"), json.dumps(tree))
    return [finding for finding in audited.findings if finding.severity is not Severity.NOTE]


def test_one_finding_names_both_managements(fabric: Design) -> None:
    (finding,) = harms(fabric, templated(fabric))
    assert finding.code == "not-in-effect"
    assert "separated" in finding.problem
    assert "unified" in finding.problem


def test_one_session_of_the_other_management_is_one_finding(fabric: Design) -> None:
    """Its families stay, which the models refuse without the session."""
    tree = tables(fabric)
    tree["BGP_NEIGHBOR"]["100.64.0.0"] = {"asn": tree["BGP_NEIGHBOR"].pop("default|100.64.0.0")["asn"], **STATED}
    assert [finding.code for finding in harms(fabric, tree)] == ["not-in-effect"]


@pytest.mark.parametrize(
    ("field", "value", "codes"),
    [
        ("asn", "65009", {"session-down"}),
        ("asn", None, {"session-down"}),
        ("local_addr", "192.0.2.1", {"session-down"}),
        ("holdtime", "180", {"slow-hold-time"}),
        ("holdtime", None, {"slow-hold-time", "configuration-differs"}),
        ("keepalive", "60", {"slow-hold-time"}),
        ("admin_status", "down", {"session-down"}),
        ("name", "another", set()),
    ],
)
def test_what_a_row_states_is_compared(fabric: Design, field: str, value: str | None, codes: set[str]) -> None:
    tree = templated(fabric)
    session = tree["BGP_NEIGHBOR"]["100.64.0.2"]
    session.pop(field, None)
    if value is not None:
        session[field] = value
    findings = Counter(str(finding.code) for finding in harms(fabric, tree))
    assert findings == Counter({"not-in-effect", *codes})


def test_a_session_that_the_intent_does_not_have_is_named(fabric: Design) -> None:
    tree = templated(fabric)
    tree["BGP_NEIGHBOR"]["192.0.2.7"] = {"asn": "65007"}
    (finding,) = harms(fabric, tree)
    assert "set BGP_NEIGHBOR|192.0.2.7 asn 65007" in (finding.where, *finding.more)


def test_a_missing_session_and_another_speaker_are_missing(fabric: Design) -> None:
    tree = templated(fabric)
    del tree["BGP_NEIGHBOR"]["100.64.0.4"]
    tree["DEVICE_METADATA"]["localhost"]["bgp_asn"] = "4200009999"
    named = {line.rpartition(": ")[2] for finding in harms(fabric, tree) for line in (finding.where, *finding.more)}
    assert named >= {"bgp.neighbors[100.64.0.4]", "set BGP_GLOBALS|default local_asn 4200009999"}


def test_the_mode_of_frrcfgd_without_its_speaker_has_no_sessions(fabric: Design) -> None:
    tree = templated(fabric)
    tree["DEVICE_METADATA"] = tables(fabric)["DEVICE_METADATA"]
    assert "bgp" in {finding.where.partition(": ")[2] for finding in harms(fabric, tree)}

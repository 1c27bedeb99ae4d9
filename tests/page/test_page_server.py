"""The page of a twin as a browser meets it: a real twin, a real server, real events."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import signal
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests import commands
from tests.page.live_page import INCAST, Events, LivePage, live_page
from tests.twin.qos_twin import FAR_LEAF, LEAF, RECEIVER_PORT, SPINE, UPLINKS
from tests.twin.twins import switch, until

from railfab.page.frames import UNKNOWN, ShownState

RECEIVER = 0
"""The number of RECEIVER_PORT."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePage]:
    with live_page(tmp_path_factory.mktemp("page")) as running:
        yield running


def all_up(events: Events) -> bool:
    totals = events.seen.get("totals", {})
    return totals.get("targets_up") == 4 and totals["sessions_up"] == totals["sessions"]


def test_the_fabric_is_that_of_the_intent(shown: LivePage) -> None:
    fabric = shown.get("api/fabric")
    assert (fabric["fabric"], fabric["source"], fabric["has_actions"]) == ("small", "twin", True)
    assert [switch["name"] for switch in fabric["switches"]] == [each.name for each in shown.design.topology.switches()]
    receiver = fabric["ports"][RECEIVER]
    assert (receiver["switch"], receiver["interface"]) == (0, RECEIVER_PORT)
    assert receiver["peer"]["node"] == "pod1-seg1-host1"
    assert len(fabric["ports"]) == 2 * (8 + 2 + 2)
    assert fabric["bounds"]["100"]["kmin_bytes"] < fabric["bounds"]["100"]["xoff_bytes"]


def test_a_browser_sees_the_incast_in_the_port_where_it_meets(shown: LivePage) -> None:
    with shown.events() as events:
        assert events.next()[0] == "hello"
        events.until(all_up)
        events.until(lambda now: now.columns["ecn"][RECEIVER] not in (0, UNKNOWN))
        assert events.frames[0] is True
        assert set(events.columns["state"].tolist()) == {ShownState.UP}
        known = [value for value in events.columns["utilisation"].tolist() if value != UNKNOWN]
        assert events.columns["utilisation"][RECEIVER] == max(known)
        events.until(lambda now: bool(now.seen.get("job", {}).get("last")))
    job = events.seen["job"]
    assert job["job"] == "made"
    assert job["slowest"]["target"].startswith("pod1-seg1-host1 ")
    assert job["step_s"] > job["communication_s"] > 0
    for query in (f"metric=ecn_share&switch={LEAF}&interface={RECEIVER_PORT}", "metric=step_s&job=made"):
        times, values = shown.get(f"api/series?{query}")["columns"]
        assert len(times) == len(values)
        assert max(value or 0.0 for value in values) > 0


def test_a_browser_that_comes_back_gets_a_whole_frame(shown: LivePage) -> None:
    for _ in range(2):
        with shown.events() as events:
            events.until(lambda now: "totals" in now.seen)
            assert events.frames == [True]


def test_each_part_of_the_fabric_is_told_in_words(shown: LivePage) -> None:
    port = shown.get(f"api/port/{LEAF}/{RECEIVER_PORT}")
    assert any("Kmin" in line and "150 kB" in line for line in port["words"])
    assert [each["name"] for each in port["thresholds"]] == ["kmin", "kmax", "xoff"]
    assert isinstance(port["why"], list)
    sends = "It sends 14 flows now: from .* and 6 more, to pod1-seg1-host1 .*"
    until(lambda: any(re.match(sends, line) for line in shown.get(f"api/port/{LEAF}/{RECEIVER_PORT}")["why"]))
    switch = shown.get(f"api/switch/{SPINE}")
    assert any("BGP speaker AS" in line for line in switch["words"])
    assert len(switch["neighbours"]) == 2
    uplink = shown.get(f"api/port/{LEAF}/{UPLINKS[0]}")
    assert [each["switch"] for each in uplink["neighbours"]] == [LEAF, uplink["neighbours"][0]["node"]]
    assert shown.get("api/host/pod1-seg1-host1")["neighbours"][0]["switch"] == LEAF
    assert shown.get("api/rail/1")["facts"][0] == {"name": "ports", "value": "8"}
    assert shown.get("api/job/made")["job"]["running"] is True
    assert f"railfab drain {shown.design.path} {SPINE} --on twin --state {shown.state}" in switch["commands"]
    for part in (port, switch, uplink):
        for line in part["commands"]:
            commands.parse(line)
        for chart in part["metrics"]:
            assert shown.get(f"api/series?{chart['query']}")["unit"] == chart["unit"]
    for path in ("switch/none", f"port/{LEAF}/none", "host/none", "rail/99", "job/none", "thing/x"):
        assert shown.ask(f"api/{path}").status == 404


def act(shown: LivePage, action: str, **body: Any) -> Any:
    """Carry out an action with the token."""
    answer = shown.ask(f"api/actions/{action}", body, Authorization=f"Bearer {shown.token}")
    assert answer.status == 200, answer.body
    return answer.document


def run_command(line: str) -> None:
    """Run the command that the page shows."""
    program, *words = shlex.split(line)
    assert program == "railfab"
    done = commands.run(*words)
    assert done.returncode == 0, done


def faults(shown: LivePage) -> list[str]:
    return [str(fault) for fault in shown.twin.status().fault_details]


@pytest.mark.parametrize(
    ("make", "undo"),
    [
        (
            ("cable", {"node": LEAF, "interface": UPLINKS[0], "up": False}),
            ("cable", {"node": LEAF, "interface": UPLINKS[0], "up": True}),
        ),
        (
            ("fault", {"kind": "optic", "node": LEAF, "interface": UPLINKS[0], "loss_db": 2.5}),
            ("fault", {"kind": "optic", "node": LEAF, "interface": UPLINKS[0], "loss_db": 0}),
        ),
        (
            ("fault", {"kind": "switch", "switch": SPINE, "operation": "hang"}),
            ("fault", {"kind": "switch", "switch": SPINE, "operation": "resume"}),
        ),
    ],
    ids=["cable", "optic", "switch"],
)
def test_an_action_and_the_command_that_it_names_do_the_same(
    shown: LivePage, make: tuple[str, dict[str, Any]], undo: tuple[str, dict[str, Any]]
) -> None:
    before = faults(shown)
    made = act(shown, make[0], **make[1])
    by_action = faults(shown)
    undone = act(shown, undo[0], **undo[1])
    assert faults(shown) == before != by_action
    run_command(made["command"])
    assert faults(shown) == by_action
    run_command(undone["command"])
    assert faults(shown) == before


def test_a_diagnosis_that_is_stopped_ends_at_once_and_prints_nothing(shown: LivePage) -> None:
    doctor = commands.Command("doctor", shown.design.path, "--on", "twin", "--state", shown.state, "--for", "600")
    time.sleep(5.0)  # its window has begun
    os.kill(doctor.pid, signal.SIGTERM)  # SIGINT is ignored where the tests run in the background
    done = doctor.wait(60.0)
    assert (done.returncode, done.stdout) == (130, "")


def test_a_slow_host_and_a_job_are_made_by_actions_and_by_their_commands(shown: LivePage) -> None:
    host = {"kind": "host", "host": "pod1-seg2-host1"}
    made = act(shown, "fault", **host, rx_gbps=12.5)
    slow = shown.twin.status().slow_hosts
    assert slow
    undone = act(shown, "fault", **host, rx_gbps=None)
    run_command(made["command"])
    assert shown.twin.status().slow_hosts == slow
    run_command(undone["command"])
    assert shown.twin.status().slow_hosts == ()
    started = act(shown, "job", job="ring")
    assert (ring := shown.twin.status().job) not in (None, "made")
    act(shown, "job", job="incast")
    assert shown.twin.status().job != ring
    ended = act(shown, "job", job="none")
    assert shown.twin.status().job is None
    run_command(started["command"])
    assert shown.twin.status().job == ring
    run_command(ended["command"])
    assert shown.twin.status().job is None
    shown.twin.switch_job(INCAST)


def test_a_switch_that_stops_is_stale_and_comes_back(shown: LivePage) -> None:
    spine = [port["switch"] == 2 for port in shown.get("api/fabric")["ports"]]
    with shown.events() as events:
        events.until(all_up)
        act(shown, "fault", kind="switch", switch=SPINE, operation="stop")
        try:
            events.until(lambda now: set(now.columns["state"][spine].tolist()) == {ShownState.STALE})
            for name in ("utilisation", "queue", "ecn", "pause", "drops"):
                assert set(events.columns[name][spine].tolist()) == {UNKNOWN}
            events.until(lambda now: now.seen["totals"]["stale"] == [SPINE])
            assert events.seen["totals"]["targets_up"] == 3
            events.until(lambda now: any(entry["where"] == [SPINE] for entry in now.log))
        finally:
            act(shown, "fault", kind="switch", switch=SPINE, operation="start")
        events.until(lambda now: now.seen["totals"]["stale"] == [])
        events.until(lambda now: any(entry["title"] == f"{SPINE}: samples arrive" for entry in now.log))
    kinds = {entry["kind"] for entry in shown.get("api/log")["entries"]}
    assert {"fault", "connection", "job"} <= kinds


@pytest.mark.timeout(600)
def test_a_configuration_that_drifts_is_an_event_until_it_agrees_again(shown: LivePage) -> None:
    def drifts() -> list[str]:
        return [each["title"] for each in shown.get("api/log")["entries"] if each["kind"] == "drift"]

    mtu = f"/interface[name={RECEIVER_PORT}]/mtu"
    with switch(shown.twin, LEAF) as leaf:
        before = leaf.value(mtu, "config")
        leaf.set(update=[(mtu, 9028)])
        until(lambda: drifts() == [f"the configuration of {LEAF} differs from the intent: 1 finding"])
        leaf.set(update=[(mtu, before)])
    until(lambda: drifts()[1:] == [f"the configuration of {LEAF} agrees with the intent again"])


def test_thresholds_are_proposed_and_deployed_with_the_journal(shown: LivePage) -> None:
    wanted = {"rate_gbps": 100, "kmin_bytes": 200_000, "kmax_bytes": 500_000, "pmax_percent": 20}
    proposal = act(shown, "threshold", **wanted)
    assert {each["switch"] for each in proposal["diffs"]} == {LEAF, FAR_LEAF}
    assert all("200000" in each["diff"] for each in proposal["diffs"])
    deployed = act(shown, "deploy", id=proposal["id"], accept_cut=True)
    assert deployed["command"] == f"{proposal['command']} --accept cut"

    def entries(kind: str, title: str) -> list[tuple[str, str]]:
        known = shown.get("api/log")["entries"]
        return [(each["title"], each["text"]) for each in known if each["kind"] == kind and title in each["title"]]

    until(lambda: bool(entries("deploy", "thresholds ")), within_s=400)
    assert entries("deploy", "thresholds ") == [("thresholds are deployed", "")]
    until(lambda: bool(entries("wave", "is done")))
    run_command(deployed["command"])
    refused = shown.ask("api/actions/deploy", {"id": "none"}, Authorization=f"Bearer {shown.token}")
    assert refused.status == 422
    assert "is no proposal" in refused.document["error"]


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("cable", {"node": LEAF}, "interface: it is missing"),
        ("cable", {"node": LEAF, "interface": "none", "up": False}, "none"),
        ("cable", {"node": LEAF, "interface": RECEIVER_PORT, "up": "no"}, "neither true nor false"),
        ("fault", {"kind": "magic"}, "Use one of optic, host, switch"),
        ("fault", {"kind": "optic", "node": LEAF, "interface": RECEIVER_PORT, "loss_db": -1}, "no number from 0 to 60"),
        ("fault", {"kind": "switch", "switch": LEAF, "operation": "explode"}, "none of stop"),
        ("job", {"job": "../../etc/passwd"}, "Use one of"),
        ("threshold", {"rate_gbps": 100, "kmin_bytes": 5, "kmax_bytes": 4, "pmax_percent": 1}, "kmin"),
    ],
)
def test_a_wrong_action_is_one_line_and_changes_nothing(
    shown: LivePage, kind: str, body: dict[str, Any], said: str
) -> None:
    before = faults(shown), shown.twin.status().job
    answer = shown.ask(f"api/actions/{kind}", body, Authorization=f"Bearer {shown.token}")
    assert answer.status == 422
    assert said in answer.document["error"]
    assert "\n" not in answer.document["error"]
    assert (faults(shown), shown.twin.status().job) == before


def test_actions_are_refused_without_the_token_and_from_other_sites(shown: LivePage) -> None:
    body = {"node": LEAF, "interface": RECEIVER_PORT, "up": False}
    bearer = {"Authorization": f"Bearer {shown.token}"}
    assert shown.ask("api/actions/cable", body).status == 401
    assert shown.ask("api/actions/cable", body, Authorization="Bearer wrong").status == 401
    assert shown.ask("api/actions/cable", body, **bearer, Origin="http://evil.example").status == 403
    assert shown.ask("api/actions/none", body, **bearer).status == 404
    assert shown.ask("api/actions/cable", [1], **bearer).status == 400
    assert shown.ask("api/actions/cable", {"node": "x" * 100_000}, **bearer).status == 413
    assert faults(shown) == []


def test_every_answer_has_the_headers_that_keep_other_sites_out(shown: LivePage) -> None:
    for path in ("", "api/fabric", "assets/none.js", "api/none/x"):
        headers = shown.ask(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
    assert json.loads(shown.ask("api/series?metric=x").body)["error"]
    assert shown.ask("api/series?metric=utilisation&from=nan").status == 400


def test_another_host_name_is_refused(shown: LivePage) -> None:
    host = urlsplit(shown.url).netloc
    for name, status in ((host, 200), ("localhost:1", 200), ("evil.example", 421), (f"{host}.evil.example", 421)):
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request("GET", "/api/fabric", headers={"Host": name})
        assert connection.getresponse().status == status, name
        connection.close()


def test_files_are_found_by_their_hash(shown: LivePage) -> None:
    index = shown.ask("")
    assert index.headers["content-type"].startswith("text/html")
    assert index.headers["cache-control"] == "no-cache"
    assert b"<script>" not in index.body
    link = index.body.decode().partition('src="/')[2].partition('"')[0]
    pinned = shown.ask(link)
    assert "immutable" in pinned.headers["cache-control"]
    again = shown.ask(link.partition("?")[0], None, If_None_Match=pinned.headers["etag"])
    assert again.status == 304
    assert shown.ask("assets/../security.py").status == 404

"""Mistakes of QoS on a running twin: each is set over gNMI, shows in the counters and the step time of a job that
hardware would show it in, and is gone after a deploy. Numbers are those of the list of mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from click.testing import Result
from tests.sampled import sampled
from tests.twin.qos_twin import (
    FAR_LEAF,
    HOST_PORTS,
    LEAF,
    PFC,
    PORT,
    RECEIVER_PORT,
    SENDER_PORT,
    SPINE,
    UPLINKS,
    QosTwin,
    Seen,
    bursts,
    running,
)
from tests.twin.twins import pass_time, until
from typer.testing import CliRunner

from railfab.cli import app
from railfab.errors import DeviceError
from railfab.intent import Job
from railfab.twin import connect

BURSTS, SQUEEZE = bursts(), bursts("30MB", senders=4, repeat=1)
LASTING = bursts("1000GB", senders=4, repeat=1)
MAPPING = "/qos/pfc-mapping-profile[name=fabric]"
ASKS = f"{MAPPING}/received-traffic/unicast-mapping/pfc-queue[pfc-queue-name=pfc-roce]/pfc-pause-frame-priority"
OBEYS = f"{MAPPING}/received-pfc-pause-frames/queue[queue-name=roce]/pfc-pause-frame-priority"
DSCP = "/qos/classifiers/dscp-policy[name=fabric]/dscp[value=26]"
WRED = "/wred/wred-slope[traffic-type=all][drop-probability=all][enable-ecn=true]"
SLOPE = f"/qos/buffer-management/queue-management-profile[name=100g-5m]{WRED}"
DROP_SLOPE = SLOPE.replace("enable-ecn=true", "enable-ecn=false")
DROPPING = {"min-threshold": "1000", "max-threshold": "20000", "slope-enabled": True}
BUFFERS = "/qos/buffer-management/buffer-allocation-profile[name={}]/queues"
PFC_BUFFERS = f"{BUFFERS}/pfc-queue[pfc-queue-name=pfc-roce]"
DEPTH = f"{PORT.format(RECEIVER_PORT)}/output/queues/queue[queue-name=roce]/queue-depth/average-1"
WEIGHT = "/qos/scheduler-policies/scheduler-policy[name=fabric]/scheduler[sequence=1]/input[id={}]/weight"


def pfc_off(ports: tuple[str, ...]) -> list[tuple[str, Any]]:
    return [(f"{PORT.format(port)}/pfc/pfc-enable", False) for port in ports]


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """What is set on a switch, and what follows: counters (of a switch) that grow, stand still, or have more or less of
    what they have without the mistake, and the step of the job as a multiple of that without it, at least."""

    at: str = LEAF
    update: list[tuple[str, Any]] = field(default_factory=list)
    delete: list[str] = field(default_factory=list)
    job: Job = BURSTS
    grow: tuple[tuple[str, str], ...] = ()
    still: tuple[tuple[str, str], ...] = ()
    more: tuple[tuple[str, str], ...] = ()
    less: tuple[tuple[str, str], ...] = ()
    slower: float = 0.0


LOSES = ((LEAF, "discards"), (LEAF, "in discarded"))
OTHER_CLASS = ((LEAF, "roce sent"), (LEAF, "roce marked"), (LEAF, "p3 generated"), (LEAF, "discards"))
NO_ECN = {"still": ((LEAF, "roce marked"),), "more": ((LEAF, "p3 generated"),)}

MISTAKES = {
    "01 no PFC on the uplinks": Mistake(update=pfc_off(UPLINKS), grow=LOSES, slower=1.05),
    "02 no PFC on any port": Mistake(
        update=pfc_off((*HOST_PORTS, *UPLINKS)), grow=LOSES, still=((LEAF, "p3 generated"),), slower=1.1
    ),
    "03 PFC of another priority": Mistake(
        update=[(ASKS, 4), (OBEYS, 4)],
        grow=((LEAF, "p4 generated"), (SPINE, "p4 received"), *LOSES),
        still=((LEAF, "p3 generated"), (SPINE, "p3 received"), (SPINE, "p4 generated")),
        slower=1.1,
    ),
    "04 another priority is obeyed than asked for": Mistake(
        at=FAR_LEAF,
        update=[(OBEYS, 4)],
        grow=((SPINE, "p3 generated"), (FAR_LEAF, "p3 received"), (SPINE, "discards"), (SPINE, "in discarded")),
        still=((FAR_LEAF, "p4 generated"), (FAR_LEAF, "p4 received")),
        slower=1.01,
    ),
    "05 RoCE in the default class": Mistake(
        update=[(f"{DSCP}/forwarding-class", '"default"')],
        grow=((LEAF, "default dropped"), (LEAF, "out discarded"), (SPINE, "roce sent")),
        still=OTHER_CLASS,
        slower=3,
    ),
    "06 RoCE in the class of CNPs": Mistake(
        update=[(f"{DSCP}/forwarding-class", '"cnp"')], grow=((LEAF, "cnp dropped"),), still=OTHER_CLASS, slower=3
    ),
    "07 no class for RoCE": Mistake(delete=[DSCP], grow=((LEAF, "default dropped"),), still=OTHER_CLASS, slower=3),
    "08 no classifier on the uplinks": Mistake(
        delete=[f"{PORT.format(f'{port}.0')}/input/classifiers" for port in UPLINKS],
        grow=((LEAF, "default dropped"), (LEAF, "roce sent"), (SPINE, "roce sent")),
        slower=3,
    ),
    "09 no classifier on a host port": Mistake(
        delete=[f"{PORT.format(f'{SENDER_PORT}.0')}/input/classifiers"],
        grow=((LEAF, "default sent"), (LEAF, "roce sent")),
    ),
    "11 Kmin above XOFF": Mistake(
        update=[(f"{SLOPE}/min-threshold", '"5000000"'), (f"{SLOPE}/max-threshold", '"9000000"')],
        more=((LEAF, "p3 generated"),),
        less=((LEAF, "roce marked"),),
    ),
    "12 the slope is disabled": Mistake(update=[(f"{SLOPE}/slope-enabled", False)], **NO_ECN),
    "13 no slope": Mistake(delete=[SLOPE], **NO_ECN),
    "a drop slope in place of the marking one": Mistake(
        update=[(DROP_SLOPE, DROPPING)],
        delete=[SLOPE],
        grow=((LEAF, "roce dropped"), (LEAF, "out discarded")),
        still=((LEAF, "roce marked"),),
    ),
    "a drop slope below the marking one": Mistake(update=[(DROP_SLOPE, DROPPING)], grow=((LEAF, "roce dropped"),)),
    "14 no ECN": Mistake(delete=["/qos/explicit-congestion-notification"], **NO_ECN),
    "16 Pmax 0": Mistake(
        update=[(f"{SLOPE}/max-drop-probability-percent", 0)], job=SQUEEZE, grow=((LEAF, "roce marked"),)
    ),
    "54 a low XOFF": Mistake(
        update=[(f"{PFC_BUFFERS.format('100g-5m')}/maximum-burst-size", 20_000)], more=((LEAF, "p3 generated"),)
    ),
    "55 no headroom for a port": Mistake(
        update=[
            (f"{PFC_BUFFERS.format(profile)}/maximum-pfc-reserved-share-percentage", 0)
            for profile in ("100g-5m", "400g-40m")
        ],
        grow=(*LOSES, (LEAF, "p3 generated"), (SPINE, "p3 received")),
        slower=1.1,
    ),
    "56 no headroom on the chip": Mistake(
        update=[("/qos/linecard[slot=1]/forwarding-complex[name=0]/input/pfc-buffer-reservation", 0)],
        grow=(*LOSES, (LEAF, "p3 generated"), (SPINE, "p3 received")),
        slower=1.1,
    ),
    "57 a short queue": Mistake(
        update=[(f"{BUFFERS.format('100g-5m')}/queue[queue-name=roce]/maximum-burst-size", 10_000)],
        job=bursts(repeat=1),
        grow=((LEAF, "roce dropped"), (LEAF, "out discarded")),
        still=((LEAF, "roce marked"), (LEAF, "p3 generated"), (LEAF, "discards")),
        slower=10,
    ),
    "60 no QoS": Mistake(
        delete=["/qos"],
        grow=((LEAF, "default dropped"), (SPINE, "roce sent")),
        still=((LEAF, "p3 generated"), (LEAF, "p3 received")),
        slower=3,
    ),
    "65 no queue management on the port": Mistake(
        delete=[f"{PORT.format(RECEIVER_PORT)}/output/queues/queue[queue-name=roce]/queue-management-profile"], **NO_ECN
    ),
}
"""By number and name."""


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QosTwin]:
    with running(tmp_path_factory.mktemp("twin")) as found:
        found.run(bursts(repeat=1))
        yield found


@pytest.fixture(scope="module")
def healthy(twin: QosTwin) -> dict[str, Seen]:
    """What jobs show without a mistake."""
    return {"bursts": twin.run(BURSTS), "squeeze": twin.run(SQUEEZE)}


@pytest.fixture
def healed(twin: QosTwin) -> Iterator[None]:
    yield
    for name in (LEAF, FAR_LEAF):
        twin.heal(name)


FEW = (
    "01 no PFC on the uplinks",
    "04 another priority is obeyed than asked for",
    "05 RoCE in the default class",
    "11 Kmin above XOFF",
    "13 no slope",
    "55 no headroom for a port",
    "57 a short queue",
)
"""One of each kind: pauses, priorities, classes, thresholds, marks, headroom and limits of queues."""


@pytest.mark.parametrize("name", sampled(MISTAKES.keys(), few=FEW))
def test_a_mistake_shows_its_symptom(twin: QosTwin, healthy: dict[str, Seen], healed: None, name: str) -> None:
    mistake = MISTAKES[name]
    plain = healthy["squeeze" if mistake.job is SQUEEZE else "bursts"]
    twin.set(mistake.at, update=mistake.update, delete=mistake.delete)
    seen = twin.run(mistake.job)

    def grown(switch: str, counter: str) -> float:
        return seen.growth[switch][counter]

    assert {pair for pair in mistake.grow if not grown(*pair)} == set()
    assert {pair for pair in mistake.still if grown(*pair)} == set()
    for switch, counter in mistake.more:
        assert grown(switch, counter) > 1.2 * plain.growth[switch][counter]
    for switch, counter in mistake.less:
        assert grown(switch, counter) < 0.8 * plain.growth[switch][counter]
    assert seen.step_s >= mistake.slower * plain.step_s


def steady(twin: QosTwin) -> tuple[float, int]:
    """The share of marked packets, and the mean queue before the receiver [bytes], of a congestion that lasts.

    Without its beginning: there the senders have line rate, and every packet above Kmax is marked, whatever Kmax is.
    """
    twin.twin.switch_job(LASTING)
    pass_time(twin.twin, 0.1)
    before = twin.counts()[LEAF]
    pass_time(twin.twin, 2.0)
    after, depth = twin.counts()[LEAF], int(twin.switches[LEAF].value(DEPTH))
    twin.run(bursts(repeat=1))
    return (after["roce marked"] - before["roce marked"]) / (after["roce sent"] - before["roce sent"]), depth


@pytest.mark.matrix
def test_the_queue_follows_low_thresholds_and_marks_rise_little(twin: QosTwin, healed: None) -> None:
    """10: Kmin 5 kB and Kmax 20 kB instead of 150 and 450 kB. DCQCN balances the share of marks, not the queue: see
    tests/sim/test_plain_incast.py."""
    plain_share, plain_depth = steady(twin)
    twin.set(LEAF, update=[(f"{SLOPE}/min-threshold", '"5000"'), (f"{SLOPE}/max-threshold", '"20000"')])
    share, depth = steady(twin)
    assert 75_000 < plain_depth < 450_000
    assert 2_000 < depth < 20_000
    assert 0.0025 < plain_share < 0.0045
    assert 1.15 < share / plain_share < 1.8


def test_a_deploy_heals(twin: QosTwin, healthy: dict[str, Seen]) -> None:
    twin.set(LEAF, delete=["/qos"])
    twin.heal(LEAF)
    seen, plain = twin.run(BURSTS), healthy["bursts"]
    assert seen.step_s == pytest.approx(plain.step_s, rel=0.1)
    losses = ("discards", "in discarded", "out discarded", "roce dropped", "default dropped", "storms")
    assert {counter: seen.growth[LEAF][counter] for counter in losses} == dict.fromkeys(losses, 0)


def test_every_port_counts_every_priority(twin: QosTwin) -> None:
    for port in (*HOST_PORTS, *UPLINKS):
        (found,) = twin.switches[LEAF].values(PFC.format(port)).values()
        assert [entry["index"] for entry in found["pfc-priority"]] == [str(index) for index in range(8)]


def test_background_traffic_takes_the_share_of_roce_where_weights_are_exchanged(twin: QosTwin, healed: None) -> None:
    """52: the default class sends 60 % of the port's rate, and RoCE gets the rest: 40 Gb/s instead of 90."""
    job = bursts("12MB", repeat=3, default=60.0)
    plain = twin.run(job)
    assert plain.growth[LEAF]["default dropped"] > 0
    twin.set(LEAF, update=[(WEIGHT.format("roce"), 1), (WEIGHT.format("default"), 99)])
    starved = twin.run(job)
    assert starved.growth[LEAF]["default dropped"] == 0
    assert starved.step_s > 1.6 * plain.step_s


def test_a_host_that_takes_nothing_makes_a_storm_that_the_watchdog_ends_again_and_again(twin: QosTwin) -> None:
    """64: the switch ignores pauses for the recovery time, and counts each time; without a watchdog it does not."""
    storms = f"{PFC.format(RECEIVER_PORT)}/pfc-priority[index=3]/deadlock-recovery-occurrences"
    pauses = f"{PFC.format(RECEIVER_PORT)}/pfc-priority[index=3]/pfc-pause-frames-received"
    leaf, control = twin.switches[LEAF], connect(twin.state, "small")
    before = leaf.total(storms)
    control.set_host_rate("pod1-seg1-host1", 0)
    twin.twin.switch_job(bursts(repeat=1))
    until(lambda: leaf.total(storms) >= before + 2)
    assert leaf.total(pauses) > 1_000
    assert twin.twin.status().steps == 0
    twin.set(LEAF, update=[(f"{MAPPING}/received-pfc-pause-frames/deadlock/enable", False)])
    pass_time(twin.twin, 0.7)
    counted = leaf.total(storms)
    pass_time(twin.twin, 1.0)
    assert leaf.total(storms) == counted
    control.set_host_rate("pod1-seg1-host1", None)
    until(lambda: twin.twin.status().steps == 1)
    twin.heal(LEAF)


def test_a_slow_host_slows_its_job_and_drops_nothing(twin: QosTwin, healthy: dict[str, Seen]) -> None:
    """17 MB at 10 Gb/s instead of 100."""
    twin.twin.set_host_rate("pod1-seg1-host1", 10.0)
    seen = twin.run(BURSTS)
    twin.twin.set_host_rate("pod1-seg1-host1", None)
    assert seen.step_s == pytest.approx(10 * healthy["bursts"].step_s, rel=0.2)
    assert seen.growth[LEAF]["p3 received"] > 0
    assert seen.growth[LEAF]["storms"] == seen.growth[LEAF]["discards"] == 0


def test_hosts_that_are_not_there_are_refused(twin: QosTwin) -> None:
    control = connect(twin.state, "small")
    with pytest.raises(DeviceError, match="nobody: is no host"):
        control.set_host_rate("nobody", 0)
    with pytest.raises(DeviceError, match="pod1-seg1-host1 eth9: is no host with this port"):
        control.set_host_rate("pod1-seg1-host1", 0, interface="eth9")
    with pytest.raises(DeviceError, match=r"-1\.0 is no rate"):
        control.set_host_rate("pod1-seg1-host1", -1)


def test_the_command_makes_a_host_slow_and_normal_again(twin: QosTwin) -> None:
    def ran(*words: str) -> Result:
        return CliRunner().invoke(app, ["twin", "host", *words, "--state", str(twin.state)])

    assert "every NIC of pod1-seg1-host1 takes 0 Gb/s" in ran("pod1-seg1-host1", "0").output
    assert twin.twin.status().slow_hosts == tuple(f"pod1-seg1-host1 rail{rail}-p0 takes 0 Gb/s" for rail in (1, 2))
    assert "takes all" in ran("pod1-seg1-host1", "all").output
    assert twin.twin.status().slow_hosts == ()
    assert "is not a rate" in str(
        CliRunner().invoke(app, ["twin", "host", "x", "some", "--state", str(twin.state)]).exception
    )

"""CONFIG_DB of a virtual switch: what a Set changes, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from railfab.device import DeviceModel, Scheduling, TrafficClass
from railfab.errors import RailfabError
from railfab.gnmi.paths import elements
from railfab.gnmi.target import Edit, Operation
from railfab.platforms import Datastore, platform
from railfab.testing.leaf_models import leaf

SONIC = platform("sonic")
ROOT = "/CONFIG_DB/localhost"


@pytest.fixture
def store() -> Datastore:
    """A switch with the configuration of a leaf."""
    assert SONIC.twin is not None
    rendered = SONIC.render(leaf("sonic"))
    found = SONIC.twin().datastore("pod1-seg1-leaf1", rendered)
    found.commit(found.merged(rendered))
    return found


def after(store: Datastore, operation: Operation, path: str, value: Any = None) -> DeviceModel | None:
    """The model after a Set."""
    return store.model(store.edited([Edit(operation, elements(ROOT + path), value)]))


def test_a_set_of_a_field_a_row_and_a_table(store: Datastore) -> None:
    before = leaf("sonic")
    host = replace(before.interfaces[0], mtu_bytes=9000)
    changed = replace(before, interfaces=(host, *before.interfaces[1:]))
    assert after(store, Operation.UPDATE, "/PORT/Ethernet0/mtu", "9000") == changed
    assert after(store, Operation.UPDATE, "/PORT/Ethernet0", {"mtu": "9000"}) == changed
    assert after(store, Operation.UPDATE, "/PORT", {"Ethernet0": {"mtu": 9000}}) == changed
    drained = after(store, Operation.UPDATE, "/BGP_GLOBALS/default/graceful_shutdown", "true")
    assert drained == replace(before, drain=True)


def test_a_deleted_row_is_gone(store: Datastore) -> None:
    """The row of the IP interface stays, which a port without address has not."""
    before = leaf("sonic")
    host = replace(before.interfaces[0], addresses=())
    left = replace(before, interfaces=(host, *before.interfaces[1:]), unmodelled=("INTERFACE|Ethernet0",))
    assert after(store, Operation.DELETE, r"/INTERFACE/Ethernet0|10.16.0.0\/31") == left


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("/PORT/Ethernet0/mtu", "9217", "PORT|Ethernet0 mtu: is '9217', which is not 68 to 9216"),
        ("/QUEUE", {"Ethernet0|3": {"scheduler": "nope"}}, "is 'nope', which is not a row of SCHEDULER"),
        ("/FOO", {"bar": {"baz": "1"}}, "FOO: is no table"),
        ("/PORT/Ethernet0/foo", "1", "PORT|Ethernet0 foo: is unknown"),
        ("/SCHEDULER", {"cnp": {"type": "STRICT", "pir": "7"}}, "pir can't be configured without cir."),
        ("/PORT/Ethernet0", {"mtu": {"bytes": 1}}, "is no value"),
    ],
)
def test_a_set_that_the_models_refuse_changes_nothing(store: Datastore, path: str, value: Any, said: str) -> None:
    with pytest.raises(RailfabError) as refused:
        after(store, Operation.UPDATE, path, value)
    assert said in str(refused.value)
    assert store.model(store.running) == leaf("sonic")


def test_a_queue_and_a_priority_group_have_numbers() -> None:
    names = SONIC.telemetry.queues
    assert names is not None
    roce = TrafficClass(name="roce", queue=3, pfc_priority=4, scheduling=Scheduling.STRICT)
    assert (names.of("queue", roce), names.of("priority_group", roce)) == ("3", "4")


def test_another_value_than_that_of_the_hardware_is_unmodelled(store: Datastore) -> None:
    found = after(store, Operation.UPDATE, "/PORT/Ethernet0/alias", "etp1")
    assert found == replace(leaf("sonic"), unmodelled=("PORT|Ethernet0 alias etp1",))


def test_its_text_is_a_config_db_with_the_ports_of_the_hardware(store: Datastore) -> None:
    tables = json.loads(store.text(store.running))
    assert tables["PORT"]["Ethernet0"]["lanes"] == "1"
    assert tables["BGP_NEIGHBOR"]["default|10.32.0.0"]["asn"] == "65001"
    assert store.model(store.replaced(store.text(store.running))) == leaf("sonic")


def test_marks_are_counted_once_their_group_is_polled(store: Datastore) -> None:
    """Nothing else of the switch changes, and no line of it is without effect."""
    assert SONIC.twin is not None
    uncounted = SONIC.twin().uncounted
    marks = {"fabric_queue_ecn_marked_packets_total", "fabric_queue_ecn_marked_bytes_total"}
    assert uncounted(store.running) == marks
    for status, left in (("enable", set()), ("disable", marks)):
        group = Edit(
            Operation.UPDATE, elements(f"{ROOT}/FLEX_COUNTER_TABLE/WRED_ECN_QUEUE/FLEX_COUNTER_STATUS"), status
        )
        polled = store.edited([group])
        assert uncounted(polled) == left
        assert store.model(polled) == leaf("sonic")

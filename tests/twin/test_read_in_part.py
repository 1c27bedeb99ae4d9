"""What a deploy asks a virtual switch for is answered without its ports and counters, and with the same values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.twin.small_fabric import LEAF, UPLINK, small

from railfab.endpoints import read_credentials
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.target import DataType
from railfab.platforms import ChangeName, platform
from railfab.platforms.srlinux.twin import twin as twin_of_srlinux
from railfab.twin import Twin
from railfab.twin.live import LiveFabric
from railfab.twin.samples import ObservedSwitch

PATHS = tuple("/" + "/".join(names) for names in twin_of_srlinux().device_paths)
CHANGE = ChangeName(deploy="20261130T010101.000Z-0001", user="kim", host="control1")


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(small(), state=tmp_path_factory.mktemp("state"), base_port=0) as served:
        yield served


@pytest.fixture
def client(twin: Twin) -> Iterator[BlockingGnmiClient]:
    node = twin.endpoints.by_name()[LEAF]
    with BlockingGnmiClient(node, read_credentials(node)) as connected:
        yield connected


@pytest.fixture
def read(twin: Twin, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The switches of which ports and counters are read, from now on: what was read before is outdated."""
    twin.set_optic_loss(LEAF, UPLINK, loss_db=0)
    names: list[str] = []
    observed = LiveFabric.observed

    def noted(live: LiveFabric, name: str, max_age_s: float) -> ObservedSwitch:
        names.append(name)
        return observed(live, name, max_age_s)

    monkeypatch.setattr(LiveFabric, "observed", noted)
    return names


def test_a_deploy_reads_no_ports_and_counters(twin: Twin, read: list[str]) -> None:
    node = twin.endpoints.by_name()[LEAF]
    with platform("srlinux").session_factory(LEAF)(node, read_credentials(node)) as session:
        session.running()
        session.commit(session.stage(small().texts[LEAF]), CHANGE, 60)
        assert session.running().pending is not None
        session.confirm(CHANGE)
        assert session.running().pending is None
    assert read == []


@pytest.mark.parametrize("path", PATHS)
def test_a_part_has_the_values_of_the_whole(client: BlockingGnmiClient, read: list[str], path: str) -> None:
    alone = client.once((path,))
    assert read == []
    with_all = [found for found in client.once((path, "/interface")) if found.path[0].name != "interface"]
    assert read == [LEAF]
    assert sorted(alone) == sorted(with_all)


def test_configuration_is_read_without_state(client: BlockingGnmiClient, read: list[str]) -> None:
    assert client.get(("/",), DataType.CONFIG)
    assert read == []


def test_ports_are_read_when_they_are_asked_for(client: BlockingGnmiClient, read: list[str]) -> None:
    assert client.get(("/platform", f"/interface[name={UPLINK}]"), DataType.STATE)
    assert read == [LEAF]

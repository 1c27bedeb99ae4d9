"""Targets from an intent, from a list alone and from a file that changes; what changed; logins at each dial."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from railfab.endpoints import Credentials, Endpoint, Endpoints, save_endpoints
from railfab.errors import LoginRefused, RailfabError
from railfab.fabric import Design, design
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.certificates import Authority
from railfab.gnmi.leaves import Leaves
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.gnmi.tls import CertificateRefused
from railfab.platforms import TelemetryMap, platform
from railfab.telemetry.targets import (
    FileSource,
    Loader,
    TargetSpec,
    diff,
    newest_credentials,
    targets_of_hosts,
    targets_of_intent,
)

EMPTY = TelemetryMap(rules=(), subscriptions=())
LEAF = Endpoint(name="leaf1", platform="frr", host="192.0.2.1", gnmi_port=9339)


def spec(name: str = "leaf1", endpoint: Endpoint | None = LEAF, **labels: str) -> TargetSpec:
    return TargetSpec(name=name, platform="frr", endpoint=endpoint, telemetry=EMPTY, labels=labels)


def test_targets_are_equal_when_all_their_content_is() -> None:
    one = spec(site="a", rack="b")
    assert one == spec(rack="b", site="a")
    assert hash(one) == hash(spec(rack="b", site="a"))
    others = [
        spec(site="b", rack="b"),
        spec(endpoint=None, site="a", rack="b"),
        spec(endpoint=replace(LEAF, skip_verify=True), site="a", rack="b"),
        replace(one, telemetry=platform("srlinux").telemetry),
        replace(one, platform="eos"),
        replace(one, name="leaf2"),
    ]
    assert all(one != other for other in others)
    reloaded = replace(platform("srlinux").telemetry)
    assert replace(one, telemetry=reloaded) == others[3]
    assert reloaded is not platform("srlinux").telemetry


def test_only_what_changed_is_told() -> None:
    old = [spec("a"), spec("b"), spec("c")]
    changes = diff(old, [spec("a"), spec("c", site="x"), spec("d")])
    assert changes == ((spec("d"),), (spec("c", site="x"),), (spec("b"),))
    assert not any(diff(old, [spec("c"), spec("b"), spec("a")]))


@pytest.fixture(scope="module")
def fabric(repository: Path) -> Design:
    return design(repository / "labs" / "srl-pod" / "intent.yml")


def test_every_switch_of_the_intent_is_a_target_also_one_without_an_endpoint(fabric: Design) -> None:
    first, *others = fabric.topology.switches()
    nodes = tuple(replace(LEAF, name=node.name, platform="srlinux") for node in others)
    found = targets_of_intent(fabric.topology, Endpoints(fabric="srl-pod", backend="inventory", nodes=nodes))
    assert [target.name for target in found] == [node.name for node in fabric.topology.switches()]
    assert [target.name for target in found if target.endpoint is None] == [first.name]
    assert found[0].labels["fabric"] == "srl-pod"
    assert found[0].labels["role"] == str(first.role)
    assert found[0].telemetry is platform("srlinux").telemetry
    (one,) = targets_of_intent(
        fabric.topology, Endpoints(fabric="srl-pod", backend="twin", nodes=nodes), among=[first.name]
    )
    assert (one.name, len(one.telemetry.rules)) == (first.name, len(found[0].telemetry.rules) + 1)


def test_a_list_alone_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text(
        "leaf1: {hostname: 192.0.2.1, platform: srlinux, groups: [rack1, fra], data: {site: fra1, snmp: word}}\n"
        "leaf2: {hostname: 192.0.2.2, platform: other}\n"
    )
    one, other = targets_of_hosts(path)
    assert dict(one.labels) == {"groups": ",rack1,fra,", "platform": "srlinux", "site": "fra1"}
    assert one.telemetry is platform("srlinux").telemetry
    assert (dict(other.labels), other.telemetry.rules) == ({"platform": "other"}, ())
    save_endpoints(tmp_path / "f.json", Endpoints(fabric="f", backend="twin", nodes=(LEAF,)))
    (twin,) = targets_of_hosts(tmp_path / "f.json")
    assert (dict(twin.labels), twin.endpoint) == ({"fabric": "f", "platform": "frr"}, LEAF)


def test_a_file_that_changes_is_read_again_and_a_bad_one_keeps_the_last(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text("a: {hostname: h}\nb: {hostname: h}\n")
    (tmp_path / "defaults.yml").write_text("platform: frr\n")

    async def follow() -> None:
        source = FileSource(path)
        loader = Loader(source)
        assert [target.name for target in (await loader.refresh()).added] == ["a", "b"]
        assert await source.poll() is None
        path.write_text("a: {hostname: h}\nb: {hostname: i}\n")
        assert [target.name for target in (await loader.refresh()).changed] == ["b"]
        path.write_text("a: {hostname: h\n")
        assert not any(await loader.refresh())
        path.unlink()
        assert not any(await loader.refresh())
        assert (len(loader.specs), dict(loader.health.failures)) == (2, {"invalid": 2})
        path.write_text("a: {hostname: h}\n")
        assert [target.name for target in (await loader.refresh()).removed] == ["b"]
        (tmp_path / "defaults.yml").write_text("platform: eos\n")
        assert [target.platform for target in (await loader.refresh()).changed] == ["eos"]

    asyncio.run(follow())


class Box:
    """A switch with a name."""

    name = "leaf1"
    change_age_s = 0.0

    def __init__(self) -> None:
        self.leaves = Leaves(self.name)

    def models(self) -> tuple[()]:
        return ()

    def view(self, _: float) -> None:
        return None


@pytest.fixture(scope="module")
def loop() -> Iterator[ServerLoop]:
    with ServerLoop() as running:
        yield running


def test_a_rotated_password_and_certificate_work_at_the_next_dial(loop: ServerLoop, tmp_path: Path) -> None:
    """Within one second, and with files of the same length: contents count, not times."""
    login, ca = tmp_path / "login.yml", tmp_path / "ca.pem"

    def rotate(word: str) -> GnmiServer:
        login.write_text(f"{{username: me, password: {word}}}\n")
        authority = Authority("test")
        ca.write_bytes(authority.certificate)
        credentials = Credentials("me", word)
        return GnmiServer(Box(), loop, credentials=credentials, identity=authority.issue("leaf1"))  # type: ignore[arg-type]

    first = rotate("one")
    endpoint = replace(LEAF, host="127.0.0.1", gnmi_port=first.start(), ca=str(ca), credentials=str(login))

    def dial(to: Endpoint, credentials: Credentials) -> None:
        with BlockingGnmiClient(to, credentials, dial_timeout_s=5) as client:
            client.capabilities()

    old = asyncio.run(newest_credentials(endpoint))
    dial(endpoint, old)
    second = rotate("two")
    moved = replace(endpoint, gnmi_port=second.start())
    new = asyncio.run(newest_credentials(moved))
    dial(moved, new)
    with pytest.raises(LoginRefused):
        dial(moved, old)
    with pytest.raises(CertificateRefused):
        dial(endpoint, new)
    login.unlink()
    with pytest.raises(RailfabError, match="contains no credentials"):
        asyncio.run(newest_credentials(moved))
    for server in (first, second):
        server.stop()


def test_the_name_of_another_tool_for_a_platform_means_it_unless_the_user_has_a_map_of_that_name(
    tmp_path: Path,
) -> None:
    path = tmp_path / "hosts.yml"
    names = {"a": "nokia_srl", "b": "arista_ceos", "c": "linux", "d": "nokia_srlunix"}
    path.write_text("".join(f"{host}: {{hostname: h, platform: {name}}}\n" for host, name in names.items()))
    found = targets_of_hosts(path)
    assert [target.platform for target in found] == ["srlinux", "eos", "linux", "nokia_srlunix"]
    assert [target.labels["platform"] for target in found] == [target.platform for target in found]
    assert [bool(target.telemetry.rules) for target in found] == [True, True, False, False]
    own = {"nokia_srl": platform("sonic").telemetry}
    (first, *_) = targets_of_hosts(path, telemetry=lambda name: own.get(name, EMPTY))
    assert (first.platform, first.telemetry) == ("nokia_srl", own["nokia_srl"])

"""A session with a virtual SR Linux switch over real gNMI and TLS."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import grpc
import pytest
from tests.platforms.srlinux.switches import rail_switch, spine

from railfab.device import DeviceModel, ObservedBgpSession, ObservedInterface
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, EndpointError, LoginRefused, RailfabError, Unreachable, UnsupportedFeature
from railfab.gnmi.certificates import Authority
from railfab.gnmi.confirmed import ConfirmedCommits
from railfab.gnmi.leaves import Leaves, LeavesView
from railfab.gnmi.paths import Element, elements
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.gnmi.target import (
    Commit,
    CommitAction,
    DataType,
    Edit,
    Found,
    Leaf,
    Operation,
    PathNotFound,
    Selected,
    TargetView,
    YangModel,
)
from railfab.platforms import ChangeName, Session, Verb, platform
from railfab.platforms.shared.json_edits import edited
from railfab.platforms.shared.json_names import JsonNames
from railfab.platforms.shared.json_paths import nodes_at, selected
from railfab.platforms.shared.notifications import merged
from railfab.platforms.srlinux.parse import parse_tree
from railfab.platforms.srlinux.set_request import managed
from railfab.platforms.srlinux.tree import keys_of, stripped, tree_of
from railfab.platforms.srlinux.twin import commit_leaves

SRLINUX = platform("srlinux")
NAME = "pod1-seg1-leaf1"
ADMIN = Credentials("admin", "NokiaSrl1!")
SETUP = ChangeName(deploy="20261122T080000.000Z-0000", user="ann", host="control1")
CHANGE = ChangeName(deploy="20261122T093012.345Z-4f2a", user="kim", host="control1")
OTHER = ChangeName(deploy="20261122T093012.345Z-4f2a", user="ada", host="control2")


@dataclass
class SwitchView:
    """The configuration and the state of a switch."""

    state: LeavesView
    tree: dict[str, Any]
    names: JsonNames
    timestamp_ns: int = 1
    layout: object = field(default_factory=object)

    @property
    def values(self) -> Sequence[Any]:
        return self.state.values

    def select(self, pattern: tuple[Element, ...], data_type: DataType = DataType.ALL) -> list[Selected]:
        config = selected(self.tree, pattern, self.names) if data_type is not DataType.STATE else []
        chosen = [Selected(Leaf(path, config=True), None, value) for path, value in config]
        return chosen if data_type is DataType.CONFIG else [*chosen, *self.state.select(pattern, DataType.STATE)]

    def get(self, path: tuple[Element, ...], data_type: DataType) -> list[Found]:
        answers = nodes_at(self.tree, path, self.names) if data_type is not DataType.STATE else []
        if data_type is not DataType.CONFIG and self.state.select(path):
            answers += self.state.get(path, DataType.STATE)
        if not answers:
            raise PathNotFound(NAME, f"nothing at {path}", "Check the path")
        return answers


class Switch:
    """A target whose configuration is parsed before it takes effect; its state is put into its leaves by native path.

    accepted: every model it was given. deaf_to: a subtree that it takes without keeping it.
    """

    change_age_s = 1.0

    def __init__(self) -> None:
        self.name = NAME
        self.leaves = Leaves(NAME)
        self.accepted: list[DeviceModel] = []
        self.deaf_to = ""
        self.tree: dict[str, Any] = {
            "srl_nokia-interfaces:interface": [{"name": "mgmt0", "admin-state": "enable"}],
            "srl_nokia-network-instance:network-instance": [{"name": "mgmt"}],
            "srl_nokia-system:system": {
                "srl_nokia-system-name:name": {"host-name": NAME},
                "srl_nokia-grpc:grpc-server": [{"name": "mgmt", "admin-state": "enable"}],
            },
        }
        self.commits = ConfirmedCommits(NAME, self._restore, lambda: None)
        self._names = JsonNames(keys_of)
        self._names.learn(SRLINUX.render(rail_switch()))

    def models(self) -> Sequence[YangModel]:
        return (YangModel("urn:nokia.com:srlinux:srl_nokia-interfaces", "Nokia", "25.3.1"),)

    def view(self, max_age_s: float) -> None:
        """None: every request reads the switch."""

    def refresh(self) -> TargetView:
        for path, value in commit_leaves(self.commits.records()).items():
            self.leaves.put(path, value)
        return SwitchView(self.leaves.publish(), self.tree, self._names)

    def set(self, edits: Sequence[Edit]) -> None:
        self.commits.plain(partial(self._edit, edits))

    def set_commit(self, edits: Sequence[Edit], commit: Commit) -> None:
        self.commits.act(commit, partial(self._edit, edits) if edits else None)

    def _edit(self, edits: Sequence[Edit]) -> dict[str, Any]:
        before = self.tree
        kept = [edit for edit in edits if edit.path[0].name != self.deaf_to]
        tree = edited(self.tree, kept, self._names, self.name)
        if "srl_nokia-routing-policy:routing-policy" in tree:
            self.accepted.append(managed_model(json.dumps(tree)))
        self.tree = tree
        return before

    def _restore(self, tree: dict[str, Any]) -> None:
        self.tree = tree


@dataclass
class Box:
    """A switch that serves, and how it is reached."""

    switch: Switch
    endpoint: Endpoint

    def session(self, credentials: Credentials = ADMIN, **changed: Any) -> Session:
        return SRLINUX.session(replace(self.endpoint, **changed), credentials)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("test")


@pytest.fixture(scope="module")
def loop() -> Iterator[ServerLoop]:
    with ServerLoop() as running:
        yield running


@pytest.fixture
def box(authority: Authority, loop: ServerLoop, tmp_path: Path) -> Iterator[Box]:
    switch = Switch()
    server = GnmiServer(switch, loop, credentials=ADMIN, identity=authority.issue(NAME))
    ca = tmp_path / "ca.pem"
    ca.write_bytes(authority.certificate)
    endpoint = Endpoint(name=NAME, platform="srlinux", host="127.0.0.1", gnmi_port=server.start(), ca=str(ca))
    yield Box(switch, endpoint)
    server.stop()
    switch.commits.close()


def wanted(model: DeviceModel | None = None) -> str:
    return SRLINUX.text(SRLINUX.render(model or rail_switch()))


def without_pfc() -> DeviceModel:
    model = rail_switch()
    assert model.qos is not None
    return replace(model, qos=replace(model.qos, ports=tuple(replace(port, pfc=()) for port in model.qos.ports)))


def begin(session: Session, text: str, change: ChangeName = CHANGE, within_s: int = 60) -> None:
    """Commit, to be confirmed."""
    session.commit(session.stage(text), change, within_s)


def configure(box: Box, text: str) -> None:
    """Make this the running configuration for good."""
    with box.session() as session:
        begin(session, text, SETUP)
        session.confirm(SETUP)


def managed_model(text: str) -> DeviceModel:
    """The model of what a deploy replaces; a switch has its management access too."""
    return parse_tree(managed(tree_of(text), tree_of(wanted())))


def running(box: Box) -> str:
    with box.session() as session:
        return session.running().text


def test_a_factory_switch_is_configured_by_one_set(box: Box) -> None:
    with box.session() as session:
        assert "+set / qos explicit-congestion-notification" in session.stage(wanted()).diff.splitlines()
        begin(session, wanted())
        session.confirm(CHANGE)
        assert managed_model(session.running().text) == rail_switch()
    assert box.switch.accepted == [rail_switch()]


def test_committing_twice_changes_nothing(box: Box) -> None:
    configure(box, wanted())
    with box.session() as session:
        assert session.stage(wanted()).diff == ""
        begin(session, wanted())
        assert session.running().pending is None
    assert len(box.switch.accepted) == 1


def test_a_change_sets_the_differing_subtrees_and_is_reverted(box: Box) -> None:
    configure(box, wanted())
    before = running(box)
    with box.session() as session:
        begin(session, wanted(without_pfc()))
        assert managed_model(session.running().text) == without_pfc()
        session.revert(CHANGE)
        assert session.running().text == before
        session.revert(CHANGE)
    assert box.switch.accepted == [rail_switch(), without_pfc()]


def test_the_first_change_is_reverted_to_the_factory_configuration(box: Box) -> None:
    factory = running(box)
    with box.session() as session:
        begin(session, wanted())
        session.revert(CHANGE)
    assert running(box) == factory
    assert "srl_nokia-qos:qos" not in box.switch.tree


def test_a_later_session_sees_what_waits_and_confirms_it(box: Box) -> None:
    with box.session() as first:
        begin(first, wanted())
    with box.session() as later:
        pending = later.running().pending
        assert pending is not None
        assert (pending.change, pending.reverts_in_s) == (CHANGE, None)
        assert pending.description.startswith(f"commit {CHANGE} waits since 20")
        later.confirm(CHANGE)
        assert later.running().pending is None
        later.confirm(CHANGE)
        later.revert(CHANGE)
    assert managed_model(running(box)) == rail_switch()


def test_a_later_session_reverts_a_change_by_its_name_only(box: Box) -> None:
    factory = running(box)
    with box.session() as first:
        begin(first, wanted())
    with box.session() as later:
        later.revert(OTHER)
        assert later.running().pending is not None
        later.revert(CHANGE)
        assert later.running().pending is None
    assert running(box) == factory


def test_the_switch_reverts_what_nobody_confirms_and_says_so_afterwards(box: Box) -> None:
    factory = running(box)
    with box.session() as session:
        begin(session, wanted(), within_s=1)
        end_s = time.monotonic() + 20
        while session.running().pending is not None:
            assert time.monotonic() < end_s
            time.sleep(0.1)
        assert session.running().text == factory
        with pytest.raises(CommitRefused) as refused:
            session.confirm(CHANGE)
    assert str(refused.value).startswith(f"{NAME}: no longer has the change {CHANGE}, which it reverted (")


def test_a_change_of_somebody_else_is_not_railfabs(box: Box) -> None:
    edit = Edit(Operation.UPDATE, elements("/system/name/host-name"), "new")
    box.switch.set_commit([edit], Commit(CommitAction.COMMIT, "by hand", 60))
    with box.session() as session:
        pending = session.running().pending
        assert pending is not None
        assert pending.change is None
        assert pending.description.startswith("commit by hand waits since ")
        with pytest.raises(CommitRefused, match=r"is being changed \(.*commit by hand is not confirmed yet"):
            begin(session, wanted())


def test_a_change_that_was_compared_with_another_configuration_is_refused(box: Box) -> None:
    with box.session() as session:
        staged = session.stage(wanted())
        configure(box, wanted(without_pfc()))
        with pytest.raises(CommitRefused, match="has changed since its differences were read"):
            session.commit(staged, CHANGE, 60)
    assert managed_model(running(box)) == without_pfc()


def test_the_revision_is_that_of_the_text(box: Box) -> None:
    with box.session() as session:
        first = session.running()
        assert (first.revision, first.identity.hostname) == (session.stage(wanted()).revision, NAME)
        begin(session, wanted())
        assert session.running().revision != first.revision
        session.revert(CHANGE)
        assert session.running().revision == first.revision


def test_a_switch_without_the_extension_is_named_and_not_changed(
    box: Box, loop: ServerLoop, authority: Authority
) -> None:
    class Old:
        """A switch of an older release: the same, without commits."""

        name, change_age_s = NAME, 1.0
        models, view, refresh = box.switch.models, box.switch.view, box.switch.refresh

        def set(self, edits: Sequence[Edit]) -> None:
            raise AssertionError("the Set was not refused")

    server = GnmiServer(Old(), loop, credentials=ADMIN, identity=authority.issue(NAME))
    with (
        box.session(gnmi_port=server.start()) as session,
        pytest.raises(CommitRefused, match=r"lacks gNMI's commit-confirmed extension \(.*Upgrade it to SR Linux 24\.7"),
    ):
        begin(session, wanted())
    server.stop()


@pytest.mark.parametrize("verb", [Verb.SAVE, Verb.RELOAD])
def test_gnmi_changes_configuration_only(box: Box, verb: Verb) -> None:
    with box.session() as session, pytest.raises(UnsupportedFeature, match=f"cannot {verb} over gNMI"):
        session.operate(verb)


def test_a_switch_without_bgp_is_not_drained(box: Box) -> None:
    box.switch.tree["srl_nokia-system:system"]["srl_nokia-maintenance-mode:maintenance"] = {}
    before = running(box)
    with box.session() as session, pytest.raises(CommitRefused, match="has no BGP to drain"):
        session.operate(Verb.DRAIN)
    assert running(box) == before


def test_the_end_of_a_drain_leaves_nothing_of_it(box: Box) -> None:
    configure(box, wanted())
    before = running(box)
    with box.session() as session:
        session.operate(Verb.DRAIN)
        assert managed_model(running(box)) == replace(managed_model(before), drain=True)
        session.operate(Verb.UNDRAIN)
    assert "drain" not in running(box)
    assert managed_model(running(box)) == managed_model(before)


def test_removed_configuration_is_deleted_and_management_stays(box: Box) -> None:
    configure(box, wanted())
    smaller = replace(spine(), name=NAME, qos=None)
    assert smaller.bgp is not None
    bare = replace(smaller.bgp, neighbors=tuple(replace(peer, bfd=None) for peer in smaller.neighbors))
    configure(box, wanted(replace(smaller, bgp=bare)))
    assert managed_model(running(box)) == replace(smaller, bgp=bare)
    left = stripped(box.switch.tree)
    assert left["system"]["grpc-server"][0]["name"] == "mgmt"
    names = [port["name"] for port in left["interface"]]
    assert "mgmt0" in names
    assert "ethernet-1/9" not in names


def test_a_refused_configuration_is_a_one_line_error_and_changes_nothing(box: Box) -> None:
    broken = json.loads(wanted())
    del broken["srl_nokia-network-instance:network-instance"][0]["protocols"]["srl_nokia-bgp:bgp"]["autonomous-system"]
    configure(box, wanted())
    before = running(box)
    with box.session() as session, pytest.raises(CommitRefused) as refused:
        begin(session, json.dumps(broken))
    assert running(box) == before
    assert str(refused.value) == (
        "pod1-seg1-leaf1: refused the configuration (/network-instance[name=default]/protocols/bgp/autonomous-system: "
        "is missing. Configure the switch's AS number). Correct the configuration that it names."
    )


def test_a_switch_that_drops_part_of_a_set_is_reverted(box: Box) -> None:
    box.switch.deaf_to = "qos"
    before = running(box)
    with box.session() as session:
        with pytest.raises(CommitRefused) as refused:
            begin(session, wanted())
        assert session.running().pending is None
    assert running(box) == before
    assert str(refused.value).startswith("pod1-seg1-leaf1: did not accept 'set / qos buffer-management ")


def test_the_live_state(box: Box) -> None:
    bgp = "/network-instance[name=default]/protocols/bgp/neighbor"
    bfd = "/bfd/network-instance[name=default]/peer"
    lldp = "/system/lldp/interface[name=ethernet-1/9]/neighbor[id=1A:02:FF:00:00:01]"
    for path, value in (
        ("/interface[name=ethernet-1/9]/oper-state", "up"),
        ("/interface[name=ethernet-1/10]/oper-state", "down"),
        ("/interface[name=mgmt0]/oper-state", "up"),
        (f"{bgp}[peer-address=fe80::1%ethernet-1/9.0]/session-state", "established"),
        (f"{bgp}[peer-address=fe80::1%ethernet-1/9.0]/peer-as", 65001),
        (f"{bgp}[peer-address=10.32.0.0]/session-state", "active"),
        (f"{bfd}[local-discriminator=16385]/session-state", "UP"),
        (f"{bfd}[local-discriminator=16385]/ipv6-link-local-interface", "ethernet-1/9.0"),
        (f"{bfd}[local-discriminator=16386]/session-state", "INIT"),
        (f"{bfd}[local-discriminator=16386]/remote-address", "10.32.0.0"),
        (f"{lldp}/system-name", "spine1"),
        (f"{lldp}/port-id", "ethernet-1/1"),
    ):
        box.switch.leaves.put(path, value)
    configure(box, wanted())
    with box.session() as session:
        observed = session.observe()
    assert observed.sessions == (
        ObservedBgpSession(
            peer="ethernet-1/9",
            state="established",
            interface="ethernet-1/9",
            remote_as=65001,
            neighbor_device="spine1",
            bfd_up=True,
        ),
        ObservedBgpSession(
            peer=IPv4Address("10.32.0.0"), state="active", interface="ethernet-1/10", remote_as=65001, bfd_up=False
        ),
    )
    assert [found.name for found in observed.interfaces] == [
        "ethernet-1/1/1",
        "ethernet-1/1/2",
        "ethernet-1/9",
        "ethernet-1/10",
    ]
    assert observed.interfaces[2] == ObservedInterface(
        name="ethernet-1/9",
        oper_up=True,
        mtu_bytes=9216,
        neighbor_device="spine1",
        neighbor_interface="ethernet-1/1",
        resolved_addresses=frozenset(),
    )
    assert not observed.interfaces[3].oper_up


def put_neighbor(box: Box, unit: str, address: str, mac: str, **leaves: str) -> None:
    """An entry of ARP or neighbour discovery of a subinterface (srl_nokia-interfaces-nbr)."""
    port, _, index = unit.partition(".")
    family, key = ("ipv6/neighbor-discovery", "ipv6") if ":" in address else ("ipv4/arp", "ipv4")
    entry = f"/interface[name={port}]/subinterface[index={index}]/{family}/neighbor[{key}-address={address}]"
    for leaf, value in ({"link-layer-address": mac, "origin": "dynamic"} | leaves).items():
        box.switch.leaves.put(f"{entry}/{leaf}", value)


def resolved(box: Box) -> dict[str, set[str]]:
    with box.session() as session:
        interfaces = session.observe().interfaces
    return {seen.name: set(map(str, seen.resolved_addresses or ())) for seen in interfaces if seen.resolved_addresses}


def test_resolved_addresses_are_those_that_a_neighbour_has_answered_for(box: Box) -> None:
    """Not static ones, those of EVPN, and those that wait for an answer."""
    put_neighbor(box, "ethernet-1/9.0", "10.17.0.1", "1A:02:FF:00:00:01")
    put_neighbor(box, "ethernet-1/9.0", "fd00:10::1", "1A:02:FF:00:00:01", **{"current-state": "stale"})
    put_neighbor(box, "ethernet-1/9.0", "10.17.0.5", "1A:02:FF:00:00:02", origin="static")
    put_neighbor(box, "ethernet-1/9.0", "10.17.0.7", "1A:02:FF:00:00:03", origin="evpn")
    put_neighbor(box, "ethernet-1/10.0", "fd00:10::3", "00:00:00:00:00:00", **{"current-state": "incomplete"})
    configure(box, wanted())
    assert resolved(box) == {"ethernet-1/9": {"10.17.0.1", "fd00:10::1"}}


def test_addresses_in_a_vlan_are_those_of_the_port_on_which_the_bridge_has_learned_their_macs(box: Box) -> None:
    macs = "/network-instance[name={}]/bridge-table/mac-table/mac[address={}]"
    for vlan, mac, kind, destination in (
        ("vlan10", "1A:02:FF:00:00:01", "learnt", "ethernet-1/9.0"),
        ("vlan10", "1A:02:FF:00:00:02", "learnt", "lag201.0"),
        ("vlan10", "1A:02:FF:00:00:03", "evpn", "vxlan-interface:vxlan1.10 vtep:10.255.1.2 vni:10010"),
        ("vlan11", "1A:02:FF:00:00:04", "learnt", "ethernet-1/10.0"),
        ("vlan10", "1A:02:FF:00:00:05", "static", "ethernet-1/10.0"),
    ):
        box.switch.leaves.put(macs.format(vlan, mac) + "/type", kind)
        box.switch.leaves.put(macs.format(vlan, mac) + "/destination", destination)
    box.switch.leaves.put("/interface[name=lag201]/oper-state", "up")
    for number in range(1, 6):
        put_neighbor(box, "irb0.10", f"10.0.0.{number}", f"1a:02:ff:00:00:0{number}")
    configure(box, wanted())
    assert resolved(box) == {"ethernet-1/9": {"10.0.0.1"}, "lag201": {"10.0.0.2"}}


# Ways not to reach a switch.


def refusal(session: Session) -> RailfabError:
    with pytest.raises(RailfabError) as refused, session:
        pass
    return refused.value


def test_a_wrong_password_is_refused(box: Box) -> None:
    error = refusal(box.session(Credentials("admin", "hunter2")))
    assert isinstance(error, LoginRefused)
    assert str(error).startswith("pod1-seg1-leaf1: rejects the login of admin (")
    assert "hunter2" not in str(error) + repr(error)


@contextmanager
def forbidding(authority: Authority) -> Iterator[int]:
    """A gNMI server, by its port, that knows every user and lets none of them do anything."""

    class Forbidding(grpc.GenericRpcHandler):  # type: ignore[type-arg]
        def service(self, call: grpc.HandlerCallDetails) -> Any:
            def refuse(_: bytes, context: grpc.ServicerContext) -> None:
                context.abort(grpc.StatusCode.PERMISSION_DENIED, "role none")

            return grpc.unary_unary_rpc_method_handler(refuse)

    server = grpc.server(ThreadPoolExecutor(1), handlers=[Forbidding()])
    identity = authority.issue(NAME)
    trust = grpc.ssl_server_credentials([(identity.key, identity.certificate)])
    port = server.add_secure_port("127.0.0.1:0", trust)
    server.start()
    yield port
    server.stop(0)


def test_a_user_without_permission_is_told_so_as_one_with_a_wrong_password_is(authority: Authority, box: Box) -> None:
    with forbidding(authority) as port:
        error = refusal(box.session(gnmi_port=port))
    assert isinstance(error, LoginRefused)
    assert "role none" in str(error)


def test_a_certificate_of_another_ca_is_refused(box: Box, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    other.write_bytes(Authority("other").certificate)
    error = refusal(box.session(ca=str(other)))
    assert isinstance(error, LoginRefused)
    assert str(error).startswith(
        f"pod1-seg1-leaf1: the certificate of 127.0.0.1:{box.endpoint.gnmi_port} is not trusted ("
    )
    assert str(error).endswith("Set the endpoint's ca to the CA that signed it.")


def test_a_certificate_that_the_system_store_does_not_trust_is_refused(box: Box) -> None:
    assert isinstance(refusal(box.session(ca=None)), LoginRefused)


def test_a_certificate_that_the_system_store_trusts_is_accepted(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(box.endpoint.ca))
    with box.session(ca=None) as session:
        assert "host-name" in session.running().text


def test_skip_verify_accepts_any_certificate(box: Box) -> None:
    with box.session(ca=None, skip_verify=True) as session:
        assert "host-name" in session.running().text


def test_a_missing_ca_file_is_an_endpoint_error(box: Box, tmp_path: Path) -> None:
    absent = tmp_path / "absent.pem"
    error = refusal(box.session(ca=str(absent)))
    assert isinstance(error, EndpointError)
    assert str(error) == (
        f"pod1-seg1-leaf1: no usable CA certificate in {absent} (no such file or directory). "
        "Correct ca or its file; a lab or a twin writes one when it starts."
    )


def test_a_closed_port_is_unreachable(box: Box) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    error = refusal(box.session(gnmi_port=port))
    assert isinstance(error, Unreachable)
    assert str(error) == (
        f"pod1-seg1-leaf1: no answer from 127.0.0.1:{port} (connection refused). "
        "Check that the switch is up and serves gNMI on this port."
    )


def test_an_endpoint_without_gnmi_port_is_an_endpoint_error(box: Box) -> None:
    with pytest.raises(EndpointError) as refused:
        box.session(gnmi_port=None)
    assert str(refused.value) == "pod1-seg1-leaf1: has no gNMI port. Set its gnmi_port."


@contextmanager
def plain_server() -> Iterator[int]:
    """A server that answers everything with a line of text and hangs up."""

    def answer(listening: socket.socket) -> None:
        with listening.accept()[0] as caller:
            caller.recv(1024)
            caller.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer, args=(listening,), daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(5)


def test_a_port_without_tls_is_unreachable(box: Box) -> None:
    with plain_server() as port:
        error = refusal(box.session(gnmi_port=port))
    assert isinstance(error, Unreachable)
    assert str(error).startswith(f"pod1-seg1-leaf1: 127.0.0.1:{port} does not speak TLS (")


def test_a_switch_that_stops_during_the_session_is_unreachable(
    authority: Authority, loop: ServerLoop, box: Box
) -> None:
    server = GnmiServer(box.switch, loop, credentials=ADMIN, identity=authority.issue(NAME))
    port = server.start()
    with box.session(gnmi_port=port) as session:
        server.stop(grace_s=0)
        with pytest.raises(Unreachable) as lost:
            session.running()
    assert str(lost.value).startswith(f"pod1-seg1-leaf1: lost the connection to 127.0.0.1:{port} (")


def test_a_session_leaves_logging_and_ciphers_unchanged(box: Box, capsys: pytest.CaptureFixture[str]) -> None:
    """Another client, pygnmi, logs to stdout and changes the ciphers of every channel of the process."""
    refusal(box.session(Credentials("admin", "hunter2")))
    assert capsys.readouterr().out == ""
    assert "GRPC_SSL_CIPHER_SUITES" not in os.environ


# What a target may answer to a Get.


@pytest.mark.parametrize(
    "answers",
    [
        [("/", {"srl_nokia-interfaces:interface": [{"name": "a", "mtu": 1}, {"name": "b"}]})],
        [("/interface", {"srl_nokia-interfaces:interface": [{"name": "a", "mtu": 1}, {"name": "b"}]})],
        [("/interface", [{"name": "a", "mtu": 1}, {"name": "b"}])],
        [("/interface[name=a]", {"mtu": 1}), ("/interface[name=b]", {"name": "b"})],
        [("/interface[name=a]/mtu", 1), ("/interface[name=b]/name", "b")],
    ],
    ids=["at the root", "named", "bare list", "by entry", "by leaf"],
)
def test_updates_by_leaf_entry_or_container_give_the_same_tree(answers: list[tuple[str, Any]]) -> None:
    tree = merged((elements(path), value) for path, value in answers)
    assert tree == {"interface": [{"name": "a", "mtu": 1}, {"name": "b"}]}


def test_entries_of_a_whole_list_are_known_to_the_leaves_that_follow() -> None:
    leaves = [("/interface[name=a]/mtu", 1), ("/interface", [{"name": "b"}]), ("/interface[name=b]/mtu", 2)]
    tree = merged((elements(path), value) for path, value in leaves)
    assert tree == {"interface": [{"name": "a", "mtu": 1}, {"name": "b", "mtu": 2}]}


def test_updates_of_one_container_are_merged() -> None:
    name = ((Element("system"), Element("name")), {"host-name": "leaf1"})
    tree = merged((name, ((Element("system"),), {"system": {"lldp": {"admin-state": "enable"}}})))
    assert tree == {"system": {"name": {"host-name": "leaf1"}, "lldp": {"admin-state": "enable"}}}

"""What of gNMI the servers of EOS, NX-OS, Junos and Cumulus Linux offer, and commands of a CLI under origin `cli`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from pygnmi.client import gNMIclient, gNMIException
from tests.faults.trial import rack_of
from tests.gnmi.gnmic import Gnmic
from tests.gnmi.stub import Stub

from railfab.endpoints import Endpoint, read_credentials
from railfab.gnmi import messages
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.bundles import proto_path
from railfab.gnmi.paths import elements, to_text_elements
from railfab.gnmi.values import ASCII, JSON, JSON_IETF, PROTO, decode
from railfab.platforms import platform
from railfab.twin import Twin

LEAF = "pod1-seg1-leaf1"
pytestmark = pytest.mark.timeout(600)
RUNNING = "show running-config"
NATIVE_DROPS = (
    "device:/System/ipqos-items/queuing-items/policy-items/out-items/intf-items/If-list[name=eth1/1/1]"
    "/queCmap-items/QueuingStats-list[cmapName=c-out-8q-q3][statType=none]/dropBytes"
)
STATUS = grpc.StatusCode


class Switch:
    """A switch on a bare channel."""

    def __init__(self, node: Endpoint, channel: grpc.Channel) -> None:
        self.node, self._stub = node, Stub(channel)
        login = read_credentials(node)
        self._login = (("username", login.username), ("password", login.password))

    def encodings(self) -> list[int]:
        answer = self._stub.Capabilities(messages.CapabilityRequest(), metadata=self._login)
        return list(answer.supported_encodings)

    def get(self, path: messages.Path, encoding: int) -> messages.GetResponse:
        return self._stub.Get(messages.GetRequest(path=[path], encoding=encoding), metadata=self._login)

    def shown(self, command: str, encoding: int = ASCII) -> Any:
        """The answer to a command."""
        (notification,) = self.get(command_path(command), encoding).notification
        (update,) = notification.update
        assert update.path == command_path(command)
        return decode(update.val)

    def state(self, path: str) -> Any:
        """The value of a leaf."""
        (notification,) = self.get(proto_path(elements(path)), JSON).notification
        return decode(notification.update[0].val)

    def set(self, **operations: Any) -> messages.SetResponse:
        return self._stub.Set(messages.SetRequest(**operations), metadata=self._login)

    def configure(self, *texts: str) -> messages.SetResponse:
        return self.set(update=[lines(text) for text in texts])

    def refused(self, call: Callable[[], object]) -> tuple[grpc.StatusCode, str]:
        """Status and text of a call that is refused."""
        with pytest.raises(grpc.RpcError) as raised:
            call()
        error: Any = raised.value
        return error.code(), error.details()


def command_path(command: str) -> messages.Path:
    return messages.Path(origin="cli", elem=[messages.PathElem(name=command)])


def lines(text: str, kind: str = "ascii_val") -> messages.Update:
    value: Any = text if kind == "ascii_val" else json.dumps(text).encode()
    return messages.Update(path=messages.Path(origin="cli"), val=messages.TypedValue(**{kind: value}))


@pytest.fixture(scope="module")
def switch_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Switch]]:
    """Starts the twin of a platform once."""
    with ExitStack() as stack:

        @cache
        def started(name: str) -> Switch:
            twin = stack.enter_context(
                Twin(rack_of(name), state=tmp_path_factory.mktemp(name), base_port=0, configured=True)
            )
            node = twin.endpoints.by_name()[LEAF]
            credentials = grpc.ssl_channel_credentials(Path(node.ca or "").read_bytes())
            channel = grpc.secure_channel(f"{node.host}:{node.gnmi_port}", credentials)
            return Switch(node, stack.enter_context(channel))

        yield started


@pytest.fixture
def eos(switch_of: Callable[[str], Switch]) -> Switch:
    return switch_of("eos")


@pytest.fixture
def junos(switch_of: Callable[[str], Switch]) -> Switch:
    return switch_of("junos")


@pytest.mark.parametrize(
    ("name", "announced", "refused"),
    [
        ("eos", [JSON, JSON_IETF, ASCII], ASCII),
        ("nxos", [JSON, PROTO], JSON_IETF),
        ("cumulus", [PROTO, JSON], None),
        ("junos", [JSON_IETF, JSON, PROTO], ASCII),
    ],
)
def test_a_server_has_the_encodings_of_its_platform(
    switch_of: Callable[[str], Switch], name: str, announced: Sequence[int], refused: int | None
) -> None:
    switch = switch_of(name)
    assert switch.encodings() == announced
    if refused is not None:
        code, text = switch.refused(lambda: switch.get(proto_path(elements("/interfaces")), refused))
        assert (code, f"encoding {messages.Encoding.Name(refused)} is not supported" in text) == (
            STATUS.UNIMPLEMENTED,
            True,
        )


def test_cumulus_takes_neither_get_nor_set(switch_of: Callable[[str], Switch]) -> None:
    switch = switch_of("cumulus")
    path = proto_path(elements("/interfaces"))
    assert switch.refused(lambda: switch.get(path, JSON))[0] is STATUS.UNIMPLEMENTED
    assert switch.refused(lambda: switch.set(delete=[path]))[0] is STATUS.UNIMPLEMENTED


@pytest.mark.parametrize("name", ["eos", "nxos", "junos"])
def test_pygnmi_gets_what_a_subscription_sends(switch_of: Callable[[str], Switch], name: str) -> None:
    node = switch_of(name).node
    login = read_credentials(node)
    paths = [entry.path for entry in platform(name).telemetry.subscriptions if entry.path.endswith(("status", "speed"))]
    paths += [NATIVE_DROPS] if name == "nxos" else []
    with (
        BlockingGnmiClient(node, login) as ours,
        gNMIclient(
            target=(node.host, node.gnmi_port), path_cert=node.ca, username=login.username, password=login.password
        ) as theirs,
    ):
        for path in paths:
            (notification,) = theirs.get(path=[path], encoding="json")["notification"]
            read = {f"/{update['path']}": update["val"] for update in notification["update"]}
            sent = {to_text_elements(leaf.path): leaf.value for leaf in ours.once([path], JSON)}
            assert read == sent
            assert len(sent) > 10 or path == NATIVE_DROPS


@pytest.fixture(
    params=[("eos", "Ethernet1/5"), ("nxos", "Ethernet1/1/2"), ("junos", "et-0/0/0:1")], ids=lambda each: each[0]
)
def port(request: pytest.FixtureRequest, switch_of: Callable[[str], Switch]) -> Iterator[OpenConfigPort]:
    """A host port of a switch that OpenConfig configures."""
    name, interface = request.param
    node = switch_of(name).node
    login = read_credentials(node)
    address = (node.host, node.gnmi_port)
    with gNMIclient(target=address, path_cert=node.ca, username=login.username, password=login.password) as client:
        yield OpenConfigPort(client, name, interface)


@dataclass
class OpenConfigPort:
    client: gNMIclient
    platform: str
    interface: str

    @property
    def path(self) -> str:
        return f"/interfaces/interface[name={self.interface}]"

    def read(self, below: str, datatype: str = "all") -> Any:
        """What a Get has at a path below the port."""
        answer = self.client.get(path=[self.path + below], datatype=datatype, encoding="json")
        return answer["notification"][0]["update"][0]["val"]

    @property
    def config(self) -> dict[str, Any]:
        held: dict[str, Any] = self.read("/config", "config")
        return held


def test_pygnmi_sets_leaves_of_a_port_which_move_its_state_and_are_read_again(port: OpenConfigPort) -> None:
    before = port.config
    assert (before["name"], before["enabled"]) == (port.interface, True)
    done = port.client.set(
        update=[(f"{port.path}/config", {"enabled": False, "description": "by gNMI"})], encoding="json"
    )
    assert [entry["op"] for entry in done["response"]] == ["UPDATE"]
    assert port.config == before | {"enabled": False, "description": "by gNMI"}
    whole = port.read("")
    assert (whole["config"], whole["state"]["admin-status"]) == (port.config, "DOWN")
    entry = {"name": port.interface, "config": before}
    port.client.set(update=[("/interfaces", {"openconfig-interfaces:interface": [entry]})], encoding="json")
    assert (port.config, port.read("/state/admin-status")) == (before, "UP")


def test_a_replace_sets_what_it_does_not_state_to_its_default(port: OpenConfigPort) -> None:
    before = port.config
    port.client.set(replace=[(f"{port.path}/config", {"description": "alone"})], encoding="json")
    assert port.config == {"name": port.interface, "description": "alone", "enabled": True}
    port.client.set(delete=[f"{port.path}/config/description"])
    assert "description" not in port.config
    port.client.set(replace=[(f"{port.path}/config", before)], encoding="json")
    assert port.config == before


def test_the_mtu_is_that_of_the_interface(port: OpenConfigPort) -> None:
    """9216 bytes of IP; an interface of Junos counts the Ethernet header."""
    assert port.config.get("mtu") == {"nxos": 9216, "junos": 9230}.get(port.platform)


@pytest.mark.parametrize(
    ("path", "value", "code", "said"),
    [
        (
            "/config/type",
            '"ethernetCsmacd"',
            STATUS.UNIMPLEMENTED,
            "/config/type: is not configured over gNMI. Use its CLI, or ",
        ),
        ("/ethernet/config", {"port-speed": "SPEED_100GB"}, STATUS.UNIMPLEMENTED, "port-speed: is not configured over"),
        ("/config/name", '"another"', STATUS.INVALID_ARGUMENT, "/config/name: is 'another'. Use "),
        (
            "/config/enabled",
            '"yes"',
            STATUS.INVALID_ARGUMENT,
            "/config/enabled: 'yes' is not a boolean. Use a boolean.",
        ),
        (
            "/config/description",
            r'"a\n shutdown"',
            STATUS.INVALID_ARGUMENT,
            "is not a line of text. Use a line of text.",
        ),
    ],
)
def test_what_is_not_modelled_is_refused_and_nothing_changes(
    port: OpenConfigPort, path: str, value: object, code: grpc.StatusCode, said: str
) -> None:
    before = port.config
    updates = [(f"{port.path}/config/description", '"first"'), (port.path + path, value)]
    with pytest.raises(gNMIException) as refused:
        port.client.set(update=updates, encoding="json")
    assert (refused.value.orig_exc.code(), said in refused.value.orig_exc.details()) == (code, True)
    assert port.config == before


@pytest.mark.parametrize("name", ["nxos", "eos", "junos"])
def test_a_set_names_a_port_of_the_configuration(switch_of: Callable[[str], Switch], name: str) -> None:
    switch = switch_of(name)
    for path, status, said in (
        ("/interfaces", STATUS.UNIMPLEMENTED, "/interfaces: is not configured over gNMI"),
        ("/interfaces/interface[name=*]/config/description", STATUS.INVALID_ARGUMENT, "names no port"),
        ("/interfaces/interface[name=Ethernet99]/config/description", STATUS.NOT_FOUND, "a port of the running conf"),
    ):
        code, text = switch.refused(partial(switch.set, delete=[proto_path(elements(path))]))
        assert (code, said in text) == (status, True), text


@pytest.mark.parametrize("name", ["nxos", "sonic"])
def test_other_platforms_know_no_commands(switch_of: Callable[[str], Switch], name: str) -> None:
    switch = switch_of(name)
    for call in (lambda: switch.get(command_path(RUNNING), JSON), lambda: switch.configure("x")):
        code, text = switch.refused(call)
        assert (code, "origin 'cli' is not known" in text) == (STATUS.INVALID_ARGUMENT, True)


# EOS


def test_eos_shows_its_running_configuration_as_text(eos: Switch) -> None:
    text = eos.shown(RUNNING)
    assert text.startswith("! Command: show running-config\n! device: ")
    assert f"\nhostname {LEAF}\n" in text


def test_eos_shows_what_has_a_form_as_json(eos: Switch) -> None:
    for encoding in (JSON, JSON_IETF):
        assert eos.shown("show version", encoding)["mfgName"] == "Arista"
    code, text = eos.refused(lambda: eos.shown(RUNNING, JSON))
    assert (code, "% Invalid input" in text) == (STATUS.INVALID_ARGUMENT, True)


@pytest.mark.parametrize("command", ["reload now", "configure session x", "enable"])
def test_eos_runs_nothing_in_a_get_that_is_no_show(eos: Switch, command: str) -> None:
    code, text = eos.refused(lambda: eos.shown(command))
    assert (code, f"a Get does not take the command {command!r}" in text) == (STATUS.INVALID_ARGUMENT, True)


def test_lines_of_several_updates_are_one_text_and_move_the_state(eos: Switch) -> None:
    answer = eos.configure("interface Ethernet1/7", "   shutdown\n   description down by gNMI")
    assert [(result.path.origin, result.op) for result in answer.response] == [
        ("cli", messages.UpdateResult.UPDATE)
    ] * 2
    assert "   description down by gNMI\n" in eos.shown(f"{RUNNING} section Ethernet1/7")
    assert eos.state("/interfaces/interface[name=Ethernet1/7]/state/admin-status") == "DOWN"
    eos.configure("interface Ethernet1/7\n   no description\n   no shutdown")
    assert eos.state("/interfaces/interface[name=Ethernet1/7]/state/admin-status") == "UP"


@pytest.mark.parametrize("wrong", ["   mtu 999999", "no such line"])
def test_a_refused_line_leaves_all_as_it_was(eos: Switch, wrong: str) -> None:
    before = eos.shown(RUNNING)
    code, text = eos.refused(lambda: eos.configure(f"interface Ethernet1/7\n   shutdown\n{wrong}"))
    assert (code, f"{LEAF}: {wrong.strip()!r}: % Invalid input. " in text) == (STATUS.INVALID_ARGUMENT, True)
    assert eos.shown(RUNNING) == before
    sessions = eos.shown("show configuration sessions", JSON)["sessions"]
    assert "pending" not in {session["state"] for session in sessions.values()}


def test_lines_are_an_ascii_value_of_an_update_alone(eos: Switch) -> None:
    code, text = eos.refused(lambda: eos.set(update=[lines("vlan 101", "json_val")]))
    assert (code, "CLI origin encoding should be ASCII" in text) == (STATUS.INVALID_ARGUMENT, True)
    description = messages.Update(path=proto_path(elements("/interfaces")), val=messages.TypedValue(json_val=b"{}"))
    for operations in (
        {"replace": [lines("vlan 101")]},
        {"delete": [messages.Path(origin="cli")]},
        {"update": [lines("vlan 101"), description]},
    ):
        code, text = eos.refused(lambda given=operations: eos.set(**given))
        assert (code, "beside other operations" in text) == (STATUS.INVALID_ARGUMENT, True)


@pytest.mark.gnmic
def test_gnmic_shows_and_configures_as_aristas_examples_do(eos: Switch) -> None:
    node = eos.node
    gnmic = Gnmic(f"{node.host}:{node.gnmi_port}", str(node.ca), read_credentials(node))
    (answer,) = json.loads(gnmic.run("get", "--path", "cli:/show version"))
    (update,) = answer["updates"]
    assert (update["Path"], update["values"]["show version"]["mfgName"]) == ("cli:/show version", "Arista")
    command = ("set", "--update-path", "cli:", "--update-value")
    done = json.loads(gnmic.run(*command, "interface Ethernet1/7", *command[1:], "description gnmic", encoding="ascii"))
    assert done["results"] == [{"operation": "UPDATE", "path": "cli:/"}] * 2
    assert "   description gnmic\n" in eos.shown(f"{RUNNING} section Ethernet1/7")


# Junos


def test_junos_merges_statements_in_braces(junos: Switch) -> None:
    port = "et-0/0/0:3"
    junos.configure(f'interfaces {{\n    {port} {{\n        description "by gNMI";\n        disable;\n    }}\n}}')
    assert junos.state(f"/interfaces/interface[name={port}]/state/admin-status") == "DOWN"


def test_junos_refuses_braces_that_do_not_match_and_shows_nothing(junos: Switch) -> None:
    code, text = junos.refused(lambda: junos.configure("interfaces {\n  et-0/0/0:2 {"))
    assert (code, "syntax error" in text) == (STATUS.INVALID_ARGUMENT, True)
    junos.configure("interfaces {\n    et-0/0/0:2 {\n        disable;\n    }\n}")
    assert junos.refused(lambda: junos.shown("show version"))[0] is STATUS.INVALID_ARGUMENT

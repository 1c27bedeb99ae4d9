"""Import from NetBox, with the real client and a real server: imported records, read-only access, and errors."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.imports.netbox_server import (
    ENDPOINTS,
    SITE,
    TAG,
    TOKEN,
    V2_TOKEN,
    Json,
    World,
    cable,
    connect,
    device,
    interface,
    nested,
    served,
    termination,
    trace,
    world_of,
)
from tests.laws import examples
from tests.topology.fabric_intents import fabric

from railfab.errors import RailfabError
from railfab.gnmi.certificates import Authority
from railfab.imports import ExistingTopology, NetBox, read_netbox
from railfab.imports.compare import compare, match_topology
from railfab.imports.netbox import AT_ONCE
from railfab.netbox.client import Client
from railfab.topology import Role, Topology, wire

LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
SMALL = {
    "profile__underlay": "numbered",
    "backend__segments__hosts": 1,
    "backend__segments__count": 1,
    "backend__spines__count": 2,
    "hosts__gpus": 2,
}


@pytest.fixture(scope="module")
def topology() -> Topology:
    return wire(fabric(**SMALL))


@pytest.fixture
def world(topology: Topology) -> Iterator[World]:
    """A NetBox that holds the fabric; nothing but GET may reach it."""
    made = world_of(topology)
    yield made
    assert made.refused == []


def read(world: World, **options: Any) -> ExistingTopology:
    with served(world) as url:
        return read_netbox(NetBox(**{"url": url, "token": TOKEN, **options}))


def said(world: World, topology: Topology) -> list[str]:
    return [str(finding).replace(world.origin, "URL") for finding in compare(topology, read(world))]


def refusal(world: World, **options: Any) -> str:
    with pytest.raises(RailfabError) as error:
        read(world, **options)
    assert TOKEN not in str(error.value)
    assert "\n" not in str(error.value)
    return str(error.value).replace(world.origin, "URL")


def test_a_netbox_with_the_intended_fabric_has_no_difference(world: World, topology: Topology) -> None:
    found = read(world)
    assert compare(topology, found) == ()
    assert match_topology(topology, found).not_compared == ()
    assert (len(found.nodes), len(found.links)) == (len(topology.nodes), len(topology.links))
    assert [node.role for node in found.nodes] == [node.role for node in topology.nodes]
    assert [node.platform for node in found.nodes] == [node.platform for node in topology.nodes]
    assert found.asns == {node.asn for node in topology.switches()}
    assert [path.partition("?")[0] for path in world.asked] == [
        f"/api/{path}/"
        for path in ("status", "dcim/devices", "ipam/ip-addresses", "dcim/interfaces", "dcim/cables", "ipam/asns")
    ]


def test_small_pages_and_many_devices_change_nothing(world: World, topology: Topology) -> None:
    whole = read(world)
    world.page = 3
    for key in range(1000, 1000 + AT_ONCE + 10):
        world.records["dcim/devices"].append(device(key, f"pdu{key}", "pdu", "AP8853", tags=[]))
    paged = read(world, tag=TAG)
    assert (paged.nodes, set(paged.links), paged.asns) == (whole.nodes, set(whole.links), whole.asns)
    assert any("offset=6" in path for path in world.asked)
    assert len(read(world).nodes) == len(whole.nodes) + AT_ONCE + 10


def test_a_next_page_is_requested_from_the_given_address(world: World, topology: Topology) -> None:
    """Behind a proxy, NetBox may name another address; neither request nor token is sent there."""
    world.page, world.origin = 3, "http://192.0.2.1"
    assert compare(topology, read(world)) == ()


def test_devices_are_selected_by_site_and_tag(world: World) -> None:
    read(world, site=SITE, tag=TAG)
    questions = [path for path in world.asked if "devices" in path]
    assert all(f"site={SITE}" in path and f"tag={TAG}" in path for path in questions)
    assert all("exclude=config_context" in path for path in questions)


def test_new_tokens_are_sent_as_bearers(world: World) -> None:
    assert read(world, token=V2_TOKEN).nodes


def test_a_netbox_that_lets_anyone_read_needs_no_token(world: World) -> None:
    world.login_required = False
    assert read(world, token=None).nodes


EDITS: dict[str, tuple[Any, list[str]]] = {
    "role": (
        lambda world: world.device(LEAF).update(role=nested("dcim/device-roles", 2, slug="super-spine")),
        [f"{LEAF}: is a super in URL, and a leaf in the intent. Correct it there, or change the intent."],
    ),
    "role by its old key": (
        lambda world: world.device(LEAF).update(role=None, device_role=nested("dcim/device-roles", 2, slug="spine")),
        [f"{LEAF}: is a spine in URL, and a leaf in the intent. Correct it there, or change the intent."],
    ),
    "a role of another word": (
        lambda world: world.device(LEAF).update(role=nested("dcim/device-roles", 2, slug="network-thing")),
        [],
    ),
    "model": (
        lambda world: world.device(LEAF)["device_type"].update(model="7220 IXR-H3"),
        [f"{LEAF}: is a 7220 IXR-H3 in URL, and a 7220-ixr-d5 in the intent. Correct it there, or change the intent."],
    ),
    "the model as its vendor writes it": (
        lambda world: world.device(LEAF)["device_type"].update(model="Nokia 7220 IXR-D5"),
        [],
    ),
    "platform": (
        lambda world: world.device(LEAF).update(platform=nested("dcim/platforms", 2, slug="arista-eos")),
        [f"{LEAF}: runs eos in URL, and srlinux in the intent. Correct it there, or change the intent."],
    ),
    "as number": (
        lambda world: world.device(LEAF)["custom_fields"].update(asn=65001),
        [f"{LEAF}: has AS 65001, not 4200001001. Correct it there."],
    ),
    "as number by reference": (
        lambda world: world.device(LEAF)["custom_fields"].update(asn=nested("ipam/asns", 5, asn=65001)),
        [f"{LEAF}: has AS 65001, not 4200001001. Correct it there."],
    ),
    "no field for as numbers": (
        lambda world: [record.update(custom_fields={}) for record in world.records["dcim/devices"]],
        [],
    ),
    "as number not registered": (
        lambda world: (
            [record.update(custom_fields={}) for record in world.records["dcim/devices"]],
            world.records["ipam/asns"].pop(1),
        ),
        [f"{LEAF}: its AS 4200001001 is not registered in URL. Register it there."],
    ),
    "loopback": (
        lambda world: address_of(world, LEAF, "system0").update(address="10.0.0.1/32"),
        [f"{LEAF}: has loopback 10.0.0.1, not 10.255.1.1. Correct it there."],
    ),
    "address": (
        lambda world: address_of(world, LEAF, "ethernet-1/32").update(address="10.0.0.1/31"),
        [f"{LEAF} ethernet-1/32: has address 10.0.0.1/31, not 100.64.0.1/31. Correct it there."],
    ),
    "no address": (
        lambda world: world.records["ipam/ip-addresses"].clear(),
        [],
    ),
    "speed": (
        lambda world: world.interface(LEAF, "ethernet-1/32").update(speed=200_000_000),
        [f"{LEAF} ethernet-1/32: 200 Gb/s there, 400 Gb/s in the intent. Correct it there, or change the intent."],
    ),
    "type too slow, no speed": (
        lambda world: world.interface(LEAF, "ethernet-1/32").update(speed=None, type={"value": "100gbase-x-qsfp28"}),
        [
            f"{LEAF} ethernet-1/32: at most 100 Gb/s there, 400 Gb/s in the intent. Correct it there, or change "
            "the intent."
        ],
    ),
    "type fast enough, no speed": (
        lambda world: world.interface(LEAF, "ethernet-1/32").update(speed=None, type={"value": "400gbase-x-qsfpdd"}),
        [],
    ),
    "a type that is no Ethernet": (
        lambda world: world.interface(LEAF, "ethernet-1/32").update(speed=None, type={"value": "other"}),
        [],
    ),
    "cable pulled": (
        lambda world: world.records["dcim/cables"].remove(world.cable(LEAF, "ethernet-1/32")),
        [f"{LEAF} ethernet-1/32: is not cabled to {SPINE} ethernet-1/1. Connect it, or remove it from the intent."],
    ),
    "cable to be removed": (
        lambda world: world.cable(LEAF, "ethernet-1/32").update(status={"value": "decommissioning"}),
        [f"{LEAF} ethernet-1/32: is not cabled to {SPINE} ethernet-1/1. Connect it, or remove it from the intent."],
    ),
    "device on the shelf": (
        lambda world: world.device("pod1-spine2").update(status={"value": "inventory"}),
        ["pod1-spine2: is not in URL. Add it there, or remove it from the intent."],
    ),
    "device planned": (
        lambda world: world.device("pod1-spine2").update(status={"value": "planned"}),
        [],
    ),
    "device without a name": (
        lambda world: world.records["dcim/devices"].append(device(900, None, "leaf", "x")),
        [],
    ),
    "device too many": (
        lambda world: world.records["dcim/devices"].append(device(900, "firewall1", "firewall", "x")),
        ["firewall1: is in URL and not in the intent. Remove it there, or add it to the intent."],
    ),
}


def address_of(world: World, owner: str, name: str) -> Json:
    key = world.interface(owner, name)["id"]
    return next(one for one in world.records["ipam/ip-addresses"] if one["assigned_object_id"] == key)


@pytest.mark.parametrize("edit", EDITS)
def test_different_data_is_reported_and_missing_data_is_not(edit: str, world: World, topology: Topology) -> None:
    change, expected = EDITS[edit]
    change(world)
    assert said(world, topology) == expected


def test_a_cable_through_a_patch_panel_is_one_link(world: World, topology: Topology) -> None:
    """NetBox has two cables then, and has traced the path from both ends."""
    gone = world.cable(LEAF, "ethernet-1/32")
    world.records["dcim/cables"].remove(gone)
    panel = device(800, "panel1", "patch-panel", "24 x MPO", tags=[])
    for key, end in ((801, (LEAF, "ethernet-1/32")), (802, (SPINE, "ethernet-1/1"))):
        port = interface(key, panel, str(key), "mpo")
        own = termination(world.interface(*end))
        world.records["dcim/cables"].append(cable(key, [own], [termination(port, "dcim.frontport")]))
    with served(world) as url:
        found = read_netbox(NetBox(url=url, token=TOKEN, tag=TAG))
    assert compare(topology, found) == ()
    assert len(found.links) == len(topology.links)


def test_a_breakout_cable_has_the_peers_that_netbox_traced_or_the_ends_in_their_order(
    world: World, topology: Topology
) -> None:
    ports = [LEAF, "ethernet-1/32"], [LEAF, "ethernet-1/31"]
    cables = [world.cable(*port) for port in ports]
    ends = [[world.interface(*port) for port in ports], [far(world, one) for one in cables]]
    for one in cables:
        world.records["dcim/cables"].remove(one)
    both = cable(700, [termination(end) for end in ends[0]], [termination(end) for end in ends[1]])
    world.records["dcim/cables"].append(both)
    assert said(world, topology) == []
    both["b_terminations"].reverse()
    assert said(world, topology) == []
    for end in (*ends[0], *ends[1]):
        trace(end, ends[1] if end in ends[0] else ends[0])
    assert "are swapped" in said(world, topology)[0]


def far(world: World, one: Json) -> Json:
    (end,) = one["b_terminations"]
    return world.interface(end["object"]["device"]["name"], end["object"]["name"])


def test_a_cable_to_a_device_that_is_not_selected_is_reported(world: World, topology: Topology) -> None:
    outside = device(600, "old-spine", "spine", "x", tags=[])
    port = interface(601, outside, "ethernet-1/9", "400gbase-x-qsfpdd")
    world.records["dcim/devices"].append(outside)
    world.records["dcim/interfaces"].append(port)
    world.records["dcim/cables"].remove(world.cable(LEAF, "ethernet-1/32"))
    connect(world, world.interface(LEAF, "ethernet-1/32"), port)
    with served(world) as url:
        (finding,) = compare(topology, read_netbox(NetBox(url=url, token=TOKEN, tag=TAG)))
    assert str(finding) == (
        f"{LEAF} ethernet-1/32: is cabled to old-spine ethernet-1/9, not to {SPINE} ethernet-1/1. Move the cable."
    )


def test_addresses_without_an_interface_are_ignored(world: World, topology: Topology) -> None:
    world.records["ipam/ip-addresses"][0]["assigned_object_type"] = "virtualization.vminterface"
    world.records["ipam/ip-addresses"][1].update(assigned_object_type=None, assigned_object_id=None)
    assert said(world, topology) == []


def test_lags_and_their_addresses_are_kept(world: World) -> None:
    bond = interface(500, world.device("pod1-seg1-host1"), "bond0", "lag")
    world.records["dcim/interfaces"].append(bond)
    address = dict(world.records["ipam/ip-addresses"][0], id=501, address="10.1.2.3/24", assigned_object_id=500)
    world.records["ipam/ip-addresses"].append(address | {"assigned_object": bond})
    found = read(world)
    (port,) = (port for port in found.ports if port.name == "bond0")
    assert port.addresses == (ip_interface("10.1.2.3/24"),)


REFUSALS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "bad token": (
        {},
        {"token": "0" * 40},
        "URL: refuses the token (Invalid v1 token). Set NETBOX_TOKEN, or name its file with --token-file.",
    ),
    "no token": (
        {},
        {"token": None},
        "URL: refuses to be read without a token (Authentication credentials were not provided). Set "
        "NETBOX_TOKEN, or name its file with --token-file.",
    ),
    "no right to view": (
        {"answers": {"/api/dcim/cables/": (403, '{"detail": "You do not have permission to perform this action."}')}},
        {},
        "URL: does not permit this token to read dcim/cables (You do not have permission to perform this "
        "action). Grant its user the right to view.",
    ),
    "unknown site": (
        {},
        {"site": "nowhere"},
        "URL: rejects the query for dcim/devices (site: ['Select a valid choice. nowhere is not one of the "
        "available choices.']). Check the slugs of --site and --tag.",
    ),
    "no device": (
        {"records": {"dcim/devices": []}},
        {"site": SITE, "tag": TAG},
        f"URL: has no device of site {SITE} with tag {TAG}. Check the slugs of --site and --tag.",
    ),
    "no status": (
        {"answers": {"/api/status/": (404, "<h1>Not Found</h1>")}},
        {},
        "URL: is not a NetBox. Give the address that its pages are under, without /api.",
    ),
    "a page of something else": (
        {"answers": {"/api/status/": (200, "<html>Welcome</html>")}},
        {},
        "URL: is not a NetBox. Give the address that its pages are under, without /api.",
    ),
    "JSON of something else": (
        {"answers": {"/api/status/": (200, '{"status": "ok"}')}},
        {},
        "URL: is not a NetBox. Give the address that its pages are under, without /api.",
    ),
    "a list of something else": (
        {"answers": {"/api/status/": (200, "[1]")}},
        {},
        "URL: is not a NetBox. Give the address that its pages are under, without /api.",
    ),
    "too old": ({"version": "3.2.9"}, {}, "URL: is NetBox 3.2.9. Use 3.3 or later."),
    "an error": (
        {"answers": {"/api/dcim/interfaces/": (500, "<h1>Server Error</h1>")}},
        {},
        "URL: cannot answer for dcim/interfaces: 500 Internal Server Error. Check the log of NetBox.",
    ),
    "a page in the middle": (
        {"answers": {"/api/dcim/interfaces/": (200, "<html>Maintenance</html>")}},
        {},
        "URL: is not a NetBox. Give the address that its pages are under, without /api.",
    ),
    "a redirect": (
        {"answers": {"/api/status/": (302, "https://login.example/sso")}},
        {},
        "URL: redirects to https://login.example/sso. Name that address if it is your NetBox.",
    ),
    "too slow": (
        {"slow": {"/api/dcim/cables/": 3.0}},
        {"timeout_s": 0.5},
        "URL: does not answer within 0.5 s (dcim/cables). Try again, or narrow it with --site or --tag.",
    ),
    "no URL": (
        {},
        {"url": "https://"},
        "https://: is not an HTTP URL. Write https://HOST.",
    ),
    "a port that is none": (
        {},
        {"url": "http://127.0.0.1:99999"},
        "http://127.0.0.1:99999: is not an HTTP URL. Write https://HOST.",
    ),
    "no such authority": ({}, {"ca": "/none.pem"}, "/none.pem: no such file. Name the PEM file of the CA of NetBox."),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_failure_is_one_line(case: str, world: World) -> None:
    behaviour, options, expected = REFUSALS[case]
    for name, value in behaviour.items():
        setattr(world, name, {**world.records, **value} if name == "records" else value)
    assert refusal(world, **options) == expected


def test_two_devices_of_one_name_are_an_error(world: World) -> None:
    world.records["dcim/devices"].append(device(900, LEAF, "leaf", "x"))
    assert refusal(world) == (
        f"URL: has more than one device named {LEAF}. Choose one site with --site, or mark one with a tag for --tag."
    )


def test_a_closed_port_and_an_unknown_host_are_errors(world: World) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        assert refusal(world, url=url) == (
            f"{url}: cannot be reached (connection refused). Check the address and the route to it."
        )
    assert refusal(world, url="http://netbox.invalid").startswith("http://netbox.invalid: cannot be reached (")


def test_a_closed_connection_is_one_line(world: World) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        assert refusal(world, url=url, timeout_s=0.3).startswith(f"{url}: does not answer within 0.3 s (status)")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The certificate of a private authority, and a server's certificate and key that it signed."""
    folder, own = tmp_path_factory.mktemp("tls"), Authority("test")
    identity = own.issue("netbox")
    (folder / "ca.pem").write_bytes(own.certificate)
    (folder / "server.pem").write_bytes(identity.certificate + identity.key)
    return folder / "ca.pem", folder / "server.pem"


def test_a_certificate_is_verified_unless_the_user_disables_it(
    world: World, authority: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    ca, identity = authority
    with served(world, identity) as url:
        netbox = NetBox(url=url, token=TOKEN)
        with pytest.raises(RailfabError) as error:
            read_netbox(netbox)
        assert str(error.value) == (
            f"{url}: its certificate is not trusted (unable to get local issuer certificate). Name the CA with "
            "--ca, or use --skip-verify."
        )
        assert world.asked == []
        assert read_netbox(replace(netbox, ca=str(ca))).nodes
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(identity))
        assert read_netbox(replace(netbox, skip_verify=True)).nodes
        with pytest.raises(RailfabError, match=r"cannot be reached|is not trusted"):
            read_netbox(replace(netbox, ca=__file__))
    assert not [found for found in recwarn.list if found.category is not ResourceWarning]  # of what others left open


def test_neither_netrc_nor_a_url_with_a_password_replaces_the_token(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    assert read(world).nodes
    with pytest.raises(RailfabError, match=r"is not an HTTP URL\. Write https://HOST"):
        read_netbox(NetBox(url="https://somebody:else@netbox", token=TOKEN))


def test_only_get_requests_are_sent() -> None:
    with pytest.raises(RailfabError) as caught:
        Client(NetBox(url="https://netbox", token=TOKEN)).create("dcim.devices", [{"name": "a"}])
    assert str(caught.value) == "https://netbox: 'POST' would change it. This is a defect of railfab: report it."


def test_the_token_is_never_printed(world: World) -> None:
    assert TOKEN not in repr(NetBox(url="https://x", token=TOKEN))


BROKEN = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda children: st.lists(children, max_size=2) | st.dictionaries(st.sampled_from(["id", "value"]), children),
    max_leaves=3,
)


@given(st.sampled_from(ENDPOINTS), st.data())
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
def test_no_record_of_another_format_is_a_traceback(endpoint: str, draw: st.DataObject) -> None:
    small = world_of(wire(fabric(**SMALL)))
    record = draw.draw(st.sampled_from(small.records[endpoint]))
    key = draw.draw(st.sampled_from([None, *sorted(record)]))
    broken = draw.draw(BROKEN)
    small.spoiled[endpoint, record["id"]] = broken if key is None else {**record, key: broken}
    lines = refused_lines(small)
    assert len(lines) <= 1
    assert small.refused == []


def refused_lines(world: World) -> list[str]:
    """Error of an import from a NetBox; empty without one."""
    try:
        read(world)
    except RailfabError as error:
        return str(error).splitlines()
    return []


def test_a_record_of_another_format_is_named(world: World) -> None:
    first = world.records["dcim/cables"][0]
    world.spoiled["dcim/cables", 1] = {**first, "a_terminations": [{"object_type": "dcim.interface", "object_id": 1}]}
    assert refusal(world) == (
        "cable http://netbox/api/dcim/cables/1/: is not in the format of NetBox 3.3 to 4.6. Check that the "
        "address is a NetBox."
    )
    world.spoiled["dcim/cables", 1] = 3
    assert refusal(world) == (
        "URL: answers for dcim/cables in a format other than that of NetBox 3.3 to 4.6. Check that the address "
        "is a NetBox."
    )


def test_common_role_names_are_recognized(world: World) -> None:
    roles = {"gpu-server": Role.HOST, "ToR": Role.LEAF, "Super Spine": Role.SUPER, "core": None, "pdu": None}
    for slug, role in roles.items():
        world.device(LEAF)["role"]["slug"] = slug
        assert next(node for node in read(world).nodes if node.name == LEAF).role is role

"""hosts.yml with groups.yml and defaults.yml: inherited as Nornir does, strict about railfab's keys."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nornir.plugins.inventory import SimpleInventory
from tests.laws import examples

from railfab.endpoints import Credentials, Endpoint, load_endpoints, load_hosts, read_credentials
from railfab.endpoints.keys import DATA_KEYS, misspelt
from railfab.errors import RailfabError

HOSTS = """\
leaf1:
  hostname: 192.0.2.1
  groups: [rack1, leaves]
  data: {gnmi_port: 6030, site: fra1, snmp: secret-word}
leaf2:
  hostname: 192.0.2.2
  port: 2222
  username: own
  groups: [leaves]
leaf3: {hostname: 192.0.2.3, platform: eos, data: {ca: ~}}
"""
GROUPS = """\
leaves: {platform: srlinux, password: of-leaves, groups: [switches], data: {gnmi_port: 57400, ca: /etc/leaves.pem}}
rack1: {data: {rack: r1, ca: /etc/rack1.pem}, username: of-rack, groups: [hall]}
hall: {platform: eos, data: {role: spine}}
switches: {port: 22, username: of-switches, data: {site: lab, role: leaf, tls_name: switch.example}}
"""
DEFAULTS = "{platform: frr, username: all, password: of-all, data: {site: nowhere, gnmi_port: 9339}}\n"


def written(folder: Path, hosts: str = HOSTS, groups: str = GROUPS, defaults: str = DEFAULTS) -> Path:
    for name, text in (("hosts", hosts), ("groups", groups), ("defaults", defaults)):
        if text:
            (folder / f"{name}.yml").write_text(text)
    return folder / "hosts.yml"


def test_every_value_is_the_one_that_nornir_finds(tmp_path: Path) -> None:
    path = written(tmp_path)
    reference = SimpleInventory(*(str(tmp_path / f"{name}.yml") for name in ("hosts", "groups", "defaults"))).load()
    found = {host.endpoint.name: host for host in load_hosts(path)}
    assert set(found) == set(reference.hosts)
    for name, theirs in reference.hosts.items():
        ours, login = found[name].endpoint, read_credentials(found[name].endpoint)
        assert (ours.host, ours.ssh_port, ours.platform) == (theirs.hostname, theirs.port, theirs.platform)
        assert (login.username, login.password) == (theirs.username, theirs.password)
        data = theirs.extended_data()
        assert (ours.gnmi_port, ours.ca, ours.tls_name) == tuple(data.get(k) for k in ("gnmi_port", "ca", "tls_name"))
        assert found[name].groups == tuple(group.name for group in theirs.extended_groups())
        assert dict(found[name].labels) == {k: data[k] for k in ("site", "rack", "role") if k in data}


def test_a_password_in_hosts_yml_is_used_and_never_shown(tmp_path: Path) -> None:
    hosts = load_hosts(written(tmp_path))
    assert [read_credentials(host.endpoint) for host in hosts] == [
        Credentials("of-rack", "of-leaves"),
        Credentials("own", "of-leaves"),
        Credentials("all", "of-all"),
    ]
    shown = repr(hosts) + repr([read_credentials(host.endpoint) for host in hosts])
    assert not any(word in shown for word in ("of-leaves", "of-all", "secret-word"))


def test_a_rotated_password_is_read_at_the_next_login(tmp_path: Path) -> None:
    path = written(tmp_path)
    (one, *_) = load_endpoints(path).nodes
    assert read_credentials(one).password == "of-leaves"
    (tmp_path / "groups.yml").write_text(GROUPS.replace("of-leaves", "of-LEAVES"))
    assert read_credentials(one).password == "of-LEAVES"
    path.write_text(HOSTS.replace("leaf1", "leaf9"))
    with pytest.raises(RailfabError, match=r"^leaf1: is no longer in .*hosts\.yml\. Add it again\.$"):
        read_credentials(one)


def test_what_hosts_yml_does_not_say_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for word in ("USERNAME", "PASSWORD", "TOKEN"):
        monkeypatch.setenv(f"RAILFAB_{word}", word.lower())
    plain = "leaf1: {hostname: h, platform: frr%s}\n"
    logins = []
    for more in (", username: me", ", password: 1234", ", password: x, data: {credentials: none}", ""):
        (node,) = load_endpoints(written(tmp_path, plain % more, "", "")).nodes
        logins.append(read_credentials(node))
    assert logins == [
        Credentials("me", "password", token="token"),
        Credentials("username", "1234"),
        Credentials("", ""),
        Credentials("username", "password", token="token"),
    ]


def test_files_beside_a_hosts_file_have_its_name_or_that_of_nornir(tmp_path: Path) -> None:
    path = tmp_path / "pod1.hosts.yaml"
    path.write_text("leaf1: {hostname: h}\n")
    (tmp_path / "defaults.yaml").write_text("platform: frr\n")
    assert load_endpoints(path).nodes[0].platform == "frr"
    (tmp_path / "pod1.defaults.yml").write_text("platform: eos\n")
    assert load_endpoints(path).nodes[0].platform == "eos"
    (tmp_path / "groups.yml").write_text("---\n")
    assert load_endpoints(path).nodes[0].platform == "eos"


def test_groups_without_a_file_of_them_are_names(tmp_path: Path) -> None:
    """containerlab writes such inventories; Nornir itself refuses them."""
    path = written(tmp_path, "leaf1: {hostname: h, platform: frr, groups: [a, b], username: , password: }\n", "", "")
    (host,) = load_hosts(path)
    assert (host.groups, host.endpoint.credentials) == (("a", "b"), "env:RAILFAB")


def test_groups_that_contain_each_other_end(tmp_path: Path) -> None:
    path = written(tmp_path, "leaf1: {hostname: h, platform: frr, groups: [a]}\n", "a: {groups: [b]}\nb: {groups: [a]}")
    assert load_hosts(path)[0].groups == ("a", "b")


HOST = "leaf1:\n  hostname: h\n  platform: frr\n"


@pytest.mark.parametrize(
    ("hosts", "line"),
    [
        (
            HOST + "  data:\n    skip_verfy: true\n",
            "hosts.yml:5: leaf1: unknown key 'skip_verfy'. Did you mean 'skip_verify'? A key of your own",
        ),
        (HOST + "  data: {Skip-Verify: true}\n", "hosts.yml:4: leaf1: unknown key 'Skip-Verify'. Did you mean"),
        (
            HOST + "  data: {gnmi_prt: 1, gnmi_port: 2}\n",
            "hosts.yml:4: leaf1: unknown key 'gnmi_prt' beside 'gnmi_port'. Remove it, or give",
        ),
        (
            HOST + "  gnmi_port: 1\n",
            "hosts.yml:4: leaf1: key 'gnmi_port' is beside data. Write data: {gnmi_port: ...}.",
        ),
        (HOST + "  usrname: u\n", "hosts.yml:4: leaf1: unknown key 'usrname'. Did you mean 'username'?"),
        (
            HOST + "  skip_verfy: 1\n",
            "hosts.yml:4: leaf1: unknown key 'skip_verfy'. Did you mean 'skip_verify'? The keys here are ca, ",
        ),
        (
            HOST + "  data: {ssh_port: 1}\n",
            "hosts.yml:4: leaf1: key 'ssh_port' is in data. Write port beside hostname.",
        ),
        (HOST + "  groups: [leafs]\n", "hosts.yml:4: leaf1: group 'leafs' is not in"),
        (HOST + "  groups: leaves\n", "hosts.yml:4: leaf1: groups is not a list of names. Write [NAME, ...]."),
        (HOST + "  password: [hunter2]\n", "hosts.yml:4: leaf1: password is not a text. Write a text."),
        (HOST + "  data: {\n    skip_verify: 7}\n", "hosts.yml:5: leaf1: skip_verify 7 is not a boolean. Use true or"),
        (HOST + HOST, "hosts.yml:4: 'leaf1' is on line 1 already. Keep one of them."),
        (HOST + "  port: 1\n  port: 2\n", "hosts.yml:5: 'port' is on line 4 already. Keep one of them."),
        (
            HOST + "  data: {metric_labels: [a-b]}\n",
            "metric_labels: 'a-b' is not the name of a label. Write [site, rack].",
        ),
        (HOST + "  data: {metric_labels: {a: b}}\n", "metric_labels is not a list of keys of data."),
        (HOST + "  data: {metric_labels: [x], x: {}}\n", "metric_labels: x is not a text or a number."),
        ("leaf1: x\n", "hosts.yml:1: the file is not a list of endpoints (leaf1 is not a mapping). Each host of"),
        (HOST + "  data: x\n", "hosts.yml:4: the file is not a list of endpoints (data of leaf1 is not a mapping)."),
        (HOST + "  data: {a: @}\n", "hosts.yml:4: invalid YAML ("),
        (HOST + "  password: *hunter2\n", "hosts.yml:4: invalid YAML (an alias has no anchor before it). Put"),
        (HOST + "  password: !hunter2\n", "hosts.yml:4: invalid YAML (a tag is not supported). Put the value in"),
        (HOST + "  password: 2026-19-45\n", "hosts.yml:4: invalid YAML (a value is not a valid number or date). Put"),
    ],
)
def test_a_mistake_is_named_in_one_line_with_its_place(tmp_path: Path, hosts: str, line: str) -> None:
    with pytest.raises(RailfabError) as caught:
        load_endpoints(written(tmp_path, hosts))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not any(password in str(caught.value) for password in ("hunter2", "2026-19-45"))


def test_mistakes_in_groups_and_defaults_have_their_own_place(tmp_path: Path) -> None:
    with pytest.raises(RailfabError) as caught:
        load_endpoints(written(tmp_path, HOST, "leaves:\n  data: {gnmi_prt: 1}\n", "\n{data: {plaintxt: true}}\n"))
    first, second = str(caught.value).splitlines()
    assert first.startswith(f"{tmp_path}/groups.yml:2: leaves: unknown key 'gnmi_prt'. Did you mean 'gnmi_port'?")
    assert second.startswith(f"{tmp_path}/defaults.yml:2: defaults: unknown key 'plaintxt'. Did you mean")


OF_USERS = [
    "asn",
    "bgp_as",
    "loopback",
    "mgmt_ip",
    "vlan",
    "vlans",
    "region",
    "tenant",
    "tenants",
    "serial",
    "ntp_servers",
    "snmp_community",
    "gnmi",
    "port",
    "tags",
    "label",
    "labels",
    "user",
    "vendor",
    "os",
    "os_version",
    "software",
    "interfaces",
    "neighbors",
    "uplinks",
    "mlag_peer",
    "certificate",
    "key",
    "cat",
    "cas",
    "sku",
    "owner",
    "owners",
    "description",
    "comment",
    "enabled",
    "location",
    "building",
    "row",
    "unit",
    "dc",
    "role_name",
    "hostgroup",
    "proxy",
    "gateway",
    "netbox_id",
    "device_type",
    "device_role",
    "status",
    "platform_version",
    "transport",
    "timeout",
    "secret",
    "enable_password",
]


def test_keys_of_users_are_accepted_and_every_slip_of_one_letter_is_not(tmp_path: Path) -> None:
    """A missing, a doubled and a swapped letter anywhere in any key with at least 5 letters."""
    assert [key for key in OF_USERS if misspelt(key)] == []
    slips = {
        slip: key
        for key in DATA_KEYS
        if len(key) >= 5
        for at in range(len(key) - 1)
        for slip in (
            key[:at] + key[at + 1 :],
            key[:at] + key[at] + key[at:],
            key[:at] + key[at + 1] + key[at] + key[at + 2 :],
        )
        if slip not in DATA_KEYS
    }
    assert {slip for slip, key in slips.items() if misspelt(slip) != key} == set()
    words = ", ".join(f"{key}: 1" for key in OF_USERS)
    (host,) = load_hosts(
        written(tmp_path, HOST + f"  data: {{{words}, 7: x}}\n  connection_options: {{netmiko: {{}}}}\n", "", "")
    )
    assert dict(host.labels) == {}


def test_labels_are_what_metric_labels_names(tmp_path: Path) -> None:
    data = "  data: {site: fra1, hall: 7, metric_labels: [hall, missing]}\n"
    (host,) = load_hosts(written(tmp_path, HOST + data))
    assert dict(host.labels) == {"hall": "7", "missing": ""}


def test_an_unknown_key_of_an_endpoints_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text(
        '{"version": 1, "fabric": "f", "backend": "twin", '
        '"nodes": [{"name": "leaf1", "platform": "frr", "host": "h", "skip_verfy": true}]}'
    )
    with pytest.raises(RailfabError, match=r"e\.json: leaf1: unknown key 'skip_verfy'\. Did you mean 'skip_verify'\?"):
        load_endpoints(tmp_path / "e.json")
    assert Endpoint(name="a", platform="b", host="c").tls_verified


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_any_change_of_the_files_gives_hosts_or_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    texts = [HOSTS, GROUPS, DEFAULTS]
    which = data.draw(st.integers(0, 2))
    text = texts[which]
    at, length = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 12))
    word = data.draw(
        st.sampled_from(["", "[", "{", "}", ":", "~", "7", "*a", "&a ", "<<: ", "- ", "!!binary ", "\t", "\x00"])
    )
    texts[which] = text[:at] + word + text[at + length :]
    folder = tmp_path_factory.getbasetemp() / "fuzzed"
    folder.mkdir(exist_ok=True)
    try:
        hosts = load_hosts(written(folder, *(text or "---" for text in texts)))
    except RailfabError:
        return
    for host in hosts:
        with suppress(RailfabError):
            read_credentials(host.endpoint)


def test_names_are_read_as_they_are_written(tmp_path: Path) -> None:
    hosts = "7: {hostname: h}\n~: {hostname: h}\non: {hostname: h}\n2001-01-01: {hostname: h, data: {0x10: a}}\n"
    assert [host.endpoint.name for host in load_hosts(written(tmp_path, hosts))] == ["7", "~", "on", "2001-01-01"]


@pytest.mark.parametrize("host", ["192.0.2.67/32", "2001:db8::1/128"])
def test_an_address_with_a_mask_is_an_error_with_file_and_line(tmp_path: Path, host: str) -> None:
    address, _, mask = host.partition("/")
    with pytest.raises(RailfabError) as refused:
        load_hosts(written(tmp_path, f"leaf1: {{hostname: 192.0.2.1}}\nleaf2:\n  hostname: {host}\n"))
    assert str(refused.value) == (
        f"{tmp_path}/hosts.yml:3: leaf2: hostname {host!r} is not an address or a name: it has the mask /{mask}. "
        f"Write {address}."
    )

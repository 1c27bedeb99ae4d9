"""`railfab import gnmic`: what real shapes of gnmic configurations become."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from railfab.cli import app
from railfab.endpoints import load_endpoints, load_hosts
from railfab.errors import RailfabError
from railfab.imports.gnmic import Conversion, convert, read_gnmic
from railfab.imports.gnmic.files import mappings_text
from railfab.imports.gnmic.names import metric_name
from railfab.imports.gnmic.notes import Verdict
from railfab.imports.gnmic.settings import meanings
from railfab.platforms import platform
from railfab.platforms.telemetry_files import telemetry_maps

FILES = Path(__file__).parent / "gnmic"
ENVIRONMENT = {"SECOND": "192.0.2.9"}
NAMES = sorted(path.stem for path in FILES.glob("*.yaml"))


def converted(name: str, *platforms: str) -> Conversion:
    return convert(read_gnmic(FILES / f"{name}.yaml", ENVIRONMENT), platforms, ENVIRONMENT)


def run(*arguments: str) -> Result:
    environment = {"COLUMNS": "80", "GNMI_PASSWORD": "hunter2-environment", **ENVIRONMENT}
    return CliRunner().invoke(app, ["import", "gnmic", *arguments], env=environment)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_fits_80_columns_and_shows_no_secret(name: str) -> None:
    done = run(str(FILES / f"{name}.yaml"))
    assert done.exit_code == 0
    lines = [line for line in done.output.splitlines() if not line.startswith("  read -rs")]
    assert [line for line in lines if len(line) > 80] == []
    assert "hunter2" not in done.output
    document = run(str(FILES / f"{name}.yaml"), "--output", "json")
    assert json.loads(document.output)["written"] == []
    assert "hunter2" not in document.output


@pytest.mark.parametrize("name", NAMES)
def test_every_key_of_a_file_is_converted_or_has_a_note(name: str) -> None:
    unknown = [note.place for note in converted(name).notes if note.verdict is Verdict.UNKNOWN]
    expected = {"clos": ["outputs.prom.favourite-colour"], "cluster": ["processors.odd.event-no-such"]}
    assert unknown == expected.get(name, [])


def test_targets_are_written_as_hosts_with_references_for_credentials(tmp_path: Path) -> None:
    done = run(str(FILES / "clos.yaml"), "--write", str(tmp_path / "new"))
    hosts = yaml.safe_load((tmp_path / "new" / "hosts.yml").read_text())
    assert hosts == {
        "leaf1": {
            "hostname": "172.20.20.11",
            "platform": "srlinux",
            "data": {"gnmi_port": 57400, "credentials": "env:RAILFAB", "skip_verify": True},
        },
        "leaf2": {
            "hostname": "172.20.20.12",
            "platform": "srlinux",
            "data": {
                "gnmi_port": 50000,
                "credentials": "env:RAILFAB_LEAF2",
                "gnmi_interval_s": 90,
                "ca": "/etc/gnmic/ca.pem",
                "client_cert": "/etc/gnmic/client.pem",
                "client_key": "/etc/gnmic/client.key",
                "tls_name": "leaf2.lab",
            },
        },
        "leaf3": {
            "hostname": "2001:db8::3",
            "platform": "srlinux",
            "data": {"gnmi_port": 57401, "credentials": "env:RAILFAB_LEAF3", "plaintext": True},
        },
    }
    assert [node.name for node in load_endpoints(tmp_path / "new" / "hosts.yml").nodes] == ["leaf1", "leaf2", "leaf3"]
    assert "--interval 10 --listen 0.0.0.0 --port 9273" in done.output.replace(" \\\n ", "")
    changed = telemetry_maps([tmp_path / "new" / "mappings.yml"])["srlinux"].subscriptions
    found = {(one.path, one.interval_s, one.suppress_redundant, one.encoding) for one in changed}
    assert ("/interface[name=*]/statistics", 90.0, True, "ascii") in found
    assert "hunter2" not in "".join(path.read_text() for path in (tmp_path / "new").iterdir())


def test_credentials_are_exported_by_the_user_and_secrets_are_named_by_their_line() -> None:
    said = run(str(FILES / "clos.yaml")).output.partition("environment:\n")[2].splitlines()[:7]
    assert [line.strip() for line in said] == [
        "export RAILFAB_USERNAME=admin",
        "read -rs RAILFAB_PASSWORD && export RAILFAB_PASSWORD  # it is on line 3 of clos.yaml",
        'export RAILFAB_LEAF2_USERNAME="$GNMI_USER"',
        'export RAILFAB_LEAF2_PASSWORD="$GNMI_PASSWORD"',
        "export RAILFAB_LEAF3_USERNAME=admin",
        "read -rs RAILFAB_LEAF3_PASSWORD && export RAILFAB_LEAF3_PASSWORD  # it is on line 3 of clos.yaml",
        "read -rs RAILFAB_LEAF3_TOKEN && export RAILFAB_LEAF3_TOKEN  # it is on line 20 of clos.yaml",
    ]


def test_targets_that_share_a_login_share_a_reference_and_one_without_any_has_none() -> None:
    assert [target.credentials for target in converted("openconfig").targets] == ["env:RAILFAB", "env:RAILFAB"]
    assert {target.credentials for target in converted("flags").targets} == {"none"}
    flags = convert(read_gnmic(FILES / "flags.yaml", {}), (), {"GNMIC_USERNAME": "u"})
    assert {target.credentials for target in flags.targets} == {"env:RAILFAB"}
    assert [(one.name, one.variable) for one in flags.exports] == [("RAILFAB_USERNAME", "GNMIC_USERNAME")]


def test_a_user_name_with_a_variable_in_it_is_expanded_and_a_password_never(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text("targets: {a: {username: 'ops-$SITE', password: 'pa$$word'}}\n")
    user, password = convert(read_gnmic(path, {"SITE": "x"})).exports
    assert (user.variable, user.text, password.variable, password.text) == (None, "ops-x", None, None)


def test_addresses_come_from_keys_flags_and_variables() -> None:
    assert [target.source.hosts for target in converted("flags").targets] == [
        (("192.0.2.1", 57400),),
        (("192.0.2.9", 57401),),
    ]
    assert converted("openconfig").targets[1].source.hosts == (("192.0.2.2", 32767), ("192.0.2.3", 32767))
    unset = convert(read_gnmic(FILES / "flags.yaml", {}))
    assert [note.place for note in unset.notes if note.place.startswith("$")] == ["$SECOND"]


def test_paths_tell_the_platform_where_one_vendor_has_them() -> None:
    assert {target.platform for target in converted("clos").targets} == {"srlinux"}
    assert converted("openconfig").targets[0].platforms == ("cumulus", "eos", "frr", "junos", "nxos")
    stated = converted("openconfig", "eos", "qfx-*=junos")
    assert [target.platform for target in stated.targets] == ["eos", "junos"]
    assert converted("sros").targets[0].platforms == ()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("openconfig", "eos-leaf1, qfx-leaf2 is not known: their paths are those of cumulus, eos, frr, junos"),
        ("sros", "the platform of pe1:57400 is not known: no platform has their paths"),
    ],
)
def test_nothing_is_written_while_a_platform_is_not_known(tmp_path: Path, name: str, why: str) -> None:
    done = run(str(FILES / f"{name}.yaml"), "--write", str(tmp_path / "new"))
    assert isinstance(done.exception, RailfabError)
    assert why in str(done.exception)
    assert "--platform PATTERN=NAME" in done.exception.remedy
    assert not (tmp_path / "new").exists()


def test_a_target_in_the_prefix_is_kept_for_each_host(tmp_path: Path) -> None:
    run(str(FILES / "openconfig.yaml"), "--write", str(tmp_path), "--platform", "eos")
    hosts = yaml.safe_load((tmp_path / "hosts.yml").read_text())
    assert hosts["qfx-leaf2"]["data"]["gnmi_target"] == "qfx-leaf2"


def test_tags_of_a_target_are_labels_of_its_metrics(tmp_path: Path) -> None:
    run(str(FILES / "openconfig.yaml"), "--write", str(tmp_path), "--platform", "eos")
    assert [host.labels for host in load_hosts(tmp_path / "hosts.yml")] == [{}, {"rack": "r2"}]


def test_modes_heartbeats_and_encodings_are_asked_for_as_gnmic_does(tmp_path: Path) -> None:
    run(str(FILES / "asked.yaml"), "--write", str(tmp_path))
    first, second = load_hosts(tmp_path / "hosts.yml")
    assert (first.endpoint.gnmi_mode, first.endpoint.gnmi_encoding) == ("poll", "bytes")
    assert (second.endpoint.gnmi_mode, second.endpoint.gnmi_encoding) == (None, None)
    found = {one.path: one for one in telemetry_maps([tmp_path / "mappings.yml"])["srlinux"].subscriptions}
    counters, states = found["/interface[name=*]/statistics"], found["/interface[name=*]/oper-state"]
    assert (counters.mode, counters.interval_s) == ("poll", 30.0)
    stated = (states.mode, states.heartbeat_s, states.updates_only, states.encoding)
    assert stated == ("target_defined", 120.0, True, "ascii")
    notes = {note.place: note.text for note in converted("asked").notes}
    assert notes["subscriptions.counters.mode"] == "poll: asked every 30 s, on one connection"
    assert not any("heartbeat" in place or "updates-only" in place for place in notes)


def test_a_target_that_is_sampled_less_often_keeps_its_interval_and_changes_that_of_no_other(tmp_path: Path) -> None:
    done = run(str(FILES / "intervals.yaml"), "--write", str(tmp_path))
    assert " --interval 1" in done.output
    intervals = [host.endpoint.gnmi_interval_s for host in load_hosts(tmp_path / "hosts.yml")]
    assert intervals == [None, 5, 86_400]
    found = {one.path: one for one in telemetry_maps([tmp_path / "mappings.yml"])["srlinux"].subscriptions}
    counters, states = found["/interface[name=*]/statistics"], found["/interface[name=*]/oper-state"]
    assert counters == next(one for one in platform("srlinux").telemetry.subscriptions if one.path == counters.path)
    assert (states.interval_s, states.suppress_redundant) == (86_400, True)


def test_paths_of_stream_subscriptions_and_prefixes_are_those_of_gnmic() -> None:
    found = {(one.path, one.subscription.mode, one.subscription.interval_s) for one in converted("clos").subscribed}
    assert ("/interface[name=*]/statistics", "sample", 90.0) in found
    modes = {(one.path, one.subscription.mode) for one in converted("openconfig").subscribed}
    assert ("/interfaces/interface/state/oper-status", "on_change") in modes


@pytest.mark.parametrize(
    ("path", "options", "name"),
    [
        ("/interface[name={interface}]/statistics/in-octets", {}, "interface_statistics_in_octets"),
        ("/a[b=c]/d-e", {"prefix": "lab-srl"}, "lab_srl_a_d_e"),
        ("/a/b", {"prefix": "p", "subscription": "sub.1-"}, "p_sub_1_a_b"),
        ("/COUNTERS/{interface}/SAI_PORT_STAT_IF_IN_OCTETS", {}, "COUNTERS_<interface>_SAI_PORT_STAT_IF_IN_OCTETS"),
    ],
)
def test_names_are_those_that_gnmic_gives(path: str, options: dict[str, str], name: str) -> None:
    assert metric_name(path, **options) == name


def test_metrics_are_listed_by_gnmics_name_with_what_differs() -> None:
    rows = {row.gnmic: row for row in converted("clos").renamed}
    octets = rows["lab_srl_ports_interface_statistics_in_octets"]
    assert (octets.railfab, octets.kind) == ("fabric_interface_receive_bytes_total", "counter")
    assert octets.labels == {"source": "device", "interface_name": "interface"}
    up = rows["lab_srl_ports_interface_oper_state"]
    assert up.change == "gnmic does not expose texts; up is 1, down is 0, testing is 0"
    assert rows["lab_srl_ports_interface_statistics_in_unicast_packets"].fixed == {"cast": "unicast"}


def test_a_label_that_has_a_part_of_gnmics_says_so(tmp_path: Path) -> None:
    neighbors = "/network-instance[name=default]/protocols/bgp/neighbor[peer-address=*]"
    path = tmp_path / "gnmic.yaml"
    path.write_text(f"targets: {{leaf1: {{}}}}\nsubscriptions: {{bgp: {{paths: ['{neighbors}']}}}}\n")
    (row,) = {
        (row.change, tuple(row.labels.items()))
        for row in convert(read_gnmic(path, {})).renamed
        if row.railfab == "fabric_bgp_prefixes"
    }
    assert row == ("peer is a part of neighbor_peer_address", (("source", "device"),))


def test_templates_for_other_paths_are_mappings_once_they_are_filled_in(tmp_path: Path) -> None:
    text = mappings_text(converted("clos"))
    assert set(yaml.safe_load(text)) == {"version", "platforms"}
    filled = re.sub(r"^# (?=\s|metrics:|platforms:)", "", text, flags=re.MULTILINE).replace("LEAF", "matched-packets")
    path = tmp_path / "m.yml"
    path.write_text(filled)
    rule = telemetry_maps([path])["srlinux"].rules[0]
    assert rule.path == "/acl/cpm-filter/ipv4-filter/entry[sequence-id={entry}]/statistics/matched-packets"


def test_a_file_that_was_edited_is_not_written_over(tmp_path: Path) -> None:
    arguments = (str(FILES / "clos.yaml"), "--write", str(tmp_path))
    assert run(*arguments).exit_code == run(*arguments).exit_code == 0
    (tmp_path / "mappings.yml").write_text("mine")
    done = run(*arguments)
    assert str(done.exception) == (
        f"{tmp_path}/mappings.yml: exists with other content. Name another folder, or move it away."
    )


def test_a_file_without_targets_gives_a_list_to_fill_in(tmp_path: Path) -> None:
    assert run(str(FILES / "cluster.yaml"), "--write", str(tmp_path)).exit_code == 0
    text = (tmp_path / "hosts.yml").read_text()
    assert all(line.startswith("#") for line in text.splitlines())
    assert list(yaml.safe_load(text.partition("\n")[2].replace("# ", ""))) == ["leaf1"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, ": no such file. Name a gnmic configuration."),
        ("[a]", ":1: contains no mapping. Name a gnmic configuration in YAML."),
        ("a: b", ": has neither targets nor subscriptions nor outputs. Name a gnmic configuration in YAML."),
        ("targets: {a: {address: 'h:x'}}", ":1: target address 'h:x' has no port number. Write HOST:PORT with a port of"
         " 1 to 65535."),
        ("subscriptions:\n  s:\n    paths: ['/a[b']", ":3: subscriptions.s: /a[b: a [ without its ]. Close the key; "
         "write \\] for a bracket inside a value."),
        ("targets: {a\nb: c", ":2: is not YAML (did not find expected ',' or '}'). Correct this line."),
    ],
)  # fmt: skip
def test_what_is_no_gnmic_configuration_is_refused_in_one_line(tmp_path: Path, text: str | None, said: str) -> None:
    path = tmp_path / "g.yaml"
    if text is not None:
        path.write_text(text)
    done = run(str(path))
    assert isinstance(done.exception, RailfabError)
    assert str(done.exception) == f"{path}{said}"


def test_a_platform_that_does_not_exist_or_names_no_target_is_refused() -> None:
    wrong = run(str(FILES / "clos.yaml"), "--platform", "eso")
    assert "railfab has no platform 'eso'. Use one of cumulus, eos" in str(wrong.exception)
    wrong = run(str(FILES / "clos.yaml"), "--platform", "core*=eos")
    assert str(wrong.exception).startswith(
        "--platform core*=eos: no target has the name 'core*'. Write a name or pattern"
    )


def refusal(folder: Path, text: str, environment: dict[str, str] | None = None) -> list[str]:
    """The lines of the refusal of a configuration, without its folder; empty where it is read."""
    path = folder / "g.yaml"
    path.write_text(text)
    try:
        convert(read_gnmic(path, environment or {}))
    except RailfabError as error:
        return str(error).replace(f"{path}:", "").splitlines()
    return []


WRONG = {
    "text": ("[a]", "{a: b}"),
    "flag": ("maybe", "[true]", "{a: b}", "2"),
    "duration": ("10sec", "[10s]", "{a: b}", "true"),
    "texts": ("{a: b}", "[[a]]"),
    "labels": ("a", "[a]", "{a: [b]}"),
    "mode": ("streaming", "[once]", "{a: b}"),
    "stream-mode": ("sampled", "[sample]", "{a: b}"),
    "mapping": ("a", "[a]", "3"),
    "subscription": ("a", '["/interface[name=*]/statistics"]', "", "3"),
    "targets": ("[a]",),
}
"""Values of another shape by the type of a key; strictly read ones have more below."""
STRICT = {
    "text": ("12345", "true", "1.5"),
    "flag": ("yes", '"true"', "1"),
    "texts": ("a", "[1]"),
    "labels": ("{rack: 12}",),
}
"""Further ones of a target, a subscription or an output, whose values gnmic does not convert."""
TYPED = {place: meaning.type for place, meaning in meanings().items() if meaning.type}


def document_with(place: str, value: str) -> str:
    """A configuration with a value on its third line."""
    section, _, rest = place.partition(".")
    if not rest:
        return f"outputs: {{}}\n\n{place}: {value}\n" if place != "outputs" else f"targets: {{}}\n\n{place}: {value}\n"
    name, _, key = rest.partition(".")
    if not key:
        return f"targets:\n{section}:\n  a: {value}\n" if section != "targets" else f"\n{section}:\n  a: {value}\n"
    kind = "type: prometheus, " if name == "prometheus" and key != "type" else ""
    return f"{section}:\n  a: {{{kind}\n    {key}: {value}}}\n"


@pytest.mark.parametrize("place", TYPED)
def test_a_value_of_another_shape_is_an_error_with_the_line_and_the_key(tmp_path: Path, place: str) -> None:
    """Every key that is converted, with what gnmic refuses (pkg/config, mapstructure)."""
    if place == "outputs.prometheus.type":  # another type is another output, with a note
        return
    strict = STRICT.get(TYPED[place], ()) if "." in place else ()
    for value in (*WRONG[TYPED[place]], *strict):
        (line,) = refusal(tmp_path, document_with(place, value))
        assert line.startswith(f"3: {place.replace('*', 'a').replace('prometheus', 'a')}: "), line
        assert value.strip('[]{}"') in ("", "a") or "12345" not in line


def test_a_value_of_another_shape_is_explained_in_one_line(tmp_path: Path) -> None:
    mapping = "not a mapping. Write its keys below it, indented."
    for text, said in (
        ('targets: {leaf1.example: "192.0.2.11:6030"}', f"1: targets.leaf1.example: is a text, {mapping}"),
        ('subscriptions: {ports: ["/interface/statistics"]}', f"1: subscriptions.ports: is a list, {mapping}"),
        (
            "subscriptions:\n  s:\n    sample-interval: 10sec",
            "3: subscriptions.s.sample-interval: '10sec' is not a duration. Write it as 10s, 1m30s or 500ms.",
        ),
        (
            "subscriptions: {s: {stream-mode: sampled}}",
            "1: subscriptions.s.stream-mode: 'sampled' is not a mode. Use one of on_change, sample, target_defined.",
        ),
        (
            "subscriptions: {s: {stream-subscriptions: [{mode: streaming}]}}",
            "1: subscriptions.s.stream-subscriptions.mode: 'streaming' is not a mode. Use one of once, poll, stream.",
        ),
        ("targets: {a: {password: 12345}}", "1: targets.a.password: is a number, not a text. Write it in quotes."),
        (
            "targets: {a: {insecure: yes}}",
            "1: targets.a.insecure: is a text, not true or false. Write true or false without quotes.",
        ),
        (
            "targets: {a: {subscriptions: ports}}",
            "1: targets.a.subscriptions: is a text, not a list. Begin each entry with a dash, or write [ENTRY, ENTRY].",
        ),
    ):
        assert refusal(tmp_path, text) == [said]


def test_all_mistakes_of_a_file_are_reported_together(tmp_path: Path) -> None:
    assert len(refusal(tmp_path, "targets: {a: b, c: {insecure: yes}}\nsubscriptions: [a]")) == 3
    *first, last = refusal(tmp_path, f"targets: {{{', '.join(f't{n}: x' for n in range(99))}}}")
    assert (len(first), last) == (20, " 79 more errors are not shown. Correct the first ones.")


@pytest.mark.parametrize(
    "text",
    [
        "targets: {a: , b: {address: h, name: }}",
        "targets: h1:57400 h2:57400",
        "address: h1,h2\nport: 6030\nskip-verify: T\nusername: 5",
        "subscriptions: {s: {paths: [/a], sample-interval: 10000000000, mode: STREAM, stream-mode: On-Change}}",
        "subscriptions: {s: {paths: [/a], sample-interval: 1m30s, mode: $M, stream-mode: ''}}",
        "address: h\nsubscribe-path: /a\nsubscribe-sample-interval: 5s\nsubscribe-updates-only: 'true'",
    ],
)
def test_values_that_gnmic_takes_are_read(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text, {"M": "once"}) == []


def test_a_variable_of_a_secret_that_is_not_set_here_is_no_setting(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text("targets: {a: {password: $NOT_SET}}\n")
    assert [note.place for note in convert(read_gnmic(path, {})).notes] == []


def test_address_stands_alone_where_targets_stand_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    path.write_text("address: 192.0.2.9\ntargets:\n  leaf1: {address: 192.0.2.1, gzip: true}\n")
    found = convert(read_gnmic(path, {}))
    assert [(target.source.name, target.source.hosts) for target in found.targets] == [
        ("192.0.2.9", (("192.0.2.9", 57400),))
    ]
    assert [(note.place, note.line, note.text) for note in found.notes] == [
        ("targets", 2, "not read: gnmic uses `address` alone where both are set, and so does railfab")
    ]


@pytest.mark.parametrize(
    ("prefix", "path", "joined"),
    [
        ("openconfig:/interfaces", "interface[name=*]/state", "openconfig:/interfaces/interface[name=*]/state"),
        ("openconfig:", "/interfaces/interface/state", "openconfig:/interfaces/interface/state"),
        ("", "openconfig:/interfaces", "openconfig:/interfaces"),
        ("cli:/a", "openconfig:/interfaces", "openconfig:/a/interfaces"),
        ("/interfaces", "interface[name=a:/b]/state", "/interfaces/interface[name=a:/b]/state"),
        ("", "/interfaces/interface[name=x:/y]", "/interfaces/interface[name=x:/y]"),
    ],
)  # fmt: skip
def test_an_origin_stands_in_the_prefix_or_in_the_path(tmp_path: Path, prefix: str, path: str, joined: str) -> None:
    file = tmp_path / "g.yaml"
    file.write_text(yaml.safe_dump({"subscriptions": {"s": {"prefix": prefix, "paths": [path]}}}))
    ((read,),) = (one.paths for one in read_gnmic(file, {}).subscriptions)
    assert read == joined


def test_a_path_below_a_prefix_with_an_origin_is_mapped(tmp_path: Path) -> None:
    path = tmp_path / "g.yaml"
    prefix = {"prefix": "openconfig:/interfaces", "paths": ["interface[name=*]/state/counters"]}
    path.write_text(yaml.safe_dump({"targets": {"a": {}}, "subscriptions": {"s": prefix}}))
    assert all(one.rules for one in convert(read_gnmic(path, {}), ["eos"]).subscribed)

"""Topology files of containerlab: imported nodes and links, ignored links, and errors."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.fabric_intents import documents, fabric, wired

from railfab.device import plan
from railfab.errors import Problems, RailfabError
from railfab.fabric import design
from railfab.imports import ExistingTopology, SourceError, read_containerlab
from railfab.imports.compare import compare, match_topology
from railfab.imports.containerlab_kinds import WITHOUT_SWITCHING, platform_of
from railfab.intent import FabricIntent, load_intent
from railfab.lab import LabPlace, LabPlan, lab_plan
from railfab.lab.containerlab import Settings, lab_files
from railfab.topology import Role, wire

ROOT = Path(__file__).resolve().parents[2]
LABS = sorted((ROOT / "labs").glob("*/*.clab.yml"))
RECORDED = ROOT / "tests" / "lab" / "containerlab" / "recorded" / "rail.clab.yml"
HEAD = "name: lab\ntopology:\n  defaults: {kind: linux}\n  nodes: {a: , b: }\n"


def read(folder: Path, text: str, environment: Mapping[str, str] | None = None) -> ExistingTopology:
    path = folder / "lab.clab.yml"
    path.write_text(text)
    return read_containerlab(path, environment or {})


def refused(folder: Path, text: str) -> str:
    with pytest.raises(SourceError) as error:
        read(folder, text)
    return str(error.value).replace(str(folder) + "/", "")


def read_or_refused(folder: Path, text: str) -> ExistingTopology | None:
    """The topology, None if refused; every line of the refusal names the file."""
    try:
        return read(folder, text)
    except RailfabError as error:
        said = str(error).splitlines()
    assert all(line.startswith(str(folder)) for line in said)
    return None


def wires(found: ExistingTopology) -> list[str]:
    return [f"{link.a.node}:{link.a.name} {link.z.node}:{link.z.name}" for link in found.links]


@pytest.mark.parametrize("lab", LABS, ids=lambda path: path.stem)
def test_the_committed_labs_have_no_difference_from_their_intents(lab: Path) -> None:
    topology = wire(load_intent(lab.parent / "intent.yml"))
    found = read_containerlab(lab, {})
    assert compare(topology, found) == ()
    assert match_topology(topology, found).not_compared == ()
    assert (len(found.nodes), len(found.links)) == (len(topology.nodes), len(topology.links))


def test_the_lab_of_a_whole_cluster_has_no_difference_but_what_is_taken_out(tmp_path: Path) -> None:
    """Cables of management ports of switches are not in the file, and those of hosts and servers are."""
    cluster = design(ROOT / "inventory" / "fabrics" / "cluster.yml")
    text = lab_files(lab_plan(cluster, tmp_path, configured=False), Settings()).topology.dump()
    assert compare(cluster.topology, read(tmp_path, text)) == ()
    document = yaml.safe_load(text)
    end = {"node": "store-server1", "interface": "mgmt0"}
    document["topology"]["links"] = [link for link in document["topology"]["links"] if end not in link["endpoints"]]
    assert [found.line for found in compare(cluster.topology, read(tmp_path, yaml.safe_dump(document)))] == [
        "error store-server1 mgmt0: is not cabled to mgmt-leaf1 ethernet-1/48. "
        "Connect it, or remove it from the intent. [uncabled]"
    ]


@given(documents(), st.sampled_from(["7220-ixr-d5", "linux-64"]))
@settings(
    max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much]
)
def test_a_generated_topology_file_has_no_difference_from_its_intent(
    tmp_path: Path, document: dict[str, Any], model: str
) -> None:
    """Of designs that labs can boot."""
    document["profile"].update(control_plane="ebgp", family="ipv4")
    document["hosts"]["attach"] = "routed"
    for tier in document["backend"].keys() & {"segments", "spines", "super_spines"}:
        document["backend"][tier]["model"] = model
        document["backend"][tier].pop("bundle", None)
    intent = FabricIntent.model_validate(document)
    topology = wired(intent)
    assume(topology is not None)
    assert topology is not None
    place = LabPlace(fabric=intent.fabric, folder=tmp_path, state=tmp_path)
    lab = LabPlan(place=place, topology=topology, models=plan(topology, intent), configurations={})
    found = read(tmp_path, lab_files(lab, Settings()).topology.dump())
    assert compare(topology, found) == ()
    assert match_topology(topology, found).not_compared == ()
    assert [node.role for node in found.nodes] == [node.role for node in topology.nodes]


def test_a_recorded_lab_is_read_in_both_forms_of_links() -> None:
    found = read_containerlab(RECORDED, {})
    assert [node.name for node in found.nodes] == ["spine1", "spine2", "leaf1", "leaf2", "h1", "h2", "h3", "h4"]
    assert wires(found)[0] == "leaf1:eth1 spine1:eth1"
    assert wires(found)[-1] == "h4:eth1 leaf2:eth4"
    assert len(found.links) == 8


def test_the_export_of_a_deployed_lab_is_the_lab_that_was_deployed() -> None:
    """containerlab writes topology-data.json into the folder of a lab; both were recorded from one lab."""
    deployed = read_containerlab(RECORDED, {})
    export = read_containerlab(RECORDED.with_name("topology-data.json"), {})
    assert {node.name: node.platform for node in export.nodes} == {node.name: node.platform for node in deployed.nodes}
    assert {frozenset(wire.split()) for wire in wires(export)} == {frozenset(wire.split()) for wire in wires(deployed)}
    assert export.source == "topology-data.json"


def test_an_export_has_addresses_and_roles_and_links_that_leave_it_are_ignored(tmp_path: Path) -> None:
    ends = {
        "a": {"node": "leaf", "interface": "e1-1", "ipv4": "192.0.2.0/31"},
        "z": {"node": "spine", "interface": "x"},
    }
    text = json.dumps(
        {
            "name": "lab",
            "type": "clab",
            "nodes": {
                "leaf": {"kind": "nokia_srlinux", "labels": {"nornir-group": "leaf"}},
                "spine": {"kind": "linux", "labels": {}},
            },
            "links": [
                {"endpoints": ends},
                {"endpoints": {"a": {"node": "leaf", "interface": "e1-2", "peer": "dummy"}}},
                {"endpoints": {"a": {"node": "leaf", "interface": "e1-3"}, "z": {"node": "host", "interface": "eth9"}}},
            ],
        }
    )
    found = read(tmp_path, text)
    assert [(node.platform, node.role) for node in found.nodes] == [("srlinux", Role.LEAF), (None, None)]
    assert wires(found) == ["leaf:e1-1 spine:x"]
    assert (found.links[0].a.addresses, found.links[0].a.position) == ((ip_interface("192.0.2.0/31"),), (1, None))


def test_an_end_of_an_export_without_an_interface_is_an_error_with_its_line(tmp_path: Path) -> None:
    link = '{"endpoints": {"a": {"node": "a"}, "z": {"node": "a", "interface": "y"}}}'
    text = f'{{"name": "lab",\n"nodes": {{"a": {{"kind": "linux"}}}},\n"links": [\n{link}]}}'
    with pytest.raises(RailfabError) as error:
        read(tmp_path, text)
    assert str(error.value).endswith("lab.clab.yml:4: an endpoint lacks node or interface. Give both.")


OUTSIDE_KINDS = frozenset(
    (
        *("juniper_csrx", "juniper_vsrx", "nokia_sros", "nokia_srsim", "cisco_xrv", "cisco_xrv9k", "cisco_csr1000v"),
        *("cisco_xrd", "cisco_xrd_vrouter", "cisco_c8000", "cisco_c8000v", "cisco_cat9kv", "cisco_iol", "cisco_asav"),
        *("cisco_vios", "cisco_ftdv", "cisco_sdwan", "dell_ftosv", "aruba_aoscx", "arrcus_arcos", "ipinfusion_ocnos"),
        *("paloalto_panos", "mikrotik_ros", "6wind_vsr", "border0", "keysight_ixia-c-one", "checkpoint_cloudguard"),
        *("ciena_saos", "rare", "huawei_vrp", "openbsd", "freebsd", "generic_vm", "fortinet_fortigate", "fdio_vpp"),
        *("vyosnetworks_vyos", "f5_bigip-ve", "openwrt", "spirent_stc", "veesix_osvbng", "ostinato", "linux"),
        *WITHOUT_SWITCHING,
    )
)
"""Kinds of containerlab that run no platform of railfab, or any of them."""


@pytest.mark.oracle
def test_every_kind_of_containerlab_stands_for_a_platform_or_for_none(oracles: Path) -> None:
    schema = json.loads((oracles / "containerlab.schema.json").read_text())
    kinds = set(schema["definitions"]["node-config"]["properties"]["kind"]["enum"])
    assert {kind for kind in kinds if platform_of(kind) is None} == kinds & OUTSIDE_KINDS
    assert kinds >= OUTSIDE_KINDS


def test_a_node_has_its_kind_from_itself_its_group_or_the_defaults_and_its_role_from_labels(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
name: lab
topology:
  defaults: {kind: sonic-vs, group: rest}
  kinds:
    arista_ceos: {labels: {nornir-group: spine}}
  groups:
    nokia: {kind: nokia_srlinux, labels: {nornir-group-1: leaf, colour: red}}
  nodes:
    own: {kind: arista_ceos, group: nokia, labels: {nornir-group: host}}
    grouped: {group: nokia}
    by-default:
    by-kind: {kind: arista_ceos, group: drawn-left}
    machine: {kind: linux}
""",
    )
    assert {node.name: (node.platform, node.role) for node in found.nodes} == {
        "own": ("eos", Role.HOST),
        "grouped": ("srlinux", Role.LEAF),
        "by-default": ("sonic", None),
        "by-kind": ("eos", Role.SPINE),
        "machine": (None, None),
    }


def test_links_that_leave_the_lab_are_ignored(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
name: lab
topology:
  defaults: {kind: linux}
  nodes:
    a:
    b:
    br1: {kind: bridge}
  links:
  - endpoints: ["a:eth1", "b:eth1"]
  - endpoints: ["a:eth2", "host:a-eth2"]
  - endpoints: ["mgmt-net:b-eth3", "b:eth3"]
  - endpoints: ["a:eth4", "macvlan:enp0s3"]
  - endpoints: ["a:eth5", "br1:port1"]
  - {type: host, endpoint: {node: a, interface: eth6}, host-interface: x}
  - {type: mgmt-net, endpoint: {node: a, interface: eth7}, host-interface: y}
  - {type: macvlan, endpoint: {node: a, interface: eth8}, host-interface: z}
  - {type: vxlan, endpoint: {node: a, interface: eth9}, remote: 10.0.0.1, vni: 100}
  - {type: vxlan-stitch, endpoint: {node: a, interface: eth10}, remote: 10.0.0.1, vni: 100}
  - {type: dummy, endpoint: {node: a, interface: eth11}}
  - type: veth-stitch
    endpoints: [{node: a, interface: eth12}, {node: b, interface: eth12}]
  - type: veth
    mtu: 9000
    endpoints:
    - {node: a, interface: eth13, ipv4: 192.0.2.0/31}
    - {node: b, interface: eth13, ipv6: "2001:db8::1/64", mac: "00:00:5e:00:53:01"}
""",
    )
    assert [node.name for node in found.nodes] == ["a", "b"]
    assert wires(found) == ["a:eth1 b:eth1", "a:eth12 b:eth12", "a:eth13 b:eth13"]
    assert found.links[-1].a.addresses == (ip_interface("192.0.2.0/31"),)
    assert found.links[-1].z.addresses == (ip_interface("2001:db8::1/64"),)


def test_anchors_and_merges_are_followed(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        """
name: lab
topology:
  groups:
    base: &base {kind: nokia_srlinux, labels: {nornir-group: leaf}}
    other: &other {kind: arista_ceos, type: x}
  nodes:
    a: *base
    b: {<<: *base, kind: sonic-vs}
    c: {<<: [*other, *base]}
""",
    )
    assert [(node.platform, node.role) for node in found.nodes] == [
        ("srlinux", Role.LEAF),
        ("sonic", Role.LEAF),
        ("eos", Role.LEAF),
    ]


@pytest.mark.parametrize(
    ("written", "environment", "read_as"),
    [
        ("${NODE:=b}", {}, "b"),
        ("${NODE:=b}", {"NODE": ""}, "b"),
        ("${NODE:-b}", {"NODE": "c"}, "c"),
        ("${NODE-b}", {}, "b"),
        ("${NODE=b}", {"NODE": "c"}, "c"),
        ("${NODE=b}", {"NODE": ""}, ""),
        ("${NODE+b}", {"NODE": ""}, "b"),
        ("${NODE:+b}", {"NODE": "x"}, "b"),
        ("${NODE:+b}", {}, ""),
        ("$NODE", {"NODE": "b"}, "b"),
        ("${NODE}", {"NODE": "b"}, "b"),
        ("${NODE}", {}, "${NODE}"),
        ("$NODE", {}, "$NODE"),
        ("$$NODE", {"NODE": "b"}, "$NODE"),
        ("$1", {"1": "b"}, "$1"),
        ("${NODE:=$OTHER}", {"OTHER": "b"}, "b"),
    ],
)
def test_variables_are_expanded_as_containerlab_documents(
    tmp_path: Path, written: str, environment: dict[str, str], read_as: str
) -> None:
    found = read(tmp_path, f'name: lab\ntopology:\n  nodes:\n    "n{written}": {{kind: linux}}\n', environment)
    assert [node.name for node in found.nodes] == [f"n{read_as}"]


JUNOS_VMS = ("juniper_vjunosswitch", "juniper_vjunosrouter", "juniper_vjunosevolved", "juniper_vqfx", "juniper_vmx")
"""Port 0 is et-0/0/0 whatever the image calls its speed, and eth1 of the container."""
KERNEL_NAMES = [
    ("nokia_srlinux", "e1-3", (3, None)),
    ("nokia_srlinux", "e1-3-2", (3, 2)),
    ("srl", "ethernet-1/3/2", (3, 2)),
    ("arista_ceos", "eth7", (7, None)),
    ("arista_ceos", "eth7_1", (7, None)),
    ("arista_ceos", "et7", (7, None)),
    ("arista_ceos", "Ethernet7/1", (7, 1)),
    ("sonic-vs", "eth1", (1, None)),
    ("sonic-vm", "Ethernet0", None),
    ("nvidia_cumulusvx", "swp3", (3, None)),
    ("nvidia_cumulusvx", "swp3s1", (3, 2)),
    ("nvidia_cumulusvx", "eth3", (3, None)),
    ("cisco_n9kv", "Ethernet1/4", (4, None)),
    ("cisco_n9kv", "eth4", (4, None)),
    ("juniper_vjunosevolved", "et-0/0/0", (1, None)),
    ("juniper_vjunosevolved", "eth1", (1, None)),
    *((kind, name, (64, None)) for kind in JUNOS_VMS for name in ("ge-0/0/63", "xe-0/0/63", "et-0/0/63", "eth64")),
    ("arista_veos", "Ethernet1/7", (7, None)),
    ("arista_veos", "Et1/7", (7, None)),
    ("dell_sonic", "eth2", (2, None)),
    ("plvision_sonic", "eth2", (2, None)),
    ("juniper_crpd", "eth2", (2, None)),
    ("cisco_n9kv", "Ethernet 1/4", (4, None)),
    ("juniper_cjunosevolved", "et-0/0/0", (1, None)),
    ("juniper_cjunosevolved", "eth4", (1, None)),
    ("linux", "eth1", None),
    ("unheard_of", "eth1", None),
]


@pytest.mark.parametrize(("kind", "name", "position"), KERNEL_NAMES)
def test_a_kernel_interface_name_identifies_a_front_panel_port(
    tmp_path: Path, kind: str, name: str, position: tuple[int, int | None] | None
) -> None:
    text = f"name: lab\ntopology:\n  nodes: {{a: {{kind: {kind}}}, b: {{kind: linux}}}}\n"
    found = read(tmp_path, f'{text}  links: [{{endpoints: ["a:{name}", "b:x"]}}]\n')
    assert (found.links[0].a.name, found.links[0].a.position) == (name, position)


def test_a_lab_with_kernel_interface_names_is_the_same_lab(tmp_path: Path) -> None:
    lab = next(path for path in LABS if path.stem.startswith("srl-pod"))
    text = lab.read_text()
    kernel = re.sub(r"ethernet-1/(\d+)(?:/(\d+))?", lambda m: "e1-" + "-".join(filter(None, m.groups())), text)
    assert "ethernet-" not in kernel
    found = read(tmp_path, kernel)
    topology = wire(load_intent(lab.parent / "intent.yml"))
    assert compare(topology, found) == ()
    wrong = read(tmp_path, kernel.replace("interface: e1-32}", "interface: e1-20}", 1))
    (finding,) = compare(topology, wrong)
    assert "is cabled to pod1-seg1-leaf1 e1-20, not to pod1-seg1-leaf1 ethernet-1/32" in str(finding)


NO_TOPOLOGY = (
    "Name a topology file of containerlab, or, of a deployed lab, the file topology-data.json in its folder clab-NAME."
)
REFUSED = {
    "": "lab.clab.yml:1: contains no topology. " + NO_TOPOLOGY,
    "name: lab": "lab.clab.yml:1: contains no topology. " + NO_TOPOLOGY,
    "name: lab\ntopology: [a]": "lab.clab.yml:2: contains no topology. " + NO_TOPOLOGY,
    "name: [\n": "lab.clab.yml:2: is not YAML (did not find expected node content). Correct this line.",
    "name: lab\nname: lab\n": "lab.clab.yml:2: key 'name' is duplicate. Keep one of them.",
    "name: lab\n? [a]\n: b\n": "lab.clab.yml:2: a key is not a plain value. Use a word or a number.",
    "name: *x\n": "lab.clab.yml:1: *x has no anchor before it. Define its anchor first.",
    "name: lab\na: {<<: 3}\n": "lab.clab.yml:2: merges a value that is not a mapping. Name the anchor of a mapping.",
    "name: lab\n---\nname: lab\n": "lab.clab.yml:2: a second document begins. Write one document per file.",
    "[" * 100: "lab.clab.yml:1: the nesting exceeds 60 levels. Name a topology file.",
    HEAD.replace("name: lab\n", ""): "lab.clab.yml:1: the lab has no name. Give it one under `name`.",
    HEAD.replace("defaults: {kind: linux}", "kinds:"): "lab.clab.yml:4: node a has no kind. Set the kind of the "
    "node, its group or the defaults.\nlab.clab.yml:4: node "
    "b has no kind. Set the kind of the node, its group or "
    "the defaults.",
    HEAD.replace("{a: , b: }", "[a]"): "lab.clab.yml:4: nodes is not a mapping. Write the keys below, indented.",
    HEAD.replace("b:", '"b\\nc":'): "lab.clab.yml:4: 'b\\nc' is not a node name. Use letters and digits.",
    HEAD + "  links: {a: b}": "lab.clab.yml:5: links is not a list. Begin each entry with a dash.",
    HEAD + "  links: [a]": 'lab.clab.yml:5: a link is not a mapping. Write `endpoints: ["a:eth1", "b:eth1"]`.',
    HEAD + "  links: [{type: wire}]": "lab.clab.yml:5: 'wire' is not a link type. Use one of dummy, host, "
    "macvlan, mgmt-net, veth, veth-stitch, vxlan, vxlan-stitch.",
    HEAD + "  links: [{}]": "lab.clab.yml:5: a link has no list of endpoints. Write two endpoints.",
    HEAD + '  links: [{endpoints: ["a:x"]}]': "lab.clab.yml:5: a link has 1 endpoints. Write two endpoints.",
    HEAD + '  links: [{endpoints: ["a:x", "b"]}]': "lab.clab.yml:5: an endpoint is not of the form "
    "node:interface. Write it so, or give the link a type.",
    HEAD + "  links: [{type: veth, endpoints: [{node: a, interface: x}, {node: b}]}]": "lab.clab.yml:5: an "
    "endpoint lacks node or "
    "interface. Give both.",
    HEAD + "  links: [{type: veth, endpoints: [{node: a, interface: x, ipv4: y}, {node: b, interface: x}]}]": (
        "lab.clab.yml:5: 'y' is not an ipv4 address. Write address/length."
    ),
    HEAD + '  links: [{endpoints: ["a:x", "c:x"]}]': "lab.clab.yml:5: node 'c' of a link is not in the file. "
    "Define it under topology.nodes.",
    HEAD + '  links:\n  - {endpoints: ["a:x", "b:x"]}\n  - {endpoints: ["a:x", "b:y"]}': "lab.clab.yml:7: a:x "
    "is also an end of the "
    "link on line 6. Give "
    "each link interfaces "
    "of its own.",
    HEAD + '  links: [{endpoints: ["a:x", "a:x"]}]': "lab.clab.yml:5: a:x is also an end of the link on line 5. "
    "Give each link interfaces of its own.",
    HEAD + '  links: [{endpoints: ["a:x\\ty", "b:x"]}]': "lab.clab.yml:5: an endpoint is not of the form "
    "node:interface. Write it so, or give the link a type.",
    "name: {{ .name }}\n": "lab.clab.yml: is a template. Deploy it, and name the file "
    "topology-data.json in its folder clab-NAME.",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_an_error_names_its_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(RailfabError) as error:
        read(tmp_path, text)
    assert str(error.value).replace(f"{tmp_path}/", "") == REFUSED[text]


def test_all_errors_are_reported_together_up_to_a_limit(tmp_path: Path) -> None:
    links = "".join(f'  - {{endpoints: ["a:x{k}", "c{k}:x"]}}\n' for k in range(100))
    with pytest.raises(Problems) as error:
        read(tmp_path, f"{HEAD}  links:\n{links}")
    *first, last = error.value.errors
    assert len(first) == 20
    assert str(last).endswith(".yml: 80 more errors are not shown. Correct the first ones.")


def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "lab.clab.yml"

    def said() -> str:
        with pytest.raises(SourceError) as error:
            read_containerlab(path, {})
        return str(error.value).replace(str(path), "FILE")

    assert said() == "FILE: no such file. Name a containerlab topology, or the URL of a NetBox."
    path.write_bytes(b"name: \xff\n")
    assert said() == "FILE: is not UTF-8 text. Name a containerlab topology."
    path.write_bytes(b"name: a\x00b\n")
    assert said().startswith("FILE:")
    path.unlink()
    path.mkdir()
    assert said() == "FILE: cannot be read (is a directory). Name a readable topology file."


def test_aliases_merges_and_depth_are_limited(tmp_path: Path) -> None:
    """Three variants of the billion-laughs attack, each refused at once."""
    rows = [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 60)]
    bomb = "a0: &a0 [x]\n" + "\n".join(rows) + f"\n{HEAD}"
    assert len(read(tmp_path, bomb).nodes) == 2
    keys = ", ".join(f"k{n}: 1" for n in range(2000))
    merges = f"m: &m {{{keys}}}\nn: [{', '.join(['{<<: *m}'] * 600)}]\n{HEAD}"
    assert refused(tmp_path, merges) == "lab.clab.yml:2: merges more than 1000000 keys. Write them out."
    assert refused(tmp_path, "- " * 100_000) == "lab.clab.yml:1: the nesting exceeds 60 levels. Name a topology file."


SEED = LABS[0].read_text()
PIECES = [
    "{",
    "}",
    "[",
    "]",
    ":",
    "- ",
    "\n",
    "  ",
    "&a ",
    "*a ",
    "<<: ",
    "|\n",
    "'",
    '"',
    "$",
    "${",
    "~",
    "!!int ",
    "#",
]


@given(st.lists(st.tuples(st.integers(0, len(SEED)), st.sampled_from(PIECES), st.integers(0, 40)), max_size=6))
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_mutation_of_a_lab_is_a_traceback(tmp_path: Path, edits: list[tuple[int, str, int]]) -> None:
    text = SEED
    for at, piece, gone in edits:
        text = text[:at] + piece + text[at + gone :]
    found = read_or_refused(tmp_path, text)
    if found is not None:
        compare(wire(fabric()), found)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=5,
)
PATHS = [
    ("name",),
    ("topology",),
    ("topology", "defaults"),
    ("topology", "defaults", "kind"),
    ("topology", "kinds", "linux"),
    ("topology", "groups", "g", "kind"),
    ("topology", "groups", "g", "labels"),
    ("topology", "nodes", "a"),
    ("topology", "nodes", "a", "group"),
    ("topology", "nodes", "a", "labels"),
    ("topology", "links"),
    ("topology", "links", 0),
    ("topology", "links", 0, "type"),
    ("topology", "links", 0, "endpoints"),
    ("topology", "links", 0, "endpoints", 0),
    ("topology", "links", 1, "endpoints", 0),
    ("topology", "links", 1, "endpoints", 0, "node"),
    ("topology", "links", 1, "endpoints", 0, "ipv4"),
]


@given(st.sampled_from(PATHS), json_values)
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_value_of_any_key_is_a_traceback(tmp_path: Path, path: tuple[str | int, ...], value: Any) -> None:
    document: Any = {
        "name": "lab",
        "topology": {
            "defaults": {"kind": "linux"},
            "kinds": {"linux": {}},
            "groups": {"g": {"kind": "linux", "labels": {"nornir-group": "leaf"}}},
            "nodes": {"a": {"group": "g", "labels": {"x": "y"}}, "b": None},
            "links": [
                {"endpoints": ["a:x", "b:x"]},
                {
                    "type": "veth",
                    "endpoints": [
                        {"node": "a", "interface": "y", "ipv4": "10.0.0.1/31"},
                        {"node": "b", "interface": "y"},
                    ],
                },
            ],
        },
    }
    inner = document
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    read_or_refused(tmp_path, json.dumps(document))


def test_reading_time_is_linear_in_links(tmp_path: Path) -> None:
    """20,000 links: a minute would be a scan in a scan."""
    nodes = {f"n{k}": {"kind": "nokia_srlinux"} for k in range(2000)}
    links = [
        {"endpoints": [f"n{k % 2000}:e1-{k // 2000 + 1}", f"n{(k + 7) % 2000}:e1-{k // 2000 + 50}"]}
        for k in range(20000)
    ]
    found = read(
        tmp_path, yaml.dump({"name": "big", "topology": {"nodes": nodes, "links": links}}, Dumper=yaml.CSafeDumper)
    )
    assert len(found.links) == 20000

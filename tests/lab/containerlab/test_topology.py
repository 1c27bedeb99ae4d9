"""Generated topologies, containerlab's schema, settings, and errors of broken topologies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.lab.fabrics import FRR_POD, lab_plan

from railfab.device import Port
from railfab.errors import LabError
from railfab.fabric import design
from railfab.lab import LabPlan
from railfab.lab.containerlab import ContainerlabFiles, Settings, check, check_file, lab_files, load_settings
from railfab.lab.containerlab.generate import without_startup
from railfab.lab.containerlab.names import INTERFACES, interface_error, topology_name
from railfab.platforms import platform, platform_names
from railfab.topology import Role

LABS = FRR_POD.parents[1]
POD64 = LABS.parent / "inventory" / "fabrics" / "pod64.yml"
INTENTS = [FRR_POD, POD64, LABS / "srl-pod" / "intent.yml"]


def configured(intent: Path) -> LabPlan:
    return replace(lab_plan(intent, Path("state")), configurations=design(intent).configurations())


def named(path: Path) -> str:
    return path.parent.name if path.name == "intent.yml" else path.stem


@pytest.fixture(params=INTENTS, ids=named)
def plan(request: pytest.FixtureRequest) -> LabPlan:
    return configured(request.param)


@pytest.fixture
def files(plan: LabPlan) -> ContainerlabFiles:
    return lab_files(plan, Settings())


def test_the_same_plan_gives_the_same_files(plan: LabPlan, files: ContainerlabFiles) -> None:
    assert lab_files(plan, Settings()).all() == files.all()


def test_the_text_contains_the_topology(files: ContainerlabFiles) -> None:
    text = files.topology.dump()
    assert yaml.safe_load(text) == files.topology.document()
    assert "&id" not in text
    assert max(map(len, text.splitlines())) < 300


def test_a_running_lab_is_the_same_with_and_without_startup_configurations(
    plan: LabPlan, files: ContainerlabFiles
) -> None:
    """`lab up --configured` on a lab that booted unconfigured deploys to it; another MTU is another topology."""
    unconfigured = lab_files(replace(plan, configurations={}), Settings()).topology.dump()
    assert without_startup(files.topology.dump()) == without_startup(unconfigured)
    link = replace(files.topology.links[0], mtu_bytes=1500)
    other = replace(files.topology, links=(link, *files.topology.links[1:]))
    assert without_startup(other.dump()) != without_startup(unconfigured)


def test_every_node_and_cable_of_the_fabric_is_there_once(plan: LabPlan, files: ContainerlabFiles) -> None:
    assert list(files.topology.nodes) == [node.name for node in plan.topology.nodes]
    assert len(files.topology.links) == len(plan.topology.links)
    ends = [end for link in files.topology.links for end in (link.a, link.z)]
    assert len(set(ends)) == len(ends) == 2 * len(plan.topology.links)


def test_cables_carry_the_mtu_of_the_switches(plan: LabPlan, files: ContainerlabFiles) -> None:
    expected = {port.mtu_bytes for model in plan.models.values() for port in model.interfaces if isinstance(port, Port)}
    assert {link.mtu_bytes for link in files.topology.links} == expected


def test_a_cable_whose_ends_have_different_mtus_carries_the_larger() -> None:
    """A switch limits its own port; the cable must not limit the far end."""
    plan = configured(FRR_POD)
    link = next(link for link in plan.topology.links if link.a.node in plan.models)
    model = plan.models[link.a.node]
    ports = tuple(replace(port, mtu_bytes=1500) if port.name == link.a.name else port for port in model.interfaces)
    narrow = replace(plan, models={**plan.models, model.name: replace(model, interfaces=ports)})
    made = lab_files(narrow, Settings()).topology.links[plan.topology.links.index(link)]
    assert (made.a.node, made.mtu_bytes) == (link.a.node, 9000)


def test_groups_are_those_of_the_deploy(plan: LabPlan, files: ContainerlabFiles) -> None:
    for node in plan.topology.nodes:
        groups = set(files.topology.nodes[node.name].labels.values())
        assert {str(node.role), f"pod{node.pod}"} <= groups
        rails = {f"rail_{port.rail}" for port, _, _ in plan.topology.ports_of(node.name) if port.rail is not None}
        assert {group for group in groups if group.startswith("rail_")} == (rails if node.role is Role.LEAF else set())


def test_a_generated_topology_has_no_errors(files: ContainerlabFiles) -> None:
    assert list(check(files.topology.document(), files.name, exists=files.files.__contains__)) == []


def test_written_files_pass_their_own_check(files: ContainerlabFiles, tmp_path: Path) -> None:
    assert check_file(files.write(tmp_path)) == []


def validator(schema: dict[str, Any]) -> Any:
    """Draft 7 with patterns by `regex`: Python's own engine has no \\p{N}."""
    import regex
    from jsonschema import Draft7Validator
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import extend

    def pattern(_: Any, wanted: str, instance: Any, __: Any) -> Any:
        if isinstance(instance, str) and not regex.search(wanted, instance):
            yield ValidationError(f"{instance!r} does not match {wanted!r}")

    return extend(Draft7Validator, {"pattern": pattern})(schema)


@pytest.mark.oracle
class TestSchema:
    @pytest.fixture
    def schema(self, oracles: Path) -> Any:
        return validator(json.loads((oracles / "containerlab.schema.json").read_text()))

    def test_containerlabs_schema_accepts_it(self, schema: Any, files: ContainerlabFiles) -> None:
        assert [error.message for error in schema.iter_errors(yaml.safe_load(files.topology.dump()))] == []

    def test_it_accepts_every_setting(self, schema: Any) -> None:
        settings = Settings(
            images={"frr": "railfab/frr:local"},
            host_image="alpine:3.20",
            image_pull_policy="Never",
            privileged=True,
            cap_add=("NET_ADMIN",),
            network="mgmt",
            ipv4_subnet="172.31.255.0/24",
            ipv6_subnet="3fff:172:31::/64",
        )
        document = lab_files(configured(FRR_POD), settings).topology.document()
        assert [error.message for error in schema.iter_errors(document)] == []

    def test_it_refuses_what_check_refuses(self, schema: Any) -> None:
        document = lab_files(configured(FRR_POD), Settings()).topology.document()
        document["topology"]["groups"]["frr"]["kindd"] = "linux"
        assert not schema.is_valid(document)

    def test_every_kind_of_a_platform_is_a_kind(self, schema: Any) -> None:
        kinds = schema.schema["definitions"]["node-config"]["properties"]["kind"]["enum"]
        assert {platform(name).lab.kind for name in platform_names()} <= set(kinds)
        assert set(INTERFACES) <= set(kinds)


class TestSettings:
    def test_each_setting_changes_the_topology(self) -> None:
        settings = {
            "images": {"frr": "railfab/frr:local"},
            "host_image": "alpine:3.20",
            "image_pull_policy": "Never",
            "privileged": True,
            "cap_add": ("NET_ADMIN",),
            "network": "mgmt",
            "ipv4_subnet": "172.31.255.0/24",
            "ipv6_subnet": "3fff:172:31::/64",
        }
        texts = {
            lab_files(lab_plan(FRR_POD, Path("x")), Settings(**{k: v})).topology.dump() for k, v in settings.items()
        }
        assert len(texts | {lab_files(lab_plan(FRR_POD, Path("x")), Settings()).topology.dump()}) == len(settings) + 1

    def test_frr_boots_unprivileged(self) -> None:
        groups = lab_files(lab_plan(FRR_POD, Path("x")), Settings()).topology.groups
        assert groups["frr"].privileged is False
        assert groups["frr"].cap_add == ("NET_ADMIN", "NET_RAW", "SYS_ADMIN")
        assert groups["host"].privileged is False

    def test_the_file_beside_the_intent_is_read(self, tmp_path: Path) -> None:
        assert load_settings(tmp_path) == Settings()
        (tmp_path / "containerlab.yml").write_text("images: {frr: railfab/frr:local}\ncap_add: [NET_ADMIN]\n")
        assert load_settings(tmp_path) == Settings(images={"frr": "railfab/frr:local"}, cap_add=("NET_ADMIN",))

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("imagess: {}\n", "{path}: imagess: is not a known key. Use one of images, host_image, "),
            ("images: [frr]\n", "{path}: images: ['frr'] is not valid. Use a mapping of platform to image."),
            (
                "cap_add: NET_ADMIN\n",
                "{path}: cap_add: 'NET_ADMIN' is not valid. Use a list of capabilities, for example ",
            ),
            ("privileged: yes please\n", "{path}: privileged: 'yes please' is not valid. Use true or false."),
            (
                "image_pull_policy: Sometimes\n",
                "{path}: image_pull_policy: 'Sometimes' is not valid. Use one of Always, ",
            ),
            (
                "ipv4_subnet: 172.31/33\n",
                "{path}: ipv4_subnet: '172.31/33' is not valid. Use `auto` or a range such as ",
            ),
            ("network: 7\n", "{path}: network: 7 is not valid. Use text."),
            ("- a\n", "{path}: is not a mapping. Use the keys images, host_image, "),
            ("a: [\n", "{path}: cannot be read (while parsing a flow node). Correct the file."),
        ],
    )
    def test_an_invalid_setting_is_a_one_line_error(self, tmp_path: Path, text: str, line: str) -> None:
        path = tmp_path / "containerlab.yml"
        path.write_text(text)
        with pytest.raises(LabError) as raised:
            load_settings(tmp_path)
        assert str(raised.value).startswith(line.format(path=path))


class TestNames:
    @pytest.mark.parametrize(
        ("name", "interface", "expected"),
        [
            ("frr", "swp16", "swp16"),
            ("srlinux", "ethernet-1/31", "ethernet-1/31"),
            ("srlinux", "ethernet-1/1/4", "ethernet-1/1/4"),
        ],
    )
    def test_a_port_has_a_name_in_the_topology(self, name: str, interface: str, expected: str) -> None:
        assert topology_name(name, interface) == expected
        assert interface_error(platform(name).lab.kind, expected) is None

    def test_a_port_that_the_platform_does_not_have_is_a_one_line_error(self) -> None:
        with pytest.raises(LabError) as raised:
            topology_name("srlinux", "swp1")
        assert str(raised.value) == (
            "interface swp1: is not an interface name of platform srlinux. "
            "Use ethernet-1/{cage} or ethernet-1/{cage}/{lane}."
        )

    @pytest.mark.parametrize(
        ("kind", "good", "bad"),
        [
            ("linux", "rail1-p0", "eth0"),
            ("linux", "swp1", "much-too-long-name"),
            ("nokia_srlinux", "e1-3-1", "eth1"),
            ("arista_ceos", "eth1_1", "eth0"),
            ("sonic-vm", "eth2", "ethernet-1/1"),
            ("juniper_vjunosevolved", "et-0/0/0", "swp1"),
            ("juniper_cjunosevolved", "eth4", "eth3"),
            ("cisco_n9kv", "Ethernet1/1", "swp1"),
        ],
    )
    def test_each_kind_accepts_only_its_interface_names(self, kind: str, good: str, bad: str) -> None:
        assert interface_error(kind, good) is None
        assert interface_error(kind, bad) is not None


def broken(edit: Callable[[dict[str, Any]], None]) -> list[str]:
    """Errors of the FRR pod's topology after an edit."""
    files = lab_files(lab_plan(FRR_POD, Path("x")), Settings())
    document = yaml.safe_load(files.topology.dump())
    edit(document)
    return [str(error) for error in check(document, "lab", exists=files.files.__contains__)]


class TestCheck:
    def test_a_misspelt_key_is_named_with_the_closest_key(self) -> None:
        def edit(document: dict[str, Any]) -> None:
            document["topology"]["groups"]["frr"]["sysctl"] = {}
            document["topology"]["node"] = {}
            document["nane"] = "x"

        assert broken(edit) == [
            "lab: nane: is not a key of containerlab. Use name.",
            "lab: topology: node: is not a key of containerlab. Use nodes.",
            "lab: groups.frr: sysctl: is not a key of containerlab. Use sysctls.",
        ]

    def test_an_unknown_kind_is_named_for_each_node(self) -> None:
        def edit(document: dict[str, Any]) -> None:
            document["topology"]["nodes"]["pod1-spine1"]["kind"] = "nokia_srlinx"

        assert broken(edit)[0] == ("lab: nodes.pod1-spine1: kind 'nokia_srlinx' is not supported. Use nokia_srlinux.")

    def test_an_end_at_a_node_that_is_not_there(self) -> None:
        def edit(document: dict[str, Any]) -> None:
            document["topology"]["links"][0]["endpoints"][1]["node"] = "pod1-seg1-leaf9"

        assert broken(edit) == ["lab: link 1: node 'pod1-seg1-leaf9' is not in the topology. Use pod1-seg1-leaf2."]

    def test_an_interface_that_the_kind_does_not_have(self) -> None:
        def edit(document: dict[str, Any]) -> None:
            document["topology"]["links"][0]["endpoints"][1]["interface"] = "eth0"

        assert broken(edit) == [
            "lab: link 1: pod1-seg1-leaf1: 'eth0' is not an interface name of kind linux. "
            "Use a name that matches (?!eth0$)[^\\s/:]+."
        ]

    def test_an_interface_that_two_links_end_at(self) -> None:
        def edit(document: dict[str, Any]) -> None:
            document["topology"]["links"][1]["endpoints"][0]["interface"] = "rail1-p0"

        assert broken(edit) == [
            "lab: link 2: pod1-seg1-host1 rail1-p0 is also an end of link 1. Use another interface."
        ]

    def test_a_missing_image_and_a_missing_file(self) -> None:
        def edit(document: dict[str, Any]) -> None:
            del document["topology"]["groups"]["host"]["image"]
            document["topology"]["nodes"]["pod1-spine1"]["binds"] = ["frr.conf:/etc/frr/frr.conf"]

        message = broken(edit)
        assert message[0] == "lab: nodes.pod1-seg1-host1: has no image. Set its image, or that of its group."
        assert message[-1] == (
            "lab: nodes.pod1-spine1: file frr.conf does not exist. Write it with `railfab lab render`."
        )

    def test_a_group_that_is_not_defined(self) -> None:
        def edit(document: dict[str, Any]) -> None:
            document["topology"]["nodes"]["pod1-spine1"]["group"] = "fr"

        assert broken(edit)[0] == "lab: nodes.pod1-spine1: group 'fr' is not defined. Use frr."

    def test_a_cable_with_one_end_and_an_mtu_out_of_range(self) -> None:
        def edit(document: dict[str, Any]) -> None:
            del document["topology"]["links"][0]["endpoints"][1]
            document["topology"]["links"][0]["mtu"] = 65

        assert broken(edit) == [
            "lab: link 1: mtu 65 is out of range. Use 68 to 65535.",
            "lab: link 1: has 1 end, not 2. Set two endpoints.",
        ]

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("a: [", "{path}: cannot be read (while parsing a flow node). Correct the file."),
            (None, "{path}: no such file. Write it with `railfab lab render`."),
        ],
    )
    def test_a_file_that_cannot_be_read_is_a_one_line_error(self, tmp_path: Path, text: str | None, line: str) -> None:
        path = tmp_path / "x.clab.yml"
        if text is not None:
            path.write_text(text)
        with pytest.raises(LabError) as raised:
            check_file(path)
        assert str(raised.value) == line.format(path=path)

    def test_a_file_without_a_topology_says_so(self, tmp_path: Path) -> None:
        path = tmp_path / "x.clab.yml"
        path.write_text("name: x\n")
        assert [str(error) for error in check_file(path)] == [
            f"{path}: has no topology. Add the keys name and topology."
        ]

    def test_a_topology_that_containerlab_has_run_has_no_errors(self) -> None:
        recorded = Path(__file__).parent / "recorded"
        assert check_file(recorded / "rail.clab.yml") == []

"""What is read: YAML and commands, of this and of earlier releases, and what is not a setting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from railfab.device import AaaServer, BfdTimers, DeviceModel, ManagementAccess, Remote
from railfab.errors import ConfigError
from railfab.fabric import design
from railfab.platforms import platform
from railfab.platforms.cumulus.commands import commands_of
from railfab.platforms.cumulus.tree import lines

CUMULUS = platform("cumulus")

TODAY = """\
- header:
    model: SN5400
    nvue-api-version: nvue_v1
    rev-id: 1.0
    version: Cumulus Linux 5.15.0
- set:
    interface:
      lo:
        ipv4: {address: {10.0.0.1/32: {}}}
        type: loopback
      swp1-2:
        link: {mtu: 9216, state: {up: {}}}
        type: swp
      swp1:
        ipv4: {address: {10.1.0.0/31: {}}}
    router:
      bfd:
        profile: {fast: {detect-multiplier: 3, min-rx-interval: 100, min-tx-interval: 100}}
        state: enabled
      bgp: {autonomous-system: 65001, router-id: 10.0.0.1, state: enabled}
    system:
      hostname: leaf1
      ntp:
        server: {192.0.2.1: {iburst: enabled}}
    vrf:
      default:
        router:
          bgp:
            neighbor:
              10.1.0.1: {peer-group: spines, type: numbered}
            peer-group:
              spines: {remote-as: external, bfd: {profile: fast}}
            state: enabled
"""
BEFORE = """\
- set:
    interface:
      lo:
        ip: {address: {10.0.0.1/32: {}}}
        type: loopback
      swp1,2:
        link: {mtu: 9216, state: {up: {}}}
        type: swp
      swp1:
        ip: {address: {10.1.0.0/31: {}}}
    router:
      bgp: {autonomous-system: 65001, router-id: 10.0.0.1, enable: on}
    service:
      ntp:
        default:
          server: {192.0.2.1: {iburst: on}}
    system:
      hostname: leaf1
    vrf:
      default:
        router:
          bgp:
            neighbor:
              10.1.0.1: {peer-group: spines, type: numbered}
            peer-group:
              spines:
                remote-as: external
                bfd: {enable: on, detect-multiplier: 3, min-rx-interval: 100, min-tx-interval: 100}
            enable: on
"""
COMMANDS = """\
cumulus@leaf1:mgmt:~$ nv set interface lo ipv4 address 10.0.0.1/32
nv set interface lo type loopback
# both uplinks
nv set interface swp1-2 link mtu 9216
nv set interface swp1-2 link state up
nv set interface swp1-2 type swp
nv set interface swp1 ipv4 address 10.1.0.0/31
nv set router bfd state enabled
nv set router bfd profile fast detect-multiplier 3
nv set router bfd profile fast min-rx-interval 100
nv set router bfd profile fast min-tx-interval 100
nv set router bgp autonomous-system 65001
nv set router bgp router-id 10.0.0.1
nv set router bgp state enabled
nv set system hostname leaf1
nv set system ntp server 192.0.2.1 iburst enabled
nv set vrf default router bgp neighbor 10.1.0.1 peer-group spines
nv set vrf default router bgp neighbor 10.1.0.1 type numbered
nv set vrf default router bgp peer-group spines remote-as external
nv set vrf default router bgp peer-group spines bfd profile fast
nv set vrf default router bgp state enabled
"""


def read(text: str) -> DeviceModel:
    """The model of a text without what the text has beside it."""
    return replace(CUMULUS.parse(text), unmodelled=())


@pytest.fixture(scope="module")
def leaf(repository: Path) -> DeviceModel:
    return design(repository / "inventory" / "fabrics" / "single-switch.yml").models["pod1-seg1-leaf1"]


@pytest.mark.parametrize("text", [BEFORE, COMMANDS], ids=["5.14", "commands"])
def test_a_text_of_another_spelling_has_the_same_model(text: str) -> None:
    assert read(text) == read(TODAY)


def test_a_session_has_what_its_peer_group_states() -> None:
    (session,) = read(TODAY).neighbors
    assert (session.remote_as, session.bfd) == (Remote.EXTERNAL, BfdTimers(interval_ms=100, multiplier=3))


def test_a_rendered_text_is_read_back_from_its_commands(leaf: DeviceModel) -> None:
    tree = CUMULUS.render(leaf)
    commands = "\n".join(lines(tree))
    assert "nv set system hostname pod1-seg1-leaf1" in commands.splitlines()
    assert CUMULUS.parse(commands) == leaf
    assert CUMULUS.differences(commands, CUMULUS.text(tree)) == ()


def test_ecn_and_red_have_the_words_that_nvue_takes_and_both_spellings_are_read(leaf: DeviceModel) -> None:
    """The OpenAPI description of NVUE 5.15 to 5.18 has enable and disable here, as for PFC; `state` has enabled."""
    commands = list(lines(CUMULUS.render(leaf)))
    words = {" ".join(line.split()[-2:]) for line in commands if line.split()[-2] in ("ecn", "red")}
    assert words == {"ecn enable", "ecn disable", "red disable"}
    spelled = "\n".join(f"{line}d" if line.split()[-2] in ("ecn", "red") else line for line in commands)
    assert CUMULUS.parse(spelled) == leaf


def test_no_setting_is_lost() -> None:
    """Settings that a model has no place for, and lines that are no command."""
    more = "nv set service dhcp-relay default server 192.0.2.9\nnv set system wjh state enabled\nauto lo\n"
    assert {"nv set system wjh state enabled", "auto lo"} <= set(CUMULUS.parse(COMMANDS + more).unmodelled)
    assert any("dhcp-relay" in line and "192.0.2.9" in line for line in CUMULUS.parse(COMMANDS + more).unmodelled)


POLICY = """\
nv set router bgp autonomous-system 65001
nv set router policy as-path-list two rule 10 action permit
nv set router policy as-path-list two rule 10 aspath-exp ^65001
nv set router policy as-path-list two rule 20 action permit
nv set router policy as-path-list two rule 20 aspath-exp ^65002
nv set router policy community-list both rule 10 action permit
nv set router policy community-list both rule 10 community 65001:1
nv set router policy community-list both rule 10 community 65001:2
nv set router policy prefix-list empty rule 10 action deny
nv set router policy prefix-list empty rule 10 match 10.0.0.0/8
nv set router policy route-map out rule 10 action permit
nv set router policy route-map out rule 20 action permit
nv set router policy route-map out rule 20 set metric 7
"""


@pytest.mark.parametrize(
    "condition",
    ["as-path-list two", "community-list both", "ip-prefix-list empty", "ip-prefix-list missing", "interface lo"],
)
def test_a_rule_whose_condition_a_model_cannot_say_is_left_out(condition: str) -> None:
    """And not taken for one without condition, which would permit everything."""
    line = f"nv set router policy route-map out rule 10 match {condition}"
    found = CUMULUS.parse(f"{POLICY}{line}\n")
    (policy,) = found.policies
    assert [rule.set_med for rule in policy.rules] == [7]
    assert line in found.unmodelled


def test_a_text_of_several_lines_is_one_value() -> None:
    banner = "nv set system message pre-login '####\n#  Authorised use only\n####'\n"
    management = CUMULUS.parse(COMMANDS + banner).management
    assert management is not None
    assert management.banner == "####\n#  Authorised use only\n####"


@pytest.mark.parametrize(
    "text",
    [
        "- set:\n    system: {hostname: a}\n    system: {hostname: b}\n",
        "auto lo\niface lo inet loopback\n    address 10.0.0.1/32\n",
        "- [a, b]\n",
        "- set:\n    router: {bgp: {autonomous-system: 65001, router-id: loopback}}\n",
    ],
    ids=["a key twice", "ifupdown2 of Cumulus Linux 3", "a list for a tree", "a router ID that is no address"],
)
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        CUMULUS.parse(text)


def test_a_default_that_is_shown_is_no_difference() -> None:
    shown = COMMANDS + "nv set interface swp1 link fec auto\nnv set system lldp tx-interval 30\n"
    assert CUMULUS.differences(shown, COMMANDS) == ()
    assert len(CUMULUS.differences(COMMANDS + "nv set interface swp1 link fec rs\n", COMMANDS)) == 1


def test_logins_are_those_of_today_and_their_order_counts(leaf: DeviceModel) -> None:
    """Since 5.12 servers are named by their address, and no setting turns TACACS+ on (nvue-reference, TACACS)."""
    servers = (AaaServer(address="10.0.0.1"), AaaServer(address="10.0.0.2"))
    model = replace(leaf, management=ManagementAccess(network_instance="mgmt", aaa=servers))
    text = CUMULUS.text(CUMULUS.render(model))
    aaa = yaml.safe_load(text)[0]["set"]["system"]["aaa"]
    assert aaa == {
        "authentication": {"order": ["tacacs", "local"]},
        "tacacs": {"server": {"10.0.0.1": {"priority": 1}, "10.0.0.2": {"priority": 2}}, "vrf": "mgmt"},
    }
    commands = "nv set system aaa authentication order tacacs local"
    assert commands in lines(CUMULUS.render(model))
    assert CUMULUS.parse(text).unmodelled == ()
    order = "            - tacacs\n            - local\n"
    swapped = text.replace(order, "".join(reversed(order.splitlines(keepends=True))))
    assert [line for line in CUMULUS.parse(swapped).unmodelled if "order" in line]
    ((operation,), _) = commands_of(commands)
    assert operation.tree == {"system": {"aaa": {"authentication": {"order": "tacacs local"}}}}


def test_a_drained_switch_asks_to_be_avoided(leaf: DeviceModel) -> None:
    drained = replace(leaf, drain=True)
    tree = CUMULUS.render(drained)
    if leaf.bgp is not None:
        assert tree["router"]["bgp"]["graceful-shutdown"] == "enabled"
        assert CUMULUS.parse(CUMULUS.text(tree)) == drained


PORTS = "nv set interface swp1-2 link speed 400G\n"


def test_operations_are_read_in_turn_also_of_several_documents() -> None:
    mtu = "interface: {swp1-2: {link: {mtu: %d}}}"
    text = f"- set: {{{mtu % 9216}}}\n---\n- unset: {{interface: {{swp2: {{link: {{mtu: {{}}}}}}}}}}\n"
    assert [port.mtu_bytes for port in read(text).interfaces] == [9216, None]
    assert [port.mtu_bytes for port in read(f"{text}- set: {{{mtu % 1500}}}\n").interfaces] == [1500, 1500]
    assert read(f"{text}- unset: {{interface: {{}}}}\n").interfaces == ()


def test_what_is_unset_and_was_not_set_is_said_unless_it_is_set_later() -> None:
    unset = "- unset: {interface: {swp1: {storm-control: {}}}, qos: {roce: {}}}\n"
    (difference,) = CUMULUS.differences(f"{unset}- set: {{qos: {{roce: {{}}}}}}\n", "- set: {qos: {roce: {}}}\n")
    assert (difference.text, difference.path) == (
        "nv unset interface swp1 storm-control",
        "/unused/unset/interface/storm-control/all",
    )


@pytest.mark.parametrize(
    ("text", "where", "is_unknown"),
    [
        ("- sets: {system: {hostname: a}}\n- set: {system: {hostname: b}}\n", "- sets", False),
        ("interface: {swp1: {link: {mtu: 1500}}}\n", "- interface", False),
        ("nv set system hostname a\nnet add interface swp1 mtu 1500\n", "net add interface swp1 mtu 1500", True),
    ],
)
def test_a_part_of_a_text_that_is_not_read_is_refused(text: str, where: str, is_unknown: bool) -> None:
    assert CUMULUS.refusals is not None
    assert [(refusal.where, refusal.is_unknown) for refusal in CUMULUS.refusals(text)] == [(where, is_unknown)]


def test_a_scheduler_of_one_queue_leaves_the_others_without_a_share() -> None:
    """Quality of Service, Egress Scheduler: a queue that is not named has a DWRR value of 0."""
    qos = read("nv set qos egress-scheduler default-global traffic-class 3 mode dwrr\n").qos
    assert qos is not None
    assert [(traffic_class.queue, traffic_class.weight) for traffic_class in qos.classes] == [
        (n, None) for n in range(8)
    ]


def test_a_map_alone_has_the_queues_and_shares_of_the_switch() -> None:
    qos = read(f"{PORTS}nv set qos mapping default-global trust l3\n").qos
    assert qos is not None
    assert [traffic_class.weight for traffic_class in qos.classes] == [12, 13] * 4
    assert dict(qos.classifiers[0].dscp)[26] == "queue3"
    assert [port.ecn for port in qos.ports] == [("queue0",)] * 2


def test_roce_without_a_mode_does_not_change_a_mode() -> None:
    """RDMA over Converged Ethernet, RoCE lossless (note)."""
    lossy = read(f"{PORTS}nv set qos roce mode lossy\nnv set qos roce\n").qos
    lossless = read(f"{PORTS}nv set qos roce\n").qos
    assert lossy is not None
    assert lossless is not None
    assert [port.pfc for qos in (lossy, lossless) for port in qos.ports] == [(), (), (3,), (3,)]


def test_lossy_roce_in_several_queues_has_its_own_marks_and_trims() -> None:
    """RDMA over Converged Ethernet, Lossy Multi TC Profile."""
    qos = read(f"{PORTS}nv set qos roce mode lossy-multi-tc\n").qos
    assert qos is not None
    assert qos.trimming is not None
    (profile,) = qos.profiles
    marks = {
        (ramp.traffic_class, ramp.ecn and ramp.ecn.kmin_bytes, ramp.ecn and ramp.ecn.kmax_bytes)
        for ramp in profile.thresholds
    }
    assert marks == {(f"queue{queue}", 166_912, 239_616) for queue in (1, 2, 3)}
    assert (qos.trimming.size_bytes, qos.trimming.dscp, qos.trimming.traffic_class) == (256, 11, "queue4")
    assert dict(qos.classifiers[0].dscp).get(48) is None


def test_a_port_trusts_nothing_where_its_map_goes_by_the_port() -> None:
    fixed = "nv set qos mapping fixed trust port\nnv set interface swp1 qos mapping profile fixed\n"
    qos = read(f"{PORTS}nv set qos roce\n{fixed}").qos
    assert qos is not None
    assert {classifier.name: len(classifier.dscp) for classifier in qos.classifiers} == {
        "default-global": 16,
        "fixed": 0,
    }
    assert [port.classifier for port in qos.ports] == ["fixed", "default-global"]


def test_commands_of_514_state_bfd_of_a_session_or_of_its_peer_group() -> None:
    text = (
        "nv set router bgp autonomous-system 65101\n"
        "nv set vrf default router bgp peer-group spines remote-as external\n"
        "nv set vrf default router bgp peer-group spines bfd enable on\n"
        "nv set vrf default router bgp peer-group spines bfd min-rx-interval 100\n"
        "nv set vrf default router bgp peer-group spines bfd min-tx-interval 100\n"
        "nv set vrf default router bgp peer-group spines bfd detect-multiplier 5\n"
        "nv set vrf default router bgp neighbor swp1 peer-group spines\n"
        "nv set vrf default router bgp neighbor swp2 remote-as external\n"
        "nv set vrf default router bgp neighbor swp2 bfd enable on\n"
    )
    timers = [neighbor.bfd for neighbor in read(text).neighbors]
    assert timers == [BfdTimers(interval_ms=100, multiplier=5), BfdTimers(interval_ms=300, multiplier=3)]


def test_the_mac_of_gateways_that_an_svi_does_not_have_is_unmodelled() -> None:
    svi = "nv set interface vlan10 ip vrr mac-address 00:00:5e:00:01:02\n"
    model = CUMULUS.parse(svi)
    assert getattr(model.interface("vlan10"), "gateway_mac", "") is None
    assert any("00:00:5e:00:01:02" in line for line in model.unmodelled)
    gateway = f"{svi}nv set interface vlan10 ip vrr address 192.0.2.1/24\n"
    assert getattr(read(gateway).interface("vlan10"), "gateway_mac", "") == "00:00:5e:00:01:02"


@pytest.mark.parametrize("priority", ["-1", "9", "99999999999999999999"])
def test_a_switch_priority_out_of_range_is_unmodelled(priority: str) -> None:
    mapping = (
        "nv set qos mapping default-global trust l3\n"
        f"nv set qos mapping default-global port-default-sp {priority}\n"
        f"nv set qos mapping default-global dscp 26 switch-priority {priority}\n"
    )
    model = CUMULUS.parse(f"{PORTS}{mapping}")
    assert model.qos is not None
    assert model.qos.default_class == "queue0"
    assert len([line for line in model.unmodelled if line.endswith(f" {priority}")]) == 2


def test_a_ramp_that_states_the_probability_of_the_switch_is_no_difference() -> None:
    """Quality of Service, Congestion Control, as in `qos_defaults.RAMP`."""
    ramp = "nv set qos congestion-control default-global traffic-class 3 "
    short = f"{PORTS}{ramp}min-threshold 150000\n{ramp}max-threshold 1500000\n{ramp}ecn enable\n"
    assert CUMULUS.differences(short, f"{short}{ramp}probability 100\n") == ()
    assert CUMULUS.differences(short, f"{short}{ramp}probability 10\n") != ()


def test_the_backup_of_a_pair_without_spines_is_in_the_vrf_for_management(repository: Path, tmp_path: Path) -> None:
    """NVIDIA, Multi-Chassis Link Aggregation: `mlag backup` of an address of eth0 needs the VRF mgmt."""
    text = (repository / "inventory" / "fabrics" / "dual-mlag.yml").read_text().replace("7060dx5-64s", "sn5400")
    (tmp_path / "fabric.yml").write_text(f"{text}management:\n  leaves: {{count: 1, model: 7215-ixs-a1, cable_m: 5}}\n")
    managed = design(tmp_path / "fabric.yml")
    for name, peer in (("pod1-seg1-leaf1", "pod1-seg1-leaf2"), ("pod1-seg1-leaf2", "pod1-seg1-leaf1")):
        (address,) = (port.address for port, _, _ in managed.topology.ports_of(peer) if port.address and not port.cage)
        (set_part,) = (part["set"] for part in yaml.safe_load(managed.texts[name]) if "set" in part)
        assert set_part["mlag"]["backup"] == {str(address.ip): {"vrf": "mgmt"}}

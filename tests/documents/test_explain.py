"""What is said of a fabric is what the fabric is: every number, for designs by hand and for random fabrics by law."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests import commands
from tests.cli.test_command_line import railfab, refused
from tests.laws import examples
from tests.topology.fabric_intents import fabric, fabrics

from railfab.documents import Plan, planned
from railfab.documents.explain import explained
from railfab.documents.explain.formats import capacity, joined, numbered, ranges, ratio
from railfab.documents.explain.numbers import HOST_FIELDS, outgrown
from railfab.documents.explain.subject import Subject
from railfab.intent import FabricIntent, load_intent
from railfab.intent.document import Document
from railfab.qos import PortHeadroom
from railfab.topology import Role, Topology, capacities, failure_domains, wire
from railfab.topology.addresses import ClassicPlan, WidePlan, address_plan
from railfab.topology.dimensions import Dimensions

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
LABS = Path(__file__).parents[2] / "labs"


def plan_of(intent: FabricIntent, topology: Topology) -> Plan:
    """A plan without a file."""
    return Plan(document=Document(Path("f.yml"), {}), intent=intent, topology=topology)


def said(plan: Plan) -> dict[str, tuple[str, ...]]:
    return {section.section: section.statements for section in explained(plan)}


def of(name: str) -> dict[str, tuple[str, ...]]:
    return said(planned(FABRICS / f"{name}.yml"))


def number(text: str) -> int:
    return int(text.replace(",", ""))


# By hand.


def test_pod64_is_said_as_an_engineer_would_say_it() -> None:
    text = of("pod64")
    assert text["Overview"] == (
        "The backend of pod64 has 2 tiers and 3 stages: at most, a packet passes a rail switch, a spine and a "
        "rail switch.",
        "1 pod of 2 segments of 4 hosts: 8 hosts with 8 GPUs each, 64 GPUs.",
        "4 rail switches (1 pod x 2 segments x 2) and 4 spines (1 pod x 4). Cables: 128 to hosts and 32 between "
        "rail switches and spines.",
    )
    assert text["Rails"] == (
        "A host has 8 NICs, one per GPU, with 2 ports of 100 Gb/s each: 16 ports, 1.6 Tb/s per host and 200 "
        "Gb/s per GPU.",
        "NIC r of every host is rail r: 8 rails.",
        "The 2 ports of a NIC connect to 2 adjacent rail switches, so that one may fail. A segment has 2 rail "
        "switches, 1 such set with 8 rails on each.",
        "Rail switch 1 of every segment serves rails 1-8, by port 0 of each NIC.",
        "Rail switch 2 of every segment serves rails 1-8, by port 1 of each NIC.",
    )
    assert text["Ports of a rail switch"] == (
        "Rail switches are 7220-ixr-d5 (Nokia, Trident 4): 32 cages of 400 Gb/s. At the 100 Gb/s of a NIC port, "
        "a cage is split into 4 ports (breakout).",
        "4 hosts with 8 links each to a rail switch make 32 host ports, on cages 1-8. They use cages from the "
        "first upwards, host by host.",
        "8 uplinks use cages 25-32, from the last downwards.",
    )
    assert text["Uplinks"] == (
        "The limit of oversubscription is 1:1 per tier, by default.",
        "A full rail switch divides its cages between hosts and uplinks: 16 uplinks of 400 Gb/s carry the "
        "traffic of all other cages.",
        "The intent states 2 links between a rail switch and a spine: 4 spines with 2 links each are 8 uplinks, "
        "8 fewer than a full rail switch needs.",
        "3.2 Tb/s of hosts now share 3.2 Tb/s of uplinks: 1:1, non-blocking.",
        "With 12 hosts, the most that a segment may have, it is 3:1.",
    )
    assert text["Spines"] == (
        "A spine has 2 links to each of the 4 rail switches of its pod: 8 ports of 400 Gb/s down, on a "
        "7220-ixr-d5 with 32 cages.",
        "The 16 uplinks of a full rail switch divide evenly among 1, 2, 4, 8 or 16 spines.",
        "A rail switch uses all 4, so the failure of one removes 25 % of its uplinks.",
    )
    assert text["Growth"] == (
        "Hosts of a segment: 4 now, 12 at most: a rail switch has 32 cages, less 8 for uplinks: 24 of 4 ports "
        "give 96 ports, 8 per host.",
        "Segments of a pod: 2 now, 8 at most: a spine has ports for 16 rail switches, and a segment has 2 rail "
        "switches.",
        "Pods: 1 now, 1 at most: more pods need super-spines.",
        "So the fabric may grow to 768 GPUs without a change of any name, port, address or AS number.",
    )
    assert text["Addresses"][1:3] == (
        "Host links of rail r on leaf l of pod p are /31s of 10.(16+r).(16(p-1)+l-1).0/24, the switch having "
        "the even address: pod1-seg2-host4 rail8-p1 has 10.24.3.7/31, as it is on rail 8, pod 1, leaf 4: 16 + 8 "
        "= 24 and 16 x 0 + 4 - 1 = 3.",
        "Loopbacks: 10.255.pod.leaf, 10.255.1.1 for pod1-seg1-leaf1; 10.254.pod.spine, 10.254.1.1 for pod1-spine1.",
    )
    assert text["AS numbers"][0].startswith(
        "Each rail switch has its own AS number: 4200000000 + 1000 x pod + leaf, 4200001001 for pod1-seg1-leaf1."
    )
    assert "65001 in the first (RFC 7938, section 5.2)" in text["AS numbers"][1]
    assert text["Load balancing"][0] == "A rail switch has 8 equal paths up, one per uplink."
    assert text["Routing"][-1] == "BFD detects a lost neighbor after 3 x 300 ms = 900 ms."
    assert "Super-spines" not in text
    assert "Planes" not in text


def test_failover_is_said_with_its_terms() -> None:
    local, remote, back = of("pod64")["Failover"]
    assert local.endswith("where the signal stays, it learns of the loss by BFD, after at most 900 ms.")
    assert "fails, the spine withdraws its prefixes from the other rail switches" in remote
    assert "900 ms of detection = 900 ms at most in 1 message (rapid withdrawal: they wait for no timer)" in remote
    assert "attempted again within 10 s, and each switch announces the prefixes within 1 s" in back


def test_failover_of_three_tiers_takes_three_messages_and_without_bfd_the_hold_time() -> None:
    plan = planned(FABRICS / "multi-pod.yml")
    profile = plan.intent.profile.model_copy(update={"bfd": None})
    slow = replace(plan, intent=plan.intent.model_copy(update={"profile": profile}))
    local, remote, _ = said(slow)["Failover"]
    assert "by the hold time of BGP, after at most 9,000 ms" in local
    assert "9,000 ms at most in 3 messages" in remote


def test_without_rapid_withdrawal_each_switch_adds_the_advertisement_interval(tmp_path: Path) -> None:
    path = tmp_path / "intent.yml"
    stated = "  mtu: 9000\n  bgp: {advertisement_interval_s: 2}"
    path.write_text((LABS / "frr-pod" / "intent.yml").read_text().replace("  mtu: 9000", stated))
    assert (
        "+ 1 x 2 s = 2,900 ms at most in 1 message (advertisement interval 2 s)" in said(planned(path))["Failover"][1]
    )


def test_rail_only_fabrics_have_no_failover() -> None:
    assert "Failover" not in of("single-switch")


def test_thresholds_are_said_with_the_numbers_in_their_formulas() -> None:
    assert of("pod64")["Thresholds of the lossless class"][1:4] == (
        "The longest path has 90 m of cable and 3 switches. A round trip takes 2 x 90 m x 5 ns/m of cable, 2 x 3 x "
        "1,000 ns of switches, 1,851 ns to send a packet on each link, and 2 x 1,000 ns of NICs: 10.8 us. The times "
        "of switches and NICs are estimates.",
        "100G ports: 100 Gb/s x 10.8 us = 135 kB. Kmin is this value, but at least 150 kB: 150 kB. Kmax is 3 x Kmin "
        "= 450 kB, with 10 % marked there. XOFF is Kmax + 135 kB = 585 kB, so that senders have one round trip to "
        "react to a mark.",
        "Headroom of each 100G port with 5 m, with estimated figures of Trident 4: our frame 9,254; the pause frame "
        "84; cable 2 x 5 m x 5.051 ns/m x 12.5 bytes/ns = 631; MAC, PHY and chip 13,569; response 201,728 bits / 8 = "
        "25,216. If half of the packets are small, these 48,755 bytes fill 1.47 times as much in cells of 318; with "
        "the frame of the peer, 9,254, and 69,632 of the pipeline this is 150,732 bytes. The port may use 322,770, "
        "enough if all packets are small.",
    )


def test_two_pods_are_said_with_what_joins_them() -> None:
    text = of("multi-pod")
    assert text["Overview"][0].startswith("The backend of multi-pod has 3 tiers and 5 stages")
    assert "8 rail switches (2 pods x 2 segments x 2), 8 spines (2 pods x 4) and 4 super-spines." in text["Overview"][2]
    assert text["Super-spines"] == (
        "Every spine connects to each of the 4 super-spines, by 2 links each: 8 uplinks.",
        "3.2 Tb/s of rail switches below a spine share 3.2 Tb/s to other pods: 1:1, non-blocking.",
        "A super-spine has 2 pods x 4 spines x 2 links: 16 ports of 400 Gb/s, on a 7220-ixr-d5 with 32 cages.",
    )
    assert text["Growth"][2] == (
        "Pods: 2 now, 4 at most: a super-spine has ports for this number, with 8 links to each."
    )
    assert "10.253.0.n, 10.253.0.1 for super1" in text["Addresses"][2]


def test_multi_rail_is_said_with_its_subnets_and_its_summary() -> None:
    text = of("multi-rail")
    assert text["Attachment of hosts"] == (
        "The ports of a rail on a switch are in one VLAN, and this switch is its only gateway.",
        "Rail r has VLAN 100 + r: VLANs 101-108.",
        "Each rail switch has a /24 from 10.0.0.0/16 by its number in the fabric, divided among its 8 rails, a "
        "/28 each.",
        "A /28 has 16 addresses: network, gateway and broadcast, and enough for 13 hosts. Rail 1 on "
        "pod1-seg1-leaf1: 10.0.1.0/28, gateway 10.0.1.1, first host 10.0.1.2.",
        "Spines learn one prefix per switch instead of 8: 10.0.1.0/24 from pod1-seg1-leaf1. It is withdrawn "
        "when the switch has no route to any contributor, so that it attracts no traffic that it would drop.",
    )
    assert text["Rails"][2] == (
        "The port of a NIC connects to one rail switch. A segment has 1 rail switch, with 8 rails on each."
    )


def test_a_segment_of_nx_os_is_said_with_what_the_switch_makes_it_of(tmp_path: Path) -> None:
    path = tmp_path / "intent.yml"
    intent = (FABRICS / "dual-esi.yml").read_text()
    path.write_text(intent.replace("model: 7060dx5-64s ", "model: n9k-c9364d-gx2a "))
    assert said(planned(path))["Attachment of hosts"][-2] == (
        "Its Ethernet segment is of type 3 (RFC 7432) on nxos: the MAC address that pod1-seg1-leaf1 and "
        "pod1-seg1-leaf2 have in common, and the number of the LAG, 201."
    )


def test_dual_esi_is_said_with_its_lags_and_segments() -> None:
    text = of("dual-esi")
    assert text["Overview"][-1] == (
        "No spine connects the rail switches (rail-only): the traffic of a rail stays on its own switches."
    )
    assert text["Attachment of hosts"][-3:] == (
        "32 LAGs, one per NIC: bond1 of pod1-seg1-host1 is rail1-p0 and rail1-p1, on pod1-seg1-leaf1 and "
        "pod1-seg1-leaf2 port channel 201, with address 10.0.1.2/27.",
        "Its Ethernet segment is 00:00:00:01:00:01:00:01:00:01, of type 0 (RFC 7432): pod 1, segment 1, host 1, "
        "rail 1.",
        "In VXLAN each subnet has a VNI, 10,000 + 100 x the number of its switch or pair + the number of its "
        "rail there, from 0: 10100 is 10000 + 100 x 1 + 0.",
    )
    assert "A rail switch (any of 2, for example pod1-seg1-leaf1): 32 GPUs lose 50 %" in text["Failures"][2]
    assert text["Growth"][-1].startswith("So a segment may grow to 120 GPUs without a change of any name")
    assert "Uplinks" not in text
    assert "Spines" not in text


@pytest.mark.matrix
def test_131072_gpus_are_explained_by_the_command(tmp_path: Path) -> None:
    done = commands.run("explain", FABRICS / "gpu131072.yml", "--output", "json", cwd=tmp_path, timeout_s=170)
    assert (done.returncode, done.stderr) == (0, "")
    text = {entry["section"]: entry["statements"] for entry in json.loads(done.stdout)}
    assert text["Scale"] == [
        "131,072 NIC ports of 400 Gb/s: two tiers of radix 128 connect 8,192 without blocking (k^2/2), three "
        "connect 524,288 (k^3/4).",
        "Two tiers would need radix 512; there are three.",
    ]
    assert text["Super-spines"] == [
        "1,024 super-spines form 32 groups of 32; each group connects to 1 spine of every pod, by 1 link each: "
        "32 uplinks, as a full spine needs 32.",
        "25.6 Tb/s of rail switches below a spine share 25.6 Tb/s to other pods: 1:1, non-blocking.",
        "A super-spine has 64 pods x 1 spine x 1 link: 64 ports of 800 Gb/s, on a 7060x6-64pe with 64 cages.",
    ]
    assert text["Addresses"][1:3] == [
        "Host links: rail 3, pod 6, segment 3, host and port 5, end of the link 1; 18 bits of the 23 that "
        "10.0.0.0/9 has.",
        "pod64-seg8-host32 rail8-p0 has 10.3.255.255/31: rail 7, pod 63, segment 7, host and port 31, end of "
        "the link 1.",
    ]
    assert text["Models"][2] == (
        "405B: 405 billion parameters x 2 bytes are 810 GB, which 11 GPUs of 80 GB hold, on 2 hosts; the fabric "
        "holds it 11,915 times."
    )
    assert text["Findings"] == ["`railfab plan` has no findings."]


def test_the_other_networks_of_a_cluster_are_said() -> None:
    text = of("cluster")
    assert [statement.partition(":")[0] for statement in text["Networks"]] == [
        "Scale-out",
        "Scale-up",
        "Frontend",
        "Storage",
        "Management",
    ]
    assert text["Networks"][2] == (
        "Frontend: users, schedulers and the outside, the ports of a NIC in a LAG to two switches (EVPN "
        "multihoming), tenants research, production in EVPN/VXLAN; 200 Gb/s per host, 4 switches, "
        "oversubscription up to 3:1, reaching enterprise."
    )
    assert any(line.startswith("Storage: a server link") for line in text["Failures"])


def test_planes_and_spraying_are_said() -> None:
    text = of("dual-plane")
    assert text["Planes"] == (
        "The 2 ports of a NIC are divided among 2 planes, port 0 in plane 1 and port 1 in plane 2, which have "
        "separate switches and no links between them: the loss of a plane costs each GPU 50 % of its bandwidth.",
    )
    assert "32 rail switches (2 planes x 1 pod x 2 segments x 8)" in text["Overview"][2]
    assert text["Load balancing"][2].startswith("Each packet may take any path")
    assert "64 lossless ports without PFC: no headroom;" in text["Buffers"][0]
    assert not any("Headroom" in line for line in text["Thresholds of the lossless class"])


# Intents that say something of their own.


def explain(**changes: object) -> dict[str, tuple[str, ...]]:
    intent = fabric(**changes)
    return said(plan_of(intent, wire(intent)))


def test_the_words_follow_the_profile() -> None:
    text = explain(profile={"control_plane": "ibgp", "asn": 65123, "ecmp": "flowlet", "bfd": False, "lossless": False})
    assert text["AS numbers"] == ("With iBGP all switches are in AS 65123.",)
    assert text["Routing"] == (
        "iBGP runs in one AS, on every link between switches; a reflector is the next hop of what it reflects.",
        "2 route reflectors, at most 2 in each pod and in the top tier (`reflectors`), the first being pod1-spine1.",
    )
    assert text["Load balancing"][2].startswith("A flow may change its path after a pause")
    assert text["Thresholds of the lossless class"] == (
        "No class is lossless: there is no PFC, no ECN and no headroom.",
    )
    assert "Buffers" not in text


def test_stated_traffic_is_said_with_what_it_saves() -> None:
    traffic = {"packet_bytes": 4096, "message_bytes": "64kB", "senders": 4}
    intent = fabric(profile={"lossless": {"traffic": traffic}})
    plan = plan_of(intent, wire(intent))
    saved = plan.buffers[0].plan.saved_bytes
    assert said(plan)["Buffers"][-2] == (
        f"pod1-seg1-leaf1 and 3 more: 4 messages of 64,000 bytes in packets of 4,096 fill "
        f"{plan.buffers[0].plan.bound.queue_bytes:,} bytes of a queue; "  # type: ignore[union-attr]
        f"{plan.buffers[0].plan.cut.headroom_bytes / 1e6:,.1f} MB of headroom and "  # type: ignore[union-attr]
        f"{plan.buffers[0].plan.cut.lossless_bytes / 1e6:,.1f} MB shared are enough, "  # type: ignore[union-attr]
        f"which saves {saved / 1e6:,.1f} MB."
    )
    assert saved > 0


def test_stated_growth_and_rounding_are_said() -> None:
    text = explain(backend__growth={"hosts": 6, "segments": 4, "pods": 1})
    assert text["Uplinks"][1] == "The 6 hosts per segment that `growth` allows send what 12 uplinks of 400 Gb/s carry."
    assert text["Growth"][:3] == (
        "Hosts of a segment: 4 now, 6 at most: `growth.hosts` is 6.",
        "Segments of a pod: 2 now, 4 at most: `growth.segments` is 4.",
        "Pods: 1 now, 1 at most: `growth.pods` is 1.",
    )
    rounded = explain(backend__oversubscription=1.5)
    assert rounded["Uplinks"][:3] == (
        "The limit of oversubscription is 1.5:1 per tier, as the intent states.",
        "A full rail switch divides its cages between hosts and uplinks: 13 uplinks of 400 Gb/s carry the "
        "traffic of all other cages, rounded up from 12.8.",
        "The intent does not state the number of links, so a full rail switch determines it: 4 spines with 4 "
        "links each are 16 uplinks, rounded up to the same number per spine.",
    )


def test_subnets_that_limit_growth_are_said() -> None:
    text = explain(
        hosts__attach="vlan", backend__subnets={"pool": "10.0.0.0/22", "switch_prefix": 25, "rail_prefix": 28}
    )
    assert text["Growth"][1] == (
        "Segments of a pod: 2 now, 3 at most: 10.0.0.0/22 has no prefixes for more rail switches."
    )
    small = {"pool": "10.0.0.0/16", "switch_prefix": 24, "rail_prefix": 29}
    assert explain(hosts__attach="vlan", backend__subnets=small)["Growth"][0] == (
        "Hosts of a segment: 4 now, 5 at most: the /29 of a rail has addresses for 5 hosts."
    )


def test_one_of_everything_is_said_in_the_singular() -> None:
    segments = {"count": 1, "hosts": 1, "rail_switches": 1, "model": "sn4700"}
    text = explain(hosts={"gpus": 1, "rate_gbps": 400}, backend__segments=segments, backend__spines=None)
    assert text["Overview"][1:] == (
        "1 pod of 1 segment of 1 host: 1 host with 1 GPU each, 1 GPU.",
        "1 rail switch (1 pod x 1 segment x 1). Cables: 1 to hosts.",
        "One switch connects all hosts.",
    )
    assert text["Growth"][0] == (
        "Hosts of a segment: 1 now, 32 at most: the 32 cages of a rail switch give 32 ports, 1 per host."
    )
    assert "Headroom of 1 lossless port is 0.2 MB, 0.4 % of the buffer, enough even" in text["Buffers"][0]
    assert "Traffic between rails" not in text


def test_findings_are_said_and_are_no_failure_of_the_command(tmp_path: Path) -> None:
    text = (FABRICS / "pod64.yml").read_text().replace("links_per_leaf: 2", "links_per_leaf: 1")
    (tmp_path / "pod.yml").write_text(text)
    done = railfab("explain", "pod.yml", cwd=tmp_path)
    assert done.returncode == 0
    assert "warning: pod1-seg1-leaf1 and 3 more: 3200 Gb/s of hosts share 1600 Gb/s of uplinks (2.00:1)." in done.stdout
    assert "3.2 Tb/s of hosts now share 1.6 Tb/s of uplinks: 2:1.\n" in done.stdout


def test_what_cannot_be_built_is_one_line(tmp_path: Path) -> None:
    text = (FABRICS / "pod64.yml").read_text().replace("    hosts: 4", "    hosts: 99")
    (tmp_path / "pod.yml").write_text(text)
    assert refused(railfab("explain", "pod.yml", cwd=tmp_path)).startswith("railfab: pod.yml:16: backend.segments: ")
    assert refused(railfab("explain", "none.yml", cwd=tmp_path)) == ("railfab: none.yml: no such file. Check the path.")


def test_how_numbers_are_said() -> None:
    assert [ranges(numbers) for numbers in ([1], [1, 2], [3, 1, 2], [1, 4, 5, 6, 9, 10])] == [
        "1",
        "1, 2",
        "1-3",
        "1, 4-6, 9, 10",
    ]
    assert (numbered("rail", [2]), numbered("rail", [1, 2, 3])) == ("rail 2", "rails 1-3")
    assert (capacity(400), capacity(12_800), capacity(50)) == ("400 Gb/s", "12.8 Tb/s", "50 Gb/s")
    assert (ratio(3200, 3200), ratio(3200, 1600), ratio(1600, 3200)) == (
        "1:1, non-blocking",
        "2:1",
        "0.5:1, non-blocking",
    )
    assert (joined(["a"]), joined(["a", "b", "c"])) == ("a", "a, b and c")


# Laws, over random fabrics.

CABLES = {
    (Role.HOST, Role.LEAF): "to hosts",
    (Role.LEAF, Role.LEAF): "between the two switches of a pair",
    (Role.LEAF, Role.SPINE): "between rail switches and spines",
    (Role.SPINE, Role.SUPER): "between spines and super-spines",
}


@settings(max_examples=examples(60))
@given(fabrics())
def test_every_count_that_is_said_is_what_the_topology_has(found: tuple[FabricIntent, Topology]) -> None:
    intent, topology = found
    text = said(plan_of(intent, topology))
    everything = " ".join(" ".join(statements) for statements in text.values())
    counts = Counter(node.role for node in topology.nodes)
    whole = re.search(r"([\d,]+) hosts? with (\d+) GPUs? each, ([\d,]+) GPU", everything)
    assert whole is not None
    assert [number(group) for group in whole.groups()] == [
        counts[Role.HOST],
        intent.hosts.gpus,
        counts[Role.HOST] * intent.hosts.gpus,
    ]
    for role, word in ((Role.LEAF, r"rail switch(?:es)?"), (Role.SPINE, "spines?"), (Role.SUPER, "super-spines?")):
        named = re.match(rf"(?:.* )?([\d,]+) {word}(?: \(| and|,|\.)", text["Overview"][2].partition(" Cables")[0])
        assert (number(named[1]) if named else 0) == counts[role]
    cables = Counter((topology.node(link.a.node).role, topology.node(link.z.node).role) for link in topology.links)
    for ends, words in CABLES.items():
        shown = re.search(rf"([\d,]+) {words}", text["Overview"][2])
        assert (number(shown[1]) if shown else 0) == cables[ends]


@settings(max_examples=examples(60))
@given(fabrics())
def test_every_port_and_ratio_that_is_said_is_what_switches_have(found: tuple[FabricIntent, Topology]) -> None:
    intent, topology = found
    text = said(plan_of(intent, topology))
    leaf = next(node.name for node in topology.nodes if node.role is Role.LEAF)
    ports = topology.ports_of(leaf)
    host_ports = [port for port, _, _ in ports if port.rail is not None]
    shown = re.search(r"make ([\d,]+) host ports?, on cages? ([\d, -]+)\.", text["Ports of a rail switch"][1])
    assert shown is not None
    assert (number(shown[1]), shown[2]) == (len(host_ports), ranges([port.cage for port in host_ports]))
    up = [port for port, peer, _ in ports if topology.node(peer.node).role is Role.SPINE]
    shown = re.search(r"^([\d,]+) uplinks? uses? cages? ([\d, -]+), from", text["Ports of a rail switch"][-1])
    assert ((number(shown[1]), shown[2]) if shown else (0, "")) == (len(up), ranges([port.cage for port in up]))
    if up:
        measured = next(one for one in capacities(topology) if one.node == leaf)
        assert (
            f"{capacity(measured.down_gbps)} of hosts now share {capacity(measured.up_gbps)} of uplinks: "
            f"{ratio(measured.down_gbps, measured.up_gbps)}." in text["Uplinks"]
        )
        spine = topology.ports_of(next(node.name for node in topology.nodes if node.role is Role.SPINE))
        above = sum(topology.node(peer.node).role is Role.SUPER for _, peer, _ in spine)
        shown = re.search(r": ([\d,]+) ports? of \d+ Gb/s down(?: and ([\d,]+) ports? up)?", text["Spines"][0])
        assert shown is not None
        assert (number(shown[1]), number(shown[2] or "0")) == (len(spine) - above, above)


@settings(max_examples=examples(60))
@given(fabrics())
def test_attachments_addresses_and_as_numbers_are_said_as_they_are(found: tuple[FabricIntent, Topology]) -> None:
    intent, topology = found
    text = said(plan_of(intent, topology))
    words = " ".join((*text["Attachment of hosts"], *text["Addresses"], *text["AS numbers"]))
    if topology.gateways:
        assert f"VLANs {ranges([gateway.vlan for gateway in topology.gateways])}." in words.replace("VLAN ", "VLANs ")
        assert f"{topology.gateways[0].subnet}, gateway {topology.gateways[0].address.ip}" in words
    if topology.bonds:
        assert f"{len(topology.bonds)} LAG" in words
    assert ("one prefix per switch" in words) == bool(topology.summaries)
    leaf = next(node for node in topology.nodes if node.role is Role.LEAF)
    assert f"{leaf.asn}" in words
    assert f"{leaf.loopback}" in words
    reflectors = sum(node.reflector for node in topology.nodes)
    shown = re.search(r"([\d,]+) route reflectors?,", " ".join(text["Routing"]))
    assert (number(shown[1]) if shown else 0) == reflectors


@settings(max_examples=examples(60))
@given(fabrics())
def test_the_classic_plan_is_said_to_have_no_room_only_where_it_is_not_used(
    found: tuple[FabricIntent, Topology],
) -> None:
    intent, topology = found
    subject = Subject(plan_of(intent, topology))
    assert (outgrown(subject) == []) == isinstance(address_plan(Dimensions(intent)), ClassicPlan)


@pytest.mark.parametrize("name", sorted(path.stem for path in FABRICS.glob("*.yml")))
def test_reasons_for_the_wide_plan_are_given_where_it_is_used(name: str) -> None:
    intent = load_intent(FABRICS / f"{name}.yml")
    subject = Subject(plan_of(intent, Topology(fabric=name, nodes=(), links=())))
    assert (outgrown(subject) == []) == isinstance(address_plan(Dimensions(intent)), ClassicPlan)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"profile__family": "ipv6"}, "its addresses are IPv6"),
        ({"profile__addresses": {"loopbacks": "10.3.0.0/16"}}, "the intent states pools"),
        ({"backend__planes": 2, "backend__segments__rail_switches": 1}, "it has several planes"),
        ({"hosts__gpus": 16}, "it may grow to 16 rails, more than 15"),
        (
            {
                "profile__underlay": "numbered",
                "backend__segments__model": "7060x6-64pe",
                "backend__spines": {"count": 66, "links_per_leaf": 1, "rate_gbps": 400, "breakout": True}
                | {"model": "7060x6-64pe"},
            },
            "a switch has 66 numbered uplinks, more than 64",
        ),
        ({"backend__growth": {"segments": 1}, "backend__segments__count": 1}, ""),
    ],
)
def test_each_reason_for_the_wide_plan_is_said(changes: dict[str, object], reason: str) -> None:
    intent = fabric(**changes)
    plan = plan_of(intent, wire(intent))
    assert isinstance(address_plan(Dimensions(intent)), WidePlan) == bool(reason)
    assert "; ".join(outgrown(Subject(plan))) == reason
    first = said(plan)["Addresses"][0]
    assert f"is too small ({reason})" in first if reason else "has room" in first


def test_the_cages_that_an_intent_names_decide_the_uplinks() -> None:
    ports = {rail: [rail, rail + 8] for rail in range(1, 9)}
    text = explain(backend__segments__ports=ports, hosts__nic_ports=1, backend__segments__rail_switches=1)
    assert text["Uplinks"][1] == (
        "The hosts on the 16 cages that the intent assigns to rails send what 16 uplinks of 400 Gb/s carry."
    )
    assert "The intent states the cages of each rail: rail 1 has 1, 9." in text["Ports of a rail switch"][1]


@settings(max_examples=examples(40))
@given(fabrics())
def test_a_decoded_address_encodes_to_itself(found: tuple[FabricIntent, Topology]) -> None:
    intent, topology = found
    plan = address_plan(Dimensions(intent))
    if not isinstance(plan, WidePlan) or intent.hosts.attach != "routed":
        return
    decoded = said(plan_of(intent, topology))["Addresses"][2]
    shown = re.search(r" has ([0-9a-f.:]+)/\d+: (.*)\.$", decoded)
    assert shown is not None
    values = {name: int(value) for name, value in (part.rsplit(" ", 1) for part in shown[2].split(", "))}
    address = plan.host_fields.number([values.get(name, 0) for name in HOST_FIELDS])
    assert str(type(plan.pools.hosts.network_address)(address)) == shown[1]


@settings(max_examples=examples(40))
@given(fabrics())
def test_thresholds_add_up_as_they_are_said_and_are_those_of_the_plan(found: tuple[FabricIntent, Topology]) -> None:
    intent, topology = found
    plan = plan_of(intent, topology)
    ports = {port.headroom for kind in plan.buffers for port in kind.plan.uncut.ports}
    shown = set()
    for statement in said(plan)["Thresholds of the lossless class"]:
        if statement.startswith("Headroom"):
            found_terms = re.findall(
                r"our frame ([\d,]+); the pause frame (\d+); .*= ([\d,]+); MAC, PHY and chip ([\d,]+); .* = ([\d,]+)\. "
                r"If half .* these ([\d,]+) bytes .* this is ([\d,]+) bytes\. The port may use ([\d,]+),",
                statement,
            )
            *terms, in_flight, mixed, worst = map(number, found_terms[0])
            assert sum(terms) == pytest.approx(in_flight, abs=3)
            shown.add(PortHeadroom(mixed_bytes=mixed, worst_bytes=worst))
    assert shown == ports


@settings(max_examples=examples(40))
@given(fabrics())
def test_every_kind_of_failure_has_a_sentence_with_its_figures(found: tuple[FabricIntent, Topology]) -> None:
    intent, topology = found
    domains = failure_domains(topology, intent)
    statements = said(plan_of(intent, topology))["Failures"]
    kinds_of_uneven = {domain.kind for domain in domains if domain.spread is not None}
    assert len(statements) == len(domains) + len(kinds_of_uneven)
    for statement, domain in zip(statements[: len(domains)], domains, strict=True):
        assert domain.example in statement
        assert (f"any of {domain.count:,}," in statement) == (domain.count > 1)
        if domain.affected:
            assert re.search(rf": {domain.affected:,} GPUs? loses? {domain.lost_percent:.4g} % of the band", statement)
        assert ("cut off" in statement and "none is" not in statement) == (domain.cut_off > 0)


def test_the_class_of_storage_is_said_with_its_share_and_headroom() -> None:
    shares = {"profile__lossless": {"weight": 60}}
    two, tcp = (
        said(plan_of(intent, wire(intent)))
        for intent in (
            fabric(**shares, profile__storage_class={"weight": 30}),
            fabric(**shares, profile__storage_class={"weight": 30, "protocol": "nvme-tcp"}),
        )
    )
    assert two["Thresholds of the lossless class"][1] == (
        "Storage has DSCP 34 and queue 4, pause frames of its own priority, the thresholds of RoCE, and headroom of "
        "its own. Under congestion it has 30 % of the bandwidth, and RoCE of the GPUs 60 %."
    )
    assert " with 2 classes each is " in two["Buffers"][0]
    assert tcp["Thresholds of the lossless class"][1] == (
        "Storage has DSCP 34 and queue 4, a lossy one without headroom: ECN marks every packet above Kmin, as DCTCP "
        "expects, and TCP repairs what is dropped. Under congestion it has 30 % of the bandwidth, and RoCE of the GPUs "
        "60 %."
    )
    assert "2 classes" not in tcp["Buffers"][0]

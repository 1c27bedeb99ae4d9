"""The rows that SONiC's tables have for each part of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Network
from typing import Any

import pytest

from railfab.device import (
    LOOPBACK,
    AaaServer,
    Action,
    Aggregate,
    BalancingMode,
    BfdTimers,
    BreakoutPort,
    Classifier,
    ClassThresholds,
    DeviceModel,
    EcnRamp,
    Family,
    GnmiService,
    HashField,
    Interface,
    Lag,
    LoadBalancing,
    ManagementAccess,
    Mlag,
    MlagKeepalive,
    NetworkInstance,
    NextHop,
    PacketTrimming,
    PfcWatchdog,
    PolicyRule,
    Port,
    PortProfile,
    PortQos,
    PrefixRange,
    Qos,
    Scheduling,
    Svi,
    SyslogServer,
    TrafficClass,
    Vlan,
    VlanMembership,
    Vtep,
    in_order,
)
from railfab.errors import LabError, UnsupportedFeature
from railfab.platforms import platform
from railfab.platforms.admission import admit
from railfab.testing.leaf_models import FABRIC, leaf

SONIC = platform("sonic")
Rows = Mapping[str, Mapping[str, Any]]


def rows(model: DeviceModel) -> Mapping[str, Rows]:
    """The tables of a model, which its text gives back."""
    found: Mapping[str, Rows] = SONIC.render(in_order(model))
    assert SONIC.parse(SONIC.text(found)) == in_order(model)
    return found


def with_interfaces(*more: Any) -> DeviceModel:
    model = leaf("sonic")
    return replace(model, interfaces=(*model.interfaces, *more))


def with_neighbor(**fields: Any) -> DeviceModel:
    model = leaf("sonic")
    assert model.bgp is not None
    return replace(model, bgp=replace(model.bgp, neighbors=(replace(model.neighbors[0], **fields),)))


def test_a_numbered_neighbour() -> None:
    tables = rows(leaf("sonic"))
    assert tables["BGP_GLOBALS"]["default"] == {
        "local_asn": "4200001001",
        "router_id": "10.255.1.1",
        "load_balance_mp_relax": "true",
    }
    assert tables["BGP_NEIGHBOR"] == {
        "default|10.32.0.0": {"asn": "65001", "admin_status": "up", "keepalive": "3", "holdtime": "9"}
    }
    assert tables["BGP_NEIGHBOR_AF"] == {
        "default|10.32.0.0|ipv4_unicast": {
            "admin_status": "up",
            "route_map_in": ["fabric"],
            "route_map_out": ["fabric"],
        }
    }
    assert tables["INTERFACE"] == {
        "Ethernet0": {},
        "Ethernet0|10.16.0.0/31": {},
        "Ethernet4": {},
        "Ethernet4|10.32.0.1/31": {},
    }


def test_bfd_has_timers_where_they_are_not_frrs_own() -> None:
    row = rows(with_neighbor(bfd=BfdTimers(interval_ms=300, multiplier=3)))["BGP_NEIGHBOR"]["default|10.32.0.0"]
    assert {name for name in row if "bfd" in name or "minimum" in name} == {"bfd"}
    row = rows(with_neighbor(bfd=BfdTimers(interval_ms=100, multiplier=5, receive_ms=200)))["BGP_NEIGHBOR"]
    timers = {"desired_minimum_tx_interval": "100", "required_minimum_receive": "200", "detection_multiplier": "5"}
    assert timers.items() <= row["default|10.32.0.0"].items()


@pytest.mark.parametrize(
    ("next_hop", "fields"),
    [
        (NextHop.SELF, {"nhself": "true", "nexthop_self_force": "true"}),
        (NextHop.UNCHANGED, {"unchanged_nexthop": "true"}),
    ],
)
def test_next_hops(next_hop: NextHop, fields: Mapping[str, str]) -> None:
    families = (Family.IPV4, Family.EVPN)
    tables = rows(with_neighbor(next_hop=next_hop, families=families, prefix_limit=7))["BGP_NEIGHBOR_AF"]
    assert fields.items() <= tables["default|10.32.0.0|l2vpn_evpn"].items()
    limit = {"max_prefix_limit": "7", "max_prefix_warning_only": "true"}
    assert limit.items() <= tables["default|10.32.0.0|ipv4_unicast"].items()
    assert not limit.items() & tables["default|10.32.0.0|l2vpn_evpn"].items()


def test_a_rule_of_both_families_is_two_entries_with_a_set_each() -> None:
    rule = PolicyRule(
        action=Action.PERMIT,
        prefixes=(
            PrefixRange(prefix=IPv4Network("10.0.0.0/8"), ge=24, le=32),
            PrefixRange(prefix=IPv6Network("fd00::/48"), ge=48, le=48),
        ),
        communities=("65000:1", "graceful-shutdown"),
        as_path="^65001_",
        set_communities=("65000:2",),
        set_local_preference=200,
        set_med=5,
        prepend=3,
    )
    tables = rows(replace(leaf("sonic"), policies=(replace(FABRIC, rules=(rule,), default=Action.PERMIT),)))
    settings = {
        "route_operation": "permit",
        "set_asn": "4200001001",
        "set_repeat_asn": "3",
        "set_community_inline": ["65000:2"],
        "set_local_pref": "200",
        "set_med": "5",
    }
    for entry in ("fabric_10", "fabric_15"):
        matches = {f"match_{kind}": entry for kind in ("prefix_set", "community", "as_path")}
        assert tables["ROUTE_MAP"][entry.replace("_", "|")] == {**matches, **settings}
    assert tables["ROUTE_MAP"]["fabric|65535"] == {"route_operation": "permit"}
    assert tables["PREFIX_SET"] == {"fabric_10": {"mode": "IPv4"}, "fabric_15": {"mode": "IPv6"}}
    assert set(tables["PREFIX"]) == {"fabric_10|10.0.0.0/8|24..32", "fabric_15|fd00::/48|exact"}
    assert tables["COMMUNITY_SET"]["fabric_10"]["community_member"] == ["65000:1", "graceful-shutdown"]
    assert tables["AS_PATH_SET"]["fabric_10"] == {"as_path_set_member": ["^65001_"]}


def test_aggregates_are_in_the_family_of_their_prefix() -> None:
    """The models take any prefix in any family."""
    aggregates = (
        Aggregate(prefix=IPv4Network("10.16.0.0/16"), summary_only=True),
        Aggregate(prefix=IPv6Network("fd00:16::/32"), summary_only=False),
    )
    model = leaf("sonic")
    assert model.bgp is not None
    found = rows(replace(model, bgp=replace(model.bgp, aggregates=aggregates)))
    assert found["BGP_GLOBALS_AF_AGGREGATE_ADDR"] == {
        "default|ipv4_unicast|10.16.0.0/16": {"summary_only": "true"},
        "default|ipv6_unicast|fd00:16::/32": {"summary_only": "false"},
    }


def test_vlans_with_a_gateway_and_an_overlay() -> None:
    tenant = NetworkInstance(name="red", rd="1:1", import_targets=("1:2",), export_targets=("1:3",), vni=5001)
    gateway = IPv4Interface("10.96.0.1/24")
    model = with_interfaces(
        Port(name="Ethernet8", network_instance=None, vlans=VlanMembership(untagged=10, tagged=(20,))),
        Svi(name="vlan10", vlan=10, network_instance="red", gateways=(gateway,), description="hosts", mtu_bytes=9000),
    )
    model = replace(
        model,
        vlans=(Vlan(vlan_id=10, name="rail1", vni=10010), Vlan(vlan_id=20, name="rail2")),
        network_instances=(tenant,),
        vtep=Vtep(source=LOOPBACK, address=IPv4Address("10.255.1.1")),
    )
    tables = rows(model)
    vlan10 = {"vlanid": "10", "alias": "rail1", "description": "hosts", "mtu": "9000"}
    assert tables["VLAN"] == {
        "Vlan10": vlan10,
        "Vlan20": {"vlanid": "20", "alias": "rail2"},
        "Vlan4094": {"vlanid": "4094"},
    }
    assert tables["VLAN_MEMBER"] == {
        "Vlan10|Ethernet8": {"tagging_mode": "untagged"},
        "Vlan20|Ethernet8": {"tagging_mode": "tagged"},
    }
    assert tables["VLAN_INTERFACE"] == {
        "Vlan10": {"vrf_name": "Vrfred", "static_anycast_gateway": "true"},
        "Vlan10|10.96.0.1/24": {},
        "Vlan4094": {"vrf_name": "Vrfred"},
    }
    assert tables["SAG"] == {"GLOBAL": {"gateway_mac": "00:00:5e:00:01:01"}}
    assert tables["VRF"] == {"Vrfred": {"vni": "5001"}}
    assert tables["VXLAN_TUNNEL"] == {"vtep": {"src_ip": "10.255.1.1"}}
    assert tables["VXLAN_TUNNEL_MAP"] == {
        "vtep|map_10010_Vlan10": {"vni": "10010", "vlan": "Vlan10"},
        "vtep|map_5001_Vlan4094": {"vni": "5001", "vlan": "Vlan4094"},
    }
    assert tables["BGP_GLOBALS_AF"]["Vrfred|l2vpn_evpn"] == {
        "route-distinguisher": "1:1",
        "import-rts": ["1:2"],
        "export-rts": ["1:3"],
        "advertise-ipv4-unicast": "true",
        "advertise-ipv6-unicast": "true",
    }


def test_all_vnis_are_announced_where_a_session_has_evpn() -> None:
    model = replace(
        with_neighbor(families=(Family.EVPN,)), vtep=Vtep(source=LOOPBACK, address=IPv4Address("10.255.1.1"))
    )
    assert rows(model)["BGP_GLOBALS_AF"]["default|l2vpn_evpn"] == {"advertise-all-vni": "true"}
    assert "BGP_GLOBALS_EVPN_VNI_RT" not in rows(model)
    bridged = replace(model, vlans=(Vlan(vlan_id=10, name="red", vni=10010),))
    assert rows(bridged)["BGP_GLOBALS_EVPN_VNI_RT"] == {
        "default|l2vpn_evpn|10010|65000:10010": {"route-target-type": "both"}
    }


def test_a_lag_of_two_switches() -> None:
    esi = "00:00:00:01:00:01:00:01:01:01"
    member = Port(name="Ethernet8", network_instance=None)
    lag = Lag(name="lag1", members=("Ethernet8",), esi=esi, system_mac="02:00:00:00:00:01")
    tables = rows(with_interfaces(member, lag))
    assert tables["PORTCHANNEL"] == {"PortChannel1": {"admin_status": "up", "system_mac": "02:00:00:00:00:01"}}
    assert tables["PORTCHANNEL_MEMBER"] == {"PortChannel1|Ethernet8": {}}
    assert tables["EVPN_ETHERNET_SEGMENT"] == {"PortChannel1": {"type": "TYPE_0_OPERATOR_CONFIGURED", "esi": esi}}


def test_a_pair_of_switches() -> None:
    lag = Lag(name="lag1", members=("Ethernet8",), mlag_id=1)
    peer_link = Lag(name="lag1000", members=("Ethernet12",))
    ports = (Port(name=f"Ethernet{number}", network_instance=None) for number in (8, 12))
    keepalive = MlagKeepalive(peer=IPv4Address("10.255.1.2"), source=IPv4Address("10.255.1.1"))
    model = replace(
        with_interfaces(*ports, lag, peer_link), mlag=Mlag(domain="7", peer_link="lag1000", keepalive=keepalive)
    )
    tables = rows(model)
    domain = {"source_ip": "10.255.1.1", "peer_ip": "10.255.1.2", "peer_link": "PortChannel1000"}
    assert tables["FEATURE"] == {"iccpd": {"state": "enabled"}}
    assert tables["MCLAG_DOMAIN"] == {"7": domain}
    assert tables["MCLAG_INTERFACE"] == {"7|PortChannel1": {"if_type": "PortChannel"}}


def test_hash_and_spraying() -> None:
    fields = (HashField.SOURCE_ADDRESS, HashField.DESTINATION_ADDRESS, HashField.SOURCE_PORT, HashField.QUEUE_PAIR)
    balancing = LoadBalancing(mode=BalancingMode.ADAPTIVE, fields=fields)
    tables = rows(replace(leaf("sonic"), load_balancing=balancing))
    names = ["SRC_IP", "DST_IP", "L4_SRC_PORT", "RDMA_BTH_DEST_QP"]
    assert tables["SWITCH_HASH"] == {"GLOBAL": {"ecmp_hash": names, "lag_hash": names}}
    assert tables["ARS_OBJECT"] == {"fabric": {"assign_mode": "per_packet_quality"}}
    flowlets = LoadBalancing(mode=BalancingMode.FLOWLET, flowlet_gap_us=256)
    found = rows(replace(leaf("sonic"), load_balancing=flowlets))["ARS_OBJECT"]["fabric"]
    assert found == {"assign_mode": "per_flowlet_quality", "flowlet_idle_time": "256"}


NTP_SERVER = {"association_type": "server", "resolve_as": "10.0.0.1"}


def test_management_access() -> None:
    model = replace(
        leaf("sonic"),
        management=ManagementAccess(
            network_instance="mgmt",
            ntp=("10.0.0.1",),
            syslog=(SyslogServer(address="10.0.0.2", port=6514, protocol="tcp", level="warning"),),
            aaa=(AaaServer(address="10.0.0.3"), AaaServer(address="10.0.0.4", protocol="radius")),
            gnmi=GnmiService(port=8080, tls_profile="fabric"),
            banner="authorised users only",
        ),
    )
    tables = rows(model)
    assert tables["MGMT_VRF_CONFIG"] == {"vrf_global": {"mgmtVrfEnabled": "true"}}
    assert (tables["NTP"], tables["NTP_SERVER"]) == ({"global": {"vrf": "mgmt"}}, {"10.0.0.1": NTP_SERVER})
    collector = {"port": "6514", "protocol": "tcp", "severity": "warn", "vrf": "mgmt"}
    assert tables["SYSLOG_SERVER"] == {"10.0.0.2": collector}
    assert tables["TACPLUS_SERVER"] == {"10.0.0.3": {"vrf": "mgmt"}}
    assert tables["RADIUS_SERVER"] == {"10.0.0.4": {"vrf": "mgmt"}}
    assert tables["GNMI"] == {
        "gnmi": {"port": "8080", "client_auth": "false", "user_auth": "password", "vrf": "mgmt"},
        "certs": {
            "server_crt": "/etc/sonic/telemetry/fabric.cer",
            "server_key": "/etc/sonic/telemetry/fabric.key",
        },
    }
    assert tables["BANNER_MESSAGE"] == {"global": {"state": "enabled", "login": "authorised users only"}}
    assert not any("passkey" in text for text in json.dumps(tables).split('"'))


def test_servers_in_another_vrf_than_that_of_the_management_port_are_refused() -> None:
    """`NTP|global vrf` is mgmt or default (sonic-ntp), and so is that of AAA servers."""
    links = NetworkInstance(name="management")
    model = replace(leaf("sonic"), network_instances=(links,))
    with pytest.raises(UnsupportedFeature) as refused:
        admit(replace(model, management=ManagementAccess(network_instance=links.name, ntp=("10.0.0.1",))), SONIC)
    assert str(refused.value) == (
        f"{model.name}: platform sonic does not support servers_in_vrf_of_links. "
        "Choose another platform, or change management.isolation in the intent."
    )
    assert admit(replace(model, management=ManagementAccess(network_instance="mgmt", ntp=("10.0.0.1",))), SONIC)


def spectrum(*, shared_headroom: bool, rate_gbps: int | None) -> DeviceModel:
    """A switch with NVIDIA's chip, a lossless class, and one port: a whole cage, or, without a speed, a part of one."""
    thresholds = ClassThresholds(traffic_class="roce", xon_offset_bytes=18_432, headroom_bytes=86_016, alpha=1.0)
    qos = Qos(
        classes=(TrafficClass(name="roce", queue=3, scheduling=Scheduling.WEIGHTED, weight=90, pfc_priority=3),),
        default_class="roce",
        classifiers=(),
        profiles=(PortProfile(name="fast", thresholds=(thresholds,)),),
        ports=(PortQos(interface="Ethernet0", profile="fast", pfc=(3,)),),
        watchdog=None,
        headroom_pool_bytes=9_000_000 if shared_headroom else None,
        shared_pool_bytes=50_000_000,
    )
    port = Port(name="Ethernet0", rate_gbps=rate_gbps)
    breakouts = () if rate_gbps else (BreakoutPort(cage="Ethernet0", lanes=2, rate_gbps=400),)
    found = replace(leaf("sonic"), breakouts=breakouts, interfaces=(port,), bgp=None, policies=(), qos=qos)
    return admit(in_order(replace(found, silicon="Spectrum-4")), SONIC)


@pytest.mark.parametrize(
    ("shared_headroom", "rate_gbps", "size", "xon"),
    [
        (True, None, 19_456, 19_456),
        (True, 800, 38_912, 38_912),
        (False, None, 105_472, 19_456),
        (True, 200, 19_456, 19_456),
    ],
)
def test_a_lossless_group_of_nvidias_chips_resumes_at_a_buffer_of_its_own(
    shared_headroom: bool, rate_gbps: int | None, size: int, xon: int
) -> None:
    """The figures are those of NVIDIA's pg_profile_lookup.ini, for 400 Gb/s and 5 m without a shared headroom."""
    tables = rows(spectrum(shared_headroom=shared_headroom, rate_gbps=rate_gbps))
    assert tables["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] == {"fabric": {"3": "3"}}
    assert tables["PORT_QOS_MAP"]["Ethernet0"]["pfc_to_pg_map"] == "fabric"
    assert tables["BUFFER_PROFILE"]["pg_fast_roce"] == {
        "pool": "ingress_lossless_pool",
        "size": str(size),
        "xon": str(xon),
        "xoff": "86016",
        "dynamic_th": "0",
    }


def test_more_time_servers_than_the_models_take_are_refused() -> None:
    servers = ManagementAccess(ntp=tuple(f"10.0.0.{number}" for number in range(1, 12)))
    with pytest.raises(UnsupportedFeature, match="ntp_servers 11 is above platform sonic's limit of 10"):
        admit(replace(leaf("sonic"), management=servers), SONIC)


ROCE = TrafficClass(name="roce", queue=3, scheduling=Scheduling.WEIGHTED, weight=90, pfc_priority=4, obeyed_priority=5)
CNP = TrafficClass(name="cnp", queue=6, scheduling=Scheduling.STRICT, rate_percent=10)
QOS = Qos(
    classes=(TrafficClass(name="default", queue=0, scheduling=Scheduling.WEIGHTED, weight=10), ROCE, CNP),
    default_class="default",
    classifiers=(Classifier(name="hosts", dscp=((26, "roce"), (48, "cnp"))),),
    profiles=(
        PortProfile(
            name="fast",
            thresholds=(
                ClassThresholds(
                    traffic_class="roce",
                    ecn=EcnRamp(kmin_bytes=1000, kmax_bytes=3000, pmax_percent=20),
                    xon_offset_bytes=18_432,
                    headroom_bytes=400_000,
                    alpha=0.5,
                ),
            ),
        ),
    ),
    ports=(PortQos(interface="Ethernet0", profile="fast", classifier="hosts", pfc=(4,), ecn=("roce",)),),
    watchdog=PfcWatchdog(detect_ms=300, recover_ms=600),
    headroom_pool_bytes=2_000_000,
    shared_pool_bytes=6_000_000,
    trimming=PacketTrimming(size_bytes=256, dscp=20, traffic_class="cnp"),
)


@pytest.fixture
def quality() -> Mapping[str, Rows]:
    """Tables of a switch of which the priority that a port sends, that it obeys, and the queue differ."""
    model = leaf("sonic")
    return rows(replace(model, interfaces=with_a_speed(model), qos=QOS))


def with_a_speed(model: DeviceModel) -> tuple[Interface, ...]:
    """The interfaces, of which the first is a port of 400 Gb/s."""
    port, *others = model.interfaces
    assert isinstance(port, Port)
    return replace(port, rate_gbps=400), *others


def test_a_priority_that_is_sent_and_one_that_is_obeyed(quality: Mapping[str, Rows]) -> None:
    assert quality["DSCP_TO_TC_MAP"]["hosts"]["26"] == "3"
    assert quality["DSCP_TO_TC_MAP"]["hosts"]["48"] == "6"
    assert set(quality["DSCP_TO_TC_MAP"]["hosts"]) == {str(point) for point in range(64)}
    assert quality["TC_TO_PRIORITY_GROUP_MAP"]["fabric"]["3"] == "4"
    assert quality["MAP_PFC_PRIORITY_TO_QUEUE"] == {"fabric": {"5": "3"}}
    assert quality["PORT_QOS_MAP"] == {
        "Ethernet0": {
            "dscp_to_tc_map": "hosts",
            "tc_to_queue_map": "fabric",
            "tc_to_pg_map": "fabric",
            "pfc_to_queue_map": "fabric",
            "pfc_enable": "4",
            "pfcwd_sw_enable": "4",
        }
    }
    assert quality["PFC_WD"] == {
        "GLOBAL": {"POLL_INTERVAL": "150"},
        "Ethernet0": {"action": "drop", "detection_time": "300", "restoration_time": "600"},
    }


def test_buffers_of_a_lossless_class(quality: Mapping[str, Rows]) -> None:
    assert quality["BUFFER_PG"] == {
        "Ethernet0|0": {"profile": "ingress_lossy_profile"},
        "Ethernet0|4": {"profile": "pg_fast_roce"},
    }
    assert quality["BUFFER_PROFILE"]["pg_fast_roce"] == {
        "pool": "ingress_lossless_pool",
        "size": "0",
        "xon": "0",
        "xon_offset": "18432",
        "xoff": "400000",
        "dynamic_th": "-1",
    }
    assert quality["BUFFER_POOL"] == {
        "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": "6000000", "xoff": "2000000"},
        "egress_lossless_pool": {"type": "egress", "mode": "static", "size": "8000000"},
        "egress_lossy_pool": {"type": "egress", "mode": "dynamic", "size": "6000000"},
    }
    whole = {"pool": "egress_lossless_pool", "size": "0", "static_th": "8000000"}
    assert quality["BUFFER_PROFILE"]["egress_fast_roce"] == whole


def test_marks_rates_and_trimming(quality: Mapping[str, Rows]) -> None:
    assert quality["QUEUE"] == {
        "Ethernet0|0": {"scheduler": "default"},
        "Ethernet0|3": {"scheduler": "roce", "wred_profile": "fast_roce"},
        "Ethernet0|6": {"scheduler": "cnp_400g"},
    }
    rate = str(400 * 10**9 // 8 // 10)
    assert quality["SCHEDULER"]["cnp_400g"] == {"type": "STRICT", "meter_type": "bytes", "cir": rate, "pir": rate}
    ramp = quality["WRED_PROFILE"]["fast_roce"]
    for colour in ("green", "yellow", "red"):
        ends = [ramp[f"{colour}_{name}"] for name in ("min_threshold", "max_threshold", "drop_probability")]
        assert ends == ["1000", "3000", "20"]
    assert quality["SWITCH_TRIMMING"] == {"GLOBAL": {"size": "256", "dscp_value": "20", "queue_index": "6"}}
    profiles = quality["BUFFER_PROFILE"]
    assert profiles["egress_fast_default"]["packet_discard_action"] == "trim"
    assert "packet_discard_action" not in profiles["egress_fast_cnp"]


def test_a_class_that_no_port_pauses_is_dropped_at_egress() -> None:
    port = replace(QOS.ports[0], pfc=())
    model = leaf("sonic")
    tables = rows(
        replace(
            model,
            interfaces=with_a_speed(model),
            qos=replace(QOS, ports=(port,)),
        )
    )
    assert tables["BUFFER_PROFILE"]["egress_fast_roce"]["pool"] == "egress_lossy_pool"
    assert "pfc_enable" not in tables["PORT_QOS_MAP"]["Ethernet0"]


def test_qos_of_a_lag_is_that_of_its_members() -> None:
    member = Port(name="Ethernet8", rate_gbps=400, network_instance=None)
    qos = replace(QOS, ports=(replace(QOS.ports[0], interface="lag1"),))
    model = replace(with_interfaces(member, Lag(name="lag1", members=("Ethernet8",))), qos=qos)
    assert set(rows(model)["PORT_QOS_MAP"]) == {"Ethernet8"}


def test_a_split_cage() -> None:
    model = replace(leaf("sonic"), breakouts=(BreakoutPort(cage="Ethernet32", lanes=4, rate_gbps=100),))
    assert rows(model)["BREAKOUT_CFG"] == {"Ethernet32": {"brkout_mode": "4x100G"}}


def test_a_virtual_switch_starts_with_its_own_ports() -> None:
    assert SONIC.startup is not None
    tables = json.loads(SONIC.startup(SONIC.render(leaf("sonic"))))
    port = tables["PORT"]["Ethernet4"]
    assert (port["lanes"], port["alias"], port["index"]) == ("29,30,31,32", "fortyGigE0/4", "1")
    assert port["admin_status"] == "up"
    assert tables["DEVICE_METADATA"]["localhost"]["hwsku"] == "Force10-S6000"


@pytest.mark.parametrize("name", ["Ethernet128", "Ethernet2", "eth0"])
def test_a_virtual_switch_has_no_other_port(name: str) -> None:
    assert SONIC.startup is not None
    with pytest.raises(LabError) as refused:
        SONIC.startup(SONIC.render(with_interfaces(Port(name=name))))
    assert str(refused.value).startswith(f"interface {name}: is no port of a virtual switch")


def test_a_neighbor_without_timers_has_those_of_frr() -> None:
    """FRR's profile `traditional`: 60 and 180 s; with one of both stated, the other is still the default."""
    tree = json.loads(SONIC.text(SONIC.render(leaf("sonic"))))
    (first, *_) = tree["BGP_NEIGHBOR"].values()
    timers = {name: int(first[name]) for name in ("keepalive", "holdtime")}
    for left, expected in (
        ((), (60, 180)),
        (("keepalive",), (timers["keepalive"], 180)),
        (("holdtime",), (60, timers["holdtime"])),
    ):
        for row in tree["BGP_NEIGHBOR"].values():
            for name, value in timers.items():
                row.pop(name, None)
                if name in left:
                    row[name] = str(value)
        bgp = SONIC.parse(json.dumps(tree)).bgp
        assert bgp is not None
        assert {(found.timers.keepalive_s, found.timers.hold_s) for found in bgp.neighbors} == {expected}

"""Single edits of the configuration of an FRR leaf: text, what replaces it, and what an audit has to say.

Every text that FRR would refuse is marked by its code; vtysh takes all others.
"""

from __future__ import annotations

from dataclasses import dataclass

ROUTER = " bgp router-id 10.255.1.1\n"
FAMILY = "  redistribute connected\n"
UPLINK = " description pod1-spine2 swp1\n"
HOST = " description pod1-seg1-host1 rail1-p0\n"
TOP = "!\ninterface lo\n"
EXPORT = " match ip address prefix-list fabric-export-10\n"
PROFILE = "bfd\n profile FABRIC-300X3\n"
BFD = " neighbor swp15 bfd\n neighbor swp15 bfd profile FABRIC-300X3\n"


@dataclass(frozen=True, slots=True)
class Edit:
    """expected: code of a finding, as that of a hazard."""

    name: str
    old: str
    new: str
    expected: str = ""


def added(name: str, behind: str, line: str, expected: str = "") -> Edit:
    """A line more behind one, at its indentation; before the first section at the top."""
    if behind == TOP:
        return Edit(name, TOP, f"{line}\n{TOP}", expected)
    indent = " " * (len(behind.splitlines()[-1]) - len(behind.splitlines()[-1].lstrip()))
    return Edit(name, behind, f"{behind}{indent}{line}\n", expected)


def taken(name: str, lines: str, expected: str) -> Edit:
    return Edit(name, lines, "", expected)


HARMFUL = (
    # routes beside BGP
    added("a blackhole route", TOP, "ip route 10.17.0.0/16 blackhole", "blackhole-route"),
    added("a route to Null0", TOP, "ip route 10.17.2.0/31 Null0", "blackhole-route"),
    added("a blackhole route by mask", TOP, "ip route 10.17.0.0 255.255.0.0 blackhole", "blackhole-route"),
    added("a rejecting route", TOP, "ip route 10.255.0.1/32 reject", "blackhole-route"),
    added("a static route over one uplink", TOP, "ip route 10.17.2.0/24 swp15", "static-route"),
    added("a filter of installed routes", TOP, "ip protocol bgp route-map fabric-import", "routes-not-installed"),
    added("no installed routes", TOP, "bgp no-rib", "routes-not-installed"),
    added("no forwarding", TOP, "no ip forwarding", "forwarding-off"),
    added("next hops through the default route", TOP, "ip nht resolve-via-default", "competing-routes"),
    added("OSPF", TOP, "router ospf", "competing-routes"),
    added("a policy route at a host port", HOST, "pbr-policy elsewhere", "static-route"),
    added("link detection off", UPLINK, "no link-detect", "dead-link-used"),
    added("other distances", ROUTER, "distance bgp 250 250 250", "competing-routes"),
    Edit("a small MTU", "swp15 mtu 9000 up", "swp15 mtu 1500 up", "small-mtu"),
    Edit("a port that is down", "swp16 mtu 9000 up", "swp16 mtu 9000 down", "port-disabled"),
    # paths
    Edit("one path", "  maximum-paths 64\n", "  maximum-paths 1\n", "fewer-paths"),
    taken("equal AS paths only", " bgp bestpath as-path multipath-relax\n", "no-multipath-relax"),
    added("AS path length ignored", ROUTER, "bgp bestpath as-path ignore", "as-path-loops"),
    added("bandwidth as weight", ROUTER, "bgp bestpath bandwidth skip-missing", "weighted-ecmp"),
    added("a weight", FAMILY, "neighbor swp15 weight 100", "preferred-path"),
    added("a local preference", " match ip address prefix-list fabric-import-20\n", "set weight 7", "preferred-path"),
    added("a next hop", EXPORT, "set ip next-hop 10.255.0.1", "static-route"),
    added("a condition more", EXPORT, "match peer 10.0.0.1", "wrong-route-policy"),
    added("a community that stays", EXPORT, "set community no-export additive", "wrong-route-policy"),
    Edit("a longer AS path", EXPORT, f"{EXPORT} set as-path prepend 4200001001\n", "preferred-path"),
    Edit("a denied entry", "fabric-export permit 20", "fabric-export deny 20", "configuration-differs"),
    taken("no redistribution", FAMILY, "not-announced"),
    added("redistribution of the kernel's routes", FAMILY, "redistribute kernel", "unplanned-announcement"),
    added("a default route for the fabric", FAMILY, "neighbor swp15 default-originate", "unplanned-announcement"),
    added("a summary", FAMILY, "aggregate-address 10.17.0.0/16 summary-only", "unplanned-announcement"),
    # loops, sessions
    added("its own AS accepted", FAMILY, "neighbor swp15 allowas-in", "as-path-loops"),
    added("private AS numbers removed", FAMILY, "neighbor swp16 remove-private-AS", "as-path-loops"),
    added("an unchanged next hop", FAMILY, "neighbor swp15 attribute-unchanged", "next-hop-unchanged"),
    added("a session shut down with a message", BFD, "neighbor swp15 shutdown message spare", "session-down"),
    added("all sessions shut down", ROUTER, "bgp shutdown", "session-down"),
    added("a password", BFD, "neighbor swp15 password secret", "session-mismatch"),
    added("TTL security", BFD, "neighbor swp15 ttl-security hops 1", "session-mismatch"),
    added("another AS", BFD, "neighbor swp15 local-as 65010", "session-mismatch"),
    added("a limit that ends the session", FAMILY, "neighbor swp15 maximum-prefix 10", "prefix-limit"),
    added("a prefix list of the session", FAMILY, "neighbor swp15 prefix-list some in", "wrong-route-policy"),
    added("no family by default", ROUTER, "no bgp default ipv4-unicast", "family-off"),
    added("slow router advertisements", UPLINK, "ipv6 nd ra-interval 600", "slow-session"),
    Edit(
        "a neighbour of another AS",
        "swp15 interface v6only remote-as 65001",
        "swp15 interface v6only remote-as 65009",
        "session-down",
    ),
    # time
    taken("no BFD", BFD, "bfd-off"),
    added("BFD taken back", BFD, "no neighbor swp15 bfd", "bfd-off"),
    Edit(
        "a BFD profile that does not exist",
        "swp15 bfd profile FABRIC-300X3",
        "swp15 bfd profile FABRIC",
        "bfd-detection-time",
    ),
    added("slow BFD", PROFILE, " transmit-interval 2000", "bfd-detection-time"),
    added("passive BFD", PROFILE, " passive-mode", "bfd-detection-time"),
    added("BFD down", PROFILE, " shutdown", "bfd-off"),
    added("graceful restart", ROUTER, "bgp graceful-restart", "stale-routes"),
    added("the F bit", ROUTER, "bgp graceful-restart preserve-fw-state", "stale-routes"),
    added("sessions that survive their link", ROUTER, "no bgp fast-external-failover", "no-fast-failover"),
    Edit("the traditional profile", "frr defaults datacenter", "frr defaults traditional", "slow-hold-time"),
    added("an advertisement interval", BFD, "neighbor swp15 advertisement-interval 30", "delayed-routes"),
    added("a long hold time", ROUTER, "timers bgp 60 180", "slow-hold-time"),
    added("no hold time", BFD, "neighbor swp15 timers 0 0", "no-hold-time"),
    added("a long hold time required", ROUTER, "bgp minimum-holdtime 60", "session-mismatch"),
    added("late attempts", BFD, "neighbor swp15 timers connect 120", "slow-session"),
    added("dampening", ROUTER, "bgp dampening", "route-dampening"),
    added("a delay of updates", ROUTER, "update-delay 300", "delayed-routes"),
    added("a drain that was left", ROUTER, "bgp graceful-shutdown", "drained"),
    added("a drain of the whole switch", TOP, "bgp graceful-shutdown", "drained"),
    added("routing in another class", TOP, "bgp session-dscp 26", "control-plane-qos"),
    # what FRR refuses
    added("an unknown line", ROUTER, "bgp bogus 7", "configuration-refused"),
    added("a misspelt line", UPLINK, "ip adress 10.0.0.1/31", "configuration-refused"),
    Edit("a value out of range", "  maximum-paths 64\n", "  maximum-paths 640\n", "configuration-refused"),
)
REFUSED = ("configuration-refused",)

HARMLESS = (
    Edit("another description", UPLINK, " description to the second spine\n"),
    taken("no description", UPLINK, ""),
    added("a description of a session", BFD, "neighbor swp15 description to the second spine"),
    Edit("comments", TOP, f"! hostname of the rack: r7\n# left by hand\n{TOP}"),
    Edit("another order", BFD, f"{BFD.splitlines()[1]}\n{BFD.splitlines()[0]}\n"),
    Edit("the version of FRR", "frr defaults", "frr version 8.4.4\nfrr defaults"),
    Edit("other white space", UPLINK, f"{UPLINK.rstrip()}  \n\n"),
    Edit("another level of messages", "log syslog informational", "log syslog warnings"),
    added("a log file", TOP, "log file /var/log/frr/frr.log debugging"),
    added("exact times", TOP, "log timestamp precision 6"),
    added("a banner", TOP, "banner motd line Property of the cluster"),
    Edit("a terminal", TOP, f"line vty\n exec-timeout 5 0\nexit\n{TOP}"),
    added("an unused prefix list", TOP, "ip prefix-list spare seq 5 permit 192.0.2.0/24"),
    added("an unused access list", TOP, "access-list spare seq 5 permit 192.0.2.0/24"),
    Edit("an unused route map", TOP, f"route-map spare permit 10\n set weight 7\nexit\n{TOP}"),
    Edit("an unused BFD profile", PROFILE, f"bfd\n profile spare\n  shutdown\n exit\n{PROFILE.partition(chr(10))[2]}"),
    Edit(
        "an unused policy route",
        TOP,
        f"pbr-map spare seq 5\n match dst-ip 192.0.2.0/24\n set nexthop 192.0.2.1\nexit\n{TOP}",
    ),
    added("a route for the management network", TOP, "ip route 192.0.2.0/24 198.51.100.1"),
    added("a default route of the management network", TOP, "ip route 0.0.0.0/0 198.51.100.1"),
    added("a blackhole for documentation prefixes", TOP, "ip route 192.0.2.0/24 blackhole"),
    added("stored updates", FAMILY, "neighbor swp15 soft-reconfiguration inbound"),
    added("logged sessions", ROUTER, "bgp log-neighbor-changes"),
    added("no IPv6 forwarding in a fabric without IPv6", TOP, "no ipv6 forwarding"),
    added("debugging", TOP, "debug bgp neighbor-events"),
    Edit("other names of objects", "fabric-import", "from-fabric"),
    Edit("another name of a BFD profile", "FABRIC-300X3", "fast"),
    Edit("another name of a list", "fabric-export-10", "loopbacks"),
    Edit("a limit with a warning as well", BFD, f"{BFD} neighbor swp15 tcp-mss 4096\n"),
)

"""The lines of FRR that NVUE makes of `router policy` and of BGP in the default VRF, written from NVIDIA's guide.

The pages "Route Filtering and Redistribution" and "Optional BGP Configuration" of cumulus-linux-517 show the commands
of NVUE beside those of vtysh.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.platforms.shared.json_tree import Json

FAMILIES = {"ipv4-unicast": "ipv4 unicast", "ipv6-unicast": "ipv6 unicast", "l2vpn-evpn": "l2vpn evpn"}
MATCHES = {"community-list": "community", "as-path-list": "as-path"}
BANDWIDTHS = {"multipaths": "num-multipaths", "cumulative": "cumulative"}


def lines_of(tree: Json) -> Iterator[str]:
    router = tree.get("router", {})
    yield from _policies(router.get("policy", {}))
    for name, profile in router.get("bfd", {}).get("profile", {}).items():
        yield from ("bfd", f" profile {name}", f"  detect-multiplier {profile['detect-multiplier']}")
        yield f"  transmit-interval {profile['min-tx-interval']}"
        yield f"  receive-interval {profile['min-rx-interval']}"
        yield from (" exit", "exit")
    bgp = tree.get("vrf", {}).get("default", {}).get("router", {}).get("bgp")
    if bgp and "bgp" in router:
        yield f"router bgp {router['bgp']['autonomous-system']}"
        yield from (f" {line}" for line in _speaker(router["bgp"], bgp))
        yield "exit"


def _policies(policy: Json) -> Iterator[str]:
    for name, found in policy.get("prefix-list", {}).items():
        for number, rule in found["rule"].items():
            for prefix, lengths in rule["match"].items():
                bounds = [f" {word} {lengths[key]}" for word, key in BOUNDS.items() if key in lengths]
                word = "ip" if found["type"] == "ipv4" else "ipv6"
                yield f"{word} prefix-list {name} seq {number} {rule['action']} {prefix}{''.join(bounds)}"
    for name, found in policy.get("community-list", {}).items():
        for number, rule in found["rule"].items():
            for community in rule["community"]:
                yield f"bgp community-list standard {name} seq {number} {rule['action']} {community}"
    for name, found in policy.get("as-path-list", {}).items():
        for number, rule in found["rule"].items():
            yield f"bgp as-path access-list {name} seq {number} {rule['action']} {rule['aspath-exp']}"
    for name, found in policy.get("route-map", {}).items():
        for number, rule in found["rule"].items():
            (action,) = rule["action"]
            yield f"route-map {name} {action} {number}"
            yield from (f" {line}" for line in _conditions(rule.get("match", {})))
            yield from (f" set {line}" for line in _changes(rule.get("set", {})))
            yield "exit"


BOUNDS = {"ge": "min-prefix-len", "le": "max-prefix-len"}


def _conditions(match: Json) -> Iterator[str]:
    if "ip-prefix-list" in match:
        word = "ip" if match["type"] == "ipv4" else "ipv6"
        yield f"match {word} address prefix-list {match['ip-prefix-list']}"
    yield from (f"match {word} {match[key]}" for key, word in MATCHES.items() if key in match)


def _changes(found: Json) -> Iterator[str]:
    if "as-path-prepend" in found:
        yield f"as-path prepend {found['as-path-prepend']['as'].replace(',', ' ')}"
    if "community" in found:
        yield f"community {' '.join(found['community'])}"
    if "ext-community-bw" in found:
        yield f"extcommunity bandwidth {BANDWIDTHS[found['ext-community-bw']]}"
    for key in ("local-preference", "metric"):
        if key in found:
            yield f"{key} {found[key]}"


def _speaker(speaker: Json, bgp: Json) -> Iterator[str]:
    if "router-id" in speaker:
        yield f"bgp router-id {speaker['router-id']}"
    if speaker.get("graceful-shutdown") == "enabled":
        yield "bgp graceful-shutdown"
    yield "no bgp ebgp-requires-policy"
    if bgp.get("path-selection", {}).get("multipath", {}).get("aspath-ignore") == "enabled":
        yield "bgp bestpath as-path multipath-relax"
    if "cluster-id" in bgp.get("route-reflection", {}):
        yield f"bgp cluster-id {bgp['route-reflection']['cluster-id']}"
    for peer, found in bgp.get("neighbor", {}).items():
        yield from _session(peer, found)
    for family, words in FAMILIES.items():
        found = bgp["address-family"].get(family, {})
        yield f"address-family {words}"
        yield from (f" {line}" for line in _family(family, found, bgp))
        yield "exit-address-family"


def _session(peer: str, found: Json) -> Iterator[str]:
    interface = " interface" if found["type"] == "unnumbered" else ""
    yield f"neighbor {peer}{interface} remote-as {found['remote-as']}"
    at = f"neighbor {peer}"
    if "description" in found:
        yield f"{at} description {found['description']}"
    yield f"{at} timers {found['timers']['keepalive']} {found['timers']['hold']}"
    for key, words in (("connection-retry", "timers connect"), ("route-advertisement", "advertisement-interval")):
        if key in found["timers"]:
            yield f"{at} {words} {found['timers'][key]}"
    for key, words in (("multihop-ttl", "ebgp-multihop"), ("update-source", "update-source")):
        if key in found:
            yield f"{at} {words} {found[key]}"
    if found.get("shutdown") == "enabled":
        yield f"{at} shutdown"
    if "capabilities" in found:
        yield f"{at} capability extended-nexthop"
    if "bfd" in found:
        yield f"{at} bfd profile {found['bfd']['profile']}"


def _family(family: str, found: Json, bgp: Json) -> Iterator[str]:
    for prefix, aggregate in found.get("aggregate-route", {}).items():
        yield f"aggregate-address {prefix}{' summary-only' if aggregate['summary-only'] == 'enabled' else ''}"
    if "multipaths" in found:
        yield from ("redistribute connected", f"maximum-paths {found['multipaths']['ebgp']}")
        yield f"maximum-paths ibgp {found['multipaths']['ibgp']}"
    for peer, session in bgp.get("neighbor", {}).items():
        own = session["address-family"].get(family, {})
        if own.get("state") == "disabled":
            yield f"no neighbor {peer} activate"
        if own.get("state") == "enabled":
            yield f"neighbor {peer} activate"
            yield from (f"neighbor {peer} {line}" for line in _session_family(own))


def _session_family(own: Json) -> Iterator[str]:
    for way, policy in own.get("policy", {}).items():
        yield f"route-map {policy['route-map']} {'in' if way == 'inbound' else 'out'}"
    if own.get("route-reflector-client") == "enabled":
        yield "route-reflector-client"
    if own.get("nexthop-setting") == "force":
        yield "next-hop-self force"
    if "attribute-mod" in own:
        yield "attribute-unchanged next-hop"
    if "prefix-limits" in own:
        yield f"maximum-prefix {own['prefix-limits']['inbound']['maximum']} warning-only"

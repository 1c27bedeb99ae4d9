"""The setting of a line of NX-OS: lines with the same one in a section replace each other."""

from __future__ import annotations

import re
from functools import lru_cache

_SINGLE = (
    r"mtu|speed|fec|duplex|description|name|vn-segment|state|remote-as|timers bgp|timers|advertisement-interval|"
    r"router-id|cluster-id|reconnect-interval|update-source|ebgp-multihop|maximum-paths(?: ibgp)?|maximum-prefix|"
    r"bfd interval|vrf member|switchport access vlan|switchport mode|switchport trunk native vlan|"
    r"switchport trunk allowed vlan(?! add| remove| except)|"
    r"spanning-tree port type|channel-group|service-policy type qos input|service-policy type queuing (?:in|out)put|"
    r"service-policy type network-qos|priority-flow-control (?:mode|watch-dog-interval|watch-dog interval|"
    r"watch-dog shutdown-multiplier|auto-restore multiplier)|random-detect|queue-limit|shape|pause|set qos-group|"
    r"ip address(?! .* secondary)|peer-keepalive|redistribute \w+|ip load-sharing|system jumbomtu|hostname|"
    r"source-interface|system-mac|esi|rd|fabric forwarding anycast-gateway-mac|lldp timer|lldp holdtime"
)
_KEYS = (
    (re.compile(rf"({_SINGLE})(?: .*)?"), r"\1"),
    (re.compile(r"(?:no )?(shutdown|switchport)"), r"\1"),
    (re.compile(r"(?:bandwidth|priority) .*"), "share"),
    (re.compile(r"route-map \S+ (in|out)"), r"route-map \1"),
    (re.compile(r"route-map (\S+) (?:permit|deny) (\d+)"), r"route-map \1 \2"),
    (re.compile(r"(ipv?6? prefix-list \S+ seq \d+) .*"), r"\1"),
    (re.compile(r"class-map type qos \S+ (\S+)"), r"class-map \1"),
)


@lru_cache(maxsize=4096)
def setting(line: str) -> str:
    """The words of a line before its value; of a line without a value, or one of a list, the whole line."""
    for pattern, words in _KEYS:
        if match := pattern.fullmatch(line):
            return match.expand(words)
    return line

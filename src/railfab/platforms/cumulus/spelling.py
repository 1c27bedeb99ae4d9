"""One spelling for equal configurations: that of 5.15, with every range of keys written out and every leaf as text.

NVUE shows equal things in several ways: `swp1-4` for four interfaces, `up: {}` for `up`. Cumulus Linux 5.14 and
earlier have `enable: on` where 5.15 has `state: enabled`, `ip` for `ipv4` and `ipv6`, and services under `service`
(cumulus-linux-515, New and Changed NVUE Commands). A text of either is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_interface
from typing import Any

from railfab.platforms.cumulus.names import expanded
from railfab.platforms.cumulus.schema import SchemaPlace, model
from railfab.platforms.shared.json_tree import Json, leaf_text

OLD_SWITCH = {"on": "enabled", "off": "disabled", "enable": "enabled", "disable": "disabled"}
OLD_ENABLE = {"on": "enable", "off": "disable", "enabled": "enable", "disabled": "disable"}
OLD_NAMES = {"enable": "state", "peer": "neighbor"}
"""Words of earlier releases, where the model has the other one at that place instead."""


def normal(tree: Mapping[str, Any]) -> Json:
    """The tree in one spelling. What `paths.txt` does not have stays as it is."""
    return _container(_interfaces(_services(_copied(tree))), model())


def merged(tree: Json, more: Mapping[str, Any]) -> Json:
    """Both trees together; where both have a leaf, that of the second one."""
    for name, child in more.items():
        former = tree.get(name)
        tree[name] = merged(former, child) if isinstance(former, dict) and isinstance(child, Mapping) else child
    return tree


def _copied(value: Any) -> Any:
    return {str(name): _copied(child) for name, child in value.items()} if isinstance(value, Mapping) else value


def _container(tree: Mapping[str, Any], place: SchemaPlace | None) -> Json:
    container: Json = {}
    for name, child in tree.items():
        for word, below in _words(name, place):
            value = _value(child, below)
            former = container.get(word)
            container[word] = merged(former, value) if isinstance(former, dict) and isinstance(value, dict) else value
    return container


def _words(name: str, place: SchemaPlace | None) -> Iterator[tuple[str, SchemaPlace | None]]:
    """The words that a key stands for, each with its place in the model."""
    below = place.step(name) if place is not None else None
    if place is None or below is not None:
        yield name, below
        return
    today = OLD_NAMES.get(name, name)
    if today in place.words:
        yield today, place.words[today]
        return
    several = [(word, place.step(word)) for word in expanded(name)]
    yield from several if several and all(below for _, below in several) else [(name, None)]


def _value(child: Any, place: SchemaPlace | None) -> Any:
    """Content of a place: a container, or a leaf as text."""
    if isinstance(child, Mapping):
        if place is not None and place.value is not None and place.value.is_list:
            return " ".join(child)
        if place is not None and place.value is not None and len(child) == 1:
            ((only, empty),) = child.items()
            if isinstance(empty, Mapping) and not empty:
                return _leaf(only, place)
        return _container(child, place)
    if place is not None and place.value is None and place.keys:
        several = list(_words(leaf_text(child), place))
        if all(below for _, below in several):
            return {word: {} for word, _ in several}
    return _leaf(leaf_text(child), place)


def _leaf(text: str, place: SchemaPlace | None) -> str:
    if place is None or place.value is None or text in place.value.words:
        return text
    names = OLD_SWITCH if place.value.is_switch else OLD_ENABLE if "enable" in place.value.words else {}
    return names.get(text, text)


def _services(tree: Json) -> Json:
    """The tree with NTP, syslog and LLDP of `service` under `system`."""
    service = tree.get("service")
    if not isinstance(service, dict):
        return tree
    left = {name: child for name, child in service.items() if name not in ("ntp", "syslog", "lldp")}
    moved: Json = {"lldp": service["lldp"]} if isinstance(service.get("lldp"), dict) else {}
    for vrf, part in _entries(service, "ntp"):
        merged(moved, {"ntp": {**part, "vrf": vrf}})
    for vrf, part in _entries(service, "syslog"):
        servers = {name: {**_dict(of), "vrf": vrf} for name, of in _dict(part.get("server")).items()}
        merged(moved, {"syslog": {**part, "server": servers}})
    rest = {name: child for name, child in tree.items() if name != "service"}
    if left:
        rest["service"] = left
    return merged(rest, {"system": moved}) if moved else rest


def _entries(tree: Json, name: str) -> Iterator[tuple[str, Json]]:
    for key, child in _dict(tree.get(name)).items():
        yield key, _dict(child)


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _interfaces(tree: Json) -> Json:
    """The tree with the addresses, the VRF and the protocols of `interface NAME ip` where 5.15 has them."""
    interfaces = tree.get("interface")
    if not isinstance(interfaces, dict):
        return tree
    changed = {
        name: _interface(child) if isinstance(child, dict) and isinstance(child.get("ip"), dict) else child
        for name, child in interfaces.items()
    }
    return {**tree, "interface": changed}


def _interface(entry: Json) -> Json:
    settings = {name: child for name, child in entry.items() if name != "ip"}
    left: Json = {}
    for name, child in entry["ip"].items():
        moved = dict(_moved(name, child))
        merged(settings, moved)
        if not moved:
            left[name] = child
    return {**settings, "ip": left} if left else settings


def _moved(name: str, child: Any) -> Iterator[tuple[str, Any]]:
    """Place of a part of `ip` in 5.15; nothing for one that stays."""
    if name == "vrf":
        yield "vrf", child
    elif name in ("ipv4", "ipv6"):
        yield name, child
    elif name == "neighbor-discovery":
        yield "ipv6", {name: child}
    elif name in ("igmp", "vrrp"):
        yield "ipv4", {name: child}
    elif name in ("address", "gateway"):
        yield from _by_family(name, child)
    elif name == "vrr" and isinstance(child, dict):
        yield from _vrr(child)


def _by_family(name: str, child: Any) -> Iterator[tuple[str, Any]]:
    """Addresses, or a client of DHCP, by family."""
    families: dict[str, Json] = {}
    for text, below in child.items() if isinstance(child, dict) else [(leaf_text(child), {})]:
        if text in ("dhcp", "dhcp6"):
            families.setdefault("ipv6" if text == "dhcp6" else "ipv4", {})["dhcp-client"] = {"state": "enabled"}
        else:
            families.setdefault(_family(text), {}).setdefault(name, {})[text] = below
    yield from families.items()


def _family(text: str) -> str:
    try:
        return f"ipv{ip_interface(text).version}"
    except ValueError:
        return "ipv6" if ":" in text else "ipv4"


def _vrr(child: Json) -> Iterator[tuple[str, Any]]:
    """VRR of both families; one without addresses is that of IPv4."""
    names = {"state": "vrr-state", "enable": "state"}
    common = {names.get(name, name): value for name, value in child.items() if name != "address"}
    by_family = dict(_by_family("address", child.get("address", {})))
    for family, addresses in (by_family or {"ipv4": {}}).items():
        yield family, {"vrr": {**common, **addresses}}

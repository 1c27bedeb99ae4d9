"""One spelling for equal configurations: that of 5.15, with every range of keys written out and every leaf as text.

NVUE shows equal things in several ways: `swp1-4` for four interfaces, `up: {}` for `up`. Cumulus Linux 5.14 and
earlier have `enable: on` where 5.15 has `state: enabled`, `ip` for `ipv4` and `ipv6`, and services under `service`
(cumulus-linux-515, New and Changed NVUE Commands). A text of either is read. Sessions have the settings of their peer
group, and a map has all code points.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_interface
from typing import Any

from railfab.device import DEFAULT_INSTANCE
from railfab.platforms.cumulus.commands import NvueOperation
from railfab.platforms.cumulus.names import expanded, kind_of
from railfab.platforms.cumulus.qos import GLOBAL
from railfab.platforms.cumulus.qos_defaults import LOSSLESS, MULTI_TC, part, with_code_points
from railfab.platforms.cumulus.schema import ENABLE, SWITCH, SchemaPlace, model
from railfab.platforms.shared.json_tree import Json, leaf_text

OLD_SWITCH = {"on": "enabled", "off": "disabled", "enable": "enabled", "disable": "disabled"}
OLD_ENABLE = {"on": "enable", "off": "disable", "enabled": "enable", "disabled": "disable"}
LONGEST = ("32", "128")
"""Length of an address of IPv4, and of IPv6."""
ASN = "autonomous-system"
OLD_NAMES = {"enable": "state", "peer": "neighbor"}
"""Words of earlier releases, where the model has the other one at that place instead."""


def normal(tree: Mapping[str, Any]) -> Json:
    """The tree in one spelling. What `paths.txt` does not have stays as it is."""
    return completed(spelled(tree))


def spelled(tree: Mapping[str, Any]) -> Json:
    """The tree in today's words, every range of keys written out."""
    return _container(_interfaces(_services(_copied(tree))), model())


def applied(operations: Iterable[NvueOperation]) -> tuple[Json, tuple[tuple[str, ...], ...]]:
    """The tree after these operations in turn, in one spelling; and paths that are unset and were not set."""
    tree: Json = {}
    absent: list[tuple[str, ...]] = []
    for operation in operations:
        if operation.sets:
            merged(tree, spelled(operation.tree))
        else:
            absent.extend(path for path in paths_of(spelled(operation.tree)) if not _unset(tree, path, model()))
    return completed(tree), tuple(path for path in absent if not _has(tree, path))


def merged(tree: Json, more: Mapping[str, Any]) -> Json:
    """Both trees together; where both have a leaf, that of the second one."""
    for name, child in more.items():
        former = tree.get(name)
        tree[name] = merged(former, child) if isinstance(former, dict) and isinstance(child, Mapping) else child
    return tree


def paths_of(tree: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of each leaf and empty container."""
    for name, child in tree.items():
        if isinstance(child, Mapping) and child:
            yield from paths_of(child, (*path, name))
        else:
            yield (*path, name)


def _has(tree: Any, path: Sequence[str]) -> bool:
    return not path or (isinstance(tree, dict) and path[0] in tree and _has(tree[path[0]], path[1:]))


def _unset(tree: Json, path: Sequence[str], place: SchemaPlace | None) -> bool:
    """Remove what is at a path, whose last word may be the value of a leaf; False where nothing is set there.

    A container that is empty then goes too, but no entry of a list.
    """
    name, *below = path
    if name not in tree:
        return False
    child = tree[name]
    if not below or not isinstance(child, dict):
        del tree[name]
        return True
    is_set = _unset(child, below, place.step(name) if place is not None else None)
    if not child and place is not None and name in place.words:
        del tree[name]
    return is_set


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


def completed(tree: Json) -> Json:
    """The tree with what its settings imply, stated where a configuration can state it too. Changes it in place."""
    bgp, of_vrf = part(tree, "router", "bgp"), part(tree, "vrf", DEFAULT_INSTANCE, "router", "bgp")
    for leaf in (ASN, "router-id"):
        value = str(of_vrf.get(leaf, "auto"))
        if value not in ("auto", "none") and bgp.get(leaf, "none") in ("none", "auto", value):
            tree.setdefault("router", {}).setdefault("bgp", {})[leaf] = of_vrf.pop(leaf)
    for _, vrf in _entries(tree, "vrf"):
        _complete_sessions(part(vrf, "router", "bgp"))
    for _, prefixes in _entries(part(tree, "router", "policy"), "prefix-list"):
        for _, rule in _entries(prefixes, "rule"):
            for prefix, bounds in _entries(rule, "match"):
                if bounds.get("min-prefix-len") == (longest := LONGEST[":" in prefix]):
                    bounds.setdefault("max-prefix-len", longest)
    for name, interface in _entries(tree, "interface"):
        if kind := kind_of(name):
            interface.setdefault("type", kind)
        watchdog = part(interface, "qos").get("pfc-watchdog")
        if watchdog == {}:
            watchdog["state"] = ENABLE
    _complete_qos(part(tree, "qos"))
    return tree


def _complete_sessions(bgp: Json) -> None:
    """Give each session what its peer group states and it does not. The groups that they use are then nothing more."""
    groups, used = part(bgp, "peer-group"), set()
    for name, neighbor in _entries(bgp, "neighbor"):
        group = groups.get(neighbor.get("peer-group", ""))
        if isinstance(group, dict):
            used.add(neighbor.pop("peer-group"))
            inherited = {setting: child for setting, child in group.items() if setting != "description"}
            neighbor = bgp["neighbor"][name] = merged(_copied(inherited), neighbor)
        if kind_of(name):
            neighbor.setdefault("type", "unnumbered")
    listening = {prefix.get("peer-group") for _, prefix in _entries(part(bgp, "dynamic-neighbor"), "listen-range")}
    for name in used - listening:
        del groups[name]
    if used and not groups:
        del bgp["peer-group"]


def _complete_qos(qos: Json) -> None:
    """State the default of `qos roce`, and the priority of every code point of the global map where it trusts them."""
    roce = part(qos, "roce")
    if "roce" in qos:
        roce.setdefault("state", SWITCH[0])
        roce.setdefault("mode", LOSSLESS)
    mapping = part(qos, "mapping", GLOBAL)
    if mapping and roce.get("mode") != MULTI_TC:
        qos["mapping"][GLOBAL] = with_code_points(mapping)


def _services(tree: Json) -> Json:
    """The tree with NTP, syslog and LLDP of `service` under `system`."""
    service = tree.get("service")
    if not isinstance(service, dict):
        return tree
    left = {name: child for name, child in service.items() if name not in ("ntp", "syslog", "lldp")}
    moved: Json = {"lldp": service["lldp"]} if isinstance(service.get("lldp"), dict) else {}
    for vrf, settings in _entries(service, "ntp"):
        merged(moved, {"ntp": {**settings, "vrf": vrf}})
    for vrf, settings in _entries(service, "syslog"):
        servers = {name: {**_dict(of), "vrf": vrf} for name, of in _dict(settings.get("server")).items()}
        merged(moved, {"syslog": {**settings, "server": servers}})
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

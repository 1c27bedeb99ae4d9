"""Texts of iproute2 for the links that `ip -j addr show` lists, of a virtual switch that runs Linux.

Layouts: iproute2 6.1, recorded. MAC addresses are those of the neighbour tables: every port has the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from railfab.platforms.shared.json_tree import Json

MAC, LOOPBACK_MAC, BROADCAST = "02:00:00:00:00:01", "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"
LIFETIME = "       valid_lft forever preferred_lft forever"


def brief(links: Sequence[Json], *, addresses: bool = False) -> str:
    """The output of `ip -br link`, or of `ip -br addr`."""
    return "".join(f"{_brief(link, addresses)} \n" for link in links)


def shown(links: Sequence[Json], *, addresses: bool = False) -> str:
    """The output of `ip link show`, or of `ip addr show`."""
    return "".join(f"{line}\n" for number, link in enumerate(links, 1) for line in _lines(number, link, addresses))


def _brief(link: Json, addresses: bool) -> str:
    begin = f"{link['ifname']:<16} {link['operstate']:<14} "
    if addresses:
        return begin + " ".join(f"{each['local']}/{each['prefixlen']}" for each in link.get("addr_info", ()))
    return f"{begin}{_mac(link)[1]} <{','.join(link['flags'])}>"


def _lines(number: int, link: Json, addresses: bool) -> Iterator[str]:
    mode = "" if addresses else " mode DEFAULT"
    settings = f"mtu {link['mtu']} qdisc {'noqueue' if _is_loopback(link) else 'mq'} state {link['operstate']}"
    yield f"{number}: {link['ifname']}: <{','.join(link['flags'])}> {settings}{mode} group default qlen 1000"
    kind, mac, broadcast = _mac(link)
    yield f"    link/{kind} {mac} brd {broadcast}"
    for each in link.get("addr_info", ()) if addresses else ():
        address = f"{each['local']}/{each['prefixlen']}"
        yield f"    {each['family']} {address} scope {each['scope']} {link['ifname']}"
        yield LIFETIME


def _mac(link: Json) -> tuple[str, str, str]:
    """Kind, MAC address and broadcast address of a link."""
    return ("loopback", LOOPBACK_MAC, LOOPBACK_MAC) if _is_loopback(link) else ("ether", MAC, BROADCAST)


def _is_loopback(link: Json) -> bool:
    return "LOOPBACK" in link["flags"]

"""Generated fabrics, and the contents of a picture: texts with their bounding boxes, and boxes of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from xml.etree import ElementTree

from railfab.draw.svg import Box
from railfab.draw.text_width import width_of
from railfab.topology import CabledPort, Link, Net, Node, Role, Topology

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"head": 18, "name": 12, "title": 12, "chip": 10, "note": 11, "side": 11, "bar": 11, "end": 11}
BOLD = {"head", "name", "title", "chip"}
MIDDLE = {"name", "note", "chip", "bar"}
NODE_CLASSES = {"leaf", "spine", "super", "hosts"}
TOUCH = 4.0
"""Closer than this, a text touches the frame beside it in some browser [px]."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """A regular fabric, by the count of each unit in the next larger one. groups: of super-spines."""

    planes: int = 1
    pods: int = 1
    segments: int = 2
    hosts: int = 4
    leaves: int = 2
    rails: int = 8
    spines: int = 2
    supers: int = 0
    groups: int = 1

    def topology(self) -> Topology:
        return Topology(fabric="by-hand", nodes=(*self._hosts(), *self._switches()), links=tuple(self._links()))

    def _hosts(self) -> Iterator[Node]:
        for pod, segment, host in product(*map(_from_one, (self.pods, self.segments, self.hosts))):
            name = f"pod{pod}-seg{segment}-host{host}"
            yield Node(name=name, role=Role.HOST, pod=pod, segment=segment, index=host)

    def _switches(self) -> Iterator[Node]:
        for plane in _from_one(self.planes):
            for pod, segment, leaf in product(*map(_from_one, (self.pods, self.segments, self.leaves))):
                yield _switch(_leaf(plane, pod, segment, leaf), Role.LEAF, plane, pod, segment, leaf)
            for pod, spine in product(*map(_from_one, (self.pods, self.spines))):
                yield _switch(_spine(plane, pod, spine), Role.SPINE, plane, pod, None, spine)
            for number in _from_one(self.supers):
                yield _switch(_super(plane, number), Role.SUPER, plane, 0, None, number)

    def _links(self) -> Iterator[Link]:
        for plane, pod in product(_from_one(self.planes), _from_one(self.pods)):
            for segment, host, rail in product(*map(_from_one, (self.segments, self.hosts, self.rails))):
                leaf = _leaf(plane, pod, segment, (rail - 1) % self.leaves + 1)
                yield cable(f"pod{pod}-seg{segment}-host{host}", leaf, rate_gbps=100, cable_m=5, rail=rail)
            for segment, leaf, spine in product(*map(_from_one, (self.segments, self.leaves, self.spines))):
                yield cable(_leaf(plane, pod, segment, leaf), _spine(plane, pod, spine), rate_gbps=400, cable_m=40)
            for spine, number in product(_from_one(self.spines), _from_one(self.supers)):
                if (spine - number) % self.groups == 0:
                    yield cable(_spine(plane, pod, spine), _super(plane, number), rate_gbps=400, cable_m=100)


def _from_one(count: int) -> range:
    return range(1, count + 1)


def _plane(plane: int) -> str:
    return f"plane{plane}-" if plane > 1 else ""


def _leaf(plane: int, pod: int, segment: int, leaf: int) -> str:
    return f"{_plane(plane)}pod{pod}-seg{segment}-leaf{leaf}"


def _spine(plane: int, pod: int, spine: int) -> str:
    return f"{_plane(plane)}pod{pod}-spine{spine}"


def _super(plane: int, number: int) -> str:
    return f"{_plane(plane)}super{number}"


def _switch(name: str, role: Role, plane: int, pod: int, segment: int | None, index: int) -> Node:
    return Node(
        name=name, role=role, pod=pod, segment=segment, index=index, plane=plane, model="m32", asn=65000 + index
    )


def cable(low: str, high: str, *, rate_gbps: int, cable_m: float, rail: int | None = None) -> Link:
    ends = (
        CabledPort(node=node, name=f"to {other}", cage=0, lane=None, rate_gbps=rate_gbps, rail=rail, address=None)
        for node, other in ((low, high), (high, low))
    )
    a, z = ends
    return Link(a=a, z=z, rate_gbps=rate_gbps, cable_m=cable_m)


def with_network(topology: Topology, net: Net, *, leaves: int, spines: int, servers: int = 0) -> Topology:
    """The topology with another network; each host and each switch of the backend has a cable to it."""
    places = [
        *((f"{net}-server{n}", Role.SERVER, n) for n in _from_one(servers)),
        *((f"{net}-leaf{n}", Role.LEAF, n) for n in _from_one(leaves)),
        *((f"{net}-spine{n}", Role.SPINE, n) for n in _from_one(spines)),
    ]
    nodes = [Node(name=name, role=role, pod=0, segment=None, index=index, net=net) for name, role, index in places]
    clients = [*topology.nodes, *nodes[:servers]]
    down = (
        cable(client.name, f"{net}-leaf{place % leaves + 1}", rate_gbps=25, cable_m=3)
        for place, client in enumerate(clients)
    )
    up = (
        cable(f"{net}-leaf{leaf}", f"{net}-spine{spine}", rate_gbps=100, cable_m=20)
        for leaf, spine in product(_from_one(leaves), _from_one(spines))
    )
    return Topology(
        fabric=topology.fabric,
        nodes=(*topology.nodes, *nodes),
        links=(*topology.links, *down, *up),
        models=topology.models,
    )


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def page(picture: str) -> Box:
    return Box(*map(float, ElementTree.fromstring(picture).attrib["viewBox"].split()))


def labels(picture: str) -> set[str]:
    """Texts on a colour of their own: numbers of rails, and names of planes."""
    elements = ElementTree.fromstring(picture).iter(f"{SVG}text")
    return {element.text or "" for element in elements if element.get("class") == "chip"}


def text_boxes(picture: str) -> list[tuple[str, Box]]:
    """Every line of text with its bounding box."""
    return [(element.text or "", _room(element)) for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def node_boxes(picture: str) -> Iterator[tuple[str, Box, list[tuple[str, Box]]]]:
    """Class, box and texts of each switch and each box of hosts."""
    for group in ElementTree.fromstring(picture).iter(f"{SVG}g"):
        outer = [rect for rect in group.findall(f"{SVG}rect") if rect.get("class") in NODE_CLASSES]
        words = [(element.text or "", _room(element)) for element in group.findall(f"{SVG}text")]
        yield outer[-1].attrib["class"], _box(outer[-1]), words


def frames(picture: str) -> list[Box]:
    """Frames of planes, pods, groups and networks."""
    rects = ElementTree.fromstring(picture).findall(f"{SVG}rect")
    return [_box(rect) for rect in rects if rect.get("class") == "frame"]


def _box(rect: ElementTree.Element) -> Box:
    return Box(*(float(rect.attrib[name]) for name in ("x", "y", "width", "height")))


def _room(element: ElementTree.Element) -> Box:
    look = element.get("class", "")
    size, x, y = SIZES.get(look, 12), float(element.attrib["x"]), float(element.attrib["y"])
    width = width_of(element.text or "", size, bold=look in BOLD)
    left = x - width / 2 if look in MIDDLE else x - width if look == "end" else x
    return Box(left, y - 0.8 * size, width, size)


def overlap(one: Box, other: Box) -> bool:
    apart = one.x + one.width <= other.x or other.x + other.width <= one.x
    return not (apart or one.bottom <= other.y or other.bottom <= one.y)


def within(inner: Box, outer: Box) -> bool:
    across = outer.x <= inner.x and inner.x + inner.width <= outer.x + outer.width
    return across and outer.y <= inner.y and inner.bottom <= outer.bottom

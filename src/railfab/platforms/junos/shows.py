"""Commands of a virtual Junos switch that show its state, in text and as `| display json`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from railfab.platforms.junos import show_cos, show_interfaces, show_neighbors, show_routes, show_sessions, show_system
from railfab.platforms.junos.answers import Tree, json_text
from railfab.platforms.junos.commits import CommitEntry, Commits
from railfab.platforms.junos.port_state import ShownPort, loopback_addresses, port_states
from railfab.platforms.junos.show_queues import queues_text, queues_tree
from railfab.platforms.junos.show_routes import RouteList, ShownRoute
from railfab.platforms.junos.show_sessions import PeerState, peer_states
from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.twin_face import VirtualDevice

JSON = "display json"
INTERFACES = "interface-information"
BGP = "bgp-information"
_NOT_SERVED = "error: this virtual switch prints it {form} alone"


class JunosShows:
    """Commands that show state; JunosCli derives from it."""

    host: str
    _device: VirtualDevice
    _commits: Commits

    # Interfaces

    def show_interfaces(self, name: str = "", form: str = "") -> str:
        return self._interfaces(name, form, show_interfaces.port_text, show_interfaces.port_tree)

    def show_interfaces_extensive(self, name: str = "", form: str = "") -> str:
        return self._interfaces(name, form, show_interfaces.extensive_text, show_interfaces.extensive_tree)

    def show_interfaces_statistics(self, name: str = "", form: str = "") -> str:
        return self._interfaces(name, form, show_interfaces.statistics_text)

    def show_interfaces_queue(self, name: str = "", form: str = "") -> str:
        return self._interfaces(name, form, queues_text, queues_tree)

    def _interfaces(
        self,
        name: str,
        form: str,
        text: Callable[[ShownPort], Iterable[str]],
        tree: Callable[[ShownPort], Tree] | None = None,
    ) -> str:
        states = self._ports(name)
        trees = None if tree is None else lambda: {"physical-interface": list(map(tree, states))}
        return _shown(form, lambda: _blocks(text(state) for state in states), INTERFACES, trees)

    def _ports(self, name: str) -> list[ShownPort]:
        states = port_states(self._device, name or None)
        if name and not states:
            raise CliRefusal(f"error: device {name} not found")
        return states

    def show_interfaces_terse(self, form: str = "") -> str:
        loopback = loopback_addresses(self._device)
        return _shown(form, lambda: show_interfaces.terse_text(port_states(self._device), loopback))

    def show_interfaces_descriptions(self, form: str = "") -> str:
        return _shown(form, lambda: show_interfaces.descriptions_text(port_states(self._device)))

    def show_cos_interface(self, name: str = "", form: str = "") -> str:
        states = self._ports(name)
        return _shown(form, partial(show_cos.interfaces_text, self._device, states))

    def show_cos_classes(self, form: str = "") -> str:
        return _shown(form, partial(show_cos.classes_text, self._device))

    # Neighbours

    def show_lldp(self, form: str = "") -> str:
        entries = show_neighbors.heard(self._device)
        return _shown(
            form,
            partial(show_neighbors.lldp_text, entries),
            "lldp-neighbors-information",
            partial(show_neighbors.lldp_tree, entries),
        )

    def show_lldp_interface(self, name: str, form: str = "") -> str:
        entries = show_neighbors.heard(self._device, name)
        tree = partial(show_neighbors.lldp_detail_tree, entries)
        return _shown(form, None, "lldp-neighbors-information", tree)

    def show_arp(self, form: str = "") -> str:
        device = self._device
        tree = partial(show_neighbors.arp_tree, device)
        return _shown(form, partial(show_neighbors.arp_text, device), "arp-table-information", tree)

    def show_nd(self, form: str = "") -> str:
        return _shown(form, None, "ipv6-nd-information", partial(show_neighbors.nd_tree, self._device))

    # Sessions

    def show_bgp_summary(self, form: str = "") -> str:
        peers = peer_states(self._device)
        tree = partial(show_sessions.summary_tree, peers)
        return _shown(form, partial(show_sessions.summary_text, peers), BGP, tree)

    def show_bgp(self, address: str = "", form: str = "") -> str:
        peers = [peer for peer in peer_states(self._device) if address in ("", peer.address)]
        tree = partial(show_sessions.neighbors_tree, peers)
        return _shown(form, partial(show_sessions.neighbors_text, peers), BGP, tree)

    def show_bfd(self, form: str = "") -> str:
        return self._bfd(form, detail=False)

    def show_bfd_detail(self, form: str = "") -> str:
        return self._bfd(form, detail=True)

    def _bfd(self, form: str, *, detail: bool) -> str:
        peers: list[PeerState] = peer_states(self._device)
        return _shown(
            form,
            partial(show_sessions.bfd_text, peers, detail=detail),
            "bfd-session-information",
            partial(show_sessions.bfd_tree, peers, detail=detail),
        )

    # System and routes

    def show_version(self, form: str = "") -> str:
        device, host = self._device, self.host
        tree = partial(show_system.version_tree, device, host)
        return _shown(form, partial(show_system.version_text, device, host), "software-information", tree)

    def show_uptime(self, form: str = "") -> str:
        newest: CommitEntry = self._commits.entries()[0]
        tree = partial(show_system.uptime_tree, self._device, newest)
        return _shown(form, partial(show_system.uptime_text, self._device, newest), "system-uptime-information", tree)

    def show_alarms(self, form: str = "") -> str:
        device = self._device
        tree = partial(show_system.alarms_tree, device)
        return _shown(form, partial(show_system.alarms_text, device), "alarm-information", tree)

    def show_route_summary(self, form: str = "") -> str:
        device = self._device
        tree = partial(show_routes.summary_tree, device)
        return _shown(form, partial(show_routes.summary_text, device), "route-summary-information", tree)

    def show_route(self, form: str = "") -> str:
        every = RouteList(self._device).routes
        return self._routes(form, every, every)

    def show_route_protocol(self, protocol: str, form: str = "") -> str:
        every = RouteList(self._device).routes
        return self._routes(form, every, show_routes.of_protocol(every, protocol))

    def show_route_to(self, destination: str, form: str = "") -> str:
        every = RouteList(self._device).routes
        try:
            return self._routes(form, every, show_routes.toward(every, destination))
        except ValueError:
            raise CliRefusal("syntax error.") from None

    def _routes(self, form: str, every: Sequence[ShownRoute], routes: Sequence[ShownRoute]) -> str:
        tree = partial(show_routes.routes_tree, every, routes)
        return _shown(form, partial(show_routes.routes_text, every, routes), "route-information", tree)


def _shown(
    form: str,
    text: Callable[[], Iterable[str]] | None,
    root: str = "",
    tree: Callable[[], Tree] | None = None,
) -> str:
    """An answer in a form. text, tree: None where no source shows the command's."""
    if form == JSON and tree is not None:
        return json_text(root, tree())
    if form == "" and text is not None:
        return "".join(f"{line}\n" for line in text())
    if form not in ("", JSON):
        raise CliRefusal("syntax error.")
    raise CliRefusal(_NOT_SERVED.format(form="as text" if form == JSON else "with `| display json`"))


def _blocks(texts: Iterable[Iterable[str]]) -> Iterator[str]:
    """Texts with an empty line between them."""
    for place, text in enumerate(texts):
        if place:
            yield ""
        yield from text

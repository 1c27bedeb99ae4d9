"""A few SR Linux switches as real gNMI servers on this machine, and what a collector needs to find them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from railfab.endpoints import Credentials, Endpoint, Endpoints
from railfab.gnmi.certificates import Authority
from railfab.gnmi.leaves import Leaves
from railfab.gnmi.paths import to_text_elements
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.gnmi.target import Edit, RequestRefused, TargetView, YangModel
from railfab.gnmi.values import Uint64
from railfab.telemetry import Collector, RetryPolicy, Snapshot

CREDENTIALS = Credentials("admin", "correct horse")
INTERVAL_S = 0.5
QUICK = RetryPolicy(first_s=0.1, most_s=0.2, refused_first_s=0.2, refused_most_s=0.4, dial_timeout_s=2.0)

HOST_PORT, UPLINK = "ethernet-1/1/1", "ethernet-1/25"
STATISTICS = "/interface[name={}]/statistics/"
PFC = "/qos/interfaces/interface[interface-id={}]/pfc/statistics/pfc-priority[index=3]/"
LLDP = "/system/lldp/interface[name={}]/neighbor[id=02:00:00:00:00:01]/"
BFD = "/bfd/network-instance[name=default]/peer[local-discriminator=77]/"


class Switch:
    """A target whose octets rise by a thousand each time it is looked at."""

    change_age_s = 1.0

    def __init__(self, name: str) -> None:
        self.name = name
        self.leaves = Leaves(name)
        self._octets, self._counting = 0, True
        for port in (HOST_PORT, UPLINK):
            self.leaves.put(STATISTICS.format(port) + "a-leaf-nobody-maps", Uint64(7))
            self.leaves.put(f"/interface[name={port}]/oper-state", "up", on_change=True)
        self.leaves.put(PFC.format(HOST_PORT) + "pfc-pause-frames-received", Uint64(1_000_000))
        for leaf, text in (("system-name", "pod1-spine1"), ("port-id", "ethernet-1/1")):
            self.leaves.put(LLDP.format(UPLINK) + leaf, text, on_change=True)
        for leaf, text in (("session-state", "UP"), ("ipv6-link-local-interface", f"{UPLINK}.0")):
            self.leaves.put(BFD + leaf, text, on_change=True)

    def models(self) -> Sequence[YangModel]:
        return ()

    def view(self, max_age_s: float) -> TargetView | None:
        return self.leaves.view(max_age_s)

    def refresh(self) -> TargetView:
        self._octets += 1000
        if self._counting:
            for port in (HOST_PORT, UPLINK):
                self.leaves.put(STATISTICS.format(port) + "in-octets", Uint64(self._octets))
        return self.leaves.publish()

    def stop_counting(self) -> None:
        """Remove every leaf that is sampled."""
        self._counting = False
        counters = [found.leaf.path for found in self.refresh().select(()) if not found.leaf.on_change]
        self.leaves.drop(map(to_text_elements, counters))

    def set(self, edits: Sequence[Edit]) -> None:
        raise RequestRefused(self.name, "is read-only", "Do not")


class Rack:
    """Two switches of pod64 behind gNMI servers, which can be killed and started again on their ports."""

    def __init__(self, folder: Path, loop: ServerLoop) -> None:
        authority = Authority("tests")
        self.ca, self.secret = folder / "ca.pem", folder / "secret.yml"
        self.ca.write_bytes(authority.certificate)
        self.secret.write_text(f"username: {CREDENTIALS.username}\npassword: {CREDENTIALS.password}\n")
        self.switches = {name: Switch(name) for name in ("pod1-seg1-leaf1", "pod1-spine1")}
        self.servers = {
            name: GnmiServer(switch, loop, credentials=CREDENTIALS, identity=authority.issue(name))
            for name, switch in self.switches.items()
        }
        for server in self.servers.values():
            server.start()

    def endpoint(self, target: str, **changes: object) -> Endpoint:
        fields: dict[str, object] = {
            "name": target,
            "platform": "srlinux",
            "host": "127.0.0.1",
            "gnmi_port": self.servers[target].port,
            "ca": str(self.ca),
            "credentials": str(self.secret),
        }
        return Endpoint(**{**fields, **changes})  # type: ignore[arg-type]

    def endpoints(self, **changes: object) -> Endpoints:
        nodes = tuple(self.endpoint(name, **changes) for name in self.servers)
        return Endpoints(fabric="pod64", backend="twin", nodes=nodes)

    def kill(self, name: str) -> None:
        self.servers[name].stop()

    def revive(self, name: str) -> None:
        self.servers[name].start()


def eventually(collector: Collector, true: Callable[[Snapshot], object], within_s: float = 10.0) -> Snapshot:
    """The first snapshot for which this holds; fails when none does in time."""
    until_s = time.monotonic() + within_s
    while time.monotonic() < until_s:
        snapshot = collector.snapshot()
        if true(snapshot):
            return snapshot
        time.sleep(0.05)
    raise AssertionError(f"not within {within_s} s")

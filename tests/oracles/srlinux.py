"""Nokia's YANG as an oracle: which configurations a switch takes, and which paths it has. Needs yanglint."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.oracles.archives import DATA_FILTER
from tests.oracles.nokia_xpath import plain
from tests.oracles.yanglint import Yanglint, yanglint

ARCHIVE = "srlinux-yang-25.3.1.tar.xz"
FEATURE = re.compile(r"^\s*feature\s+([\w.-]+)", re.MULTILINE)
NOT_7220 = re.compile(
    r"fpcx|.*-fpcx|ixr-dnx|platform-.*|qos-multi-traffic-queue|qos-pfc-dnx|qos-virtual-output-queue"
    r"|qos-queue-scheduling-policy|qos-sched-class-scheduling-policy|qos-slope-policy|qos-classify-profile"
    r"|qos-rewrite-profile|qos-ecn-dscp-policy|qos-(in|out)put-class-map|qos-policer-policies|qos-fp-pool-policy"
    r"|qos-interface-pool-policy|qos-resource.*|qos-drop-zones|qos-forwarding-class-resource-priority"
    r"|qos-pfc-dynamic-buffer-allocation|qos-system-generated-traffic-map|qos-ip-rewrite-policy"
    r"|qos-committed-burst-size-table|qos-pre-classifier|qos-queue-profile-stats|qos-ipv[46]-dscp-.*"
)
"""Features that a 7220 with a Broadcom XGS chip (D4, D5, H4, H5) lacks: our reading, Nokia publishes no list."""

MODULES = (
    *("features", "common", "interfaces", "interfaces-vlans", "if-ip", "interfaces-router-adv", "qos", "platform-qos"),
    *("interfaces-nbr", "interfaces-nbr-evpn"),
    *("platform", "platform-lc"),
    *("network-instance", "bgp", "routing-policy", "bfd", "grpc", "lldp", "system", "system-name"),
    *("interfaces-lag", "lacp", "tunnel-interfaces", "bgp-evpn", "bgp-vpn", "aggregate-routes", "load-balancing"),
    *("system-network-instance", "system-network-instance-bgp-vpn"),
    *("ntp", "logging", "aaa", "aaa-types", "system-banner", "tls", "maintenance-mode"),
    *("system-network-instance-bgp-evpn-ethernet-segments", "policy-types"),
)
NO_FEATURES = "srl_nokia-features:"
"""Modules are plain for one device: what an `if-feature` leaves out is left out without any feature."""
CONSTRUCT = re.compile(
    r"^(?P<indent>[ |]*)\+--(?P<access>rw|ro) (?P<name>[\w.:-]+)[?!*]?(?: (?P<keys>\[.*?\]))? *(?P<type>[^{]*)"
)


@dataclass(frozen=True)
class Leaf:
    """One leaf of the schema. access: `rw` is configuration, `ro` is state."""

    access: str
    type: str


class NokiaModels:
    """The models of one release, made plain for libyang."""

    def __init__(self, archive: Path, folder: Path) -> None:
        source = folder / "published"
        with tarfile.open(archive) as packed:
            packed.extraction_filter = DATA_FILTER
            packed.extractall(source)
        files = {path.name: path.read_text() for path in source.rglob("*.yang") if "openconfig" not in path.parts}
        declared = next(text for name, text in files.items() if name == "srl_nokia-features.yang")
        features = [name for name in FEATURE.findall(declared) if not NOT_7220.fullmatch(name)]
        self.folder = folder / "plain"
        self.folder.mkdir()
        for name, text in plain(files, features).items():
            (self.folder / name).write_text(text)

    def complaints(self, *configurations: Path) -> list[str]:
        """What a switch would say against any of these configurations; empty when it would take them all."""
        return [line for said in self.complaints_of_each(configurations) for line in said]

    def complaints_of_each(self, configurations: Iterable[Path]) -> list[list[str]]:
        """What a switch would say against each configuration: libyang ends at its first error in each."""
        return self._yanglint.complaints_of_each(configurations)

    @cached_property
    def _yanglint(self) -> Yanglint:
        modules = " ".join(f"srl_nokia-{name}" for name in MODULES)
        return Yanglint(self.folder, f"-F {NO_FEATURES} {modules}")

    @cached_property
    def leaves(self) -> dict[str, Leaf]:
        """Every leaf and leaf-list by its path without prefixes and keys."""
        return dict(_leaves(self._tree))

    @cached_property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The keys of every list by its path."""
        return dict(_lists(self._tree))

    @cached_property
    def _tree(self) -> str:
        """The schema as a YANG tree diagram (RFC 8340)."""
        modules = [f"{self.folder}/srl_nokia-{name}.yang" for name in MODULES]
        done = yanglint("-p", str(self.folder), "-F", NO_FEATURES, "-f", "tree", *modules)
        assert done.returncode == 0, done.stderr
        return done.stdout


def _constructs(tree: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Every node of a YANG tree diagram (RFC 8340) with its path; augmentations stand where they go."""
    path: list[tuple[int, str]] = []
    for line in tree.splitlines():
        found = CONSTRUCT.match(line)
        if found is None:
            continue
        depth = len(found["indent"])
        path = [(indent, name) for indent, name in path if indent < depth]
        path.append((depth, found["name"].rpartition(":")[2]))
        yield "/" + "/".join(name for _, name in path), found


def _leaves(tree: str) -> Iterator[tuple[str, Leaf]]:
    for path, found in _constructs(tree):
        if found["type"].strip():
            yield path, Leaf(found["access"], found["type"].strip())


def _lists(tree: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for path, found in _constructs(tree):
        if found["keys"]:
            yield path, tuple(found["keys"].strip("[]").split())

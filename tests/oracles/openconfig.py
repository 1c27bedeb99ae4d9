"""OpenConfig's YANG as an oracle: which paths there are, of which type and with which values. Needs yanglint."""

from __future__ import annotations

import re
import subprocess
import tarfile
from functools import cached_property
from pathlib import Path

ARCHIVE = "openconfig-2026-07.tar.xz"
MODULES = ("interfaces", "if-ethernet", "network-instance", "bfd", "platform")
LINE = re.compile(
    r"^(?P<indent>[ |]*)\+--(?P<access>rw|ro) (?P<name>[\w:.-]+)[?!*]?(?: \[(?P<keys>.*?)\])? *(?P<type>.*)$"
)
STEP = re.compile(r"/([\w-]+)((?:\[[^\]]*\])*)")
KEY = re.compile(r"\[([\w-]+)=")
INDENT = 3

# Published by the IETF and IANA, which the archive does not hold; OpenConfig uses no more of them than these names.
IETF_INTERFACES = 'module ietf-interfaces { namespace "urn:if"; prefix if; identity interface-type; }'
IANA_TYPES = ("ethernetCsmacd", "ieee8023adLag", "l3ipvlan", "l2vlan", "softwareLoopback", "tunnel")


class OpenConfig:
    """The published modules, as libyang understands them."""

    def __init__(self, archive: Path, folder: Path) -> None:
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        self.files = {path.stem: path for path in folder.rglob("*.yang")}
        (folder / "ietf-interfaces.yang").write_text(IETF_INTERFACES)
        identities = " ".join(f"identity {name} {{ base if:interface-type; }}" for name in IANA_TYPES)
        head = 'namespace "urn:iana"; prefix ianaift; import ietf-interfaces { prefix if; }'
        (folder / "iana-if-type.yang").write_text(f"module iana-if-type {{ {head} {identities} }}")
        self.folders = sorted({str(path.parent) for path in folder.rglob("*.yang")})

    def _yanglint(self, *arguments: str) -> str:
        search = [word for folder in self.folders for word in ("-p", folder)]
        modules = [str(self.files[f"openconfig-{name}"]) for name in MODULES]
        command = ["yanglint", "-i", *search, *arguments, *modules]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    @cached_property
    def leaves(self) -> dict[str, tuple[str, tuple[frozenset[str], ...]]]:
        """Type of every state leaf and the keys of each list on the way, by path without keys and prefixes."""
        found: dict[str, tuple[str, tuple[frozenset[str], ...]]] = {}
        steps: list[tuple[str, frozenset[str]]] = []
        for line in self._yanglint("-f", "tree").splitlines():
            match = LINE.match(line)
            if match is None:
                continue
            depth = len(match["indent"]) // INDENT
            steps = [*steps[:depth], (match["name"].split(":")[-1], frozenset((match["keys"] or "").split()))]
            if match["access"] == "ro" and match["type"]:
                path = "".join(f"/{name}" for name, _ in steps)
                found[path] = (match["type"].strip(), tuple(keys for _, keys in steps))
        return found

    def type_of(self, path: str) -> str | None:
        """The type of a state leaf; None when there is no such leaf or its lists have other keys."""
        steps = STEP.findall(path)
        leaf = self.leaves.get("".join(f"/{name}" for name, _ in steps))
        keys = tuple(frozenset(KEY.findall(text)) for _, text in steps)
        return leaf[0] if leaf and leaf[1] == keys else None

    def names(self, module: str) -> set[str]:
        """Every enumeration value and identity that a module declares."""
        return set(
            re.findall(r"^\s*(?:enum|identity) \"?([\w-]+)", self.files[f"openconfig-{module}"].read_text(), re.M)
        )

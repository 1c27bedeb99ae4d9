"""Description of one switch that can be reached: address, ports, trust, and where its credentials are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

NO_LOGIN = "none"
"""`credentials` of a target that asks for none."""
ASKED_MODES = ("poll", "once")
"""Modes in which a target is asked for its telemetry: for one that offers no streams."""
MODES = ("sample", *ASKED_MODES)
"""Modes that one target can be given for all of its paths."""
SHORTEST_S, LONGEST_S = 0.1, 86_400.0
"""Bounds of intervals [s]."""
ENCODINGS = ("proto", "json_ietf", "json", "bytes", "ascii")
"""Encodings of gNMI that can be asked for."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user name and a password, or a token; `repr()` hides the secrets.

    key_file: OpenSSH private key for SSH; the password is then only used by gNMI, and may be empty.
    aaa_secret: shared with the AAA servers; a deploy sends it with a server that is new on the switch, beside the
        configuration text, which never has it. None where the operator sets it on the switch.
    token: sent by gNMI in place of user name and password, which may then be empty.
    """

    username: str
    password: str
    key_file: str | None = None
    aaa_secret: str | None = None
    token: str | None = None

    def __repr__(self) -> str:
        return f"Credentials(username={self.username!r}, password=<hidden>)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Address, ports and credentials of one switch.

    ca: PEM file of the CA that signed the gNMI certificate of the switch; None for the trust store of the system.
    known_hosts: OpenSSH known_hosts file; None for that of the user.
    credentials: `env:PREFIX` (variables PREFIX_USERNAME and PREFIX_PASSWORD), the path of a YAML file with `username`
        and `password`, `command:PROGRAM ARGUMENTS` that prints such YAML, or `none`; PREFIX_KEY_FILE or `key_file`
        names an SSH key, in addition or instead.
        PREFIX_AAA_SECRET or `aaa_secret` is the secret of new AAA servers, PREFIX_TOKEN or `token` a token for gNMI.
    skip_verify: do not verify the certificate and host key of this target.
    owns_system: whether a deploy also sets what the operating system below the configuration has, such as the MTU of a
        Linux port. True for a switch of a lab; elsewhere the system has an owner, such as the network configuration of
        the distribution, and `verify` names what differs.
    plaintext: gNMI without TLS; anyone on the way can read the password. It is logged at the first connection.
    client_cert, client_key: PEM files with our certificate (and its chain) and its private key, for mutual TLS.
    tls_name: the name that the certificate of the target is for, where it is not `host`.
    gnmi_target: target in the prefix of each Subscribe (gNMI specification, 2.2.2.1): one switch behind a gateway.
    gnmi_interval_s: how often this target samples [s], in place of the interval of the collector; paths for which the
        map states an interval keep it.
    gnmi_mode: one of MODES for all paths of this target: `poll` or `once` where it offers no streams, `sample` where it
        sends no changes.
    gnmi_encoding: one of ENCODINGS for all paths of this target, as long as it takes it; None is what the map says,
        else the first one that it takes.
    gnmi_heartbeat_s: how often it sends also what has not changed, where it sends changes only [s].
    gnmi_suppress_redundant: its samples that have not changed are left out.
    """

    name: str
    platform: str
    host: str
    ssh_port: int | None = None
    gnmi_port: int | None = None
    ca: str | None = None
    known_hosts: str | None = None
    credentials: str = "env:RAILFAB"
    skip_verify: bool = False
    owns_system: bool = False
    plaintext: bool = False
    client_cert: str | None = None
    client_key: str | None = None
    tls_name: str | None = None
    gnmi_target: str = ""
    gnmi_interval_s: float | None = None
    gnmi_mode: str | None = None
    gnmi_encoding: str | None = None
    gnmi_heartbeat_s: float | None = None
    gnmi_suppress_redundant: bool = False

    @property
    def tls_verified(self) -> bool:
        """Whether gNMI has TLS with a certificate that is checked."""
        return not (self.plaintext or self.skip_verify)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """The switches of one running fabric. backend: `twin`, `netns`, `containerlab` or `inventory`."""

    fabric: str
    backend: str
    nodes: tuple[Endpoint, ...]

    def by_name(self) -> dict[str, Endpoint]:
        return {node.name: node for node in self.nodes}


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryEndpoints(Endpoints):
    """The switches of a Nornir inventory. platform_places: file and line of the platform of a node, by its name."""

    platform_places: Mapping[str, str]


class EndpointFault(NamedTuple):
    """Problem and remedy of a field of an endpoint. key: its name."""

    key: str
    problem: str
    remedy: str


def faults(node: Endpoint, written: Mapping[str, str] = MappingProxyType({})) -> Iterator[EndpointFault]:
    """Faults of an endpoint: types and ranges, and settings that exclude each other.

    written: names of fields in the file, where they have other names there.
    """

    def fault(key: str, is_not: str, remedy: str) -> EndpointFault:
        return EndpointFault(key, f"{written.get(key, key)} {getattr(node, key)!r} is not {is_not}", remedy)

    for key in ("name", "platform", "host", "credentials"):
        if not isinstance(value := getattr(node, key), str) or not value:
            yield fault(key, "a text", "Write a text")
    if isinstance(node.host, str) and "/" in node.host:
        host, _, mask = node.host.partition("/")
        yield fault("host", f"an address or a name: it has the mask /{mask}", f"Write {host}")
    for key in ("ca", "known_hosts", "client_cert", "client_key"):
        if not isinstance(getattr(node, key), str | None):
            yield fault(key, "a path", "Name a file")
    if not isinstance(node.tls_name, str | None) or node.tls_name == "":
        yield fault("tls_name", "a text", "Write the name in the certificate")
    if not isinstance(node.gnmi_target, str):
        yield fault("gnmi_target", "a text", "Write a text")
    for key, known in (("gnmi_mode", MODES), ("gnmi_encoding", ENCODINGS)):
        if getattr(node, key) not in (None, *known):
            *most, last = known
            yield fault(key, f"{', '.join(most)} or {last}", "Use one of them, or leave it out")
    for key in ("ssh_port", "gnmi_port"):
        value = getattr(node, key)
        if value is not None and (type(value) is not int or not 1 <= value <= 65_535):
            yield fault(key, "a port number", "Use 1 to 65535")
    for key in ("gnmi_interval_s", "gnmi_heartbeat_s"):
        if not _is_interval(getattr(node, key)):
            yield fault(key, f"{SHORTEST_S:g} to {LONGEST_S:g} seconds", "Write a number, or leave it out")
    for key in ("skip_verify", "owns_system", "plaintext", "gnmi_suppress_redundant"):
        if not isinstance(getattr(node, key), bool):
            yield fault(key, "a boolean", "Use true or false")
    yield from contradictions(node)


def contradictions(node: Endpoint) -> Iterator[EndpointFault]:
    """Settings that exclude or need each other."""
    of_tls = ("ca", "skip_verify", "client_cert", "client_key", "tls_name")
    if node.plaintext and (said := [key for key in of_tls if getattr(node, key)]):
        *most, last = said
        words = f"{', '.join(most)} and {last}" if most else last
        problem = f"plaintext is without TLS, and {words} {_are(said)} for TLS"
        yield EndpointFault("plaintext", problem, f"Leave out plaintext, or {words}")
    if node.gnmi_mode in ASKED_MODES and (
        said := [key for key in ("gnmi_heartbeat_s", "gnmi_suppress_redundant") if getattr(node, key)]
    ):
        problem = f"each answer of mode {node.gnmi_mode} is whole, and {said[0]} is for streams"
        yield EndpointFault(said[0], problem, f"Leave out {said[0]}, or gnmi_mode")
    if (node.client_cert is None) != (node.client_key is None):
        has, lacks = ("client_cert", "client_key") if node.client_key is None else ("client_key", "client_cert")
        yield EndpointFault(has, f"{has} is without {lacks}", "Name both files; they may be the same")


def _is_interval(value: object) -> bool:
    """Whether this is a number of seconds within the bounds, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | None):
        return False
    return value is None or SHORTEST_S <= value <= LONGEST_S


def _are(words: list[str]) -> str:
    return "is" if len(words) == 1 else "are"

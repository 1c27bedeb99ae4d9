"""The intent: the description of a fabric. Its keys are a contract with users."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from railfab.intent.backend import Backend
from railfab.intent.catalogue import SwitchEntry
from railfab.intent.change import ChangeSettings
from railfab.intent.hosts import Hosts, ModelSize
from railfab.intent.model import PREFIX_PATTERN, Interval, KeyFault, Listed, Model, Name, Text
from railfab.intent.networks import Frontend, Management, Storage
from railfab.intent.profile import Profile

Port = Annotated[int, Field(ge=1, le=65535)]


class Target(Model):
    """Address of one physical switch, for use without `--on`."""

    host: Text = Field(description="management address or name")
    ssh_port: Port = Field(default=22, description="SSH port")
    gnmi_port: Port = Field(default=57400, description="gNMI port")
    ca: Text | None = Field(default=None, description="PEM file of the CA that signed its certificate")
    known_hosts: Text | None = Field(default=None, description="OpenSSH known_hosts file; by default that of the user")
    credentials: Text = Field(
        default="env:RAILFAB", description="`env:PREFIX`, a YAML file, or `command:...`; never the secret"
    )
    skip_verify: bool = Field(default=False, description="do not verify the certificate and host key")
    plaintext: bool = Field(default=False, description="gNMI without TLS")
    client_cert: Text | None = Field(default=None, description="PEM file of our certificate, for mutual TLS")
    client_key: Text | None = Field(default=None, description="PEM file of its private key")
    tls_name: Text | None = Field(default=None, description="name in its certificate, where that is not the host")
    gnmi_target: str = Field(default="", description="target in the prefix of gNMI requests, behind a gateway")
    gnmi_interval_s: Interval | None = Field(
        default=None, description="how often it samples its counters [s]; by default as `collect --interval` says"
    )
    gnmi_mode: Literal["sample", "poll", "once"] | None = Field(
        default=None,
        description="mode of all its telemetry: `poll` or `once` where it streams nothing, `sample` where it sends no"
        " changes",
    )
    gnmi_encoding: Literal["proto", "json_ietf", "json", "bytes", "ascii"] | None = Field(
        default=None, description="encoding of its telemetry; by default the first one that it takes"
    )
    gnmi_heartbeat_s: Interval | None = Field(
        default=None, description="how often it sends also what has not changed, where it sends changes only [s]"
    )
    gnmi_suppress_redundant: bool = Field(default=False, description="leave out samples that have not changed")

    def _faults(self) -> Iterator[KeyFault]:
        from railfab.endpoints.model import Endpoint, contradictions

        for fault in contradictions(Endpoint(name="", platform="", **self.model_dump())):
            yield KeyFault(fault.key, fault.problem, fault.remedy)


class Names(Model):
    """Names of switches and hosts, the same in every fabric without a prefix."""

    prefix: Annotated[str, Field(max_length=20, pattern=PREFIX_PATTERN)] = Field(
        default="", description="text before the name of every switch and host, such as `dc1-`"
    )


class FabricIntent(Model):
    """A fabric."""

    version: Literal[1] = Field(description="version of the intent format")
    fabric: Name = Field(description="name of the fabric, used in file names and labels")
    names: Names = Field(default_factory=Names.model_construct, description="names of switches and hosts")
    profile: Profile = Field(
        default_factory=Profile.model_construct, description="settings of the whole fabric: routing, MTU, QoS"
    )
    hosts: Hosts = Field(default_factory=Hosts.model_construct, description="the GPU servers")
    backend: Backend = Field(description="the scale-out network of the GPUs")
    frontend: Frontend | None = Field(default=None, description="the network to users, schedulers and the outside")
    storage: Storage | None = Field(default=None, description="the network to datasets and checkpoints")
    management: Management | None = Field(
        default=None, description="the out-of-band network to every device, and the management access of switches"
    )
    models: dict[Text, ModelSize] = Field(default={}, description="AI models to size the fabric for, by name")
    catalogue: Text | None = Field(
        default=None,
        description="file with more switch models (only the key `switches`), relative to the folder of the intent",
    )
    switches: dict[Text, SwitchEntry] = Field(
        default={}, description="switch models that are not in the built-in catalogue, by name"
    )
    drain: Listed[Text] = Field(
        default=(), description="switches without traffic during work on them, by name: their neighbors use other paths"
    )
    change: ChangeSettings = Field(
        default_factory=ChangeSettings.model_construct, description="how changes of the fabric are rolled out"
    )
    inventory: dict[Text, Target] | None = Field(
        default=None, description="addresses of the physical switches, by name"
    )

    @property
    def management_network(self) -> Management | None:
        """The management, where its network is designed too."""
        return self.management if self.management and self.management.leaves else None

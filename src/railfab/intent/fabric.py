"""The intent: one description of a fabric, in the words of the field. Its keys are a contract with users."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from railfab.intent.backend import Backend
from railfab.intent.catalogue import SwitchEntry
from railfab.intent.hosts import Hosts, ModelSize
from railfab.intent.model import Model, Name, Text
from railfab.intent.networks import Frontend, Management, Storage
from railfab.intent.profile import Profile

Port = Annotated[int, Field(ge=1, le=65535)]


class Target(Model):
    """Where one physical switch is reached, for use without `--on`."""

    host: Text = Field(description="management address or name")
    ssh_port: Port = Field(default=22, description="port of SSH")
    gnmi_port: Port = Field(default=57400, description="port of gNMI")
    ca: Text | None = Field(default=None, description="PEM file of the authority that signed its certificate")
    known_hosts: Text | None = Field(default=None, description="OpenSSH known_hosts file; by default your own")
    credentials: Text = Field(default="env:RAILFAB", description="`env:PREFIX` or a YAML file; never the secret")
    skip_verify: bool = Field(default=False, description="do not check this target's certificate and host key")


class FabricIntent(Model):
    """A fabric."""

    version: Literal[1] = Field(description="of this format")
    fabric: Name = Field(description="name of the fabric: of files, labels and the state folder")
    profile: Profile = Field(default_factory=Profile, description="what holds for the whole fabric")
    hosts: Hosts = Field(default_factory=Hosts, description="the GPU servers")
    backend: Backend = Field(description="the scale-out network of the GPUs")
    frontend: Frontend | None = Field(default=None, description="users, schedulers and the outside")
    storage: Storage | None = Field(default=None, description="datasets and checkpoints")
    management: Management | None = Field(default=None, description="the way to every device")
    models: dict[Text, ModelSize] = Field(default={}, description="models to size the fabric for, by name")
    catalogue: Text | None = Field(
        default=None, description="file with more switch models, from the folder of the intent: `switches` and no more"
    )
    switches: dict[Text, SwitchEntry] = Field(default={}, description="switch models that the catalogue lacks, by name")
    inventory: dict[Text, Target] | None = Field(default=None, description="addresses of physical switches, by name")

"""The intent: one description of a fabric, in the words of the field. Its keys are a contract with users."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from railfab.intent.backend import Backend
from railfab.intent.catalogue import SwitchEntry
from railfab.intent.hosts import Hosts, ModelSize
from railfab.intent.model import Model, Name
from railfab.intent.networks import Frontend, Management, Storage
from railfab.intent.profile import Profile


class Target(Model):
    """Where one physical switch is reached, for use without `--on`."""

    host: str = Field(description="management address or name")
    ssh_port: int = Field(default=22, ge=1, le=65535)
    gnmi_port: int = Field(default=57400, ge=1, le=65535)
    ca: str | None = Field(default=None, description="PEM file of the authority that signed its certificate")
    known_hosts: str | None = None
    credentials: str = Field(default="env:RAILFAB", description="`env:PREFIX` or a YAML file; never the secret")
    skip_verify: bool = Field(default=False, description="do not check this target's certificate and host key")


class FabricIntent(Model):
    """A fabric."""

    version: Literal[1]
    fabric: Name
    profile: Profile = Profile()
    hosts: Hosts = Hosts()
    backend: Backend
    frontend: Frontend | None = Field(default=None, description="users, schedulers and the outside")
    storage: Storage | None = Field(default=None, description="datasets and checkpoints")
    management: Management | None = Field(default=None, description="the way to every device")
    models: dict[str, ModelSize] = Field(default={}, description="models to size the fabric for, by name")
    catalogue: str | None = Field(default=None, description="file with switch models, beside the intent's own folder")
    switches: dict[str, SwitchEntry] = Field(default={}, description="switch models that the catalogue lacks, by name")
    inventory: dict[str, Target] | None = Field(default=None, description="addresses of physical switches, by name")

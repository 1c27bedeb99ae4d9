"""NIC models, as data with its sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from railfab.errors import TopologyError
from railfab.findings import DesignCode, Finding, error, note
from railfab.intent import FabricIntent
from railfab.text.remedies import Choice, remedy, setting
from railfab.topology.catalogue import nearest
from railfab.yaml_reader.packaged import packaged

Family = Literal["mlx5", "bnxt", "ionic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NicModel:
    """One NIC model.

    family: driver family. pci, subsystem: vendor and device in hexadecimal, as in `PCI_ID` of sysfs, in lower case;
    subsystem None where the device is one product. rate_gbps: fastest port.
    """

    name: str
    vendor: str
    product: str
    family: Family
    pci: str
    rate_gbps: int
    source: str
    subsystem: str | None = None


@cache
def nic_models() -> Mapping[str, NicModel]:
    """Every NIC model by name."""
    document = packaged(__package__, "nics.yml")
    return {
        name: NicModel(name=name, source=document["sources"][entry["family"]], **entry)
        for name, entry in document["nics"].items()
    }


def nic_of(intent: FabricIntent) -> NicModel | None:
    """The NIC model that an intent states. Raises TopologyError for an unknown one."""
    name = intent.hosts.nic
    if name is None:
        return None
    if name not in nic_models():
        raise TopologyError("hosts.nic", f"{name!r} is not in the catalogue of NICs", nearest(name, nic_models()))
    return nic_models()[name]


TWO_LOSSLESS_CLASSES: tuple[Family, ...] = ("mlx5",)
"""Families whose settings include a second lossless class."""


def nic_findings(intent: FabricIntent) -> Iterator[Finding]:
    """Errors for ports faster than those of the stated NIC model, and for a lossless class for which it is not set.

    Raises TopologyError for an unknown model.
    """
    model, rate_gbps = nic_of(intent), intent.hosts.rate_gbps
    if model is not None and rate_gbps > model.rate_gbps:
        problem = f"a port of a {model.product} has at most {model.rate_gbps} Gb/s, not {rate_gbps}"
        yield error(DesignCode.NIC_SPEED, "hosts.nic", problem, "Use another NIC or another hosts.rate_gbps")
    storage = intent.profile.storage_class
    if model is None or storage is None or not storage.lossless or not needs_settings(intent):
        return
    if model.family not in TWO_LOSSLESS_CLASSES:
        problem = f"hosts/nic.py sets one lossless class on a {model.product}, and storage has a second one"
        change = remedy(setting("profile.storage_class.protocol", "nvme-tcp"), Choice("another NIC", verb="use"))
        yield error(DesignCode.NIC_CLASSES, "hosts.nic", problem, change)


def nic_notes(intent: FabricIntent) -> Iterator[Finding]:
    """A note about the settings of NICs that a plan has for a lossless fabric without a stated NIC model."""
    if intent.hosts.nic is None and needs_settings(intent):
        problem = "no NIC model is stated, so hosts/nic.py configures every NIC that it knows"
        fast = (one for one in nic_models().values() if one.rate_gbps >= intent.hosts.rate_gbps)
        fitting = min(fast, key=_rate, default=None)
        example = f", for example nic: {fitting.name}," if fitting else ""
        yield note(DesignCode.NIC_MODEL, "hosts.nic", problem, f"State the model{example} so that others are refused")


def needs_settings(intent: FabricIntent) -> bool:
    """Whether the NICs need settings to agree with the switches: the fabric has a lossless class for RoCEv2."""
    return intent.profile.lossless is not None and intent.profile.transport == "rocev2"


def _rate(model: NicModel) -> int:
    return model.rate_gbps

"""The catalogue: what a model can do, as data with its sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from railfab.errors import TopologyError


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchModel:
    """One switch model. breakouts: lanes to the speeds of a lane. names: platform to the name patterns of cage and lane.

    lane_gbps: fastest electrical lane of a cage. cage: form of a cage (osfp, qsfp-dd). power_w: the most, with optics.
    units: height in a rack.
    """

    name: str
    vendor: str
    silicon: str
    cages: int
    speeds_gbps: tuple[int, ...]
    breakouts: Mapping[int, tuple[int, ...]]
    buffer_bytes: int
    names: Mapping[str, Mapping[str, str]]
    lane_gbps: int = 100
    cage: str = ""
    power_w: int = 0
    units: int = 1
    source: str = ""

    @property
    def platform(self) -> str:
        """What it runs unless an intent says otherwise."""
        return next(iter(self.names))

    def lanes_for(self, rate_gbps: int) -> int | None:
        """How many ports of this speed a cage gives: 1 unbroken, more by breakout, None when it cannot."""
        if rate_gbps in self.speeds_gbps and rate_gbps == max(self.speeds_gbps):
            return 1
        broken = [lanes for lanes, speeds in self.breakouts.items() if rate_gbps in speeds]
        if broken:
            return max(broken)
        return 1 if rate_gbps in self.speeds_gbps else None

    def interface(self, platform: str, cage: int, lane: int | None) -> str:
        """The canonical name of a port on this platform. Raises TopologyError when the model does not run it."""
        if platform not in self.names:
            known = ", ".join(sorted(self.names))
            raise TopologyError(f"switch {self.name}", f"does not run platform {platform!r}", f"Use {known}")
        pattern = self.names[platform]["cage" if lane is None else "lane"]
        return pattern.format(cage=cage, lane=lane)


@cache
def catalogue() -> Mapping[str, SwitchModel]:
    """Every switch model, by name."""
    document = yaml.safe_load(files(__package__).joinpath("catalogue.yml").read_text())
    return {name: switch_entry(name, entry) for name, entry in document.items()}


def switch_model(name: str) -> SwitchModel:
    """The model of that name. Raises TopologyError."""
    if name not in catalogue():
        raise TopologyError(f"switch {name!r}", "is not in the catalogue", f"Use {', '.join(sorted(catalogue()))}")
    return catalogue()[name]


def switch_entry(name: str, entry: Mapping[str, Any]) -> SwitchModel:
    """One entry of a catalogue file as a model."""
    fields = dict(entry)
    breakouts = {lanes: tuple(speeds) for lanes, speeds in fields.pop("breakouts", {}).items()}
    return SwitchModel(name=name, breakouts=breakouts, speeds_gbps=tuple(fields.pop("speeds_gbps")), **fields)

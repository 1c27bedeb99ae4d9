"""Switch models that a user adds to the catalogue, in the intent or in a file of their own."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from railfab.intent.model import Listed, Model, Rate


class InterfaceNames(Model):
    """."""

    cage: str = Field(description="an unbroken cage")
    lane: str | None = Field(default=None, description="a lane of a broken-out cage")


class SwitchEntry(Model):
    """One switch model."""

    vendor: str
    silicon: str
    cages: Annotated[int, Field(ge=1, le=1024)] = Field(description="front-panel cages that links use")
    speeds_gbps: Listed[Rate] = Field(description="what a cage runs at unbroken [Gb/s]")
    breakouts: dict[Annotated[int, Field(ge=2, le=16)], Listed[Rate]] = Field(
        default={}, description="lanes to the speeds of each [Gb/s]"
    )
    lane_gbps: int = Field(default=100, ge=1, le=400, description="fastest electrical lane of a cage [Gb/s]")
    buffer_bytes: Annotated[int, Field(ge=1, le=10**12)] = Field(description="shared packet buffer of the chip")
    cage: str = Field(default="", description="form of a cage: osfp, qsfp-dd, qsfp56, ...")
    power_w: Annotated[int, Field(ge=0, le=100_000)] = Field(default=0, description="largest power with optics [W]")
    units: Annotated[int, Field(ge=0, le=48)] = Field(default=1, description="height in a rack [U]")
    source: str = Field(default="", description="where these figures are from")
    names: dict[str, InterfaceNames] = Field(description="interface names by platform; the first is the default")


class CatalogueFile(Model):
    """A file of switch models."""

    switches: dict[str, SwitchEntry]

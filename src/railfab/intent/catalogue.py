"""Switch models that a user adds to the catalogue, in the intent or in a file of their own."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from railfab.intent.model import NUMBERED, Line, Listed, Model, Rate, Text


class InterfaceNames(Model):
    """Names of ports on one platform, with fields in braces.

    Of a cage: `{cage}` from 1, `{port}` from 0, `{electrical}`, its first electrical lane on the switch, from 0. Of a
    lane besides: `{lane}` from 1, `{sub}` from 0, `{first}`, its first electrical lane in the cage, from 1.
    """

    cage: Text = Field(description="an unbroken cage, as `Ethernet{cage}/1`")
    lane: Text | None = Field(
        default=None,
        description="a port of a broken-out cage, as `Ethernet{cage}/{lane}`; none where it breaks out none",
    )


class SwitchEntry(Model):
    """One switch model."""

    vendor: Text = Field(description="who makes it")
    silicon: Text = Field(description="its chip")
    cages: Annotated[int, Field(ge=1, le=1024)] = Field(description="front-panel cages that links use")
    speeds_gbps: Listed[Rate] = Field(description="what a cage runs at unbroken [Gb/s]")
    breakouts: dict[Annotated[int, Field(ge=2, le=16)], Listed[Rate]] = Field(
        default={},
        description="ports that a cage splits into, and the speeds of each [Gb/s]",
        json_schema_extra=NUMBERED,
    )
    at_most: dict[Rate, Annotated[int, Field(ge=1, le=1024)]] = Field(
        default={},
        description="speeds that fewer cages run [Gb/s], and how many do",
        json_schema_extra=NUMBERED,
    )
    lane_gbps: int = Field(default=100, ge=1, le=400, description="fastest electrical lane of a cage [Gb/s]")
    buffer_bytes: Annotated[int, Field(ge=1, le=10**12)] = Field(description="shared packet buffer of the chip [bytes]")
    cage: Line = Field(default="", description="form of a cage: osfp, qsfp-dd, qsfp56, ...")
    power_w: Annotated[int, Field(ge=0, le=100_000)] = Field(default=0, description="largest power with optics [W]")
    units: Annotated[int, Field(ge=0, le=48)] = Field(default=1, description="height in a rack [U]")
    source: Line = Field(default="", description="where these figures are from")
    names: dict[Text, InterfaceNames] = Field(description="interface names by platform; the first is the default")


class CatalogueFile(Model):
    """A file of switch models."""

    switches: dict[Text, SwitchEntry] = Field(description="switch models by name")

"""Switch models that a user adds to the catalogue, in the intent or in a separate file."""

from typing import Annotated

from pydantic import Field

from railfab.intent.model import NUMBERED, Line, Listed, Model, Rate, Text


class InterfaceNames(Model):
    """Templates of the port names on one platform, with fields in braces.

    Fields of a cage: `{cage}` from 1, `{port}` from 0, `{electrical}`, its first electrical lane on the switch, from 0.
    More fields of a breakout port: `{lane}` from 1, `{sub}` from 0, `{first}`, its first electrical lane in the cage,
    from 1.
    """

    cage: Text = Field(description="name of a cage without breakout, such as `Ethernet{cage}/1`")
    lane: Text | None = Field(
        default=None,
        description="name of a breakout port, such as `Ethernet{cage}/{lane}`; leave out if there are none",
    )


class SwitchEntry(Model):
    """One switch model."""

    vendor: Text = Field(description="manufacturer")
    silicon: Text = Field(description="switch chip")
    cages: Annotated[int, Field(ge=1, le=1024)] = Field(description="front-panel cages for links")
    speeds_gbps: Listed[Rate] = Field(description="speeds of a cage without breakout [Gb/s]")
    breakouts: dict[Annotated[int, Field(ge=2, le=16)], Listed[Rate]] = Field(
        default={},
        description="breakout: ports per cage, and the speeds of each port [Gb/s]",
        json_schema_extra=NUMBERED,
    )
    at_most: dict[Rate, Annotated[int, Field(ge=1, le=1024)]] = Field(
        default={},
        description="speeds that only some cages support [Gb/s], and the number of those cages",
        json_schema_extra=NUMBERED,
    )
    lane_gbps: int = Field(
        default=100, ge=1, le=400, description="largest speed of an electrical lane of a cage [Gb/s]"
    )
    buffer_bytes: Annotated[int, Field(ge=1, le=10**12)] = Field(description="shared packet buffer of the chip [bytes]")
    default_headroom_bytes: Annotated[int, Field(ge=0, le=10**9)] = Field(
        default=0, description="PFC headroom that the platform gives each port by default [bytes]"
    )
    cage: Line = Field(default="", description="form factor of a cage: osfp, qsfp-dd, qsfp56, ...")
    power_w: Annotated[int, Field(ge=0, le=100_000)] = Field(default=0, description="largest power with optics [W]")
    units: Annotated[int, Field(ge=0, le=48)] = Field(default=1, description="height in a rack [U]")
    routes: Annotated[int, Field(ge=1, le=10**8)] | None = Field(
        default=None, description="IPv4 prefixes that the forwarding table holds; by default it is not checked"
    )
    next_hop_groups: Annotated[int, Field(ge=1, le=10**7)] | None = Field(
        default=None, description="next-hop groups (ECMP) that the switch holds; by default they are not checked"
    )
    source: Line = Field(default="", description="source of these figures")
    names: dict[Text, InterfaceNames] = Field(description="interface names by platform; the first is the default")


class CatalogueFile(Model):
    """A file of switch models."""

    switches: dict[Text, SwitchEntry] = Field(description="switch models by name")

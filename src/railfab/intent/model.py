"""The base of every model a user's YAML becomes."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Model(BaseModel):
    """Frozen; an unknown key is an error, and so is a number in quotes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Name = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$")]
"""Fabric and job names: they become parts of file names, host names and labels."""

Count = Annotated[int, Field(ge=1, le=4096)]
Rate = Annotated[int, Field(ge=1, le=1600)]
"""Port speeds [Gb/s]."""

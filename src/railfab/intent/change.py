"""Settings of how changes of the fabric are rolled out."""

from typing import Annotated

from pydantic import Field

from railfab.intent.model import Model


class ChangeSettings(Model):
    """Settings of a roll-out in waves."""

    max_bandwidth_loss: Annotated[float, Field(gt=0, le=100)] = Field(
        default=25,
        description="share of the bandwidth of a rail or a tier that the switches of a wave may have together [%]",
    )

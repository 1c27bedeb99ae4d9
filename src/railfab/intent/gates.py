"""Limits of the gate of the telemetry, which a roll-out passes after each wave."""

from typing import Annotated

from pydantic import Field

from railfab.intent.model import Model

Share = Annotated[float, Field(ge=0, le=1)]


class GateLimits(Model):
    """Limits of what the telemetry shows after a wave; a value that was as bad before it does not stop a roll-out."""

    window_s: Annotated[float, Field(ge=2, le=600)] = Field(
        default=30, description="time that is measured before and after each wave [s]"
    )
    lossless_drops: Annotated[float, Field(ge=0, le=1e6)] = Field(
        default=0, description="packets of a lossless class that a port may drop [packets/s]"
    )
    paused: Share = Field(
        default=0.5, description="share of the time for which a lossless priority of a port may be paused"
    )
    ecn_marked: Share = Field(
        default=0.05, description="share of the packets of a queue of RoCE that may be marked with ECN"
    )
    unmarked_pauses: Annotated[float, Field(ge=0, le=1e6)] = Field(
        default=10, description="pause frames that a switch may send while it marks no packet [1/s]"
    )
    errors: Annotated[float, Field(ge=0, le=1e6)] = Field(
        default=5, description="damaged packets, and codewords beyond FEC, that a port may receive [1/min]"
    )
    bit_errors: Annotated[float, Field(gt=1, le=1e6)] = Field(
        default=10, description="times the bit errors before FEC that a port may have"
    )
    rail_asymmetry: Share = Field(
        default=0.25, description="share of the traffic of the busiest rail that another one may lack under a job"
    )
    step_time: Annotated[float, Field(gt=1, le=100)] = Field(
        default=1.2, description="times the former step time that a job may take"
    )

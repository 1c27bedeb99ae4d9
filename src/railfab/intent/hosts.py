"""The GPU servers, and the models that people size them for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from railfab.intent.model import Fault, Model, OrOff, Rate, Text, or_off


class ScaleUp(Model):
    """The network inside a host, over which rails meet that no spine joins."""

    name: Text = Field(default="NVLink", description="what it is called")
    gbps_per_gpu: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=3600, description="what a GPU sends into it [Gb/s]; NVLink 4: 450 GB/s a direction"
    )


class Hosts(Model):
    """The GPU servers."""

    gpus: Annotated[int, Field(ge=1, le=72)] = Field(default=8, description="GPUs of a host")
    nic_per: Literal["gpu"] | Annotated[int, Field(ge=2, le=72)] = Field(
        default="gpu", description="what has a NIC of its own: each GPU, or so many GPUs together; a rail each"
    )
    nic_ports: Annotated[int, Field(ge=1, le=4)] = Field(default=1, description="ports of a NIC")
    rate_gbps: Rate = Field(default=400, description="speed of a NIC port [Gb/s]")
    attach: Literal["routed", "vlan", "mlag", "esi"] = Field(
        default="routed",
        description="routed: a /31 per NIC port; vlan: a VLAN a rail, gateway on the switch; mlag, esi: a LAG over two",
    )
    reorder: bool = Field(default=False, description="the NICs put packets back in order, as `ecmp: packet` needs")
    lane_gbps: Literal[10, 25, 50, 100, 200] | None = Field(
        default=None, description="electrical lane of a NIC port [Gb/s]; by default the switch port's"
    )
    model: Text = Field(default="gpu-server-8", description="host model, from the catalogue: power, height, GPU memory")
    power_w: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="what a host takes at most [W]; by default the model's"
    )
    units: Annotated[int, Field(ge=1, le=48)] | None = Field(
        default=None, description="height of a host [U]; by default the model's"
    )
    gpu_memory_gb: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=None, description="memory of a GPU [GB]; by default the model's"
    )
    per_rack: Annotated[int, Field(ge=1, le=48)] = Field(default=4, description="hosts of a rack")
    scale_up: OrOff[ScaleUp] = Field(
        default_factory=ScaleUp, description="`off` where GPUs of a host do not meet", json_schema_extra=or_off
    )

    def _faults(self) -> Iterator[Fault]:
        if self.gpus % self.gpus_per_nic:
            problem = f"{self.gpus} GPUs of a host cannot share NICs by {self.nic_per}"
            yield Fault("nic_per", problem, f"Use a divisor of {self.gpus}, or gpu")

    @property
    def gpus_per_nic(self) -> int:
        return 1 if self.nic_per == "gpu" else self.nic_per

    @property
    def nics(self) -> int:
        """NICs of a host: its rails."""
        return self.gpus // self.gpus_per_nic


class ModelSize(Model):
    """A model that people want to run, for the table of GPU counts."""

    parameters_billion: Annotated[float, Field(gt=0, le=1e6)] = Field(description="parameters [10^9]")
    bytes_per_parameter: Annotated[float, Field(gt=0, le=16)] = Field(
        default=2.0, description="what one takes in GPU memory [bytes]"
    )

"""The GPU servers, and the AI models to size them for."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from railfab.intent.model import KeyFault, Listed, Model, OrOff, Rate, Text, or_off
from railfab.text.counted import counted

RdmaDevice = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,21}$")]
"""A name of the kernel, such as mlx5_0. NCCL reads 1,023 characters of NCCL_IB_HCA, and 32 devices."""


class ScaleUp(Model):
    """The scale-up network inside a host; without spines it connects the rails."""

    name: Text = Field(default="NVLink", description="product name")
    gbps_per_gpu: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=3600, description="bandwidth per GPU and direction [Gb/s]; NVLink 4: 450 GB/s"
    )


class Hosts(Model):
    """The GPU servers."""

    gpus: Annotated[int, Field(ge=1, le=72)] = Field(default=8, description="GPUs per host")
    nic_per: Literal["gpu"] | Annotated[int, Field(ge=2, le=72)] = Field(
        default="gpu", description="gpu: one NIC per GPU; n: one NIC per n GPUs; each NIC is a rail"
    )
    nic_ports: Annotated[int, Field(ge=1, le=4)] = Field(default=1, description="ports per NIC")
    rate_gbps: Rate = Field(default=400, description="speed of a NIC port [Gb/s]")
    pcie_gbps: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        default=None,
        description="what the PCIe of a NIC carries in each direction, as payload [Gb/s]; by default no less than its "
        "ports",
    )
    attach: Literal["routed", "vlan", "mlag", "esi"] = Field(
        default="routed",
        description="routed: a /31 per NIC port; vlan: a VLAN per rail, gateway on the switch; "
        "mlag, esi: a LAG to two switches",
    )
    reorder: bool = Field(
        default=False, description="the NICs reorder packets, which `ecmp: packet` and `adaptive` need"
    )
    nic: Text | None = Field(
        default=None,
        description="NIC model, from the catalogue: `plan -o` writes its settings; by default those of all NICs",
    )
    rdma_devices: Annotated[Listed[RdmaDevice], Field(max_length=32)] = Field(
        default=(),
        description="names of the RDMA devices by rail, then by port of the NIC; one a rail where its ports are a LAG: "
        "for NCCL_IB_HCA",
    )
    lane_gbps: Literal[10, 25, 50, 100, 200] | None = Field(
        default=None, description="speed of an electrical lane of a NIC port [Gb/s]; by default that of the switch port"
    )
    model: Text = Field(default="gpu-server-8", description="host model, from the catalogue: power, height, GPU memory")
    power_w: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="largest power of a host [W]; by default that of the model"
    )
    units: Annotated[int, Field(ge=1, le=48)] | None = Field(
        default=None, description="height of a host [U]; by default that of the model"
    )
    gpu_memory_gb: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=None, description="memory of a GPU [GB]; by default that of the model"
    )
    per_rack: Annotated[int, Field(ge=1, le=48)] = Field(default=4, description="hosts per rack")
    scale_up: OrOff[ScaleUp] = Field(
        default_factory=ScaleUp.model_construct,
        description="the network between the GPUs of a host; `off` if there is none",
        json_schema_extra=or_off,
    )

    def _faults(self) -> Iterator[KeyFault]:
        if self.gpus % self.gpus_per_nic:
            problem = f"{self.gpus} GPUs per host do not divide into groups of {self.nic_per} per NIC"
            yield KeyFault("nic_per", problem, f"Use a divisor of {self.gpus}, or gpu")
        devices, expected = len(self.rdma_devices), self.nics * self.devices_per_nic
        if devices and devices != expected:
            problem = f"{counted(devices, 'RDMA device')} for {counted(expected, 'port')} of NICs"
            yield KeyFault("rdma_devices", problem, "Name one for each, or none")
        elif len(set(self.rdma_devices)) < devices:
            yield KeyFault("rdma_devices", "an RDMA device is named twice", "Name each once")

    @property
    def port_gbps(self) -> float:
        """Rate at which a NIC port sends and receives: its speed, or its share of PCIe [Gb/s]."""
        return self.rate_gbps if self.pcie_gbps is None else min(self.rate_gbps, self.pcie_gbps / self.nic_ports)

    @property
    def gpus_per_nic(self) -> int:
        return 1 if self.nic_per == "gpu" else self.nic_per

    @property
    def devices_per_nic(self) -> int:
        """RDMA devices of a NIC: one of each port, or of the LAG that these are."""
        return 1 if self.attach in ("mlag", "esi") else self.nic_ports

    @property
    def nics(self) -> int:
        """NICs per host, which is the number of rails."""
        return self.gpus // self.gpus_per_nic


class ModelSize(Model):
    """Size of an AI model, for the table of GPU counts."""

    parameters_billion: Annotated[float, Field(gt=0, le=1e6)] = Field(description="parameters [10^9]")
    bytes_per_parameter: Annotated[float, Field(gt=0, le=16)] = Field(
        default=2.0, description="GPU memory per parameter [bytes]"
    )

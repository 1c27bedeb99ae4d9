"""Trees of hosts for the agent: sysfs as the drivers make it, and what their tools print, captured.

The settings are those of `tests.hosts.rig`, whose tools are asked once. Sources of the rest:
mlx5: Linux drivers/infiniband/hw/mlx5/counters.c (names of hw_counters), Documentation/networking/device_drivers/
ethernet/mellanox/mlx5/counters.rst (names of `ethtool -S`), drivers/infiniband/core/sysfs.c (folder counters);
bnxt: drivers/infiniband/hw/bnxt_re/hw_counters.c, drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c; those of CNPs
and marks, which Broadcom's driver has and Linux's has not: counter collector of AMD's rccl-tests;
ionic: counter collector of AMD's rccl-tests, outputs of `ethtool -S` in AMD's device-metrics-exporter;
PCIe: drivers/pci/pci-sysfs.c and pci.c (`32.0 GT/s PCIe`, width 63 or less); lldpcli: lldpd 1.0.16 with -f json0.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tests.hosts.rig import Host, fabric, host

from railfab.hostagent.checker import HostChecker
from railfab.hostagent.host_tree import CAPTURED, captured_name
from railfab.hosts import nic_models
from railfab.hosts.nic import System

MODELS = ("connectx-6", "connectx-7", "connectx-8", "bcm57508", "bcm57608", "pollara-400")
PCIE = {200: "16.0 GT/s PCIe", 400: "32.0 GT/s PCIe", 800: "64.0 GT/s PCIe"}
"""A lane of the PCIe generation that a NIC of this rate has, for 16 lanes."""
HARDWARE: Mapping[str, Sequence[str]] = {
    "mlx5": (
        *("duplicate_request", "implied_nak_seq_err", "local_ack_timeout_err", "np_cnp_sent", "out_of_buffer"),
        *("np_ecn_marked_roce_packets", "out_of_sequence", "packet_seq_err", "req_cqe_error", "rnr_nak_retry_err"),
        *("req_transport_retries_exceeded", "roce_adp_retrans", "rp_cnp_handled", "rp_cnp_ignored"),
    ),
    "bnxt": (
        *("active_qps", "dup_req", "max_retry_exceeded", "missing_resp", "oos_drop_count", "rnr_naks_rcvd"),
        *("np_cnp_sent", "np_ecn_marked_roce_packets", "rp_cnp_handled"),
        *(
            "rx_bytes",
            "rx_out_of_buffer",
            "rx_pkts",
            "rx_roce_discards",
            "tx_roce_discards",
            "seq_err_naks_rcvd",
            "to_retransmits",
            "tx_bytes",
            "tx_pkts",
        ),
    ),
    "ionic": (
        *("req_rx_impl_nak_seq_err", "req_rx_pkt_seq_err", "req_rx_rnr_retry_err", "req_tx_retry_excd_err"),
        *("resp_rx_outof_buf", "resp_rx_outouf_seq", "rx_rdma_cnp_pkts", "rx_rdma_ecn_pkts", "rx_rdma_ucast_bytes"),
        *("rx_rdma_ucast_pkts", "tx_rdma_ucast_pkts"),
        *("tx_rdma_ack_timeout", "tx_rdma_cnp_pkts", "tx_rdma_retx_pkts", "tx_rdma_ucast_bytes"),
    ),
}
STANDARD = ("port_rcv_data", "port_xmit_data", "port_rcv_packets", "port_xmit_packets")
STATISTICS: Mapping[str, Sequence[str]] = {
    "mlx5": (
        *("rx_packets", "rx_bytes", "link_down_events_phy", "tx_pause_storm_error_events", "rx_prio3_pause"),
        *("rx_prio3_pause_duration", "tx_prio3_pause", "tx_prio3_pause_duration", "rx_prio3_discards"),
    ),
    "bnxt": (
        *("[0]: rx_ucast_packets", "rx_pfc_ena_frames_pri3", "tx_pfc_ena_frames_pri3"),
        *("pfc_pri3_rx_duration_us", "pfc_pri3_tx_duration_us"),
    ),
    "ionic": (
        *("rx_packets", "frames_rx_pripause_3", "frames_tx_pripause_3", "rx_pripause_3_1us_count"),
        *("tx_pripause_3_1us_count", "rx_3_dropped"),
    ),
}
CABLES = {f"enp{rail}s0": (f"pod1-seg1-leaf{rail}", "ethernet-1/1") for rail in range(1, 9)}
"""Port of a switch by interface."""
NETCLASS = {
    **{"addr_assign_type": "0", "address": "94:6d:ae:00:00:01", "addr_len": "6", "broadcast": "ff:ff:ff:ff:ff:ff"},
    **{"carrier_changes": "3", "carrier_down_count": "1", "carrier_up_count": "2", "dev_id": "0x0", "dormant": "0"},
    **{"duplex": "full", "flags": "0x1003", "ifalias": "", "ifindex": "2", "iflink": "2", "link_mode": "0"},
    **{"mtu": "9216", "name_assign_type": "4", "netdev_group": "0", "operstate": "up", "tx_queue_len": "1000"},
    **{"type": "1"},
}
"""Files of an interface beside those below: Linux Documentation/ABI/testing/sysfs-class-net."""


@dataclass(frozen=True, kw_only=True)
class HostTree:
    """The tree of a host of two rails, and the nic.json of its plan."""

    root: Path
    data: Path

    def path(self, name: str) -> Path:
        """The file of the host with this name."""
        return self.root / name.lstrip("/")

    def write(self, name: str, text: str) -> None:
        """Make this the content of a file."""
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(f"{text}\n")

    def captured(self, *command: str) -> Path:
        """The file with the output of a command."""
        return self.root / CAPTURED / captured_name(command)

    def device(self, interface: str) -> Path:
        """The PCI device of an interface."""
        return self.path(f"/sys/class/net/{interface}/device").resolve()

    def rdma(self, interface: str) -> Path:
        """The port of the RDMA device of an interface."""
        (name,) = (path.name for path in (self.device(interface) / "infiniband").iterdir())
        return self.path(f"/sys/class/infiniband/{name}/ports/1")


class RecordingSystem(System):
    """A host whose outputs are kept as a tree has them."""

    def _run(self, command: Sequence[str]) -> str:
        output = super()._run(command)
        programs = command[0].split("|")
        path = self.root / CAPTURED / captured_name([programs[0], *command[1:]])
        path.parent.mkdir(exist_ok=True)
        path.write_text(output)
        return output


def host_tree(folder: Path, model: str, *, as_wanted: bool = True, rails: int = 2) -> HostTree:
    """The tree of a host with this NIC on each rail. as_wanted: after `nic.py --apply`, else as delivered."""
    made = host(folder, fabric(model, rails=rails), model, rails=rails)
    if as_wanted:
        made.run("--apply")
    rate_gbps, family = nic_models()[model].rate_gbps, nic_models()[model].family
    tree = HostTree(root=made.root, data=folder / "plan" / "nic.json")
    cables = dict(islice(CABLES.items(), rails))
    for number, interface in enumerate(cables, start=1):
        write_interface(tree, interface, rate_gbps=rate_gbps)
        write_counters(tree, interface, family, first=1000 * number)
    with tools_of(made):
        HostChecker(json.loads(tree.data.read_text()), "host1", RecordingSystem(tree.root)).check()
    for interface in cables:
        tree.captured("ethtool", "-m", interface).write_text(OPTIC)
    tree.captured("lldpcli", "-f", "json0", "show", "neighbors", "details").write_text(json.dumps(lldp(cables)))
    return tree


@contextmanager
def tools_of(made: Host) -> Iterator[None]:
    """The programs of the host stand before all others."""
    before = os.environ["PATH"]
    os.environ["PATH"] = f"{made.folder / 'bin'}"
    try:
        yield
    finally:
        os.environ["PATH"] = before


def write_interface(tree: HostTree, interface: str, *, rate_gbps: float) -> None:
    """Link and PCIe of an interface that has the rate of its NIC."""
    for name, text in {**NETCLASS, "carrier": "1", "speed": f"{rate_gbps * 1000:g}"}.items():
        tree.write(f"/sys/class/net/{interface}/{name}", text)
    for kind in ("current", "max"):
        (tree.device(interface) / f"{kind}_link_speed").write_text(f"{PCIE[int(rate_gbps)]}\n")
        (tree.device(interface) / f"{kind}_link_width").write_text("16\n")
    rdma = next((tree.device(interface) / "infiniband").iterdir())
    (rdma / "node_type").write_text("1: CA\n")
    port = {"state": "4: ACTIVE", "phys_state": "5: LinkUp", "rate": f"{rate_gbps:g} Gb/sec (4X NDR)"}
    device = {"board_id": "MT_0000000838", "fw_ver": "28.39.1002", "hca_type": "MT4129"}
    for name, text in {**port, **{f"../../{name}": text for name, text in device.items()}}.items():
        (tree.rdma(interface) / name).write_text(f"{text}\n")
    tree.captured("x").parent.mkdir(exist_ok=True)
    fec = f"FEC parameters for {interface}:\nSupported/Configured FEC encodings: Auto RS\nActive FEC encoding: RS\n"
    tree.captured("ethtool", "--show-fec", interface).write_text(fec)


def write_counters(tree: HostTree, interface: str, family: str, *, first: int) -> None:
    """Counters with numbers from this one on, in the order of their names above."""
    for number, name in enumerate(HARDWARE[family], start=first):
        path = tree.rdma(interface) / "hw_counters" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{number}\n")
    if family == "mlx5":
        for number, name in enumerate(STANDARD, start=first):
            path = tree.rdma(interface) / "counters" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"{number}\n")
    lines = [f"     {name}: {number}" for number, name in enumerate(STATISTICS[family], start=first)]
    tree.captured("ethtool", "-S", interface).write_text("NIC statistics:\n" + "\n".join(lines) + "\n")


OPTIC = """\
\tIdentifier                                : 0x11 (QSFP28)
\tTransmit avg optical power (Channel 1)    : 0.7633 mW / -1.17 dBm
\tTransmit avg optical power (Channel 2)    : 0.7649 mW / -1.16 dBm
\tTransmit avg optical power (Channel 3)    : 0.7696 mW / -1.14 dBm
\tTransmit avg optical power (Channel 4)    : 0.0000 mW / -inf dBm
\tRcvr signal avg optical power(Channel 1)  : 0.9240 mW / -0.34 dBm
\tRcvr signal avg optical power(Channel 2)  : 0.0912 mW / -10.40 dBm
\tRcvr signal avg optical power(Channel 3)  : 0.0000 mW / -inf dBm
\tRcvr signal avg optical power(Channel 4)  : 0.0000 mW / -inf dBm
"""
"""An optic of which lane 2 is dirty, lane 3 receives nothing, and lane 4 is not used: ethtool, qsfp.c."""


def lldp(cables: Mapping[str, tuple[str, str]]) -> dict[str, object]:
    """What lldpcli prints of these neighbours."""
    entries = [
        {
            "name": interface,
            "via": "LLDP",
            "chassis": [{"id": [{"type": "mac", "value": "e6:9a:54:ef:aa:40"}], "name": [{"value": device}]}],
            "port": [{"id": [{"type": "ifname", "value": port}], "descr": [{"value": f"to {interface}"}]}],
        }
        for interface, (device, port) in cables.items()
    ]
    return {"lldp": [{"interface": entries}]}

"""Settings of NVIDIA ConnectX and BlueField NICs (driver mlx5), by mlnx_qos, sysfs and mlxconfig.

Receive buffers stay with the firmware, which gives the lossless priority a buffer of its own when PFC is set; the
driver computes them itself only after `--prio2buffer` or `--buffer_size` (Linux mlx5 en_dcbnl.c,
mlx5e_dcbnl_ieee_setpfc), and then uses the cable length. The rate machine of DCQCN keeps its defaults in firmware.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.hosts.linux import link_pause, lldpad, mtu, rdma_cm
from railfab.hosts.settings import Read, Setting, by_priority, tos
from railfab.intent import Lossless, StorageClass

MLNX_QOS = ("mlnx_qos", "-i", "{interface}")
TOOLS = "Mellanox/mlnx-tools, python/mlnx_qos"
ECN_SYSFS = "NVIDIA MLNX_OFED 24.10, Explicit Congestion Notification"
NO_OFED = "only the driver of MLNX_OFED or DOCA has it"
FIRMWARE = "mlxconfig query of a ConnectX (names and values); NVIDIA Firmware Tools"
RESET = "in effect after a reboot, or `mlxfwreset -d {pci} reset`"


def mlx5_settings(lossless: Lossless, storage: StorageClass | None = None) -> Iterator[Setting]:
    """The settings in the order of writing: DCBX before PFC, trust before the map, 802.3x off before PFC.

    storage: the lossless class of storage; None without.
    """
    yield lldpad()
    yield mtu()
    yield link_pause()
    yield Setting(
        name="dcbx-owner",
        wanted="OS",
        read=Read(run=MLNX_QOS, find=r"DCBX mode: (\w+) controlled"),
        run=((*MLNX_QOS, "--dcbx", "os"),),
        source=TOOLS,
    )
    yield from _classes(lossless)
    if storage is not None:
        yield _dscps("storage-dscp", storage.dscp, storage.priority)
    yield from _pfc(lossless, storage)
    yield from _ets(lossless, storage)
    yield from rdma_cm(lossless)
    yield Setting(
        name="traffic-class",
        wanted=str(tos(lossless)),
        read=Read(files=("/sys/class/infiniband/{rdma}/tc/1/traffic_class",), find=r"^(?:Global tclass=)?(\d+)$"),
        compare="dscp",
        text=str(tos(lossless)),
        absent=f"{NO_OFED}; without it, applications such as NCCL set the traffic class",
        source="MLNX_OFED, drivers/infiniband/hw/mlx5/main.c, traffic_class_show; used by mlx5 as DSCP (qp.c)",
    )
    if lossless.ecn:
        yield from _dcqcn(lossless)
    yield from _firmware(lossless)


def _classes(lossless: Lossless) -> Iterator[Setting]:
    """Trust in DSCP, and the map: by default DSCP / 8, which puts eight code points into the lossless priority."""
    priority, cnp = lossless.priority, lossless.cnp_queue
    yield Setting(
        name="trust",
        wanted="dscp",
        read=Read(run=MLNX_QOS, find=r"Priority trust state: (\w+)"),
        run=((*MLNX_QOS, "--trust", "dscp"),),
        source=TOOLS,
    )
    yield _dscps("roce-dscp", lossless.dscp, priority)
    yield Setting(
        name="cnp-dscp-map",
        wanted=str(lossless.cnp_dscp),
        read=Read(run=MLNX_QOS, find=rf"prio:{cnp} dscp:([\d,]+)", every=True),
        compare="includes",
        run=((*MLNX_QOS, "--dscp2prio", f"set,{lossless.cnp_dscp},{cnp}"),),
        source=TOOLS,
    )


def _dscps(name: str, dscp: int, priority: int) -> Setting:
    """One code point alone in a lossless priority."""
    return Setting(
        name=name,
        wanted=str(dscp),
        read=Read(run=MLNX_QOS, find=rf"prio:{priority} dscp:([\d,]+)", every=True),
        compare="set",
        undo=(*MLNX_QOS, "--dscp2prio", "set,{extra},0"),
        run=((*MLNX_QOS, "--dscp2prio", f"set,{dscp},{priority}"),),
        source=TOOLS,
    )


def _pfc(lossless: Lossless, storage: StorageClass | None) -> Iterator[Setting]:
    """PFC, cable length and receive buffer. One command carries PFC and length: an older mlnx_qos clears the other."""
    own = {storage.priority: int(lossless.pfc)} if storage else {}
    mask = by_priority(lossless, roce=int(lossless.pfc), cnp=0, other=0, storage=own)
    command = (*MLNX_QOS, "--pfc", ",".join(mask), "--cable_len", "{cable_m}")
    yield Setting(
        name="pfc",
        wanted=" ".join(mask),
        read=Read(run=MLNX_QOS, find=r"enabled +((?:[01] +){7}[01])"),
        run=(command,),
        note="the link goes down for a moment",
        source=f"{TOOLS}; Linux mlx5 en_dcbnl.c, mlx5e_dcbnl_ieee_setpfc (toggles the link)",
    )
    yield Setting(
        name="cable-length",
        wanted="{cable_m}",
        read=Read(run=MLNX_QOS, find=r"Cable len: (\d+)"),
        compare="number",
        run=(command,),
        source=f"{TOOLS}; Linux mlx5 port_buffer.c, calculate_xoff",
    )
    if lossless.pfc:
        second = {storage.priority: 2} if storage else {}
        buffers = by_priority(lossless, roce=1, cnp=0, other=0, storage=second)
        yield Setting(
            name="receive-buffer",
            wanted=" ".join(buffers),
            read=Read(run=MLNX_QOS, find=r"buffer +((?:\d +){7}\d)"),
            run=((*MLNX_QOS, "--prio2buffer", ",".join(buffers)),),
            absent="mlnx_qos reports no buffers of this NIC",
            source=f"{TOOLS}; Linux mlx5 port_buffer.c, update_buffer_lossy",
        )


def _ets(lossless: Lossless, storage: StorageClass | None) -> Iterator[Setting]:
    """Shares as on the switches. Traffic class = priority for RoCE and CNPs, and 0 for all else."""
    priority, cnp, weights = (
        lossless.priority,
        lossless.cnp_queue,
        {storage.priority: storage.weight} if storage else {},
    )
    rest = 100 - lossless.weight - sum(weights.values())
    classes = by_priority(lossless, roce=priority, cnp=cnp, other=0, storage={number: number for number in weights})
    shared = dict.fromkeys(weights, "ets")
    algorithms = ("ets", *by_priority(lossless, roce="ets", cnp="strict", other="strict", storage=shared)[1:])
    shares = (str(rest), *by_priority(lossless, roce=lossless.weight, cnp=0, other=0, storage=weights)[1:])
    options = ("--prio_tc", classes, "--tsa", algorithms, "--tcbw", shares)
    command = (*MLNX_QOS, *(one if isinstance(one, str) else ",".join(one) for one in options))
    for name, number, wanted in (
        ("ets-default", 0, f"ets {rest}"),
        ("ets-roce", priority, f"ets {lossless.weight}"),
        *(("ets-storage", number, f"ets {weight}") for number, weight in weights.items()),
        ("ets-cnp", cnp, "strict"),
    ):
        find = rf"tsa: (\w+)(?:, bw: (\d+)%)?\s*\n(?:\s*priority:  \d\s*\n)*?\s*priority:  {number}\b"
        yield Setting(name=name, wanted=wanted, read=Read(run=MLNX_QOS, find=find), run=(command,), source=TOOLS)


def _dcqcn(lossless: Lossless) -> Iterator[Setting]:
    """Reaction and notification point of DCQCN, and the marking of CNPs. Without MLNX_OFED, debugfs has the latter."""
    ecn, parameters = "/sys/class/net/{interface}/ecn/", "/sys/kernel/debug/mlx5/{pci}/cc_params/"
    for name, point in (("dcqcn-notification", "roce_np"), ("dcqcn-reaction", "roce_rp")):
        yield Setting(
            name=name,
            wanted="1",
            read=Read(files=(f"{ecn}{point}/enable/{lossless.priority}",)),
            text="1",
            absent=f"{NO_OFED}; the firmware enables DCQCN by ROCE_CC_PRIO_MASK",
            source=ECN_SYSFS,
        )
    for name, wanted, file, parameter in (
        ("cnp-dscp", lossless.cnp_dscp, "roce_np/cnp_dscp", "np_cnp_dscp"),
        ("cnp-priority", lossless.cnp_queue, "roce_np/cnp_802p_prio", "np_cnp_prio"),
    ):
        yield Setting(
            name=name,
            wanted=str(wanted),
            read=Read(files=(ecn + file, parameters + parameter)),
            compare="number",
            text=str(wanted),
            source=f"{ECN_SYSFS}; Linux, drivers/infiniband/hw/mlx5/cong.c",
        )


def _firmware(lossless: Lossless) -> Iterator[Setting]:
    """Firmware: it leaves DCBX and LLDP to the operating system, and starts DCQCN with these values at boot."""
    wanted = {"LLDP_NB_DCBX": 0, "LLDP_NB_RX_MODE": 0, "LLDP_NB_TX_MODE": 0}
    if lossless.ecn:
        wanted |= {"ROCE_CC_PRIO_MASK": 255, "CNP_DSCP": lossless.cnp_dscp, "CNP_802P_PRIO": lossless.cnp_queue}
    for key, value in wanted.items():
        name = f"{key}_P{{number}}"
        yield Setting(
            name=f"firmware-{key.lower().replace('_', '-')}",
            wanted=str(value),
            read=Read(
                run=("mlxconfig|mstconfig", "-d", "{pci}", "query"), find=rf"\b{name}\s+(?:\w+\()?(0x[0-9a-f]+|\d+)"
            ),
            compare="number",
            run=(("mlxconfig|mstconfig", "-d", "{pci}", "-y", "set", f"{name}={value}"),),
            permanent=None,
            absent="this firmware has no LLDP of its own" if key.startswith("LLDP") else None,
            note=RESET,
            source=FIRMWARE,
        )

"""Settings that every NIC has through the Linux kernel: MTU, 802.3x, RDMA-CM, and who speaks DCBX."""

from __future__ import annotations

from railfab.hosts.settings import Read, Setting, tos
from railfab.intent import Lossless

RDMA_CM = "Linux, Documentation/ABI/testing/configfs-rdma_cm"
RDMA_CM_GROUP = "/sys/kernel/config/rdma_cm/{rdma}"


def lldpad() -> Setting:
    """No lldpad: it negotiates DCBX and overwrites PFC and ETS."""
    return Setting(
        name="lldpad",
        wanted="stopped",
        read=Read(run=("systemctl", "show", "lldpad", "--property=ActiveState"), find=r"ActiveState=(active)"),
        absent="lldpad does not run",
        run=(("systemctl", "disable", "--now", "lldpad"),),
        whole_host=True,
        permanent=None,
        source="mlnx_qos of Mellanox/mlnx-tools (warns of lldpad); Broadcom bnxt_setupcc.sh 236.1.155.0 (stops it)",
    )


def mtu() -> Setting:
    return Setting(
        name="mtu",
        wanted="{mtu}",
        read=Read(run=("ip", "-json", "link", "show", "dev", "{interface}"), find=r'"mtu":(\d+)'),
        compare="number",
        run=(("ip", "link", "set", "dev", "{bond}", "mtu", "{mtu}"),),
        permanent="railfab-nic.service, or the network configuration of the distribution",
        source="ip-link(8)",
    )


def link_pause() -> Setting:
    """802.3x off: it pauses all classes, and excludes PFC on the same port."""
    return Setting(
        name="802.3x-pause",
        wanted="off off",
        read=Read(run=("ethtool", "-a", "{interface}"), find=r"RX:\s*(\w+)\s+TX:\s*(\w+)"),
        run=(("ethtool", "-A", "{interface}", "rx", "off", "tx", "off"),),
        source="ethtool(8); Broadcom bnxt_setupcc.sh 236.1.155.0; Linux mlx5 port_buffer.c, fill_pfc_en",
    )


def rdma_cm(lossless: Lossless) -> tuple[Setting, Setting]:
    """RoCE version and ToS of connections of RDMA-CM whose application sets none."""
    port = RDMA_CM_GROUP + "/ports/1/"
    mode, default_tos = "RoCE v2", str(tos(lossless))
    return (
        Setting(
            name="rdma-cm-mode",
            wanted=mode,
            read=Read(files=(port + "default_roce_mode",)),
            text=mode,
            group=RDMA_CM_GROUP,
            source=RDMA_CM,
        ),
        Setting(
            name="rdma-cm-tos",
            wanted=default_tos,
            read=Read(files=(port + "default_roce_tos",)),
            compare="dscp",
            text=default_tos,
            group=RDMA_CM_GROUP,
            source=RDMA_CM,
        ),
    )

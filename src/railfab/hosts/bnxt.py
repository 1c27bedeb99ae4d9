"""Settings of Broadcom Thor and Thor 2 NICs (drivers bnxt_en and bnxt_re), by `dcb` of iproute2 and configfs.

The commands are those of Broadcom's bnxt_setupcc.sh with its default tool (`-u 4`). Where the firmware has a service
class for CNPs, it owns their priority and DSCP and the APP table rules; else the values in configfs do.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.hosts.linux import link_pause, lldpad, mtu, rdma_cm
from railfab.hosts.settings import Read, Setting, SettingCondition, by_priority
from railfab.intent import Lossless

SETUP = "Broadcom bnxt_setupcc.sh 236.1.155.0"
ROCE_V2_PORT = 4791
CC_GROUP = "/sys/kernel/config/bnxt_re/{rdma}"
CC = CC_GROUP + "/ports/1/cc/"
SERVICE_CLASS = Read(
    files=("/sys/kernel/debug/bnxt_re/{rdma}/info",), find=r"fw_service_prof_type_sup\s*:?\s*(?:0x)?(\d+)"
)
OWN_CLASS = SettingCondition(read=SERVICE_CLASS, value="1", default="0")
NO_OWN_CLASS = SettingCondition(read=SERVICE_CLASS, value="0", default="0")


def bnxt_settings(lossless: Lossless) -> Iterator[Setting]:
    """The settings in the order of writing: DCBX before all that it may overwrite, 802.3x off before PFC."""
    yield lldpad()
    yield mtu()
    yield link_pause()
    yield Setting(
        name="dcbx-owner",
        wanted="host",
        read=Read(run=("dcb", "dcbx", "show", "dev", "{interface}"), find=r"\b(host|lld-managed)\b"),
        run=(("dcb", "dcbx", "set", "dev", "{interface}", "host", "ieee"),),
        note="refused while the firmware runs an LLDP agent: disable DCBX in its NVM options with niccli, and reboot",
        source="Linux, drivers/net/ethernet/broadcom/bnxt/bnxt_dcb.c, bnxt_dcbnl_setdcbx; dcb-dcbx(8)",
    )
    yield from _applications(lossless)
    enabled = str(lossless.priority) if lossless.pfc else ""
    on = (f"{lossless.priority}:on",) if lossless.pfc else ()
    yield Setting(
        name="pfc",
        wanted=enabled,
        read=Read(run=("dcb", "pfc", "show", "dev", "{interface}", "prio-pfc"), find=r"(\d):on", every=True),
        compare="set",
        run=(("dcb", "pfc", "set", "dev", "{interface}", "prio-pfc", "all:off", *on),),
        source=f"{SETUP}; dcb-pfc(8)",
    )
    yield from _ets(lossless, OWN_CLASS, ("0:ets", "1:ets", "2:strict"), cnp=2)
    yield from _ets(lossless, NO_OWN_CLASS, ("0:ets", "1:ets"), cnp=0)
    yield from rdma_cm(lossless)
    yield from _congestion_control(lossless)


def _applications(lossless: Lossless) -> Iterator[Setting]:
    """The APP table: entries add up, so that those of another DSCP with the lossless priority are deleted."""
    show = ("dcb", "-N", "app", "show", "dev", "{interface}")
    priority, cnp = lossless.priority, lossless.cnp_queue
    yield Setting(
        name="roce-dscp",
        wanted=str(lossless.dscp),
        read=Read(run=(*show, "dscp-prio"), find=rf"\b(\d+):{priority}\b", every=True),
        compare="set",
        undo=("dcb", "app", "del", "dev", "{interface}", "dscp-prio", f"{{extra}}:{priority}"),
        run=(("dcb", "app", "replace", "dev", "{interface}", "dscp-prio", f"{lossless.dscp}:{priority}"),),
        source=f"{SETUP}; dcb-app(8)",
    )
    yield Setting(
        name="roce-udp-port",
        wanted=str(priority),
        read=Read(run=(*show, "dgram-port-prio"), find=rf"\b{ROCE_V2_PORT}:(\d)\b", every=True),
        run=(("dcb", "app", "replace", "dev", "{interface}", "dgram-port-prio", f"{ROCE_V2_PORT}:{priority}"),),
        source=f"{SETUP}; dcb-app(8)",
    )
    yield Setting(
        name="cnp-dscp-map",
        wanted=str(cnp),
        read=Read(run=(*show, "dscp-prio"), find=rf"\b{lossless.cnp_dscp}:(\d)\b", every=True),
        run=(("dcb", "app", "replace", "dev", "{interface}", "dscp-prio", f"{lossless.cnp_dscp}:{cnp}"),),
        when=OWN_CLASS,
        source=f"{SETUP}; dcb-app(8)",
    )


def _ets(lossless: Lossless, when: SettingCondition, algorithms: tuple[str, ...], *, cnp: int) -> Iterator[Setting]:
    """RoCE in traffic class 1, CNPs in the strict class 2 where the firmware has one for them, all else in class 0.

    Some firmware accepts only all eight classes.
    """
    classes = tuple(f"{number}:{one}" for number, one in enumerate(by_priority(lossless, roce=1, cnp=cnp, other=0)))
    shares = (f"0:{100 - lossless.weight}", f"1:{lossless.weight}")
    eight = (*algorithms, *(f"{number}:strict" for number in range(len(algorithms), 8)))
    command, alternative = (
        ("dcb", "ets", "set", "dev", "{interface}", "tc-tsa", *one, "tc-bw", *shares, "prio-tc", *classes)
        for one in (algorithms, eight)
    )
    for name, key, wanted in (
        ("ets-priorities", "prio-tc", classes),
        ("ets-algorithms", "tc-tsa", algorithms),
        ("ets-shares", "tc-bw", shares),
    ):
        pairs = rf"{key} ((?:\d:\S+ ?){{{len(wanted)}}})"
        yield Setting(
            name=name,
            wanted=" ".join(wanted),
            read=Read(run=("dcb", "ets", "show", "dev", "{interface}", "prio-tc", "tc-tsa", "tc-bw"), find=pairs),
            run=(command,),
            otherwise=(alternative,),
            when=when,
            source=f"{SETUP}; dcb-ets(8)",
        )


def _congestion_control(lossless: Lossless) -> Iterator[Setting]:
    """DCQCN in configfs: marking and mode, and priorities and DSCPs where the firmware does not own them."""
    ecn = int(bool(lossless.ecn))
    everywhere = {"disable_prio_vlan_tx": 1, "ecn_marking": ecn, "ecn_enable": ecn}
    if lossless.ecn:
        everywhere["cc_mode"] = 1
    owned = {
        "roce_prio": lossless.priority,
        "roce_dscp": lossless.dscp,
        "cnp_prio": lossless.cnp_queue,
        "cnp_dscp": lossless.cnp_dscp,
    }
    for values, when in ((owned, NO_OWN_CLASS), (everywhere, None)):
        for file, value in values.items():
            yield Setting(
                name=f"cc-{file.removeprefix('cc_').replace('_', '-')}",
                wanted=str(value),
                read=Read(files=(CC + file,)),
                compare="number",
                text=f"{value:#x}",
                apply=CC + "apply",
                group=CC_GROUP,
                when=when,
                source=f"{SETUP}; bnxt_re of Broadcom, configfs.c (the driver of the kernel has no such files)",
            )

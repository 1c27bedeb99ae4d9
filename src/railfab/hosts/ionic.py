"""Settings of AMD Pensando Pollara NICs (driver ionic), by nicctl.

Commands, values and outputs: AMD, "SGLang distributed inference with MoRI", sections "Configure DCQCN" and "Configure
QoS and PFC" (rocm.docs.amd.com), with the DSCPs, priorities and shares of the intent. AMD's page has data at DSCP 24
and CNPs at 46; a fabric for it states `lossless: {dscp: 24, cnp_dscp: 46}`, or the NICs follow the fabric.
"""

from __future__ import annotations

from collections.abc import Iterator

from railfab.hosts.linux import lldpad, mtu, rdma_cm
from railfab.hosts.settings import Read, Setting
from railfab.intent import Lossless

AMD = "AMD, SGLang distributed inference with MoRI (rocm.docs.amd.com)"
PORT_OPTION = "AMD AI NIC network operator (option -p of nicctl update qos)"
PORT = Read(run=("nicctl", "show", "port"), find=r"Port\s*:\s*([0-9a-f-]+)", card=True)
"""UUID of the port of a card: the placeholder {port}."""
QOS = ("nicctl", "show", "qos")
UPDATE = ("nicctl", "update", "qos", "-p", "{port}")
CNP_LIMIT_GBPS = 10
"""Rate limit of the strict priority, which nicctl demands."""
PROFILE = "1"
DCQCN = {
    "token-bucket-size": ("Token bucket size", "800000"),
    "ai-rate": ("Rate increase in AI phase", "160"),
    "alpha-update-interval": ("Alpha update interval", "1"),
    "alpha-update-g": ("Alpha update G value", "512"),
    "initial-alpha-value": ("Initial alpha value", "64"),
    "rate-increase-byte-count": ("Rate increase byte count", "431068"),
    "hai-rate": ("Rate increase in HAI phase", "300"),
    "rate-reduce-monitor-period": ("Rate reduce monitor period", "1"),
    "rate-increase-threshold": ("Rate increase threshold", "1"),
    "rate-increase-interval": ("Rate increase interval", "1"),
}
"""Options of `nicctl update dcqcn`: the words of `nicctl show dcqcn`, and AMD's value."""


def ionic_settings(lossless: Lossless) -> Iterator[Setting]:
    """The settings in the order of writing: DSCPs before scheduling, which refuses a priority without DSCP."""
    yield lldpad()
    yield mtu()
    yield from _pause()
    yield Setting(
        name="trust",
        wanted="DSCP",
        read=Read(run=QOS, find=r"Classification type\s*:\s*(\w+)", card=True),
        run=(("nicctl", "update", "qos", "--classification-type", "dscp"),),
        note="of all cards of the host",
        source=AMD,
    )
    yield from _classes(lossless)
    yield Setting(
        name="pfc",
        wanted=str(lossless.priority) if lossless.pfc else "",
        read=Read(run=QOS, find=r"PFC no-drop priorities[ \t]*:[ \t]*([\d, ]*)", card=True),
        compare="set",
        undo=(*UPDATE, "pfc", "--priority", "{extra}", "--no-drop", "disable"),
        run=((*UPDATE, "pfc", "--priority", str(lossless.priority), "--no-drop", "enable"),) if lossless.pfc else (),
        source=f"{AMD}; {PORT_OPTION}",
    )
    yield from _scheduling(lossless)
    yield from rdma_cm(lossless)
    if lossless.ecn:
        yield from _dcqcn(lossless)


def _pause() -> Iterator[Setting]:
    """PFC in place of 802.3x, in both directions; which priorities are paused is another setting."""
    command = ("nicctl", "update", "port", "-p", "{port}", "--pause-type", "pfc", "--rx-pause", "enable")
    for name, words, wanted in (
        ("pause-type", "Pause type", "PFC"),
        ("pause-transmit", "TX pause", "enabled"),
        ("pause-receive", "RX pause", "enabled"),
    ):
        yield Setting(
            name=name,
            wanted=wanted,
            read=Read(run=("nicctl", "show", "port"), find=rf"{words}\s*:\s*(\w+)", card=True),
            run=((*command, "--tx-pause", "enable"),),
            source=AMD,
        )


def _classes(lossless: Lossless) -> Iterator[Setting]:
    """One DSCP alone in the lossless priority; the priority of CNPs may have others."""
    map_dscp = (*UPDATE, "dscp-to-priority", "--dscp")
    source = f"{AMD}; {PORT_OPTION}"
    yield Setting(
        name="roce-dscp",
        wanted=str(lossless.dscp),
        read=_dscps_of(lossless.priority),
        compare="set",
        undo=(*map_dscp, "{extra}", "--priority", "0"),
        run=((*map_dscp, str(lossless.dscp), "--priority", str(lossless.priority)),),
        source=source,
    )
    yield Setting(
        name="cnp-dscp-map",
        wanted=str(lossless.cnp_dscp),
        read=_dscps_of(lossless.cnp_queue),
        compare="includes",
        run=((*map_dscp, str(lossless.cnp_dscp), "--priority", str(lossless.cnp_queue)),),
        source=source,
    )


def _dscps_of(priority: int) -> Read:
    return Read(run=QOS, find=rf"DSCP\s*: ([\d, -]+) ==> priority : {priority}\b", every=True, card=True)


def _scheduling(lossless: Lossless) -> Iterator[Setting]:
    priority, cnp, rest = lossless.priority, lossless.cnp_queue, 100 - lossless.weight
    values = f"{priority},0,{cnp}", f"{lossless.weight},{rest},0", f"0,0,{CNP_LIMIT_GBPS}"
    options = (option for pair in zip(("--priority", "--dwrr", "--rate-limit"), values, strict=True) for option in pair)
    command = (*UPDATE, "scheduling", *options)
    for name, number, wanted in (
        ("scheduling-default", 0, f"DWRR {rest} N/A"),
        ("scheduling-roce", priority, f"DWRR {lossless.weight} N/A"),
        ("scheduling-cnp", cnp, f"strict N/A {CNP_LIMIT_GBPS}"),
    ):
        find = rf"\n\s*{number}\s+(\w+)\s+(\S+)\s+(\S+)"
        read = Read(run=QOS, find=find, card=True)
        yield Setting(name=name, wanted=wanted, read=read, run=(command,), source=f"{AMD}; {PORT_OPTION}")


def _dcqcn(lossless: Lossless) -> Iterator[Setting]:
    """DCQCN of the RDMA device: AMD's values, and the DSCP of CNPs, which another default may have until it is set."""
    values = {**DCQCN, "cnp-dscp": ("DSCP value used for CNP", str(lossless.cnp_dscp))}
    options = (argument for name, (_, value) in values.items() for argument in (f"--{name}", value))
    command = ("nicctl", "update", "dcqcn", "-r", "{rdma}", "-i", PROFILE, *options)
    show = ("nicctl", "show", "dcqcn", "-r", "{rdma}", "-i", PROFILE)
    for name, (words, wanted) in {"status": ("Status", "Enabled"), **values}.items():
        yield Setting(
            name=f"dcqcn-{name}",
            wanted=wanted,
            read=Read(run=show, find=rf"{words}\s*:\s*(\S+)"),
            run=(command,),
            source=AMD,
        )

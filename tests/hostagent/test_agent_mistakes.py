"""Each mistake in the settings of a NIC is named by its settings alone, and what is harmless by none.

Tools are those of `tests.hosts.rig`; a mistake edits their state, or a file, of the second rail.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.hostagent.trees import tools_of
from tests.hosts.rig import Host, fabric, host
from tests.sampled import sampled

from railfab.hostagent.checker import HostChecker
from railfab.hosts.nic import System

CONNECTX, THOR, POLLARA = "connectx-7", "bcm57608", "pollara-400"
INTERFACE = "enp2s0"
RDMA = {CONNECTX: "mlx5_2", THOR: "bnxt_re2", POLLARA: "ionic_2"}
Edit = Callable[[Host], None]
Prepared = Callable[[str], Host]


def state(**values: Any) -> Edit:
    """Values of the NIC's tools; of a mapping or a list those that are stated."""

    def edit(made: Host) -> None:
        made.change(lambda kept: _merge(kept["nics"][INTERFACE], values))

    return edit


def _merge(kept: dict[str, Any], values: dict[str, Any]) -> None:
    for name, value in values.items():
        if isinstance(value, dict):
            for key, part in value.items():
                kept[name][key] = part
        else:
            kept[name] = value


def file(name: str, text: str) -> Edit:
    """The content of a file that there is."""

    def edit(made: Host) -> None:
        path = made.root / name.lstrip("/")
        assert path.is_file(), path
        path.write_text(f"{text}\n")

    return edit


def gone(name: str) -> Edit:
    """A file that the driver does not have."""
    return lambda made: (made.root / name.lstrip("/")).unlink()


ECN, TC = f"/sys/class/net/{INTERFACE}/ecn", "/sys/class/infiniband/mlx5_2/tc/1/traffic_class"
CC = "/sys/kernel/config/bnxt_re/bnxt_re2/ports/1/cc"


def cm(model: str, name: str) -> str:
    """A default of RDMA-CM."""
    return f"/sys/kernel/config/rdma_cm/{RDMA[model]}/ports/1/default_roce_{name}"


ETS = {"ets-default", "ets-roce", "ets-cnp"}
MISTAKES: dict[str, tuple[str, Edit, set[str]]] = {
    "MTU of the delivery": (CONNECTX, state(mtu=1500), {"mtu"}),
    "802.3x on": (CONNECTX, state(**{"802.3x": ["on", "on"]}), {"802.3x-pause"}),
    "802.3x on for sending": (CONNECTX, state(**{"802.3x": ["off", "on"]}), {"802.3x-pause"}),
    "firmware owns DCBX": (CONNECTX, state(dcbx="Firmware"), {"dcbx-owner"}),
    "trusts PCP": (CONNECTX, state(trust="pcp"), {"trust", "roce-dscp", "cnp-dscp-map"}),
    "RoCE in the default priority": (CONNECTX, state(dscp={"26": 0}), {"roce-dscp"}),
    "a second DSCP is lossless": (CONNECTX, state(dscp={"24": 3}), {"roce-dscp"}),
    "CNPs in the default priority": (CONNECTX, state(dscp={"48": 0}), {"cnp-dscp-map"}),
    "PFC off": (CONNECTX, state(pfc=[0] * 8), {"pfc"}),
    "PFC of the next priority": (CONNECTX, state(pfc=[0, 0, 0, 0, 1, 0, 0, 0]), {"pfc"}),
    "PFC of all priorities": (CONNECTX, state(pfc=[1] * 8), {"pfc"}),
    "default buffers": (CONNECTX, state(buffer=[0] * 8), {"receive-buffer"}),
    "cable length of the delivery": (CONNECTX, state(cable=7), {"cable-length"}),
    "shares of the delivery": (CONNECTX, state(tsa=["vendor"] * 8, share=["0"] * 8), ETS),
    "less for RoCE": (CONNECTX, state(share=["50", "0", "0", "50", "0", "0", "0", "0"]), {"ets-default", "ets-roce"}),
    "DCQCN does not mark": (CONNECTX, file(f"{ECN}/roce_np/enable/3", "0"), {"dcqcn-notification"}),
    "DCQCN does not react": (CONNECTX, file(f"{ECN}/roce_rp/enable/3", "0"), {"dcqcn-reaction"}),
    "CNPs with DSCP 0": (CONNECTX, file(f"{ECN}/roce_np/cnp_dscp", "0"), {"cnp-dscp"}),
    "CNPs with priority 0": (CONNECTX, file(f"{ECN}/roce_np/cnp_802p_prio", "0"), {"cnp-priority"}),
    "traffic class of another DSCP": (CONNECTX, file(TC, "Global tclass=96"), {"traffic-class"}),
    "RDMA-CM without ToS": (CONNECTX, file(cm(CONNECTX, "tos"), "0"), {"rdma-cm-tos"}),
    "RDMA-CM with RoCE v1": (CONNECTX, file(cm(CONNECTX, "mode"), "IB/RoCE v1"), {"rdma-cm-mode"}),
    "firmware speaks DCBX": (CONNECTX, state(firmware={"LLDP_NB_DCBX_P1": 1}), {"firmware-lldp-nb-dcbx"}),
    "firmware has another CNP": (CONNECTX, state(firmware={"CNP_DSCP_P1": 4}), {"firmware-cnp-dscp"}),
    "DCQCN is off in firmware": (CONNECTX, state(firmware={"ROCE_CC_PRIO_MASK_P1": 0}), {"firmware-roce-cc-prio-mask"}),
    "Thor: the switch owns DCBX": (THOR, state(dcbx="lld-managed ieee"), {"dcbx-owner"}),
    "Thor: PFC off": (THOR, state(pfc=["off"] * 8), {"pfc"}),
    "Thor: another DSCP too": (THOR, state(**{"dscp-prio": [["24", "3"], ["26", "3"]]}), {"roce-dscp"}),
    "Thor: no UDP port": (THOR, state(**{"dgram-port-prio": []}), {"roce-udp-port"}),
    "Thor: one traffic class": (THOR, state(**{"prio-tc": ["0"] * 8}), {"ets-priorities"}),
    "Thor: strict classes": (THOR, state(**{"tc-tsa": ["strict"] * 8}), {"ets-algorithms"}),
    "Thor: no marks": (THOR, file(f"{CC}/ecn_marking", "0x0"), {"cc-ecn-marking"}),
    "Thor: DCQCN off": (THOR, file(f"{CC}/ecn_enable", "0x0"), {"cc-ecn-enable"}),
    "Thor: other CNP": (THOR, file(f"{CC}/cnp_dscp", "0x2e"), {"cc-cnp-dscp"}),
    "Pollara: trusts PCP": (POLLARA, state(trust="PCP"), {"trust"}),
    "Pollara: RoCE in the default priority": (POLLARA, state(dscp={"26": 0}), {"roce-dscp"}),
    "Pollara: drops": (POLLARA, state(nodrop=[]), {"pfc"}),
    "Pollara: link pause": (POLLARA, state(pause=["LINK", "enabled", "enabled"]), {"pause-type"}),
    "Pollara: does not pause": (POLLARA, state(pause=["PFC", "disabled", "enabled"]), {"pause-transmit"}),
    "Pollara: other CNP": (POLLARA, state(dcqcn={"cnp-dscp": "46"}), {"dcqcn-cnp-dscp"}),
    "Pollara: slower increase": (POLLARA, state(dcqcn={"ai-rate": "16"}), {"dcqcn-ai-rate"}),
}
HARMLESS: dict[str, tuple[str, Edit]] = {
    "nothing": (CONNECTX, state()),
    "a further DSCP of CNPs": (CONNECTX, state(dscp={"46": 6})),
    "a DSCP without traffic elsewhere": (CONNECTX, state(dscp={"10": 1})),
    "ToS with the bit of ECN": (CONNECTX, file(cm(CONNECTX, "tos"), "106")),
    "ToS in hexadecimal": (CONNECTX, file(cm(CONNECTX, "tos"), "0x68")),
    "CNP of DCQCN in hexadecimal": (CONNECTX, file(f"{ECN}/roce_np/cnp_dscp", "0x30")),
    "a driver without switches of DCQCN": (CONNECTX, gone(f"{ECN}/roce_np/enable/3")),
    "firmware masks in hexadecimal": (CONNECTX, state(firmware={"ROCE_CC_PRIO_MASK_P1": "0xff"})),
    "Thor: decimal values": (THOR, file(f"{CC}/cnp_dscp", "48")),
    "Thor: another UDP port too": (THOR, state(**{"dgram-port-prio": [["4791", "3"], ["4792", "0"]]})),
    "Pollara: a further DSCP of CNPs": (POLLARA, state(dscp={"46": 6})),
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """A host that is as wanted, by its NIC."""

    @cache
    def made(model: str) -> Host:
        built = host(tmp_path_factory.mktemp("host"), fabric(model), model)
        built.run("--apply")
        return built

    return made


def wrong(made: Host) -> set[tuple[str, str]]:
    """The settings that the agent finds wrong, by NIC."""
    settings = json.loads((made.folder / "plan" / "nic.json").read_text())
    with tools_of(made):
        document = HostChecker(settings, "host1", System(made.root)).check().document
    assert not any("compared" in fault for fault in document.faults), document.faults
    found = {(nic.nic, row.setting) for nic in document.nics for row in nic.settings if row.ok is False}
    return found | {("all", row.setting) for row in document.settings if row.ok is False}


@pytest.mark.parametrize(
    ("model", "edit", "settings"),
    sampled(MISTAKES, ["PFC off", "trusts PCP", "Thor: PFC off", "Thor: other CNP", "Pollara: drops"]),
)
def test_a_mistake_is_named_by_its_settings_alone(
    prepared: Prepared, tmp_path: Path, model: str, edit: Edit, settings: set[str]
) -> None:
    made = prepared(model).copy(tmp_path / "copy")
    edit(made)
    assert wrong(made) == {("rail2-p0", setting) for setting in settings}


@pytest.mark.parametrize(("model", "edit"), sampled(HARMLESS, ["ToS with the bit of ECN", "Thor: decimal values"]))
def test_what_is_harmless_is_named_by_none(prepared: Prepared, tmp_path: Path, model: str, edit: Edit) -> None:
    made = prepared(model).copy(tmp_path / "copy")
    edit(made)
    assert wrong(made) == set()


def test_there_are_mistakes_of_each_family() -> None:
    assert len(MISTAKES) >= 30
    assert {model for model, _, _ in MISTAKES.values()} == set(RDMA)

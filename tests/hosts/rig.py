"""A GPU host for tests of `nic.py`: a folder with its sysfs and configfs as files, and tools that keep its settings."""

from __future__ import annotations

import atexit
import json
import marshal
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from railfab.hosts import nic_models
from railfab.hosts.files import nic_files
from railfab.intent import FabricIntent
from railfab.process.tied import tied
from railfab.topology import wire

TOOL = """\
#!/bin/sh
exec 3>&1
printf '%s\\n' $$ "$0" $# "$@" > {requests}
read -r code < {answers}
exit "$code"
"""
COMMON = ("ip", "ethtool", "systemctl")
INTENT = {
    "version": 1,
    "fabric": "two",
    "hosts": {"gpus": 2, "rate_gbps": 200},
    "backend": {
        "segments": {"hosts": 2, "rail_switches": 2, "model": "7220-ixr-d5", "cable_m": 5},
        "spines": {"count": 2, "rate_gbps": 400, "model": "7220-ixr-d5"},
    },
}


def fabric(nic: str | None = None, *, rails: int = 2, **profile: Any) -> FabricIntent:
    """Two hosts of so many GPUs, each with a NIC of its own, and two rail switches."""
    hosts = {**INTENT["hosts"], "nic": nic, "gpus": rails}  # type: ignore[dict-item]
    document = {**INTENT, "profile": profile, "hosts": hosts}
    return FabricIntent.model_validate(document)


@dataclass(frozen=True, kw_only=True)
class Host:
    """A host below a folder: bin/ and `state` of the tools, root/ with sys/, plan/ with the files of a plan."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "root"

    def run(self, *arguments: str, code: int = 0, inside: tuple[str, ...] = ()) -> str:
        """Output of the script, which must end with this code; both streams, in the order in which they were written.

        inside: a command that runs it.
        """
        script = [
            *inside,
            sys.executable,
            str(self.folder / "plan" / "nic.py"),
            "--root",
            str(self.root),
            "--host",
            "host1",
        ]
        done = subprocess.run(
            [*script, *arguments],
            env={**os.environ, "PATH": str(self.folder / "bin"), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == code, done.stdout
        return done.stdout

    def copy(self, folder: Path) -> Host:
        """The same host in another folder."""
        shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True)
        return Host(folder=folder)

    def check(self, code: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run("--check", code=code))
        return found

    def different(self) -> dict[tuple[str, str], dict[str, Any]]:
        """The settings that differ, by NIC and name."""
        return {(row["nic"], row["setting"]): row for row in self.check(code=1)["settings"] if not row["ok"]}

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = marshal.loads((self.folder / "state").read_bytes())
        return state

    def change(self, edit: Callable[[dict[str, Any]], object]) -> None:
        """Edit the state of the tools."""
        state = self.state
        edit(state)
        self.keep(state)

    def keep(self, state: dict[str, Any]) -> None:
        """Make this the state of the tools."""
        (self.folder / "state").write_bytes(marshal.dumps(state))

    def calls(self) -> list[str]:
        """The calls of tools so far, which are forgotten."""
        log = self.folder / "calls.log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines

    def everything(self) -> dict[str, str]:
        """All state: of the tools, and of every file below root."""
        files = {str(path): path.read_text() for path in sorted(self.root.rglob("*")) if path.is_file()}
        return {**files, "state": json.dumps(self.state)}

    def file(self, name: str, text: str) -> Path:
        path = self.root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
        return path


@cache
def tool() -> str:
    """The script that stands for each tool, and asks a process that ends with the tests."""
    pipes = Path(tempfile.mkdtemp(prefix="railfab-tools-"))
    atexit.register(shutil.rmtree, pipes)
    requests, answers = pipes / "requests", pipes / "answers"
    for pipe in (requests, answers):
        os.mkfifo(pipe, 0o600)
    server = Path(__file__).with_name("tools.py")
    subprocess.Popen(tied([sys.executable, "-SE", str(server), str(requests), str(answers)]))
    return TOOL.format(requests=requests, answers=answers)


def host(folder: Path, intent: FabricIntent, nic: str, *, rails: int = 2) -> Host:
    """A host as delivered, with this NIC on each rail, and the plan of a fabric for it."""
    made = Host(folder=folder)
    model = nic_models()[nic]
    tools = {"mlx5": ("mlnx_qos", "mlxconfig"), "bnxt": ("dcb",), "ionic": ("nicctl",)}[model.family]
    (folder / "bin").mkdir()
    for name in (*COMMON, *tools):
        (folder / "bin" / name).write_text(tool())
        (folder / "bin" / name).chmod(0o755)
    (folder / "plan").mkdir()
    for name, text in nic_files(wire(intent), intent):
        (folder / "plan" / name).write_text(text)
    drivers = {"mlx5": "mlx5_core", "bnxt": "bnxt_en", "ionic": "ionic"}
    nics = {}
    for rail in range(1, rails + 1):
        settings = NICS[model.family](made, rail)
        nics[f"enp{rail}s0"] = {"name": f"rail{rail}-p0", "mtu": 1500, "802.3x": ["on", "on"], **settings}
        identity = {
            "DRIVER": drivers[model.family],
            "PCI_ID": model.pci.upper(),
            "PCI_SUBSYS_ID": (model.subsystem or "1234:5678").upper(),
            "PCI_SLOT_NAME": settings["pci"],
        }
        device(made, rail, settings["pci"], settings["rdma"], identity)
    made.keep({"nics": nics, "lldpad": "active", "refused": [], "ignored": []})
    return made


def device(made: Host, rail: int, pci: str, rdma: str, identity: dict[str, str]) -> None:
    """The PCI device of a rail below its card, its interface and its RDMA device."""
    place = f"/sys/devices/pci0000:00/0000:{rail:02d}:00.0/0000:{rail:02d}:01.0/{pci}"
    made.file(f"{place}/uevent", "\n".join(f"{key}={value}" for key, value in identity.items()))
    (made.root / place.lstrip("/") / "infiniband" / rdma).mkdir(parents=True)
    interface = made.root / "sys/class/net" / f"enp{rail}s0"
    interface.mkdir(parents=True, exist_ok=True)
    (interface / "device").symlink_to(Path("../../../..") / place.lstrip("/"))
    made.file(f"/sys/kernel/config/rdma_cm/{rdma}/ports/1/default_roce_mode", "IB/RoCE v1")
    made.file(f"/sys/kernel/config/rdma_cm/{rdma}/ports/1/default_roce_tos", "0")
    for index, (kind, gid) in enumerate(GIDS):
        made.file(f"/sys/class/infiniband/{rdma}/ports/1/gid_attrs/types/{index}", kind)
        made.file(f"/sys/class/infiniband/{rdma}/ports/1/gids/{index}", gid)


GIDS = (
    ("IB/RoCE v1", "fe80:0000:0000:0000:0690:81ff:fe30:a7a0"),
    ("RoCE v2", "fe80:0000:0000:0000:0690:81ff:fe30:a7a0"),
    ("IB/RoCE v1", "0000:0000:0000:0000:0000:ffff:0a10:0001"),
    ("RoCE v2", "0000:0000:0000:0000:0000:ffff:0a10:0001"),
)


def _mlx5(made: Host, rail: int) -> dict[str, Any]:
    """A ConnectX with the driver of MLNX_OFED."""
    interface, rdma, pci = f"enp{rail}s0", f"mlx5_{rail}", f"0000:{rail:02d}:02.0"
    made.file(f"/sys/class/infiniband/{rdma}/tc/1/traffic_class", "")
    for point in ("roce_np", "roce_rp"):
        made.file(f"/sys/class/net/{interface}/ecn/{point}/enable/3", "0")
    made.file(f"/sys/class/net/{interface}/ecn/roce_np/cnp_dscp", "0")
    made.file(f"/sys/class/net/{interface}/ecn/roce_np/cnp_802p_prio", "0")
    keys = ("LLDP_NB_DCBX", "LLDP_NB_RX_MODE", "LLDP_NB_TX_MODE", "ROCE_CC_PRIO_MASK", "CNP_DSCP", "CNP_802P_PRIO")
    return {
        "pci": pci,
        "rdma": rdma,
        "dcbx": "Firmware",
        "trust": "pcp",
        "dscp": {str(dscp): dscp // 8 for dscp in range(64)},
        "pfc": [0] * 8,
        "buffer": [0] * 8,
        "cable": 7,
        "class": list("10234567"),
        "tsa": ["vendor"] * 8,
        "share": ["0"] * 8,
        "firmware": {f"{key}_P1": value for key, value in zip(keys, (1, 2, 2, 0, 4, 6), strict=True)},
    }


def _bnxt(made: Host, rail: int) -> dict[str, Any]:
    """A Thor with Broadcom's bnxt_re, and without a service class of CNPs."""
    rdma = f"bnxt_re{rail}"
    cc = f"/sys/kernel/config/bnxt_re/{rdma}/ports/1/cc/"
    for name in ("disable_prio_vlan_tx", "ecn_marking", "ecn_enable", "cc_mode", "apply"):
        made.file(cc + name, "0x0")
    for name, value in (("roce_prio", 3), ("roce_dscp", 26), ("cnp_prio", 7), ("cnp_dscp", 48)):
        made.file(cc + name, f"{value:#x}")
    return {
        "pci": f"0000:{rail:02d}:02.0",
        "rdma": rdma,
        "dcbx": "lld-managed ieee",
        "dscp-prio": [["24", "3"], ["26", "3"]],
        "dgram-port-prio": [],
        "pfc": ["off"] * 8,
        "prio-tc": ["0"] * 8,
        "tc-tsa": ["strict"] * 8,
        "tc-bw": ["0"] * 8,
    }


def _ionic(made: Host, rail: int) -> dict[str, Any]:
    return {
        "pci": f"0000:{rail:02d}:02.0",
        "rdma": f"ionic_{rail}",
        "card": f"42424650-4c32-3531-3230-30344300000{rail}",
        "bdf": f"0000:{rail:02d}:00.0",
        "port": f"04908130-a7a0-4242-4242-00001101000{rail}",
        "trust": "PCP",
        "dscp": {str(dscp): 0 for dscp in range(64)},
        "nodrop": [],
        "scheduling": [["0", "0", "0"]],
        "pause": ["NONE", "disabled", "disabled"],
        "dcqcn": {},
    }


NICS = {"mlx5": _mlx5, "bnxt": _bnxt, "ionic": _ionic}

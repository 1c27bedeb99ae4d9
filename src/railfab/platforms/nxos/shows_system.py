"""The switch itself and its configurations, as a virtual switch with NX-OS shows them.

Texts: recorded by ntc-templates and NAPALM; keys of the JSON: those that readers of NX-API take.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from hashlib import sha256

from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.nxos.running_text import in_order
from railfab.platforms.nxos.show_ports import port_name
from railfab.platforms.nxos.show_rows import Json, table
from railfab.platforms.nxos.show_text import as_json, as_lines, is_json
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.twin_face import VirtualDevice

VERSION = "10.5(3)"
SOFTWARE = "Cisco Nexus Operating System (NX-OS) Software"
_HOSTS = """\
DNS lookup disabled
Name/address lookup uses domain service
Name servers are 255.255.255.255


Host            Address
"""
_VERSION = """\
{software}

Software
  NXOS: version {version}

Hardware
  cisco {chassis}
  Processor Board ID {serial}
  Device name: {name}

Kernel uptime is {days} day(s), {hours} hour(s), {minutes} minute(s), {seconds} second(s)
"""
_MODULE = """\
Mod Ports             Module-Type                      Model           Status
--- ----- ------------------------------------- --------------------- ---------
1    {ports:<4} {kind:<37} {product:<21} active *

Mod  Sw                       Hw    Slot
---  ----------------------- ------ ----
1    {version:<23} 0.0    NA

Mod  MAC-Address(es)                         Serial-Num
---  --------------------------------------  ----------
1    {mac:<38}  {serial}

* this terminal session
"""


class SystemShows:
    """Commands that show the switch itself; NxosShows derives from it."""

    device: VirtualDevice

    def uptime_s(self) -> float:
        """Time since the switch booted [s]."""
        return time.time() - self.device.chassis().started_s

    def show_version(self, form: str = "text") -> str:
        name, product, serial = self._identity()
        minutes, seconds = divmod(int(self.uptime_s()), 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        if not is_json(form):
            return _VERSION.format(
                software=SOFTWARE,
                version=self.device.images.release,
                chassis=f"Nexus9000 {product} Chassis",
                serial=serial,
                name=name,
                days=days,
                hours=hours,
                minutes=minutes,
                seconds=seconds,
            )
        return as_json(
            {
                "header_str": f"{SOFTWARE}\n",
                "nxos_ver_str": self.device.images.release,
                "chassis_id": f"Nexus9000 {product} Chassis",
                "proc_board_id": serial,
                "host_name": name,
                "kern_uptm_days": days,
                "kern_uptm_hrs": hours,
                "kern_uptm_mins": minutes,
                "kern_uptm_secs": seconds,
                "manufacturer": "Cisco Systems, Inc.",
            }
        )

    def show_hostname(self, form: str = "text") -> str:
        name = self.device.chassis().system_name
        return as_json({"hostname": name}) if is_json(form) else f"{name} \n"

    def show_hosts(self) -> str:
        return _HOSTS

    def show_inventory(self, form: str = "text") -> str:
        """The chassis and its one module."""
        _, product, serial = self._identity()
        kinds = {
            "Chassis": f"Nexus9000 {product} Chassis",
            "Slot 1": f"{len(self.device.ports())} port Ethernet Module",
        }
        if is_json(form):
            return as_json(table("inv", [_part(name, kind, product, serial) for name, kind in kinds.items()]))
        return "".join(
            f'NAME: "{name}",  DESCR: "{kind}"\nPID: {product:<20} ,  VID: V01 ,  SN: {serial}\n\n'
            for name, kind in kinds.items()
        )

    def show_module(self, form: str = "text") -> str:
        name, product, serial = self._identity()
        ports, digits = len(self.device.ports()), _digits(name, "system")[:6].lower()
        kind, mac = f"{ports} port Ethernet Module", f"50-87-89-{digits[:2]}-{digits[2:4]}-{digits[4:]}"
        version = self.device.images.release
        if not is_json(form):
            return _MODULE.format(ports=ports, kind=kind, product=product, version=version, mac=mac, serial=serial)
        module = {"modinf": "1", "ports": str(ports), "modtype": kind, "model": product, "status": "active *"}
        return as_json(
            {
                **table("modinfo", [module]),
                **table("modwwninfo", [{"modwwn": "1", "sw": version, "hw": "0.0", "slottype": "NA"}]),
                **table("modmacinfo", [{"modmac": "1", "mac": mac, "serialnum": serial}]),
            }
        )

    def _identity(self) -> tuple[str, str, str]:
        """Name, product and serial number."""
        chassis = self.device.chassis()
        unit = (chassis.name, str(self.device.unit)) if self.device.unit > 1 else (chassis.name,)
        return chassis.system_name, chassis.model.upper(), f"9{_digits(*unit, 'serial')[:10]}"

    # Configurations

    def show_running(self) -> str:
        return _headed("running-config", self.device.running())

    def show_startup(self) -> str:
        return _headed("startup-config", self.device.startup())

    def show_running_interface(self, port: str = "") -> str:
        """The sections of interfaces, or of one."""
        lines = FORMAT.tree(self.device.running())
        if not port:
            kept = [line for line in lines if line.kind in ("version", "interface")]
            return _headed("running-config interface", in_order(tuple(kept)))
        name = port_name(port, self._sections(lines))
        kept = [line for line in lines if line.kind == "version" or line.text == f"interface {name}"]
        return _headed(f"running-config interface {name}", in_order(tuple(kept)))

    @staticmethod
    def _sections(lines: Iterable[Line]) -> list[str]:
        return [line.text.partition(" ")[2] for line in lines if line.kind == "interface"]


def _headed(command: str, text: str) -> str:
    now = time.strftime("%a %b %d %H:%M:%S %Y", time.gmtime())
    head = ("", f"!Command: show {command}", "!No configuration change since last restart", f"!Time: {now}", "")
    return as_lines((*head, text, "", ""))


def _part(name: str, kind: str, product: str, serial: str) -> Json:
    quoted = {"name": f'"{name}"', "desc": f'"{kind}"'}
    return {**quoted, "productid": product, "vendorid": "V01", "serialnum": serial}


def _digits(*names: str) -> str:
    """Digits that are always those of these names."""
    return sha256(" ".join(names).encode()).hexdigest().upper()

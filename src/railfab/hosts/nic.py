#!/usr/bin/env python3
"""Check and set the NICs of a GPU host for RoCE, as the file nic.json beside this script wants them.

    nic.py            show the settings that differ, and the commands that --apply would run
    nic.py --apply    run them; a second run changes nothing
    nic.py --check    compare, as JSON on standard output
    nic.py --env      print the environment of NCCL or RCCL for this host

Exit code 0: done; 1: settings differ (--check), or could not be set (--apply); 2: not possible, for example an unknown
NIC or a missing interface. Nothing is changed with exit code 2. Needs Python 3.8 or newer, iproute2 and the tools of
the vendor. Interfaces have the names of the cabling plan, such as rail1-p0, as names or as alternative names.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DONE, DIFFERENT, IMPOSSIBLE = 0, 1, 2
TIMEOUT_S = 60
WHOLE_HOST = "all"
UNKNOWN = {"rdma": "RDMA device of the port (is its RoCE driver loaded?)", "port": "UUID of the port in nicctl"}
PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


class Impossible(Exception):
    """The settings of this host cannot be compared at all."""


class Unreadable(Exception):
    """A value that this host should have cannot be read. absent: the host does not have it."""

    def __init__(self, problem: str, absent: bool = False) -> None:
        super().__init__(problem)
        self.absent = absent


@dataclass
class System:
    """The files and programs of a host; root: where its file system is mounted.

    Outputs are kept until the same program changes something.
    """

    root: Path
    outputs: dict[tuple[str, ...], str] = field(default_factory=dict)

    def path(self, name: str) -> Path:
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str:
        try:
            return self.path(name).read_text(errors="replace").strip()
        except FileNotFoundError:
            raise Unreadable(f"{name} does not exist", absent=True) from None
        except OSError as error:
            raise Unreadable(f"{name} cannot be read ({error.strerror})") from None

    def write(self, name: str, text: str) -> None:
        try:
            self.path(name).write_text(text)
        except OSError as error:
            raise Unreadable(f"{name} cannot be written ({error.strerror})") from None

    def output(self, command: Sequence[str]) -> str:
        """Output of a command that only reads."""
        key = tuple(command)
        if key not in self.outputs:
            self.outputs[key] = self._run(command)
        return self.outputs[key]

    def change(self, command: Sequence[str]) -> None:
        """Run a command that changes settings."""
        self.outputs = {key: output for key, output in self.outputs.items() if key[0] != command[0]}
        self._run(command)

    def _run(self, command: Sequence[str]) -> str:
        command = found_program(command)
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unreadable(f"{shown(command)} failed ({error})") from None
        if done.returncode:
            words = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
            raise Unreadable(f"{shown(command)} failed with exit code {done.returncode} ({words})")
        return done.stdout


@dataclass
class HostPort:
    """A port of the fabric on this host. values: what stands for the placeholders of its settings."""

    name: str
    interface: str
    model: str
    family: str
    cards: list[str]
    values: dict[str, str]


@dataclass
class Row:
    """One setting of one port, compared."""

    port: HostPort
    setting: dict[str, Any]
    found: str | None = None
    problem: str | None = None
    ok: bool = False

    @property
    def nic(self) -> str:
        return WHOLE_HOST if self.setting.get("whole_host") else self.port.name

    @property
    def wanted(self) -> str:
        return filled(self.setting["wanted"], self.port.values)

    @property
    def survives(self) -> bool:
        return "permanent" in self.setting and self.setting["permanent"] is None


def filled(text: str, values: dict[str, str]) -> str:
    """A text with the values in place of its placeholders, such as {interface}."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    if missing := re.search(r"\{(rdma|port)\}", text):
        raise Unreadable(f"the {UNKNOWN[missing[1]]} is not known")
    return text


def found_program(command: Sequence[str]) -> list[str]:
    """A command with the first of its alternative programs, such as `mlxconfig|mstconfig`, that is installed."""
    programs = command[0].split("|")
    program = next((name for name in programs if shutil.which(name)), None)
    if program is None:
        raise Unreadable(f"{' or '.join(programs)} is not installed")
    return [program, *command[1:]]


def shown(command: Sequence[str]) -> str:
    return " ".join(word if re.fullmatch(r"[\w@%+=:,./|-]+", word) else repr(word) for word in command)


def numbers(text: str) -> list[int]:
    """The numbers of a list with ranges: `0-3, 24` has five."""
    found: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:\s*-\s*(\d+))?", text):
        found.update(range(int(first), int(last or first) + 1))
    return sorted(found)


def as_number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def agrees(compare: str, wanted: str, found: str) -> bool:
    if compare == "number":
        return as_number(wanted) == as_number(found)
    if compare == "dscp":
        value = as_number(found)
        return value is not None and value >> 2 == int(wanted) >> 2 and value & 3 in (0, 2)
    if compare == "set":
        return numbers(wanted) == numbers(found)
    if compare == "includes":
        return set(numbers(wanted)) <= set(numbers(found))
    return wanted.split() == found.split()


def read(source: dict[str, Any], port: HostPort, system: System) -> str:
    """The value that a setting has now. Raises Unreadable."""
    if "files" in source:
        names = [filled(name, port.values) for name in source["files"]]
        text = system.text(next((name for name in names if system.path(name).exists()), names[0]))
    else:
        text = system.output([filled(word, port.values) for word in source["run"]])
    if source.get("card"):
        text = of_card(text, port)
    if "find" not in source:
        return " ".join(text.split())
    pattern = re.compile(filled(source["find"], port.values), re.MULTILINE)
    if source.get("every"):
        return ",".join(match[1].strip(", ") for match in pattern.finditer(text))
    match = pattern.search(text)
    if match is None and "files" in source:
        return ""
    if match is None:
        raise Unreadable("the value is not in what the host reports", absent=True)
    return " ".join(" ".join(group or "" for group in match.groups()).split())


def of_card(text: str, port: HostPort) -> str:
    """The part of an output of nicctl about the card of a port, by the PCI addresses above the port."""
    for part in re.split(r"^(?=\s*NIC\s*:)", text, flags=re.MULTILINE):
        if any(f"({card})" in part.partition("\n")[0] for card in port.cards):
            return part
    raise Unreadable(f"no card at {' or '.join(port.cards)} is reported")


@contextmanager
def group_of(setting: dict[str, Any], port: HostPort, system: System) -> Iterator[None]:
    """Make the configfs group of a setting, and remove it afterwards, if it did not exist. The values stay."""
    if "group" not in setting:
        yield
        return
    path = system.path(filled(setting["group"], port.values))
    made = path.parent.is_dir() and not path.exists()
    if made:
        try:
            path.mkdir()
        except OSError as error:
            raise Unreadable(f"{path} cannot be made ({error.strerror})") from None
    try:
        yield
    finally:
        if made:
            path.rmdir()


def compared(row: Row, system: System) -> Row:
    """A row with what is found now."""
    setting, port = row.setting, row.port
    try:
        with group_of(setting, port, system):
            found = read(setting["read"], port, system)
        return Row(port, setting, found, None, agrees(setting.get("compare", "text"), row.wanted, found))
    except Unreadable as error:
        reason = setting.get("absent") if error.absent else None
        return Row(port, setting, None, reason or str(error), reason is not None)


def applies(setting: dict[str, Any], port: HostPort, system: System) -> bool:
    """Whether the condition of a setting holds on this host."""
    when = setting.get("when")
    if when is None:
        return True
    try:
        found = read(when["read"], port, system)
    except Unreadable:
        found = when["default"]
    return bool(found == when["value"])


def steps(row: Row) -> list[list[str]]:
    """The commands that set a row; writing into a file is shown as `echo`."""
    setting, values = row.setting, row.port.values
    extra = sorted(set(numbers(row.found or "")) - set(numbers(row.wanted))) if "undo" in setting else []
    commands = [[filled(word, {**values, "extra": str(one)}) for word in setting["undo"]] for one in extra]
    return commands + [[filled(word, values) for word in command] for command in setting.get("run", [])]


def file_of(row: Row, system: System) -> str:
    names = [filled(name, row.port.values) for name in row.setting["read"]["files"]]
    return next((name for name in names if system.path(name).exists()), names[0])


def wording(row: Row, system: System) -> list[str]:
    """What would be done for a row, as lines of a shell."""
    try:
        lines = [shown(found_program(command)) for command in steps(row)]
        if "text" in row.setting:
            lines.append(f"echo {row.setting['text']} > {file_of(row, system)}")
        if "note" in row.setting:
            lines.append(f"({filled(row.setting['note'], row.port.values)})")
        return lines
    except Unreadable as error:
        return [f"not possible: {error}"]


def write(row: Row, system: System) -> None:
    """Set a row. Raises Unreadable."""
    setting = row.setting
    with group_of(setting, row.port, system):
        if "text" in setting:
            system.write(file_of(row, system), setting["text"])
            apply = filled(setting.get("apply", ""), row.port.values)
            if apply and system.path(apply).exists():
                system.write(apply, "0x1")
    try:
        for command in steps(row):
            system.change(command)
    except Unreadable:
        if "otherwise" not in setting:
            raise
        for command in setting["otherwise"]:
            system.change([filled(word, row.port.values) for word in command])


def links(system: System) -> dict[str, dict[str, Any]]:
    """The interfaces of the kernel, by name and by alternative name."""
    try:
        found = json.loads(system.output(["ip", "-json", "link", "show"]))
    except (Unreadable, ValueError) as error:
        raise Impossible(f"the interfaces cannot be listed: {error}") from None
    return {name: link for link in found for name in (link["ifname"], *link.get("altnames", []))}


def identity(interface: str, system: System) -> dict[str, str]:
    """Driver and PCI identity of an interface, as sysfs has them. Empty for one that is no PCI device."""
    try:
        lines = system.text(f"/sys/class/net/{interface}/device/uevent").splitlines()
    except Unreadable:
        return {}
    return dict(line.split("=", 1) for line in lines if "=" in line)


def model_of(wanted: dict[str, Any], interface: str, data: dict[str, Any], system: System) -> str:
    """The NIC model of a port. Raises Impossible for one that is not in the catalogue, or not the wanted one."""
    found = identity(interface, system)
    if not found:
        raise Impossible(f"{wanted['name']} ({interface}): its PCI device is gone, or it has none. Look at lspci")
    driver, pci = found.get("DRIVER", ""), found.get("PCI_ID", "").lower()
    subsystem = found.get("PCI_SUBSYS_ID", "").lower()
    names = (
        name
        for name, model in data["nics"].items()
        if (driver, pci) == (model["driver"], model["pci"]) and model["subsystem"] in (None, subsystem)
    )
    name = next(names, None)
    if name is None:
        what = f"driver {driver or 'none'}, PCI {pci or 'none'}, subsystem {subsystem or 'none'}"
        raise Impossible(f"{wanted['name']} ({interface}): unknown NIC ({what}). Known are {', '.join(data['nics'])}")
    if wanted["nic"] not in (None, name):
        raise Impossible(f"{wanted['name']} ({interface}): the NIC is a {name}, and the intent states {wanted['nic']}")
    if data["nics"][name]["family"] not in data:
        raise Impossible(f"{wanted['name']} ({interface}): nic.json has no settings for a {name}")
    return str(name)


def port_of(wanted: dict[str, Any], link: dict[str, Any], data: dict[str, Any], system: System) -> HostPort:
    """A port with the values of its placeholders."""
    interface = link["ifname"]
    name = model_of(wanted, interface, data, system)
    family = data["nics"][name]["family"]
    device = f"/sys/class/net/{interface}/device"
    cards = PCI.findall(str(system.path(device).resolve()))
    values = {
        "interface": interface,
        "bond": link.get("master") if wanted["bond"] and link.get("master") else interface,
        "pci": identity(interface, system).get("PCI_SLOT_NAME", ""),
        "mtu": str(wanted["mtu"]),
        "cable_m": str(wanted["cable_m"]),
    }
    port = HostPort(wanted["name"], interface, name, family, cards, values)
    if rdma := devices(f"{device}/infiniband", system):
        values["rdma"] = rdma[0]
    physical = re.fullmatch(r"p(\d+)", text_or(f"/sys/class/net/{interface}/phys_port_name", system))
    values["number"] = str(int(physical[1]) + 1 if physical else int(values["pci"][-1:] or 0) + 1)
    for fact, source in data["facts"].get(family, {}).items():
        try:
            values[fact] = read(source, port, system)
        except Unreadable:
            continue
    return port


def devices(folder: str, system: System) -> list[str]:
    path = system.path(folder)
    return sorted(entry.name for entry in path.iterdir()) if path.is_dir() else []


def text_or(name: str, system: System, default: str = "") -> str:
    try:
        return system.text(name)
    except Unreadable:
        return default


def ports_of(data: dict[str, Any], system: System) -> list[HostPort]:
    """The ports of this host. Raises Impossible with all that are missing or not the wanted NIC."""
    ports, faults = ports_and_faults(data, system)
    if faults:
        raise Impossible("\n".join(faults))
    return ports


def ports_and_faults(data: dict[str, Any], system: System) -> tuple[list[HostPort], list[str]]:
    """The ports of this host, and what is wrong with those that are missing or not the wanted NIC."""
    known, ports, faults = links(system), [], []
    missing = [wanted["name"] for wanted in data["ports"] if wanted["name"] not in known]
    if missing:
        remedy = f"Name each one: ip link property add dev NAME altname {missing[0]}"
        faults.append(f"{', '.join(missing)}: no interface has this name. {remedy}")
    for wanted in data["ports"]:
        try:
            if wanted["name"] in known:
                ports.append(port_of(wanted, known[wanted["name"]], data, system))
        except Impossible as error:
            faults.append(str(error))
    share_rdma(data, ports)
    return ports, faults


def share_rdma(data: dict[str, Any], ports: list[HostPort]) -> None:
    """The ports of a bond have one RDMA device, which the kernel shows below one of them."""
    bonds = {wanted["name"]: wanted["bond"] for wanted in data["ports"]}
    rdma = {bonds[port.name]: port.values["rdma"] for port in ports if bonds[port.name] and "rdma" in port.values}
    for port in ports:
        if bonds[port.name] in rdma:
            port.values.setdefault("rdma", rdma[bonds[port.name]])


def rows_of(data: dict[str, Any], ports: Sequence[HostPort], system: System) -> list[Row]:
    """Every setting of every port, not yet compared; those of the whole host once."""
    rows, seen = [], set()
    for port in ports:
        for setting in data[port.family]:
            if setting.get("whole_host"):
                if setting["name"] in seen:
                    continue
                seen.add(setting["name"])
            if applies(setting, port, system):
                rows.append(Row(port, setting))
    return rows


def check(data: dict[str, Any], host: str, rows: Sequence[Row]) -> int:
    """Print the comparison as JSON. The keys are stable."""
    settings = [
        {
            "host": host,
            "nic": row.nic,
            "interface": None if row.nic == WHOLE_HOST else row.port.interface,
            "setting": row.setting["name"],
            "wanted": row.wanted,
            "found": row.found,
            "ok": row.ok,
            "problem": row.problem,
            "survives_reboot": row.survives,
        }
        for row in rows
    ]
    ok = all(row.ok for row in rows)
    models = {row.port.name: row.port.model for row in rows}
    document = {"version": 1, "fabric": data["fabric"], "host": host, "ok": ok, "nics": models, "settings": settings}
    say(json.dumps(document, indent=1))
    return DONE if ok else DIFFERENT


def alike(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Rows with the same setting, values and problem, in the order of the first."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.setting["name"], row.wanted, row.found, row.problem), []).append(row)
    yield from groups.values()


def on(rows: Sequence[Row]) -> str:
    first = rows[0].nic
    return first if len(rows) == 1 else f"{first} and {len(rows) - 1} more"


def plan(rows: Sequence[Row], system: System) -> int:
    """Print the settings that differ, with the commands for the first port of each kind; each command once."""
    different, said = [row for row in rows if not row.ok], set()
    for group in alike(different):
        row = group[0]
        say(f"{row.setting['name']} on {on(group)}: {value(row.found, row.problem)}, wanted {value(row.wanted)}")
        for line in wording(row, system):
            if line not in said:
                say(f"    {line}")
                said.add(line)
    if not different:
        say(f"nothing to change: all {len(rows)} settings are as wanted")
        return DONE
    say(f"{len(different)} of {len(rows)} settings differ; --apply sets them")
    tell_permanence(rows)
    return DONE


def apply(rows: Sequence[Row], system: System) -> int:
    """Set the rows that differ, one by one, and compare all of them again at the end."""
    before, changed, problems = [], [], {}
    for number, one in enumerate(rows):
        row = compared(one, system)
        before.append(row)
        if row.ok:
            continue
        try:
            write(row, system)
            changed.append(row)
        except Unreadable as error:
            problems[number] = str(error)
    system.outputs.clear()
    after = [compared(row, system) for row in rows] if changed or problems else before
    failed = [
        Row(row.port, row.setting, row.found, problems.get(number) or row.problem, False)
        for number, row in enumerate(after)
        if not row.ok
    ]
    for group in alike(changed):
        say(f"{group[0].setting['name']} on {on(group)}: set to {value(group[0].wanted)}")
    for group in alike(failed):
        row = group[0]
        still = f"still {value(row.found)}, wanted {value(row.wanted)}"
        say(f"{row.setting['name']} on {on(group)}: {still}{': ' + row.problem if row.problem else ''}", sys.stderr)
    good = len(after) - len(failed)
    say(f"{len(changed)} settings written, {good} of {len(after)} as wanted" if changed or failed else unchanged(after))
    if changed:
        tell_permanence(rows)
    return DIFFERENT if failed else DONE


def unchanged(rows: Sequence[Row]) -> str:
    return f"nothing changed: all {len(rows)} settings are as wanted"


def value(found: str | None, problem: str | None = None) -> str:
    """A value as it is shown: `none` for an empty one."""
    return found or problem or "none"


def tell_permanence(rows: Sequence[Row]) -> None:
    """Print which of these settings do not survive a reboot, and what makes them permanent."""
    lost: dict[str, list[str]] = {}
    for row in rows:
        if not row.survives:
            keeper = row.setting.get("permanent", "railfab-nic.service")
            names = lost.setdefault(keeper, [])
            if row.setting["name"] not in names:
                names.append(row.setting["name"])
    for keeper, names in lost.items():
        say(f"lost at a reboot: {', '.join(names)}; permanent with {keeper}")


def environment(data: dict[str, Any], ports: Sequence[HostPort], system: System) -> int:
    """Print the environment of NCCL and RCCL: that of the fabric, and the devices of this host by rail."""
    for variable in data["environment"]:
        say(f"{variable['name']}={variable['value']}")
    places = {wanted["name"]: wanted for wanted in data["ports"] if wanted["net"] == "backend"}
    backend = [port for port in ports if port.name in places]
    missing = [port.name for port in backend if "rdma" not in port.values]
    if missing:
        raise Impossible(f"{', '.join(missing)}: no RDMA device. Load the RoCE driver of the NIC")
    rails = {port.values["rdma"]: places[port.name] for port in backend}
    entries = [f"{rdma}:1:{place['rail']}:{place['plane']}" for rdma, place in rails.items()]
    say("NCCL_IB_HCA==" + ",".join(entries))
    if len(rails) > len({place["rail"] for place in rails.values()}):
        say("NCCL_NET_MERGE_POLICY=RAIL")
    indexes = {gid_index(port, system) for port in backend}
    if len(indexes) == 1 and None not in indexes:
        say(f"# for NCCL before 2.21: NCCL_IB_GID_INDEX={indexes.pop()}")
    known = links(system)
    sockets = [known[name]["ifname"] for name in data["frontend"] if name in known]
    if sockets:
        say("NCCL_SOCKET_IFNAME==" + ",".join(sockets))
    return DONE


def gid_index(port: HostPort, system: System) -> int | None:
    """The index of the first GID of RoCE v2 with an address that is not link-local; None if there is none."""
    folder = f"/sys/class/infiniband/{port.values['rdma']}/ports/1"
    for name in sorted(devices(f"{folder}/gid_attrs/types", system), key=int):
        if text_or(f"{folder}/gid_attrs/types/{name}", system) != "RoCE v2":
            continue
        gid = text_or(f"{folder}/gids/{name}", system, "fe80")
        if not gid.startswith("fe80") and gid.strip("0:"):
            return int(name)
    return None


def say(text: str, stream: Any = None) -> None:
    """Write lines, each character that cannot be printed escaped, since files of the host may contain any."""
    shown = (letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text)
    (stream or sys.stdout).write("".join(shown) + "\n")


def loaded(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Impossible(f"{path}: cannot be read ({error})") from None
    if not isinstance(data, dict) or data.get("version") != 1 or data.get("railfab") != "nic settings":
        raise Impossible(f"{path}: is no file of NIC settings of version 1")
    return data


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    what = parser.add_mutually_exclusive_group()
    for name, text in (
        ("plan", "show what --apply would do (the default)"),
        ("apply", "set what differs"),
        ("check", "compare, as JSON"),
        ("env", "print the environment of NCCL and RCCL"),
    ):
        what.add_argument(f"--{name}", dest="mode", action="store_const", const=name, help=text)
    beside = Path(__file__).resolve().parent / "nic.json"
    parser.add_argument("--data", type=Path, default=beside, help="settings (default: nic.json beside this script)")
    parser.add_argument("--host", default=socket.gethostname(), help="name of this host in the output")
    parser.add_argument("--root", type=Path, default=Path("/"), help="where the file system of the host is mounted")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    options = arguments(words)
    system = System(options.root)
    try:
        if options.mode == "apply" and str(options.root) == "/" and os.geteuid() != 0:
            raise Impossible("--apply needs root")
        data = loaded(options.data)
        ports = ports_of(data, system)
        if options.mode == "env":
            return environment(data, ports, system)
        rows = rows_of(data, ports, system)
        if options.mode == "apply":
            return apply(rows, system)
        rows = [compared(row, system) for row in rows]
        return check(data, options.host, rows) if options.mode == "check" else plan(rows, system)
    except Impossible as error:
        problems = str(error).splitlines()
        for problem in problems:
            say(f"nic.py: {problem}", sys.stderr)
        if options.mode == "check":
            say(json.dumps({"version": 1, "host": options.host, "ok": False, "problems": problems}, indent=1))
        return IMPOSSIBLE


if __name__ == "__main__":
    sys.exit(main())

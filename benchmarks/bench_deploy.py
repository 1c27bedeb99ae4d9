"""Client CPU of `railfab deploy` over SSH beside a plain loop of Nornir and netmiko, on the same virtual switches.

The loop connects, sends the lines of each switch by `send_config_set` without a check of each echo, and saves; the
deploy reads, compares, arms the timer of the switch, commits, reads back and confirms. Each starts on factory switches
of a twin in a process of its own; they run in turns, and a second deploy that changes nothing follows each deploy. CPU
is that of the whole process of the client, imports included. The deploy checks host keys; the loop, as netmiko does
unless it is told to, does not.

With `--waves` it is `railfab deploy --waves off` beside `railfab deploy` with waves and the gate of the state, each on
factory switches, in turns. A pod has 64 super-spines then, so that switches have as many cables in fabrics of any size.

    python benchmarks/bench_deploy.py junos                    # 256 switches, 3 turns
    python benchmarks/bench_deploy.py junos --pods 1 --turns 1
    python benchmarks/bench_deploy.py srlinux --waves --pods 1 2 4 --turns 1      # 128, 256 and 512 switches

With `--day-two` it is `railfab verify`, `drift`, `cabling` and `snapshot` of the same fabrics as they should be.

    python benchmarks/bench_deploy.py srlinux --day-two --pods 4                  # 512 switches
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measured import Cost, cost, machine, typical
from platform_fabric import MODELS, intent

COPY = ("end", "copy running-config startup-config")
FILE = "/tmp/config_db.json"
ENDS = {
    "cumulus": ("nv config apply -y", "nv config save"),
    "eos": COPY,
    "junos": ("commit and-quit",),
    "nxos": COPY,
    "sonic": (f"config load -y {FILE}", "config save -y"),
}
"""Commands with which the lines of a platform take effect and are saved."""
END_OF_FILE = "\x04"
PROMPT = r"[#>]\s*$"
COMMAND_WITHIN_S = 300.0
WAITS = ("conn_timeout", "auth_timeout", "banner_timeout", "read_timeout_override")
"""Limits of netmiko, 10 s by default, in which a busy machine neither logs in nor echoes."""
WORKERS = 16
"""Switches at a time, as `railfab deploy` has them."""
RAILFAB = (sys.executable, "-m", "railfab")
DEPLOY, ON_TWIN = (*RAILFAB, "deploy", "--yes"), ("--on", "twin", "--state")
CONFIGURED = ("--configured",)
DAY_TWO = (("verify",), ("drift",), ("cabling",), ("snapshot", "-o", "taken"))
WITHOUT_WAVES = ("--waves", "off")
SUPER_SPINES, PODS_SWITCHES = 64, 128
"""Super-spines of a pod, and its switches together with them, of the fabrics with `--waves`."""


def push(path: str, state: str) -> None:
    """The loop, in this process."""
    from nornir.core.task import Result, Task

    from railfab.deploy import nornir_of
    from railfab.fabric import design, resolve_endpoints

    fabric = design(Path(path))
    nornir = nornir_of(fabric, resolve_endpoints(fabric, "twin", Path(state)))
    for host in nornir.inventory.hosts.values():
        host.connection_options["netmiko"].extras = dict.fromkeys(WAITS, COMMAND_WITHIN_S)  # any host key
    lines = {name: typed(fabric.models[name].platform, text) for name, text in fabric.texts.items()}

    def loop(task: Task) -> Result:
        connection = task.host.get_connection("netmiko", task.nornir.config)
        connection.enable()
        connection.send_config_set(
            lines[task.host.name], cmd_verify=False, exit_config_mode=False, read_timeout=COMMAND_WITHIN_S
        )
        for command in ENDS[str(task.host.platform)]:
            connection.send_command(command, expect_string=PROMPT, read_timeout=COMMAND_WITHIN_S)
        task.host.close_connection("netmiko")
        return Result(host=task.host)

    result = nornir.run(task=loop)
    if result.failed:
        raise SystemExit(str(next(iter(result.failed_hosts.values()))[0].exception))


def typed(platform: str, text: str) -> list[str]:
    """The lines that a person would paste."""
    match platform:
        case "cumulus":
            from railfab.platforms.cumulus.parse import tree_of
            from railfab.platforms.cumulus.tree import lines

            return lines(tree_of(text))
        case "junos":
            from railfab.platforms.junos.statements import read
            from railfab.platforms.shared.brace_text import shown

            return [f"set {shown(statement)}" for statement in read(text)]
        case "sonic":
            return [f"cat > {FILE}", *text.splitlines(), END_OF_FILE]
        case _:
            return [line for line in text.splitlines() if line.strip() not in ("!", "end")]


def turn(path: Path, folder: Path, *commands: tuple[str, ...], configured: bool = False) -> list[Cost]:
    """Costs of commands one after the other on the switches of a new twin, as they leave the factory or configured."""
    with tempfile.TemporaryDirectory(dir=folder) as state:
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent)}
        subprocess.run(
            [*RAILFAB, "twin", str(path), "--detach", "--port", "0", "--state", state, *CONFIGURED[:configured]],
            check=True,
            capture_output=True,
        )
        try:
            return [cost([*command, state], folder, env) for command in commands]
        finally:
            subprocess.run([*RAILFAB, "twin", "stop", "--state", state], check=True, capture_output=True)


def beside_loop(arguments: argparse.Namespace, folder: Path, pods: int) -> None:
    """Measure the loop and two deploys."""
    loops, firsts, seconds = [], [], []
    path = intent(folder, arguments.platform, pods=pods)
    deploy = (*DEPLOY, str(path), *ON_TWIN)
    loop = (sys.executable, __file__, arguments.platform, "--push", str(path))
    for _ in range(arguments.turns):
        loops += turn(path, folder, loop)
        first, second = turn(path, folder, deploy, deploy)
        firsts.append(first)
        seconds.append(second)
    base = typical(loops).cpu_s
    for name, costs in (("loop", loops), ("first deploy", firsts), ("second deploy", seconds)):
        each = typical(costs)
        print(
            f"{name:<14} {each.cpu_s:7.2f} s CPU  {each.cpu_s / base:5.2f} of the loop  {each.wall_s:7.1f} s  "
            f"{each.peak_mb:6.0f} MB"
        )


def in_waves(arguments: argparse.Namespace, folder: Path, pods: int) -> None:
    """Measure first deploys without and with waves."""
    switches = PODS_SWITCHES * pods
    path = intent(folder, arguments.platform, pods=pods, super_spines=SUPER_SPINES * pods)
    for number in range(1, arguments.turns + 1):
        base_s: float | None = None
        for name, waves in (("waves off", WITHOUT_WAVES), ("waves", ())):
            (each,) = turn(path, folder, (*DEPLOY, str(path), *waves, *ON_TWIN))
            base_s = base_s or each.cpu_s
            print(
                f"{switches} switches, turn {number}, {name:<9} {each.cpu_s:7.2f} s CPU  {each.cpu_s / base_s:5.2f}  "
                f"{1000 * each.cpu_s / switches:5.1f} ms a switch  {each.wall_s:7.1f} s  {each.peak_mb:4.0f} MB",
                flush=True,
            )


def day_two(arguments: argparse.Namespace, folder: Path, pods: int) -> None:
    """Measure commands that read every switch of a fabric that is as it should be."""
    switches = PODS_SWITCHES * pods
    path = intent(folder, arguments.platform, pods=pods, super_spines=SUPER_SPINES * pods)
    commands = [(*RAILFAB, verb, str(path), *options, *ON_TWIN) for verb, *options in DAY_TWO]
    for (verb, *_), each in zip(DAY_TWO, turn(path, folder, *commands, configured=True), strict=True):
        print(
            f"{switches} switches, {verb:<8} {each.cpu_s:7.2f} s CPU  {1000 * each.cpu_s / switches:5.1f} ms a switch  "
            f"{each.wall_s:7.1f} s  {each.peak_mb:4.0f} MB",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("platform", choices=sorted(MODELS))
    parser.add_argument("--pods", type=int, nargs="+", default=[2])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--waves", action="store_true", help="deploys with waves beside those without")
    parser.add_argument("--day-two", action="store_true", help="commands that read every switch")
    parser.add_argument("--push", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.push:
        push(*arguments.push)
        return
    print(machine())
    for pods in arguments.pods:
        with tempfile.TemporaryDirectory() as text:
            measure = day_two if arguments.day_two else in_waves if arguments.waves else beside_loop
            measure(arguments, Path(text), pods)


if __name__ == "__main__":
    main()

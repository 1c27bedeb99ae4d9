"""Restart of a switch of an embedded lab, as by a power cycle, or of one of its daemons."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from railfab.errors import LabError
from railfab.lab.contract import LabPlan, Progress
from railfab.lab.daemons import restart_daemon, restarted_with
from railfab.lab.netns import processes
from railfab.lab.netns.ip_commands import reset_commands
from railfab.lab.netns.lifecycle import boot_switch, start_ssh_servers, wait_for_servers
from railfab.lab.netns.namespaces import ip_batch
from railfab.lab.netns.node import DAEMONS, start_command, wait_until_ready
from railfab.lab.netns.processes import PROC, Process
from railfab.lab.netns.runtime import node_directory
from railfab.lab.netns.state import LabNode, NetnsState, lab_state_file, save_state


def switch_named(state: NetnsState, name: str) -> LabNode:
    """The switch of that name. Raises LabError."""
    switches = {node.name: node for node in state.switches()}
    if name in switches:
        return switches[name]
    is_host = any(node.name == name for node in state.nodes)
    problem = "is a host, in which nothing runs" if is_host else "is not a node of this lab"
    raise LabError(name, problem, f"Name one of {', '.join(switches)}")


def restart_one_daemon(state: NetnsState, node: LabNode, daemon: str) -> None:
    """Restart a daemon with its startup configuration. Raises LabError."""
    restarted = restarted_with(daemon, DAEMONS)
    root, holder = node_directory(state, node.name), state.process(node.name)
    inside = _first_process_inside(holder) if holder is not None else None
    if inside is None:
        raise LabError(f"switch {node.name}", "does not run", f"Run `railfab lab restart {node.name}` without --daemon")
    for name in restarted:
        restart_daemon(
            node.name,
            name,
            first_process=inside,
            sockets=root / "run-frr",
            log=root / "log",
            start=start_command(root, name),
        )


def restart_switch(plan: LabPlan, state: NetnsState, node: LabNode, progress: Progress) -> NetnsState:
    """Restart a switch with its startup configuration and the ports of the plan; return the state with its process.

    Its ports are down meanwhile; addresses, routes and unsaved configuration are lost. Raises LabError.
    """
    root, before = node_directory(state, node.name), state.process(node.name)
    progress(f"restarting {node.name}")
    if before is not None:
        processes.kill([before, *_inside(before)])
    for name in ("run-frr", "var-tmp"):
        _empty(root / name)
    (root / "ready").unlink(missing_ok=True)
    ip_batch(reset_commands(plan.topology, node.name, plan.models), namespace=node.namespace)
    holder = boot_switch(state, node)
    others = tuple(process for process in state.processes if process.purpose != node.name)
    state = replace(state, processes=(*others, holder))
    save_state(lab_state_file(plan.place), state)
    wait_until_ready({node.name: root}, [holder])
    start_ssh_servers(plan.place, state, [node])
    wait_for_servers(state, [node])
    return state


def _first_process_inside(holder: Process) -> int | None:
    """Pid of the first process of a switch in its PID namespace, the child of `unshare`; None when it has ended."""
    return next((process.pid for process in _inside(holder)), None)


def _inside(holder: Process) -> Iterator[Process]:
    try:
        children = (PROC / str(holder.pid) / "task" / str(holder.pid) / "children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return
    if processes.is_running(holder):
        for pid in map(int, children):
            if (ticks := processes.started(pid)) is not None:
                yield Process(purpose=holder.purpose, pid=pid, started=ticks)


def _empty(directory: Path) -> None:
    """Remove everything in a directory, which stays: it is a mount point of the switch."""
    for path in directory.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

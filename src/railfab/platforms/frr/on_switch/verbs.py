"""The verbs of a session, and the main function of the program."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NoReturn

from railfab.platforms.frr.on_switch.changes import commit, confirm, revert, settle
from railfab.platforms.frr.on_switch.commands import Lock, first_line, run
from railfab.platforms.frr.on_switch.daemons import check_daemons, startup_text
from railfab.platforms.frr.on_switch.draining import is_drained, set_drain, with_drain, without_drain
from railfab.platforms.frr.on_switch.places import ETC, FOLDER, RUN, SHOW_WITHIN_S, ChangeRefused
from railfab.platforms.frr.on_switch.records import LOCK_WITHIN_S, described, locked, pending_change, refuse_pending
from railfab.platforms.frr.on_switch.startup import prepare_startup, replace_startup
from railfab.platforms.frr.on_switch.texts import checked_text, differences, former_text, revision, store

RESTART_WITHIN_S = 60


def hostname() -> str:
    return os.uname().nodename


def running(request: dict[str, Any]) -> dict[str, Any]:
    text = checked_text(request["commands"])
    record = pending_change()
    return {
        "text": text,
        "revision": revision(text),
        "hostname": hostname(),
        "pending": None if record is None else described(record),
        "drained": is_drained(text),
    }


def stage(request: dict[str, Any]) -> dict[str, Any]:
    """Compare a candidate, with the drain of a verb, with the running configuration. Changes nothing."""
    candidate = request["text"]
    text = checked_text(request["commands"], candidate)
    drained = is_drained(text)
    if drained:
        candidate = with_drain(candidate, text)
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    try:
        folder = Path(tempfile.mkdtemp(prefix="staged.", dir=str(FOLDER)))
        try:
            store(folder / "candidate", candidate)
            changes = differences(request["commands"], folder / "candidate", text)
        finally:
            shutil.rmtree(str(folder), ignore_errors=True)
    except OSError as error:
        problem = f"cannot store the candidate ({error.strerror or error})"
        raise ChangeRefused("commit", problem, f"Check the free space of {RUN}; the switch is unchanged") from None
    former = former_text(request["commands"], text, candidate)
    return {
        "text": candidate,
        "former": former,
        "kept": without_drain(former) if drained else former,
        "revision": revision(text),
        "changes": changes,
        "management": management(),
    }


def management() -> dict[str, Any]:
    """Address, interface and route over which this SSH session runs; empty where SSH does not say."""
    words = os.environ.get("SSH_CONNECTION", "").split()
    if len(words) != 4:
        return {}
    client, server = (word.partition("%")[0] for word in (words[0], words[2]))
    status, out, _ = run("ip -j address show", SHOW_WITHIN_S)
    links = json.loads(out) if status == 0 else []
    of_server = [link for link in links if any(address.get("local") == server for address in link["addr_info"])]
    interface = of_server[0] if of_server else {}
    vrf = " vrf " + interface["master"] if interface.get("master") else ""
    status, out, _ = run(f"ip -j route get fibmatch {client}{vrf}", SHOW_WITHIN_S)
    if status != 0 and vrf:
        status, out, _ = run(f"ip -j route get fibmatch {client}", SHOW_WITHIN_S)
    routes = json.loads(out) if status == 0 and out.strip() else []
    route = routes[0].get("dst", "") if routes else ""
    return {"address": server, "interface": interface.get("ifname", ""), "route": route, "client": client}


def observe(request: dict[str, Any]) -> dict[str, Any]:
    check_daemons((startup_text(),))
    shown = ["neighbors", "addresses", "hash", "vnis"]
    shown += ["resolved", "bridged"] if request["resolved"] else []
    shown += ["routes", "routes6"] if request["routes"] else []
    empty = dict.fromkeys(("resolved", "bridged", "routes", "routes6"), "")
    return empty | {name: run(request["commands"][name], SHOW_WITHIN_S)[1] for name in shown}


def save(request: dict[str, Any]) -> dict[str, Any]:
    with locked(LOCK_WITHIN_S):
        settle()
        refuse_pending(pending_change())
        prepare_startup(checked_text(request["commands"]))
        replace_startup()
    return {}


def drain(request: dict[str, Any]) -> dict[str, Any]:
    """Drain the switch, or end its drain."""
    with locked(LOCK_WITHIN_S):
        settle()
        refuse_pending(pending_change())
        set_drain(request["commands"], request["verb"], checked_text(request["commands"]))
    return {}


def reload(request: dict[str, Any]) -> dict[str, Any]:
    """Restart FRR's daemons with the startup configuration, by systemd or by FRR's own script."""
    with locked(LOCK_WITHIN_S):
        settle()
        refuse_pending(pending_change())
        by_systemd = Path("/run/systemd/system").is_dir()
        if not by_systemd and not (ETC / "daemons").exists():
            problem = "cannot restart FRR without systemd or /etc/frr/daemons"
            raise ChangeRefused(
                "unsupported", problem, "Restart the switch itself, in a lab with `railfab lab restart`"
            )
        held, Lock.held = Lock.held, None  # a daemon must not keep the lock
        status, out, errors = run(
            request["commands"]["restart_unit" if by_systemd else "restart_daemons"], RESTART_WITHIN_S
        )
        Lock.held = held
        if status != 0:
            problem = f"cannot restart FRR ({first_line(out, errors, status)})"
            raise ChangeRefused("device", problem, "Check /etc/frr/frr.conf and the log of the switch")
        wait_for_daemons()
    return {}


def wait_for_daemons() -> None:
    deadline = time.monotonic() + RESTART_WITHIN_S
    while True:
        try:
            return check_daemons((startup_text(),))
        except ChangeRefused:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


VERBS = {
    "running": running,
    "stage": stage,
    "commit": commit,
    "confirm": confirm,
    "revert": revert,
    "observe": observe,
    "save": save,
    "drain": drain,
    "undrain": drain,
    "reload": reload,
}


def answer(received: str) -> dict[str, Any]:
    """The answer to a request: what the verb returns, or `refused` with kind, problem and remedy."""
    try:
        request = json.loads(received)
    except ValueError:
        problem = "did not receive the whole configuration"
        return {"refused": ["commit", problem, "Check the connection; the switch is unchanged"]}
    try:
        return VERBS[request["verb"]](request)
    except ChangeRefused as refused:
        return {"refused": [refused.kind, refused.problem, refused.remedy]}
    except OSError as error:
        problem = f"cannot work in {error.filename or FOLDER} ({error.strerror})"
        return {"refused": ["device", problem, "Check the free space and the permissions of the switch"]}


def main() -> NoReturn:
    """Answer the request on standard input. A client that has gone away is no reason to stop in the middle."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    os.umask(0o077)
    text = json.dumps(answer(sys.stdin.read()))
    with contextlib.suppress(OSError):
        sys.stdout.write(text)
        sys.stdout.flush()
    os._exit(0)

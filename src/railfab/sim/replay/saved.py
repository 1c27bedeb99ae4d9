"""A saved run: what `sim why` answers from. The format is in docs/simulator.md."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from railfab.errors import RailfabError
from railfab.sim.kernel.records import DONE, SENDING, STALLED, WAITING
from railfab.sim.network import Network
from railfab.sim.replay.results import SeedResult, mean
from railfab.sim.replay.rowfiles import SAVE_AGAIN, read_rows, rows_text
from railfab.sim.replay.run import Run
from railfab.sim.replay.scenario import PRIORITY
from railfab.sim.replay.tables import read_document

FORMAT, VERSION = "railfab-sim-run", 1
RUN_FILE = "run.json"
SCENARIO_FILES = ("scenario.json", "links.csv", "flows.csv")
STATES = {WAITING: "waiting", SENDING: "sending", DONE: "done", STALLED: "no route"}

Port = tuple[int, int]
Ports = tuple[Port, ...]


def port_name(port: Port) -> str:
    """NODE:PORT."""
    return f"{port[0]}:{port[1]}"


@dataclass(frozen=True, slots=True)
class SavedPort:
    """A port: its queue, the pauses it received, and what came in by it. None: no threshold.

    margin_bytes: least difference between the XOFF threshold and the bytes held for this port, of the moments when it
    held more than ever before.
    """

    node: int
    port: int
    is_switch: bool
    peer: int
    peer_port: int
    rate_gbps: float
    delay_ns: float
    kmin_bytes: float | None
    kmax_bytes: float | None
    pmax: float | None
    sent_packets: int
    sent_bytes: int
    marked_packets: int
    dropped_packets: int
    peak_bytes: int
    xoff_received: int
    paused_ns: float
    sends_pfc: bool
    shared_bytes: float | None
    xoff_alpha: float
    headroom_limit_bytes: float
    held_peak_bytes: int
    headroom_peak_bytes: int
    margin_bytes: float | None
    xoff_sent: int
    refused_packets: int

    @property
    def name(self) -> str:
        return port_name((self.node, self.port))

    @property
    def peer_name(self) -> str:
        """The name of the port at the other end."""
        return port_name((self.peer, self.peer_port))


@dataclass(frozen=True, slots=True)
class SavedFlow:
    """A flow; path: the ports that send it, from its host on."""

    flow: int
    src: int
    dst: int
    size_bytes: int
    state: str
    start_ns: float
    finish_ns: float | None
    sent_packets: int
    sent_bytes: int
    received_packets: int
    marked_packets: int
    dropped_packets: int
    retransmitted_packets: int
    timeouts: int
    path: Ports


@dataclass(frozen=True, slots=True)
class SavedPause:
    """A pause frame that a port sends to its peer. cause_port: of the same node, the port whose queue held most of the
    bytes that had come in by the port; cause_since_ns: since when the first packet of this queue waited."""

    sent_ns: float
    arrival_ns: float
    kind: str
    node: int
    port: int
    peer: int
    peer_port: int
    held_bytes: int
    headroom_bytes: int
    threshold_bytes: float
    cause_port: int | None
    cause_bytes: int
    cause_since_ns: float


@dataclass(frozen=True, slots=True)
class SavedRun:
    """stuck: why flows are left. pauses_missed: pause frames that are not in `pauses`, because they were too many."""

    name: str
    seed: int
    end_ns: float
    stuck: str
    ecn: bool
    pfc: bool
    pauses_missed: int
    ports: tuple[SavedPort, ...]
    flows: tuple[SavedFlow, ...]
    pauses: tuple[SavedPause, ...]


def save(run: Run, results: Sequence[SeedResult], folder: Path) -> None:
    """Write a run with the results of all seeds into a new or empty folder, whole or not at all; `run.json` is last."""
    check_place(folder)
    existed = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as on_failure:
        on_failure.callback(_empty, folder, keep=existed)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".") as place:
            _write(run, results, Path(place))
            for path in sorted(Path(place).iterdir(), key=lambda path: path.name == RUN_FILE):
                path.replace(folder / path.name)
        on_failure.pop_all()


def _empty(folder: Path, *, keep: bool) -> None:
    """Remove what a folder contains, and the folder itself unless it is kept."""
    shutil.rmtree(folder, ignore_errors=True)
    if keep:
        folder.mkdir(exist_ok=True)


def check_place(folder: Path) -> None:
    """Refuse a folder that has content, or that cannot be written."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RailfabError(str(folder), "exists and is not an empty directory", "Name another directory with --save")
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    check_writable(there, "Name another directory with --save")


def check_writable(folder: Path, remedy: str) -> None:
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
        raise RailfabError(str(folder), problem, remedy) from None


def _write(run: Run, results: Sequence[SeedResult], folder: Path) -> None:
    (folder / "scenario").mkdir()
    for name in SCENARIO_FILES:
        shutil.copyfile(run.scenario.folder / name, folder / "scenario" / name)
    (folder / "ports.csv").write_text(rows_text(SavedPort, _ports(run)))
    (folder / "flows.csv").write_text(rows_text(SavedFlow, _flows(run)))
    (folder / "pauses.csv").write_text(rows_text(SavedPause, _pauses(run)))
    if run.samples is not None:
        np.savez_compressed(
            folder / "samples.npz",
            ports=np.array(run.scenario.ports),
            times_ns=run.samples.times_ns,
            depth_bytes=run.samples.depth_bytes,
            sent_bytes=run.samples.sent_bytes,
        )
    (folder / RUN_FILE).write_text(json.dumps(_document(run, results), indent=1) + "\n")


def _document(run: Run, results: Sequence[SeedResult]) -> Mapping[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "scenario": run.scenario.name,
        "seed": run.result.seed,
        "end_ns": run.engine.now_ns,
        "stuck": run.stuck,
        "ecn": run.scenario.parameters.ecn,
        "pfc": run.scenario.parameters.pfc,
        "priority": PRIORITY,
        "pauses_missed": run.engine.pauses().missed,
        "results": {"seeds": [result.row() for result in results], "mean": mean(results)},
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _ports(run: Run) -> list[SavedPort]:
    """Port by port: its queue is that of link l, what comes in by it is counted at the far end of link l ^ 1."""
    network, counters, q = run.scenario.network, run.engine.counters(), PRIORITY
    marks = np.isfinite(network.kmin_bytes[:, q])
    found = []
    for out, (node, port) in enumerate(run.scenario.ports):
        into = out ^ 1
        peer, peer_port = run.scenario.ports[into]
        found.append(
            SavedPort(
                node=node,
                port=port,
                is_switch=bool(network.is_switch[node]),
                peer=peer,
                peer_port=peer_port,
                rate_gbps=float(network.rate_gbps[out]),
                delay_ns=float(network.delay_ns[out]),
                kmin_bytes=_finite(network.kmin_bytes[out, q]),
                kmax_bytes=_finite(network.kmax_bytes[out, q]),
                pmax=float(network.pmax[out, q]) if marks[out] else None,
                sent_packets=int(counters.sent_packets[out, q]),
                sent_bytes=int(counters.sent_bytes[out, q]),
                marked_packets=int(counters.marked_packets[out, q]),
                dropped_packets=int(counters.dropped_packets[out, q]),
                peak_bytes=int(counters.peak_bytes[out, q]),
                xoff_received=int(counters.xoff_received[out, q]),
                paused_ns=float(counters.paused_ns[out, q]),
                sends_pfc=bool(network.pfc_sent[into, q]),
                shared_bytes=_finite(network.shared_bytes[node]),
                xoff_alpha=float(network.xoff_alpha[into, q]),
                headroom_limit_bytes=_headroom(network, into),
                held_peak_bytes=int(counters.held_peak_bytes[into, q]),
                headroom_peak_bytes=int(counters.headroom_peak_bytes[into, q]),
                margin_bytes=_finite(counters.xoff_margin_bytes[into, q]),
                xoff_sent=int(counters.xoff_sent[into, q]),
                refused_packets=int(counters.refused_packets[into, q]),
            )
        )
    return found


def _headroom(network: Network, into: int) -> float:
    return float(network.headroom_bytes[into, PRIORITY]) if network.is_switch[network.far[into]] else 0.0


def _flows(run: Run) -> list[SavedFlow]:
    ports, results, paths = run.scenario.ports, run.engine.flows(), run.engine.paths()
    return [
        SavedFlow(
            flow=flow.id,
            src=flow.source,
            dst=flow.target,
            size_bytes=flow.payload_bytes,
            state=STATES[int(results.state[number])],
            start_ns=float(results.start_ns[number]),
            finish_ns=float(results.finish_ns[number]) if results.state[number] == DONE else None,
            sent_packets=int(results.sent_packets[number]),
            sent_bytes=int(results.sent_bytes[number]),
            received_packets=int(results.received_packets[number]),
            marked_packets=int(results.marked_packets[number]),
            dropped_packets=int(results.dropped_packets[number]),
            retransmitted_packets=int(results.retransmitted_packets[number]),
            timeouts=int(results.timeouts[number]),
            path=tuple(ports[link] for link in paths[number]),
        )
        for number, flow in enumerate(run.scenario.flows)
    ]


def _pauses(run: Run) -> list[SavedPause]:
    log, ports = run.engine.pauses(), run.scenario.ports
    columns = (
        log.sent_ns.tolist(),
        log.arrival_ns.tolist(),
        ["xoff" if xoff else "xon" for xoff in log.is_xoff],
        [ports[link ^ 1] for link in log.link.tolist()],
        [ports[link] for link in log.link.tolist()],
        log.held_bytes.tolist(),
        log.headroom_bytes.tolist(),
        log.threshold_bytes.tolist(),
        [ports[link][1] if link >= 0 else None for link in log.cause_link.tolist()],
        log.cause_bytes.tolist(),
        log.cause_since_ns.tolist(),
    )
    return [
        SavedPause(sent, arrival, kind, *port, *peer, *rest)
        for sent, arrival, kind, port, peer, *rest in zip(*columns, strict=True)
    ]


def read_run(folder: Path) -> SavedRun:
    """Read a saved run. Raises RailfabError for a folder that is none."""
    path = folder / RUN_FILE
    if not path.is_file():
        remedy = "Name a directory that `railfab sim replay --save` wrote"
        raise RailfabError(str(folder), "is not a saved run: it has no run.json", remedy)
    document = read_document(path)
    if (document.get("format"), document.get("version")) != (FORMAT, VERSION):
        raise RailfabError(str(path), f"is not of format {FORMAT}, version {VERSION}", SAVE_AGAIN)
    try:
        return SavedRun(
            name=str(document["scenario"]),
            seed=int(document["seed"]),
            end_ns=float(document["end_ns"]),
            stuck=str(document["stuck"]),
            ecn=bool(document["ecn"]),
            pfc=bool(document["pfc"]),
            pauses_missed=int(document["pauses_missed"]),
            ports=read_rows(folder / "ports.csv", SavedPort),
            flows=read_rows(folder / "flows.csv", SavedFlow),
            pauses=read_rows(folder / "pauses.csv", SavedPause),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RailfabError(str(path), f"is damaged ({error!r})", SAVE_AGAIN) from None

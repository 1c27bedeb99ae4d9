"""The `containerlab` binary, typed: its verbs, what they answer, and its errors in one line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from railfab.errors import LabError

PROGRAM = "containerlab"
WITHIN_S = 900.0
"""Pulling images and booting a chassis take minutes [s]."""

ASK_WITHIN_S = 60.0
ENVIRONMENT = {"CLAB_VERSION_CHECK": "disable"}
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LOG_LINE = re.compile(
    r"^(?:\d\d:\d\d:\d\d )?(?P<level>DEBU|INFO|WARN|ERRO|ERROR|FATA|FATAL)(?:\[\d+\])? (?P<text>.+)$"
)
_EXEC_FAILED = re.compile(
    r'Failed to execute command command=(?P<quote>"?)(?P<command>.+?)(?P=quote) node=(?P<node>\S+) rc=(?P<code>\d+) .*'
    r"(?:\n +stderr=\n +[│|] (?P<said>.+))?"
)
_ERROR_LEVELS = ("ERRO", "ERROR", "FATA", "FATAL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """One node that containerlab runs. name: the container's; node: the topology's. pid: None when not running.

    ipv4: management address without prefix length; None when it has none.
    """

    lab: str
    name: str
    node: str
    kind: str
    image: str
    state: str
    status: str
    ipv4: str | None
    pid: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """One command in one container."""

    container: str
    return_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Containerlab:
    """The binary. environment: what is set for it besides the caller's, as DOCKER_HOST."""

    program: str = PROGRAM
    environment: Mapping[str, str] = field(default_factory=dict)

    def installed(self) -> bool:
        return shutil.which(self.program, path=self._environment().get("PATH")) is not None

    def version(self) -> str:
        """Its version, as `0.79.0`."""
        said = self._run("version", within_s=ASK_WITHIN_S)
        found = re.search(r"version:\s*v?(\S+)", said)
        if found is None:
            raise LabError(self.program, "does not say its version", "Check that it is containerlab")
        return found[1]

    def deploy(self, topology: Path) -> None:
        """Boot a lab; what a failed attempt has left is removed. Raises LabError with containerlab's own words.

        A command of the topology's `exec` that fails in a node is an error here; containerlab's code is 0 then.
        """
        try:
            _require_executed(self._checked("deploy", "--topo", str(topology)).stderr)
        except LabError:
            self._call(["destroy", "--topo", str(topology), "--cleanup"], WITHIN_S)
            raise

    def inspect(self, lab: str) -> tuple[Container, ...]:
        """The containers of a lab, by name; none when it is not there."""
        return tuple(container for container in self.inspect_all() if container.lab == lab)

    def inspect_all(self) -> tuple[Container, ...]:
        """Every container of every lab, by name. Asking for one that is not there would be an error."""
        said = self._run("inspect", "--all", "--details", within_s=ASK_WITHIN_S)
        return containers(self._json("inspect", said.strip() or "{}"))

    def exec(self, topology: Path, node: str, command: str) -> tuple[Executed, ...]:
        """Run a command in a node. A command that fails is no error: its code says so."""
        label = f"clab-node-name={node}"
        words = ["exec", "--topo", str(topology), "--label", label, "--cmd", command, "--format", "json"]
        return executed(self._json("exec", self._run(*words)))

    def save(self, topology: Path) -> None:
        """Have every switch that can save what it runs do so, into the lab's directory."""
        self._run("save", "--topo", str(topology))

    def destroy(self, topology: Path) -> None:
        """Remove a lab and its directory; nothing when it is not there."""
        self._run("destroy", "--topo", str(topology), "--cleanup")

    def destroy_by_name(self, lab: str) -> None:
        """Remove a lab whose topology file is lost."""
        self._run("destroy", "--name", lab, "--cleanup")

    def _run(self, *words: str, within_s: float = WITHIN_S) -> str:
        """Standard output. Raises LabError when the exit code is not 0."""
        return self._checked(*words, within_s=within_s).stdout

    def _checked(self, *words: str, within_s: float = WITHIN_S) -> subprocess.CompletedProcess[str]:
        done = self._call(list(words), within_s)
        if done.returncode:
            problem = complaint(done.stderr, done.stdout) or f"ended with code {done.returncode}"
            raise LabError(f"{PROGRAM} {words[0]}", problem, "See `railfab lab doctor --backend containerlab`")
        return done

    def _call(self, words: list[str], within_s: float) -> subprocess.CompletedProcess[str]:
        where = f"{PROGRAM} {words[0]}"
        try:
            return subprocess.run(
                [self.program, *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=within_s,
                env=self._environment(),
            )
        except FileNotFoundError:
            raise LabError(where, f"{self.program} is not installed", INSTALL) from None
        except PermissionError:
            raise LabError(where, f"{self.program} may not be run", "Check its mode") from None
        except subprocess.TimeoutExpired:
            remedy = "Take the lab down with `railfab lab down`"
            raise LabError(where, f"has not ended after {within_s:.0f} s", remedy) from None

    def _environment(self) -> dict[str, str]:
        return os.environ | ENVIRONMENT | dict(self.environment)

    def _json(self, verb: str, said: str) -> Any:
        try:
            return json.loads(said)
        except ValueError:
            line = (said.strip().splitlines() or ["nothing"])[0]
            remedy = "Install containerlab 0.60 or newer"
            raise LabError(f"{PROGRAM} {verb}", f"does not answer in JSON ({line})", remedy) from None


INSTALL = "Install it as containerlab.dev says, or use --backend netns"


def _require_executed(log: str) -> None:
    """Raises LabError for the first command of `exec` that failed, as containerlab 0.79 logs it."""
    failed = _EXEC_FAILED.search(_COLOUR.sub("", log))
    if failed is not None:
        said = f" ({failed['said'].strip()})" if failed["said"] else ""
        problem = f"`{failed['command']}` failed with code {failed['code']}{said}"
        raise LabError(f"node {failed['node']}", problem, "Use an image that has this command, and may run it")


def complaint(stderr: str, stdout: str = "") -> str:
    """What containerlab says is wrong, in one line without colours and times: its verdict, else its last error.

    The verdict of newer versions stands below a line with ERROR alone.
    """
    lines = [line.strip() for line in _COLOUR.sub("", f"{stdout}\n{stderr}").splitlines() if line.strip()]
    if "ERROR" in lines:
        return " ".join(lines[lines.index("ERROR") + 1 :]).rstrip(".")
    logged = [(found["level"], found["text"]) for line in lines if (found := _LOG_LINE.match(line))]
    errors = [text for level, text in logged if level in _ERROR_LEVELS]
    errors += [line.removeprefix("Error:").strip() for line in lines if line.startswith("Error:")]
    return (errors or [text for _, text in logged] or lines or [""])[-1].rstrip(".")


def containers(answer: Any) -> tuple[Container, ...]:
    """Containers of `inspect`: summaries or details, by lab (newer), in a list, or under `containers` (older)."""
    if isinstance(answer, Mapping):
        answer = [entry for entries in answer.values() if isinstance(entries, list) for entry in entries]
    if not isinstance(answer, list):
        raise LabError(f"{PROGRAM} inspect", "answers in an unknown shape", "Install containerlab 0.60 or newer")
    found = (_detailed(entry) if "Labels" in entry else _summary(entry) for entry in answer)
    return tuple(sorted(found, key=lambda container: container.name))


def _summary(entry: Mapping[str, Any]) -> Container:
    lab, name = str(entry["lab_name"]), str(entry["name"])
    return Container(
        lab=lab,
        name=name,
        node=name.removeprefix(f"clab-{lab}-"),
        kind=str(entry.get("kind", "")),
        image=str(entry.get("image", "")),
        state=str(entry["state"]),
        status=str(entry.get("status", "")),
        ipv4=_address(entry.get("ipv4_address")),
        pid=None,
    )


def _detailed(entry: Mapping[str, Any]) -> Container:
    labels, network = entry["Labels"], entry.get("NetworkSettings") or {}
    return Container(
        lab=str(labels["containerlab"]),
        name=str(labels["clab-node-longname"]),
        node=str(labels["clab-node-name"]),
        kind=str(labels["clab-node-kind"]),
        image=str(entry.get("Image", "")),
        state=str(entry["State"]),
        status=str(entry.get("Status", "")),
        ipv4=_address(network.get("IPv4addr")),
        pid=int(entry["Pid"]) if entry.get("Pid") else None,
    )


def _address(text: Any) -> str | None:
    """An address without its prefix length; None where there is none."""
    return None if text in (None, "", "N/A") else str(text).partition("/")[0]


def executed(answer: Any) -> tuple[Executed, ...]:
    """Results of `exec`, by container."""
    return tuple(
        Executed(
            container=str(name),
            return_code=int(result.get("return-code", 0)),
            stdout=_text(result.get("stdout", "")),
            stderr=_text(result.get("stderr", "")),
        )
        for name, results in answer.items()
        for result in (results if isinstance(results, list) else [results])
    )


def _text(output: Any) -> str:
    """containerlab gives output that is JSON as JSON."""
    return output if isinstance(output, str) else json.dumps(output)

"""The `containerlab` binary: its commands, their parsed output, and its errors as one line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from railfab.errors import LabError
from railfab.lab import programs

PROGRAM = "containerlab"
OLDEST = (0, 78)
"""The first version whose topologies have the key `privileged` (containerlab docs/rn/0.78.md)."""

WITHIN_S = 900.0
"""Time limit of a command [s]; pulling images and booting a chassis take minutes."""

ASK_WITHIN_S = 20.0
ENVIRONMENT = {"CLAB_VERSION_CHECK": "disable"}
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LOG_LINE = re.compile(
    r"^(?:\d\d:\d\d:\d\d )?(?P<level>DEBU|INFO|WARN|ERRO|ERROR|FATA|FATAL)(?:\[\d+\])? (?P<text>.+)$"
)
_EXEC_FAILED = re.compile(
    r'Failed to execute command command=(?P<quote>"?)(?P<command>.+?)(?P=quote) node=(?P<node>\S+) rc=(?P<code>\d+) .*'
    r"(?:\n +stderr=\n +[│|] (?P<stderr>.+))?"
)
_ERROR_LEVELS = ("ERRO", "ERROR", "FATA", "FATAL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container. name: of the container; node: name in the topology. pid: None when not running.

    ipv4: management address without prefix length, or None.
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
class ExecResult:
    """Result of a command in a container."""

    container: str
    return_code: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Containerlab:
    """The binary. environment: additional variables, for example DOCKER_HOST."""

    program: str = PROGRAM
    environment: Mapping[str, str] = field(default_factory=dict)

    def installed(self) -> bool:
        return shutil.which(self.program, path=self.variables()["PATH"]) is not None

    def version(self) -> str:
        """Version of containerlab, for example `0.79.0`."""
        output = self._run("version", within_s=ASK_WITHIN_S)
        found = re.search(r"version:\s*v?(\S+)", output)
        if found is None:
            raise LabError(self.program, "does not print its version", "Check that it is containerlab")
        return found[1]

    def deploy(self, topology: Path) -> None:
        """Boot a lab; remove it after an error. Raises LabError with containerlab's error text.

        A failed `exec` command of a node is an error too, although containerlab then exits with 0.
        """
        try:
            _require_executed(self._checked("deploy", "--topo", str(topology)).stderr)
        except LabError:
            self._call(["destroy", "--topo", str(topology), "--cleanup"], WITHIN_S)
            raise

    def inspect(self, lab: str) -> tuple[Container, ...]:
        """Containers of a lab, sorted by name; empty when it does not run."""
        return tuple(container for container in self.inspect_all() if container.lab == lab)

    def inspect_all(self) -> tuple[Container, ...]:
        """Containers of every lab, sorted by name; `inspect` of one lab fails when it does not run."""
        output = self._run("inspect", "--all", "--details", within_s=ASK_WITHIN_S)
        return containers(self._json("inspect", output.strip() or "{}"))

    def restart(self, topology: Path, node: str) -> None:
        """Restart a container; containerlab keeps its links meanwhile (since 0.75)."""
        self._run("restart", "--topo", str(topology), "--node", node)

    def exec(self, topology: Path, node: str, command: str) -> tuple[ExecResult, ...]:
        """Run a command in a node; return its output and exit code, also when it fails."""
        label = f"clab-node-name={node}"
        words = ["exec", "--topo", str(topology), "--label", label, "--cmd", command, "--format", "json"]
        return executed(self._json("exec", self._run(*words)))

    def save(self, topology: Path) -> None:
        """Save the running configuration of every switch that supports it into the lab's directory."""
        self._run("save", "--topo", str(topology))

    def destroy(self, topology: Path) -> None:
        """Remove a lab and its directory, if they exist."""
        self._run("destroy", "--topo", str(topology), "--cleanup")

    def destroy_by_name(self, lab: str) -> None:
        """Remove a lab whose topology file is lost."""
        self._run("destroy", "--name", lab, "--cleanup")

    def _run(self, *words: str, within_s: float = WITHIN_S) -> str:
        """Run a command; return its standard output. Raises LabError when the exit code is not 0."""
        return self._checked(*words, within_s=within_s).stdout

    def _checked(self, *words: str, within_s: float = WITHIN_S) -> subprocess.CompletedProcess[str]:
        done = self._call(list(words), within_s)
        if done.returncode:
            problem = error_text(done.stderr, done.stdout) or f"exited with code {done.returncode}"
            raise LabError(f"{PROGRAM} {words[0]}", problem, "Run `railfab lab doctor --backend containerlab`")
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
                env=self.variables(),
            )
        except FileNotFoundError:
            raise LabError(where, f"{self.program} is not installed", INSTALL) from None
        except PermissionError:
            raise LabError(where, f"{self.program} is not executable", "Check its file mode") from None
        except subprocess.TimeoutExpired:
            remedy = "Remove the lab with `railfab lab down`"
            raise LabError(where, f"has not ended after {within_s:.0f} s", remedy) from None

    def variables(self) -> dict[str, str]:
        """Environment of the binary, and of the programs that it runs."""
        return programs.environment(**ENVIRONMENT) | dict(self.environment)

    def _json(self, verb: str, output: str) -> Any:
        try:
            return json.loads(output)
        except ValueError:
            line = (output.strip().splitlines() or ["nothing"])[0]
            raise LabError(f"{PROGRAM} {verb}", f"does not print JSON ({line})", UPGRADE) from None


UPGRADE = f"Install containerlab {'.'.join(map(str, OLDEST))} or newer"
INSTALL = "Install it from containerlab.dev, or use --backend netns"


def _require_executed(log: str) -> None:
    """Raise LabError for the first failed `exec` command in the log of containerlab 0.79."""
    failed = _EXEC_FAILED.search(_COLOUR.sub("", log))
    if failed is not None:
        reason = f" ({failed['stderr'].strip()})" if failed["stderr"] else ""
        problem = f"`{failed['command']}` failed with code {failed['code']}{reason}"
        raise LabError(f"node {failed['node']}", problem, "Use an image that has this command and may run it")


def error_text(stderr: str, stdout: str = "") -> str:
    """Error text of containerlab as one line, without colours and times: its summary, otherwise its last error.

    Newer versions print the summary below a line `ERROR`.
    """
    lines = [line.strip() for line in _COLOUR.sub("", f"{stdout}\n{stderr}").splitlines() if line.strip()]
    if "ERROR" in lines:
        return " ".join(lines[lines.index("ERROR") + 1 :]).rstrip(".")
    logged = [(found["level"], found["text"]) for line in lines if (found := _LOG_LINE.match(line))]
    errors = [text for level, text in logged if level in _ERROR_LEVELS]
    errors += [line.removeprefix("Error:").strip() for line in lines if line.startswith("Error:")]
    return (errors or [text for _, text in logged] or lines or [""])[-1].rstrip(".")


def containers(answer: Any) -> tuple[Container, ...]:
    """Containers in the output of `inspect`: by lab (newer versions), as a list, or under `containers` (older)."""
    if isinstance(answer, Mapping):
        answer = [entry for entries in answer.values() if isinstance(entries, list) for entry in entries]
    if not isinstance(answer, list):
        raise LabError(f"{PROGRAM} inspect", "prints an unknown format", UPGRADE)
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
    """An address without its prefix length, or None."""
    return None if text in (None, "", "N/A") else str(text).partition("/")[0]


def executed(answer: Any) -> tuple[ExecResult, ...]:
    """Results of `exec`, by container."""
    return tuple(
        ExecResult(
            container=str(name),
            return_code=int(result.get("return-code", 0)),
            stdout=_text(result.get("stdout", "")),
            stderr=_text(result.get("stderr", "")),
        )
        for name, results in answer.items()
        for result in (results if isinstance(results, list) else [results])
    )


def _text(output: Any) -> str:
    """Output as text; containerlab embeds JSON output as JSON."""
    return output if isinstance(output, str) else json.dumps(output)

"""Commands of a CLI over gNMI, under the origin `cli`: a session with the switch's own CLI for each call.

`dialect.yml` has what is typed around the lines of a client:

    gnmi_cli:
      show: [enable]                                    # before a command that shows something
      json: '{command} | json'                          # its form in JSON
      before: [enable, 'configure session {session}']   # before lines of configuration
      after: [end, 'configure session {session} commit']
      undo: [end, 'configure session {session} abort']  # after a line that is refused
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from railfab.gnmi.target import RequestRefused
from railfab.ssh import Cli
from railfab.yaml_reader.packaged import packaged

SHOW = "show"


@dataclass(frozen=True, slots=True, kw_only=True)
class CliOrigin:
    """See `railfab.platforms.twin_face.GnmiCommands`. show: None where a Get takes no commands."""

    before: Sequence[str]
    after: Sequence[str]
    undo: Sequence[str]
    show: Sequence[str] | None = None
    json: str = ""

    def answer(self, device: str, cli: Cli, command: str, *, as_json: bool) -> str:
        if self.show is None or command.split()[:1] != [SHOW]:
            raise RequestRefused(device, f"a Get does not take the command {command!r}", "Use SSH")
        _typed(device, cli, self.show)
        return _typed(device, cli, [self.json.format(command=command) if as_json else command])

    def configure(self, device: str, cli: Cli, text: str) -> None:
        session = f"session{time.monotonic_ns()}"
        try:
            _typed(device, cli, [line.format(session=session) for line in self.before])
            _typed(device, cli, text.splitlines())
            _typed(device, cli, [line.format(session=session) for line in self.after])
        except RequestRefused:
            for line in self.undo:
                cli.answer(line.format(session=session))
            raise
        finally:
            cli.closed()


def _typed(device: str, cli: Cli, lines: Iterable[str]) -> str:
    """Type lines; the output of the last. Raises RequestRefused with what the switch says to one that it refuses."""
    output = ""
    for line in lines:
        reply = cli.answer(line)
        output = reply.output
        if reply.status:
            raise RequestRefused(device, f"{line.strip()!r}: {output.strip()}", "Correct it; nothing has changed")
    return output


def cli_origin(package: str) -> CliOrigin:
    """The origin `cli` as the `dialect.yml` of a platform states it."""
    return CliOrigin(**packaged(package, "dialect.yml")["gnmi_cli"])

"""The servers of one virtual switch: gNMI, SSH, or both."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.gnmi.server import GnmiServer
from railfab.twin.ssh_server import SwitchSsh


@dataclass(frozen=True, slots=True)
class SwitchServers:
    """gnmi, ssh: None for one that the platform of the switch does not have; not both."""

    gnmi: GnmiServer | None
    ssh: SwitchSsh | None

    @property
    def running(self) -> bool:
        """Whether they are started."""
        return all(server.running for server in (self.gnmi, self.ssh) if server is not None)

    @property
    def answering(self) -> bool:
        """Whether they are started and the switch does not hang."""
        return all(server.answering for server in (self.gnmi, self.ssh) if server is not None)

    @property
    def port(self) -> int:
        """The port of gNMI, or of SSH on a switch without it."""
        server = self.gnmi or self.ssh
        assert server is not None
        return server.port

    def start(self) -> None:
        """Start those that do not run. Raises LabError for a port in use."""
        for server in (self.gnmi, self.ssh):
            if server is not None and not server.running:
                server.start()

    def stop(self) -> None:
        """Stop them and end their sessions."""
        for server in (self.gnmi, self.ssh):
            if server is not None:
                server.stop()

    @property
    def is_slow(self) -> bool:
        """Whether they take time for every answer."""
        return any(server.answers_after_s > 0 for server in (self.gnmi, self.ssh) if server is not None)

    def answer_after(self, seconds: float) -> None:
        """Take this time for every answer [s]; 0 is none."""
        for server in (self.gnmi, self.ssh):
            if server is not None:
                server.answers_after_s = seconds

    def hang(self) -> None:
        """Answer nobody until `resume`."""
        if self.gnmi is not None:
            self.gnmi.hang()
        if self.ssh is not None:
            self.ssh.hang()

    def resume(self) -> None:
        """Answer again."""
        if self.gnmi is not None:
            self.gnmi.resume()
        if self.ssh is not None:
            self.ssh.resume()

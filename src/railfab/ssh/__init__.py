"""SSH server for the switches of a lab: every session runs a real process."""

from railfab.ssh.server import SshAccess, SshServer, serve

__all__ = ["SshAccess", "SshServer", "serve"]

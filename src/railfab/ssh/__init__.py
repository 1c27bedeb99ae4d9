"""An SSH server whose sessions are real processes: what a lab's switch answers an operator or a program with."""

from railfab.ssh.server import SshAccess, SshServer, serve

__all__ = ["SshAccess", "SshServer", "serve"]

"""SSH server for virtual switches: a session runs a real process, or is answered by a CLI.

`railfab.ssh.server` needs asyncssh; the interface of a CLI, which platforms implement, does not.
"""

from railfab.ssh.dialogue import END_OF_TEXT, Cli, CliUser, NewCli, ReadInput, Reply, execute_lines

__all__ = ["END_OF_TEXT", "Cli", "CliUser", "NewCli", "ReadInput", "Reply", "execute_lines"]

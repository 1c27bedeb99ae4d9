#!/usr/bin/env bash
# netmiko 4.8.0, device type linux, against a shell behind a real SSH server: a file whose last line has no line end, as
# programs write JSON. Expected: the whole file. Seen: the last line is missing, and a file of one line is an empty text: the
# prompt stands behind it on the same line, and netmiko removes the line with the prompt.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q netmiko==4.8.0 asyncssh==2.24.1
"$work/venv/bin/python" - <<'PY'
import asyncio
import os
import pty
import subprocess
import threading

import asyncssh
from netmiko import ConnectHandler


class Logins(asyncssh.SSHServer):
    def begin_auth(self, username):
        return True

    def password_auth_supported(self):
        return True

    def validate_password(self, username, password):
        return password == "admin"


async def shell(process):
    """Run a shell on a terminal of its own for one session."""
    ours, terminal = pty.openpty()
    command = ["bash", "--norc", "--noprofile", "-i"]
    environment = {"PS1": "admin@leaf1:~$ ", "TERM": "dumb", "PATH": os.environ["PATH"]}
    child = subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment, start_new_session=True
    )
    loop = asyncio.get_running_loop()
    loop.add_reader(ours, lambda: process.stdout.write(os.read(ours, 4096)))
    try:
        while typed := await process.stdin.read(4096):
            os.write(ours, typed)
    except asyncssh.TerminalSizeChanged:
        pass
    finally:
        loop.remove_reader(ours)
        child.kill()


async def serve():
    key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.create_server(
        Logins, "127.0.0.1", 0, server_host_keys=[key], process_factory=shell, encoding=None, line_editor=False
    )
    ports.append(server.get_port())
    listening.set()
    await asyncio.Event().wait()


ports, listening = [], threading.Event()
threading.Thread(target=lambda: asyncio.run(serve()), daemon=True).start()
listening.wait(30)
with ConnectHandler(
    device_type="linux", host="127.0.0.1", port=ports[0], username="admin", password="admin"
) as connection:
    whole = connection.send_command("printf 'first\\nlast\\n'")
    without_end = connection.send_command("printf 'first\\nlast'")
    one_line = connection.send_command("printf '{}'")
print([whole, without_end, one_line])
assert (whole, without_end, one_line) == ("first\nlast", "first", ""), (whole, without_end, one_line)
PY

"""The process of an SSH session, connected to its channel by pipes or a pseudo-terminal."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pwd
import shutil
import signal
import struct
import termios
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from typing import TypeAlias

import asyncssh

CHUNK_BYTES = 1 << 16
DRAIN_OUTPUT_S = 0.2
"""Time to wait for remaining output after the shell on a terminal has ended [s]."""
RETRY_WRITE_S = 0.01
END_OF_TRANSMISSION = b"\x04"
NSENTER = "nsenter"
SETSID = ("setsid", "--ctty")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Channel: TypeAlias = "asyncssh.SSHServerProcess[bytes]"


async def run_session(channel: Channel, inside: int | None = None) -> None:
    """Run the process of one session and pass its exit status to the channel.

    inside: process id whose namespaces and root directory the session uses; None for those of the server.
    """
    command = _command(channel) if inside is None else _nsenter_command(inside, channel)
    try:
        status = await (_run_on_terminal if channel.term_type else _run_on_pipes)(channel, command)
    except (ConnectionError, asyncssh.Error):
        return  # the client has disconnected; its process continues
    if status < 0:
        channel.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))
    else:
        channel.exit(status)


def _command(channel: Channel) -> list[str]:
    if channel.command is not None:
        return ["/bin/sh", "-c", channel.command]
    return [shutil.which("bash", path=PATH) or "/bin/sh", "-l"]


def _nsenter_command(process: int, channel: Channel) -> list[str]:
    """The command that runs a shell of a container, from its host; the connection is the host's."""
    namespaces = [f"--{kind}" for kind in ("mount", "uts", "ipc", "net", "pid")]
    shell = ["/bin/sh", "-l"] if channel.command is None else ["/bin/sh", "-c", channel.command]
    return ["env", "-u", "SSH_CONNECTION", NSENTER, f"--target={process}", *namespaces, *shell]


def _environment(channel: Channel) -> dict[str, str]:
    """The environment of a login shell, without variables of the server."""
    user = pwd.getpwuid(os.geteuid())
    login = {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name, "PATH": PATH, "LANG": "C.UTF-8"}
    login |= {"SHELL": user.pw_shell or "/bin/sh", "SSH_CONNECTION": _ends(channel)}
    return login | ({"TERM": channel.term_type} if channel.term_type else {})


def _ends(channel: Channel) -> str:
    """Addresses and ports of the client and of the server, as sshd's SSH_CONNECTION has them."""
    ends = (channel.get_extra_info("peername"), channel.get_extra_info("sockname"))
    return " ".join(f"{end[0]} {end[1]}" for end in ends)


def _home() -> str:
    home = pwd.getpwuid(os.geteuid()).pw_dir
    return home if os.access(home, os.X_OK) else "/"


async def _run_on_pipes(channel: Channel, command: list[str]) -> int:
    """Run an exec request with separate stdin, stdout and stderr; it continues when the client disconnects."""
    child = await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        cwd=_home(),
        env=_environment(channel),
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    feeding = asyncio.create_task(_write_stdin(channel, child, child.stdin))
    try:
        await asyncio.gather(_copy(child.stdout, channel.stdout), _copy(child.stderr, channel.stderr))
        return await child.wait()
    finally:
        feeding.cancel()


async def _run_on_terminal(channel: Channel, command: list[str]) -> int:
    """Run a session on a pseudo-terminal; its processes get SIGHUP when the client disconnects."""
    master, slave = os.openpty()
    _resize(master, channel.term_size[0], channel.term_size[1])
    try:
        child = await _start_on_terminal(channel, command, slave)
    finally:
        os.close(slave)
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(master, "rb", buffering=0)
    )
    writing = asyncio.create_task(_write_terminal(channel, child, master))
    reading = asyncio.create_task(_copy(reader, channel.stdout))
    ended, closed = asyncio.create_task(child.wait()), asyncio.create_task(channel.wait_closed())
    try:
        await asyncio.wait({ended, closed}, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            await asyncio.wait({reading}, timeout=DRAIN_OUTPUT_S)  # a job in the background may keep the terminal
    finally:
        for task in (writing, reading, closed):
            task.cancel()
        transport.close()
    return await ended


async def _start_on_terminal(channel: Channel, command: list[str], slave: int) -> Process:
    """Start the process with a new session and its controlling terminal, both made by the program setsid.

    A Python function between fork and exec would run the fork handlers of other libraries; gRPC's sometimes abort.
    """
    return await asyncio.create_subprocess_exec(
        *SETSID,
        *command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=_home(),
        env=_environment(channel),
    )


def _resize(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


async def _copy(source: asyncio.StreamReader, sink: asyncssh.SSHWriter[bytes]) -> None:
    """Copy output until the process closes it; discard it after the client has disconnected."""
    connected = True
    while chunk := await _read(source):
        try:
            if connected:
                sink.write(chunk)
                await sink.drain()
        except (ConnectionError, asyncssh.Error):
            connected = False


async def _read(source: asyncio.StreamReader) -> bytes:
    """Read a chunk; empty at the end, which a pseudo-terminal signals by an I/O error."""
    try:
        return await source.read(CHUNK_BYTES)
    except OSError:
        return b""


async def _received(channel: Channel, child: Process, terminal: int | None) -> AsyncIterator[bytes]:
    """Input from the client; signals and terminal sizes are forwarded to the process."""
    while True:
        try:
            chunk = await channel.stdin.read(CHUNK_BYTES)
        except asyncssh.TerminalSizeChanged as change:
            if terminal is not None:
                _resize(terminal, change.width, change.height)
        except asyncssh.SignalReceived as sent:
            _signal(child, sent.signal)
        except asyncssh.BreakReceived:
            _signal(child, "INT")
        except (ConnectionError, asyncssh.Error):
            return
        else:
            if not chunk:
                return
            yield chunk


def _signal(child: Process, name: str) -> None:
    number = getattr(signal, f"SIG{name}", None)
    if isinstance(number, signal.Signals) and child.returncode is None:
        os.killpg(child.pid, number)


async def _write_stdin(channel: Channel, child: Process, stdin: asyncio.StreamWriter) -> None:
    try:
        async for chunk in _received(channel, child, None):
            stdin.write(chunk)
            await stdin.drain()
    except ConnectionError:
        return  # the process has closed its stdin
    stdin.close()


async def _write_terminal(channel: Channel, child: Process, terminal: int) -> None:
    try:
        async for chunk in _received(channel, child, terminal):
            await _write_all(terminal, chunk)
        await _write_all(terminal, END_OF_TRANSMISSION)
    except OSError:
        return  # no process has the terminal open


async def _write_all(terminal: int, chunk: bytes) -> None:
    while chunk:
        try:
            chunk = chunk[os.write(terminal, chunk) :]
        except BlockingIOError:
            await asyncio.sleep(RETRY_WRITE_S)

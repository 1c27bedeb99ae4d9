"""What answers a session: a process, fed from the channel and read back into it, with or without a terminal."""

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
LAST_WORDS_S = 0.2
"""How long output is awaited once the shell at a terminal has ended."""
FULL_TERMINAL_S = 0.01
END_OF_TRANSMISSION = b"\x04"
NSENTER = "nsenter"
SETSID = ("setsid", "--ctty")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Channel: TypeAlias = "asyncssh.SSHServerProcess[bytes]"


async def answer(channel: Channel, inside: int | None = None) -> None:
    """Serve one session until its process ends; its exit status is the channel's.

    inside: a process in whose namespaces it runs, with that one's root directory; None is the server's own.
    """
    command = _command(channel) if inside is None else _entering(inside, channel)
    try:
        status = await (_on_terminal if channel.term_type else _on_pipes)(channel, command)
    except (ConnectionError, asyncssh.Error):
        return  # the client is gone; what runs is left to run
    if status < 0:
        channel.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))
    else:
        channel.exit(status)


def _command(channel: Channel) -> list[str]:
    if channel.command is not None:
        return ["/bin/sh", "-c", channel.command]
    return [shutil.which("bash", path=PATH) or "/bin/sh", "-l"]


def _entering(process: int, channel: Channel) -> list[str]:
    """What runs in a container as seen from its host: its own shell, for all that is asked."""
    namespaces = [f"--{kind}" for kind in ("mount", "uts", "ipc", "net", "pid")]
    shell = ["/bin/sh", "-l"] if channel.command is None else ["/bin/sh", "-c", channel.command]
    return [NSENTER, f"--target={process}", *namespaces, *shell]


def _environment(channel: Channel) -> dict[str, str]:
    """What a login gives, and nothing of the server's own."""
    user = pwd.getpwuid(os.geteuid())
    login = {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name, "PATH": PATH, "LANG": "C.UTF-8"}
    return login | {"SHELL": user.pw_shell or "/bin/sh"} | ({"TERM": channel.term_type} if channel.term_type else {})


def _home() -> str:
    home = pwd.getpwuid(os.geteuid()).pw_dir
    return home if os.access(home, os.X_OK) else "/"


async def _on_pipes(channel: Channel, command: list[str]) -> int:
    """An exec request: stdin, stdout and stderr apart, as bytes. It runs to its end even when the client has gone."""
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
    feeding = asyncio.create_task(_feed(channel, child, child.stdin))
    try:
        await asyncio.gather(_copy(child.stdout, channel.stdout), _copy(child.stderr, channel.stderr))
        return await child.wait()
    finally:
        feeding.cancel()


async def _on_terminal(channel: Channel, command: list[str]) -> int:
    """A session on a pseudo-terminal; what sits at it is hung up when the client goes."""
    master, slave = os.openpty()
    _resize(master, channel.term_size[0], channel.term_size[1])
    try:
        child = await _at_terminal(channel, command, slave)
    finally:
        os.close(slave)
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(master, "rb", buffering=0)
    )
    typing = asyncio.create_task(_type(channel, child, master))
    showing = asyncio.create_task(_copy(reader, channel.stdout))
    ended, gone = asyncio.create_task(child.wait()), asyncio.create_task(channel.wait_closed())
    try:
        await asyncio.wait({ended, gone}, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            await asyncio.wait({showing}, timeout=LAST_WORDS_S)  # a job in the background may keep the terminal
    finally:
        for task in (typing, showing, gone):
            task.cancel()
        transport.close()
    return await ended


async def _at_terminal(channel: Channel, command: list[str], slave: int) -> Process:
    """Its session, and its standard input as the controlling terminal, are made by setsid: a function of ours between
    fork and exec would run the fork handlers of other threads, and those of gRPC abort now and then."""
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
    """Until the process has closed its end; what a client that has gone does not take is thrown away."""
    listening = True
    while chunk := await _read(source):
        try:
            if listening:
                sink.write(chunk)
                await sink.drain()
        except (ConnectionError, asyncssh.Error):
            listening = False


async def _read(source: asyncio.StreamReader) -> bytes:
    """A terminal says with an input/output error that nobody sits at it any more."""
    try:
        return await source.read(CHUNK_BYTES)
    except OSError:
        return b""


async def _arrivals(channel: Channel, child: Process, terminal: int | None) -> AsyncIterator[bytes]:
    """What the client sends; its signals and window sizes are passed on."""
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


async def _feed(channel: Channel, child: Process, stdin: asyncio.StreamWriter) -> None:
    try:
        async for chunk in _arrivals(channel, child, None):
            stdin.write(chunk)
            await stdin.drain()
    except ConnectionError:
        return  # the process reads no more
    stdin.close()


async def _type(channel: Channel, child: Process, terminal: int) -> None:
    try:
        async for chunk in _arrivals(channel, child, terminal):
            await _write_all(terminal, chunk)
        await _write_all(terminal, END_OF_TRANSMISSION)
    except OSError:
        return  # nobody sits at the terminal any more


async def _write_all(terminal: int, chunk: bytes) -> None:
    while chunk:
        try:
            chunk = chunk[os.write(terminal, chunk) :]
        except BlockingIOError:
            await asyncio.sleep(FULL_TERMINAL_S)

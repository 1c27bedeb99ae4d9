"""A CLI dialect on an SSH session: prompts, echo and line editing around answers that a platform gives."""

from __future__ import annotations

import asyncio
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator
from typing import TypeAlias

import asyncssh

from railfab.ssh.dialogue import Cli, NewCli, Reply

Channel: TypeAlias = "asyncssh.SSHServerProcess[bytes]"

CHUNK_BYTES = 1 << 16
MOST_LINE_CHARACTERS = 1 << 16
"""Longer input without a line break ends the session."""
BACKSPACES = "\x08\x7f"
INTERRUPT, END_OF_TRANSMISSION = "\x03", "\x04"


async def run_cli(channel: Channel, new: NewCli) -> None:
    """Serve one session: an exec request answers its lines and ends, a shell runs until the CLI closes it."""
    try:
        status = await (_run_shell if channel.command is None else _run_command)(channel, new())
        await channel.stdout.drain()
    except (ConnectionError, asyncssh.Error):
        return
    channel.exit(status)


async def _run_command(channel: Channel, cli: Cli) -> int:
    reply = Reply()
    for line in (channel.command or "").splitlines():
        reply = await asyncio.to_thread(cli.answer, line)
        channel.stdout.write(reply.output.encode())
        if reply.closes:
            break
    return reply.status


async def _run_shell(channel: Channel, cli: Cli) -> int:
    terminal = _Terminal(channel)
    reply = cli.greeting()
    terminal.show(reply)
    async for line in terminal.lines():
        if reply.closes:
            break
        reply = await asyncio.to_thread(cli.answer, line)
        terminal.show(reply)
        if reply.closes:
            break
    return reply.status


class _Terminal:
    """The client's end of a shell. With a pseudo-terminal, input is echoed and lines end in CR and LF."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._echoes = channel.term_type is not None
        self._prompt = ""
        self._line = ""

    def show(self, reply: Reply) -> None:
        self._prompt = reply.prompt
        self._write(reply.output + reply.prompt)

    def _write(self, text: str) -> None:
        self._channel.stdout.write((text.replace("\n", "\r\n") if self._echoes else text).encode())

    def _echo(self, text: str) -> None:
        if self._echoes:
            self._write(text)

    async def lines(self) -> AsyncIterator[str]:
        """The lines that the client sends, edited; they end with the connection, or with Ctrl-D on an empty line."""
        after_return = False
        async for chunk in self._chunks():
            text = chunk.removeprefix("\n") if after_return else chunk
            after_return = chunk.endswith("\r")
            *complete, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            for typed in complete:
                if not self._type(typed):
                    return
                self._echo("\n")
                line, self._line = self._line, ""
                yield line
            if not self._type(rest) or len(self._line) > MOST_LINE_CHARACTERS:
                return

    def _type(self, text: str) -> bool:
        """Add typed characters to the line and echo them; False when the client ends the session."""
        if text.isprintable():
            self._line += text
            self._echo(text)
            return True
        for character in text:
            if character == END_OF_TRANSMISSION and not self._line:
                return False
            if character == INTERRUPT:
                self._line = ""
                self._echo(f"^C\n{self._prompt}")
            elif character in BACKSPACES and self._line:
                self._line = self._line[:-1]
                self._echo("\b \b")
            elif character.isprintable():
                self._line += character
                self._echo(character)
        return True

    async def _chunks(self) -> AsyncIterator[str]:
        """Input as text; window changes and signals are ignored, a break is Ctrl-C."""
        decoder = getincrementaldecoder("utf-8")("replace")
        while True:
            try:
                chunk = await self._channel.stdin.read(CHUNK_BYTES)
            except (asyncssh.TerminalSizeChanged, asyncssh.SignalReceived):
                continue
            except asyncssh.BreakReceived:
                yield INTERRUPT
            except (ConnectionError, asyncssh.Error):
                return
            else:
                if not chunk:
                    return
                yield decoder.decode(chunk)

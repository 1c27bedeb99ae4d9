"""A CLI dialect on an SSH session: prompts, echo and line editing around answers that a platform gives."""

from __future__ import annotations

import asyncio
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TypeAlias

import asyncssh

from railfab.ssh.dialogue import END_OF_TEXT, Cli, CliUser, NewCli, Reply

Channel: TypeAlias = "asyncssh.SSHServerProcess[bytes]"

CHUNK_BYTES = 1 << 16
MOST_LINE_CHARACTERS = 1 << 16
"""Longer input without a line break ends the session."""
MOST_INPUT_BYTES = 1 << 26
"""Largest standard input of an exec request; more ends the session."""
INPUT_WITHIN_S = 600
BACKSPACES = "\x08\x7f"
INTERRUPT = "\x03"


async def run_cli(
    channel: Channel,
    new: NewCli,
    *,
    may_write: Callable[[str], bool] = lambda _username: True,
    answers_after_s: Callable[[], float] = float,
) -> None:
    """Serve one session: an exec request is answered and ends, a shell runs until the CLI closes it.

    answers_after_s: time before every answer, of lines that arrive together before the first [s].
    """
    username = channel.get_extra_info("username", "")
    address, *_ = channel.get_extra_info("peername", ("",))
    cli = new(CliUser(name=username, writes=may_write(username), address=address))
    try:
        status = await (_run_shell if channel.command is None else _run_command)(channel, cli, answers_after_s)
        await channel.stdout.drain()
        channel.exit(status)
    except (ConnectionError, asyncssh.Error):
        return
    except Exception:
        channel.close()  # a client would wait for the answer of a CLI that failed
        raise
    finally:
        await asyncio.to_thread(cli.closed)


async def _run_command(channel: Channel, cli: Cli, answers_after_s: Callable[[], float]) -> int:
    loop = asyncio.get_running_loop()

    def read_input() -> str:
        return asyncio.run_coroutine_threadsafe(_input(channel), loop).result(INPUT_WITHIN_S)

    await asyncio.sleep(answers_after_s())
    reply = await asyncio.to_thread(cli.execute, channel.command or "", read_input)
    channel.stdout.write(reply.output.encode())
    channel.stderr.write(reply.errors.encode())
    return reply.status


async def _input(channel: Channel) -> str:
    text = bytearray()
    while chunk := await channel.stdin.read(CHUNK_BYTES):
        text += chunk
        if len(text) > MOST_INPUT_BYTES:
            raise ConnectionError("standard input is too large")
    return text.decode(errors="replace")


async def _run_shell(channel: Channel, cli: Cli, answers_after_s: Callable[[], float]) -> int:
    terminal = _Terminal(channel, cli)
    terminal.begin()
    async for chunk in _chunks(channel):
        complete = "\n" in chunk or "\r" in chunk or END_OF_TEXT in chunk
        if complete:
            await asyncio.sleep(answers_after_s())
        ended = await asyncio.to_thread(terminal.take, chunk) if complete else terminal.take(chunk)
        if ended:
            break
    return terminal.status


async def _chunks(channel: Channel) -> AsyncIterator[str]:
    """Input as text; window changes and signals are ignored, a break is Ctrl-C."""
    decoder = getincrementaldecoder("utf-8")("replace")
    while True:
        try:
            chunk = await channel.stdin.read(CHUNK_BYTES)
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


class _Terminal:
    """The client's end of a shell. With a pseudo-terminal, input is echoed and lines end in CR and LF.

    status: the exit status of the session.
    """

    def __init__(self, channel: Channel, cli: Cli) -> None:
        self.status = 0
        self._channel = channel
        self._cli = cli
        self._loop = asyncio.get_running_loop()
        self._echoes = channel.term_type is not None
        self._reply = Reply()
        self._line = ""
        self._after_return = False
        self._output: list[str] = []

    def begin(self) -> None:
        self._show(self._cli.greeting())
        self._flush()

    def take(self, chunk: str) -> bool:
        """Edit and echo the input, and answer the lines that are complete; whether the session has ended.

        Called in a worker thread where a line is complete. Output is written before the last line of the chunk is
        answered, and after it: a command that takes long is echoed at once, and a pasted text is not sent line by line.
        """
        text = chunk.removeprefix("\n") if self._after_return else chunk
        self._after_return = chunk.endswith("\r")
        *complete, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        ended = self._reply.closes
        for place, typed in enumerate(complete, start=1):
            ended = ended or self._type(typed) or self._answer(more=place < len(complete))
            if ended:
                break
        else:
            ended = self._type(rest) or len(self._line) > MOST_LINE_CHARACTERS
        self._flush()
        return ended

    def _answer(self, *, more: bool) -> bool:
        line, self._line = self._line, ""
        self._echo(self._reply.line_break if line else "\n")
        return self._answer_line(line, more=more)

    def _answer_line(self, line: str, *, more: bool) -> bool:
        if not more:
            self._flush()
        self._show(self._cli.answer(line, more))
        return self._reply.closes

    def _show(self, reply: Reply) -> None:
        self._reply, self.status = reply, reply.status
        self._write(reply.output + reply.prompt)

    def _write(self, text: str) -> None:
        self._output.append(text.replace("\n", "\r\n") if self._echoes else text)

    def _echo(self, text: str) -> None:
        if self._echoes:
            self._write(text)

    def _flush(self) -> None:
        """Send the output; from any thread."""
        text, self._output = "".join(self._output).encode(), []
        if text:
            self._loop.call_soon_threadsafe(self._send, text)

    def _send(self, text: bytes) -> None:
        with suppress(BrokenPipeError):  # the client has gone
            self._channel.stdout.write(text)

    def _type(self, text: str) -> bool:
        """Add typed characters to the line and echo them; True when the client ends the session."""
        if text.isprintable():
            self._line += text
            self._echo(text)
            return False
        return any(self._type_character(character) for character in text)

    def _type_character(self, character: str) -> bool:
        if character == END_OF_TEXT and not self._line:
            return self._answer_line(END_OF_TEXT, more=False) if self._reply.takes_text else True
        if character == INTERRUPT:
            self._line = ""
            self._echo(f"^C\n{self._reply.prompt}")
        elif character in BACKSPACES and self._line:
            self._line = self._line[:-1]
            self._echo("\b \b")
        elif character.isprintable() or (character == "\t" and self._reply.takes_text):
            self._line += character
            self._echo(character)
        return False

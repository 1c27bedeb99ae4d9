"""A login on the CLI of a switch, by the driver of netmiko that the dialect names: host keys, errors of one line."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from socket import socket
from typing import TYPE_CHECKING

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError, RailfabError, Unreachable
from railfab.platforms.contract import Dialect
from railfab.platforms.shared.error_texts import ErrorTexts
from railfab.platforms.shared.login import (
    ANSWER_WITHIN_S,
    ATTEMPTS,
    CONNECT_WITHIN_S,
    IDLE_POLL_S,
    RETRY_AFTER_S,
    SSH_PORT,
    connect,
    cut,
    login_error,
    rejected,
)

if TYPE_CHECKING:
    from railfab.platforms.shared.netmiko_driver import WaitingReads


BLOCK_LINES = 100
"""Lines that are sent at once; a switch whose terminal is full stops reading, and loses none."""

POLL_EVERY_S = 0.1
"""Interval in which the end of a connection is waited for [s]."""


LONGEST_PROMPT = 512
"""Length of the end of an output in which a prompt is looked for [characters]."""


class CliConnection:
    """Commands on the CLI of one switch. An error text of the dialect in an answer is raised.

    last_output: of the last command, also of one that was refused. is_idle: whether no call waits for an answer.
    """

    def __init__(self, endpoint: Endpoint, credentials: Credentials, dialect: Dialect) -> None:
        self._endpoint = endpoint
        self._credentials = credentials
        self._dialect = dialect
        self._errors = ErrorTexts(dialect.errors)
        login, *_ = prompts = dialect.prompts.values()
        prompt = f"(?m:{'|'.join(prompts)})"
        self._prompt = prompt.replace("$", "").replace(r"\Z", "")  # with text after it
        self._end, self._login_prompt = _at_end(prompt), _at_end(f"(?m:{login})")
        self.last_output = ""
        self.is_idle = True
        self._socket: socket | None = None
        self._connection: WaitingReads | None = None

    def open(self, *commands: str) -> str:
        """Log in, and run commands together with those that prepare a session; the output of all, with the last prompt.

        Raises Unreachable or LoginRefused, and DeviceError for another system or a command that is refused.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._connection = connection = self._connect()
                break
            except Unreachable:
                if attempt == ATTEMPTS:
                    raise
                time.sleep(RETRY_AFTER_S)
        try:
            return self._prepare(connection.preparation, commands)
        except RailfabError:
            self.close()
            raise

    def _prepare(self, preparation: Mapping[str, str], commands: Sequence[str]) -> str:
        """Run commands after those of the driver, in each of whose answers is a pattern."""
        if not (lines := (*preparation, *commands)):
            return ""
        output = self._exchange(lines, ANSWER_WITHIN_S * len(lines))
        if not all(re.search(pattern, output) for pattern in preparation.values()):
            raise self._other_system()
        self._check_block(output)
        return output

    def close(self) -> None:
        """Close the connection at once, also while another thread waits for an answer or for the login.

        netmiko's disconnect would wait 10 s for a prompt.
        """
        cut(self._socket)
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(OSError, EOFError):
                connection.paramiko_cleanup()

    def run(self, command: str, *, within_s: float = ANSWER_WITHIN_S, checked: bool = True) -> str:
        """The output of a command, without the prompt after it, which may have another hostname than before.

        checked: whether an error text of the dialect in it is raised; a configuration may have a banner like one.
        Raises Unreachable when there is no answer in time, DeviceError when it is an error text of the dialect.
        """
        connection = self._opened()
        with self._answering(within_s):
            connection.write_channel(f"{command}\n")
            answer = self._read_answer(connection, command, within_s)
        self.last_output = text = self._before_prompt(answer)
        if checked:
            self._check(command, text)
        return text

    def _opened(self) -> WaitingReads:
        if self._connection is None:
            raise Unreachable(self._endpoint.name, "is not connected", "Open the session again")
        return self._connection

    @contextmanager
    def _answering(self, within_s: float) -> Iterator[None]:
        """Raise Unreachable, and close, where the switch does not answer."""
        from netmiko import NetmikoBaseException, ReadTimeout
        from paramiko.ssh_exception import SSHException

        self.is_idle = False
        try:
            yield
        except (NetmikoBaseException, ReadTimeout, SSHException, OSError, EOFError) as error:
            self.close()
            reason = f"within {within_s:.0f} s" if isinstance(error, ReadTimeout) else "any more"
            remedy = "Check the connection and the switch's load"
            raise Unreachable(self._endpoint.name, f"does not answer {reason}", remedy) from None
        finally:
            self.is_idle = True

    def send(self, command: str, *, until: str, within_s: float = ANSWER_WITHIN_S) -> None:
        """Send a command after which the switch prints no prompt, and read up to this pattern.

        Raises DeviceError where it prints an error text of the dialect in place of that.
        """
        connection = self._opened()
        with self._answering(within_s):
            connection.write_channel(f"{command}\n")
            pattern = "|".join((f"(?:{until})", *self._dialect.errors))
            output = connection.read_until_pattern(pattern, within_s, re.MULTILINE)
        self._check(command, output)

    def send_text(self, text: str, *, within_s: float = ANSWER_WITHIN_S) -> str:
        """Send a text for which a command waits, with the character that ends it, and read up to the prompt."""
        connection = self._opened()
        with self._answering(within_s):
            connection.write_channel(text)
            output = self._read_answer(connection, "", within_s)
        self._check("the text", output)
        return output

    def paste(self, lines: Sequence[str], *, marker: str, within_s: float = ANSWER_WITHIN_S) -> None:
        """Send lines of a configuration mode in blocks, without waiting for the answer to each.

        marker: a comment of the CLI, which ends a block. within_s: limit of a block [s]. The first line that is refused
        raises DeviceError, after its block.
        """
        for number, block in enumerate(_blocks(lines)):
            comment = f"{marker} {number}"
            self._check_block(self._exchange((*block, comment), within_s))

    def run_together(
        self, *commands: str, within_s: float = ANSWER_WITHIN_S, unchecked: Collection[str] = ()
    ) -> list[str]:
        """The output of each of commands that the switch gets at once.

        It runs all of them, also where this process ends meanwhile. within_s: limit of each [s]. unchecked: those in
        whose output an error text is not raised.
        """
        answers = self._answers(self._exchange(commands, within_s * len(commands)), commands)
        for command, answer in zip(commands, answers, strict=True):
            if command not in unchecked:
                self._check(command, answer)
        return answers

    def _answers(self, output: str, commands: Sequence[str]) -> list[str]:
        """The output of each command, up to the prompt before the next one. Raises DeviceError without that.

        A terminal may echo a line before its prompt, and after it again: netmiko has seen EOS and NX-OS do so.
        A pattern that begins with the end of a line is looked for several times as fast as one with its begin.
        """
        first, *others = commands
        answers, rest = [], output.partition(first)[2].partition("\n")[2]
        for command in others:
            prompt, rest = f"(?m:^){self._prompt}", f"\n{rest}"
            typed = re.search(rf"\n(?:(?:{prompt}\n?{re.escape(command)}.*\n)+|{prompt})", rest)
            if typed is None:
                raise self._other_system()
            answers.append(rest[1 : typed.start() + 1].removeprefix(f"{command}\n").strip("\n"))
            rest = rest[typed.end() :]
        return [*answers, self._before_prompt(rest)]

    def _before_prompt(self, answer: str) -> str:
        prompt = self._end.search(answer, max(0, len(answer) - LONGEST_PROMPT))
        return answer[: prompt.start() if prompt else None].strip("\n")

    def _exchange(self, lines: Sequence[str], within_s: float) -> str:
        """Send lines at once, and read until the prompt after the last of them."""
        connection = self._opened()
        with self._answering(within_s):
            connection.write_channel("".join(f"{line}\n" for line in lines))
            return self._read_answer(connection, lines[-1], within_s, keeps_echo=True)

    def _read_answer(self, connection: WaitingReads, echo: str, within_s: float, *, keeps_echo: bool = False) -> str:
        """Read up to the prompt after the echo of a line. Raises ReadTimeout.

        A prompt is looked for at the end of what has come, since a configuration is long and comes in many pieces.
        """
        deadline, output, begin = time.monotonic() + within_s, "", -1
        while True:
            output += connection.receive(deadline - time.monotonic())
            if begin < 0 and echo in output:
                begin = output.index(echo) + len(echo)
            if begin >= 0 and output.find("\n", begin) >= 0 and self._end.search(output[-LONGEST_PROMPT:]):
                return output if keeps_echo else output[begin:].partition("\n")[2]

    def _check_block(self, output: str) -> None:
        if (span := self._errors.first_in(output)) is not None:
            before, _, _ = output[: span[0]].rstrip().rpartition("\n")
            typed = output[len(before) : span[0]].strip().splitlines()[-1]
            refused = re.sub(self._prompt, "", typed, count=1).strip()
            raise self._refused(refused, output[span[0] :].partition("\n")[0])

    def _refused(self, line: str, message: str) -> DeviceError:
        problem = f"refuses {line.strip()!r} ({message.strip()})"
        return DeviceError(self._endpoint.name, problem, "Correct it, or check the release of the switch")

    def end_with(self, command: str) -> None:
        """Send a command that ends the connection, such as a restart of the switch, and wait for that end."""
        connection = self._opened()
        with suppress(Unreachable), self._answering(ANSWER_WITHIN_S):
            connection.write_channel(f"{command}\n")
            end_s = time.monotonic() + ANSWER_WITHIN_S
            while not getattr(connection.remote_conn, "closed", True) and time.monotonic() < end_s:
                time.sleep(POLL_EVERY_S)
        self.close()

    def type_lines(self, lines: Iterable[str]) -> None:
        """Type lines one after the other, as in a configuration mode. The first that is refused raises DeviceError."""
        for line in lines:
            self.run(line)

    def _other_system(self) -> DeviceError:
        """A login whose prompt or answers are not those of the platform."""
        problem = f"does not answer as {self._endpoint.platform} does after the login"
        return DeviceError(self._endpoint.name, problem, "Check its platform in the intent and in the inventory")

    def _check(self, command: str, output: str) -> None:
        if (span := self._errors.first_in(output)) is not None:
            *_, line = output[: span[1]].splitlines()
            raise self._refused(command, line + output[span[1] :].partition("\n")[0])

    def _connect(self) -> WaitingReads:
        from netmiko import NetmikoAuthenticationException, NetmikoBaseException, ReadTimeout
        from paramiko.ssh_exception import SSHException

        from railfab.platforms.shared.netmiko_driver import driver_of

        endpoint = self._endpoint
        try:
            self._socket = connect(endpoint, CONNECT_WITHIN_S)
            connection = driver_of(self._dialect.netmiko)(
                endpoint,
                self._login_prompt,
                sock=self._socket,
                device_type=self._dialect.netmiko,
                host=endpoint.host,
                port=endpoint.ssh_port or SSH_PORT,
                username=self._credentials.username,
                password=self._credentials.password or None,
                use_keys=self._credentials.key_file is not None,
                key_file=self._credentials.key_file,
                conn_timeout=CONNECT_WITHIN_S,
                auth_timeout=CONNECT_WITHIN_S,
                banner_timeout=CONNECT_WITHIN_S,
            )
            self._socket.settimeout(IDLE_POLL_S)
            return connection
        except ReadTimeout:
            raise self._other_system() from None
        except NetmikoAuthenticationException:
            raise rejected(endpoint, self._credentials) from None
        except (NetmikoBaseException, SSHException, OSError, EOFError, ValueError) as error:
            raise login_error(endpoint, self._credentials, error) from None


def _at_end(prompt: str) -> re.Pattern[str]:
    """A prompt with which an output ends."""
    return re.compile(rf"(?:^|\n){prompt}\Z")


def _blocks(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    return (lines[first : first + BLOCK_LINES] for first in range(0, len(lines), BLOCK_LINES))

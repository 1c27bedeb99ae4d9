"""The drivers of netmiko with reads that wait for the switch, instead of asking a hundred times a second.

A login is prepared by the commands with which netmiko prepares it, without its search for the prompt: our reads know
the prompts of a platform.
"""

from __future__ import annotations

import re
import time
from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from railfab.endpoints import Endpoint
from railfab.platforms.shared.known_hosts import trust_known_hosts
from railfab.platforms.shared.login import ANSWER_WITHIN_S, CHUNK_BYTES, transport

if TYPE_CHECKING:
    from netmiko import BaseConnection
    from paramiko import SSHClient

    Base = BaseConnection
else:
    Base = object

ANY_PROMPT = re.compile(r"[>#$%] ?\Z")
PROMPT_WITHIN_S = 1.0
"""Time after which a text that looks like a prompt is one; the end of a line of a banner is followed by more [s]."""
ESCAPE = "\x1b"


class WaitingReads(Base):
    """Reads of a netmiko driver that end as soon as the switch has answered; mixed into the driver of a platform.

    endpoint: the switch, for its host key. prompt: what a login of the platform ends with. options: of netmiko's
    ConnectHandler. preparation: the commands that the caller sends first, such as those that turn paging off, with a
    pattern of the answer to each. Raises ReadTimeout where the prompt is that of another system.
    """

    def __init__(self, endpoint: Endpoint, prompt: re.Pattern[str], **options: Any) -> None:
        self._endpoint = endpoint
        self._first_prompt = prompt
        self._decoder: IncrementalDecoder | None = None
        self._held = ""
        self.preparation: dict[str, str] = {}
        super().__init__(**options)

    def receive(self, within_s: float) -> str:
        """The text that comes next, as netmiko normalizes it. Raises ReadTimeout, and EOFError at the end."""
        from netmiko import ReadTimeout

        if self._read_buffer:
            kept, self._read_buffer = self._read_buffer, ""
            return kept
        try:
            piece: bytes = self._channel(within_s).recv(CHUNK_BYTES)
        except TimeoutError:
            raise ReadTimeout(f"nothing within {within_s:.0f} s") from None
        if not piece:
            raise EOFError("connection lost")
        if self._decoder is None:
            self._decoder = getincrementaldecoder(self.encoding)("ignore")
        return self._normalized(self._held + self._decoder.decode(piece))

    def write_channel(self, out_data: str) -> None:
        """Send a text. Raises OSError when the switch does not take it."""
        self._channel(self.blocking_timeout).sendall(out_data.encode(self.encoding))

    def _channel(self, within_s: float) -> Any:
        """The channel of paramiko, over which alone the driver logs in, with a limit. Raises EOFError when closed."""
        channel: Any = self.remote_conn
        if channel is None:
            raise EOFError("connection lost")
        channel.settimeout(max(within_s, 0.0))
        return channel

    def _normalized(self, text: str) -> str:
        """A text with line feeds alone; a carriage return at its end waits for what follows."""
        self._held = "\r" if text.endswith("\r") else ""
        text = text.removesuffix("\r")
        if "\r" in text:
            plain = text.replace("\r\n", "\n")
            text = self.normalize_linefeeds(text) if "\r" in plain else plain
        return self.strip_ansi_escape_codes(text) if self.ansi_escape_codes and ESCAPE in text else text

    def read_until_pattern(
        self, pattern: str = "", read_timeout: float = 10.0, re_flags: int = 0, max_loops: int | None = None
    ) -> str:
        """The text up to the end of a pattern; what follows is kept for the next read. Raises ReadTimeout."""
        assert max_loops is None
        wanted, end_s = re.compile(pattern, re_flags), time.monotonic() + max(read_timeout, ANSWER_WITHIN_S)
        output = ""
        while (match := wanted.search(output)) is None:
            output += self.receive(end_s - time.monotonic())
        self._read_buffer = output[match.end() :]
        return output[: match.end()]

    def _test_channel_read(self, *_arguments: Any, **_options: Any) -> str:
        """Read up to the first prompt, before which there may be a banner."""
        output, end_s = "", time.monotonic() + ANSWER_WITHIN_S
        while not self._first_prompt.search(output):
            left_s = end_s - time.monotonic()
            output += self.receive(min(left_s, PROMPT_WITHIN_S) if ANY_PROMPT.search(output) else left_s)
        return output

    def _try_session_preparation(self, *_arguments: Any, **_options: Any) -> None:
        """Prepare the session without an empty line: a switch prints its prompt by itself."""
        super()._try_session_preparation(force_data=False)

    def set_terminal_width(self, command: str = "", *_arguments: Any, **options: Any) -> str:
        return self._prepare(command, options)

    def disable_paging(self, command: str = "terminal length 0", *_arguments: Any, **options: Any) -> str:
        return self._prepare(command, options)

    def _prepare(self, command: str, options: Mapping[str, Any]) -> str:
        """Leave a command to the caller, who sends it together with others."""
        if command:
            self.preparation[command] = options.get("pattern") or re.escape(command)
        return ""

    def set_base_prompt(self, *_arguments: Any, **_options: Any) -> str:
        """Keep no prompt: netmiko looks for it in reads that are not used here."""
        return ""

    def cleanup(self, *_arguments: Any, **_options: Any) -> None:
        """Say nothing at the end; netmiko would wait for the prompt of a configuration mode."""

    def _connect_params_dict(self) -> dict[str, Any]:
        options: dict[str, Any] = super()._connect_params_dict()
        return options | {"transport_factory": transport}

    def _build_ssh_client(self) -> SSHClient:
        client = self._get_ssh_client_instance()
        trust_known_hosts(client, self._endpoint)
        return client


@cache
def driver_of(device_type: str) -> type[WaitingReads]:
    """The driver of a kind of device, as netmiko names it."""
    from netmiko import ssh_dispatcher

    return type("WaitingDriver", (WaitingReads, ssh_dispatcher(device_type)), {})

"""Debian's Chromium without a window, driven through its DevTools protocol over a pipe."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

NAMES = ("chromium", "chromium-browser")
ANSWERS_WITHIN_S = 60.0
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    "--hide-scrollbars",
    "--mute-audio",
    "--force-device-scale-factor=1",
    "--remote-debugging-pipe",
)
FREE_FROM = 10
"""Descriptors below this one may be those that Chromium uses."""
EXECUTE = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)
"""Chromium reads commands at descriptor 3 and writes answers at 4."""
KEYS: Mapping[str, int] = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
"""Virtual key codes."""


def chromium_path() -> str | None:
    """Where Chromium is; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class BrowserError(Exception):
    """The browser, or a script in it, has failed."""


class Browser:
    """A running Chromium."""

    def __init__(self, process: subprocess.Popen[bytes], commands: int, answers: int) -> None:
        self._process, self._commands, self._answers = process, commands, answers
        self._buffer = b""
        self._count = 0
        self._events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its answer."""
        self._count += 1
        call: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if session is not None:
            call["sessionId"] = session
        os.write(self._commands, json.dumps(call).encode() + b"\0")
        deadline = time.monotonic() + ANSWERS_WITHIN_S
        while True:
            message = self._message(deadline, method)
            if message.get("id") != self._count:
                self._events.append(message)
            elif "error" in message:
                raise BrowserError(f"{method}: {message['error']['message']}")
            else:
                return message["result"]

    def events(self, session: str, method: str) -> list[dict[str, Any]]:
        """Take the events of a kind that have come so far for a page."""
        self.call("Browser.getVersion")
        matching = [each for each in self._events if (each.get("sessionId"), each["method"]) == (session, method)]
        self._events = [each for each in self._events if each not in matching]
        return [each["params"] for each in matching]

    def page(self, width: int = 1440, height: int = 900) -> Page:
        """A new, empty page."""
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return Page(self, target, session, width, height)

    def _message(self, deadline: float, method: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(self._answers, 1 << 20) if ready else b""
            if not chunk:
                raise BrowserError(f"Chromium does not answer {method}; it ended with {self._process.poll()}")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)


class Page:
    """One page of a browser, with cookies and storage of its own."""

    def __init__(self, browser: Browser, target: str, session: str, width: int, height: int) -> None:
        self._browser, self._target, self._session = browser, target, session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol on this page."""
        return self._browser.call(method, self._session, **parameters)

    def resize(self, width: int, height: int) -> None:
        """Give the page another size [px]."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme: str) -> None:
        """Prefer dark or light colours."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def go(self, url: str) -> None:
        """Load an address; the script `wait` says when the page is ready."""
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, script: str) -> Any:
        """The value of an expression, or of the promise that it is."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait(self, script: str, within_s: float = 30.0) -> Any:
        """Wait until an expression is true; its value."""
        deadline = time.monotonic() + within_s
        while True:
            try:
                value = self.evaluate(script)
            except BrowserError as error:  # of a page that is being replaced
                value, problem = None, str(error)
            else:
                problem = f"it is {value!r}"
            if value:
                return value
            if time.monotonic() > deadline:
                raise BrowserError(f"{script} did not become true in {within_s:g} s: {problem}")
            time.sleep(0.05)

    def move(self, x: float, y: float) -> None:
        """Move the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        """Click at a point."""
        self.move(x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def click_on(self, selector: str) -> None:
        """Click in the middle of the first element that a selector matches."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = self.evaluate(f"document.querySelector({json.dumps(selector)}).getBoundingClientRect().toJSON()")
        self.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def press(self, *keys: str, shift: bool = False) -> None:
        """Press keys one after the other: names of `KEYS`, or characters."""
        for key in keys:
            code = KEYS.get(key, ord(key[0].upper()))
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            pressed = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **pressed)
            self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def problems(self) -> list[str]:
        """Take what the page has reported since the last time: exceptions, errors and refusals of its policy."""
        thrown = self._browser.events(self._session, "Runtime.exceptionThrown")
        logged = self._browser.events(self._session, "Log.entryAdded")
        return [
            *(each["exceptionDetails"].get("exception", {}).get("description", "?") for each in thrown),
            *(
                f"{each['entry']['text']} {each['entry'].get('url', '')}"
                for each in logged
                if each["entry"]["level"] == "error"
            ),
        ]

    def png(self) -> bytes:
        """A picture of what the window shows."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        """Close the page."""
        self._browser.call("Target.closeTarget", targetId=self._target)


@contextmanager
def browser(flags: Sequence[str] = ()) -> Iterator[Browser]:
    """Start Chromium, and end it."""
    path = chromium_path()
    if path is None:
        raise BrowserError("no chromium on PATH")
    from_us, to_browser = os.pipe()
    from_browser, to_us = os.pipe()
    given = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, FREE_FROM) for end in (from_us, to_us)]
    os.close(from_us)
    os.close(to_us)
    with tempfile.TemporaryDirectory(prefix="railfab-chromium-", ignore_cleanup_errors=True) as profile:
        command = [path, *FLAGS, *flags, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(
            [sys.executable, "-S", "-c", EXECUTE, *map(str, given), *command],
            pass_fds=given,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": profile},
        )
        for end in given:
            os.close(end)
        running = Browser(process, to_browser, from_browser)
        try:
            yield running
        finally:
            os.close(to_browser)
            process.terminate()
            process.wait()
            os.close(from_browser)

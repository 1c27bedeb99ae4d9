"""Records what a command shows on a terminal as an SVG that plays by itself. Linux and macOS.

python docs/record.py --seconds 40 -o docs/up.svg -- railfab up inventory/fabrics/pod64.yml
"""

from __future__ import annotations

import argparse
import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

from railfab.draw import Frame, Screen, recording_svg

GRACE_S = 20.0
QUIET_S = 0.03
"""So long nothing is written: the program has finished drawing."""


def started(command: list[str], screen: Screen) -> tuple[subprocess.Popen[bytes], int]:
    """The command on a terminal of the screen's size, and our end of that terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", screen.height, screen.columns, 0, 0))
    looks = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    size = {"COLUMNS": str(screen.columns), "LINES": str(screen.height)}
    environment = {**os.environ, **looks, **size}
    child = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    return child, ours


def written(terminal: int) -> bytes | None:
    """What came; nothing when all is quiet, None at the end."""
    if not select.select([terminal], [], [], QUIET_S)[0]:
        return b""
    try:
        return os.read(terminal, 65536) or None
    except OSError:  # Linux says EIO when the last writer has gone
        return None


def recorded(command: list[str], screen: Screen, seconds: float, every_s: float) -> Iterator[Frame]:
    """A frame whenever the screen has changed, at most one every so often; Ctrl-C at the end of the time."""
    child, terminal = started(command, screen)
    told = False
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    begin, due_s, last = time.monotonic(), 0.0, Frame(0, ())
    try:
        while (now_s := time.monotonic() - begin) < seconds + GRACE_S:
            if now_s > seconds and not told:
                told = True
                child.send_signal(signal.SIGINT)
            came = written(terminal)
            screen.feed(decode(came or b"", came is None))
            if (came is None or (not came and now_s >= due_s)) and screen.rows() != last.rows:
                last, due_s = Frame(now_s, screen.rows()), now_s + every_s
                yield last
            if came is None:
                return
    finally:
        child.kill()
        child.wait()
        os.close(terminal)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("-o", "--out", type=Path, required=True)
    arguments.add_argument("--seconds", type=float, default=40)
    arguments.add_argument("--every", type=float, default=0.5, help="seconds between two frames, at least")
    arguments.add_argument("--columns", type=int, default=110)
    arguments.add_argument("--rows", type=int, default=30)
    arguments.add_argument("--title", help="what stands above the picture; else the command")
    arguments.add_argument("command", nargs="+")
    given = arguments.parse_args()
    frames = list(recorded(given.command, Screen(given.columns, given.rows), given.seconds, given.every))
    given.out.write_text(recording_svg(frames, columns=given.columns, name=given.title or " ".join(given.command)))


if __name__ == "__main__":
    main()

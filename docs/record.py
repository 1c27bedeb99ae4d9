"""Record what a command shows on a terminal as an animated SVG. Linux and macOS; needs pyte (`make setup` installs it).

python docs/record.py --seconds 60 -o docs/up.svg --light docs/up-light.svg -- railfab up inventory/fabrics/pod64.yml
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

import pyte
from terminal_svg import DARK, LIGHT, Frame, from_first_full, from_moment, recording_svg, screen_rows

GRACE_S = 20.0
QUIET_S = 0.03
"""Time without output after which the screen is complete."""


def start(command: list[str], screen: pyte.Screen) -> tuple[subprocess.Popen[bytes], int]:
    """Start the command on a terminal of the size of the screen; returns also the other end of that terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", screen.lines, screen.columns, 0, 0))
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    size = {"COLUMNS": str(screen.columns), "LINES": str(screen.lines)}
    environment = {**os.environ, **terminal, **size}
    child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True)
    os.close(slave)
    return child, master


def read_output(terminal: int) -> bytes | None:
    """New output; empty if there is none for QUIET_S, None at the end."""
    if not select.select([terminal], [], [], QUIET_S)[0]:
        return b""
    try:
        return os.read(terminal, 65536) or None
    except OSError:  # Linux reports EIO when the last writer has closed the terminal
        return None


def record(command: list[str], screen: pyte.Screen, seconds: float, every_s: float) -> Iterator[Frame]:
    """A frame after each change of the screen, at most one per `every_s`; sends Ctrl-C after `seconds`."""
    child, terminal = start(command, screen)
    stream, interrupted = pyte.Stream(screen), False
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    begin, due_s, last = time.monotonic(), 0.0, Frame(0, ())
    try:
        while (now_s := time.monotonic() - begin) < seconds + GRACE_S:
            if now_s > seconds and not interrupted:
                interrupted = True
                child.send_signal(signal.SIGINT)
            output = read_output(terminal)
            stream.feed(decode(output or b"", output is None))
            if output is None or (not output and now_s >= due_s):
                rows = screen_rows(screen)
                if rows != last.rows:
                    last, due_s = Frame(now_s, rows), now_s + every_s
                    yield last
            if output is None:
                return
    finally:
        child.kill()
        child.wait()
        os.close(terminal)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--every", type=float, default=0.5, help="shortest time between two frames [s]")
    parser.add_argument("--light", type=Path, help="also write the recording in the colours of a light terminal")
    parser.add_argument("--moment", default="", help="begin, and stand still, where a line of the screen matches this")
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--rows", type=int, default=24)
    parser.add_argument("--title", help="title of the window; by default the command")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    screen = pyte.Screen(options.columns, options.rows)
    recorded = list(record(options.command, screen, options.seconds, options.every))
    frames, still = from_moment(from_first_full(recorded), options.moment)
    title = options.title or " ".join(options.command)
    for path, theme in ((options.out, DARK), (options.light, LIGHT)):
        if path is not None:
            path.write_text(recording_svg(frames, columns=options.columns, name=title, theme=theme, still=still))


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# asyncssh 2.24.1: `import asyncssh` on Linux.
# Expected: an import that starts no other program. Seen: it looks for liboqs, for a key exchange that few use, with
# ctypes.util.find_library, and so runs ldconfig, the C compiler and the linker, each twice, in each process that uses SSH.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q asyncssh==2.24.1 cryptography==50.0.2
"$work/venv/bin/python" - <<'PY'
import os
import sys

started = []
sys.addaudithook(lambda event, words: event == "subprocess.Popen" and started.append(os.path.basename(words[0])))
import asyncssh  # noqa: E402, F401

print(started)
assert started.count("ldconfig") >= 2, started
if os.path.exists("/usr/bin/gcc"):
    assert started.count("gcc") == 2, started
PY

#!/usr/bin/env bash
# grpcio 1.85.1: a server streams to a client that is stopped for a while. No option of keepalive is set.
# Expected: the stream waits, as keepalive of a server is 2 hours by default, and goes on where the client does. Seen:
# the server ends the call after 20 s and resets the connection, and the client reads UNAVAILABLE: a collector that is
# late looks like a switch that fails.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q grpcio==1.85.1
cat > "$work/stream.py" <<'PY'
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import grpc


def read(port):
    stream = grpc.insecure_channel(f"127.0.0.1:{port}").unary_stream("/s/m", bytes, bytes)(b"")
    print(len(next(stream)), "bytes", flush=True)
    try:
        for _ in stream:
            pass
    except grpc.RpcError as error:
        print(error.code().name)


class Handler(grpc.GenericRpcHandler):
    ended = Event()

    def service(self, details):
        return grpc.unary_stream_rpc_method_handler(self.stream, bytes, bytes)

    def stream(self, request, context):
        context.add_callback(self.ended.set)
        while context.is_active():
            yield bytes(65536)


if len(sys.argv) > 1:
    read(sys.argv[1])
    sys.exit()
handler = Handler()
server = grpc.server(ThreadPoolExecutor(2), handlers=[handler])
port = server.add_insecure_port("127.0.0.1:0")
server.start()
client = subprocess.Popen([sys.executable, __file__, str(port)], stdout=subprocess.PIPE, text=True)
client.stdout.readline()
client.send_signal(signal.SIGSTOP)
began_s = time.monotonic()
has_ended = handler.ended.wait(90)
after_s = time.monotonic() - began_s
client.send_signal(signal.SIGCONT)
code = client.communicate(timeout=30)[0].strip()
server.stop(0)
print(f"the call ended: {has_ended}, after {after_s:.0f} s; the client read {code}")
assert has_ended and 15 < after_s < 30 and code == "UNAVAILABLE"
PY
"$work/venv/bin/python" "$work/stream.py"

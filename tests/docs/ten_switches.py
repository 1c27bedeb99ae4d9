"""Ten gNMI targets for docs/ten-switches.md, served by gRPC with pygnmi's messages: none is railfab's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from pygnmi.create_gnmi_path import gnmi_path_generator
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from railfab.gnmi.certificates import Authority

SHOWN, HERE = "192.0.2.", "127.0.2."
"""Networks of the addresses that the page shows, and of those that the targets have."""
LEAVES, SPINES = [f"leaf{number}" for number in range(1, 9)], ["spine1", "spine2"]
ADDRESSES = {name: f"{HERE}{place}" for name, place in zip([*LEAVES, *SPINES], [*range(11, 19), 21, 22], strict=True)}
LOGIN = ("telemetry", "correct horse")
SAMPLE_S = 0.5
STREAMING = 8
"""Of the ten; leaf8 refuses its old password, and the certificate of spine2 is not trusted."""
EOS_PORT, SRLINUX_PORT = 6030, 57400
EOS = {
    "/interfaces/interface[name=Ethernet1]/state/counters/in-octets": 5000,
    "/interfaces/interface[name=Ethernet1]/state/counters/in-unknown-protos": 3,
    "/interfaces/interface[name=Ethernet1]/state/counters/resets": 1,
    "/interfaces/interface[name=Ethernet1]/state/oper-status": "UP",
}
SRLINUX = {
    "/interface[name=ethernet-1/1]/statistics/in-octets": 7000,
    "/interface[name=ethernet-1/1]/oper-state": "up",
}


@dataclass
class Target(gnmi_pb2_grpc.gNMIServicer):  # type: ignore[misc]
    """A target with a few leaves and one login."""

    leaves: dict[str, int | str]

    def Subscribe(self, requests: Any, context: Any) -> Iterator[Any]:
        said = dict(context.invocation_metadata())
        if (said.get("username"), said.get("password")) != LOGIN:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "wrong user name or password")
        asked = next(requests).subscribe
        found = {path: value for path, value in self.leaves.items() if _is_asked(path, asked)}
        yield _notification(found)
        yield gnmi_pb2.SubscribeResponse(sync_response=True)
        while context.is_active():
            time.sleep(SAMPLE_S)
            if any(one.mode == gnmi_pb2.SAMPLE for one in asked.subscription):
                yield _notification(found)


def _is_asked(path: str, asked: Any) -> bool:
    names = [step.name for step in gnmi_path_generator(path).elem]
    wanted = ([step.name for step in one.path.elem] for one in asked.subscription)
    return any(names[: len(prefix)] == prefix for prefix in wanted)


def _notification(leaves: dict[str, int | str]) -> Any:
    update = [
        gnmi_pb2.Update(
            path=gnmi_path_generator(path),
            val=gnmi_pb2.TypedValue(uint_val=value)
            if isinstance(value, int)
            else gnmi_pb2.TypedValue(string_val=value),
        )
        for path, value in leaves.items()
    ]
    return gnmi_pb2.SubscribeResponse(update=gnmi_pb2.Notification(timestamp=time.time_ns(), update=update))


@contextmanager
def ten_switches(examples: Path, folder: Path) -> Iterator[None]:
    """Serve the ten, and write the page's files for them into a folder, with the addresses and ports that they have."""
    ours, other = Authority("fabric"), Authority("factory")
    (folder / "ca.pem").write_bytes(ours.certificate)
    (folder / "login.yml").write_text("{{username: {}, password: {}}}\n".format(*LOGIN))
    (folder / "old-login.yml").write_text("{username: telemetry, password: before}\n")
    with ThreadPoolExecutor(64) as pool:
        eos, srlinux = (grpc.server(pool) for _ in range(2))
        gnmi_pb2_grpc.add_gNMIServicer_to_server(Target(EOS), eos)
        gnmi_pb2_grpc.add_gNMIServicer_to_server(Target(SRLINUX), srlinux)
        ports = {EOS_PORT: _listen(eos, LEAVES, ours), SRLINUX_PORT: _listen(srlinux, SPINES, other)}
        for path in examples.glob("*.yml"):
            text = path.read_text().replace(SHOWN, HERE)
            for shown, here in ports.items():
                text = text.replace(f"gnmi_port: {shown}", f"gnmi_port: {here}")
            (folder / path.name).write_text(text)
        eos.start()
        srlinux.start()
        try:
            yield
        finally:
            for server in (eos, srlinux):
                server.stop(0).wait()


def _listen(server: grpc.Server, names: list[str], authority: Authority) -> int:
    """Listen on one port of the addresses of these targets; leaf6 has a certificate for its name, leaf7 has none."""
    port = 0
    for name in names:
        where = f"{ADDRESSES[name]}:{port}"
        if name == "leaf7":
            port = server.add_insecure_port(where)
            continue
        valid_for = ("leaf6.example",) if name == "leaf6" else (ADDRESSES[name],)
        identity = authority.issue(f"{name}.example", valid_for)
        port = server.add_secure_port(where, grpc.ssl_server_credentials([(identity.key, identity.certificate)]))
    return port

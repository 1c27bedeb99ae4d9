"""`railfab upgrade` of virtual switches: what is drained, reloaded and verified, and how it stops and goes on."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.integration.switches.racks import LEAF, OVER_SSH, SPINE, Railfab, opened
from tests.integration.switches.test_images import PLACES
from tests.sampled import sampled

from railfab.endpoints import Endpoint
from railfab.fabric.design import design
from railfab.platforms import Image
from railfab.platforms.shared.virtual_images import ImageBoot, ImageFile
from railfab.twin import SwitchOperation, Twin

SECOND = "pod1-seg1-leaf2"
QUICK = ("--yes", "--settle", "0")


@pytest.fixture(scope="module")
def twin(system: str, repository: Path, state: Path) -> Iterator[Twin]:
    fabric = design(repository / "tests" / "deploy" / f"rack_{system}.yml")
    with Twin(fabric, state=state, base_port=0, configured=True, boot_s=0.4) as running:
        yield running


def offer(twin: Twin, system: str, *names: str, boot: ImageBoot = ImageBoot.NEW, prefix: str = "") -> Image:
    """Put an image, newer than any that a switch of these runs, on their flash."""
    place, version = PLACES[system]
    image = Image(place=place, version=version)
    if prefix:
        image = Image(place=place.replace(image.file, f"{prefix}-{image.file}"), version=f"{version}{len(prefix)}")
    for name in names:
        file = ImageFile(name=image.file, platform=system, version=image.version, boot=boot, size_bytes=1 << 20)
        twin.offer_image(name, image.place, file)
    return image


def versions(twin: Twin, *names: str) -> list[str]:
    return [twin._switches[name].images.release for name in names]


def is_drained(endpoint: Endpoint) -> bool:
    with opened(endpoint) as session:
        return session.running().drained


def switches_of(run: subprocess.CompletedProcess[str]) -> dict[str, dict[str, object]]:
    return {entry["name"]: entry for entry in json.loads(run.stdout)["switches"]}


@pytest.mark.parametrize("system", sampled(OVER_SSH, few=["eos"]), indirect=True)
def test_a_leaf_is_upgraded_and_has_its_traffic_again(
    twin: Twin, railfab: Railfab, system: str, leaf: Endpoint
) -> None:
    """The tests below upgrade a switch of each platform too, after what stops the first run."""
    image = offer(twin, system, LEAF)
    spine = twin._switches[SPINE]
    boots = spine.boots
    done = railfab("upgrade", LEAF, "--image", image.place, "--version", image.version, *QUICK, "--output", "json")
    assert done.returncode == 0, done.stderr
    result = switches_of(done)[LEAF]
    assert (result["result"], result["changed"], result["drained"], result["error"]) == ("upgraded", True, False, None)
    assert image.is_of(str(result["after"]))
    assert not image.is_of(str(result["before"]))
    assert versions(twin, LEAF) == [image.version]
    assert not is_drained(leaf)
    assert twin._switches[LEAF].saved
    assert spine.boots == boots
    again = railfab("upgrade", LEAF, "--image", image.place, "--version", image.version, *QUICK, "--output", "json")
    assert (again.returncode, switches_of(again)[LEAF]["result"]) == (0, "no change"), again.stderr


@pytest.mark.parametrize("system", sampled(OVER_SSH, few=["eos"]), indirect=True)
def test_what_the_switch_refuses_is_said_before_its_drain(twin: Twin, railfab: Railfab, system: str) -> None:
    image = offer(twin, system, SECOND, prefix="absent")
    boots = twin._switches[LEAF].boots
    refused = railfab("upgrade", LEAF, SECOND, "--image", image.place, "--version", image.version, *QUICK)
    assert refused.returncode == 2, refused.stderr
    problems = [line for line in refused.stderr.splitlines() if line.startswith("railfab: ")]
    (line,) = problems
    assert line.startswith(f"railfab: {LEAF}: has no ") or "does not install" in line
    assert "draining" not in refused.stderr
    assert versions(twin, SECOND) != [image.version]
    assert twin._switches[SECOND].images.next_boot is None
    assert twin._switches[LEAF].boots == boots


@pytest.mark.parametrize("system", sampled(OVER_SSH, few=["sonic"]), indirect=True)
def test_a_switch_that_does_not_come_back_stops_the_run_and_stays_drained(
    twin: Twin, railfab: Railfab, system: str, leaf: Endpoint, tmp_path: Path
) -> None:
    names = (SECOND, LEAF)
    image = offer(twin, system, *names, boot=ImageBoot.NEVER, prefix="dead")
    words = ("upgrade", *names, "--image", image.place, "--version", image.version, *QUICK, "--back-within", "4")
    failed = railfab(*words, "--output", "json", "--junit", str(tmp_path / "upgrade.xml"))
    assert failed.returncode == 3, failed.stderr
    suite = ElementTree.fromstring((tmp_path / "upgrade.xml").read_text())
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "1")
    results = switches_of(failed)
    first, second = results[LEAF], results[SECOND]
    assert (first["result"], first["drained"], second["result"]) == ("failed", True, "not begun")
    assert str(first["error"]).startswith(f"{LEAF}: has not come back within 4 s after its reload")
    twin.operate(LEAF, SwitchOperation.ON)
    assert is_drained(leaf)
    offer(twin, system, *names, prefix="dead")
    assert railfab(*words[:-2]).returncode == 0
    assert versions(twin, *names) == [image.version] * 2
    assert not is_drained(leaf)


@pytest.mark.parametrize("system", sampled(OVER_SSH, few=["junos"]), indirect=True)
def test_a_switch_with_another_version_than_stated_stays_drained(
    twin: Twin, railfab: Railfab, system: str, leaf: Endpoint
) -> None:
    image = offer(twin, system, LEAF, boot=ImageBoot.OLD, prefix="fallback")
    before = versions(twin, LEAF)
    words = ("upgrade", LEAF, "--image", image.place, "--version", image.version, *QUICK, "--back-within", "60")
    failed = railfab(*words)
    assert failed.returncode == 3, failed.stderr
    (line,) = [line for line in failed.stderr.splitlines() if line.startswith("railfab: ")]
    assert f"{LEAF}: runs version " in line
    assert f"after its reload, which is not that of {image.file}. Find out on its console" in line
    assert versions(twin, LEAF) == before
    assert is_drained(leaf)
    offer(twin, system, LEAF, prefix="fallback")
    assert railfab(*words).returncode == 0
    assert not is_drained(leaf)


@contextmanager
def begun(
    rack: Path, state: Path, repository: Path, words: Sequence[str], step: str
) -> Iterator[subprocess.Popen[str]]:
    """An upgrade that has come to this step."""
    verb, *rest = words
    command = [sys.executable, "-m", "railfab", verb, str(rack), *rest, "--on", "twin", "--state", str(state)]
    with subprocess.Popen(command, cwd=repository, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any(step in line for line in process.stderr)
        yield process


@pytest.mark.parametrize("system", ["nxos"], indirect=True)
def test_a_switch_that_comes_back_without_a_link_stays_drained_and_what_was_wrong_before_is_not_blamed(
    twin: Twin, railfab: Railfab, system: str, leaf: Endpoint, rack: Path, state: Path, repository: Path
) -> None:
    image = offer(twin, system, LEAF, prefix="link")
    ports = {peer.node: port.name for port, peer, _ in twin.design.topology.ports_of(LEAF)}
    uplink, host = ports[SPINE], next(name for node, name in ports.items() if node != SPINE)
    words = ("upgrade", LEAF, "--image", image.place, "--version", image.version, *QUICK, "--verified-within", "3")
    twin.set_link(LEAF, host, up=False)
    with begun(rack, state, repository, words, "reloading") as process:
        twin.set_link(LEAF, uplink, up=False)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 3, errors
    (line,) = [line for line in errors.splitlines() if line.startswith("railfab: ")]
    assert line.startswith(f"railfab: {LEAF} {uplink}: is down, its link to {SPINE} does not work.")
    assert versions(twin, LEAF) == [image.version]
    assert is_drained(leaf)
    twin.set_link(LEAF, uplink, up=True)
    for operation in (SwitchOperation.OFF, SwitchOperation.ON):  # a switch that boots connects at once
        twin.operate(LEAF, operation)
    resumed = railfab(*words[:-2], "--output", "json")
    assert (resumed.returncode, switches_of(resumed)[LEAF]["result"]) == (0, "undrained"), resumed.stderr
    assert not is_drained(leaf)
    twin.set_link(LEAF, host, up=True)


@pytest.mark.parametrize("system", sampled(OVER_SSH, few=["eos"]), indirect=True)
def test_an_upgrade_that_was_killed_goes_on(
    twin: Twin, railfab: Railfab, system: str, leaf: Endpoint, rack: Path, state: Path, repository: Path
) -> None:
    image = offer(twin, system, LEAF, prefix="killed")
    words = ("upgrade", LEAF, "--image", image.place, "--version", image.version, *QUICK)
    end_s = time.monotonic() + 30
    with begun(rack, state, repository, words, "reloading") as process:
        while versions(twin, LEAF) != [image.version]:
            assert time.monotonic() < end_s
            time.sleep(0.05)
        process.kill()
    while not twin._servers[LEAF].running:
        assert time.monotonic() < end_s
        time.sleep(0.05)
    assert is_drained(leaf)
    resumed = railfab(*words, "--output", "json")
    assert resumed.returncode == 0, resumed.stderr
    assert switches_of(resumed)[LEAF]["result"] == "undrained"
    assert not is_drained(leaf)


@pytest.mark.parametrize("system", sampled(OVER_SSH, few=["cumulus"]), indirect=True)
def test_a_switch_that_somebody_else_has_drained_stays_drained(
    twin: Twin, railfab: Railfab, system: str, leaf: Endpoint
) -> None:
    image = offer(twin, system, LEAF, prefix="held")
    assert railfab("drain", LEAF, "--yes").returncode == 0
    done = railfab("upgrade", LEAF, "--image", image.place, "--version", image.version, *QUICK, "--output", "json")
    assert done.returncode == 0, done.stderr
    result = switches_of(done)[LEAF]
    assert (result["result"], result["drained"]) == ("upgraded", True)
    assert is_drained(leaf)
    assert railfab("undrain", LEAF).returncode == 0


class Exposition(ThreadingHTTPServer):
    """Telemetry of the leaf as a collector serves it: one port of 100 Gb/s that sends at a rate. gbps: that."""

    def __init__(self) -> None:
        self.gbps = 0.0
        self._sent, self._read_s = 0.0, time.time()
        super().__init__(("127.0.0.1", 0), _Metrics)

    def text(self) -> str:
        now_s = time.time()
        self._sent += self.gbps * 1e9 / 8 * (now_s - self._read_s)
        self._read_s = now_s
        values = {
            "fabric_interface_transmit_bytes_total": self._sent,
            "fabric_interface_receive_bytes_total": 0.0,
            "fabric_interface_speed_bytes_per_second": 12.5e9,
        }
        lines = [
            f'{metric}{{fabric="rack",device="{LEAF}",interface="Ethernet64/1"}} {values[metric]!r}'
            for metric in values
        ]
        updated = f'fabric_collector_last_update_timestamp_seconds{{fabric="rack",device="{LEAF}"}} {now_s!r}'
        return "\n".join(["# HELP of a test", *lines, updated, ""])


class _Metrics(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Exposition)
        text = self.server.text().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Write no line for a request."""


@pytest.mark.parametrize("system", sampled(OVER_SSH, few=["nxos"]), indirect=True)
def test_a_switch_whose_traffic_stays_is_not_reloaded_until_it_has_moved(
    twin: Twin, railfab: Railfab, system: str, leaf: Endpoint, rack: Path, tmp_path: Path
) -> None:
    image = offer(twin, system, LEAF, prefix="traffic")
    words = ("upgrade", LEAF, "--image", image.place, "--version", image.version, "--yes", "--moved-within", "7")
    with Exposition() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        intent = tmp_path / "intent.yml"
        url = f"http://127.0.0.1:{server.server_port}/metrics"
        intent.write_text(f"{rack.read_text()}change: {{telemetry: {url!r}}}\n")
        server.gbps, boots = 40.0, twin._switches[LEAF].boots
        stopped = railfab(*words, intent=intent)
        assert stopped.returncode == 3, stopped.stderr
        assert "no telemetry is configured" not in stopped.stderr
        (line,) = [line for line in stopped.stderr.splitlines() if line.startswith("railfab: ")]
        assert re.match(rf"railfab: {LEAF}: is drained, and still carries (39|40)(\.\d+)? Gb/s\. End the jobs", line), (
            line
        )
        assert twin._switches[LEAF].boots == boots
        assert is_drained(leaf)
        server.gbps = 0.0
        assert railfab(*words, intent=intent).returncode == 0
        server.shutdown()
    assert versions(twin, LEAF) == [image.version]
    assert not is_drained(leaf)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--image", "sonic.bin"), "--image 'sonic.bin': states no version in its name, by which"),
        (("--image", "a b"), "--image 'a b': is no file and no URL. Name a file on the switch, or a URL."),
        (
            ("--image", "EOS-4.34.2F.swi", "--checksum", "12"),
            "--checksum '12': is no MD5, SHA-256 or SHA-512 in hexadecimal digits. Copy it from the vendor's page.",
        ),
    ],
)
@pytest.mark.parametrize("system", ["eos"], indirect=True)
def test_options_that_say_nothing_useful_are_refused(railfab: Railfab, words: tuple[str, ...], problem: str) -> None:
    refused = railfab("upgrade", LEAF, *words, "--yes")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1), refused.stderr
    assert refused.stderr.startswith(f"railfab: {problem}")

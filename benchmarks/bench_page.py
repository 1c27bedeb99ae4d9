"""What the page costs: bytes a second to a browser of 1,024 GPUs, and ten browsers against one.

    python -m benchmarks.bench_page [INTENT]

Every port changes at random in each sample, which no fabric does; a fabric at rest is measured beside it. The CPU time
is of the process that serves, without the browsers, which run in processes of their own.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np

from railfab.fabric import design
from railfab.page.columns import PORT_COLUMNS, SWITCH_COLUMNS, Numbers
from railfab.page.plan import PagePlan
from railfab.page.server import PageServer, page_listener
from railfab.page.serving import Surroundings, page_server
from railfab.page.sources.contract import FabricReading

INTENT = Path(__file__).parents[1] / "inventory" / "fabrics" / "gpu1024.yml"
INTERVAL_S = 1.0
MEASURED_S, SETTLED_S = 15.0, 3.0
BROWSERS = (0, 1, 10)


class BusyFabric:
    """A source whose ports all send, mark and pause at random; or are at rest."""

    name, interval_s = "benchmark", INTERVAL_S

    def __init__(self, plan: PagePlan, *, is_busy: bool) -> None:
        self._plan, self._is_busy, self._draw = plan, is_busy, np.random.default_rng(1)
        self._ports: dict[str, Numbers] = {column.name: np.zeros(len(plan.ports)) for column in PORT_COLUMNS}
        self._ports["is_up"] += 1
        self._sampled_s = 0.0

    def read(self) -> FabricReading:
        """Counters of now, grown by what a second brings."""
        now_s, count = time.time(), len(self._plan.ports)
        if self._is_busy and now_s - self._sampled_s >= INTERVAL_S:
            grown = {"transmit_bytes": 4e10, "receive_bytes": 4e10, "marked_packets": 1e5, "sent_packets": 1e6}
            for name, most in {**grown, "pauses_sent": 1e4}.items():
                self._ports[name] = self._ports[name] + most * self._draw.random(count)
            self._ports["queue_bytes"] = 1e6 * self._draw.random(count)
            self._sampled_s = now_s
        sampled_s = self._sampled_s if self._is_busy else now_s
        switches = {column.name: np.zeros(len(self._plan.switches)) for column in SWITCH_COLUMNS}
        switches["arrived_s"] += sampled_s
        switches["simulated_s"] += np.nan
        switches["is_streaming"] += 1
        return FabricReading(now_s, dict(self._ports), switches, np.ones(len(self._plan.sessions)))


def listen(url: str, listening: multiprocessing.Queue[None], counted: multiprocessing.Queue[int]) -> None:
    """Read events until the page has settled, then count their bytes for a while."""
    with urllib.request.urlopen(url + "events", timeout=60) as stream:
        until_s, size = time.monotonic() + SETTLED_S, 0
        while time.monotonic() < until_s:
            stream.readline()
        listening.put(None)
        until_s = time.monotonic() + MEASURED_S
        while time.monotonic() < until_s:
            size += len(stream.readline())
        counted.put(size)
        while stream.readline():
            pass


def measured(server: PageServer, browsers: int) -> tuple[float, float]:
    """CPU seconds a second of the server while so many browsers listen, and bytes a second to each."""
    spawned = multiprocessing.get_context("spawn")
    listening: multiprocessing.Queue[None] = spawned.Queue()
    counted: multiprocessing.Queue[int] = spawned.Queue()
    url = server.url.partition("#")[0]
    running = [spawned.Process(target=listen, args=(url, listening, counted), daemon=True) for _ in range(browsers)]
    for process in running:
        process.start()
    for _ in running:
        listening.get(timeout=120)
    began_s, cpu_s = time.monotonic(), time.process_time()
    time.sleep(MEASURED_S)
    share = (time.process_time() - cpu_s) / (time.monotonic() - began_s)
    sizes = [counted.get(timeout=120) for _ in running]
    for process in running:
        process.terminate()
        process.join()
    return share, sum(sizes) / len(sizes) / MEASURED_S if sizes else 0.0


def main(intent: Path) -> None:
    plan = PagePlan(design(intent))
    print(f"{plan.document()['title']}, samples every {INTERVAL_S:g} s")
    print("| fabric | browsers | CPU of the server [% of a core] | kB/s to each browser |")
    print("|---|---|---|---|")
    for name, is_busy in (("at rest", False), ("every port changes", True)):
        beside = Surroundings(state=Path("/nonexistent"), jobs={})
        with page_server(plan, BusyFabric(plan, is_busy=is_busy), page_listener("127.0.0.1", 0), beside) as server:
            for browsers in BROWSERS:
                share, size = measured(server, browsers)
                print(f"| {name} | {browsers} | {100 * share:.1f} | {size / 1000:.1f} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else INTENT)

"""How smooth the page is in Debian's Chromium: first paint, and frames while the pointer hovers over 1,024 GPUs.

    PYTHONPATH=. python benchmarks/bench_page_frames.py [INTENT]

Every port changes in each sample, as in bench_page. The pointer moves over the drawing once a frame; a frame counts as
late from LATE_MS on, which is a frame of 60 Hz and the rounding of its clock. The browser draws without a GPU; an empty
page, in turns with the page, says what the machine allows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles

from bench_page import INTENT, BusyFabric
from tests.page.browser.chromium import Browser, browser

from railfab.fabric import design
from railfab.page.plan import PagePlan
from railfab.page.server import page_listener
from railfab.page.serving import Surroundings, page_server

WIDTH, HEIGHT = 1440, 900
LATE_MS = 17.0
RUNS, HOVERED_MS = 5, 10_000
HOVER = """(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const boxes = [...document.querySelectorAll('[data-node]')].map((node) => [node, node.getBoundingClientRect()]);
    const tooltip = document.querySelector('.tooltip');
    const times = [await frame()];
    let shown = 0;
    while (times.at(-1) < times[0] + %d) {
        const [node, box] = boxes[Math.floor(times.length / 8) %% boxes.length];
        const share = (times.length %% 8) / 8;
        const at = { clientX: box.left + box.width * share, clientY: box.top + box.height * 0.75 };
        node.dispatchEvent(new PointerEvent('pointermove', { ...at, bubbles: true }));
        shown += !tooltip.hidden;
        times.push(await frame());
    }
    return [times.slice(1).map((at_ms, place) => at_ms - times[place]), shown];
})()"""
ALONE = """(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const times = [await frame()];
    while (times.at(-1) < times[0] + %d) times.push(await frame());
    return times.slice(1).map((at_ms, place) => at_ms - times[place]);
})()"""
PAINTED_MS = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def row(run: str, painted_s: float | None, intervals: Sequence[float]) -> str:
    """A row of the table. intervals: from each frame to the next [ms]."""
    cuts = quantiles(intervals, n=100)
    within = 100 * sum(each < LATE_MS for each in intervals) / len(intervals)
    painted = "" if painted_s is None else f"{painted_s:.2f}"
    return f"| {run} | {painted} | {len(intervals)} | {within:.1f} | {cuts[49]:.1f} | {cuts[98]:.1f} |"


def measured(chromium: Browser, url: str, switches: int) -> tuple[float, list[float]]:
    """First paint [s], and the frames under the pointer."""
    page = chromium.page(WIDTH, HEIGHT)
    page.go(url)
    page.wait(f"document.querySelector('#status').textContent.includes({json.dumps(f'{switches} of {switches}')})")
    painted_ms = page.wait(PAINTED_MS)
    intervals, shown = page.evaluate(HOVER % HOVERED_MS)
    assert shown > 0.9 * len(intervals), "the pointer was beside the drawing"
    page.close()
    return painted_ms / 1000, intervals


def main(intent: Path) -> None:
    plan = PagePlan(design(intent))
    print(f"{plan.document()['title']}, every port changes each second")
    print("| run | first paint [s] | frames | within 17 ms [%] | median [ms] | 99th percentile [ms] |")
    print("|---|---|---|---|---|---|")
    beside = Surroundings(state=Path("/nonexistent"), jobs={})
    source = BusyFabric(plan, is_busy=True)
    with page_server(plan, source, page_listener("127.0.0.1", 0), beside) as server, browser() as chromium:
        for run in range(1, RUNS + 1):
            empty = chromium.page(WIDTH, HEIGHT)
            print(row("an empty page", None, empty.evaluate(ALONE % HOVERED_MS)), flush=True)
            empty.close()
            print(row(str(run), *measured(chromium, server.url.partition("#")[0], len(plan.switches))), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else INTENT)

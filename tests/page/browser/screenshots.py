"""Pictures of the page for the docs, of a twin with a job and a fault. Needs Debian's Chromium.

python -m tests.page.browser.screenshots docs
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from tests.page.browser.chromium import Browser, Page, browser
from tests.twin.twins import made_job, until

from railfab.app.page import PageOptions, page
from railfab.endpoints import STATE_DIR
from railfab.fabric import design
from railfab.page.settings import PageAddress
from railfab.topology import PortKey
from railfab.twin import Twin

WIDTH, HEIGHT = 1280, 860
REPOSITORY = Path(__file__).parents[3]
INTENT = Path("inventory", "fabrics", "pod64.yml")
PORT = ("pod1-seg1-leaf1", "ethernet-1/1/1")
SLOW_HOST, RECEIVES_GBPS = "pod1-seg1-host1", 40.0
INCAST = made_job(
    phases=[{"compute": {"ms": 5}}, {"traffic": {"pattern": "incast", "senders": 31, "receivers": 1, "bytes": "1.5MB"}}]
)
CHARTS_S = 45.0
"""Time until the charts have a past."""


def screenshots(chromium: Browser, url: str, port: PortKey, folder: Path) -> Iterator[Path]:
    """Write the drawing with the panel of a port in both themes, and the doctor; the names of the files."""
    tab = chromium.page(WIDTH, HEIGHT)
    for theme in ("dark", "light"):
        tab.prefer(theme)
        tab.go(f"{url}#/fabric/port/{port[0]}/{quote(port[1], safe='')}")
        tab.wait("document.querySelectorAll('.chart[data-metric=queue_bytes] canvas').length === 1", 60.0)
        tab.wait("!!document.querySelector('.details ul') && document.querySelectorAll('.banner').length === 0", 60.0)
        tab.click_on("[name=metric][value=queue] + span")
        yield _taken(tab, folder / f"page-{theme}.png", theme)
    tab.go(f"{url}#/doctor")
    tab.wait("document.querySelector('.view-head [role=status]')?.textContent.startsWith('As of')", 180.0)
    yield _taken(tab, folder / "page-doctor.png", "light")
    tab.close()


def _taken(tab: Page, path: Path, theme: str) -> Path:
    tab.wait(f"document.documentElement.dataset.theme === {json.dumps(theme)}")
    tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    path.write_bytes(tab.png())
    return path


def main() -> None:
    folder = Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory() as elsewhere:
        os.chdir(elsewhere)  # the commands that the page shows name what is typed in the repository
        INTENT.parent.mkdir(parents=True)
        shutil.copy(REPOSITORY / INTENT, INTENT)
        fabric, state = design(INTENT), STATE_DIR
        options = PageOptions(on="twin", state=state, address=PageAddress(port=0))
        with (
            Twin(fabric, state=state, base_port=0, configured=True, job=INCAST) as twin,
            page(fabric, options) as server,
            browser() as chromium,
        ):
            until(lambda: twin.status().sessions_up == twin.status().sessions)
            twin.set_host_rate(SLOW_HOST, RECEIVES_GBPS)
            begin_s = twin.status().simulated_s
            until(lambda: twin.status().simulated_s > begin_s + CHARTS_S, within_s=600.0)
            for path in screenshots(chromium, server.url.partition("#")[0], PORT, folder):
                print(path)  # noqa: T201 - a command


if __name__ == "__main__":
    main()

"""The live page of a real twin in a real browser: what it shows, how it is operated, and what it says on bad days."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BytesIO
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from PIL import Image
from tests.page.browser.chromium import Browser, Page, browser
from tests.page.browser.colours import cielab
from tests.page.browser.contrast import violations
from tests.page.browser.screenshots import HEIGHT, WIDTH, screenshots
from tests.page.live_page import INCAST
from tests.sampled import sampled
from tests.twin.qos_twin import LEAF, RECEIVER_PORT, small

from railfab.app.page import PageOptions, page
from railfab.fabric import Design
from railfab.page.settings import PageAddress
from railfab.twin import Twin

pytestmark = pytest.mark.browser

DOCS = Path(__file__).parents[3] / "docs"
OTHER_LEAF = "pod1-seg2-leaf1"
ROUTE = f"#/fabric/port/{LEAF}/{RECEIVER_PORT.replace('/', '%2F')}"
ALL_KNOWN = "document.querySelector('#status').textContent.includes('Switches4 of 4')"
PICTURE = "document.querySelector('.stage canvas').toDataURL()"


@dataclass
class ServedTwin:
    """A twin whose page can be stopped, and started again at its address."""

    design: Design
    state: Path
    twin: Twin
    url: str = ""
    token: str = ""
    _served: ExitStack = field(default_factory=ExitStack)

    def start(self) -> None:
        port = int(self.url.rpartition(":")[2].strip("/")) if self.url else 0
        options = PageOptions(on="twin", state=self.state, address=PageAddress(port=port), interval_s=0.5)
        server = self._served.enter_context(page(self.design, options))
        self.url, _, self.token = server.url.partition("#token=")

    def stop(self) -> None:
        self._served.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedTwin]:
    state = tmp_path_factory.mktemp("state")
    design = small(state)
    with Twin(design, state=state, base_port=0, configured=True, job=INCAST) as twin:
        running = ServedTwin(design, state, twin)
        running.start()
        yield running
        running.stop()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def opened(chromium: Browser, served: ServedTwin) -> Page:
    """The page in a tab that all tests share, with the token."""
    tab = chromium.page(1280, 900)
    tab.prefer("dark")
    tab.go(f"{served.url}#token={served.token}")
    tab.wait(ALL_KNOWN)
    return tab


@pytest.fixture
def tab(opened: Page) -> Iterator[Page]:
    """The tab at the drawing; at the end of a test it has reported no error, and nothing that its policy refused."""
    opened.evaluate("location.hash = '#/fabric'")
    opened.wait("!!document.querySelector('.nodes') && document.querySelector('.side').hidden")
    yield opened
    assert opened.problems() == []


def text(tab: Page, selector: str) -> str:
    return tab.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")


def banner(tab: Page, name: str, within_s: float = 60.0) -> str:
    """What a banner says; waits for it."""
    return tab.wait(f"document.querySelector('[data-id={name}]')?.innerText", within_s)


def focused(tab: Page) -> str:
    """The node that has the focus, or the text of the element."""
    return tab.evaluate("document.activeElement.dataset.node ?? document.activeElement.textContent.trim()")


def box_of(tab: Page, node: str) -> dict[str, float]:
    """Where a node is drawn in the window."""
    return tab.evaluate(f"document.querySelector('[data-node=\"{node}\"]').getBoundingClientRect().toJSON()")


def test_every_switch_and_host_is_drawn_and_named_for_screen_readers(tab: Page, served: ServedTwin) -> None:
    nodes = tab.evaluate("[...document.querySelectorAll('[role=gridcell]')].map((cell) => cell.dataset.node)")
    assert sorted(nodes) == sorted(node.name for node in served.design.topology.nodes)
    assert text(tab, "#fabric-name") == "small"
    assert tab.evaluate("document.querySelectorAll('[data-id=silent], [data-id=gone], [data-id=no-data]').length") == 0
    assert tab.evaluate("location.href + document.documentElement.outerHTML").count(served.token) == 0
    tab.wait(f"document.querySelector('.hottest').innerText.includes('{LEAF} {RECEIVER_PORT}')")


def test_the_keyboard_reaches_everything(tab: Page, served: ServedTwin) -> None:
    tab.evaluate("document.activeElement.blur()")
    tab.press("Tab")
    assert focused(tab) == "Skip to the content"
    switches = {node.name for node in served.design.topology.switches()}
    names = [""]
    while names[-1] not in switches:
        assert len(names) < 20, names
        tab.press("Tab")
        names.append(focused(tab))
    assert {"Fabric", "Job", "Events", "Try it"} <= set(names)
    assert names[-1] == "pod1-spine1"
    tab.press("ArrowRight", "ArrowDown")
    assert focused(tab) == OTHER_LEAF
    tab.press("Home")
    assert focused(tab) == LEAF
    assert "10 ports: " in tab.evaluate("document.activeElement.getAttribute('aria-label')")
    tab.press("Enter")
    tab.wait("location.hash.includes('/switch/') && document.activeElement.tagName === 'H2'")
    tab.press("Tab", "Tab", "Tab")  # past the button that closes the panel, and the list of ports, which scrolls
    assert focused(tab) == RECEIVER_PORT
    tab.press("Enter")
    tab.wait(f"location.hash === {json.dumps(ROUTE)} && document.activeElement.tagName === 'H2'")
    tab.press("Escape")
    tab.wait(f"document.activeElement.dataset.node === '{LEAF}'")
    assert tab.evaluate("location.hash") == "#/fabric"


def test_hovering_names_a_port_and_a_click_opens_its_series_with_thresholds(tab: Page) -> None:
    box = box_of(tab, LEAF)
    x, y = box["x"] + 10, box["y"] + box["height"] - 8
    tab.move(x, y)
    name, _, peer = text(tab, ".tooltip").partition("\n")
    assert name.startswith(f"{LEAF} ethernet-1/")
    assert "to pod1-seg1-host" in peer
    tab.click(x, y)
    tab.wait("document.querySelectorAll('.chart[data-metric=queue_bytes] canvas').length === 1")
    assert text(tab, ".panel h2") == name
    metrics = tab.evaluate("[...document.querySelectorAll('.panel > .chart')].map((chart) => chart.dataset.metric)")
    assert metrics == ["transmit_gbps", "queue_bytes", "ecn_share", "pause_frames_per_s", "drops_per_s"]
    words = tab.evaluate("document.querySelector('.chart[data-metric=queue_bytes] .plot').getAttribute('aria-label')")
    assert all(limit in words for limit in ("Kmin ", "Kmax ", "xoff "))
    details = tab.wait("(text => text.includes('Both ends') && text)(document.querySelector('.details').innerText)")
    assert "Configuration" in details
    assert peer.partition("to ")[2].partition(" ·")[0] in details


def test_charts_change_to_the_colours_of_another_theme_at_once(tab: Page) -> None:
    tab.evaluate(f"location.hash = {json.dumps(ROUTE)}")
    tab.wait("!!(window.painted = document.querySelector('.chart[data-metric=queue_bytes] canvas'))")
    tab.evaluate("window.asks = window.fetch, window.fetch = () => new Promise(() => {}), 0")  # no answer from now on
    try:
        tab.prefer("light")
        tab.wait("document.querySelector('.chart[data-metric=queue_bytes] canvas') !== window.painted")
    finally:
        tab.prefer("dark")
        tab.evaluate("window.fetch = window.asks, 0")


def test_a_host_and_a_rail_have_details_too(tab: Page) -> None:
    tab.evaluate("location.hash = '#/fabric/host/pod1-seg1-host1'")
    tab.wait("document.querySelectorAll('.details .chart').length === 2")
    tab.evaluate("location.hash = '#/fabric/rail/1'")
    tab.wait("document.querySelector('.panel h2').innerText === 'Rail 1'")
    tab.wait("document.querySelectorAll('.chart[data-metric=rail_gbps] canvas').length === 1")


def test_a_job_is_shown_with_its_last_steps(tab: Page) -> None:
    tab.evaluate("location.hash = '#/job'")
    tab.wait("document.querySelectorAll('.step').length > 1")
    assert "made" in text(tab, ".facts")
    assert re.search(r"compute .*, exposed communication .*, waiting, beyond ideal ", text(tab, ".step .hidden"))
    tab.evaluate("location.hash = '#/events'")
    tab.wait("document.querySelector('.events').innerText.includes('job made runs')")


def test_a_diagnosis_that_could_not_be_repeated_says_so(tab: Page) -> None:
    """The answer of the server is the test's, as a failure of a later round needs a minute."""
    seen = {
        **{"at_s": 1.8e9, "window_s": 20, "healthy": False, "causes": [], "symptoms": [], "unexplained": []},
        **{"unread": [f"{LEAF}: no sample of it arrived"], "switches": 4, "read": 4, "sampled": 3},
        "problem": "http://prometheus:9090: cannot be reached. Check that it runs.",
    }
    answer = f"new Response({json.dumps(json.dumps(seen))}, {{ headers: {{ 'Content-Type': 'application/json' }} }})"
    tab.evaluate(
        "window.asks = window.fetch, window.fetch = (url, ...more) => "
        f"String(url).includes('doctor') ? Promise.resolve({answer}) : window.asks(url, ...more), 0"
    )
    try:
        tab.evaluate("location.hash = '#/doctor'")
        tab.wait("document.querySelector('.causes')?.innerText.includes('Later diagnoses failed')")
        shown = text(tab, ".causes")
        assert "http://prometheus:9090: cannot be reached." in shown
        assert "4 of 4 switches, and the telemetry of 3" in shown
        assert shown.count(LEAF) == 1
    finally:
        tab.evaluate("window.fetch = window.asks, 0")


def test_the_colours_follow_the_metric(tab: Page) -> None:
    before = tab.evaluate(PICTURE)
    tab.click_on("[name=metric][value=state] + span")
    tab.wait("document.querySelector('.legend').innerText.includes('session down')")
    tab.wait(f"{PICTURE} !== {json.dumps(before)}")
    tab.click_on("[name=metric][value=utilisation] + span")


def test_a_cut_cable_is_seen_and_its_command_named(tab: Page) -> None:
    tab.evaluate("location.hash = '#/try'")
    tab.wait("!!document.querySelector('form[data-kind=cable]')")
    form = "document.querySelector('form[data-kind=cable]')"
    assert tab.evaluate(f"{form}.querySelector('[name=node]').value") == LEAF
    port = tab.evaluate(f"{form}.querySelector('[name=interface]').value")
    try:
        tab.click_on("form[data-kind=cable] button")
        command = tab.wait("document.querySelector('.result .command')?.innerText")
        assert f"railfab twin link {LEAF} {port} down" in command
        tab.evaluate(f"location.hash = '#/fabric/port/{LEAF}/' + encodeURIComponent('{port}')")
        tab.wait("document.querySelector('.values')?.dataset.state === 'down'", 60.0)
    finally:
        tab.evaluate("location.hash = '#/try'")
        tab.wait("!!document.querySelector('form[data-kind=cable]')")
        tab.evaluate(f"{form}.querySelector('[name=up]').value = 'up'")
        tab.click_on("form[data-kind=cable] button")
        tab.wait(f"document.querySelector('.result .command').innerText.includes('{port} up')")


CASES = [
    (scheme, width, route)
    for scheme in ("dark", "light")
    for width in (1280, 360)
    for route in ("#/fabric", ROUTE, f"#/fabric/switch/{LEAF}", "#/job", "#/events", "#/try")
]


@pytest.mark.parametrize(
    ("scheme", "width", "route"), sampled(CASES, few=(("dark", 1280, ROUTE), ("light", 360, "#/try")))
)
def test_nothing_violates_the_rules_of_accessibility(tab: Page, scheme: str, width: int, route: str) -> None:
    tab.prefer(scheme)
    tab.resize(width, 900)
    try:
        tab.evaluate(f"location.hash = {json.dumps(route)}")
        tab.wait(f"document.documentElement.dataset.theme === '{scheme}' && !!document.querySelector('h1')")
        if "/port/" in route or "/switch/" in route:
            tab.wait("!!document.querySelector('.details ul')")
        assert violations(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    finally:
        tab.prefer("dark")
        tab.resize(1280, 900)


RAMPS = """(async () => {
    const { Palette } = await import('/assets/palette.js');
    const { METRICS } = await import('/assets/codes.js');
    const luminance = (colour) => {
        const parts = colour.startsWith('#') ? [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
            : colour.match(/\\d+/g).map(Number);
        const [r, g, b] = parts.map((part) => part / 255).map((part) => part <= 0.04045 ? part / 12.92
            : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    return Object.fromEntries(['dark', 'light'].map((theme) => [theme, [0, 1, 2, 3].map((place) => {
        const table = new Palette(theme).table(METRICS[place]);
        return table.slice(0, METRICS[place].top + 1).map(luminance);
    })]));
})()"""


def test_ramps_change_in_lightness_alone_so_that_everyone_can_order_them(tab: Page) -> None:
    ramps = tab.evaluate(RAMPS)
    for theme, rising in (("dark", 1), ("light", -1)):
        for table in ramps[theme]:
            steps = [rising * (after - before) for before, after in pairwise(table)]
            assert min(steps) >= -0.004, theme
            assert max(table) - min(table) > 0.5


STATE_COLOURS = """(async () => {
    const { Palette } = await import('/assets/palette.js');
    const { ink, ...states } = new Palette('%s').states;
    return states;
})()"""
DEFICIENCIES = ("protanopia", "deuteranopia", "tritanopia")
DISTINCT = 10.0
"""CIE 1976 colour difference; two colours side by side are told apart from about 2.3 on."""


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_states_differ_in_colour_to_a_colour_blind_eye(chromium: Browser, tab: Page, theme: str) -> None:
    """As Chromium itself simulates the eye. Without any colour they differ in shape."""
    states = tab.evaluate(STATE_COLOURS % theme)
    sheet = chromium.page(40 * len(states), 40)
    boxes = [
        f'<div style="position:fixed;left:{40 * place}px;top:0;width:40px;height:40px;background:{colour}"></div>'
        for place, colour in enumerate(states.values())
    ]
    sheet.evaluate(f"document.body.innerHTML = {json.dumps(''.join(boxes))}")
    for deficiency in DEFICIENCIES:
        sheet.call("Emulation.setEmulatedVisionDeficiency", type=deficiency)
        picture = Image.open(BytesIO(sheet.png())).convert("RGB")
        seen = {name: cielab(picture.getpixel((40 * place + 20, 20))) for place, name in enumerate(states)}
        apart = {(near, far): math.dist(seen[near], seen[far]) for near, far in combinations(states, 2)}
        assert min(apart.values()) >= DISTINCT, (deficiency, apart)
    sheet.close()


def test_a_queue_at_the_end_of_its_scale_is_not_said_to_be_known(tab: Page) -> None:
    """What is sent of a queue ends at xoff; the series have its bytes."""
    words = tab.evaluate("""(async () => {
        const { metricOf } = await import('/assets/codes.js');
        const fabric = { boundsOf: () => ({ kmin_bytes: 100e3, kmax_bytes: 200e3, xoff_bytes: 500e3 }) };
        return [80, 81, 160, 161, 250].map((code) => metricOf('queue').text(code, {}, fabric));
    })()""")
    assert [each.partition(", ")[2] for each in words] == ["", "above Kmin", "above Kmin", "above Kmax", "at xoff"]
    assert words[-1] == "500 kB or more, at xoff"


LABELS = """{
    window.labels = {};
    const draw = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const name = text.split(' ')[0];
        if (['Kmin', 'Kmax', 'xoff'].includes(name)) labels[name] = [x - this.measureText(text).width, x, y];
        draw.apply(this, arguments);
    };
    const series = %s, ask = window.fetch;
    window.fetch = (url, ...more) => String(url).includes('metric=queue_bytes')
        ? Promise.resolve(new Response(series, { headers: { 'Content-Type': 'application/json' } }))
        : ask(url, ...more);
}"""
LABEL_PX = 10


def test_the_names_of_thresholds_do_not_cover_each_other(chromium: Browser, served: ServedTwin) -> None:
    names = {"kmin": 150e3, "kmax": 450e3, "xoff": 585e3}
    deep = {
        **{"unit": "bytes", "columns": [[time.time() - 60, time.time() - 1], [0, 6.3e6]], "labels": ["queue"]},
        "thresholds": [{"name": name, "value": value} for name, value in names.items()],
    }
    view = chromium.page()
    view.call("Page.addScriptToEvaluateOnNewDocument", source=LABELS % json.dumps(json.dumps(deep)))
    view.go(f"{served.url}{ROUTE}")
    labels = view.wait("Object.keys(labels).length === 3 && labels", 60.0)
    for (left, right, y), (other_left, other_right, other_y) in combinations(labels.values(), 2):
        assert abs(y - other_y) >= LABEL_PX or right < other_left or other_right < left, labels
    view.close()


def test_pictures_for_the_docs_show_the_fabric_and_the_doctor(
    chromium: Browser, served: ServedTwin, tmp_path: Path
) -> None:
    taken = list(screenshots(chromium, served.url, (LEAF, RECEIVER_PORT), tmp_path))
    assert [path.name for path in taken] == ["page-dark.png", "page-light.png", "page-doctor.png"]
    for path in taken:
        with Image.open(path) as shown, Image.open(DOCS / path.name) as kept:
            assert shown.size == kept.size == (WIDTH, HEIGHT)
            assert len(shown.convert("RGB").getcolors(1 << 24) or ()) > 50


UNKNOWN_CELLS = """(async () => {
    const { Palette } = await import('/assets/palette.js');
    const none = new Palette('dark').states.none;
    const box = document.querySelector('[data-node="%s"]');
    const [left, top, width, height] = ['left', 'top', 'width', 'height'].map((name) => parseFloat(box.style[name]));
    const canvas = document.querySelector('.stage canvas');
    const data = canvas.getContext('2d').getImageData(left, top, width, height).data;
    const colours = new Set();
    for (let place = 0; place < data.length; place += 4) colours.add([...data.slice(place, place + 3)].join());
    const vivid = [...colours].filter((colour) => {
        const parts = colour.split(',').map(Number);
        return Math.max(...parts) - Math.min(...parts) > 40;
    });
    const grey = [1, 3, 5].map((at) => parseInt(none.slice(at, at + 2), 16)).join();
    return { isGrey: colours.has(grey), vivid };
})()"""


def test_a_silent_switch_is_grey_and_unknown(tab: Page, served: ServedTwin) -> None:
    served.twin.stop_switch(OTHER_LEAF)
    try:
        assert banner(tab, "silent").startswith(f"1 of 4 switches is silent: {OTHER_LEAF}.")
        tab.move(5, 300)
        tab.wait(f"({UNKNOWN_CELLS % OTHER_LEAF}).then((seen) => seen.isGrey && seen.vivid.length === 0)")
        tab.evaluate(f"location.hash = {json.dumps(ROUTE.replace(LEAF, OTHER_LEAF))}")
        tab.wait("document.querySelector('.values')?.innerText.includes('stale')")
        assert "%" not in text(tab, ".values")
        assert "Switches 3 of 4" in text(tab, "#status").replace("\n", " ")
    finally:
        served.twin.start_switch(OTHER_LEAF)
    tab.wait("!document.querySelector('[data-id=silent]')", 60.0)


CLOCKS = """{
    const [date, steady] = [Date.now, performance.now.bind(performance)];
    window.slept_ms = 0;
    Date.now = () => date() + 3_600_000;
    performance.now = () => steady() + slept_ms;
}"""


def test_a_page_without_a_token_whose_clock_differs_and_that_slept(chromium: Browser, served: ServedTwin) -> None:
    view = chromium.page()
    view.call("Page.addScriptToEvaluateOnNewDocument", source=CLOCKS)
    view.go(f"{served.url}#/try")
    view.wait(ALL_KNOWN)
    assert "Try it" not in text(view, "#tabs")
    assert not view.evaluate("!!document.querySelector('form')")
    assert banner(view, "skew").startswith("The clock of this browser is 60 min ahead of the server's.")
    view.evaluate("slept_ms = 600_000")
    assert banner(view, "slept").startswith("This page slept for 10 min.")
    view.wait("document.querySelector('#status').textContent.includes('Datanow')")
    view.click_on("[data-id=slept] button")
    view.wait("!document.querySelector('[data-id=slept]')")
    assert view.problems() == []
    view.close()


def test_a_server_that_has_gone_is_named_and_found_again(opened: Page, served: ServedTwin) -> None:
    opened.evaluate("location.hash = '#/fabric'")
    served.stop()
    assert banner(opened, "gone").startswith("The server has gone; its last values are ")
    opened.wait("document.querySelector('[data-id=gone]').innerText.includes('All ports are shown as unknown.')")
    opened.wait("!document.querySelector('.heat tbody').innerText.includes('%')")
    served.start()
    opened.wait(f"{ALL_KNOWN} && !document.querySelector('[data-id=gone]')", 60.0)

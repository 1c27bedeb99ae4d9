/** Details of a port, switch, rail or host: values now, series, neighbours, configuration, findings, and why. */

import { get, Refused } from "./api.js";
import { Chart } from "./chart.js";
import { command, fill, h, icon, ICONS, setText } from "./dom.js";
import { Ends, PortStrip } from "./panel_ports.js";
import { readingsOf, stateName } from "./readings.js";
import { route } from "./router.js";

const REFRESH_MS = 3_000;
const MOST_CHARTS = 16;
const SPANS = [
  [300, "5 min"],
  [1800, "30 min"],
];
const CHARTS = {
  port: [
    { title: "Traffic", metrics: ["transmit_gbps", "receive_gbps"], names: ["sent", "received"] },
    { title: "Queue", metrics: ["queue_bytes"] },
    { title: "ECN marks", metrics: ["ecn_share"] },
    { title: "Pause frames", metrics: ["pause_frames_per_s"] },
    { title: "Drops", metrics: ["drops_per_s"] },
  ],
  switch: [
    { title: "Sent by all ports", metrics: ["sent_gbps"] },
    { title: "BGP sessions up", metrics: ["sessions_up"] },
  ],
  rail: [{ title: "Traffic to hosts", metrics: ["rail_gbps"] }],
  host: [],
};
const KIND_NAMES = { port: "Port", switch: "Switch", rail: "Rail", host: "Host" };

export class Panel {
  #closed = false;

  constructor(page, kind, parts, metricOf) {
    const { fabric, live, theme } = page;
    Object.assign(this, { page, fabric, live, theme, kind, metricOf, parts });
    this.port = kind === "port" ? fabric.portNumber(...parts) : null;
    this.node = parts[0];
    this.span_s = SPANS[0][0];
    this.numbers = kind === "port" ? [] : fabric.portsOf(kind, parts[0]);
    this.strip = kind === "port" ? null : new PortStrip(live, theme, kind, parts[0], this.numbers);
    this.charts = CHARTS[kind].map((spec) => new Chart({ ...spec, place: this.#place(), theme, sync: "panel" }));
    this.body = h("div", { class: "details" }, h("p", { class: "empty" }, "Reading the details."));
    this.values = h("dl", { class: "values" });
    this.title = h("h2", { tabindex: "-1" }, this.#name());
    this.element = this.#element();
    this.update();
    this.#read();
    this.#refresh();
    this.timer = setInterval(() => this.#refresh(), REFRESH_MS);
  }

  #name() {
    return this.kind === "rail" ? `Rail ${this.parts[0]}` : this.parts.join(" ");
  }

  #place() {
    if (this.kind === "rail") return { rail: this.parts[0] };
    return { switch: this.parts[0], interface: this.parts[1] ?? null };
  }

  #element() {
    const close = h(
      "a",
      { class: "icon-button", href: route("fabric"), "aria-label": "Close the details" },
      icon(ICONS.close),
    );
    const spans = SPANS.map(([span, text]) =>
      h(
        "label",
        {},
        h("input", { type: "radio", name: "span", checked: span === this.span_s, onchange: () => this.#use(span) }),
        h("span", {}, text),
      ),
    );
    return h(
      "div",
      { class: "panel", onkeydown: (event) => event.key === "Escape" && (location.hash = route("fabric")) },
      h(
        "div",
        { class: "panel-head" },
        h("div", {}, h("p", { class: "kind" }, KIND_NAMES[this.kind]), this.title),
        close,
      ),
      this.values,
      this.strip?.element,
      this.charts.length > 0 &&
        h("fieldset", { class: "segmented small" }, h("legend", { class: "hidden" }, "Time shown"), spans),
      this.charts.map((chart) => chart.element),
      this.body,
    );
  }

  focus() {
    this.title.focus({ preventScroll: true });
  }

  #use(span_s) {
    this.span_s = span_s;
    this.#refresh();
  }

  /** Shows the values of the last frame. */
  update() {
    if (this.port !== null && this.port >= 0) {
      const pairs = readingsOf(this.live, this.port);
      if (this.values.childElementCount === 0) {
        fill(
          this.values,
          pairs.map(([name]) => h("div", {}, h("dt", {}, name), h("dd", {}))),
        );
      }
      pairs.forEach(([, text], place) => setText(this.values.children[place].lastChild, text));
      this.values.dataset.state = stateName(this.live, this.port);
    }
    this.strip?.update(this.metricOf());
  }

  #refresh() {
    if (this.live.hasFrame && !this.live.isCurrent) return;
    const now_s = this.live.clock.now_s();
    for (const chart of this.charts) chart.load(now_s - this.span_s, now_s);
  }

  async #read() {
    try {
      const details = await get([this.kind, ...this.parts].map(encodeURIComponent).join("/"));
      if (!this.#closed) fill(this.body, this.#sections(details));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      fill(this.body, h("p", { class: "empty" }, error.message));
    }
  }

  #sections(details) {
    const hosts = this.kind === "host" ? details.metrics.slice(0, MOST_CHARTS) : [];
    this.charts.push(...hosts.map((spec) => this.#chartOf(spec)));
    if (hosts.length) this.#refresh();
    return [
      section(
        "Why",
        (details.why ?? []).map((text) => h("li", {}, text)),
      ),
      section("Findings of the design", details.findings.map(finding)),
      details.facts.length > 0 &&
        h(
          "dl",
          { class: "values" },
          details.facts.map(({ name, value }) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
        ),
      this.kind === "port" && new Ends(this.fabric, details.neighbours).element,
      section(
        "Configuration",
        details.words.map((text) => h("li", {}, text)),
      ),
      hosts.length > 0 &&
        h(
          "section",
          {},
          h("h3", {}, "Traffic of its NICs"),
          this.charts.map((chart) => chart.element),
        ),
      section(
        "Commands",
        details.commands.map((text) => h("li", {}, command(text))),
      ),
    ];
  }

  #chartOf({ title, query }) {
    const { metric, ...place } = Object.fromEntries(new URLSearchParams(query));
    return new Chart({ title, metrics: [metric], place, theme: this.theme, sync: "panel" });
  }

  close() {
    this.#closed = true;
    clearInterval(this.timer);
    for (const chart of this.charts) chart.close();
  }
}

function section(name, items) {
  return items.length > 0 && h("section", {}, h("h3", {}, name), h("ul", {}, items));
}

function finding({ severity, code, problem, remedy }) {
  return h(
    "li",
    { class: `finding ${severity}` },
    h("b", {}, severity),
    " ",
    h("code", {}, code),
    ` ${problem}. ${remedy}.`,
  );
}

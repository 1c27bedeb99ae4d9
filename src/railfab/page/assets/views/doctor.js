/** The doctor: ranked causes with their evidence, what nothing explains, and the next command. */

import { get, Refused } from "../api.js";
import { command, fill, h } from "../dom.js";
import { percent, seconds, time } from "../format.js";
import { routeOfNode, routeOfPort } from "../router.js";
import { runbook } from "./events.js";

const REFRESH_MS = 5_000;
const MOST_PLACES = 12;
const MOST_EVIDENCE = 8;

export default class DoctorView {
  #timer = null;

  constructor(page) {
    this.page = page;
    this.when = h("p", { class: "empty", role: "status" });
    this.body = h("div", { class: "causes" });
    this.element = h(
      "div",
      { class: "page-view narrow" },
      h("div", { class: "view-head" }, h("h1", {}, "Doctor"), this.when),
      this.body,
    );
  }

  open() {
    this.#timer ??= setInterval(() => this.page.live.isCurrent && this.#ask(), REFRESH_MS);
    this.#ask();
  }

  close() {
    clearInterval(this.#timer);
    this.#timer = null;
  }

  async #ask() {
    try {
      this.#show(await get("doctor"));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#show(null, error.message);
    }
  }

  #show(result, problem) {
    const text = JSON.stringify([result, problem]);
    if (text === this.shown) return;
    this.shown = text;
    this.when.textContent = result ? `As of ${time(result.at_s)}, from the last ${seconds(result.window_s)}` : "";
    fill(this.body, result ? this.#sections(result) : h("p", { class: "card empty" }, problem));
  }

  #sections(result) {
    const { causes, unexplained, problem, unread } = result;
    return [
      problem && h("p", { class: "card empty" }, `Later diagnoses failed; this is the one of ${time(result.at_s)}. ${problem}`),
      causes.length === 0 && verdict(result),
      causes.map((cause) => this.#cause(cause)),
      listCard(
        "Not explained by these causes",
        unexplained.map((symptom) => this.#symptom(symptom)),
      ),
      listCard("Could not be read", unread),
    ];
  }

  #symptom({ place, text, value, limit }) {
    const numbers = [value, limit && `limit ${limit}`].filter(Boolean).join(", ");
    return [this.#place(place), ` ${text}`, numbers && ` (${numbers})`];
  }

  #cause({ rank, title, places, confidence, evidence, explains, next, runbook: link }) {
    const bar = h("i");
    bar.style.width = `${Math.round(confidence * 100)}%`;
    const head = h(
      "header",
      {},
      h("span", { class: "rank" }, `${rank}`),
      h("h2", {}, title),
      h("span", { class: "confidence", title: "Confidence" }, h("span", {}, bar), percent(confidence)),
    );
    const named = places.slice(0, MOST_PLACES).map((place) => h("span", { class: "tag" }, this.#place(place)));
    const more = places.length - named.length;
    return h(
      "article",
      { class: "card cause" },
      head,
      named.length > 0 && h("p", { class: "places" }, named, more > 0 && `and ${more} more`),
      evidence.length > 0 && this.#evidence(title, evidence),
      explains.length > 0 && h("p", { class: "empty" }, `Explains ${symptomsInWords(explains)}.`),
      h("footer", {}, next && command(next), link && runbook(link)),
    );
  }

  #evidence(title, evidence) {
    const rows = evidence
      .slice(0, MOST_EVIDENCE)
      .map(({ kind, place, text, source }) =>
        h(
          "tr",
          {},
          h("td", {}, h("span", { class: "kind" }, kind)),
          h("td", {}, this.#place(place), ` ${text}`),
          h("td", {}, source && h("code", {}, source)),
        ),
      );
    const heads = ["Kind", "Evidence", "Source"].map((name) => h("th", { scope: "col" }, name));
    const table = h("table", { class: "evidence" }, h("thead", {}, h("tr", {}, heads)), h("tbody", {}, rows));
    const more = evidence.length - rows.length;
    return h(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": `Evidence for ${title}` },
      table,
      more > 0 && h("p", { class: "empty" }, `and ${more} more`),
    );
  }

  /** The name of a place, as a link where the drawing has it. */
  #place(place) {
    const { fabric } = this.page;
    const name = [place.switch, place.interface].filter(Boolean).join(" ") || place.host;
    const port = fabric.portOf(name);
    const href = port === -1 ? routeOfNode(fabric, place.switch || place.host) : routeOfPort(fabric, port);
    return href ? h("a", { href }, name) : name;
  }
}

/** What is said without a cause: that nothing is wrong only where everything could be read. */
function verdict({ healthy, switches, read, sampled }) {
  if (healthy) return h("p", { class: "card verdict" }, `Nothing found. All ${switches} switches were read.`);
  const known = `${read} of ${switches} switches, and the telemetry of ${sampled}`;
  const text =
    Math.min(read, sampled) < switches ? `No cause found in what could be read: ${known}.` : "No cause found.";
  return h("p", { class: "card verdict" }, text);
}

function listCard(name, items) {
  const list = h(
    "ul",
    { class: "plain-list" },
    items.map((item) => h("li", {}, item)),
  );
  return items.length > 0 && h("section", { class: "card" }, h("h2", {}, name), list);
}

/** Kinds of symptoms with their counts: 3 link-down, 1 bgp-down. */
function symptomsInWords(symptoms) {
  const counts = new Map();
  for (const { kind } of symptoms) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} × ${kind}`).join(", ");
}

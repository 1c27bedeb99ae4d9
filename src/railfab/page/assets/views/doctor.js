/** The doctor: ranked causes with their evidence, and the next command. */

import { get, Refused } from "../api.js";
import { command, fill, h } from "../dom.js";
import { number, percent, seconds, time, UNKNOWN } from "../format.js";
import { routeOfNode, routeOfPort } from "../router.js";
import { runbook } from "./events.js";

const REFRESH_MS = 10_000;

export default class DoctorView {
  #timer = null;

  constructor(page) {
    this.page = page;
    this.when = h("p", { class: "empty", role: "status" });
    this.again = h("button", { type: "button", class: "button plain", onclick: () => this.#ask() }, "Ask again");
    this.body = h("div", { class: "causes" });
    this.element = h(
      "div",
      { class: "page-view narrow" },
      h("div", { class: "view-head" }, h("h1", {}, "Doctor"), this.when, this.again),
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
    this.again.disabled = true;
    if (!this.body.hasChildNodes())
      fill(this.body, h("p", { class: "card empty" }, "Reading metrics, configurations and neighbours."));
    try {
      this.#show(await get("doctor"));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.when.textContent = "";
      fill(this.body, h("p", { class: "card empty" }, error.message));
      this.shown = null;
    }
    this.again.disabled = false;
  }

  #show(result) {
    this.when.textContent = `As of ${time(result.at_s)}, from the last ${seconds(result.window_s)}`;
    const { at_s, ...rest } = result;
    const text = JSON.stringify(rest);
    if (text === this.shown) return;
    this.shown = text;
    const { causes, unread = [], symptoms = [] } = result;
    fill(
      this.body,
      causes.length === 0 && this.#verdict(result),
      symptoms.length > 0 &&
        h(
          "section",
          { class: "card" },
          h("h2", {}, "Symptoms"),
          h(
            "ul",
            { class: "plain-list" },
            symptoms.map((symptom) => h("li", {}, symptom.text ?? symptom)),
          ),
        ),
      causes.map((cause) => this.#cause(cause)),
      unread.length > 0 &&
        h(
          "section",
          { class: "card" },
          h("h2", {}, "Could not be read"),
          h(
            "ul",
            { class: "plain-list" },
            unread.map((line) => h("li", {}, line)),
          ),
        ),
    );
  }

  /** Nothing found is said only of what could be read. */
  #verdict({ healthy, unread = [] }) {
    if (healthy && unread.length === 0)
      return h("p", { class: "card verdict" }, "Nothing found. All switches could be read.");
    return h(
      "p",
      { class: "card verdict unsure" },
      unread.length ? "Nothing found in what could be read." : "No cause is likely enough to be named.",
    );
  }

  #cause({ rank, title, where = [], confidence, evidence = [], next, runbook: link }) {
    const bar = h("i");
    bar.style.width = percent(confidence).replace(" ", "");
    return h(
      "article",
      { class: "card cause" },
      h(
        "header",
        {},
        h("span", { class: "rank" }, `${rank}`),
        h("h2", {}, title),
        h("span", { class: "confidence", title: "Confidence" }, h("span", {}, bar), percent(confidence)),
      ),
      where.length > 0 &&
        h(
          "p",
          { class: "places" },
          where.slice(0, 12).map((place) => h("span", { class: "tag" }, this.#place(place))),
          where.length > 12 && `and ${where.length - 12} more`,
        ),
      evidence.length > 0 &&
        h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": `Evidence for ${title}` },
          h(
            "table",
            { class: "evidence" },
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                ["Evidence", "Value", "Limit", "Source"].map((name) =>
                  h("th", { scope: "col", class: ["Value", "Limit"].includes(name) ? "number" : null }, name),
                ),
              ),
            ),
            h("tbody", {}, evidence.map(evidenceRow)),
          ),
        ),
      h("footer", {}, next && command(next), link && runbook(link)),
    );
  }

  #place(place) {
    const { fabric } = this.page;
    if (typeof place === "string") return place;
    const name =
      [place.switch ?? place.host, place.interface].filter(Boolean).join(" ") ||
      Object.values(place).filter(Boolean).join(" ");
    const port = fabric.portOf(name);
    const href = port === -1 ? routeOfNode(fabric, place.switch ?? place.host) : routeOfPort(fabric, port);
    return href ? h("a", { href }, name) : name;
  }
}

function evidenceRow({ kind, text, where, value, limit, source }) {
  const place = typeof where === "string" ? where : where ? Object.values(where).filter(Boolean).join(" ") : "";
  const shown = (held) =>
    held === null || held === undefined ? UNKNOWN : typeof held === "number" ? number(held) : `${held}`;
  return h(
    "tr",
    {},
    h("td", {}, h("span", { class: "kind" }, kind), " ", text, place && h("div", { class: "empty" }, place)),
    h("td", { class: "number" }, shown(value)),
    h("td", { class: "number" }, shown(limit)),
    h("td", {}, source && h("code", {}, source)),
  );
}

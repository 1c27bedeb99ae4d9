/** What happened: deploys, faults, alerts and the rest, the newest first, with links to their times and runbooks. */

import { fill, h } from "../dom.js";
import { counted, time } from "../format.js";
import { routeOfNode, routeOfPort } from "../router.js";

const KINDS = ["deploy", "wave", "gate", "fault", "alert", "drift", "job", "connection"];
const NEAR_S = 30;
const SHOWN = 300;

export default class EventsView {
  #isOpen = false;
  #at_s = null;

  constructor(page) {
    this.page = page;
    this.hiddenKinds = new Set();
    this.text = "";
    this.kinds = h("fieldset", { class: "chips" }, h("legend", { class: "hidden" }, "Kinds shown"));
    this.search = h("input", {
      type: "search",
      class: "field",
      placeholder: "Filter by text",
      "aria-label": "Filter by text",
      oninput: ({ target }) => this.#filter(target.value),
    });
    this.count = h("p", { class: "empty", role: "status" });
    this.rows = h("tbody");
    const head = ["Time", "Kind", "Event", "Where", "Runbook"].map((name) => h("th", { scope: "col" }, name));
    this.table = h("table", { class: "events" }, h("thead", {}, h("tr", {}, head)), this.rows);
    this.element = h(
      "div",
      { class: "page-view" },
      h("div", { class: "view-head" }, h("h1", {}, "Events"), this.kinds, this.search),
      h(
        "section",
        { class: "card" },
        this.count,
        h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "List of events" }, this.table),
      ),
    );
    page.live.addEventListener("log", () => this.#isOpen && this.#update());
  }

  open(_, { at }) {
    this.#isOpen = true;
    this.#at_s = at ? Number(at) : null;
    this.#update();
    this.rows.querySelector(".near")?.scrollIntoView({ block: "center" });
  }

  close() {
    this.#isOpen = false;
  }

  #filter(text) {
    this.text = text.toLowerCase();
    this.#update();
  }

  #update() {
    const { events } = this.page.live;
    this.#showKinds(events);
    const shown = events.filter((entry) => this.#isShown(entry));
    fill(
      this.rows,
      shown.slice(0, SHOWN).map((entry) => this.#row(entry)),
    );
    this.table.hidden = shown.length === 0;
    this.count.textContent = this.#sentence(events.length, shown.length);
  }

  #sentence(all, shown) {
    if (all === 0) return "Nothing has happened since the page of this fabric was started.";
    const some = shown < all ? `${shown} of ${counted(all, "event")}` : counted(all, "event");
    const near = this.#at_s === null ? "" : ` · those within ${NEAR_S} s of ${time(this.#at_s)} are marked`;
    return some + near;
  }

  #isShown({ kind, title, text, where }) {
    const words = [kind, title, text, ...where].join(" ").toLowerCase();
    return !this.hiddenKinds.has(kind) && words.includes(this.text);
  }

  /** A switch for each kind that there is. */
  #showKinds(events) {
    const present = [...new Set([...KINDS, ...events.map(({ kind }) => kind)])].filter((kind) =>
      events.some((entry) => entry.kind === kind),
    );
    if (present.join() === this.present) return;
    this.present = present.join();
    const options = present.map((kind) => {
      const toggle = ({ target }) => {
        this.hiddenKinds[target.checked ? "delete" : "add"](kind);
        this.#update();
      };
      return h(
        "label",
        {},
        h("input", { type: "checkbox", checked: !this.hiddenKinds.has(kind), onchange: toggle }),
        h("span", {}, kind),
      );
    });
    this.kinds.replaceChildren(this.kinds.firstChild, ...options);
  }

  #row({ at_s, kind, severity, title, text, where, link }) {
    const now_s = this.page.live.clock.now_s();
    const isNear = this.#at_s !== null && Math.abs(at_s - this.#at_s) <= NEAR_S;
    return h(
      "tr",
      { class: [severity, isNear && "near"].filter(Boolean).join(" ") },
      h("td", {}, h("a", { href: `#/events?at=${Math.round(at_s)}`, title: "Link to this time" }, time(at_s, now_s))),
      h("td", {}, h("span", { class: "kind" }, kind)),
      h(
        "td",
        {},
        h("strong", {}, severity !== "info" && h("span", { class: "severity" }, severity), title),
        text && h("p", {}, text),
      ),
      h(
        "td",
        { class: "where" },
        this.#places(where)
          .slice(0, 6)
          .map((name) => h("div", {}, this.#place(name))),
        where.length > 6 && `and ${where.length - 6} more`,
      ),
      h("td", {}, link && runbook(link)),
    );
  }

  /** Names, with a node and the port after it as one. */
  #places(names) {
    const { fabric } = this.page;
    const isPort = names.length === 2 && fabric.portOf(names.join(" ")) >= 0;
    return isPort ? [names.join(" ")] : names;
  }

  #place(name) {
    const { fabric } = this.page;
    const port = fabric.portOf(name);
    const href = port === -1 ? routeOfNode(fabric, name) : routeOfPort(fabric, port);
    return href ? h("a", { href }, name) : name;
  }
}

/** A link to a runbook: an address, or a file of the documentation. */
export function runbook(link) {
  if (/^(https?:\/\/|\/)/.test(link))
    return h("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, "Runbook");
  return h("code", {}, link);
}

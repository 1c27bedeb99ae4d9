/** The line on top: the fabric, where its values come from, how old they are, and who answers. */

import { fill, h, setText } from "./dom.js";
import { counted, number, seconds } from "./format.js";

const VIEWS = [
  ["fabric", "Fabric"],
  ["job", "Job"],
  ["events", "Events"],
  ["doctor", "Doctor"],
  ["try", "Try it"],
];

export class Header {
  constructor({ fabric, live, token }) {
    this.live = live;
    const { design } = fabric;
    setText(document.getElementById("fabric-name"), fabric.name);
    document.getElementById("fabric-name").title = design.title ?? "";
    setText(document.getElementById("source"), design.source);
    document.title = `${fabric.name} · railfab`;
    const offered = { doctor: design.has_doctor, try: design.has_actions && Boolean(token) };
    this.tabs = VIEWS.filter(([id]) => offered[id] ?? true).map(([id, name]) =>
      h("a", { href: `#/${id}`, data: { view: id } }, name),
    );
    fill(document.getElementById("tabs"), this.tabs);
    this.values = new Map();
    fill(
      document.getElementById("status"),
      ["Data", "Switches", "Sessions", "Pace"].map((name) => this.#value(name)),
    );
    this.update();
  }

  #value(name) {
    const value = h("dd", {}, "–");
    const held = h("div", {}, h("dt", {}, name), value);
    this.values.set(name, { value, held });
    return held;
  }

  /** Whether this page has a view: the doctor, and changes, are not everywhere. */
  has(view) {
    return this.tabs.some((tab) => tab.dataset.view === view);
  }

  select(view) {
    for (const tab of this.tabs) {
      if (tab.dataset.view === view) tab.setAttribute("aria-current", "page");
      else tab.removeAttribute("aria-current");
    }
  }

  update() {
    const { live } = this;
    const age = live.clock.age_s();
    this.#set("Data", age === null ? "none yet" : age < 2 ? "now" : `${seconds(Math.round(age))} old`, !live.isCurrent);
    const { totals } = live;
    if (!totals) return;
    this.#set("Switches", part(totals.targets_up, totals.targets), totals.targets_up < totals.targets);
    this.#set("Sessions", part(totals.sessions_up, totals.sessions), totals.sessions_up < totals.sessions);
    const pace = totals.pace ?? null;
    this.values.get("Pace").held.hidden = pace === null;
    this.#set("Pace", pace === null ? "–" : `${number(Math.round(pace * 100) / 100)}×`, false);
    this.values.get("Pace").held.title = "Simulated seconds in a second";
    this.values.get("Switches").held.title =
      `${counted(totals.targets_up, "switch", "switches")} of ${totals.targets} stream`;
  }

  #set(name, text, isBad) {
    const { value } = this.values.get(name);
    setText(value, text);
    value.classList.toggle("bad", isBad);
  }
}

const part = (up, all) => `${up} of ${all}`;

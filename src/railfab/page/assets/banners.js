/** Bad days in plain words, below the header. Each has a sentence on what is shown meanwhile. */

import { SKEW_LIMIT_S } from "./clock.js";
import { fill, h } from "./dom.js";
import { counted, listed, seconds } from "./format.js";

const FIRST_FRAME_S = 1.5;
const opened_ms = performance.now();

/** What the reader must know: {id, severity, text} of each. */
export function warnings(live) {
  return [connection(live), unread(live), silent(live), late(live), skewed(live), slept(live)].filter(Boolean);
}

function connection(live) {
  const age = live.clock.age_s();
  if (age === null) {
    if ((performance.now() - opened_ms) / 1000 < FIRST_FRAME_S) return null;
    const why = live.isConnected ? "No switch has sent a value yet" : "The server does not answer";
    return {
      id: "no-data",
      severity: "warning",
      text: `No data yet. ${why}; all ports are shown as unknown until then.`,
    };
  }
  if (live.isConnected && live.isCurrent) return null;
  if (live.isConnected) {
    return {
      id: "quiet",
      severity: "critical",
      text: `The server has sent nothing for ${round(age)}. All ports are shown as unknown.`,
    };
  }
  const shown = live.isCurrent ? "" : " All ports are shown as unknown.";
  return {
    id: "gone",
    severity: "critical",
    text: `The server has gone; its last values are ${round(age)} old.${shown} The page connects again by itself.`,
  };
}

function unread({ totals }) {
  if (!totals?.source_error) return null;
  return { id: "source", severity: "critical", text: `No values arrive: ${totals.source_error}` };
}

function silent({ totals }) {
  const names = totals?.stale ?? [];
  if (names.length === 0) return null;
  const severity = names.length * 2 >= totals.targets ? "critical" : "warning";
  const verb = names.length === 1 ? "is" : "are";
  const text = `${names.length} of ${counted(totals.targets, "switch", "switches")} ${verb} silent: ${listed(names)}. Their ports are hatched, because their state is not known.`;
  return { id: "silent", severity, text };
}

function late({ totals }) {
  if (!totals?.overloaded) return null;
  return {
    id: "overloaded",
    severity: "warning",
    text: "The collector is overloaded: values come late, and no switch is called silent until it has caught up.",
  };
}

function skewed({ clock }) {
  const skew = clock.skew_s();
  if (Math.abs(skew) <= SKEW_LIMIT_S) return null;
  const side = skew > 0 ? "ahead of" : "behind";
  return {
    id: "skew",
    severity: "warning",
    text: `The clock of this browser is ${round(Math.abs(skew))} ${side} the server's. All times here are the server's.`,
  };
}

function slept(live) {
  if (live.sleptFor_s === null) return null;
  const text = `This page slept for ${round(live.sleptFor_s)}. It shows the present again; charts have what happened meanwhile.`;
  return { id: "slept", severity: "info", text, dismiss: () => (live.sleptFor_s = null) };
}

const round = (value) => seconds(Math.round(value));

export class Banners {
  #shown = "";

  constructor(element, live) {
    this.element = element;
    this.live = live;
  }

  update() {
    const all = warnings(this.live);
    const text = all.map((each) => each.id + each.text).join("\n");
    if (text === this.#shown) return;
    this.#shown = text;
    fill(
      this.element,
      all.map((each) => this.#banner(each)),
    );
  }

  #banner({ id, severity, text, dismiss }) {
    const close = () => {
      dismiss();
      this.update();
    };
    return h(
      "p",
      { class: `banner ${severity}`, data: { id } },
      h("span", {}, text),
      dismiss && h("button", { type: "button", class: "quiet", onclick: close }, "Dismiss"),
    );
  }
}

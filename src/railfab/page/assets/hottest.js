/** The ports with the highest values of a metric, for a glance and for the keyboard. */

import { STATE, UNREAD } from "./codes.js";
import { fill, h } from "./dom.js";
import { codeOf, textOf } from "./readings.js";
import { routeOfPort } from "./router.js";

const SHOWN = 8;
const WRONG = new Set([STATE.down, STATE.session, STATE.optics]);

export class Hottest {
  #shown = "";

  constructor(live) {
    this.live = live;
    this.element = h("div", { class: "hottest" });
  }

  update(metric, network) {
    const { live } = this;
    const numbers = highest(live, metric, network);
    const rows = numbers.map((number) => [number, textOf(live, metric, number)]);
    const text = JSON.stringify([metric.id, rows]);
    if (text === this.#shown) return;
    this.#shown = text;
    const isFocused = this.element.contains(document.activeElement)
      ? document.activeElement.getAttribute("href")
      : null;
    fill(
      this.element,
      rows.length
        ? h(
            "ol",
            { class: "rows" },
            rows.map((row) => this.#row(...row)),
          )
        : h("p", { class: "empty" }, this.#none(metric)),
    );
    if (isFocused)
      [...this.element.querySelectorAll("a")].find((link) => link.getAttribute("href") === isFocused)?.focus();
  }

  #none(metric) {
    if (!this.live.isCurrent) return "Nothing is known now.";
    return metric.id === "state" ? "All ports that answer are up." : `No port has ${metric.name.toLowerCase()} now.`;
  }

  #row(number, text) {
    const { fabric } = this.live;
    const port = fabric.ports[number];
    const peer = `${port.peer.node} ${port.peer.interface}`;
    return h(
      "li",
      {},
      h("a", { href: routeOfPort(fabric, number) }, fabric.key(port)),
      h("span", { class: "peer" }, peer),
      h("span", { class: "value" }, text),
    );
  }
}

/** Port numbers, the highest value first; of states those that are wrong. */
function highest(live, metric, network) {
  const { ports } = live.fabric;
  const isState = metric.id === "state";
  const top = [];
  for (let number = 0; number < ports.length; number++) {
    if (ports[number].network !== network) continue;
    const code = codeOf(live, metric, number);
    if (isState ? !WRONG.has(code) : code === UNREAD || code === 0) continue;
    const rank = isState ? -code : code;
    if (top.length === SHOWN && rank <= top.at(-1).rank) continue;
    const place = top.findIndex((held) => held.rank < rank);
    top.splice(place === -1 ? top.length : place, 0, { rank, number });
    top.length = Math.min(top.length, SHOWN);
  }
  return top.map(({ number }) => number);
}

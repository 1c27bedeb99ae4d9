/** What is under the pointer, beside it. */

import { fill, h } from "./dom.js";
import { nodeInWords, readingsOf } from "./readings.js";

const OFFSET = 14;

export class Tooltip {
  constructor(live) {
    this.live = live;
    this.fabric = live.fabric;
    this.element = h("div", { class: "tooltip", role: "tooltip", hidden: true });
  }

  hide() {
    this.element.hidden = true;
  }

  /** Shows what a target is, at a point of the window. */
  show(target, metric, x, y) {
    const key = target.cell ?? target.block ?? target.link;
    if (key !== this.shown || this.element.hidden) this.#fill(target, metric);
    this.shown = key;
    this.#place(x, y);
  }

  /** Reads the values of what is shown again. */
  refresh(target, metric) {
    if (!this.element.hidden) this.#fill(target, metric);
  }

  #fill(target, metric) {
    this.element.hidden = false;
    if (target.cell) this.#port(target.cell.port, target.block.kind === "host");
    else if (target.link) this.#port(target.link.near);
    else
      fill(
        this.element,
        h("strong", {}, target.block.name),
        h("p", {}, nodeInWords(this.live, metric.id, target.block)),
      );
    [this.width, this.height] = [this.element.offsetWidth, this.element.offsetHeight];
  }

  #port(number, isAtHost = false) {
    const port = this.fabric.ports[number];
    const here = `${this.fabric.switchOf(number).name} ${port.interface}`;
    const peer = `${port.peer.node} ${port.peer.interface}`;
    const [first, second] = isAtHost ? [peer, here] : [here, peer];
    const rail = port.rail ? ` · rail ${port.rail}` : "";
    fill(
      this.element,
      h("strong", {}, first),
      h("p", {}, `to ${second} · ${port.rate_gbps} Gb/s${rail}`),
      h(
        "dl",
        {},
        readingsOf(this.live, number).map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]),
      ),
    );
  }

  #place(x, y) {
    const { width, height } = this;
    const left = x + OFFSET + width > innerWidth ? Math.max(x - OFFSET - width, 4) : x + OFFSET;
    const top = y + OFFSET + height > innerHeight ? Math.max(y - OFFSET - height, 4) : y + OFFSET;
    this.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}

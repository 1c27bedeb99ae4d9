/** The choice of network and metric, and the legend of the colours. */

import { METRICS, STATE } from "./codes.js";
import { fill, h } from "./dom.js";

const NETWORK_NAMES = { backend: "Backend", frontend: "Frontend", storage: "Storage", management: "Management" };

/** A group of radio buttons that look like one control. */
function segmented(name, label, choices, chosen, choose) {
  const options = choices.map(([id, text]) => {
    const input = h("input", { type: "radio", name, value: id, checked: id === chosen, onchange: () => choose(id) });
    return h("label", {}, input, h("span", {}, text));
  });
  return h("fieldset", { class: "segmented" }, h("legend", { class: "hidden" }, label), options);
}

export class MetricBar extends EventTarget {
  constructor(fabric, theme) {
    super();
    this.theme = theme;
    this.metric = METRICS[0];
    this.network = fabric.design.networks[0]?.name;
    this.legend = h("div", { class: "legend" });
    const networks = fabric.design.networks.map(({ name }) => [name, NETWORK_NAMES[name] ?? name]);
    const metrics = METRICS.map((metric) => [metric.id, metric.name]);
    this.element = h(
      "div",
      { class: "toolbar" },
      networks.length > 1 &&
        segmented("network", "Network", networks, this.network, (id) => this.#choose({ network: id })),
      segmented("metric", "Colour by", metrics, this.metric.id, (id) =>
        this.#choose({ metric: METRICS.find((each) => each.id === id) }),
      ),
      this.legend,
    );
    this.paint();
  }

  #choose(choice) {
    Object.assign(this, choice);
    this.paint();
    this.dispatchEvent(new Event("change"));
  }

  paint() {
    const scale = this.metric.steps ? this.#steps() : this.#ramp();
    fill(
      this.legend,
      scale,
      this.metric.steps?.some(([code]) => code === STATE.unknown)
        ? null
        : [this.#swatch(STATE.down, "down"), this.#swatch(STATE.unknown, "unknown or stale")],
    );
  }

  #ramp() {
    const { palette } = this.theme;
    const canvas = h("canvas", { width: "120", height: "8", "aria-hidden": "true" });
    const context = canvas.getContext("2d");
    const table = palette.table(this.metric);
    for (let x = 0; x < 120; x++) {
      context.fillStyle = table[Math.round((x / 119) * this.metric.top)];
      context.fillRect(x, 0, 1, 8);
    }
    const ticks = (this.metric.ticks ?? []).map(([code, name]) => {
      const tick = h("span", { class: "tick" }, name);
      tick.style.left = `${(code / this.metric.top) * 100}%`;
      context.fillStyle = palette.lines.accent;
      context.fillRect((code / this.metric.top) * 120, 0, 1, 8);
      return tick;
    });
    return h(
      "span",
      { class: "ramp" },
      h("span", {}, this.metric.ends[0]),
      h("span", { class: ticks.length ? "scale ticked" : "scale" }, canvas, ticks),
      h("span", {}, this.metric.ends[1]),
    );
  }

  #steps() {
    return this.metric.steps.map(([code, name]) => this.#swatch(code, name, this.metric));
  }

  #swatch(code, name, metric = METRICS.at(-1)) {
    const { palette } = this.theme;
    const canvas = h("canvas", { width: "12", height: "12", "aria-hidden": "true" });
    paintSwatch(canvas.getContext("2d"), metric.id === "state" ? code : null, palette.table(metric)[code], palette);
    return h("span", { class: "swatch" }, canvas, name);
  }
}

/** A cell as the drawing shows it, of 12 px. */
export function paintSwatch(context, state, colour, palette) {
  context.fillStyle = colour;
  context.fillRect(0, 0, 12, 12);
  context.strokeStyle = palette.states.ink;
  context.lineWidth = 1.5;
  context.beginPath();
  if (state === STATE.down) {
    context.moveTo(3, 3);
    context.lineTo(9, 9);
    context.moveTo(9, 3);
    context.lineTo(3, 9);
  } else if (state === STATE.session) {
    context.moveTo(2, 6);
    context.lineTo(10, 6);
  } else if (state === STATE.unknown || state === STATE.stale) {
    context.strokeStyle = palette.lines.hatch;
    context.lineWidth = 1;
    context.moveTo(0, 12);
    context.lineTo(12, 0);
  } else if (state === STATE.drained) {
    context.strokeStyle = palette.lines.hatch;
    context.rect(0.5, 0.5, 11, 11);
  } else if (state === STATE.optics) {
    context.fillStyle = palette.ramp[0];
    context.fillRect(0, 0, 12, 12);
    context.fillStyle = colour;
    context.arc(6, 6, 3.5, 0, 7);
    context.fill();
  }
  context.stroke();
}

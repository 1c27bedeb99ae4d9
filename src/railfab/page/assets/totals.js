/** The numbers of the whole fabric with their last two minutes. */

import { h, setText } from "./dom.js";
import { gbps, number, perSecond, short } from "./format.js";

const sum = (values) => values.reduce((total, value) => (value === null ? total : total + value), 0);
const traffic = (totals) => (totals.rail_gbps.every((value) => value === null) ? null : sum(totals.rail_gbps));

const TILES = [
  {
    name: "Traffic to hosts",
    read: traffic,
    text: (value) => short(value === null ? null : value * 1e9, "b/s"),
    note: ofCapacity,
  },
  { name: "ECN marks", read: (totals) => totals.marks_per_s, text: perSecond },
  { name: "Pause frames", read: (totals) => totals.pauses_per_s, text: perSecond },
  { name: "Drops", read: (totals) => totals.drops_per_s, text: perSecond, isBad: (value) => value > 0 },
];

function ofCapacity(totals) {
  const capacity = sum(totals.rail_capacity_gbps);
  return capacity ? `${number(Math.round((sum(totals.rail_gbps) / capacity) * 100))} % of ${gbps(capacity)}` : "";
}

export class Totals {
  constructor(live, theme) {
    this.live = live;
    this.theme = theme;
    this.tiles = TILES.map((tile) => {
      const [value, note] = [h("dd", { class: "value" }, "–"), h("dd", { class: "note" })];
      const line = h("canvas", { class: "spark", width: "240", height: "56", "aria-hidden": "true" });
      return {
        ...tile,
        value,
        note_: note,
        line,
        held: h("div", { class: "tile" }, h("dt", {}, tile.name), value, note, line),
      };
    });
    this.element = h(
      "dl",
      { class: "tiles", "aria-label": "Totals of the fabric" },
      this.tiles.map((tile) => tile.held),
    );
  }

  update() {
    const { totals, history } = this.live;
    if (!totals) return;
    for (const tile of this.tiles) {
      const value = this.live.isCurrent ? tile.read(totals) : null;
      setText(tile.value, tile.text(value));
      tile.value.classList.toggle("bad", value !== null && (tile.isBad?.(value) ?? false));
      setText(tile.note_, this.live.isCurrent ? (tile.note?.(totals) ?? "") : "");
      this.#paint(tile.line, history.map(tile.read));
    }
  }

  #paint(canvas, values) {
    const context = canvas.getContext("2d");
    const { width, height } = canvas;
    context.clearRect(0, 0, width, height);
    const top = Math.max(...values.filter((value) => value !== null), 1e-9) * 1.15;
    const step = width / 119;
    context.strokeStyle = this.theme.palette.ramp[4];
    context.lineWidth = 2;
    context.beginPath();
    let isDrawn = false;
    values.forEach((value, place) => {
      const x = width - (values.length - 1 - place) * step;
      if (value === null) isDrawn = false;
      else {
        const y = height - 3 - (value / top) * (height - 6);
        if (isDrawn) context.lineTo(x, y);
        else context.moveTo(x, y);
        isDrawn = true;
      }
    });
    context.stroke();
  }
}

/** A chart of one or two series in time, with thresholds as lines. */

import uPlot from "./vendor/uPlot.esm.js";
import { get, Refused } from "./api.js";
import { fill, h, setText } from "./dom.js";
import { withUnit } from "./format.js";

const HEIGHT = 104;
const LABEL_PX = 12;
const FONT = '11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** names: of several metrics, for the values at the cursor. place: the query that names a port, switch, rail or job. */
export class Chart {
  #plot = null;
  #request = 0;
  #repaint = () => this.#plot && this.#show(this.series, this.from_s, this.to_s);

  constructor({ title, metrics, names, place, theme, sync }) {
    Object.assign(this, { title, metrics, names, place, theme, sync });
    this.reading = h("span", { class: "reading" });
    this.note = h("p", { class: "empty", hidden: true });
    this.canvas = h("div", { class: "plot", role: "img", "aria-label": `${title} in time` });
    this.element = h(
      "figure",
      { class: "chart", data: { metric: metrics[0] } },
      h("figcaption", {}, h("span", {}, title), this.reading),
      this.canvas,
      this.note,
    );
    theme.addEventListener("change", this.#repaint);
  }

  /** Asks for the values of a time and shows them; an answer that comes after a later question is not shown. */
  async load(from_s, to_s) {
    const request = ++this.#request;
    try {
      const answers = await Promise.all(this.metrics.map((metric) => this.#answer(metric, from_s, to_s)));
      if (request === this.#request) this.#show(joined(answers, this.names), from_s, to_s);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#say(error.message);
    }
  }

  #answer(metric, from_s, to_s) {
    return get("series", { metric, ...this.place, from: from_s, to: to_s });
  }

  #say(text) {
    this.note.hidden = false;
    this.canvas.hidden = true;
    setText(this.note, text);
    setText(this.reading, "");
  }

  #show(series, from_s, to_s) {
    if (!series.columns.slice(1).some((values) => values.some((value) => value !== null))) {
      this.#say("No value in this time.");
      return;
    }
    this.note.hidden = true;
    this.canvas.hidden = false;
    const width = Math.max(this.canvas.clientWidth, 120);
    if (this.#plot && this.#plot.series.length === series.columns.length && this.colours === this.theme.name) {
      this.series = series;
      if (this.#plot.width !== width) this.#plot.setSize({ width, height: HEIGHT });
      [this.from_s, this.to_s] = [from_s, to_s];
      this.#plot.setData(series.columns);
    } else {
      this.#plot?.destroy();
      Object.assign(this, { series, from_s, to_s, colours: this.theme.name });
      this.#plot = new uPlot(this.#options(width), series.columns, this.canvas);
    }
    this.#read(this.#plot.cursor.idx);
    this.#describe();
  }

  /** Names the values at the cursor, or the last ones. */
  #read(place) {
    const { columns, labels, unit } = this.series;
    const parts = columns.slice(1).map((values, number) => {
      const value = place === null || place === undefined ? values.at(-1) : values[place];
      return columns.length > 2 ? `${labels[number]} ${withUnit(value, unit)}` : withUnit(value, unit);
    });
    setText(this.reading, parts.join("  "));
  }

  #describe() {
    const { columns, unit } = this.series;
    const values = columns
      .slice(1)
      .flat()
      .filter((value) => value !== null);
    const range = `from ${withUnit(Math.min(...values), unit)} to ${withUnit(Math.max(...values), unit)}`;
    const limits = this.series.thresholds
      .map(({ name, value }) => `${thresholdName(name)} ${withUnit(value, unit)}`)
      .join(", ");
    this.canvas.setAttribute(
      "aria-label",
      `${this.title} in time: ${range}${limits ? `; thresholds: ${limits}` : ""}.`,
    );
  }

  #options(width) {
    const style = getComputedStyle(document.documentElement);
    const [ink, grid] = [style.getPropertyValue("--muted"), style.getPropertyValue("--line")];
    const { palette } = this.theme;
    const axis = { stroke: ink, font: FONT, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
    const colours = [palette.ramp[5], palette.states.session];
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      padding: [8, 14, 0, 0],
      cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false }, sync: { key: this.sync } },
      scales: {
        x: { time: true, range: () => [this.from_s, this.to_s] },
        y: { range: (_, least, most) => this.#range(most) },
      },
      axes: [
        {
          ...axis,
          space: 56,
          size: 24,
          values: [
            [3600, "{HH}:{mm}"],
            [60, "{HH}:{mm}"],
            [1, "{HH}:{mm}:{ss}"],
          ].map(([step, text]) => [step, text, null, null, null, null, null, null, 1]),
        },
        {
          ...axis,
          size: 58,
          space: 28,
          gap: 6,
          values: (_, ticks) => ticks.map((tick) => withUnit(tick, this.series.unit)),
        },
      ],
      series: [
        {},
        ...this.series.columns
          .slice(1)
          .map((_, place) => ({ stroke: colours[place], width: 1.5, points: { show: false }, spanGaps: false })),
      ],
      hooks: { draw: [(plot) => this.#thresholds(plot)], setCursor: [(plot) => this.#read(plot.cursor.idx)] },
    };
  }

  /** From zero to the highest value, or to the threshold next above it. */
  #range(most) {
    const limits = this.series.thresholds.map(({ value }) => value).sort((low, high) => low - high);
    const above = limits.find((limit) => limit >= (most ?? 0)) ?? 0;
    const top = Math.max(most ?? 0, above);
    return [0, top > 0 ? top * 1.12 : 1];
  }

  #thresholds(plot) {
    const context = plot.ctx;
    const scale = devicePixelRatio || 1;
    const { left, top, width } = plot.bbox;
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--threshold");
    context.save();
    context.font = FONT.replace("11px", `${10 * scale}px`);
    context.textAlign = "right";
    context.textBaseline = "bottom";
    context.setLineDash([4 * scale, 3 * scale]);
    context.lineWidth = scale;
    let [right, below] = [0, Infinity];
    for (const { name, value } of this.series.thresholds.toSorted((low, high) => low.value - high.value)) {
      const y = Math.round(plot.valToPos(value, "y", true));
      if (y < top) continue;
      const text = `${thresholdName(name)} ${withUnit(value, this.series.unit)}`;
      right = below - y < LABEL_PX * scale ? right : left + width - 3 * scale;
      context.strokeStyle = context.fillStyle = ink;
      context.beginPath();
      context.moveTo(left, y + 0.5);
      context.lineTo(left + width, y + 0.5);
      context.stroke();
      context.fillText(text, right, y - scale);
      right -= context.measureText(text).width + 8 * scale;
      below = y;
    }
    context.restore();
  }

  close() {
    this.#request++;
    this.theme.removeEventListener("change", this.#repaint);
    this.#plot?.destroy();
    this.#plot = null;
    fill(this.canvas);
  }
}

/** Kmin and Kmax have a capital, as in the text of DCQCN. */
const thresholdName = (name) => name.replace(/^k(?=min|max)/, "K");

/** Several answers with one time axis as the data of one chart. */
function joined([first, ...others], names) {
  const columns = [...first.columns];
  for (const {
    columns: [times, ...values],
  } of others) {
    const places = new Map(times.map((at_s, place) => [at_s, place]));
    columns.push(
      ...values.map((column) => first.columns[0].map((at_s) => (places.has(at_s) ? column[places.get(at_s)] : null))),
    );
  }
  return { unit: first.unit, columns, labels: names ?? first.labels, thresholds: first.thresholds ?? [] };
}

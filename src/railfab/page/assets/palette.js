/** Colours of values. Ramps rise in lightness alone, so that they read the same to every eye; states have a shape too. */

import { STATE, UNREAD } from "./codes.js";

const RAMPS = {
  dark: ["#252c37", "#2b3f63", "#30598a", "#2c7a92", "#2f9b8b", "#67b96c", "#b6cf45", "#fde74c"],
  light: ["#e4e9ef", "#bcd3e2", "#8fbcd3", "#5c9fc0", "#3b80ad", "#315f99", "#333f7e", "#2b1b56"],
};
const STATES = {
  dark: {
    up: "#3f7fb5",
    down: "#ff7a5c",
    session: "#f2b134",
    optics: "#d78bc0",
    drained: "#161b22",
    none: "#343b46",
    ink: "#0d1117",
  },
  light: {
    up: "#5b9bc8",
    down: "#c9401a",
    session: "#d58f00",
    optics: "#b05a98",
    drained: "#ffffff",
    none: "#d3d8df",
    ink: "#ffffff",
  },
};
const LINES = {
  dark: { edge: "#4b5563", hatch: "#6b7686", accent: "#ffffff", card: "#161b22" },
  light: { edge: "#b4bcc7", hatch: "#8791a0", accent: "#0b1320", card: "#ffffff" },
};

const channels = (colour) => [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));

/** The colour at a share of a ramp. */
function along(ramp, share) {
  const at = Math.min(Math.max(share, 0), 1) * (ramp.length - 1);
  const step = Math.min(Math.floor(at), ramp.length - 2);
  const [from, to] = [channels(ramp[step]), channels(ramp[step + 1])];
  return `rgb(${from.map((value, place) => Math.round(value + (to[place] - value) * (at - step))).join(" ")})`;
}

export class Palette {
  constructor(theme) {
    this.theme = theme;
    this.ramp = RAMPS[theme];
    this.states = STATES[theme];
    this.lines = LINES[theme];
    this.#tables = new Map();
  }

  #tables;

  /** Colours of all codes of a metric. */
  table(metric) {
    if (!this.#tables.has(metric.id)) {
      this.#tables.set(
        metric.id,
        Array.from({ length: 256 }, (_, code) => this.#colour(metric, code)),
      );
    }
    return this.#tables.get(metric.id);
  }

  #colour(metric, code) {
    if (code === UNREAD) return this.states.none;
    if (metric.id === "state") return this.state(code);
    if (metric.id === "drops") return [this.ramp[0], this.states.session, this.states.down][code] ?? this.states.none;
    return along(this.ramp, code / metric.top);
  }

  state(code) {
    const names = new Map(Object.entries(STATE).map(([name, number]) => [number, name]));
    return this.states[names.get(code)] ?? this.states.none;
  }

  /** Evenly spaced colours of the ramp, for a legend. */
  stops(count) {
    return Array.from({ length: count }, (_, place) => along(this.ramp, place / (count - 1)));
  }
}

/** Traffic of each rail to its hosts, beside its capacity. */

import { fill, h, setText } from "./dom.js";
import { gbps, number, UNKNOWN } from "./format.js";
import { route } from "./router.js";

export class RailTable {
  constructor(live) {
    this.live = live;
    this.rows = live.fabric.rails.map((rail) => {
      const [bar, value, share] = [
        h("i"),
        h("td", { class: "number" }, UNKNOWN),
        h("td", { class: "number" }, UNKNOWN),
      ];
      const name = h("a", { href: route("fabric", "rail", rail) }, `Rail ${rail}`);
      return {
        bar,
        value,
        share,
        row: h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "bar" }, h("span", {}, bar)), value, share),
      };
    });
    this.element = h(
      "table",
      { class: "rails" },
      h(
        "thead",
        { class: "hidden" },
        h(
          "tr",
          {},
          ["Rail", "Load", "Traffic", "Share"].map((name) => h("th", { scope: "col" }, name)),
        ),
      ),
      h(
        "tbody",
        {},
        this.rows.map(({ row }) => row),
      ),
    );
    if (this.rows.length === 0) fill(this.element, h("caption", {}, "This fabric has no rails."));
  }

  update() {
    const { totals, isCurrent } = this.live;
    this.rows.forEach(({ bar, value, share, row }, place) => {
      const rate = isCurrent && totals ? totals.rail_gbps[place] : null;
      const capacity = totals?.rail_capacity_gbps[place];
      const isKnown = rate !== null && rate !== undefined;
      row.classList.toggle("unknown", !isKnown);
      setText(value, isKnown ? gbps(Math.round(rate)) : "unknown");
      setText(share, isKnown && capacity ? `${number(Math.round((rate / capacity) * 100))} %` : UNKNOWN);
      bar.style.width = isKnown && capacity ? `${Math.min((rate / capacity) * 100, 100)}%` : "0";
    });
  }
}

/** Tiers by rails: the highest value of a metric among the ports of each, with its text. */

import { UNREAD } from "./codes.js";
import { fill, h, setText } from "./dom.js";
import { summary } from "./readings.js";
import { route } from "./router.js";

const KINDS = [
  ["host", "Leaf to host"],
  ["uplink", "Up"],
  ["downlink", "Down"],
  ["peer", "Between pairs"],
];
const TIER_NAMES = { leaf: "Leaf", spine: "Spine", super: "Super-spine" };

/** Rows of ports by tier and direction, each with the ports of every rail; those of no rail are under 0. */
function rowsOf(fabric, network) {
  const rows = new Map();
  const rails = railsOfSwitches(fabric);
  fabric.ports.forEach((port, number) => {
    if (port.network !== network) return;
    const node = fabric.switches[port.switch];
    const name = rowName(fabric, node, port);
    if (!rows.has(name)) rows.set(name, new Map());
    const rail = port.rail ?? rails[port.switch];
    const held = rows.get(name);
    held.set(rail, [...(held.get(rail) ?? []), number]);
  });
  return rows;
}

function rowName(fabric, node, port) {
  const kind =
    port.kind ?? (fabric.switchNumbers.has(port.peer.node) ? (node.role === "leaf" ? "uplink" : "downlink") : "host");
  const words = Object.fromEntries(KINDS)[kind];
  return kind === "host" ? words : `${TIER_NAMES[node.role] ?? node.role} ${words.toLowerCase()}`;
}

/** The rail of each switch that serves a single one, else 0. */
function railsOfSwitches(fabric) {
  return fabric.portsOfSwitch.map((numbers) => {
    const rails = new Set(numbers.map((number) => fabric.ports[number].rail).filter((rail) => rail !== null));
    return rails.size === 1 ? [...rails][0] : 0;
  });
}

export class HeatMap {
  constructor(live, theme) {
    this.live = live;
    this.theme = theme;
    this.element = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Tiers by rails" });
  }

  /** Makes the table of a network. */
  use(network) {
    const { fabric } = this.live;
    const rows = rowsOf(fabric, network);
    const hasRest = [...rows.values()].some((held) => held.has(0));
    const rails = [
      ...fabric.rails.filter((rail) => [...rows.values()].some((held) => held.has(rail))),
      ...(hasRest ? [0] : []),
    ];
    this.cells = [];
    const body = [...rows].map(([name, held]) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, name),
        rails.map((rail) => this.#cell(held.get(rail))),
      ),
    );
    const heads = rails.map((rail) =>
      h(
        "th",
        { scope: "col" },
        rail ? h("a", { href: route("fabric", "rail", rail), "aria-label": `Rail ${rail}` }, `${rail}`) : "All",
      ),
    );
    fill(
      this.element,
      h(
        "table",
        { class: "heat" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, fabric.rails.length ? "Rail" : ""), heads)),
        h("tbody", {}, body),
      ),
    );
  }

  #cell(ports) {
    const cell = h("td");
    if (ports) this.cells.push({ cell, ports, text: "" });
    else cell.classList.add("none");
    return cell;
  }

  update(metric) {
    const { palette } = this.theme;
    const table = palette.table(metric);
    for (const held of this.cells) {
      const { worst, busiest, unread } = summary(this.live, metric, held.ports);
      const text =
        worst === UNREAD
          ? "unknown"
          : metric.text(worst, this.live.fabric.ports[busiest], this.live.fabric).split(",")[0];
      setText(held.cell, text);
      held.cell.title = unread && worst !== UNREAD ? `${unread} of ${held.ports.length} ports unknown` : "";
      held.cell.classList.toggle("hatched", worst === UNREAD);
      held.cell.classList.toggle("partly", unread > 0 && worst !== UNREAD);
      held.cell.style.setProperty("--level", worst === UNREAD ? "transparent" : table[worst]);
    }
  }
}

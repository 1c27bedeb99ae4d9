/** The ports of a node in its details: a strip of cells to walk with the keyboard, and a table of neighbours. */

import { h, setText } from "./dom.js";
import { codeOf, stateName, stateOf, textOf } from "./readings.js";
import { paintSwatch } from "./metric_bar.js";
import { routeOfNode, routeOfPort } from "./router.js";

const MOST_ROWS = 72;

/** A table with a row for each port: its state, its peer and the value of the chosen metric. */
export class PortStrip {
  constructor(live, theme, kind, name, numbers) {
    Object.assign(this, { live, theme });
    const { fabric } = live;
    this.rows = numbers.slice(0, MOST_ROWS).map((number) => {
      const port = fabric.ports[number];
      const near = kind === "switch" ? port.interface : fabric.key(port);
      const peer = `${port.peer.node} ${port.peer.interface}`;
      const [swatch, state, value] = [
        h("canvas", { width: "12", height: "12", "aria-hidden": "true" }),
        h("span", { class: "state" }),
        h("td", { class: "number" }),
      ];
      const row = h(
        "tr",
        {},
        h("th", { scope: "row" }, swatch, h("a", { href: routeOfPort(fabric, number) }, near), state),
        h("td", { class: "peer" }, peer),
        value,
      );
      return { number, swatch, state, value, row };
    });
    this.head = h("th", { scope: "col", class: "number" });
    const more = numbers.length - this.rows.length;
    this.element = h(
      "div",
      { class: "strip", tabindex: "0", role: "region", "aria-label": `Ports of ${name}` },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Port"), h("th", { scope: "col" }, "Peer"), this.head)),
        h(
          "tbody",
          {},
          this.rows.map(({ row }) => row),
        ),
      ),
      more > 0 && h("p", { class: "empty" }, `${more} more ports are in the drawing.`),
    );
  }

  update(metric) {
    const { live } = this;
    const table = this.theme.palette.table(metric);
    setText(this.head, metric.name);
    for (const { number, swatch, state, value } of this.rows) {
      const name = stateName(live, number);
      setText(value, textOf(live, metric, number));
      setText(state, name === "up" ? "" : name);
      paintSwatch(
        swatch.getContext("2d"),
        stateOf(live, number),
        table[codeOf(live, metric, number)],
        this.theme.palette,
      );
    }
  }
}

/** Both ends of the cable of a port: {switch, interface, node, peer_interface} from one end or from each. */
export class Ends {
  constructor(fabric, neighbours) {
    this.fabric = fabric;
    const ends = neighbours.flatMap((end) => [
      [end.switch, end.interface],
      [end.node, end.peer_interface],
    ]);
    const names = [...new Map(ends.map((end) => [end.join(" "), end])).values()];
    this.element = h(
      "section",
      {},
      h("h3", {}, "Both ends of the cable"),
      h(
        "ul",
        {},
        names.map((end) => h("li", {}, this.#end(...end))),
      ),
    );
  }

  #end(node, name) {
    const number = this.fabric.portNumber(node, name);
    const href = number >= 0 ? routeOfPort(this.fabric, number) : routeOfNode(this.fabric, node);
    return href ? h("a", { href }, `${node} ${name}`) : `${node} ${name}`;
  }
}

/** The drawing for the keyboard and for screen readers: a grid of nodes over the canvas, a row for each tier. */

import { h } from "./dom.js";
import { nodeInWords } from "./readings.js";
import { routeOfNode } from "./router.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class NodeGrid extends EventTarget {
  constructor(live) {
    super();
    this.live = live;
    this.metricId = "utilisation";
    this.element = h("div", {
      class: "nodes",
      role: "grid",
      "aria-label": "Switches and hosts by tier; arrow keys move, Enter opens",
      onkeydown: (event) => this.#key(event),
      onfocusin: (event) => this.#focused(event.target),
      onfocusout: () => this.dispatchEvent(new CustomEvent("leave")),
    });
  }

  /** One cell for each block of a layout, at its place. */
  place(layout) {
    this.blocks = layout.byName;
    this.cells = layout.tiers.map((tier) => tier.blocks.map((block) => this.#cell(block)));
    this.element.replaceChildren(
      ...layout.tiers.map((tier, row) => h("div", { role: "row", "aria-label": tier.name }, this.cells[row])),
    );
    if (this.cells[0]?.[0]) this.cells[0][0].tabIndex = 0;
  }

  #cell(block) {
    const cell = h("div", { role: "gridcell", tabindex: "-1", "aria-label": block.name, data: { node: block.name } });
    Object.assign(cell.style, {
      left: `${block.x}px`,
      top: `${block.y}px`,
      width: `${block.width}px`,
      height: `${block.height}px`,
    });
    return cell;
  }

  #focused(cell) {
    const block = this.blocks.get(cell.dataset.node);
    if (!block) return;
    for (const each of this.element.querySelectorAll("[tabindex='0']")) each.tabIndex = -1;
    cell.tabIndex = 0;
    this.focusedBlock = block;
    this.describe();
    this.dispatchEvent(new CustomEvent("enter", { detail: block }));
  }

  /** Says of the node that has the focus what it does now. */
  describe() {
    const cell = document.activeElement;
    if (this.element.contains(cell) && this.focusedBlock) {
      cell.setAttribute("aria-label", nodeInWords(this.live, this.metricId, this.focusedBlock));
    }
  }

  #key(event) {
    const row = this.cells.findIndex((cells) => cells.includes(event.target));
    if (row === -1) return;
    const column = this.cells[row].indexOf(event.target);
    if (event.key === "Enter" || event.key === " ") {
      location.hash = routeOfNode(this.live.fabric, event.target.dataset.node);
    } else if (event.key in STEPS) this.#move(row, column, STEPS[event.key]);
    else if (event.key === "Home") this.cells[row][0].focus();
    else if (event.key === "End") this.cells[row].at(-1).focus();
    else return;
    event.preventDefault();
  }

  /** Moves along a tier, or to the node of the next tier that lies nearest. */
  #move(row, column, [down, right]) {
    const target = this.cells[row + down];
    if (!target) return;
    const place = down ? Math.round(((column + 0.5) / this.cells[row].length) * target.length - 0.5) : column + right;
    target[Math.min(Math.max(place, 0), target.length - 1)].focus();
  }
}

/** The fabric: its drawing with live colours, the totals above it, tables below it, and details beside it. */

import { Drawing } from "../drawing.js";
import { fill, h } from "../dom.js";
import { Hits } from "../hits.js";
import { HeatMap } from "../heat_map.js";
import { Hottest } from "../hottest.js";
import { layOut } from "../layout.js";
import { MetricBar } from "../metric_bar.js";
import { NodeGrid } from "../node_grid.js";
import { Paced } from "../paced.js";
import { RailTable } from "../rail_table.js";
import { route, routeOfNode, routeOfPort } from "../router.js";
import { Tooltip } from "../tooltip.js";
import { Totals } from "../totals.js";

const SIDE = new Set(["switch", "port", "rail", "host"]);

export class FabricView {
  #isOpen = false;
  #panel = null;
  #selected = null;

  constructor(page) {
    this.page = page;
    const { fabric, live, theme } = page;
    this.bar = new MetricBar(fabric, theme);
    this.totals = new Totals(live, theme);
    this.drawing = new Drawing(live, theme);
    this.grid = new NodeGrid(live);
    this.tooltip = new Tooltip(live);
    this.heat = new HeatMap(live, theme);
    this.hottest = new Hottest(live);
    this.rails = new RailTable(live, theme);
    this.paced = new Paced();
    this.labels = h("div", { class: "labels", "aria-hidden": "true" });
    this.stage = h("div", { class: "stage" }, this.drawing.base, this.labels, this.drawing.marks, this.grid.element);
    this.side = h("aside", { class: "side", hidden: true, "aria-label": "Details" });
    this.element = this.#element();
    this.#listen();
  }

  #element() {
    const section = (name, ...content) => h("section", { class: "card" }, h("h2", {}, name), content);
    this.heading = h("h2", {}, "Highest now");
    const tables = h(
      "div",
      { class: "tables" },
      section("Rails", this.rails.element),
      section("Tiers by rails, highest port", this.heat.element),
      h("section", { class: "card" }, this.heading, this.hottest.element),
    );
    const centre = h(
      "div",
      { class: "centre" },
      h("h1", { class: "hidden" }, "Fabric"),
      this.totals.element,
      h("section", { class: "card picture", "aria-label": "Drawing" }, this.bar.element, this.stage),
      tables,
    );
    return h("div", { class: "fabric-view" }, centre, this.side, this.tooltip.element);
  }

  #listen() {
    const { live, theme } = this.page;
    live.addEventListener("frame", () => this.#paint());
    live.addEventListener("connection", () => this.#paint());
    live.addEventListener("totals", () => this.#isOpen && (this.totals.update(), this.rails.update()));
    theme.addEventListener("change", () => (this.bar.paint(), this.#paint()));
    this.bar.addEventListener("change", () => this.#place());
    this.grid.addEventListener("enter", ({ detail }) => this.drawing.mark({ block: detail }));
    this.grid.addEventListener("leave", () => this.drawing.mark(this.#selected));
    this.stage.addEventListener("pointermove", (event) => this.#hover(event));
    this.stage.addEventListener("pointerleave", () => this.#leave());
    this.stage.addEventListener("click", (event) => this.#click(event));
    new ResizeObserver(() => this.#place()).observe(this.stage);
    setInterval(() => this.#isOpen && !live.isCurrent && this.#paint(), 1000);
  }

  open([kind, ...name]) {
    this.#isOpen = true;
    this.#place();
    this.totals.update();
    this.rails.update();
    if (SIDE.has(kind)) this.#showPanel(kind, name);
    else this.#closePanel();
  }

  close() {
    this.#isOpen = false;
    this.tooltip.hide();
  }

  async #showPanel(kind, name) {
    const { Panel } = await import("../panel.js");
    this.#panel?.close();
    this.#panel = new Panel(this.page, kind, name, () => this.bar.metric);
    this.side.hidden = false;
    fill(this.side, this.#panel.element);
    this.element.classList.add("has-side");
    this.#panel.focus();
    this.#place();
  }

  #closePanel() {
    if (this.side.hidden) return;
    const isInside = this.side.contains(document.activeElement);
    const node = this.#panel?.node;
    this.#panel?.close();
    this.#panel = null;
    this.side.hidden = true;
    fill(this.side);
    this.element.classList.remove("has-side");
    this.#place();
    if (isInside)
      (
        this.stage.querySelector(`[data-node="${CSS.escape(node ?? "")}"]`) ??
        this.stage.querySelector("[tabindex='0']")
      )?.focus();
  }

  /** Lays the network out for the width that there is, and paints it. */
  #place() {
    const width = Math.floor(this.stage.clientWidth);
    if (!this.#isOpen || width === 0) return;
    const key = `${this.bar.network} ${width}`;
    if (key !== this.placed) {
      this.placed = key;
      this.layout = layOut(this.page.fabric, this.bar.network, width);
      this.hits = new Hits(this.layout);
      this.stage.style.height = `${this.layout.height}px`;
      this.drawing.resize(this.layout);
      this.grid.place(this.layout);
      fill(this.labels, labelsOf(this.layout));
      this.stage.classList.toggle("narrow", this.layout.narrow);
    }
    if (this.heat.network !== this.bar.network) this.heat.use((this.heat.network = this.bar.network));
    this.#paint();
  }

  #paint() {
    if (!this.#isOpen || !this.layout) return;
    const { metric, network } = this.bar;
    this.grid.metricId = metric.id;
    this.heading.textContent = metric.id === "state" ? "Not as they should be" : `${metric.name}: highest now`;
    this.#selected = this.#panel ? this.#targetOf(this.#panel) : null;
    if (!this.hovered) this.drawing.mark(this.#selected);
    this.paced.soon("drawing", () => this.drawing.paint(metric));
    this.paced.soon("heat", () => this.heat.update(metric));
    this.paced.soon("hottest", () => this.hottest.update(metric, network));
    this.paced.soon("details", () => {
      this.grid.describe();
      this.#panel?.update();
      if (this.target) this.tooltip.refresh(this.target, metric);
    });
  }

  #targetOf({ kind, node, port }) {
    const block = this.layout.byName.get(node);
    if (!block || kind === "rail") return null;
    return { block, cell: block.cells.find((cell) => cell.port === port) ?? null };
  }

  #hover(event) {
    const box = this.stage.getBoundingClientRect();
    const target = this.hits.at(event.clientX - box.left, event.clientY - box.top);
    const isAny = target.block || target.link;
    const thing = target.cell ?? target.block ?? target.link;
    if (thing !== this.hovered) {
      this.hovered = thing;
      this.target = isAny ? target : null;
      this.drawing.mark(isAny ? target : this.#selected);
      this.stage.classList.toggle("pointing", Boolean(isAny));
    }
    if (isAny) this.tooltip.show(target, this.bar.metric, event.clientX, event.clientY);
    else this.tooltip.hide();
  }

  #leave() {
    this.hovered = this.target = null;
    this.drawing.mark(this.#selected);
    this.tooltip.hide();
  }

  #click(event) {
    const box = this.stage.getBoundingClientRect();
    const { block, cell, link } = this.hits.at(event.clientX - box.left, event.clientY - box.top);
    const { fabric } = this.page;
    if (cell) location.hash = routeOfPort(fabric, cell.port);
    else if (link) location.hash = routeOfPort(fabric, link.near);
    else if (block) location.hash = routeOfNode(fabric, block.name);
    else location.hash = route("fabric");
  }
}

/** Names of tiers, groups and switches, as text over the canvas. */
function labelsOf(layout) {
  const at = (element, x, y, width) => {
    Object.assign(element.style, { left: `${x}px`, top: `${y}px`, ...(width && { width: `${width}px` }) });
    return element;
  };
  return layout.tiers.flatMap((tier) => [
    at(
      h("div", { class: "tier-name" }, h("b", {}, tier.name), h("span", {}, `${tier.count}`)),
      0,
      layout.narrow ? tier.y - 18 : tier.y,
    ),
    ...tier.captions.map(({ text, x, y, width }) =>
      at(h("div", { class: "caption" }, h("span", {}, text)), x, y, width),
    ),
    ...tier.blocks
      .filter((block) => block.label)
      .map((block) => at(h("div", { class: "node-name" }, block.label), block.x, block.y, block.width)),
  ]);
}

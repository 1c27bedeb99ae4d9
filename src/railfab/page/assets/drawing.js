/** Paints the fabric on two canvases: links and cells when values change, what is hovered on each movement. */

import { STATE, UNREAD } from "./codes.js";

const LEVELS = 16;
const GLYPH = 5;

export class Drawing {
  constructor(live, theme) {
    this.live = live;
    this.theme = theme;
    this.base = document.createElement("canvas");
    this.marks = document.createElement("canvas");
    for (const canvas of [this.base, this.marks]) canvas.setAttribute("aria-hidden", "true");
    this.marks.className = "marks";
  }

  /** Takes a new layout; the canvases get its size. */
  resize(layout) {
    this.layout = layout;
    const scale = Math.min(devicePixelRatio || 1, 2);
    for (const canvas of [this.base, this.marks]) {
      canvas.width = Math.ceil(layout.width * scale);
      canvas.height = Math.ceil(layout.height * scale);
      canvas.style.width = `${layout.width}px`;
      canvas.style.height = `${layout.height}px`;
      canvas.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
    }
    this.#marked = null;
  }

  #marked = null;

  /** Of lines: where there are many, each is fainter. */
  get #strength() {
    return Math.min(1, Math.max(0.5, 260 / this.layout.links.length));
  }

  /** Paints all links and cells with the colours of a metric. */
  paint(metric) {
    const context = this.base.getContext("2d");
    context.clearRect(0, 0, this.layout.width, this.layout.height);
    const { codes, states } = this.#readings(metric);
    this.#paintLinks(context, metric, codes);
    this.#paintBlocks(context);
    this.#paintCells(context, metric, codes, states);
  }

  /** Codes and states as they are shown: of a port that is silent, nothing is known. */
  #readings(metric) {
    const { columns, isCurrent } = this.live;
    const states = isCurrent ? columns.state : new Uint8Array(columns.state.length).fill(STATE.unknown);
    const codes = Uint8Array.from(columns[metric.id], (code, port) => (isSilent(states[port]) ? UNREAD : code));
    return { codes, states };
  }

  /** Links in batches of one colour: idle ones faint, those with the highest values last and strong. */
  #paintLinks(context, metric, codes) {
    const batches = Array.from({ length: LEVELS + 1 }, () => []);
    for (const link of this.layout.links) {
      const code = higher(codes[link.near], link.far === -1 ? UNREAD : codes[link.far]);
      const level = code === UNREAD ? 0 : Math.round((code / metric.top) * (LEVELS - 1)) + 1;
      batches[Math.min(level, LEVELS)].push(link);
    }
    const { palette } = this.theme;
    const table = palette.table(metric);
    batches.forEach((links, level) => {
      if (links.length === 0) return;
      const share = level / LEVELS;
      context.strokeStyle = level ? table[Math.round(((level - 1) / (LEVELS - 1)) * metric.top)] : palette.lines.hatch;
      context.globalAlpha = level ? (0.25 + 0.65 * share) * this.#strength : 0.5;
      context.lineWidth = level ? 0.75 + share * this.#strength : 0.75;
      context.setLineDash(level ? [] : [2, 3]);
      context.beginPath();
      for (const link of links) trace(context, link);
      context.stroke();
    });
    context.globalAlpha = 1;
    context.setLineDash([]);
  }

  #paintBlocks(context) {
    const { lines } = this.theme.palette;
    context.fillStyle = lines.card;
    context.strokeStyle = lines.edge;
    context.lineWidth = 1;
    for (const block of this.layout.blocks) {
      if (!block.label) {
        context.fillRect(block.x - 1, block.y - 1, block.width + 2, block.height + 2);
        continue;
      }
      context.beginPath();
      context.roundRect(
        Math.round(block.x) - 0.5,
        Math.round(block.y) - 0.5,
        Math.round(block.width) + 1,
        Math.round(block.height) + 1,
        4,
      );
      context.fill();
      context.stroke();
    }
  }

  /** Cells in batches of one colour, then the shapes of their states. */
  #paintCells(context, metric, codes, states) {
    const table = this.theme.palette.table(metric);
    const batches = new Map();
    const glyphs = { hatch: [], down: [], session: [], optics: [], drained: [] };
    for (const cell of this.layout.cells) {
      const code = codes[cell.port];
      const glyph = glyphOf(code, states[cell.port]);
      if (glyph) glyphs[glyph].push(cell);
      const batch = batches.get(code);
      if (batch) batch.push(cell);
      else batches.set(code, [cell]);
    }
    for (const [code, cells] of batches) paintSolid(context, cells, table[code]);
    this.#paintGlyphs(context, glyphs);
  }

  /** Shapes of states, on the colours of any metric: a port that is down never looks like an idle one. */
  #paintGlyphs(context, glyphs) {
    const { states, lines } = this.theme.palette;
    stroke(context, glyphs.hatch, lines.hatch, 1, ({ x, y, size }) => {
      context.moveTo(x, y + size);
      context.lineTo(x + size, y);
    });
    paintSolid(context, glyphs.down, states.down);
    stroke(context, glyphs.down.filter(isLarge), states.ink, 1.4, ({ x, y, size }) => {
      context.moveTo(x + 2, y + 2);
      context.lineTo(x + size - 2, y + size - 2);
      context.moveTo(x + size - 2, y + 2);
      context.lineTo(x + 2, y + size - 2);
    });
    paintSolid(context, glyphs.session, states.session);
    stroke(context, glyphs.session.filter(isLarge), states.ink, 1.6, ({ x, y, size }) => {
      context.moveTo(x + 2, y + size / 2);
      context.lineTo(x + size - 2, y + size / 2);
    });
    context.fillStyle = states.optics;
    for (const { x, y, size } of glyphs.optics) {
      context.beginPath();
      context.arc(x + size / 2, y + size / 2, Math.max(size / 3.2, 1.5), 0, 7);
      context.fill();
    }
    paintSolid(context, glyphs.drained, states.drained);
    stroke(context, glyphs.drained, lines.hatch, 1, ({ x, y, size }) =>
      context.rect(x + 0.5, y + 0.5, size - 1, size - 1),
    );
  }

  /** Marks what is hovered or selected: {block, cell, link}. */
  mark(target) {
    const context = this.marks.getContext("2d");
    if (this.#marked) context.clearRect(...this.#marked);
    this.#marked = null;
    if (!target?.block && !target?.link) return;
    const links = target.link ? [target.link] : this.#linksOf(target);
    const cells = target.cell ? [target.cell] : [];
    this.#marked = boundsOf(links, target.block);
    context.strokeStyle = this.theme.palette.lines.accent;
    context.lineWidth = links.length > 8 ? 0.8 : 1.6;
    context.beginPath();
    for (const link of links) trace(context, link);
    context.stroke();
    context.lineWidth = 1.5;
    for (const { x, y, size } of cells) context.strokeRect(x - 1, y - 1, size + 2, size + 2);
    if (target.block) {
      context.beginPath();
      context.roundRect(target.block.x - 1.5, target.block.y - 1.5, target.block.width + 3, target.block.height + 3, 5);
      context.stroke();
    }
  }

  #linksOf({ block, cell }) {
    const ports = new Set(cell ? [cell.port] : block.cells.map((each) => each.port));
    return this.layout.links.filter((link) => ports.has(link.near) || ports.has(link.far));
  }
}

const isLarge = (cell) => cell.size >= GLYPH;

const isSilent = (state) => state === STATE.stale || state === STATE.unknown;

/** The higher of two codes, of which either may be unknown. */
function higher(code, other) {
  if (code === UNREAD) return other;
  return other === UNREAD || code > other ? code : other;
}

function glyphOf(code, state) {
  if (state === STATE.down) return "down";
  if (state === STATE.session) return "session";
  if (state === STATE.optics) return "optics";
  if (state === STATE.drained) return "drained";
  return code === UNREAD || isSilent(state) ? "hatch" : null;
}

function trace(context, { x1, y1, x2, y2 }) {
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
}

function stroke(context, cells, colour, width, path) {
  if (cells.length === 0) return;
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  cells.forEach(path);
  context.stroke();
}

function paintSolid(context, cells, colour) {
  context.fillStyle = colour;
  for (const { x, y, size } of cells) context.fillRect(x, y, size, size);
}

/** The box that marks touch, to be cleared before the next ones. */
function boundsOf(links, block) {
  const xs = links.flatMap((link) => [link.x1, link.x2]);
  const ys = links.flatMap((link) => [link.y1, link.y2]);
  if (block) {
    xs.push(block.x, block.x + block.width);
    ys.push(block.y, block.y + block.height);
  }
  const [left, top] = [Math.min(...xs) - 4, Math.min(...ys) - 4];
  return [left, top, Math.max(...xs) + 4 - left, Math.max(...ys) + 4 - top];
}

/** What lies under a point of the drawing: a port cell, a block, or a link. */

const NEAR_LINK = 4;
const FEW_LINKS = 400;
const BIN = 32;

export class Hits {
  #bins = new Map();

  constructor(layout) {
    this.layout = layout;
    for (const block of layout.blocks) {
      for (const key of keysOf(block)) {
        if (!this.#bins.has(key)) this.#bins.set(key, []);
        this.#bins.get(key).push(block);
      }
    }
  }

  /** {block, cell, link}, each null where nothing of its kind is at the point. */
  at(x, y) {
    const block = (this.#bins.get(keyOf(x, y)) ?? []).find((each) => inside(each, each.width, each.height, x, y));
    if (!block) return { block: null, cell: null, link: this.#linkAt(x, y) };
    const cell = block.cells.find((each) => inside(each, each.size + 1.5, each.size + 1.5, x, y)) ?? null;
    return { block, cell, link: null };
  }

  #linkAt(x, y) {
    if (this.layout.links.length > FEW_LINKS) return null;
    let [nearest, least] = [null, NEAR_LINK];
    for (const link of this.layout.links) {
      const distance = distanceTo(link, x, y);
      if (distance < least) [nearest, least] = [link, distance];
    }
    return nearest;
  }
}

const keyOf = (x, y) => Math.floor(x / BIN) * 10_000 + Math.floor(y / BIN);
const inside = (box, width, height, x, y) => x >= box.x && x < box.x + width && y >= box.y && y < box.y + height;

function* keysOf(block) {
  for (let x = Math.floor(block.x / BIN); x <= (block.x + block.width) / BIN; x++) {
    for (let y = Math.floor(block.y / BIN); y <= (block.y + block.height) / BIN; y++) yield x * 10_000 + y;
  }
}

function distanceTo({ x1, y1, x2, y2 }, x, y) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const share = Math.min(Math.max(((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1), 0), 1);
  return Math.hypot(x - x1 - share * dx, y - y1 - share * dy);
}

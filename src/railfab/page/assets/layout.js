/** Places of blocks, cells and links in the drawing, for a width. Pure: the same fabric and width, the same places. */

import { tiersOf } from "./tiers.js";

export const LABEL = 15;
const CAPTION = 18;
const GUTTER = 104;
const NARROW = 720;
const PADDING = 3;
const GROUP_GAP = 20;
const LARGEST = 14;
const SMALLEST = 4.5;
const MOST_LINES = 8;
const MOST_HEIGHT = 112;
const SHELF_GAP = 3;

/** {width, height, tiers, blocks, cells, links}: see `placeTier` and `linkPlaces`. */
export function layOut(fabric, network, width) {
  const narrow = width < NARROW;
  const left = narrow ? 0 : GUTTER;
  const tiers = tiersOf(fabric, network);
  const gap = Math.min(Math.max(30 + Math.sqrt(fabric.links.length) * 1.4, 44), 84) * (narrow ? 0.7 : 1);
  let y = narrow ? CAPTION : 2;
  let above = "";
  const placed = tiers.map((tier) => {
    const names = [...new Set(tier.blocks.map((block) => block.group))].join();
    const row = placeTier(tier, left, y, width - left, names !== above && names.includes(","));
    above = names;
    y = row.bottom + gap + (narrow ? CAPTION : 0);
    return row;
  });
  const blocks = placed.flatMap((row) => row.blocks);
  const cells = blocks.flatMap((block) => block.cells);
  return {
    width,
    height: Math.ceil((placed.at(-1)?.bottom ?? 0) + 4),
    narrow,
    tiers: placed,
    blocks,
    cells,
    byName: new Map(blocks.map((block) => [block.name, block])),
    links: linkPlaces(fabric, blocks),
  };
}

/** A tier in as few lines as give its cells a readable size. named: whether its groups have captions. */
function placeTier(tier, left, top, width, named) {
  const groups = grouped(tier.blocks);
  let best = null;
  for (let count = 1; count <= MOST_LINES; count++) {
    const lines = inLines(groups, count);
    const fit = fitted(lines, width);
    if (!best || fit.pitch > best.pitch * 1.2) best = fit;
    if (best.pitch >= SMALLEST) break;
  }
  let y = top;
  const captions = [];
  const blocks = [];
  for (const line of best.lines) {
    const start = y + (named ? CAPTION : 0);
    let x = left;
    for (const group of line) {
      const end = x + group.blocks.length * best.slot;
      if (named)
        captions.push({ text: end - x < 90 ? group.name.split(" · ").at(-1) : group.name, x, y, width: end - x });
      group.blocks.forEach((block, place) => blocks.push(placeBlock(block, best, x + place * best.slot, start)));
      x = end + GROUP_GAP;
    }
    y = Math.max(...blocks.map((block) => block.y + block.height)) + 8;
  }
  return { name: tier.name, count: tier.blocks.length, y: top, bottom: y - 8, blocks, captions, slot: best.slot };
}

function grouped(blocks) {
  const groups = new Map();
  for (const block of blocks) {
    if (!groups.has(block.group)) groups.set(block.group, { name: block.group, blocks: [] });
    groups.get(block.group).blocks.push(block);
  }
  return [...groups.values()];
}

/** Groups in lines; where there are fewer groups than lines, a group goes over several. */
function inLines(groups, count) {
  const parts =
    groups.length >= count ? groups : groups.flatMap((group) => split(group, Math.ceil(count / groups.length)));
  const each = Math.ceil(parts.length / count);
  return Array.from({ length: Math.ceil(parts.length / each) }, (_, line) =>
    parts.slice(line * each, (line + 1) * each),
  );
}

function split(group, count) {
  const each = Math.ceil(group.blocks.length / count);
  return Array.from({ length: Math.ceil(group.blocks.length / each) }, (_, part) => ({
    name: group.name,
    blocks: group.blocks.slice(part * each, (part + 1) * each),
  }));
}

/** Columns and size of the cells with which the longest line fits. */
function fitted(lines, width) {
  const slot = Math.min(
    ...lines.map((line) => {
      const count = line.reduce((sum, group) => sum + group.blocks.length, 0);
      return (width - GROUP_GAP * (line.length - 1)) / count;
    }),
  );
  const blocks = lines.flat().flatMap((group) => group.blocks);
  const widest = Math.max(...blocks.map((block) => longest(block)));
  const inner = slot - (slot > 24 ? 2 * PADDING + 6 : 1.5);
  let best = { pitch: 0, columns: 1, score: -1 };
  for (let columns = 1; columns <= widest; columns++) {
    const rows = Math.max(...blocks.map((block) => rowsOf(block, columns)));
    const pitch = Math.min(LARGEST, inner / columns, Math.max(MOST_HEIGHT / rows, 3.5));
    const even = blocks.every((block) => block.rows || block.down.length % columns === 0);
    const score = pitch + (even ? pitch * 0.4 : 0) + columns * 0.001;
    if (score > best.score) best = { pitch, columns, score };
  }
  return { ...best, slot, lines };
}

const longest = (block) =>
  block.rows ? Math.max(...block.rows.map((row) => row.length)) : Math.max(block.up.length, block.down.length, 1);
const rowsOf = (block, columns) => shelves(block, columns).reduce((sum, shelf) => sum + shelf.length, 0);

/** The rows of cells of a block, in shelves with a gap between them. */
function shelves(block, columns) {
  if (block.rows) return [block.rows.flatMap((row) => chunks(row, columns))];
  return [chunks(block.up, columns), chunks(block.down, columns)].filter((shelf) => shelf.length);
}

function chunks(ports, columns) {
  return Array.from({ length: Math.ceil(ports.length / columns) }, (_, row) =>
    ports.slice(row * columns, (row + 1) * columns),
  );
}

/** A block: {x, y, width, height, cells, ...}; a cell is {port, x, y, size, isUp, block}. */
function placeBlock(block, { pitch, columns, slot }, x, y) {
  const label = slot >= 26 ? LABEL : 0;
  const padding = slot > 24 ? PADDING : 0;
  const rows = shelves(block, columns);
  const across = Math.max(...rows.flat().map((row) => row.length), 1) * pitch;
  const size = pitch - (pitch > 6 ? 1.5 : 1);
  const width = Math.max(across - (pitch - size) + 2 * padding, label ? Math.min(slot - 6, 44) : 0);
  const placed = { ...block, x: x + (slot - width) / 2, y, width, label: label ? block.label : "", cells: [] };
  let top = y + label + padding;
  const begin = placed.x + (width - across + pitch - size) / 2;
  for (const [place, shelf] of rows.entries()) {
    for (const row of shelf) {
      row.forEach((port, column) =>
        placed.cells.push({
          port,
          x: begin + column * pitch,
          y: top,
          size,
          isUp: block.up.length > 0 && place === 0,
          block: placed,
        }),
      );
      top += pitch;
    }
    if (place < rows.length - 1) top += SHELF_GAP;
  }
  placed.height = top - (pitch - size) + padding - y;
  return placed;
}

/** Each link of the drawing: {near, far, x1, y1, x2, y2}, from the lower block to the upper; far is -1 at a host. */
function linkPlaces(fabric, blocks) {
  const ofPort = new Map();
  const atHost = new Map();
  for (const block of blocks) {
    for (const cell of block.cells) (block.kind === "host" ? atHost : ofPort).set(cell.port, cell);
  }
  return fabric.links.flatMap(([near, far]) => {
    const ends = [ofPort.get(near), far === -1 ? atHost.get(near) : ofPort.get(far)];
    return ends.every(Boolean) ? [{ near, far, ...lineOf(...ends) }] : [];
  });
}

function lineOf(cell, peer) {
  const [upper, lower] = cell.block.y < peer.block.y ? [cell, peer] : [peer, cell];
  const middle = (end) => end.x + end.size / 2;
  if (upper.block.y === lower.block.y) {
    const y = upper.block.y + upper.block.height / 2;
    const [west, east] = upper.block.x < lower.block.x ? [upper.block, lower.block] : [lower.block, upper.block];
    return { x1: west.x + west.width, y1: y, x2: east.x, y2: y };
  }
  return { x1: middle(lower), y1: lower.block.y, x2: middle(upper), y2: upper.block.y + upper.block.height };
}

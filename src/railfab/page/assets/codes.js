/** The bytes of a frame and what they mean: one byte a port and metric, as the server quantises them. */

import { bytes, percent, perSecond, UNKNOWN } from "./format.js";

export const UNREAD = 255;
export const STATE = { up: 0, down: 1, session: 2, stale: 3, optics: 4, drained: 5, unknown: UNREAD };
export const STATE_NAMES = new Map([
  [STATE.up, "up"],
  [STATE.down, "down"],
  [STATE.session, "session down"],
  [STATE.optics, "optics poor"],
  [STATE.drained, "drained"],
  [STATE.stale, "stale"],
  [STATE.unknown, "unknown"],
]);
const DROPS = new Map([
  [0, "none"],
  [1, "of lossy classes"],
  [2, "of a lossless class"],
]);
const QUEUE_TOP = 250;
const QUEUE_STEPS = [
  [80, "kmin_bytes"],
  [160, "kmax_bytes"],
  [QUEUE_TOP, "xoff_bytes"],
];
const SHARE = 200;

/** Bytes in a queue from its code, on the scale 0, Kmin, Kmax, xoff; null where it is not known. */
export function queueBytes(code, bounds) {
  if (code === UNREAD || !bounds) return null;
  let [below, lower] = [0, 0];
  for (const [code_limit, name] of QUEUE_STEPS) {
    const upper = bounds[name] ?? lower;
    if (code <= code_limit) return lower + ((code - below) / (code_limit - below)) * (upper - lower);
    [below, lower] = [code_limit, upper];
  }
  return lower;
}

const share = (code) => (code === UNREAD ? UNKNOWN : percent(code / SHARE));

/** Metrics in the order of the page. top: the highest code. text: a code in words, with its port and fabric. */
export const METRICS = [
  { id: "utilisation", name: "Utilisation", top: SHARE, text: share, ends: ["0 %", "100 %"] },
  {
    id: "queue",
    name: "Queue",
    top: QUEUE_TOP,
    text: queueText,
    ends: ["0", "xoff"],
    ticks: [
      [80, "Kmin"],
      [160, "Kmax"],
    ],
  },
  { id: "ecn", name: "ECN marks", top: SHARE, text: share, ends: ["0 %", "100 % of packets"] },
  { id: "pause", name: "Pauses", top: SHARE, text: pauseText, ends: ["none", "most"] },
  { id: "drops", name: "Drops", top: 2, text: (code) => DROPS.get(code) ?? UNKNOWN, steps: [...DROPS] },
  { id: "state", name: "State", top: 5, text: (code) => STATE_NAMES.get(code) ?? UNKNOWN, steps: [...STATE_NAMES] },
];

export const metricOf = (id) => METRICS.find((metric) => metric.id === id) ?? METRICS[0];

function queueText(code, port, fabric) {
  if (code === UNREAD) return UNKNOWN;
  const bounds = fabric.boundsOf(port);
  const depth = queueBytes(code, bounds);
  if (depth === null) return percent(code / QUEUE_TOP);
  if (code === QUEUE_TOP) return `${bytes(depth)} or more, at xoff`;
  if (code > 160) return `${bytes(depth)}, above Kmax`;
  return code > 80 ? `${bytes(depth)}, above Kmin` : bytes(depth);
}

function pauseText(code, port, fabric) {
  if (code === UNREAD) return UNKNOWN;
  const scale = fabric.design.pause_scale;
  if (!scale || scale.kind === "share") return `${percent(code / SHARE)} of the time`;
  return perSecond(code === 0 ? 0 : 10 ** (code / scale.per_decade) - 1);
}

/** Bytes from base64. */
export function decode(text) {
  const binary = atob(text);
  const values = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place++) values[place] = binary.charCodeAt(place);
  return values;
}

/** Port indices from base64, two or four bytes each, the lowest first. */
export function decodeIndices(text, wide) {
  const raw = decode(text);
  return wide ? new Uint32Array(raw.buffer) : new Uint16Array(raw.buffer);
}

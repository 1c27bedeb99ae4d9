/** What the bytes of ports say in words, for tooltips, tables and screen readers. */

import { METRICS, metricOf, STATE, STATE_NAMES, UNREAD } from "./codes.js";
import { UNKNOWN } from "./format.js";

const SILENT = new Set([STATE.stale, STATE.unknown]);

/** The state of a port now: unknown while no values come. */
export function stateOf(live, number) {
  return live.isCurrent ? live.columns.state[number] : STATE.unknown;
}

/** The code of a metric of a port; UNREAD where nobody knows it now. */
export function codeOf(live, metric, number) {
  const state = stateOf(live, number);
  if (metric.id === "state") return state;
  return SILENT.has(state) ? UNREAD : live.columns[metric.id][number];
}

export const stateName = (live, number) => STATE_NAMES.get(stateOf(live, number)) ?? UNKNOWN;

export function textOf(live, metric, number) {
  const code = codeOf(live, metric, number);
  return metric.text(code, live.fabric.ports[number], live.fabric);
}

/** [name, text] of each metric of a port. */
export function readingsOf(live, number) {
  return METRICS.map((metric) => [metric.name, textOf(live, metric, number)]);
}

/** How bad a state is: what is known to be wrong first, then what nobody knows. */
const URGENCY = new Map([
  [STATE.down, 5],
  [STATE.session, 4],
  [STATE.optics, 3],
  [STATE.stale, 2],
  [STATE.unknown, 2],
  [STATE.drained, 1],
  [STATE.up, 0],
]);

/** {state, counts, worst, unread, busiest}: of some ports. worst: the highest code of a metric, UNREAD of none. */
export function summary(live, metric, numbers) {
  const counts = new Map();
  let [worst, busiest, unread] = [-1, null, 0];
  for (const number of numbers) {
    const state = stateOf(live, number);
    counts.set(state, (counts.get(state) ?? 0) + 1);
    const code = codeOf(live, metric, number);
    if (code === UNREAD) unread += 1;
    else if (code > worst) [worst, busiest] = [code, number];
  }
  return { counts, unread, worst: worst < 0 ? UNREAD : worst, busiest };
}

/** One sentence of a node for a screen reader. */
export function nodeInWords(live, metricId, block) {
  const numbers = block.cells.map((cell) => cell.port);
  const metric = metricOf(metricId);
  const { counts, worst, busiest } = summary(live, metric, numbers);
  const states = [...counts]
    .sort(([state], [other]) => URGENCY.get(other) - URGENCY.get(state))
    .map(([state, count]) => `${count} ${STATE_NAMES.get(state)}`);
  const highest =
    busiest === null || metric.id === "state"
      ? ""
      : ` Highest ${metric.name.toLowerCase()}: ${metric.text(worst, live.fabric.ports[busiest], live.fabric)}.`;
  return `${block.name}, ${numbers.length} ports: ${states.join(", ")}.${highest}`;
}

/** What the fabric does now: the last frame, totals, jobs and events of the server's stream. */

import { ServerClock } from "./clock.js";
import { decode, decodeIndices, METRICS, UNREAD } from "./codes.js";

const HISTORY = 120;
const SLEPT_MS = 20_000;
const SILENT_INTERVALS = 5;
const RETRY_MS = 2_000;

export class Live extends EventTarget {
  clock = new ServerClock();
  totals = null;
  history = [];
  jobs = new Map();
  log = new Map();
  isConnected = false;
  hasFrame = false;
  sleptFor_s = null;
  #woken_ms = performance.now();
  #source = null;

  constructor(fabric) {
    super();
    this.fabric = fabric;
    const { tick_s, interval_s } = fabric.design;
    this.silence_s = SILENT_INTERVALS * Math.max(1, tick_s ?? interval_s);
    this.columns = Object.fromEntries(
      METRICS.map((metric) => [metric.id, new Uint8Array(fabric.ports.length).fill(UNREAD)]),
    );
  }

  /** Opens the stream, and again whenever the server has gone. */
  open() {
    this.#source?.close();
    const source = new EventSource("events");
    this.#source = source;
    source.addEventListener("open", () => this.#connected(true));
    source.addEventListener("error", () => {
      this.#connected(false);
      if (source.readyState === EventSource.CLOSED && this.#source === source) setTimeout(() => this.open(), RETRY_MS);
    });
    this.#on(source, "hello", ({ fabric }) => fabric === this.fabric.name || location.reload());
    this.#on(source, "frame", (frame) => this.#apply(frame));
    this.#on(source, "totals", (totals) => {
      this.totals = totals;
      this.history = [...this.history, totals].slice(-HISTORY);
    });
    this.#on(source, "job", (job) => this.#begin(job));
    this.#on(source, "log", (entry) => this.addToLog([entry]));
    setInterval(() => this.#watchSleep(), 1000);
  }

  #on(source, kind, read) {
    source.addEventListener(kind, (message) => {
      read(JSON.parse(message.data));
      this.dispatchEvent(new Event(kind));
    });
  }

  #connected(now) {
    if (this.isConnected === now) return;
    this.isConnected = now;
    this.dispatchEvent(new Event("connection"));
  }

  /** A page whose timers stood still has slept: it starts with what is now. */
  #watchSleep() {
    const now_ms = performance.now();
    const pause_ms = now_ms - this.#woken_ms;
    this.#woken_ms = now_ms;
    if (pause_ms < SLEPT_MS || document.hidden) return;
    this.sleptFor_s = pause_ms / 1000;
    this.clock.restart();
    this.open();
  }

  /** Whether the values are of now. Where they are not, no port is shown as healthy. */
  get isCurrent() {
    return this.hasFrame && this.clock.age_s() < this.silence_s;
  }

  #apply(frame) {
    const wide = this.fabric.ports.length > 0xffff;
    for (const [name, held] of Object.entries(frame.columns)) {
      const column = this.columns[name];
      if (typeof held === "string") column.set(decode(held));
      else {
        const values = decode(held.value);
        decodeIndices(held.index, wide).forEach((port, place) => (column[port] = values[place]));
      }
    }
    this.hasFrame = true;
    this.sim_s = frame.sim_s;
    this.clock.note(frame.at_s);
  }

  /** One job runs at a time: an event of another, or of none, ends those before. */
  #begin(job) {
    for (const [name, past] of this.jobs) this.jobs.set(name, { ...past, running: false });
    if (job.job === null) return;
    this.jobs.delete(job.job);
    this.jobs.set(job.job, job);
  }

  addToLog(entries) {
    for (const entry of entries) this.log.set(entry.id, entry);
  }

  /** Events, the newest first. */
  get events() {
    return [...this.log.values()].sort((entry, later) => later.at_s - entry.at_s);
  }
}

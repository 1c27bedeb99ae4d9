/** The time of the server, as this browser knows it: its own clock is only compared with it. */

export const SKEW_LIMIT_S = 5;
const KEPT = 5;

export class ServerClock {
  #skews = [];
  #at_s = null;
  #read_ms = 0;

  /** Notes the time that a message of the server carries. */
  note(at_s, now_ms = Date.now(), steady_ms = performance.now()) {
    this.#at_s = at_s;
    this.#read_ms = steady_ms;
    this.#skews = [...this.#skews, now_ms / 1000 - at_s].slice(-KEPT);
  }

  /** Seconds since the last message; null before the first. */
  age_s(steady_ms = performance.now()) {
    return this.#at_s === null ? null : (steady_ms - this.#read_ms) / 1000;
  }

  now_s() {
    return this.#at_s === null ? Date.now() / 1000 : this.#at_s + this.age_s();
  }

  /** Seconds by which this browser is ahead of the server: of the last messages the one that came soonest. */
  skew_s() {
    if (this.#skews.length === 0) return 0;
    return this.#skews.reduce((least, skew) => (Math.abs(skew) < Math.abs(least) ? skew : least));
  }

  /** Forgets the comparisons from before a pause of the page. */
  restart() {
    this.#skews = [];
  }
}

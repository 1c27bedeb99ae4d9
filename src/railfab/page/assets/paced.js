/** Work that a frame of values asks for, one part in each frame of the screen: the pointer never waits for all of it. */

export class Paced {
  #waiting = new Map();
  #isScheduled = false;

  /** Does a part soon; asked for again before, it is done once. */
  soon(name, work) {
    this.#waiting.set(name, work);
    this.#schedule();
  }

  #schedule() {
    if (this.#isScheduled || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      const [name, work] = this.#waiting.entries().next().value;
      this.#waiting.delete(name);
      work();
      this.#schedule();
    });
  }
}

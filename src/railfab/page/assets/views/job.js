/** Jobs: the last ten steps, what each consisted of, and how far from ideal they are. */

import { Chart } from "../chart.js";
import { fill, h } from "../dom.js";
import { number, percent, seconds, time, UNKNOWN } from "../format.js";
import { route, routeOfNode, routeOfPort } from "../router.js";

const PARTS = [
  ["compute_s", "Compute", "compute"],
  ["exposed_s", "Exposed communication", "communication"],
  ["waiting_s", "Waiting, beyond ideal", "waiting"],
];
const REFRESH_MS = 5_000;
const SPAN_S = 600;

/** Compute, exposed communication, and what the communication took longer than it would in an ideal network. */
function partsOf({ step_s, ideal_s, compute_s, communication_s }) {
  const waiting_s = ideal_s === null ? 0 : Math.min(Math.max(step_s - ideal_s, 0), communication_s);
  return { compute_s, exposed_s: communication_s - waiting_s, waiting_s };
}

export default class JobView {
  #name = null;
  #timer = null;

  constructor(page) {
    this.page = page;
    this.choice = h("div");
    this.facts = h("dl", { class: "facts" });
    this.legend = h(
      "p",
      { class: "legend" },
      PARTS.map(([, name, kind]) => h("span", { class: "swatch" }, h("i", { class: `part ${kind}` }), name)),
      h("span", { class: "swatch" }, h("i", { class: "ideal-key" }), "Ideal step"),
    );
    this.steps = h("div", { class: "steps" });
    this.trouble = h("p", { class: "card bad", hidden: true });
    this.body = h("div", { class: "job-body" });
    this.element = h(
      "div",
      { class: "page-view" },
      h("div", { class: "view-head" }, h("h1", {}, "Job"), this.choice),
      this.body,
    );
    page.live.addEventListener("job", () => this.#timer && this.#update());
    page.live.addEventListener("connection", () => this.#timer && this.#update());
  }

  open([name]) {
    this.#name = name ?? null;
    this.#timer ??= setInterval(() => this.#refresh(), REFRESH_MS);
    this.#update();
    this.#refresh();
  }

  close() {
    clearInterval(this.#timer);
    this.#timer = null;
    this.chart?.close();
    this.chart = null;
  }

  #update() {
    const { live } = this.page;
    const names = [...live.jobs.keys()];
    const job = live.jobs.get(this.#name ?? names.at(-1));
    this.#showChoice(names, job?.job);
    if (!job) {
      fill(this.body, h("p", { class: "card empty" }, this.#none()));
      this.parts = null;
      return;
    }
    if (this.parts !== job.job) this.#begin(job);
    this.#showFacts(job);
    this.#showSteps(job);
  }

  #none() {
    if (this.#name) return `No job ${this.#name} is known. It may have ended before this page was opened.`;
    return this.page.token ? "No job runs. Start one under Try it." : "No job runs.";
  }

  #showChoice(names, chosen) {
    const text = JSON.stringify([names, chosen]);
    if (text === this.choiceText) return;
    this.choiceText = text;
    fill(
      this.choice,
      names.length > 1 &&
        h(
          "nav",
          { class: "chips", "aria-label": "Jobs" },
          names.map((name) =>
            h("a", { href: route("job", name), "aria-current": name === chosen ? "page" : null }, name),
          ),
        ),
    );
  }

  #begin(job) {
    this.parts = job.job;
    this.chart?.close();
    this.chart = new Chart({
      title: "Step time",
      metrics: ["step_s"],
      place: { job: job.job },
      theme: this.page.theme,
      sync: "job",
    });
    fill(
      this.body,
      this.facts,
      this.trouble,
      h(
        "section",
        { class: "card" },
        h("div", { class: "card-head" }, h("h2", {}, "Last ten steps"), this.legend),
        this.steps,
      ),
      h("section", { class: "card" }, this.chart.element),
    );
    this.#refresh();
  }

  #refresh() {
    if (!this.chart || !this.page.live.isCurrent) return;
    const now_s = this.page.live.clock.now_s();
    this.chart.load(now_s - SPAN_S, now_s);
  }

  #showFacts(job) {
    const { isCurrent } = this.page.live;
    const over = job.step_s && job.ideal_s ? job.step_s / job.ideal_s - 1 : null;
    const state = !isCurrent ? "unknown" : job.running ? "running" : "ended";
    const facts = [
      ["Job", [job.job, h("small", {}, state)]],
      ["Steps", [number(job.steps), job.progress && h("small", {}, `${percent(job.progress.share)} of the next`)]],
      [
        "Step",
        [
          seconds(job.step_s),
          h("small", {}, over === null ? "" : `${percent(Math.abs(over))} ${over >= 0 ? "above" : "below"} ideal`),
        ],
      ],
      ["Ideal step", seconds(job.ideal_s)],
      ["Slowest rank", this.#slowest(job.slowest)],
      ["Slowest link", this.#link(job.slowest)],
    ];
    const trouble = [...(job.stalled ?? []), job.failure].filter(Boolean);
    this.trouble.hidden = trouble.length === 0;
    this.trouble.textContent = trouble.join(" ");
    fill(
      this.facts,
      facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    );
  }

  #slowest(slowest) {
    if (!slowest || (slowest.rank ?? null) === null) return UNKNOWN;
    const href = slowest.host && routeOfNode(this.page.fabric, slowest.host);
    return [`${slowest.rank}`, slowest.host && h("small", {}, href ? h("a", { href }, slowest.host) : slowest.host)];
  }

  #link(slowest) {
    if (!slowest?.link) return UNKNOWN;
    const { fabric } = this.page;
    const port = fabric.portOf(slowest.link);
    return [
      port >= 0 ? h("a", { href: routeOfPort(fabric, port) }, slowest.link) : slowest.link,
      slowest.target && h("small", {}, `to ${slowest.target}`),
    ];
  }

  /** A bar for each step, on one scale, with the ideal step as a line. */
  #showSteps(job) {
    const steps = [...job.last].reverse();
    if (steps.length === 0) {
      fill(this.steps, h("p", { class: "empty" }, "The first step has not ended."));
      return;
    }
    const longest = Math.max(...steps.flatMap((step) => [step.step_s, step.ideal_s ?? 0])) * 1.04;
    fill(
      this.steps,
      steps.map((step) => this.#step(step, longest)),
    );
  }

  #step(step, longest) {
    const parts = partsOf(step);
    const bar = h("div", { class: "step-bar", "aria-hidden": "true" });
    for (const [field, , kind] of PARTS) {
      const part = h("i", { class: `part ${kind}` });
      part.style.width = `${(parts[field] / longest) * 100}%`;
      bar.append(part);
    }
    if (step.ideal_s) {
      const line = h("b", { class: "ideal" });
      line.style.left = `${(step.ideal_s / longest) * 100}%`;
      bar.append(line);
    }
    const words = PARTS.map(([field, name]) => `${name.toLowerCase()} ${seconds(parts[field])}`).join(", ");
    const at = h(
      "a",
      { href: `#/events?at=${Math.round(step.at_s)}`, title: "What happened around this step" },
      time(step.at_s, this.page.live.clock.now_s()),
    );
    return h(
      "div",
      { class: "step", title: words },
      h("span", { class: "step-number" }, `Step ${number(step.number)}`),
      at,
      bar,
      h("span", { class: "number" }, seconds(step.step_s)),
      h("span", { class: "hidden" }, words),
    );
  }
}

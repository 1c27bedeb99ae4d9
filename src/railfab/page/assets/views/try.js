/**
 * Try it: changes of a twin. Each form posts its fields to /api/actions/KIND and shows the command that does the same:
 * job {job: a name, or "none"}, fault {kind: "optic", node, interface, loss_db} or {kind: "host", host, rx_gbps} or
 * {kind: "switch", switch, operation}, cable {node, interface, up}, threshold {rate_gbps, kmin_bytes, kmax_bytes, pmax_percent}, which answers
 * {id, diffs} and changes nothing until deploy {id}.
 */

import { act, Refused } from "../api.js";
import { command, h } from "../dom.js";
import { choice, port, quantity } from "../fields.js";
import { time } from "../format.js";

const OPERATIONS = [
  ["stop", "stop its telemetry"],
  ["start", "start its telemetry"],
];
const LINK = [
  ["down", "cut it"],
  ["up", "plug it in"],
];

export default class TryView {
  constructor(page) {
    this.page = page;
    this.results = h(
      "div",
      { class: "results" },
      h("p", { class: "empty" }, "What you do is listed here, with the command that does the same."),
    );
    this.element = h(
      "div",
      { class: "page-view" },
      h(
        "div",
        { class: "view-head" },
        h("h1", {}, "Try it"),
        h("p", { class: "empty" }, "This fabric is simulated: nothing here can harm a real one."),
      ),
      h("div", { class: "forms" }, this.#forms()),
      h("section", { class: "card", "aria-live": "polite" }, h("h2", {}, "Done"), this.results),
    );
  }

  open() {}

  close() {}

  #forms() {
    const { fabric } = this.page;
    const switches = fabric.switches.map((node) => node.name);
    return [
      this.#form("job", "Run a job", "The hosts change to it at once, or end theirs.", "Run", [
        choice("job", "Job", [...fabric.design.jobs, ["none", "none: hosts send nothing"]]),
      ]),
      this.#form("cable", "Cut a cable", "Both ends lose their link, and routing avoids it.", "Change", [
        port(fabric, "Cable"),
        mapped(choice("up", "What to do", LINK), ({ up }) => ({ up: up === "up" })),
      ]),
      this.#form(
        "fault",
        "Make an optic dirty",
        "From 2.4 dB on frames are lost, from 10 dB on there is no signal. 0 cleans it.",
        "Change",
        [
          port(fabric, "Optic"),
          quantity("loss_db", "Light that it misses [dB]", { least: 0, most: 30, value: 2.6 }),
          fixed({ kind: "optic" }),
        ],
      ),
      this.#form(
        "fault",
        "Slow a host down",
        "It takes packets from its NICs at this rate only, and its leaf is paused.",
        "Change",
        [
          choice("host", "Host", [...fabric.portsOfHost.keys()]),
          quantity("rx_gbps", "Rate [Gb/s]", { least: 0, most: 800, value: 20 }),
          fixed({ kind: "host" }),
        ],
      ),
      this.#form(
        "fault",
        "Silence a switch",
        "It still forwards, but sends no telemetry: the page must not call it healthy.",
        "Change",
        [
          choice("switch", "Switch", switches),
          choice("operation", "What to do", OPERATIONS),
          fixed({ kind: "switch" }),
        ],
      ),
      this.#thresholds(),
    ];
  }

  /** Thresholds of the ports of one speed; the fields begin with those that the design has. */
  #thresholds() {
    const { bounds } = this.page.fabric.design;
    const rate = choice(
      "rate_gbps",
      "Ports of",
      Object.keys(bounds).map((gbps) => [gbps, `${gbps} Gb/s`]),
    );
    const kB = (name, label) => quantity(name, label, { least: 1, most: 1e6, step: "1", value: 1, factor: 1000 });
    const [kmin, kmax] = [kB("kmin_bytes", "Kmin [kB]"), kB("kmax_bytes", "Kmax [kB]")];
    const begin = () => {
      kmin.field.value = Math.round(bounds[rate.field.value].kmin_bytes / 1000);
      kmax.field.value = Math.round(bounds[rate.field.value].kmax_bytes / 1000);
    };
    rate.field.addEventListener("change", begin);
    begin();
    const text = "Nothing changes before you have seen the difference and deployed it.";
    return this.#form("threshold", "Change ECN thresholds", text, "Show the difference", [
      mapped(rate, ({ rate_gbps }) => ({ rate_gbps: Number(rate_gbps) })),
      kmin,
      kmax,
      quantity("pmax_percent", "Marked at Kmax [%]", { least: 1, most: 100, value: 10, step: "1" }),
    ]);
  }

  #form(kind, title, text, verb, fields) {
    const button = h("button", { class: "button", type: "submit" }, verb);
    const submit = async (event) => {
      event.preventDefault();
      button.disabled = true;
      await this.#act(kind, title, Object.assign({}, ...fields.map((field) => field.read())));
      button.disabled = false;
    };
    return h(
      "form",
      { class: "card form", data: { kind }, onsubmit: submit },
      h("h2", {}, title),
      h("p", {}, text),
      fields.map((field) => field.element),
      h("div", { class: "actions" }, button),
    );
  }

  async #act(kind, title, body) {
    const entry = h(
      "div",
      { class: "result" },
      h("p", {}, h("b", {}, title), ` · ${time(this.page.live.clock.now_s())}`),
    );
    try {
      const answer = await act(kind, body, this.page.token);
      entry.append(...this.#answer(answer));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      entry.classList.add("refused");
      entry.append(h("p", {}, error.message));
    }
    this.results.querySelector(":scope > .empty")?.remove();
    this.results.prepend(entry);
  }

  /** The command that does the same; of a change that is not deployed yet, its difference and a button. */
  #answer({ command: text, diffs, id }) {
    const parts = [text && command(text)];
    if (diffs)
      parts.push(
        ...(diffs.length ? diffs.map(difference) : [h("p", {}, "No difference: the switches have these thresholds.")]),
      );
    if (diffs?.length) {
      const button = h("button", { class: "button", type: "button" }, "Deploy it");
      button.addEventListener("click", async () => {
        button.disabled = true;
        await this.#act("deploy", "Deploy", { id });
        location.hash = "#/fabric";
      });
      parts.push(h("div", { class: "actions" }, button));
    }
    return parts.filter(Boolean);
  }
}

const fixed = (values) => ({ element: null, read: () => values });
const mapped = (field, change) => ({ ...field, read: () => change(field.read()) });

function difference({ switch: name, diff }) {
  const kinds = { "+": "added", "-": "removed" };
  const lines = diff.split("\n").map((line) => h("span", { class: kinds[line[0]] ?? null }, `${line}\n`));
  const text = h("pre", { class: "diff", tabindex: "0", "aria-label": `Difference of ${name}` }, h("code", {}, lines));
  return h("details", {}, h("summary", {}, name), text);
}

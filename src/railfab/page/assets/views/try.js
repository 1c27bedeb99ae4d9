/**
 * Try it: changes of a twin. Each form posts its fields to /api/actions/KIND and shows the command that does the same:
 * job {job}, fault {kind: "optic", node, interface, loss_db} or {kind: "host", host, rx_gbps} or {kind: "switch", switch,
 * operation}, cable {node, interface, up}, threshold {switch, kmin_bytes, kmax_bytes, pmax_percent}, which answers {id,
 * diff} and changes nothing until deploy {id}.
 */

import { act, Refused } from "../api.js";
import { command, h } from "../dom.js";
import { choice, port, quantity } from "../fields.js";
import { time } from "../format.js";

const ALL = ["", "all switches"];
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
    const bounds = Object.values(fabric.design.bounds)[0] ?? { kmin_bytes: 150_000, kmax_bytes: 450_000 };
    const kB = (name, label, value) =>
      quantity(name, label, { least: 1, most: 1e6, value: Math.round(value / 1000), factor: 1000 });
    return [
      this.#form("job", "Run a job", "The hosts change to it at once.", "Run", [
        choice("job", "Job", fabric.design.jobs),
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
      this.#form(
        "threshold",
        "Change ECN thresholds",
        "Nothing changes before you have seen the difference and deployed it.",
        "Show the difference",
        [
          choice("switch", "Where", [ALL, ...switches.map((name) => [name, name])]),
          kB("kmin_bytes", "Kmin [kB]", bounds.kmin_bytes),
          kB("kmax_bytes", "Kmax [kB]", bounds.kmax_bytes),
          quantity("pmax_percent", "Marked at Kmax [%]", { least: 1, most: 100, value: 10, step: "1" }),
        ],
      ),
    ];
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
  #answer({ command: text, diff, id, text: said }) {
    const parts = [text && command(text), said && h("p", {}, said)];
    if (diff !== undefined)
      parts.push(diff ? difference(diff) : h("p", {}, "No difference: the switches have these thresholds."));
    if (id !== undefined && diff) {
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

function difference(text) {
  const kinds = { "+": "added", "-": "removed" };
  const lines = text.split("\n").map((line) => h("span", { class: kinds[line[0]] ?? null }, `${line}\n`));
  return h("pre", { class: "diff", tabindex: "0" }, h("code", {}, lines));
}

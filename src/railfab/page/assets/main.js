/** Starts the page: reads the design, opens the stream, and shows the view of the address. */

import { get, Refused, takeToken } from "./api.js";
import { Banners } from "./banners.js";
import { fill, h } from "./dom.js";
import { Fabric } from "./fabric.js";
import { Header } from "./header.js";
import { Live } from "./live.js";
import { currentRoute } from "./router.js";
import { Theme } from "./theme.js";
import { FabricView } from "./views/fabric.js";

const RETRY_MS = 2_000;
const LATER_VIEWS = {
  job: () => import("./views/job.js"),
  events: () => import("./views/events.js"),
  doctor: () => import("./views/doctor.js"),
  try: () => import("./views/try.js"),
};

const main = document.getElementById("main");
const token = takeToken();
const theme = new Theme(document.getElementById("theme"));

/** The design of the fabric, asked for until the server answers. */
async function design() {
  for (;;) {
    try {
      return await get("fabric");
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      fill(main, h("p", { class: "message" }, `${error.message} Trying again every ${RETRY_MS / 1000} s.`));
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

class Page {
  views = {};
  shown = null;

  constructor(fabric) {
    this.fabric = fabric;
    this.live = new Live(fabric);
    this.theme = theme;
    this.token = token;
    this.header = new Header(this);
    this.banners = new Banners(document.getElementById("banners"), this.live);
    this.views.fabric = new FabricView(this);
  }

  start() {
    addEventListener("hashchange", () => this.show());
    for (const kind of ["totals", "frame", "connection"]) this.live.addEventListener(kind, () => this.update());
    setInterval(() => this.update(), 1000);
    this.show();
    this.live.open();
    get("log").then(
      ({ entries }) => {
        this.live.addToLog(entries);
        this.live.dispatchEvent(new Event("log"));
      },
      () => {},
    );
  }

  update() {
    this.header.update();
    this.banners.update();
    document.documentElement.classList.toggle("not-current", this.live.hasFrame && !this.live.isCurrent);
  }

  async show() {
    const { parts, query } = currentRoute();
    const name = parts[0] in LATER_VIEWS && this.header.has(parts[0]) ? parts[0] : "fabric";
    this.header.select(name);
    this.views[name] ??= new (await LATER_VIEWS[name]()).default(this);
    const view = this.views[name];
    if (view !== this.shown) {
      this.shown?.close();
      this.shown = view;
      fill(main, view.element);
    }
    view.open(parts.slice(1), query);
  }
}

new Page(new Fabric(await design())).start();

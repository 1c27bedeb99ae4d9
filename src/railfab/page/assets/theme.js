/** Dark or light: as the system has it, until the reader chooses. */

import { fill, icon, ICONS } from "./dom.js";
import { Palette } from "./palette.js";

const KEPT = "railfab-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

export class Theme extends EventTarget {
  constructor(button) {
    super();
    this.button = button;
    this.#use(localStorage.getItem(KEPT));
    dark.addEventListener("change", () => this.#use(localStorage.getItem(KEPT)));
    button.addEventListener("click", () => {
      const chosen = this.name === "dark" ? "light" : "dark";
      localStorage.setItem(KEPT, chosen);
      this.#use(chosen);
    });
  }

  #use(chosen) {
    this.name = chosen ?? (dark.matches ? "dark" : "light");
    this.palette = new Palette(this.name);
    document.documentElement.dataset.theme = this.name;
    const next = this.name === "dark" ? "light" : "dark";
    fill(this.button, icon(ICONS[next]));
    this.button.setAttribute("aria-label", `Use ${next} colours`);
    this.button.title = `Use ${next} colours`;
    this.dispatchEvent(new Event("change"));
  }
}

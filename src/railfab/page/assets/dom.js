/** Elements from names and values: no text that comes from a switch is ever parsed as HTML. */

const SVG = "http://www.w3.org/2000/svg";

/** An element. Attributes: `class`, `on*` (listeners), `data`, booleans, the rest as text. Children: nodes, texts, lists. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Replaces what is in an element. */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/** Sets a text only where it differs, so that nothing is laid out again and no screen reader repeats it. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A stroked icon of 16 px from the path of its lines. */
export function icon(path) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

export const ICONS = {
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  dark: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z",
  light:
    "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.5 1.5M11.5 11.5L13 13M3 13l1.5-1.5M11.5 4.5L13 3",
};

/** A command with a button that copies it. */
export function command(text) {
  const button = h(
    "button",
    { type: "button", class: "icon-button", "aria-label": "Copy the command" },
    icon(ICONS.copy),
  );
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.classList.add("copied");
    setTimeout(() => button.classList.remove("copied"), 1200);
  });
  return h("div", { class: "command" }, h("code", { tabindex: "0" }, text), button);
}

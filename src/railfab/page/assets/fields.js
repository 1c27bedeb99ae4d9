/** Fields of forms: a choice, a number, and a port as a node with one of its interfaces. */

import { fill, h } from "./dom.js";

const labelled = (name, field) => h("label", {}, h("span", {}, name), field);

/** {element, read}: one of some choices, each a text or [value, text]. */
export function choice(name, label, choices) {
  const options = choices
    .map((each) => (Array.isArray(each) ? each : [each, each]))
    .map(([value, text]) => h("option", { value }, text));
  const field = h("select", { class: "field", name }, options);
  return { element: labelled(label, field), field, read: () => ({ [name]: field.value }) };
}

/** A number; factor: of the unit that is shown in that of the field. */
export function quantity(name, label, { least, most, value, step = "any", factor = 1 }) {
  const field = h("input", {
    class: "field",
    type: "number",
    name,
    min: `${least}`,
    max: `${most}`,
    step,
    required: true,
    value: `${value}`,
  });
  return { element: labelled(label, field), field, read: () => ({ [name]: Number(field.value) * factor }) };
}

/** A port of the fabric; prefix: of the names of its two fields. */
export function port(fabric, label, prefix = "") {
  const nodes = [...fabric.switches.map((node) => node.name), ...fabric.portsOfHost.keys()];
  const node = choice(`${prefix}node`, `${label}: switch or host`, nodes);
  const side = choice(`${prefix}interface`, `${label}: port`, []);
  const offer = () =>
    fill(
      side.field,
      interfacesOf(fabric, node.field.value).map((name) => h("option", { value: name }, name)),
    );
  node.field.addEventListener("change", offer);
  offer();
  return {
    element: h("div", { class: "pair" }, node.element, side.element),
    read: () => ({ ...node.read(), ...side.read() }),
  };
}

function interfacesOf(fabric, name) {
  const number = fabric.switchNumbers.get(name);
  if (number !== undefined) return fabric.portsOfSwitch[number].map((each) => fabric.ports[each].interface);
  return fabric.portsOfHost.get(name).map((each) => fabric.ports[each].peer.interface);
}

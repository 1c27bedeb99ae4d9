/** Routes of the page, all behind `#`: a link to any of them can be sent to a colleague. */

/** Path of a route from its parts; each is encoded, since interfaces have slashes in their names. */
export function route(...parts) {
  return `#/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
}

/** Parts and query of the address of the page: `#/events?at=1` is [["events"], {at: "1"}]. */
export function currentRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  return { parts: parts.length ? parts : ["fabric"], query: Object.fromEntries(new URLSearchParams(query)) };
}

export const routeOfPort = (fabric, number) =>
  route("fabric", "port", fabric.switchOf(number).name, fabric.ports[number].interface);

/** The route of a node by name: a switch, a host, or null for what the fabric does not have. */
export function routeOfNode(fabric, name) {
  if (fabric.switchNumbers.has(name)) return route("fabric", "switch", name);
  return fabric.portsOfHost.has(name) ? route("fabric", "host", name) : null;
}

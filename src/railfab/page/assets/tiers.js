/** The nodes of a network by tier, the highest first, each with its port cells in rows. */

const RANKS = { super: 3, "super-spine": 3, spine: 2, leaf: 1, host: 0, server: 0 };
const NAMES = {
  super: "Super-spines",
  "super-spine": "Super-spines",
  spine: "Spines",
  leaf: "Leaves",
  host: "Hosts",
  server: "Hosts",
};

/**
 * Tiers of a network: {name, blocks}. A block is a switch or a host: {kind, name, label, group, up, down}, where `up`
 * and `down` are shelves of port numbers; the cells of a host are the ports at the other end, and `rows` has one shelf
 * for each of its rails.
 */
export function tiersOf(fabric, networkName) {
  const network = fabric.design.networks.find((each) => each.name === networkName) ?? fabric.design.networks[0];
  const tiers = network.tiers
    .map((tier) => ({ rank: RANKS[tier.name] ?? 1, tier }))
    .sort((tier, lower) => lower.rank - tier.rank)
    .map(({ rank, tier }) => ({
      name: NAMES[tier.name] ?? tier.name,
      blocks: tier.switches.map((number) => switchBlock(fabric, number, rank)),
    }));
  const hosts = hostBlocks(fabric, new Set(network.tiers.flatMap((tier) => tier.switches)));
  return hosts.length ? [...tiers, { name: NAMES.host, blocks: hosts }] : tiers;
}

function switchBlock(fabric, number, rank) {
  const node = fabric.switches[number];
  const ports = fabric.portsOfSwitch[number];
  const isUp = (port) => ["uplink", "peer"].includes(kindOf(fabric, port, rank));
  const group = groupName(node);
  return {
    kind: "switch",
    name: node.name,
    label: shortName(node.name, group),
    group,
    up: ports.filter(isUp),
    down: ports.filter((port) => !isUp(port)),
  };
}

function kindOf(fabric, number, rank) {
  const port = fabric.ports[number];
  if (port.kind) return port.kind;
  const peer = fabric.switchNumbers.get(port.peer.node);
  if (peer === undefined) return "host";
  return RANKS[fabric.switches[peer].role] > rank ? "uplink" : "downlink";
}

/** The hosts below some switches, in the order of the design, with their ports by rail. */
function hostBlocks(fabric, switches) {
  const names = [...fabric.hosts.keys(), ...fabric.portsOfHost.keys()];
  return [...new Set(names)].flatMap((name) => {
    const ports = (fabric.portsOfHost.get(name) ?? []).filter((port) => switches.has(fabric.ports[port].switch));
    if (ports.length === 0) return [];
    const group = groupName(fabric.hosts.get(name) ?? fabric.switchOf(ports[0]));
    return [
      { kind: "host", name, label: shortName(name, group), group, up: [], down: [], rows: byRail(fabric, ports) },
    ];
  });
}

function byRail(fabric, ports) {
  const rows = new Map();
  for (const port of ports) {
    const rail = fabric.ports[port].rail ?? 0;
    rows.set(rail, [...(rows.get(rail) ?? []), port]);
  }
  return [...rows].sort(([rail], [later]) => rail - later).map(([, row]) => row);
}

function groupName(node) {
  const parts = [node.pod ? `pod ${node.pod}` : "", node.segment ? `segment ${node.segment}` : ""];
  return parts.filter(Boolean).join(" · ");
}

/** What of a name differs inside its group: leaf3 of pod1-seg1-leaf3. */
function shortName(name, group) {
  return group ? name.split("-").at(-1) : name;
}

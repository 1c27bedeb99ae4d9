/** The design of the fabric: switches, hosts, rails and ports by number and by name, and the links between them. */

export class Fabric {
  /** design: the answer of /api/fabric. */
  constructor(design) {
    this.design = design;
    this.name = design.fabric;
    this.switches = design.switches;
    this.ports = design.ports;
    this.rails = design.rails;
    this.switchNumbers = new Map(design.switches.map((node, number) => [node.name, number]));
    this.hosts = new Map(design.hosts.map((host) => [host.name, host]));
    this.hostPorts = new Map();
    this.portNumbers = new Map(design.ports.map((port, number) => [this.key(port), number]));
    this.portsOfSwitch = design.switches.map(() => []);
    this.portsOfHost = new Map();
    design.ports.forEach((port, number) => {
      this.portsOfSwitch[port.switch].push(number);
      if (!this.switchNumbers.has(port.peer.node)) this.#attach(port.peer.node, number);
    });
    this.links = [...this.#links()];
  }

  #attach(host, number) {
    if (!this.portsOfHost.has(host)) this.portsOfHost.set(host, []);
    this.portsOfHost.get(host).push(number);
    this.hostPorts.set(`${host} ${this.ports[number].peer.interface}`, number);
  }

  /** Each link once, as its two port numbers: the far one is -1 at a host. */
  *#links() {
    for (const [number, port] of this.ports.entries()) {
      const far = this.peerOf(number);
      if (far === -1 || number < far) yield [number, far];
    }
  }

  key(port) {
    return `${this.switches[port.switch].name} ${port.interface}`;
  }

  /** The number of the switch port at the far end of a port's cable, -1 at a host. */
  peerOf(number) {
    const { node, interface: name } = this.ports[number].peer;
    return this.portNumbers.get(`${node} ${name}`) ?? -1;
  }

  portNumber(node, name) {
    return this.portNumbers.get(`${node} ${name}`) ?? -1;
  }

  /** The switch port of "node interface", which may name the NIC port at its other end; -1 of none. */
  portOf(text) {
    return this.portNumbers.get(text) ?? this.hostPorts.get(text) ?? -1;
  }

  switchOf(number) {
    return this.switches[this.ports[number].switch];
  }

  /** Thresholds of the lossless queue of a port, of those of its rate. */
  boundsOf(port) {
    return this.design.bounds[String(port.rate_gbps)];
  }

  portsOfRail(rail) {
    return this.ports.flatMap((port, number) => (port.rail === rail ? [number] : []));
  }

  /** The ports of a switch, a host, a rail or a single port, for a route of the page. */
  portsOf(kind, name) {
    if (kind === "switch") return this.portsOfSwitch[this.switchNumbers.get(name)] ?? [];
    if (kind === "host") return this.portsOfHost.get(name) ?? [];
    return kind === "rail" ? this.portsOfRail(Number(name)) : [];
  }
}

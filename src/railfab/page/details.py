"""Details of one switch, port, host, rail or job: neighbours, configuration in words, what to chart, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from shlex import quote
from typing import Any
from urllib.parse import urlencode

from railfab.endpoints import state_option
from railfab.findings import Finding
from railfab.page.job_watch import TwinWatch
from railfab.page.plan import PagePlan, PlannedPort, QueueBounds
from railfab.page.rates import PortRates
from railfab.page.reasons import flow_sentences, port_reasons
from railfab.page.words import port_sentences, switch_sentences
from railfab.text.counted import counted, listed

Document = dict[str, Any]
PORT_CHARTS = (
    ("transmit_gbps", "Sent", "Gb/s"),
    ("receive_gbps", "Received", "Gb/s"),
    ("queue_bytes", "Queue of RoCE", "bytes"),
    ("ecn_share", "Packets marked by ECN", "ratio"),
    ("pause_frames_per_s", "Pause frames, sent and received", "frames/s"),
    ("drops_per_s", "Dropped packets", "packets/s"),
)
SWITCH_CHARTS = (("sent_gbps", "Sent by all ports", "Gb/s"), ("sessions_up", "BGP sessions up", "sessions"))
JOB_CHARTS = (
    ("step_s", "Duration of a step", "s"),
    ("communication_s", "Of it communication", "s"),
    ("compute_s", "Of it computation alone", "s"),
)


class Details:
    """Answers what something is. rates: the present ones, or None. on: the option `--on` of commands that go further.

    watch: of the twin, whose jobs are known; None without one.
    """

    def __init__(
        self,
        plan: PagePlan,
        rates: Callable[[], PortRates | None],
        *,
        on: str = "",
        watch: TwinWatch | None = None,
    ) -> None:
        self._plan, self._rates, self._watch = plan, rates, watch
        self._intent, self._on = quote(str(plan.design.path)), on
        self._kinds: Mapping[str, Callable[[str], Document | None]] = {
            "switch": self._switch,
            "port": self._port,
            "host": self._host,
            "rail": self._rail,
            "job": self._job,
        }

    def of(self, kind: str, name: str) -> Document | None:
        """The details of one part; None for what is not of the fabric."""
        return self._kinds[kind](name) if kind in self._kinds else None

    def jobs(self) -> list[str]:
        """The names of the jobs that are known."""
        return [] if self._watch is None else self._watch.jobs()

    def _switch(self, name: str) -> Document | None:
        number = self._plan.switch_numbers.get(name)
        if number is None:
            return None
        node = self._plan.switches[number]
        model = self._plan.model(name)
        ports = [place for place, port in enumerate(self._plan.ports) if port.switch == number]
        facts = [
            ("role", node.role),
            ("platform", node.platform),
            ("model", node.model),
            ("segment", node.segment),
            ("AS", model.bgp.asn if model.bgp else None),
            ("loopback", node.loopback),
            ("ports", len(ports)),
        ]
        kind = self._plan.design.topology.model_of(node)
        return self._document(
            "switch",
            name,
            f"{node.role} {name}",
            facts=facts,
            neighbours=ports,
            words=switch_sentences(node, model, kind),
            findings=self._findings(name),
            metrics=[_chart(*chart, switch=name) for chart in SWITCH_CHARTS],
            commands=[f"railfab drain {self._intent} {name}{self._on}", f"railfab explain {self._intent}"],
        )

    def _port(self, name: str) -> Document | None:
        switch, _, interface = name.partition("/")
        number = self._plan.port_numbers.get((switch, interface))
        if number is None:
            return None
        port = self._plan.ports[number]
        facts = [
            ("leads to", f"{port.peer} {port.peer_interface}"),
            ("rate", f"{port.rate_gbps} Gb/s"),
            ("cable", f"{port.cable_m:g} m"),
            ("rail", port.rail),
            ("link", port.kind),
        ]
        return self._document(
            "port",
            name,
            f"{switch} {interface}",
            facts=facts,
            neighbours=self._ends(number),
            words=port_sentences(port, self._plan.model(switch)),
            findings=self._findings(switch, interface),
            metrics=[_chart(*chart, switch=switch, interface=interface) for chart in PORT_CHARTS],
            thresholds=self._thresholds(number),
            why=self._port_reasons(number, switch, interface),
            commands=self._port_commands(switch, interface),
        )

    def _port_reasons(self, number: int, switch: str, interface: str) -> list[str] | None:
        """Why a port is as it is; None before the first rates. On a twin also who sends through it."""
        rates = self._rates()
        if rates is None:
            return None
        flows = () if self._watch is None else self._watch.flows_through(switch, interface)
        return [*port_reasons(self._plan, rates, number), *flow_sentences(flows)]

    def _port_commands(self, switch: str, interface: str) -> list[str]:
        cabling = f"railfab cabling {self._intent}{self._on}"
        if self._watch is None:
            return [cabling]
        return [cabling, f"railfab twin flows {switch} {interface}{state_option(self._watch.state)}"]

    def _host(self, name: str) -> Document | None:
        node = self._plan.design.topology.by_name.get(name)
        if node is None or node.is_switch:
            return None
        ports = [place for place, port in enumerate(self._plan.ports) if port.peer == name]
        leaves = sorted({self._plan.switches[self._plan.ports[place].switch].name for place in ports})
        hosts = self._plan.design.intent.hosts
        words = [
            f"{name} has {counted(hosts.gpus, 'GPU')} and {counted(len(ports), 'NIC port')} with a cable.",
            f"Its NICs are connected to {listed(leaves)}.",
        ]
        facts = [("role", node.role), ("segment", node.segment), ("NIC ports", len(ports))]
        charts = [self._port_chart(place, "transmit_gbps", "Sent to") for place in ports]
        return self._document("host", name, f"host {name}", facts=facts, neighbours=ports, words=words, metrics=charts)

    def _rail(self, name: str) -> Document | None:
        if not name.isdecimal() or int(name) not in self._plan.rails:
            return None
        rail = int(name)
        ports = [place for place, port in enumerate(self._plan.ports) if port.rail == rail]
        leaves = sorted({self._plan.switches[self._plan.ports[place].switch].name for place in ports})
        capacity_gbps = self._plan.rail_capacity_gbps[self._plan.rails.index(rail)]
        words = [
            f"Rail {rail} connects NIC {rail} of every host: {counted(len(ports), 'port')} of {listed(leaves)}.",
            f"Together they carry {capacity_gbps:,.0f} Gb/s to the hosts.",
        ]
        facts = [("ports", len(ports)), ("capacity", f"{capacity_gbps:,.0f} Gb/s"), ("switches", len(leaves))]
        charts = [_chart("rail_gbps", "Sent to the hosts", "Gb/s", rail=rail)]
        return self._document("rail", name, f"rail {rail}", facts=facts, neighbours=ports, words=words, metrics=charts)

    def _job(self, name: str) -> Document | None:
        state = None if self._watch is None else self._watch.of_job(name)
        if state is None:
            return None
        facts = [
            ("steps", state["steps"]),
            ("last step", _seconds(state["step_s"])),
            ("ideal", _seconds(state["ideal_s"])),
        ]
        why = [*state["stalled"], *([state["failure"]] if state["failure"] else [])]
        if slowest := state["slowest"]:
            why.append(f"The last step waited longest for what {slowest['link']} sent to {slowest['target']}.")
        charts = [_chart(*chart, job=name) for chart in JOB_CHARTS]
        return {**self._document("job", name, f"job {name}", facts=facts, why=why, metrics=charts), "job": state}

    def _document(
        self,
        kind: str,
        name: str,
        title: str,
        *,
        facts: Iterable[tuple[str, object]],
        neighbours: Iterable[int] = (),
        words: Iterable[str] = (),
        findings: Iterable[Finding] = (),
        metrics: Iterable[Document] = (),
        thresholds: Iterable[Document] = (),
        why: Sequence[str] | None = None,
        commands: Iterable[str] = (),
    ) -> Document:
        return {
            "kind": kind,
            "name": name,
            "title": title,
            "facts": [{"name": label, "value": str(value)} for label, value in facts if value not in (None, "")],
            "neighbours": [self._neighbour(number) for number in neighbours],
            "words": list(words),
            "findings": [_finding(each) for each in findings],
            "metrics": list(metrics),
            "thresholds": list(thresholds),
            "why": None if why is None else list(why),
            "commands": list(commands),
        }

    def _neighbour(self, number: int) -> Document:
        port = self._plan.ports[number]
        return {
            "switch": self._plan.switches[port.switch].name,
            "interface": port.interface,
            "node": port.peer,
            "peer_interface": port.peer_interface,
            "rate_gbps": port.rate_gbps,
            "port": number,
        }

    def _ends(self, number: int) -> list[int]:
        """A port, and the port at the other end of its cable where that is one of a switch."""
        port = self._plan.ports[number]
        far = self._plan.port_numbers.get((port.peer, port.peer_interface))
        return [number] if far is None else [number, far]

    def _findings(self, switch: str, interface: str = "") -> list[Finding]:
        """What the checks of the design say of a switch, or of one of its ports."""
        findings = self._plan.design.findings
        return [each for each in findings if switch in (each.switch, *each.where.split()) and interface in each.where]

    def _thresholds(self, number: int) -> list[Document]:
        names = (name.removesuffix("_bytes") for name in QueueBounds._fields)
        values = self._plan.bounds[number].tolist()
        return [
            {"name": name, "value": value, "unit": "bytes", "metric": "queue_bytes"}
            for name, value in zip(names, values, strict=True)
        ]

    def _port_chart(self, number: int, metric: str, title: str) -> Document:
        port: PlannedPort = self._plan.ports[number]
        switch = self._plan.switches[port.switch].name
        return _chart(metric, f"{title} {port.peer_interface}", "Gb/s", switch=switch, interface=port.interface)


def _chart(metric: str, title: str, unit: str, **where: str | int) -> Document:
    return {"metric": metric, "title": title, "unit": unit, "query": urlencode({"metric": metric, **where})}


def _finding(finding: Finding) -> Document:
    return {
        "severity": str(finding.severity),
        "code": str(finding.code),
        "where": finding.where,
        "problem": finding.problem,
        "remedy": finding.remedy,
    }


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3g} s"

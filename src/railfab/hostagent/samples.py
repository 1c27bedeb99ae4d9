"""The series of an agent: what a comparison has shown, and what is read for each exposition."""

from __future__ import annotations

from collections.abc import Sequence

from railfab.hostagent.checker import HostCheck
from railfab.hostagent.document import NicDocument, NicSetting
from railfab.hostagent.exposition import NicExposition
from railfab.hostagent.link import LinkFiles
from railfab.hostagent.nic_counters import NicCounters, scaled

WHOLE_HOST = "all"
"""The label nic of settings of the whole host, as nic.py has it."""
BYTES_PER_MBPS = 1e6 / 8
BYTES_PER_GBPS = 1e9 / 8
PAYLOAD_BYTES, PACKET_BYTES = 256, 256 + 26
"""Payload that most servers set for PCIe packets, and the packet: sequence 2, header 16, CRC 4 and framing 4."""


def exposition_of(
    check: HostCheck, links: Sequence[LinkFiles], counters: Sequence[NicCounters], *, wanted: int
) -> NicExposition:
    """The exposition after a comparison. links, counters: of its NICs, in their order. wanted: ports of the plan."""
    document = check.document
    made = NicExposition({"fabric": document.fabric, "host": document.host})
    made.add("roce_nic_settings_checked_timestamp_seconds", round(check.checked_s, 3))
    made.add("roce_nic_wanted", wanted)
    made.add("roce_nic_missing", wanted - len(document.nics))
    made.add("roce_nic_faults", len(document.faults))
    needed = pcie_needed_gbps(check)
    for nic in document.nics:
        _add_nic(made, nic, needed[nic.nic])
        _add_settings(made, nic.nic, nic.settings)
    _add_settings(made, WHOLE_HOST, document.settings)
    for name, lanes in check.optics.items():
        for lane in lanes:
            labels = {"nic": name, "lane": str(lane.number)}
            made.add("roce_nic_optic_receive_power_dbm", lane.receive_dbm, labels)
            made.add("roce_nic_optic_transmit_power_dbm", lane.transmit_dbm, labels)
    for nic in document.nics if check.lost is not None else ():
        made.add("roce_nic_settings_lost", sum(row.nic == nic.nic for row in check.lost or ()), {"nic": nic.nic})
    for nic, files in zip(document.nics, links, strict=True):
        made.add_source("roce_nic_link_up", files.carrier.number, {"nic": nic.nic})
        made.add_source("roce_nic_link_bytes_per_second", scaled(files.rate_mbps, BYTES_PER_MBPS), {"nic": nic.nic})
    for nic, nic_counters in zip(document.nics if counters else (), counters, strict=True):
        for counter, source in nic_counters.sources():
            made.add_source(counter.metric, source, {"nic": nic.nic, **dict(counter.labels)})
    return made


def pcie_needed_gbps(check: HostCheck) -> dict[str, float]:
    """What the PCIe link of each NIC must carry for the links of all its ports, with the headers of its packets."""
    cards = {port.name: port.values["pci"].rpartition(".")[0] for port in check.ports}
    rates = {nic.nic: nic.link.rate_gbps or 0.0 for nic in check.document.nics}
    return {
        name: sum(rates[other] for other in rates if cards[other] == card) * PACKET_BYTES / PAYLOAD_BYTES
        for name, card in cards.items()
    }


def _add_nic(made: NicExposition, nic: NicDocument, needed_gbps: float) -> None:
    labels = {"nic": nic.nic}
    facts = {"interface": nic.interface, "rdma": nic.rdma or "", "model": nic.model, "fec": nic.link.fec or ""}
    places = {"rail": _text(nic.rail), "plane": _text(nic.plane)}
    made.add("roce_nic_info", 1, {**labels, **facts, **places})
    if nic.neighbor is not None:
        switch = {"peer_device": nic.neighbor.switch, "peer_interface": nic.neighbor.port}
        made.add("roce_nic_neighbor_info", 1, {**labels, **switch})
    for metric, gbps in (
        ("roce_nic_pcie_bytes_per_second", nic.pcie.rate_gbps),
        ("roce_nic_pcie_max_bytes_per_second", nic.pcie.max_rate_gbps),
        ("roce_nic_pcie_needed_bytes_per_second", needed_gbps or None),
    ):
        if gbps is not None:
            made.add(metric, gbps * BYTES_PER_GBPS, labels)


def _add_settings(made: NicExposition, nic: str, settings: Sequence[NicSetting]) -> None:
    made.add("roce_nic_settings_unknown", sum(setting.ok is None for setting in settings), {"nic": nic})
    for setting in settings:
        if setting.ok is not None:
            made.add("roce_nic_setting_agrees", int(setting.ok), {"nic": nic, "setting": setting.setting})


def _text(number: int | None) -> str:
    return "" if number is None else str(number)

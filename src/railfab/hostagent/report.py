"""The report of one comparison for people."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.hostagent.document import HostDocument, NicDocument, NicSetting
from railfab.text.printable import printable


def report_text(document: HostDocument) -> str:
    """The NICs, the settings that differ, and the faults, a line each."""
    return "\n".join(map(printable, _lines(document))) + "\n"


def _lines(document: HostDocument) -> Iterator[str]:
    for nic in document.nics:
        yield f"{nic.nic} ({nic.interface}, {nic.model}): {_link(nic)}; {_settings(nic.settings)}"
        yield from _different(nic.settings)
    if document.settings:
        yield f"host {document.host}: {_settings(document.settings)}"
        yield from _different(document.settings)
    for fault in document.faults:
        yield f"fault: {fault}"


def _link(nic: NicDocument) -> str:
    rate = f" {nic.link.rate_gbps:g} Gb/s" if nic.link.rate_gbps is not None else ""
    peer = f" to {nic.neighbor.switch} {nic.neighbor.port}" if nic.neighbor is not None else ""
    pcie = f", PCIe {nic.pcie.speed_gtps:g} GT/s x{nic.pcie.lanes}" if nic.pcie.rate_gbps is not None else ""
    return f"link {'up' if nic.link.up else 'down'}{rate}{peer}{pcie}"


def _settings(settings: tuple[NicSetting, ...]) -> str:
    unknown = sum(setting.ok is None for setting in settings)
    good = sum(setting.ok is True for setting in settings)
    return f"{good} of {len(settings)} settings as wanted" + (f", {unknown} unknown" if unknown else "")


def _different(settings: tuple[NicSetting, ...]) -> Iterator[str]:
    for setting in settings:
        if setting.ok is False:
            yield f"  {setting.setting}: {setting.read or 'none'}, wanted {setting.wanted or 'none'}"

"""Alerts on the NICs of hosts, from their agents. Maintenance of switches silences none: hosts have none."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import NUMBER, PERCENT
from railfab.dashboards.promql import held
from railfab.dashboards.rules import Alert, AlertSeverity, Silence

HOST = "{{ $labels.host }}"
NIC = HOST + " {{ $labels.nic }}"
CARRIED, NEEDED, MOST = (held(f"roce_nic_pcie_{name}bytes_per_second") for name in ("", "needed_", "max_"))

HOSTS = (
    Alert(
        alert="FabricNicSettingsLost",
        condition=f"sum by (fabric, host) ({held('roce_nic_settings_lost')}) > 0",
        silence=Silence.NEVER,
        severity=AlertSeverity.CRITICAL,
        summary=f"{HOST} lost {NUMBER} settings of its NICs at the last boot",
        description=(
            f"{NUMBER} settings of NICs were as the plan wants them before the host booted, and are not now: RoCE may"
            " be neither lossless nor marked. Run nic.py --apply, and look why railfab-nic.service did not."
        ),
    ),
    Alert(
        alert="FabricNicSettingWrong",
        condition=f"{held('roce_nic_setting_agrees')} == 0",
        silence=Silence.NEVER,
        severity=AlertSeverity.WARNING,
        summary=f"{NIC}: {{{{ $labels.setting }}}} is not as the plan wants it",
        description=(
            "A setting of a NIC differs from the plan, and so from the switch port at the other end of its cable."
            " `railfab agent --once` on the host shows both values; nic.py --apply sets it."
        ),
    ),
    Alert(
        alert="FabricNicPcieSlow",
        condition=f"{CARRIED} / {NEEDED} < 1\nand {CARRIED} < {MOST}",
        silence=Silence.NEVER,
        severity=AlertSeverity.WARNING,
        summary=f"{NIC}: its PCIe link carries {PERCENT} of what its links need",
        description=(
            f"The PCIe link of the NIC has fewer lanes or a lower speed than the NIC can have, and carries {PERCENT} of"
            " what its Ethernet links need: the NIC pauses its switch under load. Seat the card, look at the slot, the"
            " riser and the BIOS; `lspci -vv` shows LnkSta."
        ),
    ),
    Alert(
        alert="FabricNicMissing",
        condition=f"{held('roce_nic_missing')} > 0",
        silence=Silence.NEVER,
        severity=AlertSeverity.CRITICAL,
        summary=f"{HOST}: {NUMBER} NIC ports of the plan are missing or of another NIC",
        description=(
            f"{NUMBER} NIC ports that the plan wants are not there, have no driver, or are of another model: jobs lose"
            " these rails. `railfab agent --once` on the host says which, and why."
        ),
    ),
    Alert(
        alert="FabricNicUnchecked",
        condition="time() - roce_nic_settings_checked_timestamp_seconds > 600",
        silence=Silence.NEVER,
        severity=AlertSeverity.WARNING,
        summary=f"{HOST}: NICs not compared with the plan for {{{{ $value | humanizeDuration }}}}",
        description=(
            "The agent of the host answers, but its last comparison with the plan is {{ $value | humanizeDuration }}"
            " old, so that a wrong setting is not noticed. Read its log: a tool of the vendor may hang."
        ),
    ),
)

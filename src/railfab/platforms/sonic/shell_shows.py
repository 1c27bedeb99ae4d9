"""Show commands of a virtual SONiC switch, in the layouts of sonic-utilities."""

from __future__ import annotations

from railfab.platforms.sonic.installer import SonicInstaller
from railfab.platforms.sonic.shell_databases import SonicDatabases
from railfab.platforms.sonic.shell_login import NOT_AVAILABLE
from railfab.platforms.sonic.shell_ports import SonicPortShows
from railfab.platforms.sonic.shell_qos import SonicQosShows
from railfab.platforms.sonic.shell_routing import SonicRoutingShows
from railfab.platforms.sonic.tables import row


class SonicShows(SonicInstaller, SonicPortShows, SonicQosShows, SonicRoutingShows, SonicDatabases):
    """The commands that change nothing."""

    def version(self) -> str:
        return (
            f"\nSONiC Software Version: SONiC.{self.device.images.release}\nDistribution: Debian\n\n{self._hardware()}"
        )

    def platform_summary(self) -> str:
        unknown = "".join(
            f"{title}: {NOT_AVAILABLE}\n" for title in ("Serial Number", "Model Number", "Hardware Revision")
        )
        return f"{self._hardware()}{unknown}"

    def _hardware(self) -> str:
        host = row(self.tables(), "DEVICE_METADATA", "localhost")
        kind = f"Platform: {host.get('platform', '')}\nHwSKU: {host.get('hwsku', '')}\n"
        return f"{kind}ASIC: vs\nASIC Count: 1\n"

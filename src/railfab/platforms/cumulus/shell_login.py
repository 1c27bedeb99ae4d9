"""A login at a virtual Cumulus Linux switch, with what its commands read: ports, readings and the configuration."""

from __future__ import annotations

from railfab.device import DeviceModel
from railfab.platforms.cumulus.parse import parse, tree_of
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.shared.linux_files import CommandFailed
from railfab.platforms.shared.switch_shell import SwitchShell
from railfab.platforms.twin_face import VirtualPort


class CumulusLogin(SwitchShell):
    """A login whose commands read the switch."""

    def running_tree(self) -> Json:
        """The running configuration, as `nv set` paths have it."""
        return tree_of(self.device.running())

    def model(self) -> DeviceModel:
        """The model of the running configuration."""
        return parse(self.device.running())

    def port(self, interface: str) -> VirtualPort:
        """The port of that name. Raises CommandFailed."""
        port = next((each for each in self.device.ports() if each.name == interface), None)
        if port is None:
            raise CommandFailed(self.text("no_item"))
        return port

"""Show commands of a virtual Cumulus Linux switch: of NVUE, and in the JSON of FRR, iproute2 and lldpd."""

from __future__ import annotations

from railfab.platforms.cumulus.nodes import at
from railfab.platforms.cumulus.nvue_tables import in_form, tree
from railfab.platforms.cumulus.shell_images import CumulusImages
from railfab.platforms.cumulus.shell_ports import CumulusPortShows
from railfab.platforms.cumulus.shell_qos import CumulusQosShows
from railfab.platforms.cumulus.shell_routing import CumulusRoutingShows

RELEASE, MODEL = "5.15.0", "VX"
"""Release of a new switch; its model."""


class CumulusShows(CumulusImages, CumulusPortShows, CumulusQosShows, CumulusRoutingShows):
    """The commands that change nothing."""

    def show_system(self, form: str = "text") -> str:
        name = at(self.running_tree(), "system").get("hostname", "")
        held = {"hostname": name, "product-name": "Cumulus Linux", "product-release": self.device.images.release}
        return in_form(form, held, tree(held, {"hostname": name}))

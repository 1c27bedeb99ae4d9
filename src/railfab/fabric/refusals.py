"""Device models as their platforms configure them, and what the platforms refuse."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.device import DeviceModel, plan, unsupported
from railfab.errors import NotRenderedYet, RailfabError, each, raise_all
from railfab.intent import FabricIntent
from railfab.platforms.admission import NO_CHANGES, IntentChange, admit
from railfab.platforms.registry import has_platform, platform
from railfab.topology import Net, Topology

OVERLAYS: Mapping[Net, Mapping[str, IntentChange]] = {
    Net.FRONTEND: {
        "profile.control_plane": IntentChange(
            "frontend.attach", "change frontend.attach to routed and remove frontend.tenants"
        ),
    },
    Net.MANAGEMENT: {
        "profile.control_plane": IntentChange("management.isolation", "change management.isolation to vrf"),
    },
}
"""Changes that leave out the EVPN sessions of a network; those of the backend are of its control plane."""


def admitted(models: dict[str, DeviceModel], topology: Topology) -> dict[str, DeviceModel]:
    """Every model as its platform configures it. Raises each error once."""
    errors: list[RailfabError] = []
    admitted: dict[str, DeviceModel] = {}
    for name, model in models.items():
        try:
            changes = OVERLAYS.get(topology.by_name[name].net, NO_CHANGES)
            admitted[name] = admit(model, platform(model.platform), changes)
        except RailfabError as error:
            errors.extend(each(error))
    raise_all(list({str(error): error for error in errors}.values()))
    return admitted


def refusals(topology: Topology, intent: FabricIntent) -> list[RailfabError]:
    """Errors for what the platforms cannot do, asked of one switch of each network, role, platform and model, and of
    each that is drained.

    None for a platform that is not known, and none for what is not rendered yet.
    """
    if any(unsupported(intent)):
        return []
    nodes = reversed(topology.switches())
    kinds = {(node.net, node.role, node.platform, node.model): node for node in nodes}
    asked = [*kinds.values(), *(node for node in topology.switches() if node.name in intent.drain)]
    known = {node.name for node in asked if node.platform is not None and has_platform(node.platform)}
    try:
        admitted(plan(topology, intent, only=known), topology)
    except RailfabError as error:
        return [refusal for refusal in each(error) if not isinstance(refusal, NotRenderedYet)]
    return []

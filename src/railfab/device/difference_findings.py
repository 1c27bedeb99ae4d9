"""Differences between the configuration of a switch and its intent, as findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from railfab.device.diff import Change, FieldStep, changes
from railfab.device.interfaces import Fec, IpInterface, Lag, Loopback, NetworkInstance, Port, Svi, Vlan
from railfab.device.model import DeviceModel, fabric_prefixes
from railfab.device.qos import Classifier, PortProfile, PortQos
from railfab.device.routing import BgpNeighbor, Policy, Remote
from railfab.device.system import HashField, LoadBalancing
from railfab.findings import DifferenceCode, Finding, error, note

LABELS = ("description", "vlans.name")
"""Fields that only people read."""
FIVE_TUPLE = {
    HashField.SOURCE_ADDRESS,
    HashField.DESTINATION_ADDRESS,
    HashField.PROTOCOL,
    HashField.SOURCE_PORT,
    HashField.DESTINATION_PORT,
}
INTERVALS = ("lldp.hello_s", "lldp.hold_multiplier")
"""Fields of how often neighbours are informed, without effect on packets."""
ONE_FEC_GBPS = 200
"""Ports of this speed and more have lanes with one code, RS(544,514), which the words for RS mean there (IEEE 802.3,
clause 119)."""
SOON_S = 10
"""A session whose attempts are no further apart comes back in time."""
NATIVE_ECN = FieldStep("native_ecn")
DROPS_FOR_MARKS = "drops by WRED what the intent marks by ECN"
Steps = tuple[FieldStep, ...]
UNMODELLED_STEPS: Steps = (FieldStep("unmodelled"),)


def deviations(running: DeviceModel, intended: DeviceModel, explained: Collection[Change] = ()) -> Iterator[Finding]:
    """One finding per value that differs from the intent: an error, or a note where it changes nothing in the fabric.

    What the models have no word for is left out, and so is a ramp in another unit than bytes, which the hazards of its
    platform name. explained: changes that findings about lines say already.
    """
    differing = changes(running, intended)
    replaced = _wred_for_ecn(differing)
    said = {UNMODELLED_STEPS, *replaced.values(), *_in_other_units(differing)}
    for change in differing:
        if change.steps not in said and change not in explained:
            severity = note if _is_harmless(change, running, intended) else error
            where = f"{intended.name}: {change.path}"
            problem = DROPS_FOR_MARKS if change.steps in replaced else change.problem
            yield severity(DifferenceCode.CONFIGURATION_DIFFERS, where, problem, "Deploy the intent")


def _wred_for_ecn(differing: Iterable[Change]) -> dict[Steps, Steps]:
    """The ECN settings in whose place WRED drops by the same ramp, or the same classes; with that of WRED there."""
    by_place = {change.steps: change for change in differing}
    pairs = ((change, by_place.get((*change.steps[:-1], FieldStep("wred")))) for change in by_place.values())
    return {
        ecn.steps: wred.steps
        for ecn, wred in pairs
        if ecn.steps[-1] == FieldStep("ecn") and wred and (wred.before, wred.after) == (ecn.after, ecn.before)
    }


def _in_other_units(differing: Iterable[Change]) -> Iterator[Steps]:
    """The ramps in bytes in whose place packets are marked at thresholds in another unit; with the latter."""
    native = {change.steps for change in differing if change.steps[-1] == NATIVE_ECN and change.before is not None}
    for change in differing:
        beside = (*change.steps[:-1], NATIVE_ECN)
        if change.steps[-1] == FieldStep("ecn") and change.before is None and beside in native:
            yield from (change.steps, beside)


def _is_harmless(change: Change, running: DeviceModel, intended: DeviceModel) -> bool:
    """Whether it is a label, or something of its own that nothing of the intent uses."""
    last = change.steps[-1].field
    if change.is_order and last == "neighbors":  # BGP has sessions in no order
        return True
    if last in LABELS or ".".join(step.field for step in change.steps) in (*LABELS, *INTERVALS):
        return True
    if last == "addresses" and not change.is_order:
        more = {*(change.before or ())} - {*(change.after or ())}
        is_longer = len(more) == len(change.before or ()) - len(change.after or ()) > 0
        is_loopback = isinstance(intended.interface(change.steps[0].key or ""), Loopback)
        return is_longer and is_loopback and _is_outside(more, intended)
    if last == "remote_as" and change.before is Remote.EXTERNAL and intended.bgp is not None:
        return isinstance(change.after, int) and change.after not in (0, intended.bgp.asn)
    if last == "fec" and change.before in (Fec.RS_528, Fec.RS_544) and change.after is None:
        port = intended.interface(change.steps[0].key or "")
        return isinstance(port, Port) and port.rate_gbps is not None and port.rate_gbps >= ONE_FEC_GBPS
    if last == "connect_retry_s" and change.after is None:
        return change.before is not None and change.before <= SOON_S
    if last == "keepalive_s" and change.before and change.after:
        return bool(change.before < change.after)
    if last == "max_paths_internal":
        return not (_has_internal(running) or _has_internal(intended))
    if change.is_order or change.after not in (None, ()):
        return False
    added = change.before
    if change.steps[0].field == "management" or last == "prefix_limit":  # the operator's, and a limit that only warns
        return True
    if isinstance(added, Loopback | NetworkInstance | Vlan):
        return True
    if isinstance(added, BgpNeighbor):
        return not added.enabled
    if isinstance(added, LoadBalancing):  # the hash that every platform has by default
        return replace(added, fields=()) == LoadBalancing() and set(added.fields) >= FIVE_TUPLE
    if isinstance(added, Port | Lag | Svi):
        is_routed = added.network_instance is not None and (added.addresses or added.unnumbered)
        attached = is_routed or getattr(added, "vlans", None) is not None
        is_outside = bool(added.addresses) and _is_outside(added.addresses, intended)
        takes_ports = isinstance(added, Lag) and any(map(intended.interface, added.members))
        return not takes_ports and (not added.enabled or not attached or is_outside)
    if isinstance(added, PortQos):
        spare = running.interface(added.interface)
        return spare is None or not spare.enabled
    if isinstance(added, Policy):
        return added.name not in running.used_policies
    bound = running.qos.ports if running.qos else ()
    if isinstance(added, Classifier):
        return all(port.classifier != added.name for port in bound)
    return isinstance(added, PortProfile) and all(port.profile != added.name for port in bound)


def _has_internal(model: DeviceModel) -> bool:
    """Whether a switch has an iBGP session."""
    return model.bgp is not None and any(neighbor.is_internal(model.bgp.asn) for neighbor in model.neighbors)


def _is_outside(addresses: Iterable[IpInterface], intended: DeviceModel) -> bool:
    """Whether these addresses, as of a management port, are none of the fabric's, which its policies announce."""
    prefixes = fabric_prefixes(intended)
    return not any(
        prefix.version == address.version and prefix.overlaps(address.network)
        for address in addresses
        for prefix in prefixes
    )

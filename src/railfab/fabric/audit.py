"""Findings about the configurations that switches run, or are to run: the same for a file and for a live switch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from railfab.device import (
    DEFAULT_INSTANCE,
    DeviceModel,
    PlatformTraits,
    Port,
    deviations,
    disagreements,
    without_secrets,
)
from railfab.errors import ConfigError, Problems, each
from railfab.fabric.design import Design, external_text, render_text
from railfab.fabric.explained import explained_changes, with_replaced
from railfab.fabric.foreign import OtherConfiguration, parsed
from railfab.fabric.router_ids import with_duplicates
from railfab.findings import OF_NICS, DifferenceCode, Finding, Severity, error, note, warning
from railfab.platforms import Difference, Platform, Side, Support, platform
from railfab.platforms.admission import support_of
from railfab.platforms.features import FEATURES
from railfab.platforms.hazards import Hazard
from railfab.platforms.rounding import as_programmed
from railfab.platforms.sections import Sections, settings_of_the_fabric
from railfab.platforms.setting_patterns import matches
from railfab.text.counted import counted
from railfab.text.folding import NUMBER
from railfab.topology.grouping import grouped

DEPLOY = "Deploy the intent"
CABLING = "cabling"
CABLING_UNCHECKED = f"{CABLING}: not checked, as configurations do not show it (railfab verify does)"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SwitchAudit:
    """The findings about one configuration by itself. model: None of an invalid one.

    intended: the model that the chip of the switch makes of the intent.
    """

    model: DeviceModel | None
    findings: tuple[Finding, ...]
    intended: DeviceModel | None = None


def configuration_findings(
    fabric: Design, texts: Mapping[str, str], drained: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Everything that is wrong with these configurations, by switch, and between the two ends of every link.

    In the order of `most_harmful_first`. drained: switches that a verb has drained; each is a finding of its own, and
    their configurations are compared with those of drained switches, as a deploy leaves them.
    """
    audits = {name: switch_audit(fabric, name, text, drained=name in drained) for name, text in texts.items()}
    unexpected = [_drained(name) for name in texts if name in drained and name not in fabric.intent.drain]
    return most_harmful_first((*unexpected, *findings_of_audits(fabric, audits)))


def _drained(name: str) -> Finding:
    problem = "is drained by railfab drain, and the intent does not drain it"
    return warning(DifferenceCode.OPERATOR_DRAIN, name, problem, "End the drain with railfab undrain after the work")


def findings_of_audits(fabric: Design, audits: Mapping[str, SwitchAudit]) -> tuple[Finding, ...]:
    """The findings of audited switches and those between them, likewise."""
    models = {name: audit.model for name, audit in audits.items() if audit.model is not None}
    findings = [
        finding
        for audit in audits.values()
        for finding in with_duplicates(audit.findings, audit.model, models.values())
    ]
    traits = {name: platform_traits(name) for name in {model.platform for model in models.values()}}
    return most_harmful_first(
        (*findings, *disagreements(fabric.topology, models, traits, fabric.intent.profile.lossless))
    )


NAMES_LINES = frozenset(
    (
        DifferenceCode.CONFIGURATION_MISSING,
        DifferenceCode.CONFIGURATION_INVALID,
        DifferenceCode.CONFIGURATION_REFUSED,
        DifferenceCode.UNKNOWN_SETTING,
    )
)
"""Findings about lines of a configuration, from which those about settings, and about ends of links, follow: as
hazards are."""


COUNTED = NAMES_LINES | {
    DifferenceCode.UNMODELLED_DIFFERENCE,
    DifferenceCode.UNMODELLED_IN_FABRIC,
    DifferenceCode.UNMODELLED,
}
"""Findings that have all their lines on one switch already, as hazards do."""


def most_harmful_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors, warnings, then notes. Of each, lines before what follows from them: settings that differ, then ends of
    links that do, as they are given.
    """
    order = list(Severity)
    return tuple(
        sorted(
            findings,
            key=lambda finding: (
                order.index(finding.severity),
                not finding.is_hazard and finding.code not in NAMES_LINES,
            ),
        )
    )


def folded(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings for people: those that differ only in the switch, or in the numbers of their place, as one.

    It has the first place, and how many more there are: one line of a profile breaks every port that uses it.
    """
    return tuple(_folded(same) for same in grouped(findings, _kind))


def _kind(finding: Finding) -> Finding:
    """The finding without what one line for several has only the first of; of further lines it has the number."""
    place = _place(finding)
    where = place if finding.is_hazard or finding.code in COUNTED else NUMBER.sub("", place)
    return replace(finding, where=where, more=("",) * len(finding.more))


def _folded(same: Sequence[Finding]) -> Finding:
    """One finding for several that are the same."""
    first, *more = same
    switches = len({finding.switch for finding in same})
    if not more:
        return first
    if switches == len(same) and len(set(map(_place, same))) == 1:
        return replace(first, where=f"{first.switch} and {len(more):,} more{_place(first)}")
    noun = "host" if first.code in OF_NICS else "switch"
    where = f" on {counted(switches, noun)}" if switches > 1 else ""
    return replace(first, problem=f"{first.problem} (and {counted(len(more), 'place')} more{where})")


def _place(finding: Finding) -> str:
    """`where` without the name of the switch."""
    return finding.where.removeprefix(finding.switch)


def platform_traits(name: str) -> PlatformTraits:
    """Traits of a platform: what its configurations cannot state, and what they round."""
    capabilities = platform(name).capabilities
    per_profile = support_of(capabilities, "thresholds_per_profile") is Support.YES
    shared = set() if per_profile else {"alpha", "xon_offset_bytes", "headroom_bytes"}
    return PlatformTraits(
        shared=frozenset(shared),
        steps=capabilities.steps,
        cell_bytes=capabilities.cell_bytes,
        unstated=frozenset(feature for feature in FEATURES if support_of(capabilities, feature) is not Support.YES),
    )


def switch_audit(fabric: Design, name: str, text: str, *, drained: bool = False) -> SwitchAudit:
    """Audit the configuration of a switch. drained: compare it with that of a drained one."""
    findings: list[Finding] = []
    try:
        model, intended = _audited(*_intended(fabric, name, drained), text, findings)
        return SwitchAudit(model, with_duplicates(findings, model, fabric.models.values()), intended)
    except (ConfigError, Problems) as invalid:
        if isinstance(invalid, OtherConfiguration):
            findings.clear()  # of such a file hundreds of lines are refused
        findings += [
            error(DifferenceCode.CONFIGURATION_INVALID, f"{name}: {failure.where}", failure.problem, failure.remedy)
            for failure in each(invalid)
        ]
        return SwitchAudit(None, tuple(findings))


def _intended(fabric: Design, name: str, drained: bool) -> tuple[DeviceModel, str]:
    """The model and the configuration that a switch is to have."""
    model = fabric.models[name]
    if model.drain or not drained:
        return model, fabric.texts[name]
    model = replace(model, drain=True)
    return model, external_text(fabric.planned_models[name]) + render_text(model)


def _audited(
    intended: DeviceModel, rendered: str, text: str, findings: list[Finding]
) -> tuple[DeviceModel, DeviceModel]:
    """The model of a configuration, whose findings are added, and the intended one. Raises ConfigError or Problems."""
    name, switch_platform = intended.name, platform(intended.platform)
    if text == rendered:
        return intended, intended
    if not text.strip():
        raise ConfigError("configuration", "is empty", "Read or render it again")
    refused = tuple(_refused(switch_platform, name, text))
    findings.extend(refused)
    renamed: tuple[str, ...] = ()
    if switch_platform.aligned is not None:
        text, renamed = switch_platform.aligned(text, rendered)
    model = parsed(switch_platform, text if switch_platform.scoped is None else switch_platform.scoped(text, rendered))
    model = _in_instances_of(model, intended)
    if foreign := _without_ports(model, intended):
        raise foreign
    findings.extend(_renamed(name, renamed))
    programmed = as_programmed(intended, model, switch_platform.capabilities.cell_bytes)
    if programmed != intended:
        intended, rendered = programmed, render_text(programmed)
    differences = switch_platform.differences(text, rendered)
    harmful = tuple(_by_place(matches(switch_platform.hazards(), differences, intended, model)))
    named = with_replaced(frozenset(difference.text for _, difference in harmful), differences)
    unmodelled = _unmodelled(switch_platform, model, text, differences)
    of_fabric = _of_the_fabric(switch_platform, intended, model, unmodelled, named)
    deciding = {each.text for each in differences} - {each.text for each in unmodelled if each.side is Side.ADDED}
    explained = explained_changes(intended, model, named, deciding | of_fabric)
    findings.extend(deviations(model, intended, tuple(explained)))
    findings.extend(_hazards(name, harmful))
    said = [refusal for refusal in refused if refusal.severity is not Severity.NOTE]
    left = [difference for difference in unmodelled if difference.text not in named]
    findings.extend(finding for finding in _differing(name, left, of_fabric) if not _is_said(finding, said))
    return model, intended


def _in_instances_of(model: DeviceModel, intended: DeviceModel) -> DeviceModel:
    """The model without sessions in routing tables that the intent does not have, such as that of management."""
    known = {DEFAULT_INSTANCE, *(instance.name for instance in intended.network_instances)}
    if model.bgp is None or all(neighbor.network_instance in known for neighbor in model.neighbors):
        return model
    neighbors = tuple(neighbor for neighbor in model.neighbors if neighbor.network_instance in known)
    return replace(model, bgp=replace(model.bgp, neighbors=neighbors))


def _without_ports(model: DeviceModel, intended: DeviceModel) -> OtherConfiguration | None:
    """The error of a configuration without any port of the intent; None of one with a port."""
    wanted = [interface.name for interface in intended.interfaces if isinstance(interface, Port)]
    if not wanted or not {interface.name for interface in model.interfaces}.isdisjoint(wanted):
        return None
    problem = f"has none of the {counted(len(wanted), 'port')} of the intent, such as {wanted[0]}"
    remedy = f"Deploy the intent, or check that this is a configuration of this switch and of {intended.platform}"
    return OtherConfiguration("configuration", problem, remedy)


def _refused(switch_platform: Platform, name: str, text: str) -> Iterator[Finding]:
    for refusal in switch_platform.refusals(text) if switch_platform.refusals else ():
        where = f"{name}: {without_secrets(refusal.where)}"
        if refusal.is_unknown:
            severity = note if refusal.is_foreign else warning
            yield severity(DifferenceCode.UNKNOWN_SETTING, where, refusal.problem, "Remove it, or check its spelling")
        else:
            severity = note if refusal.is_foreign else error
            yield severity(DifferenceCode.CONFIGURATION_REFUSED, where, refusal.problem, "Correct or remove it")


def _is_said(finding: Finding, refused: Iterable[Finding]) -> bool:
    """Whether a setting that is not modelled is one that the switch does not take, or does not know."""
    line = finding.where.replace(": set ", ": ", 1)
    is_unmodelled = finding.code is DifferenceCode.UNMODELLED_IN_FABRIC and not finding.more
    return is_unmodelled and any(f"{line} ".startswith(f"{refusal.where} ") for refusal in refused)


def _renamed(name: str, renamed: tuple[str, ...]) -> Iterator[Finding]:
    if renamed:
        first, *more = renamed
        where, problem = f"{name}: {first}", "has another name than in the intent"
        named = note(DifferenceCode.UNMODELLED, where, problem, "Deploy the intent to have its names")
        yield replace(named, more=tuple(more))


def _hazards(name: str, harmful: Iterable[tuple[Hazard, Difference]]) -> Iterator[Finding]:
    """One finding for the lines of each kind of hazard with the same consequence."""
    for pairs in grouped(harmful, lambda pair: (pair[0].kind, pair[0].severity, pair[0].consequence, pair[0].remedy)):
        hazard, first = pairs[0]
        where = f"{name}: {without_secrets(first.text)}"
        severity = error if hazard.severity is Severity.ERROR else warning
        harm = severity(hazard.kind, where, hazard.consequence, hazard.remedy)
        yield replace(harm, more=_more([difference for _, difference in pairs]))


def _unmodelled(
    switch_platform: Platform, model: DeviceModel, text: str, differences: Sequence[Difference]
) -> list[Difference]:
    """Differences that are also between a configuration and the rendering of its own model."""
    if not differences:
        return []
    texts = {difference.text for difference in switch_platform.differences(text, render_text(model))}
    return [difference for difference in differences if difference.text in texts]


def _of_the_fabric(
    switch_platform: Platform,
    intended: DeviceModel,
    model: DeviceModel,
    unmodelled: Iterable[Difference],
    named: Collection[str],
) -> frozenset[str]:
    """The texts of unmodelled settings more than the intent's that are of the fabric, and no hazards."""
    sections = switch_platform.sections() if switch_platform.sections else Sections()
    added = [line for line in unmodelled if line.side is Side.ADDED and line.text not in named]
    return settings_of_the_fabric(sections, added, intended, model)


def _differing(name: str, unmodelled: Sequence[Difference], of_fabric: Collection[str]) -> Iterator[Finding]:
    """Findings about differences that the model has no word for, and that are no hazards."""
    rendered = (difference for difference in unmodelled if difference.side is not Side.ADDED)
    for same in grouped(rendered, lambda difference: difference.path):
        where = f"{name}: {without_secrets(same[0].text)}"
        differing = warning(DifferenceCode.UNMODELLED_DIFFERENCE, where, _rendered(same[0]), DEPLOY)
        yield replace(differing, more=_more(same))
    added = [difference for difference in unmodelled if difference.side is Side.ADDED]
    for same in grouped((line for line in added if line.text in of_fabric), lambda difference: difference.path):
        where = f"{name}: {without_secrets(same[0].text)}"
        problem, remedy = "railfab does not model this setting of the fabric", "Check it, and remove it where in doubt"
        yield replace(warning(DifferenceCode.UNMODELLED_IN_FABRIC, where, problem, remedy), more=_more(same))
    foreign = (difference for difference in added if difference.text not in of_fabric)
    for same in grouped(foreign, lambda difference: difference.section):
        line = without_secrets(same[0].text)
        where, problem = f"{name}: {same[0].section}", f"railfab does not model '{line}'"
        unmodelled_line = note(
            DifferenceCode.UNMODELLED, where, problem, "Check that nothing there concerns the fabric"
        )
        yield replace(unmodelled_line, more=_more(same))


def _by_place(harmful: Iterable[tuple[Hazard, Difference]]) -> Iterator[tuple[Hazard, Difference]]:
    """One pattern for each setting and kind: the first of those with the greatest severity."""
    order = list(Severity)
    for same in grouped(harmful, lambda pair: (pair[0].kind, pair[1].text)):
        yield min(same, key=lambda pair: order.index(pair[0].severity))


def _rendered(difference: Difference) -> str:
    """Words for what the intent's configuration has in its place."""
    if "intended" in difference.values:
        return f"the rendered intent has {difference.values['intended'] or 'it'}"
    return "the rendered intent has the line" if difference.side is Side.MISSING else "the rendered intent has another"


def _more(same: Sequence[Difference]) -> tuple[str, ...]:
    """The texts of all but the first."""
    return tuple(without_secrets(difference.text) for difference in same[1:])

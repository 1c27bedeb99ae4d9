"""Mistakes of the list, which has them as Sets of SR Linux, on switches of another platform.

A mistake is what it changes in the device model of its switch. The same change of the model of the other switch,
rendered, is the configuration that is pushed there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache, lru_cache
from typing import Any

import yaml
from tests.dashboards.promql_labels import metrics_of
from tests.faults.mistakes import FOLDER, LOADER, Mistake, mistakes
from tests.faults.trial import rack_of

from railfab.dashboards import ALERTS
from railfab.device import DeviceModel
from railfab.device.diff import KEYS, changes
from railfab.errors import RailfabError
from railfab.fabric.design import Design
from railfab.gnmi.paths import elements
from railfab.gnmi.target import Edit, Operation
from railfab.platforms import Datastore, platform

LISTED = "srlinux"
"""The platform of the Sets in mistakes.yml."""
DEEP = {"incast": "incast-deep"}
HOST_PORTS = '=~"ethernet-1/./."'
"""How symptoms name the ports of hosts there."""


class NotExpressible(Exception):
    """A mistake that switches of a platform cannot have, or cannot show."""


def translated(mistake: Mistake, served: str) -> Mistake:
    """A mistake of the list on switches of a platform: its configurations as texts. Raises NotExpressible."""
    there = mistake if served == LISTED else _translation(mistake.id, served)
    if isinstance(there, NotExpressible):
        raise there
    return there


@cache
def _translation(name: str, served: str) -> Mistake | NotExpressible:
    """The mistake of this name in the list, or why switches of a platform cannot have or show it."""
    listed = next(mistake for mistake in mistakes() if mistake.id == name)
    try:
        return _translated(listed, served)
    except NotExpressible as error:
        return error


def _translated(mistake: Mistake, served: str) -> Mistake:
    mistake = replace(mistake, **_stated(mistake, served))
    _check_shown(mistake, served)
    ports = {name: _ports(name, served) for name in rack(served).models}

    def there(places: tuple[tuple[Any, ...], ...]) -> tuple[Any, ...]:
        return tuple((name, ports[name].get(port, port), *rest) for name, port, *rest in places)

    return replace(
        mistake,
        edits={},
        job=_job(mistake.job, served),
        texts={name: _text(name, edits, served) for name, edits in mistake.edits.items()},
        links=there(mistake.links),
        optics=there(mistake.optics),
        dark=there(mistake.dark),
        losing=there(mistake.losing),
        exchanged=there(mistake.exchanged),
        symptom=_symptom(mistake.symptom, served),
    )


def _stated(mistake: Mistake, served: str) -> dict[str, Any]:
    """Fields that elsewhere.yml has for a mistake. Raises NotExpressible for one that is refused there."""
    stated = {**_elsewhere().get("all", {}).get(mistake.id, {}), **_elsewhere().get(served, {}).get(mistake.id, {})}
    if refusal := stated.pop("refusal", ""):
        raise NotExpressible(refusal)
    return stated | {"also": (*mistake.also, *stated.get("also", ()))}


@cache
def _elsewhere() -> Mapping[str, Mapping[str, Any]]:
    document: Mapping[str, Mapping[str, Any]] = yaml.load((FOLDER / "elsewhere.yml").read_text(), LOADER)
    return document


def expressible(served: str) -> list[str]:
    """The mistakes that switches of a platform can have and show."""
    return [mistake.id for mistake in mistakes() if not inexpressible(mistake, served)]


def inexpressible(mistake: Mistake, served: str) -> str:
    """Why switches of a platform cannot have a mistake, or cannot show it; empty where they can."""
    try:
        translated(mistake, served)
    except NotExpressible as error:
        return str(error)
    return ""


@cache
def rack(served: str) -> Design:
    return rack_of(served)


def _job(name: str, served: str) -> str:
    """The job that shows a mistake: an incast fills the queue up to where the switches pause."""
    profiles = [profile for model in rack(served).models.values() if model.qos for profile in model.qos.profiles]
    fixed = any(thresholds.xoff_bytes for profile in profiles for thresholds in profile.thresholds)
    return name if fixed else DEEP.get(name, name)


@lru_cache
def _ports(name: str, served: str) -> Mapping[str, str]:
    """The ports of a switch on this platform by their names on SR Linux."""
    pairs = zip(rack(LISTED).topology.ports_of(name), rack(served).topology.ports_of(name), strict=True)
    return {listed.name: port.name for (listed, *_), (port, *_) in pairs}


def _text(name: str, edits: Mapping[str, Any], served: str) -> str:
    """The configuration with a mistake. Raises NotExpressible where it does not carry it."""
    system, intended = platform(served), rack(served).models[name]
    before, after = (_named_as(intended, model, _ports(name, served)) for model in _listed(name, edits))
    wrong = merged(intended, before, after)
    if wrong == intended:
        raise NotExpressible("the model of the switch has no such setting")
    try:
        text = system.text(system.render(wrong))
        read = system.parse(text)
    except RailfabError as error:
        raise NotExpressible(str(error).splitlines()[0]) from error
    if read == intended:
        lost = changes(read, wrong)[0]
        raise NotExpressible(f"its configuration does not state {lost.path}")
    if refused := system.refusals(text) if system.refusals is not None else ():
        raise NotExpressible(f"the switch refuses {refused[0].where}: {refused[0].problem}")
    return text


def _listed(name: str, edits: Mapping[str, Any]) -> tuple[DeviceModel, DeviceModel]:
    """The models of an SR Linux switch before and after Sets."""
    store, before = _store(name)
    text = store.text(store.edited(_edits(edits)))
    return before, platform(LISTED).parse(text)


@cache
def _store(name: str) -> tuple[Datastore, DeviceModel]:
    """An SR Linux switch that runs its intent, and its model."""
    system = platform(LISTED)
    assert system.twin is not None
    rendered = system.render(rack(LISTED).models[name])
    store = system.twin().datastore(name, rendered)
    store.commit(store.merged(rendered))
    return store, system.parse(store.text(store.running))


def _edits(edits: Mapping[str, Any]) -> list[Edit]:
    deleted = [Edit(Operation.DELETE, elements(path)) for path in edits.get("delete", ())]
    return deleted + [
        Edit(operation, elements(path), value)
        for operation, key in ((Operation.REPLACE, "replace"), (Operation.UPDATE, "update"))
        for path, value in edits.get(key, {}).items()
    ]


def merged(base: Any, before: Any, after: Any) -> Any:
    """The value of `base` with what differs between `before` and `after`: a merge of three."""
    if before == after:
        return base
    if is_dataclass(base) and type(base) is type(before) is type(after):
        values = {
            field.name: merged(*(getattr(each, field.name) for each in (base, before, after)))
            for field in fields(base)
            if field.compare
        }
        return replace(base, **values)  # type: ignore[type-var]
    if all(isinstance(each, tuple) and _is_keyed(each) for each in (base, before, after)):
        return _merged_elements(base, _by_key(before), _by_key(after))
    return after


def _merged_elements(base: tuple[Any, ...], before: Mapping[Any, Any], after: Mapping[Any, Any]) -> tuple[Any, ...]:
    kept = {
        key: merged(element, before[key], after[key]) if key in before and key in after else element
        for key, element in _by_key(base).items()
        if key in after or key not in before
    }
    added = {key: element for key, element in after.items() if key not in before}
    return tuple((kept | added).values())


def _is_keyed(elements: tuple[Any, ...]) -> bool:
    return all(is_dataclass(element) or isinstance(element, tuple) for element in elements)


def _by_key(elements: tuple[Any, ...]) -> dict[Any, Any]:
    return {_key(element): element for element in elements}


def _key(element: Any) -> Any:
    if isinstance(element, tuple):
        return element[0]
    return next((getattr(element, name) for name in KEYS if hasattr(element, name)), element)


def _named_as(intended: DeviceModel, listed: DeviceModel, ports: Mapping[str, str]) -> DeviceModel:
    """A model with the names of ports, and of the classes of each queue, that the platform has."""
    there = {traffic_class.queue: traffic_class.name for traffic_class in intended.qos.classes} if intended.qos else {}
    here = rack(LISTED).models[intended.name].qos
    classes = {each.name: there.get(each.queue, each.name) for each in here.classes} if here else {}
    return replace(_renamed(listed, ports), qos=_renamed(listed.qos, {**ports, **classes}))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """A model with other names of ports."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_renamed(element, names) for element in value)
    if is_dataclass(value) and not isinstance(value, type):
        renamed = {field.name: _renamed(getattr(value, field.name), names) for field in fields(value) if field.init}
        return replace(value, **renamed)
    return value


def _symptom(symptom: str, served: str) -> str:
    """A symptom with the names of ports of the platform; queues have those of the intent."""
    ports = {name: port for switch in rack(served).models for name, port in _ports(switch, served).items()}
    hosts = "|".join(sorted({port for name, port in ports.items() if name.count("/") > 1}))
    text = symptom.replace(HOST_PORTS, f'=~"{hosts}"')
    return re.sub(r'interface="([^"]+)"', lambda match: f'interface="{ports.get(match[1], match[1])}"', text)


def _check_shown(mistake: Mistake, served: str) -> None:
    """Raise NotExpressible where no path of the platform carries what the symptom or the alert looks at."""
    mapped = {rule.metric for rule in platform(served).telemetry.rules}
    listed = {rule.metric for rule in platform(LISTED).telemetry.rules}
    alert = next(alert for alert in ALERTS if alert.alert == mistake.alert)
    for text in filter(None, (mistake.symptom, alert.expr)):
        if missing := sorted((metrics_of(text) & listed) - mapped):
            raise NotExpressible(f"its telemetry has no {missing[0]}")

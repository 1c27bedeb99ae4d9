"""A source of targets as a user states it: a list in a file, a URL, or a file that says how to read a URL."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from railfab.endpoints import Endpoint
from railfab.endpoints.http_client import TIMEOUT_S
from railfab.endpoints.keys import unknown_key
from railfab.endpoints.model import faults
from railfab.endpoints.secrets import SecretSource
from railfab.endpoints.yaml_file import parse_mapping, read_text
from railfab.errors import EndpointError, RailfabError, raise_all
from railfab.platforms import platform_names
from railfab.telemetry.targets.file_source import FileSource
from railfab.telemetry.targets.http_source import INTERVAL_S, HttpSource
from railfab.telemetry.targets.known import TelemetryOf, targets_of_hosts, telemetry_of
from railfab.telemetry.targets.loader import TargetSource
from railfab.telemetry.targets.service_discovery import SUBSCRIBED, Discovery
from railfab.telemetry.targets.spec import TargetSpec
from railfab.yaml_reader.sections import YamlSection

PREFIX = "RAILFAB_TARGETS"
"""Of the variables with the login and the CA of a URL: see `endpoints.secrets`."""
SECTIONS = ("http_sd", "settings", "labels", "platforms")
HTTP_SD = ("url", "interval_s", "timeout_s")
LABELS = ("name", "platform", "address", *SUBSCRIBED)
SETTINGS = tuple(field.name for field in fields(Endpoint) if field.name not in ("name", "host", "ssh_port"))
SHORTEST_S = 1.0


def source_of(
    where: str, *, telemetry: TelemetryOf = telemetry_of, environment: Mapping[str, str] = os.environ
) -> TargetSource:
    """The source of targets at a URL, or in a file: hosts.yml, an endpoints file, or one with the section `http_sd`.

    Raises EndpointError, or Problems with file, line and key of all that is wrong.
    """
    secrets = SecretSource(PREFIX, environment)
    if "://" in where:
        return HttpSource(where, secrets, Discovery(telemetry=telemetry))
    path = Path(where)
    document = parse_mapping(path, read_text(path))
    if "http_sd" in document.values:
        return _http_source(path, document, secrets, telemetry)

    def parse(path: Path) -> tuple[TargetSpec, ...]:
        return targets_of_hosts(path, telemetry=telemetry)

    return FileSource(path, parse)


def _http_source(path: Path, document: YamlSection, secrets: SecretSource, telemetry: TelemetryOf) -> HttpSource:
    errors: list[RailfabError] = []
    _check_keys(path, "", document, SECTIONS, errors)
    parts = {name: _section(path, document, name, errors) for name in SECTIONS}
    for name, known in (("http_sd", HTTP_SD), ("settings", SETTINGS), ("labels", LABELS)):
        _check_keys(path, f"{name}.", parts[name], known, errors)
    raise_all(errors)
    options, labels = _options(path, parts["http_sd"], errors), _labels(path, parts["labels"], errors)
    platforms = parts["platforms"].values
    for key, value in platforms.items():
        if not isinstance(value, str):
            errors.append(_fault(path, parts["platforms"], "platforms.", key, "is not the name of a platform"))
        elif not telemetry(value).rules:
            where = f"{path}:{parts['platforms'].lines[key]}: platforms.{key}"
            remedy = f"Use one of {', '.join(platform_names())}, or describe it with --map"
            errors.append(EndpointError(where, f"railfab has no platform {value!r}", remedy))
    settings = _settings(path, parts["settings"], errors)
    raise_all(errors)
    discovery = Discovery(settings=settings, platforms=platforms, telemetry=telemetry, **labels)
    return HttpSource(discovery=discovery, secrets=secrets, **options)


def _options(path: Path, section: YamlSection, errors: list[RailfabError]) -> dict[str, Any]:
    found = {"interval_s": INTERVAL_S, "timeout_s": TIMEOUT_S, **section.values}
    if not isinstance(found.get("url"), str):
        errors.append(EndpointError(f"{path}:{section.line}: http_sd", "has no url", "Write url: https://HOST/PATH"))
    for key in ("interval_s", "timeout_s"):
        value = found[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not SHORTEST_S <= value <= 86_400:
            errors.append(_fault(path, section, "http_sd.", key, "is not 1 to 86400 seconds"))
    return found


def _labels(path: Path, section: YamlSection, errors: list[RailfabError]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in section.values.items():
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            errors.append(_fault(path, section, "labels.", key, "is not the name of a label, or a list of them"))
        elif key == "address":
            found["address_label"] = names[0]
        elif key in SUBSCRIBED:
            found.setdefault("subscribed_labels", {})[key] = names[0]
        else:
            found[f"{key}_labels"] = tuple(names)
    return found


def _settings(path: Path, section: YamlSection, errors: list[RailfabError]) -> Endpoint:
    settings = replace(Discovery().settings, **section.values)
    for fault in faults(replace(settings, name="any", host="any", platform=settings.platform or "any")):
        errors.append(EndpointError(f"{path}:{section.line}: settings", fault.problem, fault.remedy))
    return settings


def _section(path: Path, document: YamlSection, name: str, errors: list[RailfabError]) -> YamlSection:
    if name not in document.values:
        return document.empty()
    found = document.below(name)
    if found is None:
        errors.append(EndpointError(f"{path}:{document.lines[name]}: {name}", "is not a mapping", "Write KEY: VALUE"))
    return found or document.empty()


def _check_keys(
    path: Path, prefix: str, section: YamlSection, known: Collection[str], errors: list[RailfabError]
) -> None:
    for key in (key for key in section.values if key not in known):
        where = f"{path}:{section.lines[key]}: {prefix}{key}"
        errors.append(EndpointError(where, *unknown_key(str(key), known)))


def _fault(path: Path, section: YamlSection, prefix: str, key: Any, problem: str) -> EndpointError:
    where = f"{path}:{section.lines.get(key, section.line)}: {prefix}{key}"
    return EndpointError(where, problem, "Correct it")

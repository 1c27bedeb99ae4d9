"""Device models of the configurations that switches run."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.device import DeviceModel
from railfab.errors import ConfigError, Problems, each
from railfab.fabric.design import Design
from railfab.findings import DifferenceCode, Finding, error
from railfab.platforms import platform


def parsed(fabric: Design, texts: Mapping[str, str]) -> tuple[dict[str, DeviceModel], tuple[Finding, ...]]:
    """The models of these texts by switch, and a finding for each text that cannot be parsed."""
    models: dict[str, DeviceModel] = {}
    found: list[Finding] = []
    for name, text in texts.items():
        try:
            models[name] = platform(fabric.models[name].platform).parse(text)
        except (ConfigError, Problems) as invalid:
            found += [
                error(DifferenceCode.CONFIGURATION_INVALID, f"{name}: {one.where}", one.problem, one.remedy)
                for one in each(invalid)
            ]
    return models, tuple(found)

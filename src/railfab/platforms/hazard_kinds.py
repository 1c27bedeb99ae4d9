"""The catalogue of hazard kinds: one code, consequence and severity for the same mistake on every platform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from railfab.findings import HazardCode, Severity
from railfab.yaml_reader.packaged import packaged

PACKAGE = "railfab.platforms"


@dataclass(frozen=True, slots=True, kw_only=True)
class HazardKind:
    """One kind of hazard. consequence: for RoCE, one sentence without a full stop. standard: of the mechanism.

    severity: ERROR loses lossless packets, strands traffic or takes a link away; WARNING slows, weakens or hides.
    """

    code: HazardCode
    severity: Severity
    consequence: str
    standard: str = ""
    remedy: str = "Deploy the intent"


@cache
def hazard_kinds() -> Mapping[str, HazardKind]:
    """The kinds of `hazard_kinds.yml` by code, in its order."""
    return MappingProxyType(
        {
            code: HazardKind(code=HazardCode(code), severity=Severity(entry.pop("severity")), **entry)
            for code, entry in packaged(PACKAGE, "hazard_kinds.yml").items()
        }
    )


@cache
def old_hazard_names() -> Mapping[str, Mapping[str, HazardCode]]:
    """The kind of each name that a hazard of a platform had before, by that name and by platform."""
    names: dict[str, dict[str, HazardCode]] = {}
    for code, by_platform in packaged(PACKAGE, "old_hazard_names.yml").items():
        for platform, old_names in by_platform.items():
            for name in old_names:
                names.setdefault(name, {})[platform] = HazardCode(code)
    return MappingProxyType(names)

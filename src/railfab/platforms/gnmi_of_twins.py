"""Check of a fabric for platforms that the twin serves without gNMI."""

from __future__ import annotations

from collections.abc import Iterable

from railfab.errors import UnsupportedFeature, one_per_problem, raise_all
from railfab.platforms.registry import has_platform, platform


def require_gnmi_of_twin(switches: Iterable[tuple[str, str]], remedy: str) -> None:
    """Raise UnsupportedFeature, or Problems, for switches that the twin serves without gNMI: nothing is collected.

    switches: name and platform.
    """
    problem = "the twin serves {} without gNMI, so that there is nothing to collect"
    without = (switch for switch in switches if has_platform(switch[1]) and not _has_gnmi_twin(switch[1]))
    raise_all(one_per_problem([UnsupportedFeature(name, problem.format(of), remedy) for name, of in without]))


def _has_gnmi_twin(platform_name: str) -> bool:
    twin = platform(platform_name).twin
    return twin is None or bool(twin().models)

"""Configurations of another platform: those whose ports have the same names would differ in every line."""

from __future__ import annotations

from railfab.device import DeviceModel
from railfab.errors import ConfigError, RailfabError
from railfab.platforms import Platform, platform, platform_names

MOST_UNREAD = 0.5
"""Share of the lines that a platform does not model, above which the configuration may be another platform's."""
LESS_UNREAD = 4
"""The other platform leaves so many times fewer lines unmodelled."""


class OtherConfiguration(ConfigError):
    """The configuration of another platform or of another switch: nothing else of it is worth a finding."""


def parsed(intended: Platform, text: str) -> DeviceModel:
    """The model of a configuration. Raises ConfigError or Problems, and OtherConfiguration for another platform's."""
    lines = sum(1 for line in text.splitlines() if line.strip())
    try:
        model = intended.parse(text)
    except RailfabError:
        _refuse_another(intended, text, lines)
        raise
    if len(model.unmodelled) > MOST_UNREAD * lines:
        _refuse_another(intended, text, len(model.unmodelled))
    return model


def _refuse_another(intended: Platform, text: str, unread: int) -> None:
    """Raise OtherConfiguration for a configuration that another platform reads. unread: lines that its own does not."""
    others = {name: _unread(platform(name), text) for name in platform_names() if name != intended.name}
    read = {name: count for name, count in others.items() if count is not None and count * LESS_UNREAD <= unread}
    if read:
        name = min(read, key=lambda name: read[name])
        problem = f"is one of platform {name}, and the intent has {intended.name} on this switch"
        remedy = "Take that of this switch, or correct its platform in the intent"
        raise OtherConfiguration("configuration", problem, remedy)


def _unread(candidate: Platform, text: str) -> int | None:
    """Number of lines that a platform does not model; None where it reads no interface."""
    try:
        model = candidate.parse(text)
    except RailfabError:
        return None
    return len(model.unmodelled) if model.interfaces else None

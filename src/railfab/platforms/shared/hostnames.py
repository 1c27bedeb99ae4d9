"""The check that a configuration is for the switch that it is given."""

from __future__ import annotations

from railfab.errors import CommitRefused


def check_hostname(where: str, present: str, wanted: str, *, remedy: str, factory: str = "") -> None:
    """Raise CommitRefused where a switch has another hostname than a configuration for it.

    A switch without a hostname, or with that of the factory, takes any. remedy: beside `Check the address`.
    """
    if present not in ("", factory, wanted):
        problem = f"has hostname {present}, but the configuration is for {wanted or 'a switch without one'}"
        raise CommitRefused(where, problem, f"Check the address, or {remedy}")

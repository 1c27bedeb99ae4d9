"""Address of a NetBox, and the selection of its devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from railfab.errors import RailfabError

Record = Mapping[str, Any]


class NetBoxError(RailfabError):
    """A NetBox could not be read, or refused what it was to create."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetBox:
    """Address of a NetBox, and the selection of its devices.

    site, tag: slugs; None for any. ca: PEM file of the CA that signed its certificate; None for the trust store of the
    system. timeout_s: time limit for an answer.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    site: str | None = None
    tag: str | None = None
    ca: str | None = None
    skip_verify: bool = False
    timeout_s: float = 30.0

    @property
    def devices(self) -> str:
        """The selected devices, for messages."""
        site, tag = f" of site {self.site}" if self.site else "", f" with tag {self.tag}" if self.tag else ""
        return f"device{site}{tag}"

    def filters(self) -> dict[str, str]:
        """Query parameters that select the devices, without config contexts, which are large and not used."""
        selected = {"site": self.site, "tag": self.tag}
        return {"exclude": "config_context", **{name: slug for name, slug in selected.items() if slug}}

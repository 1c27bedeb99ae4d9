"""The laws of a session, on every installed platform that has sessions and that the twin serves."""

from __future__ import annotations

from railfab.platforms import platform, platform_names
from railfab.testing.sessions import SessionLaws

SERVED = [name for name in platform_names() if platform(name).twin is not None and platform(name).session is not None]

globals().update({f"Test_{name}": type(f"Test_{name}", (SessionLaws,), {"name": name}) for name in SERVED})

"""The laws of a platform, on every installed one."""

from __future__ import annotations

import pytest

from railfab.errors import UnknownPlatform
from railfab.platforms import platform, platform_names
from railfab.testing.platforms import PlatformLaws

globals().update({f"Test_{name}": type(f"Test_{name}", (PlatformLaws,), {"name": name}) for name in platform_names()})


def test_an_unknown_platform_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownPlatform) as unknown:
        platform("ios")
    assert str(unknown.value) == f"platform 'ios': does not exist. Use one of {', '.join(platform_names())}."

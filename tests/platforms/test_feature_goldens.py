"""An example of each feature on each platform: rendered as committed, line by line, and read back."""

from __future__ import annotations

import pytest
from tests.platforms.feature_goldens import GOLDEN, examples, golden

from railfab.platforms import platform, platform_names

ANEW = "changed on purpose? Look at the difference, then: python -m tests.platforms.feature_goldens"


@pytest.mark.parametrize("name", platform_names())
def test_each_feature_is_rendered_as_committed(name: str) -> None:
    """A mistake that the renderer and the parser share is seen here alone, where no oracle sees it."""
    assert golden(name) == (GOLDEN / f"{name}.txt").read_text(), ANEW


@pytest.mark.parametrize("name", platform_names())
def test_an_example_of_each_feature_is_read_back(name: str) -> None:
    """Also of those that are hardly ever drawn."""
    own = platform(name)
    models = dict(examples(own))
    assert len(models) > 30
    assert [feature for feature, model in models.items() if own.parse(own.text(own.render(model))) != model] == []

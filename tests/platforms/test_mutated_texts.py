"""No text of a configuration ends an audit with a traceback: `make laws` tries 100,000 of each platform."""

from __future__ import annotations

import pytest
from tests.audit.fabrics import fabric_of, switch_of
from tests.laws import IN_FULL
from tests.platforms.mutated_texts import LINES, base_texts, mutated_texts

from railfab.fabric.audit import switch_audit
from railfab.platforms import platform_names

TEXTS = 100_000 if IN_FULL else 40
SEED = 20_261_129


@pytest.mark.parametrize("name", platform_names())
def test_every_text_is_audited_or_is_an_error_of_one_line(name: str) -> None:
    design = fabric_of(name, "routed")
    switch = switch_of(design, "leaf")
    for text in mutated_texts(name, SEED, TEXTS):
        try:
            audited = switch_audit(design, switch, text)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}: {text}") from error
        assert audited.model is not None or audited.findings, text


@pytest.mark.parametrize("name", platform_names())
def test_the_texts_are_short_many_and_have_the_shape_of_a_configuration(name: str) -> None:
    texts = list(mutated_texts(name, SEED, 100))
    assert texts == list(mutated_texts(name, SEED, 100))
    assert len(set(texts)) > 80
    assert all(len(text.splitlines()) <= LINES for text in texts)
    assert len(base_texts(name)) >= 4

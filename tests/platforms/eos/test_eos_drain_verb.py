"""A drain by a verb in the text of a configuration."""

from __future__ import annotations

from railfab.platforms import platform
from railfab.platforms.eos.drain_verb import is_drained, with_drain, with_mark, without_drain
from railfab.platforms.eos.lines import FORMAT, text

SPEAKER = "hostname leaf\n!\nrouter bgp 65001\n   router-id 10.0.0.1\n"
OPERATORS = (
    "maintenance\n   profile bgp slow\n      initiator route-map SLOW inout\n   unit mine\n      group bgp upstream\n"
)


def shaped(configuration: str) -> set[str]:
    """A configuration without the order of its sections."""
    return {text((line,)) for line in FORMAT.tree(configuration)}


def test_a_drain_is_maintenance_and_a_mark_that_only_a_verb_makes() -> None:
    drained = with_drain(SPEAKER)
    assert platform("eos").parse(drained).drain
    assert not is_drained(drained)
    assert is_drained(with_mark(drained))
    assert not is_drained(with_mark(SPEAKER))


def test_the_end_of_a_drain_leaves_what_was_before() -> None:
    for before in (SPEAKER, SPEAKER + OPERATORS):
        drained = with_mark(with_drain(before))
        assert with_mark(with_drain(drained)) == drained
        assert shaped(without_drain(drained)) == shaped(before)
        assert shaped(without_drain(before)) == shaped(before)


def test_other_lines_of_the_unit_stay() -> None:
    unit = SPEAKER + "maintenance\n   unit System\n      profile unit quick\n"
    assert shaped(without_drain(with_drain(unit))) == shaped(unit)

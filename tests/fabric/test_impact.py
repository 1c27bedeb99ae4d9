"""Which changes of a switch interrupt forwarding, and the reasons in words."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.platforms.mutated_texts import base_texts, mutated_texts

from railfab.device import DeviceModel, Port
from railfab.errors import RailfabError
from railfab.fabric.impact import Impact, impact_of
from railfab.platforms import Platform, admit, platform, platform_names
from railfab.platforms.interruptions import Interruption, Interruptions
from railfab.testing.device_models import device_models
from railfab.testing.edits import edited_trees
from railfab.testing.leaf_models import leaf
from railfab.testing.platforms import brief

NOTHING = Impact(interrupts=False, reasons=())
TEXTS = 6


def knowing(name: str, **kinds: bool) -> Platform:
    """A platform of which only this is known: whether these kinds interrupt."""
    known = {kind.replace("_", "-"): Interruption(interrupts=value, source="a test") for kind, value in kinds.items()}
    lines = ((re.compile("unheard of 7"), "management"),)
    return replace(platform(name), interruptions=lambda: Interruptions(by_kind=known, lines=lines))


def text_of(model: DeviceModel, used: Platform) -> str:
    return used.text(used.render(model))


def described(model: DeviceModel, description: str) -> DeviceModel:
    interfaces = tuple(replace(interface, description=description) for interface in model.interfaces)
    return replace(model, interfaces=interfaces)


def without_descriptions(text: str) -> list[str]:
    return [line.rstrip(" ,") for line in text.splitlines() if "description" not in line]


@pytest.mark.parametrize("name", platform_names())
def test_no_change_has_no_impact(name: str) -> None:
    for text in base_texts(name):
        assert impact_of(platform(name), text, text) == NOTHING


@given(drawn=st.data())
@pytest.mark.parametrize("name", platform_names())
@brief
def test_only_a_change_whose_every_difference_is_known_as_harmless_does_not_interrupt(
    name: str, drawn: st.DataObject
) -> None:
    """Of a platform of which only descriptions are known as harmless: without them the texts are the same."""
    used = knowing(name, description=False)
    model = described(admit(drawn.draw(device_models(name)), used), "before")
    before, tree = text_of(model, used), used.render(described(model, "after"))
    after = used.text(tree)
    assert impact_of(used, before, after) == NOTHING
    edited = used.text(drawn.draw(edited_trees(tree)))
    if impact_of(used, before, edited).interrupts:
        return
    replaced = used.scoped(before, edited) if used.scoped else before  # what is the operator's stays
    if without_descriptions(edited) != without_descriptions(replaced):
        model_after = described(used.parse(edited), "before")
        assert used.differences(text_of(model_after, used), replaced) == ()
        assert model_after == used.parse(replaced)


@pytest.mark.parametrize("name", platform_names())
def test_no_text_is_without_impact_unless_all_that_differs_is_known(name: str) -> None:
    """Mutated texts against the configuration that they were made of: nothing is known of any kind."""
    used = knowing(name)
    for before in base_texts(name)[:1]:
        for after in mutated_texts(name, 7, TEXTS):
            impact = impact_of(used, before, after)
            assert impact.interrupts, after
            assert impact.reasons
            assert all("\n" not in reason for reason in impact.reasons)


def test_reasons_are_folded_over_ports_and_say_what_is_not_known() -> None:
    used, model = knowing("eos", mtu=True, description=False), leaf("eos")
    ports = [interface for interface in model.interfaces if isinstance(interface, Port)]
    changed = tuple(
        replace(port, mtu_bytes=1500, description="x", hold_up_ms=700) if isinstance(port, Port) else port
        for port in model.interfaces
    )
    impact = impact_of(used, text_of(model, used), text_of(replace(model, interfaces=changed), used))
    first, more = ports[0].name, len(ports) - 1
    assert impact.reasons == (
        f"hold time of {first} and {more} more (effect unknown)",
        f"MTU of {first} and {more} more",
    )


def test_a_line_that_no_model_has_is_named_without_its_secret() -> None:
    used = platform("eos")
    text = text_of(leaf("eos"), used)
    more = "username eve secret sha512 hushhush\nspanning-tree mode rapid-pvst\n"
    impact = impact_of(used, text, text + more)
    assert impact.reasons == ("unknown: spanning-tree mode rapid-pvst and 1 more",)
    (reason,) = impact_of(used, f"{text}spanning-tree password hushhush\n", text).reasons
    assert reason == "unknown: spanning-tree password ..."


def test_a_line_that_no_model_has_may_be_known_by_its_pattern() -> None:
    used = knowing("eos", management=False)
    text = text_of(leaf("eos"), used)
    assert impact_of(used, text, f"{text}unheard of 7\n") == NOTHING
    assert impact_of(used, text, f"{text}unheard of 8\n").reasons == ("unknown: unheard of 8",)


def test_a_configuration_that_cannot_be_read_counts_as_interrupting() -> None:
    used = platform("eos")
    text = text_of(leaf("eos"), used)
    wrong = text + "interface Ethernet1/1\n   ip address 10.0.0.1/99\n"
    with pytest.raises(RailfabError):
        used.parse(wrong)
    assert impact_of(used, wrong, text).interrupts


def test_comments_for_the_system_below_are_compared() -> None:
    """FRR has neither MTU nor state of its ports: they are comments, which no model has."""
    used, model = platform("frr"), leaf("frr")
    text = text_of(model, used)
    heading = "! Linux settings of the ports, which FRR does not have:\n! ip link set dev swp1 mtu {} {}\n"
    before = heading.format(9000, "up") + text
    assert impact_of(used, before, heading.format(1500, "up") + text).reasons == ("MTU of swp1 (effect unknown)",)
    impact = impact_of(used, before, heading.format(9000, "down") + text)
    assert impact.reasons == ("MTU of swp1 (effect unknown)", "shutdown of swp1")

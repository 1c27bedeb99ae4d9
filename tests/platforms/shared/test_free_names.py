"""Names that operators of EOS and NX-OS choose freely, held against a rendered configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from tests.audit.fabrics import fabric_of, switch_of

from railfab.fabric.audit import switch_audit
from railfab.findings import Severity
from railfab.platforms import platform
from railfab.platforms.eos.aligned import KINDS as EOS_KINDS
from railfab.platforms.nxos.aligned import KINDS as NXOS_KINDS
from railfab.platforms.shared.free_names import NameKind

KINDS: Mapping[str, tuple[NameKind, ...]] = {"eos": EOS_KINDS, "nxos": NXOS_KINDS}
CASES = [
    (name, fabric, role)
    for name in KINDS
    for fabric, role in (("routed", "leaf"), ("numbered", "spine"), ("dual-esi", "leaf"))
]


def text_of(name: str, fabric: str, role: str) -> str:
    design = fabric_of(name, fabric)
    return design.texts[switch_of(design, role)]


def aligned(name: str, text: str, rendered: str) -> tuple[str, tuple[str, ...]]:
    align = platform(name).aligned
    assert align is not None
    return align(text, rendered)


def names(kind: NameKind, text: str) -> list[str]:
    """The names of the objects of a kind that a text defines."""
    lines = [line.strip() for line in text.splitlines()]
    return list(
        dict.fromkeys(
            match["name"] for line in lines for pattern in kind.definitions if (match := pattern.fullmatch(line))
        )
    )


def renamed(text: str, name: str, new: str) -> str:
    """The text with another name; longer words stay, and so do the features `nv overlay` and `fabric forwarding`."""
    return re.sub(rf"(?<=\S )(?<!nv ){re.escape(name)}(?![\w.-]| forwarding)", new, text)


@pytest.mark.parametrize(("name", "fabric", "role"), CASES)
def test_an_object_of_another_name_gets_that_of_the_intent(name: str, fabric: str, role: str) -> None:
    rendered = text_of(name, fabric, role)
    tried = set()
    for kind in KINDS[name]:
        for defined in names(kind, rendered):
            text, said = aligned(name, renamed(rendered, defined, "OURS"), rendered)
            assert (text, f"{kind.word} OURS" in said) == (rendered, True), (kind.word, defined)
            tried.add(kind.word)
    assert tried > {"route-map", "ip prefix-list"}


@pytest.mark.parametrize(("name", "fabric", "role"), CASES)
def test_a_configuration_with_names_of_its_own_has_one_finding_a_note(name: str, fabric: str, role: str) -> None:
    design, rendered = fabric_of(name, fabric), text_of(name, fabric, role)
    text = rendered
    for number, kind in enumerate(KINDS[name]):
        for place, defined in enumerate(names(kind, rendered)):
            text = renamed(text, defined, f"OURS-{number}-{place}")
    (finding,) = switch_audit(design, switch_of(design, role), text).findings
    assert (finding.severity, finding.problem) == (Severity.NOTE, "has another name than in the intent")


def test_a_profile_of_all_ports_is_each_of_those_of_the_intent() -> None:
    """Both have the same lines where one length of cable asks for the headroom of all."""
    rendered = text_of("eos", "routed", "leaf")
    first = rendered.index("qos profile 400g-40m")
    second = rendered.index("qos profile 400g-5m")
    text = re.sub("400g-(?:40|5)m", "ROCE", rendered[:first] + rendered[second:])
    named, said = aligned("eos", text, rendered)
    assert said == ("qos profile ROCE",)
    assert platform("eos").parse(named) == platform("eos").parse(rendered)


def test_qos_that_ports_state_themselves_has_the_names_of_the_profiles_of_the_intent() -> None:
    rendered = text_of("eos", "routed", "leaf")
    sections = dict(re.findall(r"(?m)^qos profile (\S+)\n((?: .*\n)+)", rendered))
    text = re.sub(r"   service-profile (\S+)\n", lambda match: sections[match[1]], rendered)
    text = re.sub(r"(?m)^qos profile \S+\n(?: .*\n)+!\n", "", text)
    assert "service-profile" not in text
    assert platform("eos").parse(aligned("eos", text, rendered)[0]) == platform("eos").parse(rendered)


@pytest.mark.parametrize("name", ["400g-5m", "MISSING"])
def test_a_name_of_another_object_of_the_intent_or_of_none_is_a_mistake(name: str) -> None:
    rendered = text_of("eos", "routed", "leaf")
    text = re.sub(r"(interface Ethernet57/1\n(?:   .*\n)*?   service-profile) 400g-40m", rf"\1 {name}", rendered)
    assert text != rendered
    assert aligned("eos", text, rendered) == (text, ())


def test_of_two_objects_in_place_of_one_the_more_frequent_has_its_name() -> None:
    rendered = text_of("eos", "routed", "leaf")
    text = renamed(rendered, "400g-5m", "HOSTS")
    odd = re.sub(r"(interface Ethernet1/1\n(?:   .*\n)*?   service-profile) HOSTS", r"\1 ODD", text)
    odd = odd.replace("end\n", "qos profile ODD\n   qos trust dscp\n!\nend\n")
    named, said = aligned("eos", odd, rendered)
    assert said == ("qos profile HOSTS",)
    assert named.count("service-profile ODD") == 1
    assert "HOSTS" not in named


def test_lines_keep_their_numbers() -> None:
    """So that an impossible value is named where it stands."""
    rendered = text_of("eos", "routed", "leaf")
    text = "! of ours\n" + rendered.replace("400g-5m", "HOSTS")
    named, _ = aligned("eos", text, rendered)
    assert [line.replace("400g-5m", "HOSTS") for line in named.splitlines()] == text.splitlines()

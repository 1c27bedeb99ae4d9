"""The verdict of `hazards.yml` on every command that FRR has in the sections of a leaf.

Negations stand in it only where they harm: `no LINE` of a line that is not there changes nothing.

python -m tests.platforms.frr.judged_commands       writes it anew
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from railfab.device import DeviceModel
from railfab.fabric import design
from railfab.findings import DifferenceCode, Severity
from railfab.platforms import Difference, Side, platform
from railfab.platforms.frr.commands import TOP, nodes
from railfab.platforms.hazards import Hazard
from railfab.platforms.sections import settings_of_the_fabric
from railfab.platforms.setting_patterns import matches

from .examples import example

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "frr" / "judged-commands.txt"
LEAF = "pod1-seg1-leaf1"
PEER, ROUTER = "swp15", "router bgp 4200001001"
SECTIONS = {
    TOP: (),
    "interface": (f"interface {PEER}",),
    "router bgp": (ROUTER,),
    "address-family unicast": (ROUTER, "address-family ipv4 unicast"),
    "route-map": ("route-map fabric-export permit 10",),
    "profile": ("bfd", "profile FABRIC-300X3"),
}


def verdicts(model: DeviceModel) -> Iterator[str]:
    """A line for each command: error, warning or note, the line after its sections, and the codes of its findings."""
    for text, hazards in judged(model):
        default = Severity.WARNING if not hazards and _is_of_the_fabric(text, model) else Severity.NOTE
        severity = min((hazard.severity for hazard in hazards), key=list(Severity).index, default=default)
        unknown = [DifferenceCode.UNMODELLED_IN_FABRIC] if default is Severity.WARNING else []
        kinds = ", ".join(dict.fromkeys((*(hazard.kind for hazard in hazards), *unknown)))
        yield f"{severity:8}{text}" + (f"  [{kinds}]" if kinds else "")


def judged(model: DeviceModel) -> Iterator[tuple[str, list[Hazard]]]:
    """Each command after its sections, and the hazards that it is; of negations those that are one."""
    for section, above in SECTIONS.items():
        listed = nodes()[section].by_word.values()
        for command in dict.fromkeys(command for commands in listed for command in commands):
            lines = _lines(command)
            yield from (_judged((*above, line), model) for line in lines[:1])
            negated = (_judged((*above, line), model) for line in lines[1:])
            yield from ((text, hazards) for text, hazards in negated if hazards)


def _lines(command: str) -> tuple[str, ...]:
    """The command and, where it has one with the same words, its negation."""
    line = example(command).replace("192.0.2.1 ", f"{PEER} ", 1 if "neighbor " in command else 0)
    line = line.replace("192.0.2.", "10.17.0.") if " route " in line else line
    if command.startswith("[no] "):
        return line, f"no {line}"
    return () if command.startswith("no ") else (line,)


def _judged(place: tuple[str, ...], model: DeviceModel) -> tuple[str, list[Hazard]]:
    text = ": ".join(place)
    return text, [hazard for hazard, _ in matches(platform("frr").hazards(), [_added(text)], model, model)]


def _is_of_the_fabric(text: str, model: DeviceModel) -> bool:
    sections = platform("frr").sections
    assert sections is not None
    return bool(settings_of_the_fabric(sections(), [_added(text)], model, model))


def _added(text: str) -> Difference:
    return Difference(side=Side.ADDED, path=text, text=text, section=text.partition(":")[0])


def main() -> None:
    model = design(ROOT / "labs" / "frr-pod" / "intent.yml").models[LEAF]
    GOLDEN.write_text("\n".join(verdicts(model)) + "\n")


if __name__ == "__main__":
    sys.exit(main())

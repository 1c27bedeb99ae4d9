"""Nokia's models as the judge of every switch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.oracles.archives import prepared
from tests.oracles.every_switch import Judge
from tests.oracles.srlinux import ARCHIVE, NokiaModels

from railfab.device import DeviceModel
from railfab.platforms import platform
from railfab.platforms.shared.json_tree import Json, text
from railfab.platforms.srlinux.twin import factory

ORACLE = "Nokia's YANG models v25.3.1, by libyang"
INTERFACES, INSTANCES = "srl_nokia-interfaces:interface", "srl_nokia-network-instance:network-instance"


def judge(oracles: Path, scratch: Path) -> Judge:
    return judge_of(prepared(NokiaModels, oracles / ARCHIVE, scratch / "nokia"), scratch)


def judge_of(models: NokiaModels, scratch: Path) -> Judge:
    """Judges switches, whose configurations it writes into a folder."""
    render = platform("srlinux").render

    def said(switches: Sequence[DeviceModel]) -> Sequence[str]:
        files = [scratch / f"{number}.json" for number in range(len(switches))]
        for file, switch in zip(files, switches, strict=True):
            file.write_text(text(laid_over_the_factory(render(switch))))
        return models.complaints(*files)

    return said


def laid_over_the_factory(tree: Json) -> Json:
    """A rendered configuration with the interface and the network instance of the management port."""
    own = factory("leaf1")
    return {**own, **tree, **{name: [*own[name], *tree.get(name, [])] for name in (INTERFACES, INSTANCES)}}

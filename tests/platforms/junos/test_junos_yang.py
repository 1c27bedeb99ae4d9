"""Junos's configuration against Juniper's own models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.oracles.archives import prepared
from tests.oracles.junos import ARCHIVE, JunosModels
from tests.platforms.junos.switches import INTENTS, with_junos
from tests.platforms.other_switches import judged

from railfab.device import DeviceModel
from railfab.platforms import admit, platform
from railfab.platforms.junos.statements import read, rendered
from railfab.testing.device_models import device_models

pytestmark = pytest.mark.oracle
JUNOS = platform("junos")


@pytest.fixture(scope="module")
def models(oracles: Path, tmp_path_factory: pytest.TempPathFactory) -> JunosModels:
    if not (oracles / ARCHIVE).exists():
        pytest.skip(f"needs {ARCHIVE} in {oracles}; tests/README.md says where to get it")
    return prepared(JunosModels, oracles / ARCHIVE, tmp_path_factory.mktemp("junos"))


def said(models: JunosModels, switches: Sequence[DeviceModel], folder: Path) -> list[str]:
    """What libyang says against the configurations of these switches."""
    return [line for switch in switches for line in models.refusals(rendered(JUNOS.render(switch)), folder)]


@pytest.mark.matrix
def test_the_models_accept_the_switches_of_every_design_which_are_read_back(
    models: JunosModels, repository: Path, tmp_path: Path
) -> None:
    switches: list[DeviceModel] = []
    for name in INTENTS:
        switches += [admit(model, JUNOS) for model in judged(with_junos(repository, name, tmp_path).models.values())]
    assert len(switches) >= len(INTENTS)
    assert said(models, switches, tmp_path) == []
    assert [JUNOS.parse(JUNOS.text(JUNOS.render(model))) for model in switches] == switches


def test_the_models_accept_every_model_that_the_capabilities_allow(models: JunosModels, tmp_path: Path) -> None:
    drawn_models: list[DeviceModel] = []

    @settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(drawn=st.data())
    def draw(drawn: st.DataObject) -> None:
        drawn_models.append(admit(drawn.draw(device_models("junos")), JUNOS))

    draw()
    assert said(models, drawn_models, tmp_path) == []


BROKEN: dict[str, tuple[str, ...]] = {
    "an unknown statement of the top": ("interface et-0/0/0 mtu 9216",),
    "an unknown statement below": ("interfaces et-0/0/0 m-t-u 9216",),
    "a misspelt flag": ("protocols bgp multipath multiple-ass",),
    "a statement in the wrong place": ("protocols bgp scheduler-map sm1",),
    "a flag with a value": ("class-of-service forwarding-classes class roce no-loss 3",),
    "a leaf without value": ("interfaces et-0/0/0 speed",),
    "an unknown speed": ("interfaces et-0/0/0 speed 401g",),
    "an unknown error correction": ("interfaces et-0/0/0 ether-options fec rs-544",),
    "an unknown action of the watchdog": (
        "class-of-service congestion-notification-profile pfc pfc-watchdog watchdog-action reboot",
    ),
    "a limit of next hops that there is not": ("chassis maximum-ecmp 65",),
    "an unknown type of instance": ("routing-instances tenant1 instance-type mac-vrfs",),
    "an unknown type of group": ("protocols bgp group FABRIC type externally",),
    "router advertisements of an instance": (
        "routing-instances tenant1 protocols router-advertisement interface et-0/0/0.0",
    ),
    "two modes of balancing": (
        "forwarding-options enhanced-hash-key ecmp-dlb flowlet inactivity-interval 16",
        "forwarding-options enhanced-hash-key ecmp-dlb per-packet",
    ),
    "a name of a VLAN that is too short": ("vlans a vlan-id 10",),
    "an unknown match of prefixes": ("policy-options policy-statement p term 1 from route-filters 10.0.0.0/8 exact",),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_models_refuse_a_broken_configuration(models: JunosModels, name: str, tmp_path: Path) -> None:
    assert models.refusals(read("\n".join(f"set {line}" for line in BROKEN[name])), tmp_path)

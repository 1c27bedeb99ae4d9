"""BGP and policies of Cumulus Linux as the lines that NVUE gives to FRR: vtysh takes them, and they mean the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.platforms.cumulus.as_frr import lines_of
from tests.platforms.cumulus.switches import NATIVE, OTHERS, with_cumulus
from tests.platforms.frr.grammar import refused_lines
from tests.platforms.other_switches import judged

from railfab.device import DEFAULT_INSTANCE, DeviceModel
from railfab.platforms import admit, platform
from railfab.platforms.cumulus.names import given as given_name
from railfab.testing.device_models import device_models

pytestmark = [pytest.mark.oracle, pytest.mark.skipif(shutil.which("vtysh") is None, reason="needs vtysh of FRR")]
CUMULUS, FRR = platform("cumulus"), platform("frr")


def check(switch: DeviceModel, file: Path) -> None:
    """vtysh takes the lines, and FRR reads the policies and sessions of the switch in them."""
    lines = [*lines_of(CUMULUS.render(switch))]
    file.write_text("\n".join(lines) + "\n")
    assert [lines[number - 1] for number in refused_lines(file)] == []
    read = FRR.parse(file.read_text())
    assert {given_name(one.name): one.rules for one in read.policies if one.name != "no-policy"} == {
        one.name: one.rules for one in switch.policies
    }
    if switch.bgp is None or read.bgp is None:
        assert read.bgp is None or switch.bgp is None
        return
    assert (read.bgp.asn, read.bgp.multiple_as) == (switch.bgp.asn, switch.bgp.multiple_as)
    sessions = {str(one.peer): one for one in switch.bgp.neighbors if one.network_instance == DEFAULT_INSTANCE}
    assert {str(one.peer) for one in read.bgp.neighbors} == sessions.keys()
    for found in read.bgp.neighbors:
        wanted = sessions[str(found.peer)]
        for part in ("remote_as", "families", "reflector_client", "next_hop", "multihop_ttl", "enabled"):
            assert getattr(found, part) == getattr(wanted, part), (part, found.peer)
        for part in ("import_policies", "export_policies"):
            assert [given_name(name) for name in getattr(found, part) if name != "no-policy"] == [
                *getattr(wanted, part)
            ], part
        if wanted.bfd is None or wanted.bfd.receive_ms is None:
            assert found.bfd == wanted.bfd, "railfab's FRR has one interval of BFD for both directions"
        assert (found.timers.keepalive_s, found.timers.hold_s) == (wanted.timers.keepalive_s, wanted.timers.hold_s)


@pytest.mark.parametrize("name", [*NATIVE, *OTHERS])
def test_frr_takes_the_routing_of_a_design(repository: Path, tmp_path: Path, name: str) -> None:
    for switch in judged(with_cumulus(repository, name, tmp_path).models.values()):
        check(switch, tmp_path / "frr.conf")


@given(drawn=st.data())
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=[Phase.generate],
)
def test_frr_takes_the_routing_of_every_model(drawn: st.DataObject, tmp_path: Path) -> None:
    check(admit(drawn.draw(device_models("cumulus")), CUMULUS), tmp_path / "frr.conf")

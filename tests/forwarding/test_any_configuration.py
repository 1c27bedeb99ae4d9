"""The law that convergence computes a state from every configuration that a switch accepts, whatever it says."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.forwarding.fabrics import LEAF, SPINE, planned
from tests.laws import examples

from railfab.device import DeviceModel
from railfab.errors import RailfabError
from railfab.forwarding import FabricChange, ForwardingState, LinkTable, Marking, converge, unconfigured
from railfab.platforms import Tree, admit, platform
from railfab.platforms.srlinux.parse import parse_tree
from railfab.sim import Framing
from railfab.testing.device_models import device_models
from railfab.testing.edits import edited_trees

INTENT = "labs/srl-pod/intent.yml"
SRLINUX = platform("srlinux")

drawn = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))


@cache
def healthy() -> ForwardingState:
    topology, models = planned(INTENT)
    start = unconfigured(LinkTable(topology), framing=Framing(), marking=Marking())
    return converge(start, FabricChange(dict(models)))


def whole(state: ForwardingState) -> list[object]:
    """Everything that readers and the simulator ask of a state."""
    sessions = [state.sessions_of(name) for name in planned(INTENT)[1]]
    network, routing = state.network, state.routing
    return [sessions, network.up.tolist(), network.queue_of.tolist(), routing.group.tolist()]


def follows(switch: str, model: DeviceModel) -> None:
    """A switch takes any model, and the deployed one after it gives what was before."""
    state = converge(healthy(), FabricChange({switch: replace(model, name=switch)}))
    whole(state)
    assert whole(converge(state, FabricChange({switch: planned(INTENT)[1][switch]}))) == whole(healthy())


@given(model=device_models("srlinux"), switch=st.sampled_from((LEAF, SPINE)))
@drawn
def test_a_fabric_follows_from_any_model(model: DeviceModel, switch: str) -> None:
    follows(switch, admit(model, SRLINUX))


@pytest.mark.parametrize("switch", [LEAF, SPINE])
@given(choice=st.data())
@drawn
def test_a_fabric_follows_from_any_edits_of_a_configuration(switch: str, choice: st.DataObject) -> None:
    tree: Tree = SRLINUX.render(planned(INTENT)[1][switch])
    for _ in range(choice.draw(st.integers(1, 4))):
        tree = choice.draw(edited_trees(tree))
    try:
        model = parse_tree(tree)
    except RailfabError:
        return
    follows(switch, model)

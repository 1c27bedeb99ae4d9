"""The drain of an SR Linux switch: what is rendered, when it is in effect, and what belongs to the operator."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from tests.platforms.srlinux.configuration import SRLINUX, parsed, policies, tree
from tests.platforms.srlinux.mutations import Place, at, changed, leaves, without
from tests.platforms.srlinux.switches import spine
from tests.platforms.srlinux.test_srlinux_totality import reading

from railfab.device import Action, DeviceModel, Policy
from railfab.errors import ConfigError
from railfab.platforms.shared.json_edits import copied
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.drain import frozen_instances, overlapping_groups
from railfab.platforms.srlinux.drain_limits import refusals
from railfab.platforms.srlinux.set_request import restorable, scoped, set_request
from railfab.platforms.srlinux.tree import difference, tree_of
from railfab.platforms.srlinux.twin import twin


def drained() -> DeviceModel:
    return replace(spine(), drain=True)


def maintenance(configuration: Json) -> Any:
    return configuration["srl_nokia-system:system"]["srl_nokia-maintenance-mode:maintenance"]


def test_a_drain_is_a_maintenance_group_of_all_sessions_whose_routes_are_the_least_preferred() -> None:
    before, after = tree(spine()), tree(drained())
    assert [line for line in difference(before, after).splitlines() if line.startswith("+set")] == [
        "+set / routing-policy community-set fabric-drain member [ 65535:0 ]",
        "+set / routing-policy policy fabric-drain default-action bgp as-path prepend as-number auto",
        "+set / routing-policy policy fabric-drain default-action bgp as-path prepend repeat-n 10",
        "+set / routing-policy policy fabric-drain default-action bgp communities add fabric-drain",
        "+set / routing-policy policy fabric-drain default-action bgp local-preference set 0",
        "+set / routing-policy policy fabric-drain default-action policy-result accept",
        "+set / system maintenance group fabric-drain maintenance-mode admin-state enable",
        "+set / system maintenance group fabric-drain maintenance-profile fabric-drain",
        "+set / system maintenance group fabric-drain members bgp network-instance default",
        "+set / system maintenance profile fabric-drain bgp export-policy fabric-drain",
    ]


def test_every_leaf_of_a_drain_is_read() -> None:
    model = drained()
    configuration = tree(model)
    assert parsed(configuration) == model
    own = [place for place in leaves(configuration) if is_of_drain(configuration, place)]
    assert len(own) == 14
    for place in own:
        assert reading(changed(configuration, place)) != model, place
        assert reading(without(configuration, place)) != model, place


def is_of_drain(configuration: Json, place: Place) -> bool:
    """Whether a leaf is of the maintenance group and its profile, or of the policy and the communities."""
    if any("maintenance" in str(step) for step in place):
        return True
    return any(step in ("policy", "community-set") for step in place) and (
        at(configuration, place[:3])["name"] == "fabric-drain"
    )


def disabled(configuration: Json) -> None:
    maintenance(configuration)["group"][0]["maintenance-mode"]["admin-state"] = "disable"


def other_policy(configuration: Json) -> None:
    maintenance(configuration)["profile"][0]["bgp"]["export-policy"] = "fabric-export"


def rejecting(configuration: Json) -> None:
    policies(configuration)["policy"][-1]["default-action"]["policy-result"] = "reject"


def without_prepending(configuration: Json) -> None:
    del policies(configuration)["policy"][-1]["default-action"]["bgp"]["as-path"]


def one_neighbor(configuration: Json) -> None:
    maintenance(configuration)["group"][0]["members"]["bgp"]["network-instance"][0]["neighbor"] = ["10.1.0.1"]


@pytest.mark.parametrize("spoil", [disabled, other_policy, rejecting, without_prepending, one_neighbor])
def test_what_does_not_drain_all_sessions_is_no_drain(spoil: Callable[[Json], None]) -> None:
    configuration = tree(drained())
    spoil(configuration)
    found = parsed(configuration)
    assert not found.drain
    assert found.policy("fabric-drain") is not None
    assert any("maintenance" in line for line in found.unmodelled)


def test_the_groups_of_the_operator_stay() -> None:
    own = {"name": "upgrade", "maintenance-mode": {"admin-state": "disable"}}
    running = tree(drained())
    maintenance(running)["group"].append(own)
    found = parsed(running)
    assert found.drain
    assert found.unmodelled == ("set / system maintenance group upgrade maintenance-mode admin-state disable",)
    changes = set_request(running, tree(spine()))
    assert [path for path in changes.delete if "maintenance" in path] == [
        "/system/maintenance/group[name=fabric-drain]",
        "/system/maintenance/profile[name=fabric-drain]",
    ]


@pytest.mark.parametrize("intended", [spine(), drained()], ids=["spine", "drained"])
def test_lines_of_other_policies_are_unmodelled_although_those_of_the_drain_are_read(intended: DeviceModel) -> None:
    store = twin().datastore("spine", tree(intended))
    running = store.merged(tree(drained()))
    found: Json = next(child for name, child in running.items() if name.endswith(":routing-policy"))
    prepend = {"as-path": {"prepend": {"as-number": "auto", "repeat-n": 7}}}
    next_hop = {"next-hop": {"set": "self"}}
    own = {"name": "own", "default-action": {"policy-result": "accept", "bgp": {**prepend, **next_hop}}}
    found["policy"] = [*found["policy"], own]
    next(entry for entry in found["policy"] if entry["name"] == "fabric-drain")["default-action"]["bgp"] |= prepend
    model = store.model(running)
    assert model is not None
    assert model.drain
    assert [line for line in model.unmodelled if "routing-policy" in line] == [
        "set / routing-policy policy own default-action bgp next-hop set self",
    ]


OPERATORS = (
    {"name": "op", "statement": [{"name": "10", "match": {"call-policy": "called"}, "action": {}}]},
    {
        "name": "called",
        "statement": [{"name": "10", "match": {"prefix": {"prefix-set": "op"}, "bgp": {"community-set": "op"}}}],
        "default-action": {"policy-result": "reject", "internal-tags": {"set-tag-set": ["op"]}},
    },
)
"""A policy of the operator and one that it calls, with three sets."""
SETS = ("prefix-set", "community-set", "tag-set")


def with_profile(configuration: Json, policy: str = "op") -> Json:
    """A configuration in which a profile of the operator names a policy, and which has another policy without use."""
    of_system = configuration["srl_nokia-system:system"]
    of_system.setdefault("srl_nokia-maintenance-mode:maintenance", {}).setdefault("profile", []).append(
        {"name": "op", "bgp": {"export-policy": policy}}
    )
    section = policies(configuration)
    section["policy"] += [*deepcopy(OPERATORS), {"name": "unused"}]
    for kind in SETS:
        section.setdefault(kind, []).append({"name": "op"})
    return configuration


def test_the_policies_of_the_profiles_of_the_operator_stay_with_their_sets() -> None:
    running = with_profile(tree(spine()))
    assert set_request(running, tree(spine())).delete == ("/routing-policy/policy[name=unused]",)
    assert restorable(running, tree(spine())).keys() == tree(spine()).keys()
    kept = policies(restorable(running, tree(spine())))
    assert [policy["name"] for policy in kept["policy"]] == ["fabric-import", "fabric-export", "unused"]
    assert not any(one["name"] == "op" for kind in SETS for one in kept.get(kind, ()))


def test_the_policies_of_the_profiles_of_the_operator_are_unmodelled_and_no_line_is_lost() -> None:
    found = parsed(with_profile(tree(spine())))
    assert [policy.name for policy in found.policies] == ["fabric-export", "fabric-import", "unused"]
    plain = parsed(tree(spine()))
    before, after = tree(spine()), with_profile(tree(spine()))
    added = [line[1:] for line in difference(before, after).splitlines() if line.startswith("+set")]
    assert plain.unmodelled == ()
    assert {*found.unmodelled} == {line for line in added if line != "set / routing-policy policy unused"}


def test_a_policy_of_the_intent_is_deployed_also_where_a_profile_of_the_operator_names_it() -> None:
    wanted = tree(spine())
    running = with_profile(tree(spine()), "fabric-export")
    policies(running)["policy"][1]["default-action"] = {"policy-result": "accept"}
    assert parsed(running).policy("fabric-export") != spine().policy("fabric-export")
    changes = set_request(running, wanted)
    assert [path for path, _ in changes.replace] == ["/routing-policy/policy[name=fabric-export]"]
    assert "/routing-policy/policy[name=op]" in changes.delete


def test_a_policy_of_a_profile_of_the_operator_that_a_session_uses_has_an_effect_and_is_not_deleted() -> None:
    running = with_profile(tree(spine()))
    policies(running)["policy"][2] = {"name": "op", "default-action": {"policy-result": "accept"}}
    bgp = running["srl_nokia-network-instance:network-instance"][0]["protocols"]["srl_nokia-bgp:bgp"]
    bgp["group"][0]["export-policy"] = ["op"]
    assert parsed(running).policy("op") == Policy(name="op", rules=(), default=Action.PERMIT)
    assert "/routing-policy/policy[name=op]" not in set_request(running, tree(spine())).delete


def test_the_empty_container_that_a_drain_leaves_has_no_meaning() -> None:
    configuration = tree(spine())
    configuration["srl_nokia-system:system"]["srl_nokia-maintenance-mode:maintenance"] = {}
    assert parsed(configuration) == spine()
    assert scoped(configuration, tree(spine())) == tree(spine())
    assert SRLINUX.differences(json.dumps(configuration), json.dumps(tree(spine()))) == ()


def test_a_drain_touches_no_setting_of_a_session() -> None:
    """SR Linux does not let BGP be modified in maintenance mode."""
    changes = set_request(tree(spine()), tree_of(SRLINUX.text(SRLINUX.render(drained()))))
    assert [path for path, _ in changes.replace] == [
        "/routing-policy/community-set[name=fabric-drain]",
        "/routing-policy/policy[name=fabric-drain]",
    ]
    assert all(path.startswith("/system/maintenance/") for path, _ in changes.update)


def test_the_bgp_of_a_drained_switch_is_not_changed_until_its_drain_ends() -> None:
    store = twin().datastore("spine", tree(spine()))
    store.commit(store.merged(tree(drained())))
    bgp = spine().bgp
    assert bgp is not None
    changed_bgp = store.merged(tree(replace(drained(), bgp=replace(bgp, max_paths=1))))
    with pytest.raises(ConfigError) as refused:
        store.model(changed_bgp)
    assert str(refused.value) == (
        "/ network-instance default protocols bgp: is in maintenance mode, and cannot be modified."
        " End maintenance mode in a commit of its own first."
    )
    disabled(changed_bgp)
    assert store.model(changed_bgp) is not None


def holding(*instances: str) -> Json:
    """Network instances with two neighbours each; those of the names are in maintenance mode."""
    neighbors = [{"peer-address": f"10.1.0.{number}", "peer-as": 65000} for number in (1, 2)]
    speakers = [
        {"name": name, "protocols": {"bgp": {"autonomous-system": 1, "neighbor": neighbors}}}
        for name in ("default", "tenant")
    ]
    members = {"bgp": {"network-instance": [{"name": name} for name in instances]}}
    group = {"name": "own", "maintenance-mode": {"admin-state": "enable"}, "members": members}
    return copied({"network-instance": speakers, "system": {"maintenance": {"group": [group]}}})


def speaker(configuration: Json, instance: int) -> Any:
    return configuration["network-instance"][instance]["protocols"]["bgp"]


def test_sessions_stay_frozen_when_a_commit_takes_others_out_of_maintenance_mode() -> None:
    running, candidate = holding("default", "tenant"), holding("default")
    for instance in (0, 1):
        speaker(candidate, instance)["autonomous-system"] = 2
    assert list(frozen_instances(running, candidate)) == ["default"]
    assert list(frozen_instances(holding("default"), holding("default", "tenant"))) == []


def test_another_order_of_neighbors_is_no_change_of_frozen_sessions() -> None:
    running, candidate = holding("default"), holding("default")
    speaker(candidate, 0)["neighbor"].reverse()
    assert list(frozen_instances(running, candidate)) == []
    speaker(candidate, 0)["neighbor"][0]["peer-as"] = 65001
    assert list(frozen_instances(running, candidate)) == ["default"]
    del candidate["network-instance"][0]["protocols"]["bgp"]
    assert list(frozen_instances(running, candidate)) == ["default"]


PEERS = {"10.0.0.1": "up", "10.0.0.3": "down", "10.0.0.5": "down"}
"""Neighbours, each with its peer group."""


def members(instance: str, **listed: list[str]) -> Json:
    return {"name": instance, **{name.replace("_", "-"): names for name, names in listed.items()}}


def two_groups(one: Json, other: Json, state: str = "enable") -> Json:
    """A configuration of two instances with the same neighbours, one of them with dynamic ones too, and two groups."""
    bgp = {"neighbor": [{"peer-address": peer, "peer-group": group} for peer, group in PEERS.items()]}
    dynamic = {"interface": [{"interface-name": "ethernet-1/1.0", "peer-group": "dynamic"}]}
    groups = [
        {
            "name": name,
            "maintenance-mode": {"admin-state": admin_state},
            "members": {"bgp": {"network-instance": [entry]}},
        }
        for name, entry, admin_state in (("one", one, "enable"), ("other", other, state))
    ]
    instances = [
        {"name": "default", "protocols": {"bgp": bgp | {"dynamic-neighbors": dynamic}}},
        {"name": "blue", "protocols": {"bgp": bgp}},
    ]
    return {"network-instance": instances, "system": {"maintenance": {"group": groups}}}


WHOLE = members("default")
OVERLAPPING = [
    (WHOLE, WHOLE),
    (WHOLE, members("default", peer_group=["dynamic"])),
    (members("default", peer_group=["down"]), members("default", neighbor=["10.0.0.5"])),
]
APART = [
    (WHOLE, members("blue")),
    (members("default", peer_group=["up"]), members("default", neighbor=["10.0.0.5"])),
    (members("default", neighbor=["10.0.0.3"]), members("default", neighbor=["10.0.0.5"])),
    (WHOLE, members("default", peer_group=["empty"])),
]


@pytest.mark.parametrize(("one", "other"), OVERLAPPING)
def test_groups_with_a_session_in_common_are_not_both_in_maintenance_mode(one: Json, other: Json) -> None:
    assert list(overlapping_groups(two_groups(one, other))) == [("one", "other")]
    assert list(overlapping_groups(two_groups(other, one))) == [("one", "other")]
    assert list(overlapping_groups(two_groups(one, other, "disable"))) == []


@pytest.mark.parametrize(("one", "other"), APART)
def test_groups_of_different_sessions_are_both_in_maintenance_mode(one: Json, other: Json) -> None:
    assert list(overlapping_groups(two_groups(one, other))) == []


def test_a_group_of_the_management_instance_blocks_nothing() -> None:
    bgp = {"autonomous-system": 65000, "neighbor": [{"peer-address": "192.0.2.1", "peer-group": "out"}]}
    running = tree(spine())
    running["srl_nokia-network-instance:network-instance"].append({"name": "mgmt", "protocols": {"bgp": bgp}})
    group = {
        "name": "op",
        "maintenance-mode": {"admin-state": "enable"},
        "members": {"bgp": {"network-instance": [members("mgmt")]}},
    }
    running["srl_nokia-system:system"]["srl_nokia-maintenance-mode:maintenance"] = {"group": [group]}
    assert list(refusals(running, tree(drained()))) == []
    group["members"] = {"bgp": {"network-instance": [members("default")]}}
    assert [problem for problem, _ in refusals(running, tree(drained()))] == [
        "cannot be drained while its maintenance group op has its BGP sessions"
    ]

"""Every path that a telemetry map calls verified is in the vendor's YANG models, with its keys, type and states."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

import pytest
from tests.oracles.telemetry_paths import OPENCONFIG, VENDOR_MODELS, NotModelled, TelemetryPaths, VendorModels

from railfab.platforms import Confidence, TelemetryRule, platform, platform_names

pytestmark = pytest.mark.oracle

QUEUE = "/qos/interfaces/interface[interface-id={interface}]/output/queues/queue[name={queue}]/state"
NATIVE_QUEUE = (
    "/System/ipqos-items/queuing-items/policy-items/out-items/intf-items/If-list[name=eth{interface:Ethernet}]"
    "/queCmap-items/QueuingStats-list[cmapName={queue}][statType=*]"
)
COUNTERS = "/interfaces/interface[name={interface}]/state/counters"
PathsOf = Callable[[VendorModels], TelemetryPaths]


@pytest.fixture(scope="module")
def paths_of(oracles: Path) -> PathsOf:
    """Reads models once."""

    @cache
    def read(models: VendorModels) -> TelemetryPaths:
        archive = oracles / models.archive
        if not archive.exists():
            pytest.skip(f"needs {models.archive} in {oracles}; tests/README.md says where to get it")
        return TelemetryPaths(models.modules(archive))

    return read


def objections(name: str, checks: Iterable[tuple[str, Callable[[], None]]]) -> str:
    """A line for each path that the models do not have. checks: by path."""
    lines = ((path, objection(check)) for path, check in checks)
    return "\n".join(f"{name}/telemetry.yml: {path}: {said}" for path, said in lines if said)


def objection(check: Callable[[], None]) -> str:
    try:
        check()
    except NotModelled as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", platform_names())
def test_every_verified_path_is_in_the_vendors_models(name: str, paths_of: PathsOf) -> None:
    verified = [rule for rule in platform(name).telemetry.rules if rule.confidence is Confidence.VERIFIED]
    if name not in VENDOR_MODELS:
        wrong = "".join(f"\n{name}/telemetry.yml: {rule.path}" for rule in verified)
        assert not verified, f"no model of this vendor's state is published, so call these documented:{wrong}"
        return
    paths = paths_of(VENDOR_MODELS[name])
    wrong = objections(name, ((rule.path, partial(paths.check_rule, rule)) for rule in verified))
    assert not wrong, wrong


@pytest.mark.parametrize("name", sorted(VENDOR_MODELS.keys() & set(platform_names())))
def test_every_modelled_subscription_is_in_the_vendors_models(name: str, paths_of: PathsOf) -> None:
    models = VENDOR_MODELS[name]
    paths = paths_of(models)
    modelled = [one.path for one in platform(name).telemetry.subscriptions if one.origin in models.origins]
    wrong = objections(name, ((path, partial(paths.check_subscription, path)) for path in modelled))
    assert not wrong, wrong


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"path": f"{QUEUE}/transmit-octets"}, ""),
        ({"path": f"{QUEUE}/ecn-marked-octets"}, "marks `ecn-marked-octets` as not supported"),
        ({"path": f"{QUEUE}/sent-octets"}, "state has no `sent-octets`, but "),
        ({"path": QUEUE}, "is a container, which carries no value"),
        ({"path": f"{COUNTERS.replace('name=', 'id=')}/in-octets"}, "has the keys [name], not [id]"),
        ({"path": f"{COUNTERS}/in-octets", "encoding": "uint32"}, "has type counter64, uint64"),
        ({"path": f"{QUEUE}/transmit-octets", "from_leaf": {"title": "{queue}"}}, "state has no `title`, but "),
    ],
)
def test_arista_supports_a_part_of_openconfig(paths_of: PathsOf, rule: dict[str, object], expected: str) -> None:
    assert_objection(paths_of(VENDOR_MODELS["eos"]), rule, expected)


OPER_STATUS = {"path": f"{COUNTERS.removesuffix('/counters')}/oper-status", "encoding": "string"}
EVERY = dict.fromkeys(("UP", "DOWN", "TESTING", "UNKNOWN", "DORMANT", "NOT_PRESENT", "LOWER_LAYER_DOWN"), 0.0)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (EVERY, ""),
        (EVERY | {"BROKEN": 0.0}, "`oper-status` has no value BROKEN, but DORMANT, DOWN, "),
        ({"UP": 1.0, "DOWN": 0.0}, "`oper-status` can also be DORMANT, LOWER_LAYER_DOWN, "),
    ],
)
def test_states_are_all_that_the_models_have(paths_of: PathsOf, states: dict[str, float], expected: str) -> None:
    assert_objection(paths_of(VENDOR_MODELS["frr"]), OPER_STATUS | {"states": states}, expected)


def assert_objection(paths: TelemetryPaths, stated: dict[str, object], expected: str) -> None:
    stated = {"metric": "m", "encoding": "uint64", "confidence": Confidence.VERIFIED, "labels": {}} | stated
    rule = TelemetryRule(**stated)  # type: ignore[arg-type]
    said = objection(partial(paths.check_rule, rule))
    assert (expected in said) if expected else not said, said


def test_openconfig_alone_has_what_arista_suppresses(paths_of: PathsOf) -> None:
    assert VENDOR_MODELS["frr"].archive == OPENCONFIG
    assert_objection(paths_of(VENDOR_MODELS["frr"]), {"path": f"{QUEUE}/ecn-marked-octets"}, "")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"{NATIVE_QUEUE}/txBytes", ""),
        (f"{NATIVE_QUEUE}/ecnBytes", "has no `ecnBytes`, but cmapName, currQueueDepth, "),
        (f"{NATIVE_QUEUE.removesuffix('[statType=*]')}/txBytes", "has the keys [cmapName statType], not [cmapName]"),
    ],
)
def test_rules_of_ciscos_native_model_are_checked_too(paths_of: PathsOf, path: str, expected: str) -> None:
    assert_objection(paths_of(VENDOR_MODELS["nxos"]), {"path": path}, expected)

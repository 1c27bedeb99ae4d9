"""A user's mapping file changes what is exposed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.telemetry.rack import HOST_PORT, INTERVAL_S, QUICK, Rack, eventually
from typer.testing import CliRunner

from railfab.cli import app
from railfab.endpoints import save_endpoints
from railfab.errors import IntentError
from railfab.platforms.telemetry_files import telemetry_maps
from railfab.telemetry import Collector, fabric_collector
from railfab.telemetry.targets import targets_of_hosts
from railfab.topology import Topology

MAPPINGS = """version: 1
metrics:
  acme_leaf_seven: {kind: gauge, help: A leaf that railfab does not map., labels: [interface]}
platforms:
  srlinux:
    rules:
      - {path: "/interface[name={interface}]/statistics/a-leaf-nobody-maps", metric: acme_leaf_seven, scale: 2}
      - path: "/interface[name={interface}]/statistics/in-octets"
        metric: fabric_interface_receive_bytes_total
        drop: true
"""

EXAMPLE = Path("docs/examples/mappings.yml")


def test_the_example_of_the_docs_is_a_mapping_file(repository: Path) -> None:
    (changed,) = telemetry_maps([repository / EXAMPLE]).values()
    assert changed.rules[0].metric in changed.metrics


def test_a_faulty_file_ends_the_start_before_anything_else_is_read(tmp_path: Path) -> None:
    path = tmp_path / "m.yml"
    path.write_text("version: 1\nplatforms: {srlinx: {}}\n")
    done = CliRunner().invoke(app, ["collect", str(tmp_path / "no-such-intent.yml"), "--map", str(path)])
    assert isinstance(done.exception, IntentError)
    assert "Did you mean 'srlinux'?" in str(done.exception)


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        (
            "mode: sample, suppress_redundant: true, heartbeat_s: 1",
            "heartbeat_s: a heartbeat of 1 s is below the sample interval of 2 s."
            " Use a longer one, or a shorter interval_s.",
        ),
        (
            "mode: sample, interval_s: 30, suppress_redundant: true, heartbeat_s: 10",
            "heartbeat_s: a heartbeat of 10 s is below the sample interval of 30 s."
            " Use a longer one, or a shorter interval_s.",
        ),
        (
            "mode: sample, heartbeat_s: 60",
            "heartbeat_s: every sample is sent, changed or not. Remove it, or add suppress_redundant: true.",
        ),
        (
            "mode: on_change, suppress_redundant: true",
            "suppress_redundant: only changes are sent in mode on_change. Remove it.",
        ),
        (
            "mode: poll, heartbeat_s: 60",
            "heartbeat_s: each answer of mode poll is whole. Remove it; interval_s says how often.",
        ),
        (
            "mode: once, suppress_redundant: true",
            "suppress_redundant: each answer of mode once is whole. Remove it, or use mode: sample.",
        ),
        (
            "mode: poll, updates_only: true",
            "updates_only: mode poll would then bring no value. Remove it, or use a mode of a stream.",
        ),
    ],
)
def test_modes_that_exclude_each_other_are_one_line(tmp_path: Path, keys: str, problem: str) -> None:
    path = tmp_path / "m.yml"
    path.write_text(f"version: 1\nplatforms:\n  srlinux:\n    subscriptions:\n      - {{path: /a, {keys}}}\n")
    with pytest.raises(IntentError) as error:
        telemetry_maps([path], interval_s=2.0)
    assert str(error.value) == f"{path}:5: platforms.srlinux.subscriptions.0.{problem}"


def test_a_metric_of_the_user_is_exposed_and_what_the_user_drops_is_not(
    topology: Topology, rack: Rack, tmp_path: Path
) -> None:
    path = tmp_path / "mappings.yml"
    path.write_text(MAPPINGS)
    endpoints, maps = rack.endpoints(), telemetry_maps([path])
    with fabric_collector(topology, endpoints, interval_s=INTERVAL_S, policy=QUICK, maps=maps) as collector:
        eventually(collector, lambda snapshot: len(snapshot.samples.get("acme_leaf_seven", ())) == 4)
        text = collector.exposition.render(openmetrics=False).decode()
    assert f'acme_leaf_seven{{device="pod1-spine1",fabric="pod64",interface="{HOST_PORT}"}} 14' in text
    assert "# HELP acme_leaf_seven A leaf that railfab does not map.\n# TYPE acme_leaf_seven gauge\n" in text
    assert "fabric_interface_receive_bytes_total{" not in text
    unmapped = 'path_root="/interface/statistics"'
    assert f'device="pod1-spine1",fabric="pod64",{unmapped}' in text  # the leaf whose rule was dropped


def test_a_list_of_targets_on_a_platform_of_the_users_own_is_collected(rack: Rack, tmp_path: Path) -> None:
    path, hosts = tmp_path / "mappings.yml", tmp_path / "endpoints.json"
    path.write_text(
        MAPPINGS.partition("platforms")[0]
        + """platforms:
  acme-os:
    new: true
    subscriptions: [{path: "/interface[name=*]/statistics", mode: sample}]
    rules: [{path: "/interface[name={interface}]/statistics/a-leaf-nobody-maps", metric: acme_leaf_seven}]
"""
    )
    save_endpoints(hosts, replace(rack.endpoints(platform="acme-os"), backend="inventory"))
    maps = telemetry_maps([path])
    specs = targets_of_hosts(hosts, telemetry=lambda name: maps[name])
    own = {name: metric for found in maps.values() for name, metric in found.metrics.items()}
    with Collector(specs, own=own, interval_s=INTERVAL_S, policy=QUICK) as collector:
        eventually(collector, lambda snapshot: len(snapshot.samples.get("acme_leaf_seven", ())) == 4)
        assert f'interface="{HOST_PORT}"}} 7\n' in collector.exposition.render(openmetrics=True).decode()

"""Mapping files of users: laws of their changes, and one line for each fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.errors import RailfabError, each
from railfab.gnmi import messages
from railfab.gnmi.paths import to_proto
from railfab.platforms import SubscriptionMode, TelemetryMap, platform, platform_names
from railfab.platforms.telemetry_files import telemetry_maps
from railfab.platforms.telemetry_overrides import Overrides, rule_key, with_overrides
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.notification import NotificationDecoder

DROPPED_SUBSCRIPTION = """      - {path: "/interface[name=*]/last-change", drop: true}
"""
DROPPED_RULE = """      - path: "/interface[name={interface}]/last-change"
        metric: fabric_interface_last_change_timestamp_seconds
        drop: true
"""
FANS = (
    """version: 1
metrics:
  acme_fan_speed_rpm: {kind: gauge, help: Speed of a fan., labels: [fan]}
platforms:
  srlinux:
    subscriptions:
      - {path: "/platform/fan-tray[id=*]", mode: sample, interval_s: 10}
"""
    + DROPPED_SUBSCRIPTION
    + """    rules:
      - {path: "/platform/fan-tray[id={fan}]/fan/speed", metric: acme_fan_speed_rpm}
      - path: "/interface[name={interface}]/statistics/in-octets"
        metric: fabric_interface_receive_bytes_total
        scale: 2
"""
    + DROPPED_RULE
)
SRLINUX = platform("srlinux").telemetry
IN_OCTETS = ("/interface[name={interface}]/statistics/in-octets", "fabric_interface_receive_bytes_total")


def maps(folder: Path, *texts: str) -> dict[str, TelemetryMap]:
    paths = [folder / f"m{number}.yml" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return telemetry_maps(paths)


def decoder(folder: Path, text: str) -> NotificationDecoder:
    """Of SR Linux, with the changes of a file."""
    return NotificationDecoder(PathMap(maps(folder, text)["srlinux"]))


def fans(folder: Path) -> Overrides:
    """The changes of FANS, as one value."""
    changed = maps(folder, FANS)["srlinux"]
    shipped = {rule_key(rule.path, rule.metric) for rule in SRLINUX.rules}
    kept = {rule_key(rule.path, rule.metric) for rule in changed.rules}
    paths = {one.path for one in changed.subscriptions}
    return Overrides(
        rules=tuple(rule for rule in changed.rules if rule not in SRLINUX.rules),
        subscriptions=tuple(one for one in changed.subscriptions if one not in SRLINUX.subscriptions),
        dropped_rules=frozenset(shipped - kept),
        dropped_subscriptions=frozenset((one.path, "", "") for one in SRLINUX.subscriptions if one.path not in paths),
        metrics=changed.metrics,
    )


@pytest.mark.parametrize("name", platform_names())
def test_no_change_leaves_a_map_as_it_is(name: str) -> None:
    assert with_overrides(platform(name).telemetry, Overrides()) == platform(name).telemetry


def test_changes_applied_twice_are_those_applied_once(tmp_path: Path) -> None:
    once = with_overrides(SRLINUX, fans(tmp_path))
    assert once == maps(tmp_path, FANS)["srlinux"]
    assert with_overrides(once, fans(tmp_path)) == once
    again = FANS.replace(DROPPED_SUBSCRIPTION, "").replace(DROPPED_RULE, "")
    assert maps(tmp_path, FANS, again)["srlinux"] == once


def test_a_rule_of_the_same_path_and_metric_takes_the_place_of_the_platforms(tmp_path: Path) -> None:
    changed = maps(tmp_path, FANS)["srlinux"]
    shipped = next(place for place, rule in enumerate(SRLINUX.rules) if (rule.path, rule.metric) == IN_OCTETS)
    assert changed.rules[shipped + 1].scale == 2  # one new rule precedes
    assert [rule.metric for rule in changed.rules].count(IN_OCTETS[1]) == 1
    assert len(changed.rules) == len(SRLINUX.rules) + 1 - 1


def test_what_is_dropped_is_gone_and_what_is_new_is_subscribed_to(tmp_path: Path) -> None:
    changed = maps(tmp_path, FANS)["srlinux"]
    assert not [rule for rule in changed.rules if "last-change" in rule.path]
    assert not [one for one in changed.subscriptions if "last-change" in one.path]
    new = changed.subscriptions[-1]
    assert (new.path, new.mode, new.interval_s) == ("/platform/fan-tray[id=*]", SubscriptionMode.SAMPLE, 10)


def test_the_leaf_of_a_new_rule_is_decoded_to_the_users_metric(tmp_path: Path) -> None:
    update = messages.Update(
        path=to_proto("/platform/fan-tray[id=3]/fan/speed"), val=messages.TypedValue(uint_val=4200)
    )
    decoded = decoder(tmp_path, FANS).decode(messages.Notification(update=[update]))
    ((series, value),) = decoded.samples
    assert (series.metric.name, series.metric.help, value) == ("acme_fan_speed_rpm", "Speed of a fan.", 4200)
    assert series.labels == (("fan", "3"),)


def test_a_users_rule_precedes_one_of_the_platform_that_matches_the_same_leaf(tmp_path: Path) -> None:
    own = f"""version: 1
platforms:
  srlinux:
    rules:
      - {{path: "/interface[name=ethernet-{{interface}}]/statistics/in-octets", metric: {IN_OCTETS[1]}}}
"""
    path = to_proto("/interface[name=ethernet-1/1]/statistics/in-octets")
    update = messages.Update(path=path, val=messages.TypedValue(uint_val=5))
    decoded = decoder(tmp_path, own).decode(messages.Notification(update=[update]))
    assert [(series.labels, value) for series, value in decoded.samples] == [((("interface", "1/1"),), 5)]


def test_a_users_rule_in_place_of_one_of_the_platform_reads_its_labels_as_that_does(tmp_path: Path) -> None:
    rule = next(rule for rule in platform("nxos").telemetry.rules if rule.texts)
    own = f"""version: 1
platforms:
  nxos:
    rules:
      - {{path: "{rule.path}", metric: {rule.metric}, scale: 8}}
"""
    changed = maps(tmp_path, own)["nxos"]
    assert [(each.scale, each.texts) for each in changed.rules if each.path == rule.path] == [(8, rule.texts)]


def test_a_later_file_changes_what_an_earlier_one_added(tmp_path: Path) -> None:
    later = """version: 1
platforms:
  srlinux:
    subscriptions: [{path: "/platform/fan-tray[id=*]", drop: true}]
    rules: [{path: "/platform/fan-tray[id={fan}]/fan/speed", metric: acme_fan_speed_rpm, drop: true}]
"""
    changed = maps(tmp_path, FANS, later)["srlinux"]
    assert "acme_fan_speed_rpm" not in {rule.metric for rule in changed.rules}
    assert "/platform/fan-tray[id=*]" not in {one.path for one in changed.subscriptions}


def test_a_platform_of_the_users_own_has_only_what_its_file_says(tmp_path: Path) -> None:
    own = FANS.partition("      - path:")[0].replace("  srlinux:\n", "  sros:\n    new: true\n")
    own = own.replace('      - {path: "/interface[name=*]/last-change", drop: true}\n', "")
    (rule,) = maps(tmp_path, own)["sros"].rules
    assert rule.metric == "acme_fan_speed_rpm"


def cases() -> list[tuple[str, str]]:
    """(file, line that refuses it) of telemetry_faults.txt."""
    blocks = (Path(__file__).parent / "telemetry_faults.txt").read_text().split("\n\n")[1:]
    pairs = (block.strip("\n").rpartition("\n-> ") for block in blocks)
    return [(f"version: 1\n{text}\n", line.replace("NAMES", ", ".join(platform_names()))) for text, _, line in pairs]


@pytest.mark.parametrize(("text", "expected"), cases(), ids=[line for _, line in cases()])
def test_a_fault_is_one_line_with_its_place_problem_and_remedy(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(RailfabError) as refused:
        maps(tmp_path, text)
    (said,) = [str(error).removeprefix(f"{tmp_path}/m0.yml") for error in each(refused.value)]
    assert said == f":{expected}".removeprefix(":0")


def test_a_metric_that_two_files_define_differently_is_refused(tmp_path: Path) -> None:
    assert maps(tmp_path, FANS, FANS.partition("platforms")[0]).keys() == {"srlinux"}
    with pytest.raises(RailfabError, match=r"m1.yml:3: metrics.acme_fan_speed_rpm: an earlier file defines it other"):
        maps(tmp_path, FANS, FANS.partition("platforms")[0].replace("gauge", "gauge, unit: rpm"))


def test_a_name_that_is_proposed_for_a_metric_fits_the_rule(tmp_path: Path) -> None:
    """The nearest name has a label that the path lacks, so the next one is proposed."""
    stated = "fabric_interface_receive_packet_total"
    rule = f'{{path: "/interface[name={{interface}}]/statistics/x", metric: {stated}}}'
    text = f"version: 1\nplatforms: {{srlinux: {{rules: [{rule}]}}}}\n"
    with pytest.raises(RailfabError, match="Did you mean") as refused:
        maps(tmp_path, text)
    proposed = str(refused.value).partition("mean '")[2].partition("'")[0]
    assert proposed != "fabric_interface_receive_packets_total"
    assert maps(tmp_path, text.replace(stated, proposed))

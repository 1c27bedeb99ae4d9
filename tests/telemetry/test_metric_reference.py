"""Names in the catalogue of metrics."""

from __future__ import annotations

import csv
from importlib.resources import files

from railfab.metrics import BURSTS, CATALOGUE, DEVICE, FABRIC, Kind, rate_max_name


def test_names_follow_the_conventions() -> None:
    for entry in CATALOGUE.values():
        assert entry.name.startswith(("fabric_", "training_", "roce_nic_")), entry.name
        assert entry.name.endswith("_total") == (entry.kind is Kind.COUNTER), entry.name
        assert entry.name.endswith("_info") == (entry.kind is Kind.INFO), entry.name
        assert entry.help.endswith("."), entry.name
        assert len(set(entry.labels)) == len(entry.labels), entry.name


def test_each_metric_is_one_line_of_the_file_and_the_exposition_keeps_their_order() -> None:
    rows = [*csv.DictReader(files("railfab").joinpath("metrics.csv").read_text(encoding="utf-8").splitlines())]
    names = [row["name"] for row in rows]
    assert len(set(names)) == len(names)
    assert [*CATALOGUE] == [*names, *map(rate_max_name, BURSTS)]
    for row, entry in zip(rows, CATALOGUE.values(), strict=False):
        assert (entry.kind.value, entry.unit, entry.help) == (row["kind"], row["unit"], row["help"])
        assert " ".join(entry.labels) == row["labels"]


def test_the_labels_begin_with_those_of_the_target() -> None:
    for entry in CATALOGUE.values():
        assert entry.labels[:2] == DEVICE or (entry.labels[:1] == FABRIC and "device" not in entry.labels), entry.name

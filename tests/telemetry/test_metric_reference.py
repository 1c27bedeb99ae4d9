"""Names in the catalogue of metrics."""

from __future__ import annotations

from railfab.metrics import CATALOGUE, Kind


def test_names_follow_the_conventions() -> None:
    for entry in CATALOGUE.values():
        assert entry.name.startswith(("fabric_", "training_")), entry.name
        assert entry.name.endswith("_total") == (entry.kind is Kind.COUNTER), entry.name
        assert entry.name.endswith("_info") == (entry.kind is Kind.INFO), entry.name
        assert entry.help.endswith("."), entry.name
        assert len(set(entry.labels)) == len(entry.labels), entry.name

"""The page of metrics says what the catalogue says."""

from __future__ import annotations

from pathlib import Path

from railfab.metrics import CATALOGUE, Kind, reference

WRITE = "python -c \"from railfab.metrics import reference; print(reference(), end='')\" > docs/metrics.md"


def test_the_reference_page_is_the_catalogue(repository: Path) -> None:
    assert (repository / "docs" / "metrics.md").read_text() == reference(), f"write it anew: {WRITE}"


def test_names_follow_the_conventions() -> None:
    for entry in CATALOGUE.values():
        assert entry.name.startswith(("fabric_", "training_")), entry.name
        assert entry.name.endswith("_total") == (entry.kind is Kind.COUNTER), entry.name
        assert entry.name.endswith("_info") == (entry.kind is Kind.INFO), entry.name
        assert entry.help.endswith("."), entry.name
        assert len(set(entry.labels)) == len(entry.labels), entry.name

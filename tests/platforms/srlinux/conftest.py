"""Nokia's models, which take seconds to prepare."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.oracles.archives import prepared
from tests.oracles.srlinux import ARCHIVE, NokiaModels


@pytest.fixture(scope="session")
def nokia(oracles: Path, tmp_path_factory: pytest.TempPathFactory) -> NokiaModels:
    if not (oracles / ARCHIVE).exists():
        pytest.skip(f"needs {ARCHIVE} in {oracles}; tests/README.md says where to get it")
    return prepared(NokiaModels, oracles / ARCHIVE, tmp_path_factory.mktemp("nokia"))

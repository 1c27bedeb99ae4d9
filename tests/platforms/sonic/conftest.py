"""SONiC's models, unpacked once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.oracles.archives import prepared
from tests.oracles.sonic import ARCHIVE, SonicModels


@pytest.fixture(scope="session")
def sonic_models(oracles: Path, tmp_path_factory: pytest.TempPathFactory) -> SonicModels:
    if not (oracles / ARCHIVE).exists():
        pytest.skip(f"needs {ARCHIVE} in {oracles}; tests/README.md says where to get it")
    return prepared(SonicModels, oracles / ARCHIVE, tmp_path_factory.mktemp("sonic"))

"""Fixtures of the tests beside it: the design of an intent, and a twin whose switches run its configurations."""

import os

import pytest

from railfab.deploy import nornir_of
from railfab.fabric import design
from railfab.twin import Twin


@pytest.fixture(scope="session")
def fabric():
    return design(os.environ.get("INTENT", "labs/srl-pod/intent.yml"))


@pytest.fixture(scope="session")
def twin(fabric, tmp_path_factory):
    """One twin for all tests; each test undoes its faults."""
    with Twin(fabric, state=tmp_path_factory.mktemp("twin"), base_port=0, configured=True) as running:
        yield running


@pytest.fixture
def nornir(fabric, twin):
    with nornir_of(fabric, twin.endpoints) as run:
        yield run

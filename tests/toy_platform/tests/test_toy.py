"""Toy OS passes the laws of every platform, and of every session."""

from railfab.testing.platforms import PlatformLaws
from railfab.testing.sessions import SessionLaws


class TestToy(PlatformLaws):
    name = "toy"


class TestToySession(SessionLaws):
    name = "toy"

"""Toy OS passes the laws of every platform."""

from railfab.testing.platforms import PlatformLaws


class TestToy(PlatformLaws):
    name = "toy"

"""`railfab explain`: describe a fabric, and derive each of its numbers."""

from railfab.documents.explain.sections import Section, explained

__all__ = ["Section", "explained"]

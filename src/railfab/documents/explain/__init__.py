"""`railfab explain`: what a fabric is, and why each of its numbers came out as it did, in plain words."""

from railfab.documents.explain.sections import Section, explained

__all__ = ["Section", "explained"]

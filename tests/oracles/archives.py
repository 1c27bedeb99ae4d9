"""Archives of the vendors' models."""

from __future__ import annotations

import tarfile

DATA_FILTER = getattr(tarfile, "data_filter", lambda member, _: member)
"""Debian 12's Python 3.11.2 has no filters yet (docs.python.org, tarfile, "Supporting older Python versions")."""

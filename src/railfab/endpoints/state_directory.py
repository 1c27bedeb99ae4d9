"""The directory of the state of labs and twins."""

from pathlib import Path

STATE_DIR = Path(".railfab")
"""State directory of labs and twins where no other is named: their endpoints files are there."""

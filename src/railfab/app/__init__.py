"""Compositions of several rooms: the whole fabric at once, and its live view."""

from railfab.app.reading import Reading, Tally, Totals, reading
from railfab.app.summary import JobSummary, Summary
from railfab.app.up import Options, up
from railfab.app.view import Scene, frame, line

__all__ = [
    "JobSummary",
    "Options",
    "Reading",
    "Scene",
    "Summary",
    "Tally",
    "Totals",
    "frame",
    "line",
    "reading",
    "up",
]

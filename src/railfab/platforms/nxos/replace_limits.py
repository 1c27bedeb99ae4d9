"""Limits of `configure replace`."""

LEAST_S, MOST_S = 30, 3600
"""Shortest and longest commit timeout [s] (Nexus 7000 Fundamentals guide 8.x, Configure Replace)."""

"""Scenario folders in the format of the reference: read, run with several seeds, saved, and explained."""

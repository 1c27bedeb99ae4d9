"""Sinks: where samples go besides the exposition."""

"""Compositions of several rooms: a fabric's plan with its documents; the whole of it at once, and its live view.

Each is imported from its own module, so that a plan does not pay for the twin.
"""

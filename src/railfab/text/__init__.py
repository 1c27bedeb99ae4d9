"""Texts for people: printable, folded, counted and listed words, and remedies."""

"""Compiled part of the collector: from bytes of the wire to columns of numbers, and from columns to text."""

"""Compositions of several packages: `railfab up` and its live view."""

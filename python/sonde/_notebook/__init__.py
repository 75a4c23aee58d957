"""Notebooks: the magics, and what a cell shows of a measurement."""

"""Figures of a predicted step, and a page that plays it."""

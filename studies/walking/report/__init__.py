"""Measures of a predicted step, beside measured walking."""

"""Chains of any number of links in a row."""

"""Closed chains: mechanisms whose links form loops."""

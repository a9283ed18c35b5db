"""Jumps of a human: what is left of a motion when the ground is gone."""

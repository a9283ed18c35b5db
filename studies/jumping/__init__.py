"""Jumps of a planar human: what is left of a motion when the ground is gone."""

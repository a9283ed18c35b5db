"""Running of a planar human."""

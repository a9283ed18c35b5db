"""Spatial vectors in world axes about one point: composite and articulated bodies, Jacobians of points."""
